//! Garbage collection.

use super::{Key, Kind, count, policy};

pub(super) const KEYS: &[Key] = &[
    policy(
        "gc.policy",
        Kind::Word(&["greedy"]),
        "\"greedy\"",
        "Which superblock is collected: the one with the least valid data.",
    )
    .or("\"greedy\""),
    policy(
        "gc.low",
        count(1, 1_000_000),
        "4",
        "Collection begins when fewer superblocks are free.",
    ),
    policy(
        "gc.high",
        count(1, 1_000_000),
        "6",
        "Collection ends when so many superblocks are free.",
    ),
    policy(
        "gc.reserve",
        count(2, 1_000_000),
        "3",
        "Superblocks that the host never gets: collection and folding need them to finish.",
    ),
];
