//! The map and what never holds user data.

use super::{Key, Kind, count, fixed, policy, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::Size;

pub(super) const KEYS: &[Key] = &[
    fixed(
        "ftl.mapping_unit",
        quantity(Size),
        "\"4 KiB\"",
        "Smallest piece of data that the map points to; a power of two from 4 to 64 KiB.",
    ),
    fixed(
        "ftl.system",
        quantity_or_zero(Size),
        "\"2 GB\"",
        "Flash that never holds user data: system area, spares, bad blocks; counted in native \
         mode. Parity too, where `ftl.parity` does not count it.",
    )
    .scaled(),
    fixed(
        "ftl.parity",
        Kind::Word(&["none", "stripe"]),
        "\"stripe\"",
        "Parity within a superblock (RAISE, RAIN): `stripe` makes one granule of each stripe, \
         which is a granule on each die of the superblock, the exclusive-or of the others. It \
         takes capacity and writes.",
    )
    .or("\"none\""),
    fixed(
        "ftl.superblock_dies",
        count(0, 4096),
        "4",
        "Dies that a superblock spans, a divisor of all dies; 0 means all of them. With fewer \
         there are more and smaller superblocks, and each stream keeps one open in each group of \
         dies. Sizes in superblocks (`gc.low`, `gc.high`, `gc.reserve`) count these.",
    )
    .or("0"),
    policy(
        "ftl.checkpoint",
        quantity_or_zero(Size),
        "\"64 GB\"",
        "Host data between checkpoints: the map is written to the system area in SLC mode, so that \
         a start after a power cut reads only what was written since; 0 = none, it reads all.",
    )
    .or("0"),
    policy(
        "ftl.paired_pages",
        Kind::Word(&["protected", "lost"]),
        "\"lost\"",
        "Where a part programs page by page: `protected` backs the pages of a wordline up while \
         another of them is programmed; with `lost` a power cut takes them too, and no page counts \
         as durable before the last of its wordline is programmed.",
    )
    .or("\"protected\""),
    policy(
        "ftl.trim_journal",
        Kind::Flag,
        "true",
        "Trims are journaled in the system area, and a flush writes the journal; otherwise data \
         that was trimmed may come back after a power cut. Needs `ftl.checkpoint`.",
    )
    .or("false"),
];
