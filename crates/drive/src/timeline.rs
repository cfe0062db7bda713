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

/// Planes of a die at most.
pub(crate) const PLANES_MOST: usize = 16;
/// Slices that are gathered before the sink is handed them.
pub(crate) const AT_ONCE: usize = 4096;

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
    pub(crate) window: (Nanos, Nanos),
    /// By die and plane: from when until when its array works on what it does now.
    pub(crate) working: Vec<(Nanos, Nanos)>,
    /// By slot: when the command in it was submitted, and its first sector.
    pub(crate) submitted: Vec<(Nanos, u64)>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) sink: Box<dyn Sink>,
    /// The sink wants more.
    pub(crate) wanted: bool,
    /// Whether the drive has the short way for small writes, which it does not take meanwhile.
    pub(crate) short_way: bool,
}

impl Timeline {
    pub(crate) fn note(&mut self, slice: Slice) {
        let (from, to) = self.window;
        if slice.end <= from || slice.begin >= to || !self.wanted {
            return;
        }
        self.slices.push(slice);
        if self.slices.len() >= AT_ONCE {
            self.hand_over();
        }
    }

    pub(crate) fn hand_over(&mut self) {
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
    pub(crate) fn computes(
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
