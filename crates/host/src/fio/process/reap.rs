//! Completions: what is taken of them, counted, and held against the job's limits.

use flashtwin_base::{Device, Nanos, Status};
use flashtwin_workload::Direction;
use flashtwin_workload::fio::Kind;

use super::{EIO, ENOMEM, ETIMEDOUT, Failure, Place, Process, Slot, State};
use crate::fio::core::Core;
use crate::fio::pace::Thinking;
use crate::fio::record::MAX_REQUESTS;
use crate::fio::stats::batch_class;
use crate::fio::target::Verdict;

impl Process<'_> {
    /// Reaps what it waits for, if that has arrived, and says where it goes on.
    pub(super) fn reaped<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
    ) -> Option<Place> {
        loop {
            match self.state {
                State::Reaps { least, full, then } => {
                    if (self.arrived.len() as u32) < least {
                        return None;
                    }
                    let most = self.fio.batch.complete_max.unwrap_or(0).max(least);
                    self.reap(core, now, most);
                    let low = self.fio.batch.low.unwrap_or(self.job.depth);
                    if !full || self.depth <= low {
                        return Some(then);
                    }
                    self.state = State::Reaps {
                        least: least.min(self.depth),
                        full,
                        then,
                    };
                    self.commit(core, device, now);
                }
                State::Drains { then } => {
                    let all = self.arrived.len() as u32;
                    self.reap(core, now, all);
                    return (self.in_flight == 0).then_some(then);
                }
                State::Syncs { then } => {
                    let syncs = |&(slot, _): &(u32, Status)| {
                        !matches!(self.slots[slot as usize].kind, Kind::Io(_))
                    };
                    let place = self.arrived.iter().position(syncs)?;
                    let (slot, status) = self.arrived.remove(place).expect("it was found");
                    self.complete(core, now, slot, status);
                    return Some(then);
                }
                State::Naps { .. } => {
                    let all = self.arrived.len() as u32;
                    self.reap(core, now, all);
                    return None;
                }
                State::Event { .. } | State::Held | State::Gate | State::Ended => return None,
            }
        }
    }

    pub(super) fn reap(&mut self, core: &mut Core, now: Nanos, most: u32) {
        let count = (self.arrived.len() as u32).min(most);
        if count > 0 {
            self.count.stats.completes[batch_class(count)] += 1;
        }
        for _ in 0..count {
            let (slot, status) = self.arrived.pop_front().expect("it has arrived");
            self.complete(core, now, slot, status);
        }
    }

    pub(super) fn complete(&mut self, core: &mut Core, now: Nanos, slot: u32, status: Status) {
        self.look_at_ramp(now);
        self.slots[slot as usize].flies = false;
        self.free.push(slot);
        self.depth -= 1;
        self.in_flight -= 1;
        let done = self.slots[slot as usize];
        self.source.ends(done.ask.file);
        if status != Status::Ok {
            self.failed(now, &done, status);
            return;
        }
        let was_counted = self.count.completed(core, now, &done);
        if !was_counted {
            let text = format!("more than {MAX_REQUESTS} requests to keep");
            self.fail(ENOMEM, text);
        }
        if let Kind::Io(direction) = done.kind {
            let way = direction as usize;
            self.done.ios[way] += 1;
            self.done.bytes[way] += done.ask.bytes;
            self.done.pass_bytes += done.ask.bytes;
            core.bytes += done.ask.bytes;
            // At the end of a pass all wait for the last: that says nothing about the device.
            let then = Place::EndSync(0);
            let ends = matches!(self.state, State::Reaps { then: place, .. } if place == then);
            if !self.in_ramp && !ends {
                self.check_latency(now, way, now - done.start);
            }
        }
    }

    pub(super) fn failed(&mut self, now: Nanos, slot: &Slot, status: Status) {
        self.count.failed(now, slot, status);
        let ends = &self.fio.ends;
        let goes_on = match slot.kind {
            Kind::Io(Direction::Read) => ends.continue_reads,
            _ => ends.continue_writes,
        };
        if !goes_on {
            let offset = slot.ask.offset;
            let text = format!("a request at offset {offset} failed: {status:?}");
            self.fail(EIO, text);
        }
    }

    pub(super) fn fail(&mut self, code: u32, text: String) {
        self.failure.get_or_insert(Failure { code, text });
    }

    pub(super) fn check_latency(&mut self, now: Nanos, way: usize, latency: Nanos) {
        let most = self.fio.max_latency_ns[way];
        if most > 0 && latency.0 > most {
            let text = format!(
                "a latency of {} ns, above the maximum of {most} ns",
                latency.0
            );
            self.fail(ETIMEDOUT, text);
        }
        let ios = self.done.ios.iter().sum();
        let Some(search) = self.search.as_mut().filter(|search| {
            // What was under way at a depth that failed says nothing about the next one.
            latency.0 > search.target.ns && !self.drains
        }) else {
            return;
        };
        let target = search.target.ns;
        match search.exceeded(now, ios) {
            Verdict::Drain => self.drains = true,
            Verdict::Failed => {
                let text = format!(
                    "a latency of {} ns at depth 1, above {target} ns",
                    latency.0
                );
                self.fail(ETIMEDOUT, text);
            }
            _ => {}
        }
    }

    /// Once the ramp is over, what was counted so far does not count.
    pub(super) fn look_at_ramp(&mut self, now: Nanos) {
        let end = self.started + self.job.ramp;
        if !self.in_ramp || now < end {
            return;
        }
        self.in_ramp = false;
        self.begin_measuring(end);
        let search = self.search.as_mut();
        search.into_iter().for_each(|search| search.begin(end, 0));
    }

    pub(super) fn begin_measuring(&mut self, epoch: Nanos) {
        self.epoch = epoch;
        self.pass_start = epoch;
        self.done.issued = [0; 3];
        self.done.ios = [0; 3];
        self.done.bytes = [0; 3];
        self.source.end_ramp();
        self.count.restart(epoch);
        if let Some(pacer) = &mut self.pacer {
            pacer.restart();
        }
        if let Some(minimum) = &mut self.minimum {
            minimum.restart(epoch);
        }
        if let Some(thinking) = &mut self.thinking {
            *thinking = Thinking::new(thinking.think, epoch);
        }
    }

    pub(super) fn measure_anew(&mut self, now: Nanos) {
        self.begin_measuring(now);
        let search = self.search.as_mut();
        search
            .into_iter()
            .for_each(|search| search.measured_from(now));
    }
}
