//! A request's way from its slot to the device.

use flashtwin_base::{Device, Nanos, Op};
use flashtwin_workload::fio::{FioAsk, Kind, NextFile};
use flashtwin_workload::{Direction, Mix};

use super::source::Source;
use super::{Place, Process, Slot, State, Step, sync_of};
use crate::fio::core::{Core, Outgoing};
use crate::fio::pace::Turn;

impl Process<'_> {
    pub(super) fn is_full(&self) -> bool {
        let search = self.search.as_ref();
        self.free.is_empty() || search.is_some_and(|search| self.depth >= search.depth)
    }

    pub(super) fn take<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) -> Step {
        if self.is_full() {
            return Step::On(Place::Reap { busy: false });
        }
        if let Some(slot) = self.refused.take() {
            self.slots[slot as usize].start = now;
            self.depth += 1;
            return Step::On(Place::Made(slot));
        }
        let Source::Stream(stream) = &mut self.source else {
            return self.replayed(core, device, now);
        };
        let file = match stream.next_file() {
            NextFile::Number(file) => file,
            NextFile::Closed => return self.wait_for_a_file(core, device, now),
            NextFile::None => return Step::On(Place::Ends),
        };
        let kind = stream.direction(file, self.done.issued, self.last);
        let (Some(pacer), Kind::Io(direction)) = (&self.pacer, kind) else {
            return Step::On(Place::Fill(file, kind));
        };
        // Pairs go at the rate of their writes.
        let wanted = if self.job.mix == Mix::Pairs {
            Direction::Write
        } else {
            direction
        };
        match pacer.turn(now - self.epoch, wanted) {
            Turn::Go(turned) if turned == wanted => Step::On(Place::Fill(file, kind)),
            Turn::Go(turned) => Step::On(Place::Fill(file, Kind::Io(turned))),
            Turn::Wait(until, turned) => {
                let kind = if turned == wanted {
                    kind
                } else {
                    Kind::Io(turned)
                };
                let until = Nanos(self.epoch.0.saturating_add(until.0));
                self.drain(core, device, now, Place::Rest(until, file, kind))
            }
        }
    }

    /// All files that may be open are, and the next one is none of them: fio reaps what is under
    /// way as if its queue were full, and looks again.
    fn wait_for_a_file<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) -> Step {
        self.wait_if_full(core, device, now, true, Place::Limits)
    }

    pub(super) fn fill(&mut self, now: Nanos, file: usize, kind: Kind) -> Step {
        let Kind::Io(direction) = kind else {
            let slot = self.made_slot(now, kind, sync_of(file));
            return Step::On(Place::Made(slot));
        };
        if matches!(self.job.mix, Mix::Reads(_)) {
            self.source.stream().turn(direction);
        }
        match self.source.stream().place(file, direction) {
            None => Step::On(Place::Take),
            Some(ask) => {
                let slot = self.made_slot(now, kind, ask);
                Step::On(Place::Made(slot))
            }
        }
    }

    pub(super) fn made_slot(&mut self, now: Nanos, kind: Kind, ask: FioAsk) -> u32 {
        let slot = self.free.pop().expect("a queue that is not full");
        self.depth += 1;
        self.source.begins(ask.file);
        self.slots[slot as usize] = Slot {
            kind,
            ask,
            start: now,
            issue: now,
            number: 0,
            flies: false,
            silent: false,
            fua: false,
        };
        slot
    }

    pub(super) fn overlaps(&self, slot: u32) -> bool {
        let asked = &self.slots[slot as usize].ask;
        let meets = |other: &Slot| {
            let two = &other.ask;
            other.flies
                && asked.lba < two.lba + u64::from(two.sectors())
                && two.lba < asked.lba + u64::from(asked.sectors())
        };
        self.depth > 1 && self.slots.iter().any(meets)
    }

    pub(super) fn made<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        slot: u32,
    ) -> Step {
        if self.fio.batch.serialize_overlap && self.overlaps(slot) {
            self.refused = Some(slot);
            self.depth -= 1;
            self.commit(core, device, now);
            return Step::On(Place::Reap { busy: true });
        }
        self.count.begins(now);
        if self.job.host > Nanos::ZERO {
            return self.event(core, now + self.job.host, Place::Issued(slot), false);
        }
        Step::On(Place::Issued(slot))
    }

    pub(super) fn issued<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        slot: u32,
    ) -> Step {
        let made = &mut self.slots[slot as usize];
        made.flies = true;
        made.number = self.done.numbers;
        self.done.numbers += 1;
        self.last = Some(made.kind);
        let (kind, bytes) = (made.kind, made.ask.bytes);
        self.count.issued(kind, self.depth);
        let Kind::Io(direction) = kind else {
            self.commit(core, device, now);
            self.sync(core, device, now, slot);
            let then = Place::Reap { busy: false };
            return Step::Wait(State::Syncs { then });
        };
        let way = direction as usize;
        self.done.issued[way] += 1;
        self.done.issued_bytes[way] += bytes;
        self.done.pass_issued += bytes;
        self.queued.push(slot);
        if let Some(pacer) = &mut self.pacer {
            pacer.issued(direction, bytes);
        }
        if self.queued.len() as u32 >= self.fio.batch.submit || self.fio.synchronous {
            self.commit(core, device, now);
        }
        Step::On(Place::Reap { busy: false })
    }

    /// Hands over what is queued.
    pub(super) fn commit<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) {
        let count = self.queued.len() as u32;
        if count == 0 {
            return;
        }
        self.count.submitted(self.depth, count);
        self.in_flight += count;
        for index in 0..self.queued.len() {
            let slot = self.queued[index];
            let made = &mut self.slots[slot as usize];
            made.issue = now;
            if !self.fio.synchronous {
                self.count.slat(made, now);
            }
            let (ask, fua) = (made.ask, made.fua);
            let request = Outgoing {
                tag: self.base_tag + slot,
                op: ask.direction.op(),
                lba: ask.lba,
                sectors: ask.sectors(),
                fua: fua || (self.job.sync && ask.direction == Direction::Write),
                compressible_percent: self.job.compress_percent as u8,
                placement: self.handles.next(self.job, ask.direction),
            };
            core.reach(device, now, request);
        }
        self.queued.clear();
    }

    pub(super) fn sync<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        slot: u32,
    ) {
        self.slots[slot as usize].issue = now;
        self.in_flight += 1;
        let request = Outgoing {
            tag: self.base_tag + slot,
            op: Op::Flush,
            lba: 0,
            sectors: 0,
            fua: false,
            compressible_percent: 0,
            placement: 0,
        };
        core.reach(device, now, request);
    }

    /// Hands over what is queued and waits for the end of all that is under way.
    pub(super) fn drain<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        then: Place,
    ) -> Step {
        self.commit(core, device, now);
        Step::Wait(State::Drains { then })
    }

    pub(super) fn wait_if_full<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        busy: bool,
        then: Place,
    ) -> Step {
        let batch = &self.fio.batch;
        let full = self.is_full();
        let polls = batch.complete_min == 0 && batch.complete_max.unwrap_or(0) == 0;
        if self.depth == 0 || !(full || busy || polls) {
            return Step::On(then);
        }
        // fio asks without waiting nowhere: a minimum of 0 waits for one.
        let least = batch.complete_min.max(1).min(self.depth);
        self.commit(core, device, now);
        Step::Wait(State::Reaps { least, full, then })
    }
}
