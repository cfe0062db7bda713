//! What a recording is told (see [`crate::timeline`]).

use flashtwin_base::Nanos;
use flashtwin_ftl::{NandOp, Origin, Policies, Token};

use super::Drive;
use crate::read_ahead::READ_AHEAD;
use crate::timeline::{AT_ONCE, Activity, PLANES_MOST, Sink, Slice, Timeline, Track};

impl<P: Policies> Drive<P> {
    /// Hands what goes on between two moments to a sink from now on, in place of another recording.
    /// What is under way already seems to begin now.
    pub fn record(&mut self, from: Nanos, to: Nanos, sink: Box<dyn Sink>) {
        let arrays = self.flash.dies.len() * PLANES_MOST;
        let slots = self.commands.most_outstanding();
        drop(self.end_recording());
        let short_way = std::mem::take(&mut self.short_way);
        self.flash.timeline = Some(Box::new(Timeline {
            window: (from, to),
            working: vec![(self.clock.now(), Nanos::NEVER); arrays],
            submitted: vec![(self.clock.now(), 0); slots],
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
    pub(super) fn is_recorded(&self) -> bool {
        self.flash.timeline.is_some()
    }

    /// The operation of a die ends now.
    #[cold]
    pub(super) fn record_end(&mut self, die: u16) {
        if let Some(op) = self.flash.dies[usize::from(die)].running {
            self.record_array(&op, 0);
        }
    }

    /// The read of a plane that works for itself ends now.
    #[cold]
    pub(super) fn record_plane_end(&mut self, die: u16, plane: u16) {
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
    pub(super) fn record_core(&mut self, from: Nanos, time: Nanos, activity: Activity) {
        let (core, free) = self.cores.first_free();
        let begin = from.max(free);
        if let Some(timeline) = &mut self.flash.timeline {
            let origin = matches!(activity, Activity::Understands(_)).then_some(Origin::Host);
            timeline.computes(core, activity, origin, (begin, begin + time));
        }
    }

    /// The same, and the other cores stand still meanwhile.
    #[cold]
    pub(super) fn record_cores(&mut self, from: Nanos, time: Nanos, activity: Activity) {
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
    pub(super) fn record_preparation(&mut self, op: &NandOp, time: Nanos) {
        let origin = self.origin_of(op);
        let (core, free) = self.cores.first_free();
        let begin = self.clock.now().max(free);
        if let Some(timeline) = &mut self.flash.timeline {
            let activity = Activity::Prepares(op.class);
            timeline.computes(core, activity, origin, (begin, begin + time));
        }
    }

    fn record_array(&mut self, op: &NandOp, plane: usize) {
        let origin = self.origin_of(op);
        let now = self.clock.now();
        if let Some(timeline) = &mut self.flash.timeline {
            let activity = Activity::Array(op.class, op.retries);
            timeline.worked((op.die, plane), activity, origin, now);
        }
    }

    /// A die has suspended its operation.
    #[cold]
    pub(super) fn record_suspension(&mut self, die: u16) {
        let held = self.flash.dies[usize::from(die)].pause.held_op().copied();
        let now = self.clock.now();
        if let (Some(op), Some(timeline)) = (held, &mut self.flash.timeline) {
            let origin = self.ftl.origin(op.token);
            timeline.worked((die, 0), Activity::Suspended(op.class), origin, now);
        }
    }

    /// A command has been submitted into a slot.
    #[cold]
    pub(super) fn record_command(&mut self, slot: u32, lba: u64) {
        let now = self.clock.now();
        if let Some(timeline) = &mut self.flash.timeline {
            let slots = timeline.submitted.len().max(slot as usize + 1);
            timeline.submitted.resize(slots, (now, 0));
            timeline.submitted[slot as usize] = (now, lba);
        }
    }

    /// The host hears of the end of the command in a slot.
    #[cold]
    pub(super) fn record_answer(&mut self, slot: u32) {
        let command = &self.commands[slot];
        let (op, bytes) = (command.op(), command.bytes());
        let now = self.clock.now();
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
