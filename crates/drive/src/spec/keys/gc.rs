//! Garbage collection.

use super::{Key, Kind, count, policy};

pub(super) const KEYS: &[Key] = &[
    policy(
        "gc.policy",
        Kind::Word(&["greedy", "cost-benefit", "fifo", "d-choices", "random"]),
        "\"greedy\"",
        "Which superblock is collected: the one with the least valid data, with the best of free \
         share times age over valid share, the one that was filled first, the one with the least \
         of `gc.choices` drawn at random, or any.",
    )
    .or("\"greedy\""),
    policy(
        "gc.choices",
        count(1, 1000),
        "10",
        "Superblocks that `d-choices` draws for each victim.",
    )
    .or("10"),
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
