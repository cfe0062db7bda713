//! A job as its caller writes it ([`RawJob`], from JSON) and as the host runs it ([`Job`], known
//! to be right).
//!
//! The fields are those of the battery's `Job` in Python, with times in whole nanoseconds. What a
//! `Job` holds has been checked against the target: its span lies on the drive, its sizes are whole
//! sectors, and every limit below is kept, so nothing downstream checks again.

mod problem;
mod words;

use flashtwin_base::Nanos;
use serde::Deserialize;

use crate::fio::Fio;

pub use problem::{JobError, Problem};
pub(crate) use problem::{above_zero, at_most, whole_sectors};
pub use words::{Direction, Mix, Order, ReadWrite, Zone};

/// Bytes a sector, the grain of every address and size.
pub const SECTOR_BYTES: u64 = 512;
/// Requests that one thread may keep outstanding.
pub const MAX_DEPTH: u32 = 65_536;
/// Threads of one job.
pub const MAX_THREADS: u32 = 1_024;
/// Placement handles of a job, and the largest of them, at most: 256, as many as a drive can have.
pub const MAX_HANDLES: u64 = 256;
/// The longest request: sectors are counted in 32 bits, and one of odd bytes touches one more.
pub const MAX_BLOCK_BYTES: u64 = (u32::MAX as u64 - 1) * SECTOR_BYTES;

/// The longest time of any kind: ten years, so that sums of times keep within 64 bits.
pub const MAX_TIME_NS: u64 = 10 * 366 * 86_400 * 1_000_000_000;

/// A job as its caller writes it; see the battery's `Job` for what the fields mean.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    pub handles: Vec<u8>,
    #[serde(default)]
    pub sync: bool,
    #[serde(default = "first_seed")]
    pub seed: u64,
    #[serde(default)]
    pub fio: Option<Box<Fio>>,
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

/// A job that can be run. Built by [`RawJob::check`] alone.
#[derive(Clone, Debug, PartialEq)]
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
    /// Placement handles of its writes, taken in turn; none for the first one of the drive.
    pub handles: Vec<u8>,
    /// Each write counts as done only when it is on flash (fio's `sync=1`: force unit access).
    pub sync: bool,
    /// Decides every random choice.
    pub seed: u64,
    /// What makes it one of fio's processes.
    pub fio: Option<Box<Fio>>,
}

impl Job {
    /// The job on a drive of this seed: the drive's and its own choose one stream together, equal
    /// pairs equal streams.
    #[must_use]
    pub fn seeded(mut self, drive_seed: u64) -> Job {
        self.seed ^= drive_seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self
    }
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
            handles: Vec::new(),
            sync: false,
            seed: first_seed(),
            fio: None,
        }
    }

    /// The job that this describes on a drive of `capacity_bytes`.
    pub fn check(mut self, capacity_bytes: u64) -> Result<Job, JobError> {
        let size = self
            .size
            .unwrap_or(capacity_bytes.saturating_sub(self.offset));
        let wrong = |(field, problem)| JobError {
            job: self.name.clone(),
            field,
            problem,
        };
        self.find_problem(size, capacity_bytes).map_err(wrong)?;
        let fio = self.fio.take();
        let fio = fio
            .map(|fio| fio.checked(&self, size, capacity_bytes))
            .transpose()
            .map_err(wrong)?
            .map(Box::new);
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
            handles: self.handles,
            sync: self.sync,
            seed: self.seed,
            fio,
        })
    }

    /// Trims are mixed into writes alone, zones divide random requests, and divide all of them.
    fn find_mix_problem(&self, size: u64) -> Result<(), (&'static str, Problem)> {
        let pairs = matches!(self.rw, ReadWrite::TrimWrite | ReadWrite::RandTrimWrite);
        if pairs && self.fio.is_none() {
            return Err(("rw", Problem::OnlyFio));
        }
        let writes = matches!(self.rw, ReadWrite::Write | ReadWrite::RandWrite);
        if self.trim_percent > 0 && !writes {
            return Err(("trim_percent", Problem::NotWrites));
        }
        // Of each block that a random trim may take the job remembers whether it holds data.
        let blocks = size.checked_div(self.block_bytes).unwrap_or(0);
        let remembers = self.trim_percent > 0 && self.rw == ReadWrite::RandWrite;
        if remembers && blocks >= u64::from(u32::MAX) {
            return Err(("trim_percent", Problem::TooManyBlocks(blocks)));
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
        for &handle in &self.handles {
            at_most("handles", handle.into(), MAX_HANDLES - 1)?;
        }
        at_most("handles", self.handles.len() as u64, MAX_HANDLES)?;
        at_most("trim_percent", self.trim_percent.into(), 100)?;
        for (field, time) in [
            ("runtime_ns", self.runtime_ns.unwrap_or(0)),
            ("ramp_ns", self.ramp_ns),
            ("host_ns", self.host_ns),
            ("think_ns", self.think_ns),
        ] {
            at_most(field, time, MAX_TIME_NS)?;
        }
        self.find_mix_problem(size)?;
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
            // fio's sizes are any number of bytes, and the drive gets the sectors that they touch.
            if self.fio.is_none() {
                whole_sectors(field, value)?;
            }
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
