//! One of fio's processes: the loop of `do_io` in fio 3.33, cut at the places where it waits.
//!
//! A process takes a request slot, fills it (direction, rate, place), spends the host's time on it,
//! hands it over in batches, reaps when its queue is full, thinks, and looks at its limits. A
//! completion counts when it is reaped, as fio counts it: a process that is busy or asleep sees it
//! later. At the end of a pass it waits for all that is outstanding at once.
//!
//! Invariants: a request is in exactly one of `free`, `queued`, in flight or `arrived`; `depth` is
//! what is not free; a process that waits has an event planned, a request under way, or is held by
//! a flow of which another job is not.

mod gate;
mod limits;
mod passes;
mod reap;
mod source;
mod submit;

use std::collections::VecDeque;

use flashtwin_base::{Completion, Device, Nanos, Status};
use flashtwin_workload::fio::{Fio, FioAsk, Kind};
use flashtwin_workload::{Direction, Handles, Job};

use crate::fio::FioTotals;
use crate::fio::core::{Core, Outgoing};
use crate::fio::count::Counting;
use crate::fio::pace::{Minimum, Pacer, Thinking};
use crate::fio::steady::SteadyTotals;
use crate::fio::target::Search;

use self::source::Source;

/// A request failed, or a rate was not kept.
const EIO: u32 = 5;
/// More requests to keep than there is room for.
pub const ENOMEM: u32 = 12;
/// A latency was not kept.
const ETIMEDOUT: u32 = 110;

/// Why a job failed, in fio's error numbers and in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `EIO` 5, [`ENOMEM`] or `ETIMEDOUT` 110.
    pub code: u32,
    /// What happened.
    pub text: String,
}

/// One request of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub kind: Kind,
    pub ask: FioAsk,
    pub start: Nanos,
    pub issue: Nanos,
    pub number: u64,
    /// Handed over and not yet reaped.
    pub flies: bool,
    /// The last sync of a pass counts nowhere.
    pub silent: bool,
    /// The trace says that it is acknowledged once it is on flash.
    pub fua: bool,
}

/// Bytes of a slot in all lists that have an entry for it: its own, those of the numbers of free,
/// queued, arrived and owned ones, the requests that found the device full, and the completions.
pub(crate) const SLOT_BYTES: u64 =
    (size_of::<Slot>() + 4 + 4 + 8 + 4 + size_of::<Outgoing>() + size_of::<Completion>()) as u64;

/// Where the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The next pass, if there is one.
    Pass,
    /// The top of the loop.
    Top,
    /// A request is taken.
    Take,
    /// The request gets its place, in this file and of this kind.
    Fill(usize, Kind),
    /// The request is complete; the host issues it.
    Made(u32),
    /// The host has issued it.
    Issued(u32),
    /// Completions are due if the queue is full, or the request was refused.
    Reap { busy: bool },
    /// After a request: thinking, minima, the search for a depth.
    After,
    /// The same without thinking.
    Limits,
    /// The pause after what was under way has ended.
    Think(Nanos),
    /// The pause is over; then it began.
    Thought(Nanos),
    /// Sleeps until then for the rate, once what was under way has ended.
    Rest(Nanos, usize, Kind),
    /// Asleep for the rate.
    Rested(usize, Kind),
    /// The time of a trace's next request has come.
    Due,
    /// Ahead of its share: sleeps.
    Sleep(Nanos),
    /// What was under way at a depth that failed has ended.
    Calm,
    /// The search has its depth: measured from now on.
    Measure,
    /// Nothing more is asked for in this pass.
    Ends,
    /// The files are made durable, from this one on.
    EndSync(usize),
    /// The pass is over.
    Over,
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// An event; `light` sleep ends when the process is told to end.
    Event { then: Place, light: bool },
    /// An event, and reaps what arrives until then.
    Naps { then: Place },
    /// So many completions; then again while the queue was full and is above its low mark.
    Reaps { least: u32, full: bool, then: Place },
    /// The end of all that is under way.
    Drains { then: Place },
    /// A sync.
    Syncs { then: Place },
    /// Its flow.
    Held,
    /// The others, or its time: it has not begun.
    Gate,
    /// Nothing any more.
    Ended,
}

/// A step of the loop: on, or wait.
enum Step {
    On(Place),
    Wait(State),
}

/// What a process has done.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Issued since the ramp, for mixes and syncs.
    issued: [u64; 3],
    /// Bytes issued since the start.
    issued_bytes: [u64; 3],
    /// Completed since the ramp.
    ios: [u64; 3],
    bytes: [u64; 3],
    /// Bytes issued in this pass.
    pass_issued: u64,
    /// Bytes completed in this pass.
    pass_bytes: u64,
    /// Requests issued in all.
    numbers: u64,
}

/// A process.
pub(crate) struct Process<'a> {
    number: u32,
    pub job: &'a Job,
    fio: &'a Fio,
    source: Source,
    base_tag: u32,
    handles: Handles,
    slots: Vec<Slot>,
    free: Vec<u32>,
    queued: Vec<u32>,
    arrived: VecDeque<(u32, Status)>,
    depth: u32,
    in_flight: u32,
    refused: Option<u32>,
    state: State,
    stamp: u32,
    epoch: Nanos,
    pass_start: Nanos,
    in_ramp: bool,
    /// Passes begun.
    passes: u32,
    loops_left: u32,
    terminated: bool,
    finished: bool,
    drains: bool,
    last: Option<Kind>,
    done: Done,
    pacer: Option<Pacer>,
    thinking: Option<Thinking>,
    minimum: Option<Minimum>,
    search: Option<Search>,
    pub count: Counting,
    pub failure: Option<Failure>,
    pub started: Nanos,
    pub ended: Nanos,
}

impl<'a> Process<'a> {
    /// A process that begins at its start; its tags are those from `base_tag` on.
    pub fn new(job: &'a Job, number: u32, base_tag: u32, core: &mut Core) -> Process<'a> {
        let fio = job.fio.as_deref().expect("a phase of fio's jobs");
        let started = core.start + Nanos(fio.start_ns);
        let nothing = Slot {
            kind: Kind::Fsync,
            ask: sync_of(0),
            start: started,
            issue: started,
            number: 0,
            flies: false,
            silent: false,
            fua: false,
        };
        core.running += 1;
        if let Some(flow) = fio.flow {
            core.flows.join(number, flow.id, flow.weight);
        }
        Process {
            number,
            job,
            fio,
            source: Source::new(job, fio, number),
            base_tag,
            handles: Handles::default(),
            slots: vec![nothing; job.depth as usize],
            free: (0..job.depth).rev().collect(),
            queued: Vec::with_capacity(job.depth as usize),
            arrived: VecDeque::with_capacity(job.depth as usize),
            depth: 0,
            in_flight: 0,
            refused: None,
            state: State::Event {
                then: Place::Pass,
                light: true,
            },
            stamp: 0,
            epoch: started,
            pass_start: started,
            in_ramp: job.ramp > Nanos::ZERO,
            passes: 0,
            loops_left: fio.loops,
            terminated: false,
            finished: false,
            drains: false,
            last: None,
            done: Done::default(),
            pacer: Pacer::new(job, fio, number),
            thinking: fio.think.map(|think| Thinking::new(think, started)),
            minimum: Minimum::new(fio, started),
            search: fio
                .latency_target
                .map(|target| Search::new(target, job.depth)),
            count: Counting::new(job, fio, core.start, started),
            failure: None,
            started,
            ended: started,
        }
    }

    /// True if it has nothing more to do.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// True if it has begun and not ended.
    pub fn is_running(&self) -> bool {
        self.passes > 0 && self.runs()
    }

    /// Requests and bytes completed since the measured time began.
    pub fn completed(&self) -> (u64, u64) {
        (self.done.ios.iter().sum(), self.done.bytes.iter().sum())
    }

    /// When its measured time began.
    pub fn epoch(&self) -> Nanos {
        self.epoch
    }

    /// What it has counted by `now`, without its logs; `begin` is that of the phase.
    pub fn so_far(&self, begin: Nanos, now: Nanos) -> FioTotals {
        let until = if self.has_ended() { self.ended } else { now };
        let mut stats = self.count.stats.clone();
        for side in stats.sides.iter_mut().filter(|side| side.ios > 0) {
            if !self.has_ended() {
                side.runtime = until.max(self.epoch) - self.epoch;
            }
        }
        FioTotals {
            name: self.job.name.clone(),
            failure: self.failure.clone(),
            stats,
            started: self.started.min(until) - begin,
            measured: self.epoch.min(until) - begin,
            ended: until - begin,
            steady: None,
            depth_found: None,
            ended_all: false,
            requests: None,
            averages: None,
        }
    }

    /// What fio says of it once it has ended; `begin` is that of the phase.
    pub fn into_totals(
        mut self,
        begin: Nanos,
        steady: Option<SteadyTotals>,
        ended_all: bool,
    ) -> FioTotals {
        assert_eq!(
            self.depth, 0,
            "job `{}` ends with requests of its own outstanding",
            self.job.name
        );
        self.count.close(self.ended);
        let Counting {
            stats,
            averages,
            requests,
            ..
        } = self.count;
        FioTotals {
            name: self.job.name.clone(),
            failure: self.failure,
            stats,
            started: self.started.min(self.ended) - begin,
            measured: self.epoch.min(self.ended) - begin,
            ended: self.ended - begin,
            steady,
            depth_found: self.search.map(|search| search.depth),
            ended_all,
            requests,
            averages: averages.map(|averages| averages.finish(self.ended)),
        }
    }

    /// An event that it waited for is due; `stamp` is the wait's number.
    pub fn wake<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos, stamp: u32) {
        if stamp != self.stamp {
            return;
        }
        match self.state {
            State::Event { then, .. } | State::Naps { then } => self.go_on(core, device, now, then),
            State::Held => self.go_on(core, device, now, Place::Top),
            _ => {}
        }
    }

    /// The device has completed one of its requests.
    #[inline]
    pub fn arrives(&mut self, tag: u32, status: Status) {
        self.arrived.push_back((tag - self.base_tag, status));
    }

    /// Goes on if what has arrived is what it waits for.
    #[inline]
    pub fn reaps<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos) {
        match self.state {
            State::Reaps { least, .. } if self.arrived.len() as u32 >= least => {}
            State::Drains { .. } | State::Syncs { .. } | State::Naps { .. }
                if !self.arrived.is_empty() => {}
            _ => return,
        }
        if let Some(place) = self.reaped(core, device, now) {
            self.go_on(core, device, now, place);
        }
    }

    /// It has to end: nothing more is asked for, and no sleep goes on.
    pub fn terminate(&mut self, core: &mut Core, now: Nanos) {
        self.terminated = true;
        if self.is_behind_a_gate() {
            self.never_begins(core, now);
        }
        let asleep = matches!(
            self.state,
            State::Event { light: true, .. } | State::Naps { .. } | State::Held
        );
        if asleep {
            self.stamp += 1;
            core.events.push(now, (self.number, self.stamp));
        }
    }

    /// It ends with what it has counted, whatever is still outstanding.
    pub fn leave_behind(&mut self, core: &mut Core, now: Nanos) {
        if !self.has_ended() {
            let took = Nanos(now.0.saturating_sub(self.pass_start.0));
            let sides = self.count.stats.sides.iter_mut();
            for side in sides.filter(|side| side.ios > 0) {
                side.runtime += took;
            }
            self.count.tally.leave_behind(now);
            self.depth = 0;
            self.ended = now;
            self.state = State::Ended;
            core.process_ends();
        }
    }

    /// Its flow lets it go on.
    pub fn release(&mut self, core: &mut Core, now: Nanos) {
        if self.state == State::Held {
            self.stamp += 1;
            core.events.push(now, (self.number, self.stamp));
        }
    }

    fn go_on<D: Device>(&mut self, core: &mut Core, device: &mut D, now: Nanos, place: Place) {
        let mut place = place;
        loop {
            match self.step(core, device, now, place) {
                Step::On(next) => place = next,
                Step::Wait(state) => {
                    self.state = state;
                    match self.reaped(core, device, now) {
                        Some(next) => place = next,
                        None => return,
                    }
                }
            }
        }
    }

    fn step<D: Device>(
        &mut self,
        core: &mut Core,
        device: &mut D,
        now: Nanos,
        place: Place,
    ) -> Step {
        match place {
            Place::Pass => self.begin_pass(core, now),
            Place::Top => self.top(core, device, now),
            Place::Take => self.take(core, device, now),
            Place::Fill(file, kind) => self.fill(now, file, kind),
            Place::Made(slot) => self.made(core, device, now, slot),
            Place::Issued(slot) => self.issued(core, device, now, slot),
            Place::Reap { busy } => self.wait_if_full(core, device, now, busy, Place::After),
            Place::After => self.after(core, device, now),
            Place::Limits => self.look_at_limits(core, device, now),
            Place::Think(time) => {
                let until = (now + time).min(self.deadline()).max(now);
                self.sleep(core, until, Place::Thought(now))
            }
            Place::Thought(since) => self.thought(core, device, now, since),
            Place::Rest(until, file, kind) => {
                let until = until.min(self.deadline()).max(now);
                self.sleep(core, until, Place::Rested(file, kind))
            }
            Place::Rested(file, kind) => {
                if self.terminated || now >= self.deadline() {
                    Step::On(Place::Top)
                } else {
                    Step::On(Place::Fill(file, kind))
                }
            }
            Place::Due => self.due(now),
            Place::Sleep(time) => self.sleep(core, now + time, Place::Top),
            Place::Calm => {
                self.drains = false;
                let ios = self.done.ios.iter().sum();
                let search = self.search.as_mut();
                search
                    .into_iter()
                    .for_each(|search| search.window(now, ios));
                Step::On(Place::After)
            }
            Place::Measure => {
                self.measure_anew(now);
                Step::On(Place::Top)
            }
            Place::Ends => self.ends(core, device, now),
            Place::EndSync(file) => self.end_sync(core, device, now, file),
            Place::Over => self.over(now),
        }
    }

    fn event(&mut self, core: &mut Core, at: Nanos, then: Place, light: bool) -> Step {
        self.stamp += 1;
        core.events.push(at, (self.number, self.stamp));
        Step::Wait(State::Event { then, light })
    }

    /// Sleep that ends when the process is told to end.
    fn sleep(&mut self, core: &mut Core, until: Nanos, then: Place) -> Step {
        self.event(core, until, then, true)
    }

    /// Nothing starts at or after this.
    fn deadline(&self) -> Nanos {
        match self.job.runtime {
            Some(runtime) if !self.in_ramp => self.epoch + runtime,
            _ => Nanos::NEVER,
        }
    }
}

fn sync_of(file: usize) -> FioAsk {
    FioAsk {
        file: file as u32,
        direction: Direction::Write,
        offset: 0,
        bytes: 0,
        lba: 0,
    }
}
