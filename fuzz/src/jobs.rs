//! Jobs: any JSON is a phase or is refused, and what is a phase keeps to its addresses and ends.
//!
//! The text is what the Python side hands over: a list of jobs.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Request, Status};
use flashtwin_drawn as drawn;
use flashtwin_host::{Flow, Phase, run};
use flashtwin_workload::fio::{Kind, NextFile, Span, Stream};
use flashtwin_workload::job::Problem;
use flashtwin_workload::{Generator, Job, JobError, Mix, Order, RawJob, SECTOR_BYTES};
use serde_json::{Map, Value, json};

use crate::draw::pick;

/// Drives that the jobs are for.
const CAPACITIES: [u64; 3] = [1 << 20, 240_000_000_000, 16 << 40];
/// What a job is made of.
const FIELDS: [&str; 22] = [
    "name",
    "rw",
    "block_bytes",
    "depth",
    "threads",
    "offset",
    "size",
    "io_bytes",
    "runtime_ns",
    "ramp_ns",
    "read_percent",
    "trim_percent",
    "zones",
    "host_ns",
    "think_ns",
    "rate_bytes_s",
    "shared_stream",
    "compress_percent",
    "handles",
    "sync",
    "seed",
    "fio",
];
/// Requests of a thread that are looked at.
const ASKS: usize = 64;
/// What a phase may ask for, to be run: about a millisecond's work.
const REQUESTS_MOST: u64 = 2_000;
/// Blocks that a generator may keep a list of, to be tried.
const LISTED_MOST: u64 = 1 << 16;

/// Answers everything after a while, and counts.
struct Echo {
    capacity: u64,
    now: Nanos,
    waiting: Vec<(Nanos, u32)>,
}

impl Echo {
    const TIME: Nanos = Nanos::from_us(50);
}

impl Device for Echo {
    fn queue_depth(&self) -> u32 {
        32
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        assert!(
            now >= self.now,
            "time runs back: {now:?} after {:?}",
            self.now
        );
        let end = request.lba.checked_add(request.sectors.into());
        let inside = end.is_some_and(|end| end <= self.capacity / SECTOR_BYTES);
        assert!(inside && request.sectors > 0, "{request:?}");
        assert!(self.waiting.len() < 32, "more than the queue holds");
        self.waiting.push((now + Echo::TIME, request.tag));
    }

    fn next_due(&self) -> Option<Nanos> {
        self.waiting.first().map(|(due, _)| *due)
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        let due = self
            .waiting
            .iter()
            .take_while(|(due, _)| *due <= to)
            .count();
        let status = Status::Ok;
        done.extend(
            self.waiting
                .drain(..due)
                .map(|(at, tag)| Completion { tag, at, status }),
        );
        self.now = to.max(self.now);
    }
}

/// Holds a text against what must be true of any; the answer is whether it is one that is right.
///
/// # Panics
/// Where it is not.
pub fn check(data: &[u8]) -> bool {
    let Ok(jobs) = serde_json::from_slice::<Vec<RawJob>>(data) else {
        return false;
    };
    let mut right = false;
    for capacity in CAPACITIES {
        let checked = jobs.iter().map(|job| job.clone().check(capacity));
        match checked.collect::<Result<Vec<Job>, JobError>>() {
            Ok(jobs) => {
                keep_to_their_span(&jobs, capacity);
                run_and_end(jobs, capacity);
                right = true;
            }
            Err(error) => assert!(!is_empty(&error), "{error}"),
        }
    }
    right
}

/// An error that says that nothing is wrong.
fn is_empty(error: &JobError) -> bool {
    match error.problem {
        Problem::AboveLimit { value, limit } => value <= limit,
        Problem::PastEnd { end, capacity } => end <= capacity,
        Problem::BelowBlock { size, block } => size >= block,
        Problem::NotWholeSectors(bytes) => bytes % SECTOR_BYTES == 0,
        Problem::NotAHundred(sum) => sum == 100,
        _ => false,
    }
}

fn is_small(job: &Job) -> bool {
    if let Some(fio) = &job.fio {
        let blocks = |span: &Span| span.used() / SECTOR_BYTES <= LISTED_MOST;
        return fio.spans.iter().all(blocks);
    }
    let listed = matches!(job.mix, Mix::Trims(_)) && job.order == Order::Random;
    !listed || job.size / job.block_bytes <= LISTED_MOST
}

fn keep_to_their_span(jobs: &[Job], capacity: u64) {
    for (index, job) in jobs.iter().enumerate().filter(|(_, job)| is_small(job)) {
        if job.fio.is_some() {
            keep_to_their_files(job, index as u32, capacity);
            continue;
        }
        let (first, end) = (job.offset, job.offset + job.size);
        assert!(end <= capacity, "{job:?}");
        let mut generator = Generator::new(job, index as u32);
        for ask in (0..ASKS).filter_map(|_| generator.next(0)) {
            let from = ask.lba * SECTOR_BYTES;
            let to = from + u64::from(ask.sectors) * SECTOR_BYTES;
            assert!(
                first <= from && from < to && to <= end,
                "{ask:?} of {job:?}"
            );
            assert!(
                job.mix.uses(ask.direction) || matches!(job.mix, Mix::Trims(_)),
                "{ask:?}"
            );
        }
    }
}

/// A job of fio's asks for nothing outside of its files.
fn keep_to_their_files(job: &Job, index: u32, capacity: u64) {
    let fio = job.fio.as_ref().expect("a job of fio's");
    let mut stream = Stream::new(job, index);
    let (mut issued, mut last) = ([0; 3], None);
    for _ in 0..ASKS {
        let NextFile::Number(file) = stream.next_file() else {
            // All are done, or nothing is under way here that could end and close one.
            return;
        };
        let kind = stream.direction(file, issued, last);
        last = Some(kind);
        let Kind::Io(direction) = kind else {
            continue;
        };
        let Some(ask) = stream.place(file, direction) else {
            continue;
        };
        issued[direction as usize] += 1;
        let span = &fio.spans[file];
        let (from, end) = (span.start + ask.offset, ask.offset + ask.bytes);
        assert!(ask.bytes > 0 && end <= span.bytes, "{ask:?} of {job:?}");
        // Blocks of odd sizes begin within a sector.
        assert!(from / SECTOR_BYTES == ask.lba && from + ask.bytes <= capacity);
        assert!(job.mix.uses(direction), "{ask:?} of {job:?}");
    }
}

/// Requests of a job, at most.
fn requests(job: &Job) -> u64 {
    // A span shorter than a block is read whole, again and again.
    let block = job.block_bytes.min(job.size).max(1);
    let by_bytes = |bytes: u64| bytes.div_ceil(block) + u64::from(job.threads);
    let pass = if job.shared_stream {
        job.size
    } else {
        job.size.saturating_mul(job.threads.into())
    };
    match (job.io_bytes, job.runtime) {
        (Some(bytes), _) => by_bytes(bytes),
        (None, None) => by_bytes(pass),
        (None, Some(time)) => {
            let rounds = (time.0.saturating_add(job.ramp.0)) / Echo::TIME.0 + 1;
            rounds.saturating_mul(u64::from(job.depth) * u64::from(job.threads))
        }
    }
}

/// Nanoseconds that all requests of a job take together, at most: their sum has 64 bits.
fn request_time(job: &Job) -> u128 {
    let requests = u128::from(requests(job));
    let rate = u128::from(job.rate_bytes_s.unwrap_or(u64::MAX));
    let paced = u128::from(job.block_bytes) * 1_000_000_000 / rate;
    let each = Echo::TIME.0 + job.host.0 + job.think.0;
    let runtime = job.runtime.map_or(0, |time| time.0);
    let life = requests * (u128::from(each) + paced) + u128::from(job.ramp.0 + runtime);
    life.saturating_mul(u128::from(job.depth) * u128::from(job.threads))
}

fn run_and_end(jobs: Vec<Job>, capacity: u64) {
    // Those of fio's are run by the tests of `host`.
    let small = jobs
        .iter()
        .all(|job| is_small(job) && request_time(job) < 1 << 62);
    let most: u64 = jobs.iter().map(requests).fold(0, u64::saturating_add);
    // A series of one interval: its length is not what is looked at.
    let Ok(phase) = Phase::new(jobs, Nanos(u64::MAX / 2)) else {
        return;
    };
    if !small || most > REQUESTS_MOST || phase.is_fio() {
        return;
    }
    let mut device = Echo {
        capacity,
        now: Nanos::ZERO,
        waiting: Vec::new(),
    };
    let outcome = run(&mut device, Nanos::ZERO, &phase, &mut |_| Flow::Continue);
    assert!(!outcome.stopped && outcome.end >= outcome.start);
}

/// The same jobs with one field changed; none where they are not jobs.
#[must_use]
pub fn mutate(data: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut jobs: Vec<Map<String, Value>> = serde_json::from_slice(data).ok()?;
    let mut rng = Rng::new(seed, 0);
    if jobs.is_empty() || rng.chance(5) {
        jobs.push(Map::from_iter([("name".to_owned(), "x".into())]));
    }
    let at = rng.below(jobs.len() as u64) as usize;
    // What is fio's is most of a job.
    let field = match rng.chance(40) {
        true => "fio",
        false => pick(&mut rng, &FIELDS),
    };
    let (name, value) = match field {
        "name" => ("name", Value::from("y")),
        "rw" => ("rw", pick(&mut rng, &drawn::PATTERNS).into()),
        "zones" => ("zones", zones(&mut rng)),
        "fio" => ("fio", fio(&mut rng)),
        name @ ("shared_stream" | "sync") => (name, rng.chance(50).into()),
        name => (name, number(&mut rng).into()),
    };
    match rng.below(8) {
        0 => jobs[at].remove(name),
        _ => jobs[at].insert(name.to_owned(), value),
    };
    serde_json::to_vec(&jobs).ok()
}

/// Numbers that mean something: few, powers of two and their neighbours, percents, sectors.
fn number(rng: &mut Rng) -> u64 {
    let power = 1_u64 << rng.below(64);
    let few = rng.below(101);
    pick(
        rng,
        &[
            few,
            few,
            few * SECTOR_BYTES,
            power,
            power,
            power - 1,
            u64::MAX - few,
        ],
    )
}

fn zones(rng: &mut Rng) -> Value {
    let shares = |rng: &mut Rng| {
        let first = rng.below(101);
        [first, 100 - first]
    };
    let (access, size) = (shares(rng), shares(rng));
    let zone = |at: usize| json!({"access_percent": access[at], "size_percent": size[at]});
    json!([zone(0), zone(1)])
}

/// The part of a job that is fio's, with a few of its options; often one of their numbers is any.
fn fio(rng: &mut Rng) -> Value {
    let options = drawn::options();
    let mut fio = Map::new();
    for _ in 0..rng.below(4) {
        let (name, values) = &options[rng.below(options.len() as u64) as usize];
        let value = &values[rng.below(values.len() as u64) as usize];
        fio.insert((*name).to_owned(), value.clone());
    }
    let mut fio = Value::Object(fio);
    if rng.chance(70) {
        let mut found = Vec::new();
        numbers(&mut fio, &mut found);
        if !found.is_empty() {
            let at = rng.below(found.len() as u64) as usize;
            *found.swap_remove(at) = number(rng).into();
        }
    }
    fio
}

/// Every number within a value.
fn numbers<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => found.push(value),
        Value::Array(inner) => inner.iter_mut().for_each(|one| numbers(one, found)),
        Value::Object(inner) => inner.values_mut().for_each(|one| numbers(one, found)),
        _ => {}
    }
}
