//! The loop around a device: every thread keeps its depth of requests outstanding.
//!
//! A thread is one CPU. It starts a request when one of its slots is free and has thought, when it
//! has issued the one before, and when its rate allows; the request reaches the device `host`
//! later, or the host's queue where the device has no room, and its latency counts from the start.
//! So a thread has at most one thing to wait for, and the queue of the host's own events one entry
//! a thread.
//!
//! Invariants: time never runs backwards and nothing is submitted in the past; events of one time
//! happen in the order in which they were planned; the device never holds more than its queue
//! depth; while a request is outstanding, the device or the host has something under way.

use flashtwin_base::queue::{EventQueue, Fifo};
use flashtwin_base::{Completion, Device, Histogram, Nanos, Request, Source, Status};
use flashtwin_workload::{Ask, Direction, Generator, Handles, Job, SECTOR_BYTES};

use crate::fio::FioTotals;
use crate::outcome::{Outcome, Tally};
use crate::phase::Phase;
use crate::series::Sampler;

/// Completions from one tick to the next, unless [`TICK_BYTES`] of them come before.
pub const TICK: u64 = 8_192;

/// Bytes from one tick to the next: large requests are few and are as much work.
pub const TICK_BYTES: u64 = 8 << 30;

/// How often a device may leave off, with much done each time, until what was outstanding at a stop
/// has completed: about a second of a processor. A drive may take hours for a command.
pub const PATIENCE: u32 = 64;

/// Says when a tick is due, by the work that was done.
#[derive(Debug)]
pub(crate) struct Ticks {
    completions: u64,
    bytes: u64,
}

impl Ticks {
    pub fn new() -> Ticks {
        Ticks {
            completions: TICK,
            bytes: TICK_BYTES,
        }
    }

    /// True if these completions or bytes make a tick due; the next one is then a tick later.
    #[inline(always)]
    pub fn is_due(&mut self, completions: u64, bytes: u64) -> bool {
        let due = completions >= self.completions || bytes >= self.bytes;
        if due {
            (self.completions, self.bytes) = (completions + TICK, bytes + TICK_BYTES);
        }
        due
    }
}

/// How far a phase has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed.
    pub completions: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Virtual time since the phase began.
    pub elapsed: Nanos,
}

/// The caller's answer to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Ask for nothing more; what is outstanding completes.
    Stop,
}

/// One request that may be outstanding; its place in the table is its tag.
#[derive(Clone, Copy, Debug)]
struct Slot {
    started: Nanos,
    lba: u64,
    sectors: u32,
    thread: u32,
    direction: Direction,
    fua: bool,
    compressible_percent: u8,
    placement: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Every slot is outstanding.
    Idle,
    /// Until a slot has thought or the rate allows.
    Waits,
    /// The request of this slot.
    Issues(u32),
    /// Nothing more to ask for.
    Done,
}

#[derive(Debug)]
struct Thread {
    job: u32,
    number: u32,
    state: State,
    /// Free slots and when each has thought, which is the order of their completions.
    free: Fifo<(u32, Nanos)>,
    bytes: u64,
}

#[derive(Debug)]
struct Running<'a> {
    job: &'a Job,
    generator: Generator,
    handles: Handles,
    tally: Tally,
    /// Nothing starts at or after this.
    deadline: Nanos,
    /// True if the deadline ended the job, which then lasts until it.
    timed_out: bool,
    /// A request starts as soon as there is a slot for it, and reaches the device at once.
    at_once: bool,
}

struct Host<'a> {
    start: Nanos,
    slots: Vec<Slot>,
    threads: Vec<Thread>,
    jobs: Vec<Running<'a>>,
    events: EventQueue<u32>,
    /// When the earliest of them is due: never, as a rule.
    due: Nanos,
    /// Requests that found the device full.
    waiting: Fifo<u32>,
    room: u32,
    outstanding: u64,
    completions: u64,
    bytes: u64,
    ticks: Ticks,
    stopped: bool,
    /// How often the device may still leave off after a stop.
    patience: u32,
    /// The job that has asked last: what it has drawn ahead can be told.
    told: usize,
    sampler: Sampler,
    hist: [Histogram; 3],
}

/// Runs a phase on a device whose clock stands at `start` or before; `tick` is asked every [`TICK`]
/// completions or [`TICK_BYTES`] whether to go on, and where the device leaves off in between.
pub fn run<D: Device>(
    device: &mut D,
    start: Nanos,
    phase: &Phase,
    tick: &mut impl FnMut(Progress) -> Flow,
) -> Outcome {
    run_telling(device, start, phase, tick, &mut |_| ())
}

/// As [`run`]; `told` hears what fio's jobs have counted, an entry a job without its logs, each
/// time that the phase's status is due. Nothing of it is kept.
pub fn run_telling<D: Device>(
    device: &mut D,
    start: Nanos,
    phase: &Phase,
    tick: &mut impl FnMut(Progress) -> Flow,
    told: &mut dyn FnMut(Vec<FioTotals>),
) -> Outcome {
    // One type of asker, so that a crate compiles this once for each of its devices.
    let tick: &mut dyn FnMut(Progress) -> Flow = tick;
    if phase.is_fio() {
        return crate::fio::run(device, start, phase, tick, told);
    }
    let host = Host::new(phase, start, device.queue_depth());
    let mut asking = Asking { host, tick };
    let mut now = start;
    asking.host.run_due(device, now);
    while !asking.host.is_finished() {
        let next = device.serve(&mut asking);
        if device.has_left_off() {
            now = now.max(next);
            if asking.looks_up(now) {
                continue;
            }
            let mut host = asking.host;
            let jobs = host.jobs.iter_mut();
            jobs.for_each(|running| running.tally.leave_behind(now));
            return host.outcome(phase, now, true);
        }
        assert_ne!(
            next,
            Nanos::NEVER,
            "{} requests, nothing under way at {now:?}",
            asking.host.outstanding
        );
        now = now.max(next);
        asking.host.run_due(device, now);
    }
    let mut end = asking.host.end().max(now);
    if !rests_until(device, end, &mut |at| asking.looks_up(at)) {
        end = now;
    }
    asking.host.outcome(phase, end, false)
}

/// Lets a device go on until `end`, to which nothing is outstanding; `goes_on` is asked where it
/// leaves off on the way. The answer is whether it came to the end.
pub(crate) fn rests_until<D: Device>(
    device: &mut D,
    end: Nanos,
    goes_on: &mut dyn FnMut(Nanos) -> bool,
) -> bool {
    let mut done = Vec::new();
    let rested = device.advance_while(end, &mut done, goes_on);
    assert!(
        done.is_empty(),
        "the device completes what nobody asked for"
    );
    rested
}

/// The host and who is asked whether it goes on: what a device draws its requests from.
struct Asking<'a, 't> {
    host: Host<'a>,
    tick: &'t mut dyn FnMut(Progress) -> Flow,
}

impl Asking<'_, '_> {
    /// The device has left off: the caller is asked whether to go on. What is outstanding when it
    /// says stop has [`PATIENCE`] to complete; then the answer is false.
    fn looks_up(&mut self, now: Nanos) -> bool {
        let host = &mut self.host;
        if host.stopped {
            host.patience -= 1;
        } else if host.sampler.lacks_memory() || (self.tick)(host.progress(now)) == Flow::Stop {
            host.stop(now);
        }
        host.patience > 0
    }
}

impl Source for Asking<'_, '_> {
    #[inline(always)]
    fn due(&self) -> Nanos {
        self.host.due
    }

    #[inline(always)]
    fn completed(&mut self, now: Nanos, completion: Completion) -> Option<Request> {
        let Asking { host, tick } = self;
        let request = host.complete(now, completion);
        let due = host.ticks.is_due(host.completions, host.bytes);
        if due && (host.sampler.lacks_memory() || tick(host.progress(now)) == Flow::Stop) {
            host.stop(now);
        }
        request
    }

    #[inline(always)]
    fn next(&mut self, _: Nanos) -> Option<Request> {
        if self.host.waiting.is_empty() {
            return None;
        }
        self.host.next_waiting()
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.host.outstanding == 0
    }

    #[inline]
    fn foretells(&self) -> bool {
        let mut jobs = self.host.jobs.iter();
        jobs.all(|running| running.generator.foretells())
    }

    #[inline(always)]
    fn foretold(&mut self) -> Option<&[u64]> {
        self.host.jobs[self.host.told].generator.foretold()
    }
}

impl<'a> Host<'a> {
    fn new(phase: &'a Phase, start: Nanos, room: u32) -> Host<'a> {
        assert!(room > 0, "the device takes no requests at all");
        let (mut slots, mut threads, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
        let mut events = EventQueue::new();
        for (index, job) in phase.jobs().iter().enumerate() {
            for number in 0..job.threads {
                let thread = threads.len() as u32;
                threads.push(Thread::new(
                    index as u32,
                    number,
                    job.depth,
                    &mut slots,
                    start,
                    thread,
                ));
                events.push(start, thread);
            }
            jobs.push(Running::new(job, index as u32, start));
        }
        let used = Direction::ALL.map(|direction| phase.uses(direction));
        Host {
            start,
            waiting: Fifo::new(slots.len()),
            slots,
            threads,
            jobs,
            due: events.peek_at().unwrap_or(Nanos::NEVER),
            events,
            room,
            outstanding: 0,
            completions: 0,
            bytes: 0,
            ticks: Ticks::new(),
            stopped: false,
            patience: PATIENCE,
            told: 0,
            sampler: Sampler::new(start, phase.sample(), used),
            hist: [Histogram::new(), Histogram::new(), Histogram::new()],
        }
    }

    /// Lets the threads go on whose time has come.
    #[inline(always)]
    fn run_due<D: Device>(&mut self, device: &mut D, now: Nanos) {
        if self.due <= now {
            self.run_threads(now);
            while let Some(request) = self.next_waiting() {
                device.submit(now, request);
            }
        }
    }

    /// A thread goes on at `at`.
    fn wake(&mut self, at: Nanos, index: u32) {
        self.events.push(at, index);
        self.due = self.due.min(at);
    }

    #[inline(never)]
    fn run_threads(&mut self, now: Nanos) {
        while let Some((_, index)) = self.events.pop_due(now) {
            let thread = &mut self.threads[index as usize];
            let state = std::mem::replace(&mut thread.state, State::Idle);
            if let State::Issues(slot) = state {
                self.reach(slot);
            }
            self.go_on(now, index);
        }
        self.due = self.events.peek_at().unwrap_or(Nanos::NEVER);
    }

    /// Has an idle thread start what it can, until it has to wait for something.
    #[inline]
    fn go_on(&mut self, now: Nanos, index: u32) {
        loop {
            let thread = &mut self.threads[index as usize];
            let running = &mut self.jobs[thread.job as usize];
            let Some(&(slot, thought)) = thread.free.front() else {
                return;
            };
            let at = thought
                .max(thread.rate_allows(running.job, self.start))
                .max(now);
            if at >= running.deadline {
                running.timed_out = true;
                thread.state = State::Done;
                return;
            }
            if at > now {
                thread.state = State::Waits;
                self.wake(at, index);
                return;
            }
            let host = running.job.host;
            let slots = &mut self.slots[slot as usize];
            if running.begin(now, thread, slot, slots).is_none() {
                return;
            }
            thread.free.pop();
            self.outstanding += 1;
            if host > Nanos::ZERO {
                self.threads[index as usize].state = State::Issues(slot);
                self.wake(now + host, index);
                return;
            }
            self.reach(slot);
        }
    }

    /// The request of a slot arrives at the device, which takes those that wait in their order.
    #[inline]
    fn reach(&mut self, slot: u32) {
        self.waiting.push(slot).expect("a slot waits once");
    }

    /// What is outstanding, or will be, in a slot.
    fn request(&self, tag: u32) -> Request {
        let slot = &self.slots[tag as usize];
        Request {
            tag,
            op: slot.direction.op(),
            lba: slot.lba,
            sectors: slot.sectors,
            fua: slot.fua,
            compressible_percent: slot.compressible_percent,
            placement: slot.placement,
        }
    }

    /// The request that has waited longest, if the device has room for it.
    #[inline(never)]
    fn next_waiting(&mut self) -> Option<Request> {
        if self.room == 0 {
            return None;
        }
        let slot = self.waiting.pop()?;
        self.room -= 1;
        Some(self.request(slot))
    }

    /// Writes a completion down and lets its thread go on; the answer is a request that takes the
    /// place of the completed one in the device as well.
    #[inline(always)]
    fn complete(&mut self, now: Nanos, completion: Completion) -> Option<Request> {
        let Completion { tag, at, status } = completion;
        assert!(
            at <= now,
            "request {tag} completes at {at:?}, which is not yet: {now:?}"
        );
        let Slot {
            started,
            sectors,
            thread: index,
            direction,
            ..
        } = self.slots[tag as usize];
        let thread = &mut self.threads[index as usize];
        self.told = thread.job as usize;
        let running = &mut self.jobs[self.told];
        let (bytes, latency) = (u64::from(sectors) * SECTOR_BYTES, at - started);
        running.tally.end(at);
        self.room += 1;
        self.outstanding -= 1;
        self.completions += 1;
        if status == Status::Ok {
            self.bytes += bytes;
            self.sampler.record(at, direction, bytes, latency);
            if running.tally.counts(at) {
                running.tally.add(bytes, latency);
                self.hist[direction as usize].record(latency.0);
            }
        } else {
            running.tally.add_error(status);
        }
        let idle = thread.state == State::Idle;
        if idle && running.at_once && thread.free.is_empty() && now < running.deadline {
            // The slot takes the next request, without a turn in the queue of free ones.
            let slot = &mut self.slots[tag as usize];
            if let Some(request) = running.begin(now, thread, tag, slot) {
                self.outstanding += 1;
                if self.waiting.is_empty() {
                    self.room -= 1;
                    return Some(request);
                }
                self.reach(tag);
                return None;
            }
        }
        thread
            .free
            .push((tag, at + running.job.think))
            .expect("a slot is free once");
        if thread.state == State::Idle {
            self.go_on(now, index);
        }
        None
    }

    fn progress(&self, now: Nanos) -> Progress {
        let (completions, bytes) = (self.completions, self.bytes);
        Progress {
            completions,
            bytes,
            elapsed: now - self.start,
        }
    }

    /// From `now` on nothing starts any more.
    fn stop(&mut self, now: Nanos) {
        self.stopped = true;
        for running in &mut self.jobs {
            running.deadline = running.deadline.min(now);
        }
    }

    /// True if nothing is outstanding and nothing will be. Threads that wait for their rate or
    /// their thought hold nothing up when the phase is stopped, or when others have taken what was
    /// left.
    #[inline]
    fn is_finished(&self) -> bool {
        self.outstanding == 0 && (self.stopped || !self.threads.iter().any(|t| self.will_ask(t)))
    }

    fn will_ask(&self, thread: &Thread) -> bool {
        let generator = &self.jobs[thread.job as usize].generator;
        thread.state == State::Waits && generator.has_more(thread.number as usize)
    }

    fn end(&self) -> Nanos {
        self.jobs
            .iter()
            .map(Running::end)
            .max()
            .unwrap_or(self.start)
    }

    fn outcome(self, phase: &Phase, end: Nanos, left_behind: bool) -> Outcome {
        let hist = Direction::ALL.into_iter().zip(self.hist);
        Outcome {
            start: self.start,
            end,
            stopped: self.stopped,
            left_behind,
            lacks_memory: self.sampler.lacks_memory(),
            series: self.sampler.finish(end),
            jobs: self
                .jobs
                .iter()
                .map(|job| job.tally.totals(job.job, job.end()))
                .collect(),
            hist: hist
                .filter(|(direction, _)| phase.uses(*direction))
                .collect(),
            fio: Vec::new(),
        }
    }
}

impl Thread {
    fn new(
        job: u32,
        number: u32,
        depth: u32,
        slots: &mut Vec<Slot>,
        start: Nanos,
        thread: u32,
    ) -> Thread {
        let mut free = Fifo::new(depth as usize);
        let direction = Direction::Read;
        for _ in 0..depth {
            free.push((slots.len() as u32, start))
                .expect("room for the depth");
            slots.push(Slot {
                started: start,
                lba: 0,
                sectors: 0,
                thread,
                direction,
                fua: false,
                compressible_percent: 0,
                placement: 0,
            });
        }
        Thread {
            job,
            number,
            state: State::Waits,
            free,
            bytes: 0,
        }
    }

    /// When the bytes asked for so far have had their time at the job's rate.
    #[inline]
    fn rate_allows(&self, job: &Job, start: Nanos) -> Nanos {
        let Some(rate) = job.rate_bytes_s else {
            return start;
        };
        let nanos = u128::from(self.bytes) * 1_000_000_000 / u128::from(rate);
        start + Nanos(u64::try_from(nanos).unwrap_or(u64::MAX - start.0))
    }
}

impl<'a> Running<'a> {
    fn new(job: &'a Job, index: u32, start: Nanos) -> Running<'a> {
        let runtime = job.runtime.map_or(u64::MAX, |runtime| runtime.0);
        Running {
            job,
            generator: Generator::new(job, index),
            handles: Handles::default(),
            tally: Tally::new(start, job.ramp),
            deadline: Nanos((start + job.ramp).0.saturating_add(runtime)),
            timed_out: false,
            at_once: job.think == Nanos::ZERO
                && job.host == Nanos::ZERO
                && job.rate_bytes_s.is_none(),
        }
    }

    /// Puts a thread's next request into a slot of its own; nothing when it has none left.
    #[inline(always)]
    fn begin(
        &mut self,
        now: Nanos,
        thread: &mut Thread,
        tag: u32,
        slot: &mut Slot,
    ) -> Option<Request> {
        let Some(ask) = self.generator.next(thread.number as usize) else {
            thread.state = State::Done;
            return None;
        };
        let Ask {
            direction,
            lba,
            sectors,
        } = ask;
        thread.bytes += u64::from(sectors) * SECTOR_BYTES;
        let fua = self.job.sync && direction == Direction::Write;
        let compressible_percent = self.job.compress_percent as u8;
        (slot.started, slot.lba, slot.sectors) = (now, lba, sectors);
        (slot.direction, slot.fua) = (direction, fua);
        slot.compressible_percent = compressible_percent;
        let placement = self.handles.next(self.job, direction);
        slot.placement = placement;
        self.tally.begin(now);
        Some(Request {
            tag,
            op: direction.op(),
            lba,
            sectors,
            fua,
            compressible_percent,
            placement,
        })
    }

    fn end(&self) -> Nanos {
        let end = self.tally.last_end();
        if self.timed_out {
            end.max(self.deadline)
        } else {
            end
        }
    }
}
