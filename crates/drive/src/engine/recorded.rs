//! What a recording is told (see [`crate::timeline`]).

use flashtwin_base::Nanos;
use flashtwin_ftl::{NandOp, Origin, Policies, Token};

use super::Drive;
use crate::read_ahead::READ_AHEAD;
use crate::timeline::{Activity, Sink, Timeline};

impl<P: Policies> Drive<P> {
    /// Hands what goes on between two moments to a sink from now on, in place of another recording.
    /// What is under way already seems to begin now.
    pub fn record(&mut self, from: Nanos, to: Nanos, sink: Box<dyn Sink>) {
        drop(self.end_recording());
        let places = (self.flash.dies(), self.commands.most_outstanding());
        let short_way = std::mem::take(&mut self.short_way);
        let timeline = Timeline::new((from, to), self.clock.now(), places, sink, short_way);
        self.flash.record(Some(Box::new(timeline)));
    }

    /// Ends the recording: the sink is handed the rest and given back.
    pub fn end_recording(&mut self) -> Option<Box<dyn Sink>> {
        let (sink, short_way) = self.flash.record(None)?.end();
        self.short_way = short_way;
        Some(sink)
    }

    /// Whether somebody records the drive.
    pub(super) fn is_recorded(&self) -> bool {
        self.flash.is_recorded()
    }

    /// The operation of a die ends now.
    #[cold]
    pub(super) fn record_end(&mut self, die: u16) {
        if let Some(op) = self.flash.running(die) {
            self.record_array(&op, 0, Activity::Array(op.class, op.retries));
        }
    }

    /// The read of a plane that works for itself ends now.
    #[cold]
    pub(super) fn record_plane_end(&mut self, die: u16, plane: u16) {
        if let Some(op) = self.flash.running_on(die, plane) {
            let activity = Activity::Array(op.class, op.retries);
            self.record_array(&op, plane.into(), activity);
        }
    }

    /// A die has suspended its operation.
    #[cold]
    pub(super) fn record_suspension(&mut self, die: u16) {
        if let Some(op) = self.flash.held(die) {
            self.record_array(&op, 0, Activity::Suspended(op.class));
        }
    }

    fn record_array(&mut self, op: &NandOp, plane: usize, activity: Activity) {
        let origin = self.origin_of(op);
        if let Some(timeline) = self.flash.recording() {
            timeline.worked((op.die, plane), activity, origin, self.clock.now());
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
        if let Some(timeline) = self.flash.recording() {
            let cores = self.firmware.cores();
            timeline.core_works(cores, (from, time), activity, whose(activity));
        }
    }

    /// As [`Drive::record_core`], and the other cores stand still meanwhile.
    #[cold]
    pub(super) fn record_cores(&mut self, from: Nanos, time: Nanos, activity: Activity) {
        if let Some(timeline) = self.flash.recording() {
            let cores = self.firmware.cores();
            timeline.all_cores_work(cores, (from, time), activity, whose(activity));
        }
    }

    /// A core is going to prepare the last operation in hand.
    #[cold]
    pub(super) fn record_preparation(&mut self, time: Nanos) {
        let Some(op) = self.firmware.last_in_hand() else {
            return;
        };
        let origin = self.origin_of(&op);
        if let Some(timeline) = self.flash.recording() {
            let when = (self.clock.now(), time);
            let activity = Activity::Prepares(op.class);
            timeline.core_works(self.firmware.cores(), when, activity, origin);
        }
    }

    /// A command has been submitted into a slot.
    #[cold]
    pub(super) fn record_command(&mut self, slot: u32, lba: u64) {
        if let Some(timeline) = self.flash.recording() {
            timeline.submitted(slot, lba, self.clock.now());
        }
    }

    /// The host hears of the end of the command in a slot.
    #[cold]
    pub(super) fn record_answer(&mut self, slot: u32) {
        let command = &self.commands[slot];
        if let Some(timeline) = self.flash.recording() {
            timeline.answered(slot, command.op(), command.bytes(), self.clock.now());
        }
    }
}

/// On whose behalf a core does what is no flash operation's.
fn whose(activity: Activity) -> Option<Origin> {
    matches!(activity, Activity::Understands(_)).then_some(Origin::Host)
}
