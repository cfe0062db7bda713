//! Commands that wait for the map, where it is not all in RAM.
//!
//! A command goes on page by page of the map: what lies in pages that are at hand is translated at
//! once, a page that is not is read (from flash, or over the link from the host's memory), and the
//! command waits. All that wait for a page go on when it has come, in the order in which they came;
//! each then knows its entries in that page, even if the page leaves the SRAM again. A long command
//! has the pages after the one it waits for read ahead.
//!
//! Where no slot of the SRAM can be filled now, commands queue and ask again as operations end.

use std::collections::VecDeque;

use flashtwin_base::{Nanos, Op};
use flashtwin_ftl::layout::NONE;
use flashtwin_ftl::{Ftl, LookUp, Policies};

use crate::engine::Drive;
use crate::event::Event;
use crate::link::Way;

/// Pages of the map that a long command has read beyond the one it waits for. A bound of the model
/// and no drive's: a trim of many pages waits for nine reads side by side and not for one after
/// another, and still one command takes no more than nine of the sixteen slots that an SRAM of 64
/// KiB has. Reading ahead also leaves half of the slots alone, however few there are.
const PAGES_AHEAD: u32 = 8;

/// Who waits for which page.
pub(crate) struct Lookups {
    /// First and last command that wait for each slot of the SRAM, or none.
    waiting: Vec<(u32, u32)>,
    /// The command that waits behind each command, by its place.
    behind: Vec<u32>,
    /// Commands that wait for a slot.
    queue: VecDeque<u32>,
    /// Pages on their way from the host's memory.
    fetching: u32,
    /// Round trip to the host's memory.
    latency: Nanos,
    /// The host's memory holds pages of the map.
    pub(crate) uses_host_memory: bool,
}

flashtwin_base::state! { Lookups {
    kept: fetching;
    built: waiting, behind, queue, latency, uses_host_memory;
} }

impl Lookups {
    pub(crate) fn new<P: Policies>(ftl: &Ftl<P>, latency: Nanos) -> Lookups {
        Lookups {
            waiting: vec![(NONE, NONE); ftl.map_slots() as usize],
            behind: Vec::new(),
            queue: VecDeque::new(),
            fetching: 0,
            latency,
            uses_host_memory: ftl.uses_host_memory(),
        }
    }

    /// Whether commands wait for a slot.
    #[inline]
    pub(crate) fn are_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether pages are on their way from the host's memory.
    pub(crate) fn are_fetching(&self) -> bool {
        self.fetching > 0
    }

    fn wait(&mut self, slot: u32, command: u32) {
        if self.behind.len() <= command as usize {
            self.behind.resize(command as usize + 1, NONE);
        }
        self.behind[command as usize] = NONE;
        let (first, last) = &mut self.waiting[slot as usize];
        if *first == NONE {
            *first = command;
        } else {
            self.behind[*last as usize] = command;
        }
        *last = command;
    }

    pub(crate) fn describe(&self) -> String {
        let waiting = self.waiting.iter().enumerate();
        let waiting: Vec<_> = waiting.filter(|(_, w)| w.0 != NONE).collect();
        format!("map: queued {:?}, waiting {waiting:?}\n", self.queue)
    }
}

impl<P: Policies> Drive<P> {
    /// Whether the map entry of a unit is at hand for a command; where it is not, the command has
    /// been noted and goes on when it is. `end` is where the command ends.
    pub(crate) fn ask_map(&mut self, command: u32, lpn: u32, end: u32) -> bool {
        let answer = self.ftl.look_up(lpn, &mut self.ops);
        self.issue();
        match answer {
            LookUp::Known => return true,
            LookUp::Full => self.lookups.queue.push_back(command),
            LookUp::Reading(slot) => self.lookups.wait(slot, command),
            LookUp::Fetch(slot) => {
                self.fetch_map(slot);
                self.lookups.wait(slot, command);
            }
        }
        self.commands.wait_for_map(command);
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
    pub(crate) fn load_map(&mut self, lpn: u32) -> bool {
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
        let arrives = self.send(page, Way::In, false) + self.lookups.latency;
        self.lookups.fetching += 1;
        self.events.push(arrives, Event::MapFetched(slot));
    }

    /// Pages that the firmware has copied into the host's memory cross the link now, behind what
    /// is being sent. Nobody waits for them.
    #[cold]
    pub(crate) fn copy_to_host_memory(&mut self) {
        let copied = u64::from(self.ftl.take_host_memory_writes());
        if copied > 0 {
            let bytes = copied * u64::from(self.ftl.layout().unit_bytes);
            self.send(bytes, Way::Out, false);
        }
    }

    /// A page has come from the host's memory.
    pub(crate) fn map_fetched(&mut self, slot: u32) {
        self.lookups.fetching -= 1;
        self.ftl.map_fetched(slot);
        self.map_arrived(slot);
    }

    /// A page of the map is in its slot: the commands that waited for it go on.
    pub(crate) fn map_arrived(&mut self, slot: u32) {
        let (mut command, _) =
            std::mem::replace(&mut self.lookups.waiting[slot as usize], (NONE, NONE));
        while command != NONE {
            // It may wait for another page at once.
            let next = self.lookups.behind[command as usize];
            let known = self.ftl.map_page_end(self.commands.cursor(command));
            self.resume(command, known);
            command = next;
        }
        self.retry_lookups();
    }

    /// Commands that found no slot ask again, in their order, until one finds none.
    pub(crate) fn retry_lookups(&mut self) {
        for _ in 0..self.lookups.queue.len() {
            let Some(command) = self.lookups.queue.pop_front() else {
                return;
            };
            self.resume(command, 0);
            if self.lookups.queue.back() == Some(&command) {
                self.lookups.queue.pop_back();
                self.lookups.queue.push_front(command);
                return;
            }
        }
    }

    /// The logical unit below which all map entries are at hand from the start.
    #[inline]
    pub(crate) fn known_from_the_start(&self) -> u32 {
        if self.ftl.is_map_paged() { 0 } else { u32::MAX }
    }

    /// A command that waited for a page of the map goes on; entries below `known` are at hand.
    pub(crate) fn resume(&mut self, slot: u32, known: u32) {
        self.commands.slots[slot as usize].pending -= 1;
        match self.commands.slots[slot as usize].op {
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
    pub(crate) fn is_chunk_known(&mut self, stream: usize) -> bool {
        let (from, end) = self.read_ahead.upcoming(stream);
        let last = end.min(self.ftl.logical_units());
        from >= last
            || [from, last - 1].into_iter().all(|lpn| {
                let known = self.ftl.is_map_at_hand(lpn);
                known || (self.load_map(lpn) && self.ftl.is_map_at_hand(lpn))
            })
    }
}
