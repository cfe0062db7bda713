//! The series: what completed in each interval, in columns, a row an interval and direction.
//!
//! A completion belongs to the interval that ends at or after it: an interval is open at its start
//! and closed at its end, so that the last one, which ends with the phase, is never empty of time.
//! Every interval has a row for each direction that the phase uses, also when nothing completed: a
//! stall is data. The columns are those of `model/series.py`.

use flashtwin_base::{Nanos, memory};
use flashtwin_workload::Direction;

/// The columns, all of one length; times in nanoseconds since the phase began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Where the interval starts.
    pub t_ns: Vec<i64>,
    /// How long it is.
    pub dt_ns: Vec<i64>,
    /// 0 read, 1 write, 2 trim.
    pub direction: Vec<i64>,
    /// Requests completed.
    pub ios: Vec<i64>,
    /// Bytes of them.
    pub bytes: Vec<i64>,
    /// Sum of their latencies.
    pub lat_sum_ns: Vec<i64>,
    /// Shortest latency; 0 without a request.
    pub lat_min_ns: Vec<i64>,
    /// Longest latency; 0 without a request.
    pub lat_max_ns: Vec<i64>,
}

impl Series {
    /// The columns with the names that results have for them.
    #[must_use]
    pub fn into_columns(self) -> [(&'static str, Vec<i64>); 8] {
        [
            ("t_ns", self.t_ns),
            ("dt_ns", self.dt_ns),
            ("direction", self.direction),
            ("ios", self.ios),
            ("bytes", self.bytes),
            ("lat_sum_ns", self.lat_sum_ns),
            ("lat_min_ns", self.lat_min_ns),
            ("lat_max_ns", self.lat_max_ns),
        ]
    }

    /// Writes a row, where there is memory for it.
    fn push(&mut self, from: Nanos, length: Nanos, direction: Direction, sum: &Sum) -> bool {
        let columns = [
            &mut self.t_ns,
            &mut self.dt_ns,
            &mut self.direction,
            &mut self.ios,
            &mut self.bytes,
            &mut self.lat_sum_ns,
            &mut self.lat_min_ns,
            &mut self.lat_max_ns,
        ];
        if !columns.into_iter().all(memory::grows) {
            return false;
        }
        self.t_ns.push(from.0 as i64);
        self.dt_ns.push(length.0 as i64);
        self.direction.push(direction as i64);
        self.ios.push(sum.ios as i64);
        self.bytes.push(sum.bytes as i64);
        self.lat_sum_ns
            .push(i64::try_from(sum.latency).unwrap_or(i64::MAX));
        self.lat_min_ns.push(sum.shortest() as i64);
        self.lat_max_ns.push(sum.longest as i64);
        true
    }
}

/// What several completions come to. On a cache line of its own: two of its numbers are added at a
/// time, and over the edge of a line that waits for the sum before.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Sum {
    pub ios: u64,
    pub bytes: u64,
    /// Wider than a time: 600 requests under way for a year are more nanoseconds than 64 bits hold.
    pub latency: u128,
    pub longest: u64,
    shortest: u64,
}

impl Sum {
    pub const NOTHING: Sum = Sum {
        ios: 0,
        bytes: 0,
        latency: 0,
        longest: 0,
        shortest: u64::MAX,
    };

    #[inline]
    pub fn add(&mut self, bytes: u64, latency: Nanos) {
        self.ios += 1;
        self.bytes += bytes;
        self.latency += u128::from(latency.0);
        self.shortest = self.shortest.min(latency.0);
        self.longest = self.longest.max(latency.0);
    }

    pub fn shortest(&self) -> u64 {
        if self.ios == 0 { 0 } else { self.shortest }
    }
}

/// Gathers completions, which arrive in the order of their times, into a [`Series`].
#[derive(Debug)]
pub(crate) struct Sampler {
    start: Nanos,
    interval: Nanos,
    /// The interval that is open now.
    from: Nanos,
    to: Nanos,
    used: [bool; 3],
    sums: [Sum; 3],
    series: Series,
    /// A row found no memory: the series ends there.
    lacks_memory: bool,
}

impl Sampler {
    pub fn new(start: Nanos, interval: Nanos, used: [bool; 3]) -> Sampler {
        let to = start + interval;
        let (sums, series) = ([Sum::NOTHING; 3], Series::default());
        Sampler {
            start,
            interval,
            from: start,
            to,
            used,
            sums,
            series,
            lacks_memory: false,
        }
    }

    #[inline]
    pub fn record(&mut self, at: Nanos, direction: Direction, bytes: u64, latency: Nanos) {
        if at > self.to {
            self.close_before(at);
        }
        self.sums[direction as usize].add(bytes, latency);
    }

    /// Closes every interval that ends before `at`.
    #[cold]
    fn close_before(&mut self, at: Nanos) {
        while at > self.to {
            self.write_rows(self.to);
            if self.lacks_memory {
                (self.from, self.to) = (self.to, Nanos::NEVER);
                return;
            }
            (self.from, self.to) = (self.to, self.to + self.interval);
            self.sums = [Sum::NOTHING; 3];
        }
    }

    fn write_rows(&mut self, end: Nanos) {
        let (from, length) = (self.from - self.start, end - self.from);
        for direction in Direction::ALL
            .into_iter()
            .filter(|d| self.used[*d as usize])
        {
            let sum = &self.sums[direction as usize];
            self.lacks_memory =
                self.lacks_memory || !self.series.push(from, length, direction, sum);
        }
    }

    /// True if the series ended before the phase, for want of memory.
    #[inline]
    pub fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    /// The series of a phase that ends at `end`, at or after its last completion.
    pub fn finish(mut self, end: Nanos) -> Series {
        self.close_before(end);
        self.write_rows(end);
        self.series
    }
}
