//! Compression of what is stored.

use super::{Key, count, fixed, quantity_or_zero};
use crate::spec::quantity::Dimension::ByteRate;

pub(super) const KEYS: &[Key] = &[
    fixed(
        "compression.best_ratio",
        count(1, 8),
        "2",
        "Times that the best compressible data is smaller on flash; 1 = nothing is compressed.",
    )
    .or("1"),
    fixed(
        "compression.rate",
        quantity_or_zero(ByteRate),
        "\"500 MB/s\"",
        "What the compressing engine takes in from the host; 0 = as much as comes. Waits while \
         `best_ratio` is 1.",
    )
    .or("0"),
];
