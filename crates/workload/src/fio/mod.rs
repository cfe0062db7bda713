//! What makes a job one of fio's processes: its options as types, and the requests that follow.
//!
//! [`Fio`] is the part of a job that a battery's job does not have, and is declared here alone:
//! `python/flashtwin/model/fio_job.py` is made of these types, their defaults and texts. It is
//! checked by [`crate::RawJob::check`] together with the job around it; what is `Option` in it and
//! has a default that depends on the job is filled in by then. [`Stream`] generates the requests,
//! or a [`Replay`] reads them from a trace.

mod check;
mod distribution;
mod file;
mod map;
mod replay;
mod sizes;
mod stream;

use serde::Deserialize;

pub use map::BlockMap;
pub use replay::{Fit, Replay, ReplayError, ReplayProblem, Replayed, Trace};
pub use stream::{FioAsk, Kind, NextFile, Stream};

/// Files of one job.
pub const MAX_SPANS: usize = 65_536;
/// Blocks that a random map can hold: a bit each, so that it takes a gigabyte at most.
pub const MAX_MAP_BLOCKS: u64 = 1 << 33;
/// Rates in requests a second: far beyond any drive, and low enough for products with sizes to keep
/// within 64 bits.
pub const MAX_IOPS: u64 = 1 << 32;
/// Requests that a limit can count.
pub const MAX_IOS: u64 = 1 << 48;
/// Passes over the files.
pub const MAX_LOOPS: u32 = 1 << 14;
/// Rates in bytes a second, sizes of all files together, and steps between two requests.
pub const MAX_BYTES: u64 = 1 << 60;
/// Seconds of a steady state's window.
pub const MAX_STEADY_S: u32 = 86_400;

/// A value for reads, writes and trims.
pub type Triple<T> = [T; 3];

/// A file: where it begins on the target, how long it is, and which part the job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Where its first byte lies on the target.
    pub start: u64,
    /// Its length.
    pub bytes: u64,
    /// Where in it the job begins.
    #[serde(default)]
    pub offset: u64,
    /// How much of it the job uses from there; up to its end where it is none.
    #[serde(default)]
    pub size: Option<u64>,
    /// Where in it the job begins from the second pass on; `offset` where it is none.
    #[serde(default)]
    pub again: Option<u64>,
    /// Nothing ends or turns back at its end; `bytes` is the room that it has.
    #[serde(default)]
    pub endless: bool,
}

impl Span {
    /// Bytes that the job uses.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.size.unwrap_or(self.bytes.saturating_sub(self.offset))
    }

    /// Where the job begins from the second pass on.
    #[must_use]
    pub fn home(&self) -> u64 {
        self.again.unwrap_or(self.offset)
    }

    /// Where requests have to end.
    #[must_use]
    pub fn end(&self) -> u64 {
        if self.endless { u64::MAX } else { self.bytes }
    }
}

/// The sizes of one direction's requests: a range (bsrange; equal for bs), or some (bssplit).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// The smallest, in bytes, of a split too.
    pub least: u64,
    /// The largest.
    pub most: u64,
    /// Sizes and their percentages, which add up to 100; none for a range.
    #[serde(default)]
    pub split: Vec<(u64, u32)>,
    /// The grain of random offsets (blockalign); `least` where it is none.
    #[serde(default)]
    pub align: Option<u64>,
}

impl Blocks {
    /// All of one size.
    #[must_use]
    pub fn of(bytes: u64) -> Blocks {
        Blocks {
            least: bytes,
            most: bytes,
            ..Blocks::default()
        }
    }

    /// The grain of random offsets, in bytes.
    #[must_use]
    pub fn grain(&self) -> u64 {
        self.align.unwrap_or(self.least)
    }
}

/// How random offsets are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinds {
    /// All alike.
    #[default]
    Random,
    /// By rank.
    Zipf,
    /// By rank.
    Pareto,
    /// Around a point.
    Normal,
    /// Shares of the requests for shares of the span.
    Zoned,
    /// Shares of the requests for so many bytes.
    ZonedAbs,
}

/// random_distribution: how random offsets are drawn.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Distribution {
    /// Which.
    pub kind: Kinds,
    /// Theta (zipf), h (pareto), or the deviation in percent (normal).
    pub value: f64,
    /// The place of the most frequent block, 0 to 1 of the span.
    pub center: Option<f64>,
    /// For each direction (percent of the requests, percent of the span or, with `zoned_abs`,
    /// bytes).
    pub zones: Vec<Vec<(u32, u64)>>,
}

/// The number behind the colon of rw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sequence {
    /// Requests to a new random offset; 0 where none is drawn.
    pub every: u32,
    /// The gap in bytes between two requests of a sequential job, negative for backwards.
    pub add_bytes: i64,
    /// Between two random offsets the same one again (rw_sequencer).
    pub identical: bool,
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence {
            every: 1,
            add_bytes: 0,
            identical: false,
        }
    }
}

/// rate, rate_iops, rate_process, rate_ignore_thinktime, and the minima that end a job. A direction
/// has a rate in bytes or in requests, not both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// Bytes a second; 0 for none.
    pub bytes_s: Triple<u64>,
    /// Requests a second; 0 for none.
    pub iops: Triple<u64>,
    /// Arrivals by Poisson's law instead of a steady rate.
    pub poisson: bool,
    /// Thinking does not slow the rate.
    pub ignore_think: bool,
    /// Bytes a second below which the job fails; 0 for none.
    pub min_bytes_s: Triple<u64>,
    /// Requests a second below which the job fails; 0 for none.
    pub min_iops: Triple<u64>,
    /// The time over which the minima are means.
    pub cycle_ns: u64,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            bytes_s: [0; 3],
            iops: [0; 3],
            poisson: false,
            ignore_think: false,
            min_bytes_s: [0; 3],
            min_iops: [0; 3],
            cycle_ns: 1_000_000_000,
        }
    }
}

impl Pace {
    /// True if requests have to wait for their time.
    #[must_use]
    pub fn limits(&self) -> bool {
        self.bytes_s != [0; 3] || self.iops != [0; 3]
    }

    /// True if there is a minimum.
    #[must_use]
    pub fn demands(&self) -> bool {
        self.min_bytes_s != [0; 3] || self.min_iops != [0; 3]
    }
}

/// What `thinktime_blocks` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Completions.
    #[default]
    Complete,
    /// Submissions.
    Issue,
}

/// thinktime, thinktime_spin, thinktime_blocks and what they count, thinktime_iotime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// Its length.
    pub ns: u64,
    /// The part of it with a busy CPU.
    #[serde(default)]
    pub spin_ns: u64,
    /// Requests to the next; none where only time decides.
    #[serde(default = "each")]
    pub blocks: Option<u64>,
    /// Which requests count.
    #[serde(default)]
    pub count: Counted,
    /// Time to the next; 0 for never.
    #[serde(default)]
    pub iotime_ns: u64,
}

/// iodepth_batch, iodepth_batch_complete_min and _max, iodepth_low, serialize_overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// Requests that are submitted at once.
    pub submit: u32,
    /// Completions that are waited for; 0 asks without waiting.
    pub complete_min: u32,
    /// Completions that are taken at most; `complete_min` where it is none.
    pub complete_max: Option<u32>,
    /// A full queue drains to this; the depth where it is none.
    pub low: Option<u32>,
    /// A request waits for those in flight that it overlaps.
    pub serialize_overlap: bool,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            submit: 1,
            complete_min: 1,
            complete_max: None,
            low: None,
            serialize_overlap: false,
        }
    }
}

/// flow, flow_id, flow_sleep: a share of what several jobs do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The share, beside those of the others.
    pub weight: u32,
    /// Which jobs belong together.
    #[serde(default)]
    pub id: u32,
    /// How long a job sleeps that is ahead; 0 for as long as it is ahead.
    #[serde(default)]
    pub sleep_ns: u64,
}

/// fsync, fdatasync, end_fsync, fsync_on_close: when data has to be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Syncs {
    /// Writes to the next fsync; 0 for never.
    pub fsync_every: u64,
    /// Writes to the next fdatasync; 0 for never.
    pub fdatasync_every: u64,
    /// Once all is written.
    pub at_end: bool,
    /// When a file is closed.
    pub on_close: bool,
}

impl Syncs {
    /// True if each file is made durable at the end of a pass.
    #[must_use]
    pub fn at_end_of_pass(&self) -> bool {
        self.at_end || self.on_close
    }
}

/// latency_target, latency_window, latency_percentile, latency_run: the search for the deepest
/// queue that keeps a latency.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The latency.
    pub ns: u64,
    /// How long each depth is looked at.
    pub window_ns: u64,
    /// The requests in a hundred that have to keep it.
    #[serde(default = "hundred")]
    pub percentile: f64,
    /// Goes on once it is found.
    #[serde(default)]
    pub run: bool,
}

#[expect(clippy::unnecessary_wraps)] // It is the default of an option.
fn each() -> Option<u64> {
    Some(1)
}

fn yes() -> bool {
    true
}

fn hundred() -> f64 {
    100.0
}

/// What a steady state is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bw,
}

/// steadystate: the end of a job once it is steady.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// What is looked at, a value a second.
    pub metric: Metric,
    /// Its slope instead of its largest deviation from the mean.
    #[serde(default)]
    pub slope: bool,
    /// Steady below.
    pub limit: f64,
    /// The limit is in percent of the mean.
    #[serde(default = "yes")]
    pub percent: bool,
    /// The window, in seconds.
    pub duration_s: u32,
    /// Not looked at before.
    #[serde(default)]
    pub ramp_ns: u64,
    /// Jobs of one group (group_reporting) are looked at together and end together.
    #[serde(default)]
    pub group: Option<u32>,
}

/// Whom the end of a job takes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// The jobs of its group.
    #[default]
    Group,
    /// Those that run beside it.
    Stonewall,
    /// Those, and the caller's later ones.
    All,
}

/// exitall, exitall_on_error, continue_on_error: what ends with a job, and what does not end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ends {
    /// Its end is the others'.
    pub all: bool,
    /// Its failure is the others' end.
    pub on_error: bool,
    /// Which others.
    pub what: Whom,
    /// Its reporting group, for exit_what=group.
    pub group: u32,
    /// Goes on after a failed read.
    pub continue_reads: bool,
    /// Goes on after a failed write or trim.
    pub continue_writes: bool,
}

/// What is kept beside the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Logs {
    /// Each request.
    pub requests: bool,
    /// The time of a mean; 0 for none.
    pub average_ns: u64,
    /// The greatest latency of each window instead of the mean (log_max_value).
    pub maxima: bool,
    /// The window of the bandwidth samples (bwavgtime).
    pub bw_window_ns: u64,
    /// The window of the IOPS samples (iopsavgtime).
    pub iops_window_ns: u64,
    /// How often what is counted is told, for all jobs that run together (--status-interval); 0 for
    /// never.
    pub status_ns: u64,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs {
            requests: false,
            average_ns: 0,
            maxima: false,
            bw_window_ns: 500_000_000,
            iops_window_ns: 500_000_000,
            status_ns: 0,
        }
    }
}

/// Which of a job's files comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileService {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Each to its end.
    Sequential,
    /// Any.
    Random,
    /// By the distribution of the files.
    Law,
}

/// zonemode=strided: zones that a job goes through with gaps between them, in bytes. Behind the end
/// of the file it goes on where the job began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strides {
    /// Asked for in a zone before the next one.
    pub size: u64,
    /// How long a zone is: with less than `size` it is gone through again.
    pub range: u64,
    /// The gap behind a zone.
    #[serde(default)]
    pub skip: u64,
}

/// What becomes of the data that a job writes. A twin compares none; passes end by it all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Nothing.
    #[default]
    No,
    /// Another job may verify it.
    Later,
    /// fio reads it back at the end of each pass.
    ReadsBack,
}

/// stonewall and wait_for among jobs that run together: when one may begin, beside its `start_ns`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// Not while anything runs; nor does any process behind it begin before.
    pub stonewall: bool,
    /// Not before these have ended, which are places of jobs before it.
    pub waits_for: Vec<u32>,
}

impl Gate {
    /// True if it holds anybody.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.stonewall || !self.waits_for.is_empty()
    }
}

/// All that makes a job fio's. Without spans the job's own span is a file.
///
/// Sizes and offsets may be any number of bytes: the drive gets the whole sectors that a request
/// touches; trims have to be whole sectors. Once checked, spans, sizes and blocks are complete.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fio {
    /// Its files.
    pub spans: Vec<Span>,
    /// fio's option where it is not the sum of the spans' sizes.
    pub size: Option<u64>,
    /// Which file comes next.
    pub file_service: FileService,
    /// Requests to a file before the next one comes.
    pub file_service_count: u32,
    /// Files that are open at once, at most: another one begins when one has come to its end.
    pub open_files: Option<u32>,
    /// How requests are spread over the files (file_service_type=zipf, pareto, normal), with `law`.
    pub file_law: Distribution,
    /// Zones with gaps between them.
    pub strides: Option<Strides>,
    /// When it may begin.
    pub gate: Gate,
    /// The engine waits for each request (sync, psync): depth 1, no submission latencies, and a
    /// pass ends where its files end, however much that is.
    pub synchronous: bool,
    /// The sizes of requests; those of the job where it is none.
    pub blocks: Option<Triple<Blocks>>,
    /// Sizes are any number of bytes (bs_unaligned).
    pub blocks_unaligned: bool,
    /// The sizes of reads are for sequential requests, those of writes for random ones
    /// (bs_is_seq_rand).
    pub blocks_by_order: bool,
    /// Requests in a hundred that go to random offsets (percentage_random).
    pub random_percent: Triple<u32>,
    /// How random offsets are drawn.
    pub distribution: Distribution,
    /// Each block is asked for once a pass (not norandommap).
    pub random_map: bool,
    /// The map holds where requests begin, and not what they cover (random_generator=lfsr).
    pub random_starts: bool,
    /// Each pass draws the same again (not so with randrepeat=0 or a randseed).
    pub draws_repeat: bool,
    /// The order of addresses.
    pub sequence: Sequence,
    /// How data are verified. None are compared, but a pass ends as if they were.
    pub verify: Verify,
    /// A later pass asks for nothing of a file whose end was reached.
    pub files_end_once: bool,
    /// Requests after which the job ends; 0 for none.
    pub number_ios: u64,
    /// Passes.
    pub loops: u32,
    /// It goes on until its time is up.
    pub time_based: bool,
    /// When it begins (startdelay).
    pub start_ns: u64,
    /// Rates.
    pub pace: Pace,
    /// Pauses.
    pub think: Option<Think>,
    /// How requests are handed over and taken back.
    pub batch: Batch,
    /// Its share of what several jobs do.
    pub flow: Option<Flow>,
    /// When data has to be durable.
    pub syncs: Syncs,
    /// The latency whose depth is searched.
    pub latency_target: Option<LatencyTarget>,
    /// Latencies beyond which the job fails (max_latency); 0 for none.
    pub max_latency_ns: Triple<u64>,
    /// Its end once it is steady.
    pub steady: Option<Steady>,
    /// What ends with it.
    pub ends: Ends,
    /// What is kept beside the statistics.
    pub logs: Logs,
    /// The trace that it replays.
    pub trace: Option<Trace>,
}

impl Default for Fio {
    fn default() -> Fio {
        Fio {
            spans: Vec::new(),
            size: None,
            file_service: FileService::RoundRobin,
            file_service_count: 1,
            open_files: None,
            file_law: Distribution::default(),
            strides: None,
            gate: Gate::default(),
            synchronous: false,
            blocks: None,
            blocks_unaligned: false,
            blocks_by_order: false,
            random_percent: [100; 3],
            distribution: Distribution::default(),
            random_map: true,
            random_starts: false,
            draws_repeat: true,
            sequence: Sequence::default(),
            verify: Verify::No,
            files_end_once: false,
            number_ios: 0,
            loops: 1,
            time_based: false,
            start_ns: 0,
            pace: Pace::default(),
            think: None,
            batch: Batch::default(),
            flow: None,
            syncs: Syncs::default(),
            latency_target: None,
            max_latency_ns: [0; 3],
            steady: None,
            ends: Ends::default(),
            logs: Logs::default(),
            trace: None,
        }
    }
}

impl Fio {
    /// Bytes of memory that the files of a checked job take, `random` where its offsets are drawn:
    /// the spans, twice, and what is known of each.
    #[must_use]
    pub fn files_bytes(&self, random: bool) -> u64 {
        let spans = 2 * size_of_val(self.spans.as_slice()) as u64;
        let bytes = |span: &Span| file::bytes_of(self, *span, random);
        spans + self.spans.iter().map(bytes).sum::<u64>()
    }

    /// The directions of the trace that is replayed, if one is.
    #[must_use]
    pub fn replays(&self) -> Option<Triple<bool>> {
        self.trace.as_ref().map(|trace| trace.uses)
    }
}
