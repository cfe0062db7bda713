//! What fio counts of a job: latencies, depths, batches, rates over windows.
//!
//! Times are nanoseconds. Means and deviations are exact: sums of 64 bits and squares of 128. A
//! rate's windows begin with the job's measured time; one in which nothing moved is no sample, as
//! fio has it, and the last one counts only when it is whole.

use flashtwin_base::{Histogram, Nanos};

/// Count, range, mean and deviation of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    least: u64,
    most: u64,
    sum: u64,
    squares: u128,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments {
            count: 0,
            least: u64::MAX,
            most: 0,
            sum: 0,
            squares: 0,
        }
    }
}

impl Moments {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        self.count += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.sum += value;
        self.squares += u128::from(value) * u128::from(value);
    }

    /// The smallest; 0 of nothing.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.least }
    }

    /// The largest; 0 of nothing.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.most
    }

    /// The mean; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// The standard deviation of a sample, as fio's; 0 of less than two.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let (n, sum) = (u128::from(self.count), u128::from(self.sum));
        let spread = match (n.checked_mul(self.squares), sum.checked_mul(sum)) {
            (Some(squares), Some(sum)) => (squares - sum) as f64,
            _ => (n as f64 * self.squares as f64 - sum as f64 * sum as f64).max(0.0),
        };
        let n = self.count as f64;
        libm::sqrt(spread / n / (n - 1.0))
    }
}

/// What was counted of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Requests completed and counted.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Requests issued since the ramp.
    pub issued: u64,
    /// How long the job's passes took, where it moved anything in this direction.
    pub runtime: Nanos,
    /// From the request's making to its submission.
    pub slat: Moments,
    /// From its submission to its completion.
    pub clat: Moments,
    /// Both together.
    pub lat: Moments,
    /// Counts of the three.
    pub slat_hist: Histogram,
    /// Counts of completion latencies.
    pub clat_hist: Histogram,
    /// Counts of whole latencies.
    pub lat_hist: Histogram,
    /// KiB a second over windows.
    pub bw: Moments,
    /// Requests a second over windows.
    pub iops: Moments,
    /// Requests that failed.
    pub errors: u64,
}

/// What was counted of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Reads, writes, trims.
    pub sides: [Side; 3],
    /// Syncs that were counted.
    pub syncs: Moments,
    /// Counts of their latencies.
    pub sync_hist: Histogram,
    /// Syncs issued, of both kinds.
    pub syncs_issued: u64,
    /// Of them by fdatasync: fio counts their times and not their number.
    pub datasyncs_issued: u64,
    /// Requests submitted at depths of 1, 2, 4, 8, 16, 32, and 64 and more.
    pub depths: [u64; 7],
    /// Submissions of 0, up to 4, 8, 16, 32, 64 requests, and more.
    pub submits: [u64; 7],
    /// Reapings of so many.
    pub completes: [u64; 7],
    /// Completion latencies below 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 ns.
    pub latency_ns: [u64; 10],
    /// And so in microseconds.
    pub latency_us: [u64; 10],
    /// And so in milliseconds, below 2000, and above.
    pub latency_ms: [u64; 12],
}

/// The lower bounds of the latency classes, in their unit; the first is 0.
const CLASSES: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000, 2_000];

impl Stats {
    /// A submission of `count` requests at a depth.
    #[inline]
    pub(crate) fn submitted(&mut self, depth: u32, count: u32) {
        let class = match depth {
            0..64 => depth.max(1).ilog2() as usize,
            _ => 6,
        };
        self.depths[class] += u64::from(count);
    }

    /// The latency of a completion, by its class.
    #[inline]
    pub(crate) fn classify(&mut self, clat: u64) {
        let class = |value: u64| CLASSES.iter().take_while(|bound| value >= **bound).count();
        match clat {
            0..1_000 => self.latency_ns[class(clat)] += 1,
            1_000..1_000_000 => self.latency_us[class(clat / 1_000)] += 1,
            _ => self.latency_ms[class(clat / 1_000_000)] += 1,
        }
    }
}

/// The class of a batch.
#[inline]
pub(crate) fn batch_class(count: u32) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

/// A rate's windows: what moved in each, as samples.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    interval: Nanos,
    end: Nanos,
    moved: [u64; 3],
}

impl Windows {
    pub fn new(start: Nanos, interval: u64) -> Windows {
        Windows {
            interval: Nanos(interval),
            end: start + Nanos(interval),
            moved: [0; 3],
        }
    }

    /// Counts what completes at `now`, once the windows before are closed.
    #[inline]
    pub fn add(&mut self, direction: usize, amount: u64) {
        self.moved[direction] += amount;
    }

    /// Closes the windows that end before `now`; `rate` takes a direction and its amount.
    #[inline]
    pub fn close_before(&mut self, now: Nanos, mut rate: impl FnMut(usize, u64)) {
        if now <= self.end {
            return;
        }
        for (direction, moved) in self.moved.iter_mut().enumerate() {
            if *moved > 0 {
                rate(direction, std::mem::take(moved));
            }
        }
        // Windows in which nothing moved are no samples: one step skips them all.
        let windows = (now - self.end).0.div_ceil(self.interval.0);
        self.end += Nanos(windows * self.interval.0);
    }
}

/// What moved in a window, a second.
#[inline]
pub(crate) fn per_second(amount: u64, window_ns: u64) -> u64 {
    (u128::from(amount) * 1_000_000_000 / u128::from(window_ns)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_known_numbers() {
        let mut some = Moments::default();
        assert_eq!((some.min(), some.max(), some.mean()), (0, 0, 0.0));
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            some.add(value);
        }
        assert_eq!((some.count, some.min(), some.max()), (8, 2, 9));
        assert_eq!(some.mean(), 5.0);
        // The squares of the differences from 5 add up to 32.
        assert!((some.deviation() - libm::sqrt(32.0 / 7.0)).abs() < 1e-12);
    }

    #[test]
    fn classes_are_fio_s() {
        let mut stats = Stats::default();
        for ns in [0, 1, 2, 999, 1_000, 1_999, 2_000, 999_999] {
            stats.classify(ns);
        }
        for ns in [1_000_000, 1_999_999_999, 2_000_000_000, 1 << 40] {
            stats.classify(ns);
        }
        assert_eq!((stats.latency_ns[0], stats.latency_ns[1]), (2, 1));
        assert_eq!(stats.latency_ns[9], 1);
        assert_eq!((stats.latency_us[0], stats.latency_us[1]), (2, 1));
        assert_eq!(stats.latency_us[9], 1);
        assert_eq!((stats.latency_ms[0], stats.latency_ms[10]), (1, 1));
        assert_eq!(stats.latency_ms[11], 2);
        for depth in [1, 2, 3, 4, 31, 32, 63, 64, 900] {
            stats.submitted(depth, 1);
        }
        assert_eq!(stats.depths, [1, 2, 1, 0, 1, 2, 2]);
    }

    #[test]
    fn a_window_in_which_nothing_moved_is_no_sample() {
        let mut windows = Windows::new(Nanos(100), 10);
        let mut seen = Vec::new();
        windows.add(0, 5);
        windows.close_before(Nanos(110), |_, _| unreachable!());
        windows.add(0, 2);
        windows.close_before(Nanos(135), |direction, moved| seen.push((direction, moved)));
        windows.add(1, 4);
        windows.close_before(Nanos(141), |direction, moved| seen.push((direction, moved)));
        assert_eq!(seen, [(0, 7), (1, 4)]);
    }
}
