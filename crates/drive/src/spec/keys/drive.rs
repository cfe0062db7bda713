//! What the label says.

use super::{Key, Kind, count, fixed, quantity, quantity_or_zero};
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
    fixed(
        "drive.initial_cycles",
        count(0, 1_000_000_000),
        "750",
        "Native program/erase cycles that each block of a used drive has behind it when it is \
         built, or as much of its rated life where it holds one bit a cell; 0 = a new drive.",
    )
    .or("0"),
    fixed(
        "drive.initial_age",
        Kind::Factor,
        "3",
        "Years, at most 50, that a used drive is old when it is built: SMART counts them among the \
         hours that the power was on, and what the host writes until it has written the capacity \
         once is taken for data of that age, kept at `errors.retention_temperature`; 0 = a new \
         drive.",
    )
    .or("0"),
];
