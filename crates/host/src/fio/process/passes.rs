//! Passes: when one begins, what it may ask for, and what happens when it ends.

use flashtwin_base::{Device, Nanos};
use flashtwin_workload::fio::{Kind, Kinds, Verify};
use flashtwin_workload::{Direction, Mix, Order};

use super::{Place, Process, State, Step, sync_of};
use crate::fio::core::Core;

impl Process<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.terminated || self.finished || self.failure.is_some()
    }

    /// True if the number of requests that was asked for is reached. With pairs of trim and write
    /// fio doubles the number with each pass, until it is beyond 32 bits and bounds nothing.
    pub(super) fn enough_ios(&self) -> bool {
        let number = match self.job.mix {
            Mix::Pairs => u64::from((self.fio.number_ios as u32).unbounded_shl(self.passes)),
            _ => self.fio.number_ios,
        };
        let limit = number.saturating_mul(self.fio.loops.into());
        let under_way = self.queued.len() as u64 + u64::from(self.in_flight);
        limit > 0 && self.done.ios.iter().sum::<u64>() + under_way >= limit
    }

    pub(super) fn total_size(&self) -> u64 {
        self.fio.size.expect("a checked job has its size")
    }

    /// What all passes together may ask for, of the direction that counts.
    pub(super) fn is_issued(&self) -> bool {
        if self.source.is_trace() {
            return false;
        }
        let limit = self.job.io_bytes.unwrap_or(self.total_size());
        let limit = limit.saturating_mul(u64::from(self.fio.loops));
        let [read, write, trim] = self.done.issued_bytes;
        let issued = match self.job.mix {
            Mix::Reads(_) => read + write,
            Mix::Only(Direction::Read) => read,
            Mix::Only(Direction::Trim) => trim,
            Mix::Only(Direction::Write) | Mix::Trims(_) | Mix::Pairs => write,
        };
        issued >= limit || self.enough_ios()
    }

    /// What one pass may ask for. fio counts what it hands over, and not what an engine that waits
    /// for each request has done at once: with such a one a pass ends where its files end.
    pub(super) fn pass_limit(&self) -> u64 {
        if self.source.is_trace() || self.fio.synchronous {
            return u64::MAX;
        }
        let size = self.total_size();
        let io_size = self.job.io_bytes.unwrap_or(0);
        let random = self.job.order == Order::Random;
        let writes = self.job.mix.uses(Direction::Write);
        let mixes = matches!(self.job.mix, Mix::Reads(_));
        match self.job.mix {
            Mix::Pairs => {
                let all = self.job.io_bytes.unwrap_or(size);
                size.saturating_add(all.saturating_mul(self.fio.loops.into()))
            }
            _ if random && writes && !self.has_map() => size.max(io_size),
            _ if mixes && !random && !self.verifies() => size.max(io_size),
            _ => size,
        }
    }

    fn verifies(&self) -> bool {
        self.fio.verify != Verify::No
    }

    pub(super) fn has_map(&self) -> bool {
        self.fio.random_map && self.fio.distribution.kind == Kinds::Random
    }

    pub(super) fn begin_pass(&mut self, core: &mut Core, now: Nanos) -> Step {
        if !self.keeps_running() {
            return self.end(core, now);
        }
        if self.passes > 0 {
            self.source.stream().restart();
        }
        self.passes += 1;
        self.pass_start = now;
        self.done.pass_issued = 0;
        self.done.pass_bytes = 0;
        let ios = self.done.ios.iter().sum();
        if let Some(search) = &mut self.search {
            search.begin(now, ios);
        }
        Step::On(Place::Top)
    }

    pub(super) fn keeps_running(&mut self) -> bool {
        if self.is_over() {
            return false;
        }
        if self.fio.time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        if self.source.is_trace() {
            return false;
        }
        let limit = self.job.io_bytes.unwrap_or(self.total_size());
        let [_, written, _] = self.done.bytes;
        // What fio reads back of the writes counts, although a twin does not read it.
        let read_back = if self.fio.verify == Verify::ReadsBack {
            written
        } else {
            0
        };
        let done: u64 = self.done.bytes.iter().sum();
        let left = limit.saturating_sub(done + read_back);
        let blocks = self.fio.blocks.iter().flatten();
        let most = blocks.map(|blocks| blocks.most).max().unwrap_or(1);
        let exhausted = self.source.stream().is_exhausted() && self.job.io_bytes.is_none();
        !self.enough_ios() && left >= most && !exhausted
    }

    pub(super) fn top<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) -> Step {
        if self.is_over() || (self.is_issued() && !self.fio.time_based) {
            return Step::On(Place::Ends);
        }
        self.look_at_ramp(now);
        if now >= self.deadline() {
            self.terminated = true;
            return Step::On(Place::Ends);
        }
        if let Some(flow) = self.fio.flow
            && !core.flows.take(self.number, flow.id)
        {
            if flow.sleep_ns > 0 {
                let then = Place::Sleep(Nanos(flow.sleep_ns));
                return self.drain(core, device, now, then);
            }
            self.stamp += 1;
            if self.deadline() < Nanos::NEVER {
                core.events.push(self.deadline(), (self.number, self.stamp));
            }
            return Step::Wait(State::Held);
        }
        let endless = self.fio.time_based && !self.verifies();
        if self.done.pass_issued >= self.pass_limit() && !endless {
            return Step::On(Place::Ends);
        }
        Step::On(Place::Take)
    }

    /// Waits for all that is outstanding at once.
    pub(super) fn ends<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) -> Step {
        if let Some(slot) = self.refused.take() {
            self.free.push(slot);
        }
        self.commit(core, device, now);
        let then = Place::EndSync(0);
        if self.in_flight == 0 {
            return Step::On(then);
        }
        Step::Wait(State::Reaps {
            least: self.in_flight,
            full: false,
            then,
        })
    }

    pub(super) fn end_sync<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        file: usize,
    ) -> Step {
        let writes = self.job.mix.uses(Direction::Write);
        let due = self.fio.syncs.at_end_of_pass() && writes && self.failure.is_none();
        // fio leaves out a sync right after a sync, except for the next file.
        let synced = file == 0 && matches!(self.last, Some(Kind::Fsync | Kind::Fdatasync));
        if !due || synced || file == self.fio.spans.len() {
            return Step::On(Place::Over);
        }
        let nothing = sync_of(file);
        let slot = self.made_slot(now, Kind::Fsync, nothing);
        let made = &mut self.slots[slot as usize];
        (made.silent, made.flies, made.number) = (true, true, self.done.numbers);
        self.done.numbers += 1;
        self.count.begins(now);
        self.last = Some(Kind::Fsync);
        self.sync(core, device, now, slot);
        let then = Place::EndSync(file + 1);
        Step::Wait(State::Syncs { then })
    }

    pub(super) fn over(&mut self, now: Nanos) -> Step {
        if self.done.pass_bytes == 0 {
            self.terminated = true;
        }
        let took = Nanos(now.0.saturating_sub(self.pass_start.0));
        for (side, bytes) in self.count.stats.sides.iter_mut().zip(self.done.bytes) {
            if bytes > 0 {
                side.runtime += took;
            }
        }
        self.pass_start = now;
        Step::On(Place::Pass)
    }

    pub(super) fn end(&mut self, core: &mut Core, now: Nanos) -> Step {
        self.ended = now;
        core.process_ends();
        if let Some(flow) = self.fio.flow {
            core.flows.leave(self.number, flow.id);
        }
        let ends = &self.fio.ends;
        if ends.all || (ends.on_error && self.failure.is_some()) {
            core.ends.push((ends.what, ends.group, self.number));
        }
        Step::Wait(State::Ended)
    }
}
