//! The firmware's own time for flash operations, whoever asks for them: host, folding, collection,
//! the map.
//!
//! The cores that understand commands also prepare each flash operation before it goes to its die:
//! `controller.read_time` or `controller.program_time`, `controller.kib_time` for what crosses
//! between controller and flash, and `controller.move_time` for each unit that folding or
//! collection moves. A core has one operation in hand and takes the next when that one is out, so
//! that commands and operations share it; reads that a command waits for go first where
//! `controller.read_priority` says so, so many of them as
//! `controller.reads_first` allows. Operations leave in the order in which they were taken.
//! Where all of these times are 0, operations go to their dies at once.

use flashtwin_base::Nanos;
use flashtwin_base::ring::Ring;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::op::class;
use flashtwin_ftl::{Layout, NandOp, Token};

use crate::clock::Clock;
use crate::config::{Controller, OperationTimes};
use crate::cores::Cores;
use crate::event::{Event, lane};
use crate::flash::is_awaited;
use crate::overtaking::Overtaken;

/// Operations that the cores prepare, and those that wait for it.
pub(crate) struct Firmware {
    times: OperationTimes,
    /// What each kind of operation costs whatever it moves.
    own: [Nanos; class::COUNT],
    /// Whether any of them is not 0.
    on: bool,
    read_priority: bool,
    /// Reads that go first at most before the first of `queue`.
    reads_first: u32,
    /// They also understand commands. Each has an operation in hand at most.
    cores: Cores,
    unit_bytes: u64,
    /// Units that a copy inside a die moves.
    copied_units: u64,
    urgent: Ring<NandOp>,
    queue: Ring<NandOp>,
    overtaken: Overtaken,
    /// In the order in which they leave.
    in_hand: Ring<NandOp>,
    /// When the last one in hand leaves.
    last: Nanos,
}

flashtwin_base::state! { Firmware {
    kept: urgent, queue, overtaken, in_hand, last;
    part: cores;
    built: times, own, on, read_priority, reads_first, unit_bytes, copied_units;
} }

/// The pages of a wordline are handed to the die one after another, even where it programs them at
/// once.
fn own_times(times: &OperationTimes, layout: &Layout) -> [Nanos; class::COUNT] {
    let mut own = [times.program; class::COUNT];
    own[..class::SLC_PROGRAM as usize].fill(times.read);
    let mut pages = |class: u8, pages: u32| {
        own[class as usize] = Nanos(times.program.0 * u64::from(pages));
    };
    if layout.one_shot {
        pages(class::NATIVE_PROGRAM, layout.bits);
        (0..3).for_each(|pass| pages(class::LATER_PASS + pass, layout.bits));
        pages(class::COPYBACK, layout.bits);
    }
    pages(class::TIER_PROGRAM, layout.tier_bits.max(1));
    own
}

impl Firmware {
    pub(crate) fn new(controller: &Controller, layout: &Layout) -> Firmware {
        Firmware {
            times: controller.operations,
            own: own_times(&controller.operations, layout),
            on: controller.operations != OperationTimes::default(),
            read_priority: controller.read_priority,
            reads_first: controller.reads_first,
            cores: Cores::new(controller.cores),
            unit_bytes: u64::from(layout.grain_bytes()),
            copied_units: u64::from(layout.granule_grains(Mode::Native)),
            urgent: Ring::new(),
            queue: Ring::new(),
            overtaken: Overtaken::default(),
            in_hand: Ring::new(),
            last: Nanos::ZERO,
        }
    }

    /// Operations are being prepared or wait for it.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        !self.in_hand.is_empty()
    }

    /// Preparing operations takes time.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Nothing is prepared any more.
    pub(crate) fn power_lost(&mut self) {
        self.urgent.clear();
        self.queue.clear();
        self.overtaken.clear();
        self.in_hand.clear();
        self.last = Nanos::ZERO;
        self.cores.power_lost();
    }

    /// What an operation costs a core.
    #[inline]
    pub(crate) fn time_of(&self, op: &NandOp) -> Nanos {
        let own = self.own[op.class as usize];
        let bytes = u64::from(op.units) * self.unit_bytes;
        let moved = match op.token {
            Token::FoldRead(_) | Token::GcRead(_) | Token::MapGcRead(_) => u64::from(op.units),
            Token::Copyback(_) => self.copied_units,
            _ => 0,
        };
        Nanos(own.0 + bytes * self.times.kib.0 / 1024 + moved * self.times.moved.0)
    }

    #[inline]
    fn wait(&mut self, op: NandOp) {
        if self.read_priority && is_awaited(op.token) {
            self.urgent.push_back(op);
        } else {
            self.queue.push_back(op);
        }
    }

    /// A core has nothing in hand, and an operation waits for it.
    #[inline]
    pub(crate) fn may_take(&self) -> bool {
        self.in_hand.len() < self.cores.count()
            && !(self.queue.is_empty() && self.urgent.is_empty())
    }

    /// Gives an operation to a core that has none in hand, while none waits for it; the answer is
    /// how long that takes. Otherwise it waits.
    #[inline(always)]
    pub(crate) fn take_at_once(&mut self, op: NandOp) -> Option<Nanos> {
        if self.in_hand.len() == self.cores.count() {
            self.wait(op);
            return None;
        }
        self.overtaken.clear();
        self.in_hand.push_back(op);
        Some(self.time_of(&op))
    }

    /// Gives the next operation to a core that has none in hand; the answer is how long that takes.
    /// The operation is copied as a whole and then looked at where it lies: a record whose fields
    /// are written one by one and that is copied at once afterwards stalls the processor until the
    /// writes have reached its cache.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<Nanos> {
        let overtakes = !self.urgent.is_empty() && !self.overtaken.is_at(self.reads_first);
        let from = if self.queue.is_empty() {
            self.overtaken.clear();
            &mut self.urgent
        } else if overtakes {
            self.overtaken.note();
            &mut self.urgent
        } else {
            self.overtaken.clear();
            &mut self.queue
        };
        self.in_hand.push_back(*from.front()?);
        from.drop_front();
        self.in_hand.back().map(|op| self.time_of(op))
    }

    /// A core prepares the last operation in hand, for a time.
    #[inline]
    pub(crate) fn prepare(&mut self, time: Nanos, clock: &mut Clock) {
        self.last = self.cores.take(clock.now(), time).max(self.last);
        clock.push_in_order(lane::FIRMWARE, self.last, Event::Prepared);
    }

    /// The operation leaves that a core has prepared.
    #[inline]
    pub(crate) fn take_prepared(&mut self) -> Option<NandOp> {
        let op = *self.in_hand.front()?;
        self.in_hand.drop_front();
        Some(op)
    }

    /// The operation that a core prepares last.
    pub(crate) fn last_in_hand(&self) -> Option<NandOp> {
        self.in_hand.back().copied()
    }

    pub(crate) fn cores(&self) -> &Cores {
        &self.cores
    }

    /// A core finds out what a command asks for, which takes `time`, from `from` on at the
    /// earliest; the answer is when it has.
    #[inline]
    pub(crate) fn understand(&mut self, from: Nanos, time: Nanos) -> Nanos {
        self.cores.take(from, time)
    }

    /// As [`Firmware::understand`], and all cores stand still meanwhile: the drive wakes or starts,
    /// or is throttled.
    pub(crate) fn stand_still(&mut self, from: Nanos, time: Nanos) -> Nanos {
        self.cores.take_all(from, time)
    }
}
