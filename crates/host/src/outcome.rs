//! What a phase comes to, and the tally of a job while it runs.

use flashtwin_base::{Histogram, Nanos, Status};
use flashtwin_workload::{Direction, Job};

use crate::fio::FioTotals;
use crate::series::{Series, Sum};

/// What one job did after its ramp. Latencies are of whole requests, host time included.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTotals {
    /// The job's name.
    pub name: String,
    /// Requests completed.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// From the end of the ramp to the last completion, or to the end of the runtime if that is
    /// later.
    pub duration: Nanos,
    /// Mean latency in nanoseconds.
    pub latency_mean_ns: f64,
    /// Shortest latency.
    pub latency_min: Nanos,
    /// Longest latency.
    pub latency_max: Nanos,
    /// Requests outstanding, a mean over time, integrated from starts and ends and not from
    /// latencies.
    pub mean_depth: f64,
    /// Requests that failed, by how.
    pub errors: Errors,
}

/// Requests that failed, by how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Past the end of the device.
    pub out_of_range: u64,
    /// Data that the device could not read.
    pub unreadable: u64,
    /// Writes to a device that can only be read.
    pub read_only: u64,
    /// Data that is not what was sent, and the device knows it.
    pub corrupt: u64,
}

impl Errors {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.out_of_range + self.unreadable + self.read_only + self.corrupt
    }

    /// Each kind with its name in results.
    #[must_use]
    pub fn by_name(&self) -> [(&'static str, u64); 4] {
        [
            ("out_of_range", self.out_of_range),
            ("unreadable", self.unreadable),
            ("read_only", self.read_only),
            ("corrupt", self.corrupt),
        ]
    }
}

/// What the host saw of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When the phase began.
    pub start: Nanos,
    /// When it was over.
    pub end: Nanos,
    /// True if the caller's tick cut it short.
    pub stopped: bool,
    /// Requests were still outstanding when the caller's patience after its stop was over: the
    /// device is of no use any more.
    pub left_behind: bool,
    /// What was to be kept of it found no memory: the phase ended there, and is of no use.
    pub lacks_memory: bool,
    /// What completed in each interval, ramps included.
    pub series: Series,
    /// One entry a job, in order.
    pub jobs: Vec<JobTotals>,
    /// Latencies after the ramps, one histogram for each direction that the phase uses.
    pub hist: Vec<(Direction, Histogram)>,
    /// What fio counts, an entry a job, where the jobs are fio's.
    pub fio: Vec<FioTotals>,
}

/// The tally of one job.
#[derive(Debug)]
pub(crate) struct Tally {
    counted_from: Nanos,
    sum: Sum,
    errors: Errors,
    outstanding: u64,
    /// Requests times nanoseconds, up to `integrated_to`. That begins at the end of the ramp: what
    /// changes before only changes `outstanding`.
    area: u128,
    integrated_to: Nanos,
    last_end: Nanos,
}

impl Tally {
    pub fn new(start: Nanos, ramp: Nanos) -> Tally {
        Tally {
            counted_from: start + ramp,
            sum: Sum::NOTHING,
            errors: Errors::default(),
            outstanding: 0,
            area: 0,
            integrated_to: start + ramp,
            last_end: start,
        }
    }

    #[inline]
    fn integrate(&mut self, now: Nanos) {
        if now > self.integrated_to {
            let span = (now - self.integrated_to).0;
            self.area += u128::from(self.outstanding) * u128::from(span);
            self.integrated_to = now;
        }
    }

    #[inline]
    pub fn begin(&mut self, now: Nanos) {
        self.integrate(now);
        self.outstanding += 1;
    }

    #[inline]
    pub fn end(&mut self, now: Nanos) {
        self.integrate(now);
        self.outstanding -= 1;
        self.last_end = now;
    }

    /// What is outstanding at `now` is waited for no longer.
    #[cold]
    pub fn leave_behind(&mut self, now: Nanos) {
        self.integrate(now);
        self.outstanding = 0;
    }

    /// True if what completes at `at` counts.
    #[inline]
    pub fn counts(&self, at: Nanos) -> bool {
        at >= self.counted_from
    }

    #[inline]
    pub fn add(&mut self, bytes: u64, latency: Nanos) {
        self.sum.add(bytes, latency);
    }

    #[cold]
    pub fn add_error(&mut self, status: Status) {
        let count = match status {
            Status::Ok => return,
            Status::OutOfRange => &mut self.errors.out_of_range,
            Status::Unreadable => &mut self.errors.unreadable,
            Status::ReadOnly => &mut self.errors.read_only,
            Status::Corrupt => &mut self.errors.corrupt,
        };
        *count += 1;
    }

    pub fn last_end(&self) -> Nanos {
        self.last_end
    }

    /// The totals of a job that ended at `end`.
    pub fn totals(&self, job: &Job, end: Nanos) -> JobTotals {
        assert_eq!(
            self.outstanding, 0,
            "job `{}` ends with requests outstanding",
            job.name
        );
        let duration = Nanos(end.0.saturating_sub(self.counted_from.0));
        let per = |sum: u128, count: u64| {
            if count == 0 {
                0.0
            } else {
                sum as f64 / count as f64
            }
        };
        JobTotals {
            name: job.name.clone(),
            ios: self.sum.ios,
            bytes: self.sum.bytes,
            duration,
            latency_mean_ns: per(self.sum.latency, self.sum.ios),
            latency_min: Nanos(self.sum.shortest()),
            latency_max: Nanos(self.sum.longest),
            mean_depth: per(self.area, duration.0),
            errors: self.errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_at_a_great_depth_adds_up() {
        let year = Nanos(31_557_600_000_000_000);
        let mut tally = Tally::new(Nanos::ZERO, Nanos::ZERO);
        (0..1000).for_each(|_| tally.begin(Nanos::ZERO));
        tally.integrate(year);
        assert_eq!(tally.area, 1000 * u128::from(year.0));
        let mut sum = Sum::NOTHING;
        (0..1000).for_each(|_| sum.add(4096, year));
        assert_eq!(sum.latency, tally.area);
    }
}
