//! Wear levelling, bad blocks and the end of life.

use super::{Key, Kind, count, policy};

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
];
