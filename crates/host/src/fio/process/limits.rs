//! After a request: thinking, the minima, the search for a depth.

use flashtwin_base::{Device, Nanos};
use flashtwin_workload::fio::{Kind, Think};

use super::{Done, EIO, Place, Process, Step};
use crate::fio::core::Core;
use crate::fio::target::Verdict;

impl Process<'_> {
    pub(super) fn after<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) -> Step {
        if self.drains {
            return self.drain(core, device, now, Place::Calm);
        }
        let (issued, completed) = (self.done.issued.iter().sum(), self.done.ios.iter().sum());
        if let (Some(thinking), Some(Kind::Io(_))) = (&mut self.thinking, self.last)
            && thinking.is_due(now, issued, completed)
        {
            let Think { ns, spin_ns, .. } = thinking.think;
            let time = Nanos(ns.max(spin_ns));
            return self.drain(core, device, now, Place::Think(time));
        }
        self.look_at_limits(core, device, now)
    }

    pub(super) fn thought<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        since: Nanos,
    ) -> Step {
        if let Some(thinking) = &mut self.thinking {
            thinking.over(now);
        }
        if let (Some(pacer), Some(Kind::Io(direction))) = (&mut self.pacer, self.last) {
            pacer.thought(direction, now - since);
        }
        self.look_at_limits(core, device, now)
    }

    pub(super) fn look_at_limits<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
    ) -> Step {
        let completed = self.done.ios.iter().sum();
        if self.in_ramp || completed == 0 {
            return Step::On(Place::Top);
        }
        if let Some(minimum) = &mut self.minimum {
            let Done { bytes, ios, .. } = self.done;
            if let Some(text) = minimum.missed(now, self.pass_start, bytes, ios) {
                self.fail(EIO, text);
            }
        }
        let verdict = self
            .search
            .as_mut()
            .map(|search| search.look(now, completed));
        match verdict {
            Some(Verdict::Drain) => {
                self.drains = true;
                self.drain(core, device, now, Place::Calm)
            }
            Some(Verdict::Measure) => self.drain(core, device, now, Place::Measure),
            Some(Verdict::Done) => {
                self.finished = true;
                Step::On(Place::Top)
            }
            _ => Step::On(Place::Top),
        }
    }
}
