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

use flashtwin_base::Nanos;
use flashtwin_ftl::layout::NONE;
use flashtwin_ftl::{Ftl, Policies};

/// Pages of the map that a long command has read beyond the one it waits for. A bound of the model
/// and no drive's: a trim of many pages waits for nine reads side by side and not for one after
/// another, and still one command takes no more than nine of the sixteen slots that an SRAM of 64
/// KiB has. Reading ahead also leaves half of the slots alone, however few there are.
pub(crate) const PAGES_AHEAD: u32 = 8;

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
    uses_host_memory: bool,
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
    pub(crate) fn are_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether pages are on their way from the host's memory.
    pub(crate) fn are_fetching(&self) -> bool {
        self.fetching > 0
    }

    /// A page is on its way from the host's memory.
    pub(crate) fn fetch(&mut self) {
        self.fetching += 1;
    }

    /// Such a page has come.
    pub(crate) fn fetched(&mut self) {
        self.fetching -= 1;
    }

    /// Round trip to the host's memory.
    pub(crate) fn latency(&self) -> Nanos {
        self.latency
    }

    /// The host's memory holds pages of the map.
    pub(crate) fn use_host_memory(&self) -> bool {
        self.uses_host_memory
    }

    /// A command waits for a slot.
    pub(crate) fn queue(&mut self, command: u32) {
        self.queue.push_back(command);
    }

    /// How many do.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// The first of them asks again.
    pub(crate) fn take_queued(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }

    /// It has found none, where it is the last of the queue now: it goes to the front again.
    pub(crate) fn put_back(&mut self, command: u32) -> bool {
        let waits = self.queue.back() == Some(&command);
        if waits {
            self.queue.pop_back();
            self.queue.push_front(command);
        }
        waits
    }

    /// A command waits for the page of a slot.
    pub(crate) fn wait(&mut self, slot: u32, command: u32) {
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

    /// The page of a slot has come: the first command that waited for it.
    pub(crate) fn take_first(&mut self, slot: u32) -> Option<u32> {
        let (first, _) = std::mem::replace(&mut self.waiting[slot as usize], (NONE, NONE));
        (first != NONE).then_some(first)
    }

    /// The command that waits behind another.
    pub(crate) fn behind(&self, command: u32) -> Option<u32> {
        let next = self.behind[command as usize];
        (next != NONE).then_some(next)
    }

    pub(crate) fn describe(&self) -> String {
        let waiting = self.waiting.iter().enumerate();
        let waiting: Vec<_> = waiting.filter(|(_, w)| w.0 != NONE).collect();
        format!("map: queued {:?}, waiting {waiting:?}\n", self.queue)
    }
}
