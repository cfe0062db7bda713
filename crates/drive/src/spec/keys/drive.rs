//! What the label says.

use super::{Key, count, fixed, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::Size;

pub(super) const KEYS: &[Key] = &[
    fixed(
        "drive.capacity",
        quantity(Size),
        "\"240 GB\"",
        "Bytes that the host sees; whole sectors of 512 B.",
    )
    .scaled(),
    fixed(
        "drive.rated_tbw",
        quantity_or_zero(Size),
        "\"80 TB\"",
        "Host bytes that the maker vouches for; 0 where the label says nothing.",
    )
    .or("0")
    .scaled(),
    fixed(
        "drive.warranty_years",
        count(0, 20),
        "3",
        "Years of warranty, for full writes a day; 0 where the label says nothing.",
    )
    .or("0"),
];
