//! What the jobs of a phase take of this machine's memory, beside the device: known before they
//! run.
//!
//! Tables are exact but for small change. How many requests a log will have follows from the bytes
//! that a job asks for, and of a job that time ends from what a fast drive answers: that is an
//! estimate, and what goes beyond it finds its memory, or ends the phase with an error.

use flashtwin_base::Histogram;
use flashtwin_workload::fio::Fio;
use flashtwin_workload::{Direction, Job, Order};

use crate::fio::{MAX_REQUESTS, REQUEST_BYTES, SLOT_BYTES, WINDOW_BYTES};
use crate::phase::Phase;

/// Requests a second of a fast drive, where only time says when a job ends.
const FAST_IOPS: u64 = 200_000;
/// Histograms of a process of fio's: three latencies of each direction, and that of syncs.
const HISTOGRAMS: u64 = 10;
/// A thread and a slot of a battery's job.
const PLAIN_SLOT_BYTES: u64 = 64;

/// Bytes that the jobs of a phase take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Files and their random maps.
    pub files: u64,
    /// Slots of requests, and counts.
    pub slots: u64,
    /// Logs: single requests and means over windows.
    pub logs: u64,
}

impl Phase {
    /// What the jobs take of this machine's memory.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let copies = if self.status().is_some() { 2 } else { 1 };
        let files = self.jobs().iter().filter_map(|job| {
            let fio = job.fio.as_deref()?;
            Some(fio.files_bytes(job.order == Order::Random))
        });
        let slots = self.jobs().iter().map(|job| slots(job, copies)).sum();
        let requests: u64 = self.jobs().iter().filter_map(kept).sum();
        let windows: u64 = self.jobs().iter().filter_map(windows).sum();
        let logs =
            requests.min(MAX_REQUESTS) * REQUEST_BYTES + windows.saturating_mul(WINDOW_BYTES);
        let files = files.sum();
        Needs { files, slots, logs }
    }
}

/// A status copies what is counted.
fn slots(job: &Job, copies: u64) -> u64 {
    let slots = u64::from(job.depth) * u64::from(job.threads);
    if job.fio.is_none() {
        return slots * PLAIN_SLOT_BYTES;
    }
    slots * SLOT_BYTES + HISTOGRAMS * size_of_val(Histogram::new().counts()) as u64 * copies
}

/// Requests that a job's log will have; none where it has no log of them.
fn kept(job: &Job) -> Option<u64> {
    let fio = job.fio.as_deref().filter(|fio| fio.logs.requests)?;
    Some(requests(job, fio).min(MAX_REQUESTS))
}

fn requests(job: &Job, fio: &Fio) -> u64 {
    let passes = u64::from(fio.loops);
    let bytes = fio.size.unwrap_or(job.size);
    let by_bytes = (bytes / fio.least_block().max(1)).saturating_mul(passes);
    let by_number = match fio.number_ios {
        0 => u64::MAX,
        number => number.saturating_mul(passes),
    };
    let by_size = if fio.time_based {
        u64::MAX
    } else {
        by_bytes.min(by_number)
    };
    by_size.min(by_time(job, FAST_IOPS))
}

/// Rows of the means over windows.
fn windows(job: &Job) -> Option<u64> {
    let fio = job.fio.as_deref().filter(|fio| fio.logs.average_ns > 0)?;
    let used = Direction::ALL.map(|direction| u64::from(job.mix.uses(direction)));
    let by_time = match job.runtime {
        Some(runtime) => (runtime + job.ramp).0.div_ceil(fio.logs.average_ns),
        None => u64::MAX,
    };
    // A window in which nothing completed has no row.
    Some(
        by_time
            .min(requests(job, fio))
            .saturating_mul(used.iter().sum()),
    )
}

fn by_time(job: &Job, a_second: u64) -> u64 {
    let Some(runtime) = job.runtime else {
        return u64::MAX;
    };
    let requests = u128::from((runtime + job.ramp).0) * u128::from(a_second) / 1_000_000_000;
    u64::try_from(requests).unwrap_or(u64::MAX)
}
