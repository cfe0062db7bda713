//! Wear levelling, bad blocks and the end of life.

use super::{Key, Kind, count, fixed, policy};

pub(super) const KEYS: &[Key] = &[
    policy(
        "wear.dynamic",
        Kind::Word(&["none", "fifo", "least-worn"]),
        "\"fifo\"",
        "Which free superblock is written next: the last one freed, the first one freed, or the \
         least worn.",
    )
    .or("\"fifo\""),
    policy(
        "wear.static_threshold",
        count(0, 1_000_000),
        "100",
        "Resting data is moved once the superblock it lies in is so many cycles behind the most \
         worn one; 0 = never.",
    )
    .or("0"),
    fixed(
        "wear.spares",
        count(0, 1_000_000),
        "8",
        "Blocks of each plane beside `nand.blocks_per_plane`, which take the places of bad ones.",
    )
    .or("0"),
    fixed(
        "wear.bad_percent",
        Kind::Factor,
        "0.4",
        "Blocks that are bad from the factory, in percent; the seed says which. A superblock takes \
         any good block of each plane, so the plane with the fewest decides how many there are.",
    )
    .or("0"),
    fixed(
        "wear.weak_percent",
        Kind::Factor,
        "2",
        "Blocks too weak for the native mode, in percent; the seed says which. They are put \
         together into superblocks that serve the SLC cache only, or nothing where there is none.",
    )
    .or("0"),
    fixed(
        "wear.program_failures",
        Kind::Factor,
        "20",
        "Programs of a block that fail in a million, at the end of its rated life. The data is \
         programmed again elsewhere, and the block replaced by a spare or its superblock retired.",
    )
    .or("0"),
    fixed(
        "wear.erase_failures",
        Kind::Factor,
        "500",
        "Erases of a block that fail in a million, at the end of its rated life.",
    )
    .or("0"),
    fixed(
        "wear.failure_growth",
        count(0, 64),
        "8",
        "The power of wear (cycles over rated cycles) with which failures rise: 8 makes them 256 \
         times rarer at half the rated life, and as much more frequent at twice of it.",
    )
    .or("8"),
    policy(
        "wear.read_only_at",
        Kind::Word(&["reserve-gone", "spares-gone", "rated-wear"]),
        "\"reserve-gone\"",
        "When the drive can only be read: when retired superblocks have eaten what collection \
         needs, before that when a plane has no spare left, or when mean wear is at its rating.",
    )
    .or("\"reserve-gone\""),
];
