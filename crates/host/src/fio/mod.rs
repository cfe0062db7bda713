//! Runs fio's jobs: a process each, side by side, as fio 3.33 runs them on a device.
//!
//! [`run`] closes the loop around any device as [`crate::run`] does for a battery's jobs, and
//! answers with the same outcome, to which it adds what fio counts ([`FioTotals`]).

mod core;
mod count;
mod flow;
mod pace;
mod process;
mod record;
mod stats;
mod steady;
mod target;

use flashtwin_base::{Completion, Device, Nanos};
use flashtwin_workload::Direction;
use flashtwin_workload::fio::Whom;

use self::core::Core;
use self::process::Process;
use self::steady::{INTERVAL, Window};
use crate::closed_loop::{Flow, PATIENCE, Progress, Ticks, rests_until};
use crate::outcome::Outcome;
use crate::phase::Phase;
use crate::series::Sampler;

pub(crate) use process::SLOT_BYTES;
pub use process::{ENOMEM, Failure};
pub use record::{Averages, DATASYNC, MAX_REQUESTS, Requests, SYNC};
pub(crate) use record::{REQUEST_BYTES, WINDOW_BYTES};
pub use stats::{Moments, Side, Stats};
pub use steady::SteadyTotals;

/// The event of the look at steady states, which is no process's.
const LOOK: u32 = u32::MAX;
/// The event of a status that is due.
const STATUS: u32 = u32::MAX - 1;
/// The event of a time before which a process behind a gate may not begin.
const GATE: u32 = u32::MAX - 2;

/// What fio says of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct FioTotals {
    /// The job's name.
    pub name: String,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// What was counted after the ramp.
    pub stats: Stats,
    /// When it began, since the phase began.
    pub started: Nanos,
    /// When its measured time began.
    pub measured: Nanos,
    /// When it ended.
    pub ended: Nanos,
    /// What came of its steady state; in a group the last job has it.
    pub steady: Option<SteadyTotals>,
    /// The depth that keeps its latency.
    pub depth_found: Option<u32>,
    /// Its end is that of all jobs, also of those that were to follow.
    pub ended_all: bool,
    /// Each request, where the job asks for it.
    pub requests: Option<Requests>,
    /// Means over windows, where the job asks for them.
    pub averages: Option<Averages>,
}

/// A window of a steady state: the jobs that it looks at, and what they had done at the last look.
struct Looked {
    window: Window,
    members: Vec<(usize, u64, u64)>,
    ramp: Nanos,
}

struct Host<'a> {
    core: Core,
    processes: Vec<Process<'a>>,
    /// Whose request a tag is.
    owners: Vec<u32>,
    looked: Vec<Looked>,
    told: &'a mut dyn FnMut(Vec<FioTotals>),
    every: Option<Nanos>,
    ticks: Ticks,
    /// Times that something was due: work too, also where nothing completes.
    turns: u64,
    ended_all: Vec<u32>,
    stopped: bool,
    /// How often the device may still leave off after a stop.
    patience: u32,
    /// Some process waits for others before it begins.
    gated: bool,
}

/// Runs a phase of fio's jobs; see [`crate::run_telling`].
pub(crate) fn run<D: Device>(
    device: &mut D,
    start: Nanos,
    phase: &Phase,
    tick: &mut dyn FnMut(Progress) -> Flow,
    told: &mut dyn FnMut(Vec<FioTotals>),
) -> Outcome {
    let mut host = Host::new(phase, start, device.queue_depth(), told);
    let mut done = Vec::with_capacity(host.owners.len());
    let mut now = start;
    host.open_gates(now);
    host.run_due(device, now);
    while host.core.running > 0 {
        let limit = host.core.events.peek_at().unwrap_or(Nanos::NEVER);
        let next = device.advance_until_done(limit, &mut done);
        if device.has_left_off() && done.is_empty() {
            now = now.max(next);
            if host.looks_up(now, tick) {
                continue;
            }
            return host.left_behind(phase, now);
        }
        let outstanding = host.core.outstanding;
        assert_ne!(
            next,
            Nanos::NEVER,
            "{outstanding} requests, nothing under way at {now:?}"
        );
        now = now.max(next);
        host.complete(device, now, &mut done);
        host.run_due(device, now);
        host.turns += 1;
        let work = host.core.completions.max(host.turns);
        let due = host.ticks.is_due(work, host.core.bytes);
        if due && (host.core.lacks_memory() || tick(host.progress(now)) == Flow::Stop) {
            host.stop(now);
        }
    }
    let end = host.processes.iter().map(|process| process.ended).max();
    let mut end = end.unwrap_or(start).max(now);
    if !rests_until(device, end, &mut |at| host.looks_up(at, tick)) {
        end = now;
    }
    host.outcome(phase, end)
}

impl<'a> Host<'a> {
    fn new(
        phase: &'a Phase,
        start: Nanos,
        room: u32,
        told: &'a mut dyn FnMut(Vec<FioTotals>),
    ) -> Host<'a> {
        let slots = phase.jobs().iter().map(|job| job.depth as usize).sum();
        let used = Direction::ALL.map(|direction| phase.uses(direction));
        let sampler = Sampler::new(start, phase.sample(), used);
        let mut core = Core::new(start, room, slots, sampler);
        let mut owners = Vec::with_capacity(slots);
        let gated = phase.jobs().iter().any(|job| {
            let fio = job.fio.as_ref();
            fio.is_some_and(|fio| fio.gate.holds())
        });
        let mut processes = Vec::new();
        for (number, job) in phase.jobs().iter().enumerate() {
            let base = owners.len() as u32;
            owners.resize(owners.len() + job.depth as usize, number as u32);
            let process = Process::new(job, number as u32, base, &mut core);
            let fio = job.fio.as_ref().expect("a phase of fio's jobs");
            if gated {
                core.events.push(start + Nanos(fio.start_ns), (GATE, 0));
                processes.push(process.behind_a_gate());
            } else {
                process.begins_at(&mut core);
                processes.push(process);
            }
        }
        let looked = looked(phase);
        if !looked.is_empty() {
            core.events.push(start + INTERVAL, (LOOK, 0));
        }
        if let Some(every) = phase.status() {
            core.events.push(start + every, (STATUS, 0));
        }
        Host {
            core,
            processes,
            owners,
            looked,
            told,
            every: phase.status(),
            ticks: Ticks::new(),
            turns: 0,
            ended_all: Vec::new(),
            stopped: false,
            patience: PATIENCE,
            gated,
        }
    }

    /// Lets the processes go on whose time has come.
    fn run_due<D: Device>(&mut self, device: &mut D, now: Nanos) {
        while let Some((at, (number, stamp))) = self.core.events.pop_due(now) {
            if number == LOOK {
                self.look(at);
                continue;
            }
            if number == STATUS {
                self.tell(at);
                continue;
            }
            if number == GATE {
                self.open_gates(now);
                continue;
            }
            let process = &mut self.processes[number as usize];
            process.wake(&mut self.core, device, now, stamp);
            self.follow(now);
        }
    }

    /// Hands completions to their processes.
    fn complete<D: Device>(&mut self, device: &mut D, now: Nanos, done: &mut Vec<Completion>) {
        if done.is_empty() {
            return;
        }
        // All that completes at once has arrived before anybody reaps: a process that waits for
        // several sees them together.
        for Completion { tag, at, status } in done.iter() {
            assert!(
                *at <= now,
                "request {tag} completes at {at:?}, which is not yet: {now:?}"
            );
            self.core.answered();
            let owner = self.owners[*tag as usize];
            self.processes[owner as usize].arrives(*tag, *status);
        }
        self.core.submit_waiting(device, now);
        for Completion { tag, .. } in done.drain(..) {
            let owner = self.owners[tag as usize] as usize;
            self.processes[owner].reaps(&mut self.core, device, now);
            self.follow(now);
        }
    }

    /// Lets go whom a flow releases, and ends whom an ended job takes along.
    fn follow(&mut self, now: Nanos) {
        while let Some(number) = self.core.flows.released() {
            self.processes[number as usize].release(&mut self.core, now);
        }
        while let Some((whom, group, number)) = self.core.ends.pop() {
            if whom == Whom::All {
                self.ended_all.push(number);
            }
            for process in &mut self.processes {
                let its_group = process.job.fio.as_ref().map(|fio| fio.ends.group);
                let meant = match whom {
                    Whom::Group => its_group == Some(group),
                    Whom::Stonewall => !process.is_behind_a_gate(),
                    Whom::All => true,
                };
                if meant {
                    process.terminate(&mut self.core, now);
                }
            }
        }
        if std::mem::take(&mut self.core.ended) {
            self.open_gates(now);
        }
        if self.core.kept_too_many() || self.core.lacks_memory() {
            self.end_all(now);
        }
    }

    /// Lets begin whom nothing holds any more, as fio looks at its processes: in their order, those
    /// passed over whose time has not come or who wait for a job, up to the first that waits for
    /// all and something runs.
    fn open_gates(&mut self, now: Nanos) {
        if !self.gated {
            return;
        }
        let mut runs = self.processes.iter().any(Process::runs);
        for number in 0..self.processes.len() {
            let process = &self.processes[number];
            if !process.is_behind_a_gate() || now < process.may_begin(self.core.start) {
                continue;
            }
            let gate = process.gate();
            if gate.stonewall && runs {
                break;
            }
            let ended = |one: &u32| self.processes[*one as usize].has_ended();
            if gate.waits_for.iter().all(ended) {
                self.processes[number].pass_the_gate(&mut self.core, now);
                runs = true;
            }
        }
    }

    fn end_all(&mut self, now: Nanos) {
        for process in &mut self.processes {
            process.terminate(&mut self.core, now);
        }
    }

    /// The caller wants no more.
    fn stop(&mut self, now: Nanos) {
        self.stopped = true;
        self.end_all(now);
    }

    /// The device has left off: the caller is asked whether to go on. What is outstanding when it
    /// says stop has [`PATIENCE`] to complete; then the answer is false.
    fn looks_up(&mut self, now: Nanos, tick: &mut dyn FnMut(Progress) -> Flow) -> bool {
        if self.stopped {
            self.patience -= 1;
        } else if self.core.lacks_memory() || tick(self.progress(now)) == Flow::Stop {
            self.stop(now);
        }
        self.patience > 0
    }

    /// What was counted by `now`, where requests are still outstanding.
    fn left_behind(mut self, phase: &Phase, now: Nanos) -> Outcome {
        for process in &mut self.processes {
            process.leave_behind(&mut self.core, now);
        }
        let outcome = self.outcome(phase, now);
        Outcome {
            left_behind: true,
            ..outcome
        }
    }

    fn progress(&self, now: Nanos) -> Progress {
        Progress {
            completions: self.core.completions,
            bytes: self.core.bytes,
            elapsed: now - self.core.start,
        }
    }

    /// What every process has counted so far is told, and again after as long.
    fn tell(&mut self, now: Nanos) {
        let every = self.every.expect("a status is due");
        self.core.events.push(now + every, (STATUS, 0));
        let start = self.core.start;
        let progress = self.processes.iter().map(|one| one.so_far(start, now));
        (self.told)(progress.collect());
    }

    /// A second has passed: a value more for each steady state.
    fn look(&mut self, now: Nanos) {
        self.core.events.push(now + INTERVAL, (LOOK, 0));
        for looked in self.looked.iter_mut().filter(|l| !l.window.is_attained()) {
            let (mut iops, mut bw, mut any) = (0, 0, false);
            for (number, old_ios, old_bytes) in &mut looked.members {
                let process = &self.processes[*number];
                if !process.is_running() {
                    continue;
                }
                let (ios, bytes) = process.completed();
                // fio's ramp of the steady state ends a second late.
                let due = match looked.ramp {
                    Nanos::ZERO => Nanos::ZERO,
                    ramp => process.epoch() + ramp + INTERVAL,
                };
                if now >= due {
                    any = true;
                    iops += ios.saturating_sub(*old_ios);
                    bw += bytes.saturating_sub(*old_bytes);
                }
                (*old_ios, *old_bytes) = (ios, bytes);
            }
            if any && looked.window.add(iops, bw) {
                for (number, _, _) in &looked.members {
                    self.processes[*number].terminate(&mut self.core, now);
                }
            }
        }
    }

    fn outcome(self, phase: &Phase, end: Nanos) -> Outcome {
        let lacks_memory = self.core.lacks_memory();
        let Core {
            start,
            sampler,
            hist,
            ..
        } = self.core;
        let hist = Direction::ALL.into_iter().zip(hist);
        let mut jobs = Vec::new();
        let mut fio = Vec::new();
        for (number, process) in self.processes.into_iter().enumerate() {
            let steady = self.looked.iter().find(|looked| {
                let last = looked.members.last();
                last.is_some_and(|(member, _, _)| *member == number)
            });
            jobs.push(process.count.tally.totals(process.job, process.ended));
            let steady = steady.map(|looked| looked.window.totals().clone());
            let all = self.ended_all.contains(&(number as u32));
            fio.push(process.into_totals(start, steady, all));
        }
        Outcome {
            start,
            end,
            stopped: self.stopped,
            left_behind: false,
            lacks_memory,
            series: sampler.finish(end),
            jobs,
            hist: hist
                .filter(|(direction, _)| phase.uses(*direction))
                .collect(),
            fio,
        }
    }
}

/// The windows of a phase: one a group, or one a job that has none.
fn looked(phase: &Phase) -> Vec<Looked> {
    let mut list: Vec<(Option<u32>, Looked)> = Vec::new();
    for (number, job) in phase.jobs().iter().enumerate() {
        let Some(steady) = job.fio.as_ref().and_then(|fio| fio.steady) else {
            continue;
        };
        let group = steady.group;
        let known = list
            .iter_mut()
            .find(|(g, _)| group.is_some() && *g == group);
        if let Some((_, looked)) = known {
            looked.members.push((number, 0, 0));
        } else {
            let looked = Looked {
                window: Window::new(steady),
                members: vec![(number, 0, 0)],
                ramp: Nanos(steady.ramp_ns),
            };
            list.push((group, looked));
        }
    }
    list.into_iter().map(|(_, looked)| looked).collect()
}
