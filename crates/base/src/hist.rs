//! Latency histograms in fio's buckets, so that percentiles and bins compare with fio's one to one.
//!
//! The first 128 values have a bucket each; above, every power of two is cut into 64 buckets,
//! which keeps the relative error of a value below 1/128. There are 29 groups of 64 buckets; what
//! lies past the last one (from 2^34 ns, 17 s, on) is counted in it. Layout and rounding are those
//! of fio's `stat.h` (`FIO_IO_U_PLAT_BITS` 6, `FIO_IO_U_PLAT_GROUP_NR` 29).

/// Bits of a value that its bucket keeps, below the leading one.
const BITS: u32 = 6;
/// Buckets a group.
const GROUP: usize = 1 << BITS;
/// Groups.
const GROUPS: usize = 29;
/// Buckets in all.
pub const BUCKETS: usize = GROUP * GROUPS;

/// The bucket that a latency is counted in.
#[inline]
#[must_use]
pub fn bucket_of(ns: u64) -> usize {
    let top_bit = 63 - (ns | 1).leading_zeros();
    let dropped = top_bit.saturating_sub(BITS);
    // Without its low bits the value keeps its leading one, which is worth one group: it supplies
    // the "+ 1" of the first group above the linear part.
    let bucket = ((dropped as usize) << BITS) + (ns >> dropped) as usize;
    bucket.min(BUCKETS - 1)
}

/// The latency that stands for all of a bucket: the value itself in the linear part, the middle
/// above.
#[must_use]
pub fn value_of(bucket: usize) -> u64 {
    assert!(bucket < BUCKETS, "bucket {bucket} of {BUCKETS}");
    if bucket < 2 * GROUP {
        return bucket as u64;
    }
    let dropped = (bucket >> BITS) - 1;
    let lower_edge = ((GROUP + bucket % GROUP) as u64) << dropped;
    lower_edge + (1 << dropped) / 2
}

/// Counts of latencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Histogram {
    /// Bucket of a latency: see [`bucket_of`].
    #[inline]
    #[must_use]
    pub fn bucket_of(ns: u64) -> usize {
        bucket_of(ns)
    }

    /// Latency that stands for a bucket: see [`value_of`].
    #[must_use]
    pub fn value_of(bucket: usize) -> u64 {
        value_of(bucket)
    }

    /// A histogram with nothing in it.
    #[must_use]
    pub fn new() -> Histogram {
        Histogram {
            counts: Box::new([0; BUCKETS]),
        }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counts[bucket_of(ns)] += 1;
    }

    /// The counts, one a bucket.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts[..]
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds what another histogram counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += theirs;
        }
    }

    /// The latency that `percent` of the counted ones do not exceed, as fio finds it: the value of
    /// the first bucket with which the running count reaches that share. `None` when nothing was
    /// counted.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        assert!((0.0..=100.0).contains(&percent), "percentile {percent}");
        let total = self.total();
        let wanted = percent / 100.0 * total as f64;
        let mut so_far = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            so_far += count;
            if so_far > 0 && so_far as f64 >= wanted {
                return Some(value_of(bucket));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_where_fio_has_them() {
        // Worked by hand from the layout: index = (dropped bits + 1) * 64 + the six bits kept.
        let cases = [
            (0, 0),
            (1, 1),
            (63, 63),
            (64, 64),
            (127, 127),
            (128, 128),
            (129, 128),
            (130, 129),
            (255, 191),
            (256, 192),
            (1_000, 317),
            (100_000, 737),
            (1_000_000, 954),
            (u64::MAX, BUCKETS - 1),
        ];
        for (ns, bucket) in cases {
            assert_eq!(bucket_of(ns), bucket, "{ns} ns");
        }
    }

    #[test]
    fn a_bucket_speaks_with_its_middle() {
        assert_eq!(value_of(127), 127);
        assert_eq!(value_of(128), 129);
        assert_eq!(value_of(317), 1_004);
        assert_eq!(value_of(737), 99_840);
        assert_eq!(value_of(BUCKETS - 1), (127 << 27) + (1 << 26));
    }

    #[test]
    fn every_value_falls_back_into_its_bucket() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(value_of(bucket)), bucket);
        }
    }

    #[test]
    fn percentiles_of_known_counts() {
        let mut hist = Histogram::new();
        assert_eq!(hist.percentile(50.0), None);
        (1..=100).for_each(|ns| hist.record(ns));
        assert_eq!(hist.percentile(0.0), Some(1));
        assert_eq!(hist.percentile(50.0), Some(50));
        assert_eq!(hist.percentile(99.0), Some(99));
        assert_eq!(hist.percentile(100.0), Some(100));
    }

    proptest! {
        #[test]
        fn order_and_precision_are_kept(ns in 0u64..(1 << 34), more in 0u64..1_000_000) {
            prop_assert!(bucket_of(ns) <= bucket_of(ns + more));
            let error = value_of(bucket_of(ns)).abs_diff(ns);
            prop_assert!(error as f64 <= ns as f64 / 128.0);
        }

        #[test]
        fn merging_is_counting_together(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let counted = |values: &[u64]| {
                let mut hist = Histogram::new();
                values.iter().for_each(|ns| hist.record(*ns));
                hist
            };
            let mut merged = counted(&a);
            merged.merge(&counted(&b));
            prop_assert_eq!(merged.total(), (a.len() + b.len()) as u64);
            prop_assert_eq!(merged, counted(&[a, b].concat()));
        }
    }
}
