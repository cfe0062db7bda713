//! Where a process has its requests from: a pattern, or a trace with the times of its requests.
//!
//! A request of a trace is issued no earlier than its time since the pass began. Until then the
//! process sleeps with one eye open: what completes is reaped at once, as fio reaps while it waits
//! for a trace. A process that fell behind, because its queue was full or the drive slow, issues
//! what is late without a pause until it has caught up.

use flashtwin_base::{Device, Nanos};
use flashtwin_workload::Job;
use flashtwin_workload::fio::{Fio, Replay, Stream};

use super::{EIO, Place, Process, State, Step};
use crate::fio::core::Core;

/// What makes the requests of a process.
pub(crate) enum Source {
    /// A pattern.
    Stream(Box<Stream>),
    /// A trace, and when its first line was due.
    Trace(Box<Replay>, Option<Nanos>),
}

impl Source {
    pub fn new(job: &Job, fio: &Fio, number: u32) -> Source {
        match &fio.trace {
            None => Source::Stream(Box::new(Stream::new(job, number))),
            Some(trace) => Source::Trace(Box::new(Replay::new(trace, &fio.spans)), None),
        }
    }

    pub fn is_trace(&self) -> bool {
        matches!(self, Source::Trace(..))
    }

    /// The pattern, at places that a trace does not come to.
    #[inline]
    pub fn stream(&mut self) -> &mut Stream {
        match self {
            Source::Stream(stream) => stream,
            Source::Trace(..) => unreachable!("a trace has no pattern"),
        }
    }

    /// A request or a sync on a file is made.
    #[inline]
    pub fn begins(&mut self, file: u32) {
        if let Source::Stream(stream) = self {
            stream.begins(file as usize);
        }
    }

    /// It has ended.
    #[inline]
    pub fn ends(&mut self, file: u32) {
        if let Source::Stream(stream) = self {
            stream.ends(file as usize);
        }
    }

    /// The measured time begins.
    pub fn end_ramp(&mut self) {
        if let Source::Stream(stream) = self {
            stream.end_ramp();
        }
    }
}

impl Process<'_> {
    /// The next request of the trace, or the nap until its time.
    #[cold]
    pub(super) fn replayed<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
    ) -> Step {
        let Source::Trace(replay, begun) = &mut self.source else {
            unreachable!("a pattern is not a trace");
        };
        let begun = *begun.get_or_insert(now);
        let next = match replay.peek() {
            Ok(Some(next)) => next,
            Ok(None) => return Step::On(Place::Ends),
            Err(error) => {
                self.fail(EIO, error.to_string());
                return Step::On(Place::Ends);
            }
        };
        let due = begun + next.at;
        if due > now {
            return self.nap(core, device, now, due);
        }
        replay.take();
        let slot = self.made_slot(now, next.kind, next.ask);
        self.slots[slot as usize].fua = next.fua;
        Step::On(Place::Made(slot))
    }

    /// Sleeps until then, or until something else has to be looked at, and reaps meanwhile.
    fn nap<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos, due: Nanos) -> Step {
        self.commit(core, device, now);
        let ramp = self.started + self.job.ramp;
        let until = if self.in_ramp { due.min(ramp) } else { due };
        self.stamp += 1;
        let until = until.min(self.deadline()).max(now);
        core.events.push(until, (self.number, self.stamp));
        Step::Wait(State::Naps { then: Place::Due })
    }

    /// The nap is over: on with the trace, unless the process has to end.
    pub(super) fn due(&mut self, now: Nanos) -> Step {
        self.look_at_ramp(now);
        if self.is_over() || now >= self.deadline() {
            Step::On(Place::Top)
        } else {
            Step::On(Place::Take)
        }
    }
}
