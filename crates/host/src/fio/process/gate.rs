//! Before a process begins: at its time, or once the others let it.

use flashtwin_base::Nanos;
use flashtwin_workload::fio::Gate;

use super::{Place, Process, State};
use crate::fio::core::Core;
use crate::fio::count::Counting;
use crate::fio::pace::{Minimum, Thinking};

impl Process<'_> {
    /// It begins at its own time, whatever the others do.
    pub fn begins_at(&self, core: &mut Core) {
        core.events.push(self.started, (self.number, self.stamp));
    }

    /// It begins when it is told to.
    pub fn behind_a_gate(mut self) -> Self {
        self.state = State::Gate;
        self.started = Nanos::NEVER;
        self.epoch = Nanos::NEVER;
        self
    }

    /// True if it has not begun and waits to be told.
    pub fn is_behind_a_gate(&self) -> bool {
        self.state == State::Gate
    }

    /// True if it has begun and not ended; one whose time has not come counts as begun.
    pub fn runs(&self) -> bool {
        !self.has_ended() && !self.is_behind_a_gate()
    }

    /// What holds it.
    pub fn gate(&self) -> &Gate {
        &self.fio.gate
    }

    /// Before this it does not begin.
    pub fn may_begin(&self, start: Nanos) -> Nanos {
        start + Nanos(self.fio.start_ns)
    }

    /// It begins now.
    pub fn pass_the_gate(&mut self, core: &mut Core, now: Nanos) {
        self.started = now;
        self.epoch = now;
        self.pass_start = now;
        self.thinking = self.fio.think.map(|think| Thinking::new(think, now));
        self.minimum = Minimum::new(self.fio, now);
        self.count = Counting::new(self.job, self.fio, core.start, now);
        self.state = State::Event {
            then: Place::Pass,
            light: true,
        };
        self.begins_at(core);
    }

    /// It was told to end before it began.
    pub fn never_begins(&mut self, core: &mut Core, now: Nanos) {
        self.started = now;
        self.epoch = now;
        self.ended = now;
        self.state = State::Ended;
        core.process_ends();
        if let Some(flow) = self.fio.flow {
            core.flows.leave(self.number, flow.id);
        }
    }
}
