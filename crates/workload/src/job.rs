//! A job as its caller writes it ([`RawJob`], from JSON) and as the host runs it ([`Job`], known
//! to be right).
//!
//! The fields are those of the battery's `Job` in Python, with times in whole nanoseconds. What a
//! `Job` holds has been checked against the target: its span lies on the drive, its sizes are whole
//! sectors, and every limit below is kept, so nothing downstream checks again.

use flashtwin_base::{Nanos, Op};
use serde::Deserialize;
use thiserror::Error;

/// Bytes a sector, the grain of every address and size.
pub const SECTOR_BYTES: u64 = 512;
/// Requests that one thread may keep outstanding.
pub const MAX_DEPTH: u32 = 65_536;
/// Threads of one job.
pub const MAX_THREADS: u32 = 1_024;
/// The longest request.
pub const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// The longest time of any kind: ten years, so that sums of times keep within 64 bits.
pub const MAX_TIME_NS: u64 = 10 * 366 * 86_400 * 1_000_000_000;

/// What a request does, and the number that a series has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the drive.
    Read = 0,
    /// To the drive.
    Write = 1,
    /// Deallocation.
    Trim = 2,
}

impl Direction {
    /// All of them, in the order of their numbers.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// The name that results have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }

    /// The command that it becomes.
    #[inline]
    #[must_use]
    pub fn op(self) -> Op {
        match self {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Trim => Op::Trim,
        }
    }
}

/// Pattern and direction in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadWrite {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, both ways.
    Rw,
    /// Random, both ways.
    RandRw,
    /// Sequential deallocation.
    Trim,
    /// Random deallocation.
    RandTrim,
}

/// The order of a job's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One block after the other, from the start again after the end.
    Sequential,
    /// Uniform over the whole blocks of the span; a block may come twice.
    Random,
}

/// The directions of a job's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All the same.
    Only(Direction),
    /// So many reads in a hundred, the others writes.
    Reads(u32),
    /// So many trims in a hundred, the others writes.
    Trims(u32),
}

/// A share of a job's span that gets its own share of the requests (fio's
/// `random_distribution=zoned`), in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Zone {
    /// Of the requests.
    pub access_percent: u32,
    /// Of the span.
    pub size_percent: u32,
}

impl Mix {
    /// Whether such requests can occur.
    #[must_use]
    pub fn uses(self, direction: Direction) -> bool {
        match (self, direction) {
            (Mix::Only(only), _) => only == direction,
            (Mix::Reads(percent), Direction::Read) => percent > 0,
            (Mix::Reads(percent), Direction::Write) => percent < 100,
            (Mix::Reads(_), Direction::Trim) | (Mix::Trims(_), Direction::Read) => false,
            (Mix::Trims(percent), Direction::Trim) => percent > 0,
            (Mix::Trims(percent), Direction::Write) => percent < 100,
        }
    }
}

impl ReadWrite {
    fn order(self) -> Order {
        match self {
            ReadWrite::Read | ReadWrite::Write | ReadWrite::Rw | ReadWrite::Trim => {
                Order::Sequential
            }
            _ => Order::Random,
        }
    }

    fn mix(self, read_percent: u32, trim_percent: u32) -> Mix {
        match self {
            ReadWrite::Write | ReadWrite::RandWrite if trim_percent > 0 => Mix::Trims(trim_percent),
            ReadWrite::Read | ReadWrite::RandRead => Mix::Only(Direction::Read),
            ReadWrite::Write | ReadWrite::RandWrite => Mix::Only(Direction::Write),
            ReadWrite::Trim | ReadWrite::RandTrim => Mix::Only(Direction::Trim),
            ReadWrite::Rw | ReadWrite::RandRw => Mix::Reads(read_percent),
        }
    }
}

/// A job as its caller writes it; see the battery's `Job` for what the fields mean.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The fields are documented where the caller sees them.
pub struct RawJob {
    pub name: String,
    pub rw: ReadWrite,
    pub block_bytes: u64,
    #[serde(default = "one")]
    pub depth: u32,
    #[serde(default = "one")]
    pub threads: u32,
    #[serde(default)]
    pub offset: u64,
    #[serde(default)]
    pub size: Option<u64>,
    #[serde(default)]
    pub io_bytes: Option<u64>,
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    #[serde(default)]
    pub ramp_ns: u64,
    #[serde(default = "half")]
    pub read_percent: u32,
    #[serde(default)]
    pub trim_percent: u32,
    #[serde(default)]
    pub zones: Vec<Zone>,
    #[serde(default)]
    pub host_ns: u64,
    #[serde(default)]
    pub think_ns: u64,
    #[serde(default)]
    pub rate_bytes_s: Option<u64>,
    #[serde(default)]
    pub shared_stream: bool,
    #[serde(default)]
    pub compress_percent: u32,
    #[serde(default)]
    pub sync: bool,
    #[serde(default = "first_seed")]
    pub seed: u64,
}

fn one() -> u32 {
    1
}

fn half() -> u32 {
    50
}

fn first_seed() -> u64 {
    1
}

/// What is wrong with a job, and with which of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("job `{job}`: {field} {problem}")]
pub struct JobError {
    /// The job's name.
    pub job: String,
    /// The field as the caller spells it.
    pub field: &'static str,
    /// What is wrong with its value.
    pub problem: Problem,
}

/// What can be wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Nothing would ever happen.
    #[error("is zero")]
    Zero,
    /// A drive knows sectors only.
    #[error("is {0} bytes, not a multiple of {SECTOR_BYTES}")]
    NotWholeSectors(u64),
    /// Beyond a named limit.
    #[error("is {value}, above the limit of {limit}")]
    AboveLimit {
        /// What was asked for.
        value: u64,
        /// What is possible.
        limit: u64,
    },
    /// The span ends past the drive.
    #[error("reaches to byte {end}, but the drive has {capacity} bytes")]
    PastEnd {
        /// Where the span ends.
        end: u64,
        /// Where the drive ends.
        capacity: u64,
    },
    /// Only writes can be mixed with trims.
    #[error("mixes trims into writes, and this job does not only write")]
    NotWrites,
    /// Only random requests can be divided.
    #[error("divide random requests, and this job is sequential")]
    NotRandom,
    /// Shares have to be complete.
    #[error("add up to {0} %, not to 100")]
    NotAHundred(u64),
    /// Random requests are whole blocks.
    #[error("leaves {size} bytes, less than one block of {block}")]
    BelowBlock {
        /// The span.
        size: u64,
        /// The block.
        block: u64,
    },
}

/// A job that can be run. Built by [`RawJob::check`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What results call it.
    pub name: String,
    /// The order of its addresses.
    pub order: Order,
    /// The directions of its requests.
    pub mix: Mix,
    /// Shares of the span with their shares of the requests, from its beginning; none for all
    /// alike.
    pub zones: Vec<Zone>,
    /// Bytes a request.
    pub block_bytes: u64,
    /// Requests that each thread keeps outstanding.
    pub depth: u32,
    /// Threads.
    pub threads: u32,
    /// First byte of its span.
    pub offset: u64,
    /// Bytes of its span.
    pub size: u64,
    /// The job ends after so many bytes, of all its threads together.
    pub io_bytes: Option<u64>,
    /// No request starts later than this after the ramp.
    pub runtime: Option<Nanos>,
    /// So long at the start counts in the series only.
    pub ramp: Nanos,
    /// Time that a thread needs to issue one request.
    pub host: Nanos,
    /// Pause between a completion and the request that takes its place.
    pub think: Nanos,
    /// A thread asks for no more than this in the mean.
    pub rate_bytes_s: Option<u64>,
    /// The threads share one position and one pass.
    pub shared_stream: bool,
    /// How far a compressing controller could shrink the data.
    pub compress_percent: u32,
    /// Each write counts as done only when it is on flash (fio's `sync=1`: force unit access).
    pub sync: bool,
    /// Decides every random choice.
    pub seed: u64,
}

impl RawJob {
    /// One pass over the whole drive by one thread, with everything else as it comes.
    #[must_use]
    pub fn new(name: &str, rw: ReadWrite, block_bytes: u64, depth: u32) -> RawJob {
        RawJob {
            name: name.into(),
            rw,
            block_bytes,
            depth,
            threads: one(),
            offset: 0,
            size: None,
            io_bytes: None,
            runtime_ns: None,
            ramp_ns: 0,
            read_percent: half(),
            trim_percent: 0,
            zones: Vec::new(),
            host_ns: 0,
            think_ns: 0,
            rate_bytes_s: None,
            shared_stream: false,
            compress_percent: 0,
            sync: false,
            seed: first_seed(),
        }
    }

    /// The job that this describes on a drive of `capacity_bytes`.
    pub fn check(self, capacity_bytes: u64) -> Result<Job, JobError> {
        let size = self
            .size
            .unwrap_or(capacity_bytes.saturating_sub(self.offset));
        self.find_problem(size, capacity_bytes)
            .map_err(|(field, problem)| JobError {
                job: self.name.clone(),
                field,
                problem,
            })?;
        Ok(Job {
            order: self.rw.order(),
            mix: self.rw.mix(self.read_percent, self.trim_percent),
            zones: self.zones,
            name: self.name,
            block_bytes: self.block_bytes,
            depth: self.depth,
            threads: self.threads,
            offset: self.offset,
            size,
            io_bytes: self.io_bytes,
            runtime: self.runtime_ns.map(Nanos),
            ramp: Nanos(self.ramp_ns),
            host: Nanos(self.host_ns),
            think: Nanos(self.think_ns),
            rate_bytes_s: self.rate_bytes_s,
            shared_stream: self.shared_stream,
            compress_percent: self.compress_percent,
            sync: self.sync,
            seed: self.seed,
        })
    }

    /// Trims are mixed into writes alone, zones divide random requests, and divide all of them.
    fn find_mix_problem(&self) -> Result<(), (&'static str, Problem)> {
        let writes = matches!(self.rw, ReadWrite::Write | ReadWrite::RandWrite);
        if self.trim_percent > 0 && !writes {
            return Err(("trim_percent", Problem::NotWrites));
        }
        if self.zones.is_empty() {
            return Ok(());
        }
        if self.rw.order() != Order::Random {
            return Err(("zones", Problem::NotRandom));
        }
        let sum = |of: fn(&Zone) -> u32| self.zones.iter().map(|z| u64::from(of(z))).sum::<u64>();
        for value in [sum(|z| z.access_percent), sum(|z| z.size_percent)] {
            if value != 100 {
                return Err(("zones", Problem::NotAHundred(value)));
            }
        }
        Ok(())
    }

    fn find_problem(&self, size: u64, capacity: u64) -> Result<(), (&'static str, Problem)> {
        let Self {
            block_bytes,
            offset,
            ..
        } = *self;
        at_most("block_bytes", block_bytes, MAX_BLOCK_BYTES)?;
        at_most("depth", self.depth.into(), MAX_DEPTH.into())?;
        at_most("threads", self.threads.into(), MAX_THREADS.into())?;
        at_most("read_percent", self.read_percent.into(), 100)?;
        at_most("compress_percent", self.compress_percent.into(), 100)?;
        at_most("trim_percent", self.trim_percent.into(), 100)?;
        for (field, time) in [
            ("runtime_ns", self.runtime_ns.unwrap_or(0)),
            ("ramp_ns", self.ramp_ns),
            ("host_ns", self.host_ns),
            ("think_ns", self.think_ns),
        ] {
            at_most(field, time, MAX_TIME_NS)?;
        }
        self.find_mix_problem()?;
        above_zero("depth", self.depth.into())?;
        above_zero("threads", self.threads.into())?;
        above_zero("runtime_ns", self.runtime_ns.unwrap_or(1))?;
        above_zero("rate_bytes_s", self.rate_bytes_s.unwrap_or(1))?;
        whole_sectors("offset", offset)?;
        let end = offset.saturating_add(size);
        if offset >= capacity {
            let end = offset.saturating_add(size.max(SECTOR_BYTES));
            return Err(("offset", Problem::PastEnd { end, capacity }));
        }
        for (field, value) in [
            ("block_bytes", block_bytes),
            ("size", size),
            ("io_bytes", self.io_bytes.unwrap_or(SECTOR_BYTES)),
        ] {
            above_zero(field, value)?;
            whole_sectors(field, value)?;
        }
        if end > capacity {
            return Err(("size", Problem::PastEnd { end, capacity }));
        }
        if self.rw.order() == Order::Random && size < block_bytes {
            return Err((
                "size",
                Problem::BelowBlock {
                    size,
                    block: block_bytes,
                },
            ));
        }
        Ok(())
    }
}

fn at_most(field: &'static str, value: u64, limit: u64) -> Result<(), (&'static str, Problem)> {
    if value > limit {
        Err((field, Problem::AboveLimit { value, limit }))
    } else {
        Ok(())
    }
}

fn above_zero(field: &'static str, value: u64) -> Result<(), (&'static str, Problem)> {
    if value == 0 {
        Err((field, Problem::Zero))
    } else {
        Ok(())
    }
}

fn whole_sectors(field: &'static str, value: u64) -> Result<(), (&'static str, Problem)> {
    if value.is_multiple_of(SECTOR_BYTES) {
        Ok(())
    } else {
        Err((field, Problem::NotWholeSectors(value)))
    }
}
