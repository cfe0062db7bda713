//! A timeline: every operation of dies and channels, what the firmware's cores do, what crosses the
//! link and every host command, with its beginning and its end, handed to a [`Sink`] while the
//! drive works.
//!
//! Invariants: recording changes nothing that the drive does; of the recording no more than
//! [`AT_ONCE`] slices are held in memory; slices of one track do not overlap, and a track's come in
//! the order of their ends. Off, it costs a branch an operation.

use flashtwin_base::{Nanos, Op};
pub use flashtwin_ftl::Origin;
use flashtwin_ftl::op::class;

use crate::cores::Cores;

/// Planes of a die at most.
const PLANES_MOST: usize = 16;
/// Slices that are gathered before the sink is handed them.
const AT_ONCE: usize = 4096;

/// Where something goes on. A track does one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A place of the drive's queue: a host command from its submission to its answer.
    Command(u32),
    /// A direction of the link carries data: 0 from the host, 1 to it; where both share one time,
    /// all is on the first.
    Link(u8),
    /// A core of the controller runs firmware.
    Core(u16),
    /// A channel carries data.
    Channel(u16),
    /// A die's array, or where its planes read for themselves, one of them.
    Die(u16, u8),
}

/// What goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A host command: what it asks for, its first sector.
    Command(Op, u64),
    /// Data crosses the link from the host to the drive.
    FromHost,
    /// Data crosses the link from the drive to the host.
    ToHost,
    /// A core finds out what a command asks for.
    Understands(Op),
    /// A core prepares a NAND operation of that class.
    Prepares(u8),
    /// A core stands still: the drive wakes or starts, or heat throttles it.
    StandsStill,
    /// Data goes from the controller to a die.
    ToDie(u16),
    /// Data goes from a die to the controller.
    FromDie(u16),
    /// A NAND operation, by its class (see [`flashtwin_ftl::op::class`]), and the steps of the
    /// read-retry ladder that it took.
    Array(u8, u8),
    /// The part of an operation until a read suspended it.
    Suspended(u8),
}

/// One thing on one track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where.
    pub track: Track,
    /// What.
    pub activity: Activity,
    /// On whose behalf; none of erases and transfers.
    pub origin: Option<Origin>,
    /// From when.
    pub begin: Nanos,
    /// Until when.
    pub end: Nanos,
    /// Bytes of it that a host asked for or that crossed a channel.
    pub bytes: u64,
}

/// Who is handed the slices.
pub trait Sink: Send + Sync {
    /// Some slices; the answer is whether there should be more.
    fn take(&mut self, slices: &[Slice]) -> bool;
}

/// A recording that goes on.
pub(crate) struct Timeline {
    window: (Nanos, Nanos),
    /// By die and plane: from when until when its array works on what it does now.
    working: Vec<(Nanos, Nanos)>,
    /// By slot: when the command in it was submitted, and its first sector.
    submitted: Vec<(Nanos, u64)>,
    slices: Vec<Slice>,
    sink: Box<dyn Sink>,
    /// The sink wants more.
    wanted: bool,
    /// Whether the drive has the short way for small writes, which it does not take meanwhile.
    short_way: bool,
}

impl Timeline {
    /// A recording of what goes on between two moments; the drive has these numbers of dies and of
    /// places for commands. `short_way`: the drive has the short way for small writes.
    pub(crate) fn new(
        window: (Nanos, Nanos),
        now: Nanos,
        (dies, slots): (usize, usize),
        sink: Box<dyn Sink>,
        short_way: bool,
    ) -> Timeline {
        Timeline {
            window,
            working: vec![(now, Nanos::NEVER); dies * PLANES_MOST],
            submitted: vec![(now, 0); slots],
            slices: Vec::with_capacity(AT_ONCE),
            sink,
            wanted: true,
            short_way,
        }
    }

    /// Ends it: the sink is handed the rest and given back, with whether the drive has the short
    /// way.
    pub(crate) fn end(mut self) -> (Box<dyn Sink>, bool) {
        self.hand_over();
        (self.sink, self.short_way)
    }

    fn note(&mut self, slice: Slice) {
        let (from, to) = self.window;
        if slice.end <= from || slice.begin >= to || !self.wanted {
            return;
        }
        self.slices.push(slice);
        if self.slices.len() >= AT_ONCE {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        self.wanted = self.wanted && self.sink.take(&self.slices);
        self.slices.clear();
    }

    /// An array begins to work: that of a die, or of one plane where it works for itself.
    pub(crate) fn works(&mut self, die: u16, plane: usize, when: (Nanos, Nanos)) {
        self.working[usize::from(die) * PLANES_MOST + plane] = when;
    }

    /// Data occupies a channel.
    pub(crate) fn transfers(
        &mut self,
        channel: u16,
        activity: Activity,
        bytes: u64,
        (begin, end): (Nanos, Nanos),
    ) {
        self.note(Slice {
            track: Track::Channel(channel),
            activity,
            origin: None,
            begin,
            end,
            bytes,
        });
    }

    /// Data crosses the link.
    pub(crate) fn crosses(
        &mut self,
        track: u8,
        activity: Activity,
        bytes: u64,
        (begin, end): (Nanos, Nanos),
    ) {
        self.note(Slice {
            track: Track::Link(track),
            activity,
            origin: None,
            begin,
            end,
            bytes,
        });
    }

    /// A core works, if it is for any time.
    fn computes(
        &mut self,
        core: usize,
        activity: Activity,
        origin: Option<Origin>,
        (begin, end): (Nanos, Nanos),
    ) {
        if begin < end {
            self.note(Slice {
                track: Track::Core(core as u16),
                activity,
                origin,
                begin,
                end,
                bytes: 0,
            });
        }
    }

    /// The core that is free first is going to work for `time`, from `from` on at the earliest.
    pub(crate) fn core_works(
        &mut self,
        cores: &Cores,
        (from, time): (Nanos, Nanos),
        activity: Activity,
        origin: Option<Origin>,
    ) {
        let (core, free) = cores.first_free();
        let begin = from.max(free);
        self.computes(core, activity, origin, (begin, begin + time));
    }

    /// As [`Timeline::core_works`], and the other cores stand still meanwhile.
    pub(crate) fn all_cores_work(
        &mut self,
        cores: &Cores,
        (from, time): (Nanos, Nanos),
        activity: Activity,
        origin: Option<Origin>,
    ) {
        let (first, free) = cores.first_free();
        let end = from.max(free) + time;
        self.core_works(cores, (from, time), activity, origin);
        for (core, free) in cores.each_free().enumerate() {
            if core != first {
                let when = (from.max(free), end);
                self.computes(core, Activity::StandsStill, None, when);
            }
        }
    }

    /// A command has been submitted into a slot.
    pub(crate) fn submitted(&mut self, slot: u32, lba: u64, now: Nanos) {
        let slots = self.submitted.len().max(slot as usize + 1);
        self.submitted.resize(slots, (now, 0));
        self.submitted[slot as usize] = (now, lba);
    }

    /// The host hears of the end of the command in a slot, now.
    pub(crate) fn answered(&mut self, slot: u32, op: Op, bytes: u64, now: Nanos) {
        let (begin, lba) = self.submitted[slot as usize];
        self.note(Slice {
            track: Track::Command(slot),
            activity: Activity::Command(op, lba),
            origin: Some(Origin::Host),
            begin,
            end: now,
            bytes,
        });
    }

    /// What an array worked on has ended, or at `now` gives way to a read.
    pub(crate) fn worked(
        &mut self,
        (die, plane): (u16, usize),
        activity: Activity,
        origin: Option<Origin>,
        now: Nanos,
    ) {
        let (begin, end) = self.working[usize::from(die) * PLANES_MOST + plane];
        self.note(Slice {
            track: Track::Die(die, plane as u8),
            activity,
            origin,
            begin: begin.min(now),
            end: end.min(now),
            bytes: 0,
        });
    }
}

/// What an operation is called, by its class.
#[must_use]
pub fn name_of(class: u8) -> &'static str {
    const NAMES: [&str; class::COUNT] = [
        "SLC read",
        "native read, page type 0",
        "native read, page type 1",
        "native read, page type 2",
        "native read, page type 3",
        "tier read, page type 0",
        "tier read, page type 1",
        "tier read, page type 2",
        "SLC program",
        "native program",
        "native program, page type 1",
        "native program, page type 2",
        "native program, page type 3",
        "native program, second pass",
        "native program, third pass",
        "native program, fourth pass",
        "tier program",
        "SLC erase",
        "native erase",
        "tier erase",
        "copyback",
    ];
    NAMES[usize::from(class)]
}
