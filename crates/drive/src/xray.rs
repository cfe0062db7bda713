//! The X-ray: what happened inside, on the host's time axis. It explains and never feeds a finding.

use flashtwin_base::Nanos;
use flashtwin_ftl::Ftl;

/// Names of the columns, in the order of [`Xray::columns`]. Bytes and erases are cumulative since the
/// drive was built; from `cache_bytes` on they are what was so at the end of the interval.
pub const COLUMNS: [&str; 13] = [
    "t_ns",
    "host_bytes",
    "slc_bytes",
    "direct_bytes",
    "fold_bytes",
    "gc_bytes",
    "pad_bytes",
    "slc_erases",
    "native_erases",
    "cache_bytes",
    "cache_valid_bytes",
    "free_superblocks",
    "native_free_bytes",
];

/// Samples of the inside at a fixed interval.
pub struct Xray {
    every: Nanos,
    next: Nanos,
    start: Nanos,
    columns: [Vec<i64>; 13],
}

impl Default for Xray {
    fn default() -> Xray {
        let columns = Default::default();
        Xray {
            every: Nanos::ZERO,
            next: Nanos::NEVER,
            start: Nanos::ZERO,
            columns,
        }
    }
}

impl Xray {
    /// Starts over at `now`, sampling at the end of every interval; `Nanos::ZERO` switches it off.
    pub fn restart(&mut self, now: Nanos, every: Nanos) {
        self.every = every;
        self.start = now;
        self.next = if every == Nanos::ZERO {
            Nanos::NEVER
        } else {
            now + every
        };
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// When the next sample is due.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Nanos {
        self.next
    }

    /// Takes the samples that are due at or before `to`.
    #[cold]
    pub(crate) fn sample(&mut self, to: Nanos, ftl: &Ftl, host_bytes: u64) {
        while self.next <= to {
            self.take(self.next, ftl, host_bytes);
            self.next += self.every;
        }
    }

    /// Takes a last, shorter interval's sample.
    pub(crate) fn close(&mut self, now: Nanos, ftl: &Ftl, host_bytes: u64) {
        if self.every == Nanos::ZERO {
            return;
        }
        self.sample(now, ftl, host_bytes);
        if now + self.every > self.next {
            self.take(now, ftl, host_bytes);
        }
        self.next = Nanos::NEVER;
    }

    fn take(&mut self, at: Nanos, ftl: &Ftl, host_bytes: u64) {
        let c = ftl.counters();
        let unit = u64::from(ftl.layout.unit_bytes);
        let (cache_units, cache_valid) = ftl.cache_units();
        let free = u64::from(ftl.free_superblocks());
        let row = [
            at.0 - self.start.0,
            host_bytes,
            c.slc_units * unit,
            c.direct_units * unit,
            c.fold_units * unit,
            c.gc_units * unit,
            c.pad_units * unit,
            c.slc_erases,
            c.native_erases,
            cache_units * unit,
            cache_valid * unit,
            free,
            free * ftl.layout.native_bytes(),
        ];
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value as i64);
        }
    }

    /// The samples so far, a column for each of [`COLUMNS`].
    #[must_use]
    pub fn columns(&self) -> &[Vec<i64>; 13] {
        &self.columns
    }
}
