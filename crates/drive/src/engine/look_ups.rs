//! Commands go on as the pages of the map come that they wait for (see [`crate::lookup`]).

use flashtwin_base::Op;
use flashtwin_ftl::{LookUp, Policies};

use super::Drive;
use crate::event::Event;
use crate::link::Way;
use crate::lookup::PAGES_AHEAD;

impl<P: Policies> Drive<P> {
    /// The first unit from `at` to `end` whose map entry the controller does not have in RAM.
    /// Entries below `known` are there; a map page that is found moves `known` to its end. None
    /// where the page has to be read: the command waits at `at` until the page has come.
    #[inline(always)]
    pub(super) fn known_to(
        &mut self,
        command: u32,
        at: u32,
        end: u32,
        known: &mut u32,
    ) -> Option<u32> {
        if at >= *known {
            self.commands[command].looked_up_to(at);
            if !self.ask_map(command, at, end) {
                return None;
            }
            *known = self.ftl.map_page_end(at);
        }
        Some(end.min(*known))
    }

    /// Whether the map entry of a unit is at hand for a command; where it is not, the command has
    /// been noted and goes on when it is. `end` is where the command ends.
    fn ask_map(&mut self, command: u32, lpn: u32, end: u32) -> bool {
        let answer = self.ftl.look_up(lpn, &mut self.ops);
        self.issue();
        match answer {
            LookUp::Known => return true,
            LookUp::Full => self.lookups.queue(command),
            LookUp::Reading(slot) => self.lookups.wait(slot, command),
            LookUp::Fetch(slot) => {
                self.fetch_map(slot);
                self.lookups.wait(slot, command);
            }
        }
        self.commands[command].awaits(1);
        let mut next = self.ftl.map_page_end(lpn);
        for _ in 0..PAGES_AHEAD {
            if next >= end || !self.load_map(next) {
                break;
            }
            next = self.ftl.map_page_end(next);
        }
        false
    }

    /// Has a map page read that will be needed; false when there is no slot for it.
    pub(super) fn load_map(&mut self, lpn: u32) -> bool {
        let answer = self.ftl.look_ahead(lpn, &mut self.ops);
        self.issue();
        if let LookUp::Fetch(slot) = answer {
            self.fetch_map(slot);
        }
        answer != LookUp::Full
    }

    /// A page of the map is on its way from the host's memory.
    fn fetch_map(&mut self, slot: u32) {
        let page = u64::from(self.ftl.layout().unit_bytes);
        let arrives = self.send(page, Way::In, false) + self.lookups.latency();
        self.lookups.fetch();
        self.clock.push(arrives, Event::MapFetched(slot));
    }

    /// Pages that the firmware has copied into the host's memory cross the link now, behind what
    /// is being sent. Nobody waits for them.
    #[cold]
    pub(super) fn copy_to_host_memory(&mut self) {
        let copied = u64::from(self.ftl.take_host_memory_writes());
        if copied > 0 {
            let bytes = copied * u64::from(self.ftl.layout().unit_bytes);
            self.send(bytes, Way::Out, false);
        }
    }

    /// A page has come from the host's memory.
    pub(super) fn map_fetched(&mut self, slot: u32) {
        self.lookups.fetched();
        self.ftl.map_fetched(slot);
        self.map_arrived(slot);
    }

    /// A page of the map is in its slot: the commands that waited for it go on.
    pub(super) fn map_arrived(&mut self, slot: u32) {
        let mut waiting = self.lookups.take_first(slot);
        while let Some(command) = waiting {
            // It may wait for another page at once.
            waiting = self.lookups.behind(command);
            let known = self.ftl.map_page_end(self.commands[command].cursor());
            self.resume(command, known);
        }
        self.retry_lookups();
    }

    /// Commands that found no slot ask again, in their order, until one finds none.
    pub(super) fn retry_lookups(&mut self) {
        for _ in 0..self.lookups.queued() {
            let Some(command) = self.lookups.take_queued() else {
                return;
            };
            self.resume(command, 0);
            if self.lookups.put_back(command) {
                return;
            }
        }
    }

    /// The logical unit below which all map entries are at hand from the start.
    pub(super) fn known_from_the_start(&self) -> u32 {
        if self.ftl.is_map_paged() { 0 } else { u32::MAX }
    }

    /// A command that waited for a page of the map goes on; entries below `known` are at hand.
    pub(super) fn resume(&mut self, slot: u32, known: u32) {
        self.commands[slot].piece_came();
        match self.commands[slot].op() {
            Op::Read => self.read_on(slot, known),
            Op::Write => {
                self.look_up_write(slot, known);
                self.admit();
            }
            _ => self.trim_on(slot, known),
        }
    }

    /// Whether the map entries of a stream's next chunk are at hand; else their page is read, and
    /// the stream is looked at again at its next read.
    pub(super) fn is_chunk_known(&mut self, stream: usize) -> bool {
        let (from, end) = self.read_ahead.upcoming(stream);
        let last = end.min(self.ftl.logical_units());
        from >= last
            || [from, last - 1].into_iter().all(|lpn| {
                let known = self.ftl.is_map_at_hand(lpn);
                known || (self.load_map(lpn) && self.ftl.is_map_at_hand(lpn))
            })
    }
}
