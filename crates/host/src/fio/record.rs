//! What is kept of single requests: each of them, or means over windows.

use flashtwin_base::{Nanos, memory};

/// Requests that the jobs of a phase may keep together.
pub const MAX_REQUESTS: u64 = 1 << 25;
/// Bytes of a request that is kept.
pub(crate) const REQUEST_BYTES: u64 = 6 * 8 + 4 + 1;
/// Bytes of a row of means.
pub(crate) const WINDOW_BYTES: u64 = 7 * 8 + 1;

/// The direction that a record has for fsync.
pub const SYNC: u8 = 3;
/// The direction that a record has for fdatasync.
pub const DATASYNC: u8 = 4;
/// The direction that a record has for the fsync of a file at the end of a pass, which counts
/// nowhere else.
pub const LAST_SYNC: u8 = 5;

/// Requests in the order of their completions, in columns; times since the phase began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// When the host made it.
    pub start_ns: Vec<u64>,
    /// When it was submitted.
    pub issue_ns: Vec<u64>,
    /// When its completion was reaped.
    pub complete_ns: Vec<u64>,
    /// Its place among the job's requests as they were issued.
    pub number: Vec<u64>,
    /// Bytes from the beginning of its file.
    pub offset: Vec<u64>,
    /// Its length.
    pub bytes: Vec<u64>,
    /// Number of its span.
    pub file: Vec<u32>,
    /// 0 read, 1 write, 2 trim, 3 fsync, 4 fdatasync, 5 fsync at the end of a pass.
    pub direction: Vec<u8>,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub start: Nanos,
    pub issue: Nanos,
    pub complete: Nanos,
    pub number: u64,
    pub offset: u64,
    pub bytes: u64,
    pub file: u32,
    pub direction: u8,
}

impl Requests {
    /// Keeps a request, where there is memory for it.
    pub(crate) fn push(&mut self, begin: Nanos, record: Record) -> bool {
        if !self.grows() {
            return false;
        }
        self.start_ns.push((record.start - begin).0);
        self.issue_ns.push((record.issue - begin).0);
        self.complete_ns.push((record.complete - begin).0);
        self.number.push(record.number);
        self.offset.push(record.offset);
        self.bytes.push(record.bytes);
        self.file.push(record.file);
        self.direction.push(record.direction);
        true
    }

    #[inline]
    fn grows(&mut self) -> bool {
        let times = [
            &mut self.start_ns,
            &mut self.issue_ns,
            &mut self.complete_ns,
            &mut self.number,
            &mut self.offset,
            &mut self.bytes,
        ];
        times.into_iter().all(memory::grows)
            && memory::grows(&mut self.file)
            && memory::grows(&mut self.direction)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.number.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.number.is_empty()
    }
}

/// Means over windows, a row a window and direction in which anything completed, in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Averages {
    /// Where the window ends, since the job's measured time began.
    pub end_ns: Vec<u64>,
    /// How long it was: the last one ends with the job.
    pub dt_ns: Vec<u64>,
    /// 0 read, 1 write, 2 trim.
    pub direction: Vec<u8>,
    /// Requests completed.
    pub ios: Vec<u64>,
    /// Bytes of them.
    pub bytes: Vec<u64>,
    /// Mean submission latency, or the greatest where the job's logs are of maxima.
    pub slat_ns: Vec<u64>,
    /// Mean or greatest completion latency.
    pub clat_ns: Vec<u64>,
    /// Mean or greatest whole latency.
    pub lat_ns: Vec<u64>,
}

impl Averages {
    fn grows(&mut self) -> bool {
        let columns = [
            &mut self.end_ns,
            &mut self.dt_ns,
            &mut self.ios,
            &mut self.bytes,
            &mut self.slat_ns,
            &mut self.clat_ns,
            &mut self.lat_ns,
        ];
        columns.into_iter().all(memory::grows) && memory::grows(&mut self.direction)
    }
}

/// What a window has gathered of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Gathered {
    ios: u64,
    bytes: u64,
    /// Sums, or maxima: slat, clat, lat.
    latencies: [u64; 3],
}

/// Gathers completions into windows.
#[derive(Clone, Debug)]
pub(crate) struct Averager {
    epoch: Nanos,
    interval: Nanos,
    from: Nanos,
    maxima: bool,
    open: [Gathered; 3],
    rows: Averages,
    /// A row found no memory: there are no more.
    lacks_memory: bool,
}

impl Averager {
    pub fn new(epoch: Nanos, interval: u64, maxima: bool) -> Averager {
        Averager {
            epoch,
            interval: Nanos(interval),
            from: epoch,
            maxima,
            open: [Gathered::default(); 3],
            rows: Averages::default(),
            lacks_memory: false,
        }
    }

    /// True if a row found no memory.
    pub fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    /// Counts a completion at `now`, with its slat, clat and lat.
    pub fn add(&mut self, now: Nanos, direction: usize, bytes: u64, latencies: [u64; 3]) {
        if now > self.from + self.interval {
            self.close(self.from + self.interval);
            let later = (now - self.from).0.div_ceil(self.interval.0) - 1;
            self.from += Nanos(later * self.interval.0);
        }
        let open = &mut self.open[direction];
        open.ios += 1;
        open.bytes += bytes;
        for (sum, value) in open.latencies.iter_mut().zip(latencies) {
            *sum = if self.maxima {
                (*sum).max(value)
            } else {
                *sum + value
            };
        }
    }

    fn close(&mut self, end: Nanos) {
        for (direction, open) in self.open.iter_mut().enumerate() {
            let open = std::mem::take(open);
            if open.ios == 0 {
                continue;
            }
            let share = if self.maxima { 1 } else { open.ios };
            let [slat, clat, lat] = open.latencies.map(|sum| sum / share);
            let rows = &mut self.rows;
            if self.lacks_memory || !rows.grows() {
                self.lacks_memory = true;
                return;
            }
            rows.end_ns.push((end - self.epoch).0);
            rows.dt_ns.push((end - self.from).0);
            rows.direction.push(direction as u8);
            rows.ios.push(open.ios);
            rows.bytes.push(open.bytes);
            rows.slat_ns.push(slat);
            rows.clat_ns.push(clat);
            rows.lat_ns.push(lat);
        }
    }

    /// The rows of a job that ends at `end`.
    pub fn finish(mut self, end: Nanos) -> Averages {
        self.close(end.max(self.from));
        self.rows
    }
}
