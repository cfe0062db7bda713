//! Preconditioning without time: what prepares a drive is written by the firmware alone.
//!
//! The firmware decides as it does behind a host: where each unit goes, what is folded and
//! collected, and how far that keeps ahead of the host's units. What it asks of the flash ends in
//! the order in which cores and dies would be done with it: each does one operation after another
//! and takes its time for each. That order counts. What collection has read is placed as the
//! reads end, and behind a host dies do not end in the order in which they were asked. If they did,
//! data written side by side would stay side by side through every move: a host that overwrites it
//! in the same order again would find write amplification 6 % lower (8.0; with time it is 8.5).
//! Only the order of these ends is kept, no clock moves: nothing is sent, nothing warms up, no
//! energy is drawn and no idle time is used.
//!
//! A host has commands outstanding, and where the map is not all in RAM their entries are looked up
//! while earlier commands are carried out. Here the entries of the next 32 writes are.
//!
//! Where a firmware pads or waits by the order in which commands come, its state depends on time.
//! So it does where look-ups of a paged map and collection take turns at the cores. A BX500 at 1/88
//! whose cache holds half of the map has a write amplification of 7.81 with 32 commands
//! outstanding, 7.97 with 8 and 7.87 without time. A 980 at 1/64 collects alike (4.35 units a host
//! unit) and writes 1.27 pages of its map a host unit with time and 0.97 without, 13.3 and 12.4 in
//! all. Such drives are not preconditioned this way, see [`Config::precondition_refusal`].

use flashtwin_base::Nanos;
use flashtwin_base::queue::EventQueue;
use flashtwin_ftl::op::class;
use flashtwin_ftl::{NandOp, Token};

use crate::config::{Acknowledge, Config, OperationTimes};
use crate::firmware::Firmware;
use crate::flash::{Flash, is_awaited};

/// Operations a die that are under way at once, about what a busy drive has.
const OPERATIONS_A_DIE: usize = 12;

/// What one write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first sector.
    pub lba: u64,
    /// How many sectors.
    pub sectors: u32,
    /// The placement handle of its data; 0 where the host names none.
    pub handle: u8,
}

impl Config {
    /// Why what is written without time would not leave this drive as the same writes in their time
    /// do; none where it would. `random`: they come in no order.
    #[must_use]
    pub fn precondition_refusal(&self, random: bool) -> Option<&'static str> {
        let (c, policy) = (&self.controller, &self.policy);
        let reasons = [
            (
                c.acknowledge != Acknowledge::WriteBack,
                "its firmware answers writes when they are programmed (controller.acknowledge)",
            ),
            (
                !c.gather,
                "its firmware pads small writes (controller.gather)",
            ),
            (
                !c.overlap,
                "its controller takes turns between link and flash (controller.overlap)",
            ),
            (
                policy.compression_ratio > 1 || policy.coalesce,
                "its firmware compresses data or replaces it in the write buffer",
            ),
            (
                random && self.look_ups_delay_movers(),
                "look-ups of its map go before what its cores do for collection, so that the \
                 host's queue depth decides how many superblocks are free and how often pages of \
                 the map are written (map.cache, controller.reads_first)",
            ),
        ];
        let reason = reasons.iter().find(|(is_so, _)| *is_so);
        reason.map(|&(_, why)| why)
    }

    /// Whether the cores read pages of the map before they go on with what movers want.
    fn look_ups_delay_movers(&self) -> bool {
        let (c, map, unit_bytes) = (&self.controller, &self.policy.map, self.policy.unit_bytes);
        let page_covers = u64::from(map.entries(unit_bytes)) * u64::from(unit_bytes);
        let pages = self.capacity_bytes.div_ceil(page_covers);
        let reads_pages = !map.is_whole() && map.cache_bytes / u64::from(unit_bytes) < pages;
        reads_pages && c.read_priority && c.operations != OperationTimes::default()
    }
}

/// What the firmware has asked for and what has not ended.
pub(crate) struct Work {
    under_way: EventQueue<Token>,
    at_once: usize,
    /// How many have ended since somebody was asked.
    ended: u64,
    /// When the operation that ended last did, with cores and dies at work without a pause.
    now: Nanos,
    /// When each core has prepared what it was given.
    cores: Vec<Nanos>,
    /// When each die has done what it was asked for.
    dies: Vec<Nanos>,
    array_time: [Nanos; class::COUNT],
    read_priority: bool,
}

impl Work {
    pub(crate) fn new(flash: &Flash, cores: u32) -> Work {
        let dies = flash.dies();
        let at_once = OPERATIONS_A_DIE * dies;
        Work {
            under_way: EventQueue::with_capacity(2 * at_once),
            at_once,
            ended: 0,
            now: Nanos::ZERO,
            cores: vec![Nanos::ZERO; cores as usize],
            dies: vec![Nanos::ZERO; dies],
            array_time: std::array::from_fn(|class| flash.array_time(class as u8)),
            read_priority: flash.prefers_reads(),
        }
    }

    /// Nothing is under way.
    pub(crate) fn is_none(&self) -> bool {
        self.under_way.is_empty()
    }

    /// More is under way than a busy drive has.
    pub(crate) fn is_too_much(&self) -> bool {
        self.under_way.len() > self.at_once
    }

    /// How many operations have ended since [`Work::ask`].
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Somebody is asked.
    pub(crate) fn ask(&mut self) {
        self.ended = 0;
    }

    /// Operations are given to cores and dies, each behind what its core and its die have to do
    /// already. A read that overtakes does not delay what it overtakes here.
    pub(crate) fn take(&mut self, firmware: &Firmware, ops: &mut Vec<NandOp>) {
        for op in ops.drain(..) {
            let overtakes = self.read_priority && is_awaited(op.token);
            let prepared = if firmware.is_on() {
                self.prepare(firmware.time_of(&op), overtakes)
            } else {
                self.now
            };
            let die = &mut self.dies[usize::from(op.die)];
            let begins = if overtakes {
                prepared
            } else {
                prepared.max(*die)
            };
            let ends = begins + self.array_time[usize::from(op.class)];
            *die = ends.max(*die);
            let lane = usize::from(class::is_read(op.class));
            self.under_way.push_in_order(lane, ends, op.token);
        }
    }

    /// When the core that is free first has prepared an operation.
    fn prepare(&mut self, time: Nanos, overtakes: bool) -> Nanos {
        let Some(core) = self.cores.iter_mut().min() else {
            return self.now;
        };
        *core = self.now.max(*core) + time;
        if overtakes { self.now + time } else { *core }
    }

    pub(crate) fn end_next(&mut self) -> Option<Token> {
        let (at, token) = self.under_way.pop()?;
        self.now = at;
        self.ended += 1;
        Some(token)
    }
}
