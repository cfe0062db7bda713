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
use flashtwin_ftl::{NandOp, Policies, Token};

use crate::engine::{Drive, READ_AHEAD};

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

    /// What an array worked on has ended, or at `now` gives way to a read.
    fn worked(
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

impl<P: Policies> Drive<P> {
    /// Hands what goes on between two moments to a sink from now on, in place of another recording.
    /// What is under way already seems to begin now.
    pub fn record(&mut self, from: Nanos, to: Nanos, sink: Box<dyn Sink>) {
        let arrays = self.flash.dies.len() * PLANES_MOST;
        let slots = self.commands.slots.len();
        drop(self.end_recording());
        let short_way = std::mem::take(&mut self.short_way);
        self.flash.timeline = Some(Box::new(Timeline {
            window: (from, to),
            working: vec![(self.now, Nanos::NEVER); arrays],
            submitted: vec![(self.now, 0); slots],
            slices: Vec::with_capacity(AT_ONCE),
            sink,
            wanted: true,
            short_way,
        }));
    }

    /// Ends the recording: the sink is handed the rest and given back.
    pub fn end_recording(&mut self) -> Option<Box<dyn Sink>> {
        let mut timeline = self.flash.timeline.take()?;
        self.short_way = timeline.short_way;
        timeline.hand_over();
        Some(timeline.sink)
    }

    /// Whether somebody records the drive.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.flash.timeline.is_some()
    }

    /// The operation of a die ends now.
    #[cold]
    pub(crate) fn record_end(&mut self, die: u16) {
        if let Some(op) = self.flash.dies[usize::from(die)].running {
            self.record_array(&op, 0);
        }
    }

    /// The read of a plane that works for itself ends now.
    #[cold]
    pub(crate) fn record_plane_end(&mut self, die: u16, plane: u16) {
        let planes = &self.flash.dies[usize::from(die)].planes;
        let ended = planes
            .running()
            .find(|op| op.planes.first() == usize::from(plane));
        if let Some(op) = ended.copied() {
            self.record_array(&op, usize::from(plane));
        }
    }

    /// On whose behalf an operation is.
    fn origin_of(&self, op: &NandOp) -> Option<Origin> {
        match op.token {
            Token::Host(slot) if slot >= READ_AHEAD => Some(Origin::ReadAhead),
            token => self.ftl.origin(token),
        }
    }

    /// The core that is free first is going to work for `time`, from `from` on at the earliest.
    #[cold]
    pub(crate) fn record_core(&mut self, from: Nanos, time: Nanos, activity: Activity) {
        let (core, free) = self.cores.first_free();
        let begin = from.max(free);
        if let Some(timeline) = &mut self.flash.timeline {
            let origin = matches!(activity, Activity::Understands(_)).then_some(Origin::Host);
            timeline.computes(core, activity, origin, (begin, begin + time));
        }
    }

    /// The same, and the other cores stand still meanwhile.
    #[cold]
    pub(crate) fn record_cores(&mut self, from: Nanos, time: Nanos, activity: Activity) {
        let (first, free) = self.cores.first_free();
        let end = from.max(free) + time;
        self.record_core(from, time, activity);
        for (core, free) in self.cores.each_free().into_iter().enumerate() {
            if let Some(timeline) = &mut self.flash.timeline
                && core != first
            {
                let when = (from.max(free), end);
                timeline.computes(core, Activity::StandsStill, None, when);
            }
        }
    }

    /// A core is going to prepare an operation.
    #[cold]
    pub(crate) fn record_preparation(&mut self, op: &NandOp, time: Nanos) {
        let origin = self.origin_of(op);
        let (core, free) = self.cores.first_free();
        let begin = self.now.max(free);
        if let Some(timeline) = &mut self.flash.timeline {
            let activity = Activity::Prepares(op.class);
            timeline.computes(core, activity, origin, (begin, begin + time));
        }
    }

    fn record_array(&mut self, op: &NandOp, plane: usize) {
        let origin = self.origin_of(op);
        let now = self.now;
        if let Some(timeline) = &mut self.flash.timeline {
            let activity = Activity::Array(op.class, op.retries);
            timeline.worked((op.die, plane), activity, origin, now);
        }
    }

    /// A die has suspended its operation.
    #[cold]
    pub(crate) fn record_suspension(&mut self, die: u16) {
        let held = self.flash.dies[usize::from(die)].pause.held_op().copied();
        let now = self.now;
        if let (Some(op), Some(timeline)) = (held, &mut self.flash.timeline) {
            let origin = self.ftl.origin(op.token);
            timeline.worked((die, 0), Activity::Suspended(op.class), origin, now);
        }
    }

    /// A command has been submitted into a slot.
    #[cold]
    pub(crate) fn record_command(&mut self, slot: u32, lba: u64) {
        let now = self.now;
        if let Some(timeline) = &mut self.flash.timeline {
            let slots = timeline.submitted.len().max(slot as usize + 1);
            timeline.submitted.resize(slots, (now, 0));
            timeline.submitted[slot as usize] = (now, lba);
        }
    }

    /// The host hears of the end of the command in a slot.
    #[cold]
    pub(crate) fn record_answer(&mut self, slot: u32) {
        let command = &self.commands.slots[slot as usize];
        let (op, bytes) = (command.op, command.bytes);
        let now = self.now;
        if let Some(timeline) = &mut self.flash.timeline {
            let (begin, lba) = timeline.submitted[slot as usize];
            timeline.note(Slice {
                track: Track::Command(slot),
                activity: Activity::Command(op, lba),
                origin: Some(Origin::Host),
                begin,
                end: now,
                bytes,
            });
        }
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
