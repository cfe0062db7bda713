//! The columns of a step that a page draws, and a digest of all columns that there are.

use flashtwin_base::Nanos;
use flashtwin_drive::xray::{COLUMNS, Xray};
use flashtwin_host::Series;
use serde::Serialize;
use std::collections::BTreeMap;

/// Columns of the series that a page draws.
const SEEN: [&str; 3] = ["t_ns", "dt_ns", "bytes"];
/// Columns of the X-ray that a page draws.
const INSIDE: [&str; 16] = [
    "t_ns",
    "host_bytes",
    "slc_bytes",
    "tier_bytes",
    "direct_bytes",
    "fold_bytes",
    "gc_bytes",
    "wear_bytes",
    "refresh_bytes",
    "failure_bytes",
    "map_bytes",
    "pad_bytes",
    "parity_bytes",
    "cache_bytes",
    "cache_limit_bytes",
    "free_superblocks",
];

/// The columns of a step that a page draws.
#[derive(Serialize)]
pub struct Told {
    pub start_ns: u64,
    pub duration_ns: u64,
    pub series: BTreeMap<&'static str, Vec<i64>>,
    pub xray: BTreeMap<&'static str, Vec<i64>>,
}

impl Told {
    /// Takes what a step left, and adds all of it to the digest.
    pub fn of(start: Nanos, end: Nanos, series: Series, xray: &Xray, digest: &mut Digest) -> Told {
        digest.add(&[start.0 as i64, end.0 as i64]);
        let series = drawn(series.into_columns(), &SEEN, digest);
        let xray = drawn(COLUMNS.into_iter().zip(xray.columns()), &INSIDE, digest);
        Told {
            start_ns: start.0,
            duration_ns: (end - start).0,
            series,
            xray,
        }
    }
}

fn drawn(
    columns: impl IntoIterator<Item = (&'static str, Vec<i64>)>,
    wanted: &[&str],
    digest: &mut Digest,
) -> BTreeMap<&'static str, Vec<i64>> {
    let mut kept = BTreeMap::new();
    for (name, column) in columns {
        digest.add(&column);
        // A mechanism that the drive lacks has nothing to draw.
        if wanted.contains(&name) && column.iter().any(|value| *value != 0) {
            kept.insert(name, column);
        }
    }
    kept
}

/// FNV-1a over numbers as bytes, in 64 bits.
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, numbers: &[i64]) {
        for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Sixteen digits.
    pub fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}
