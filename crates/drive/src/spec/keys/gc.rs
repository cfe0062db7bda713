//! Garbage collection.

use flashtwin_ftl::lifetimes::{SEPARATIONS, WORDS};
use flashtwin_ftl::orders::{NAMES, ORDERS, Setting};
use flashtwin_ftl::pacing::{self, PACINGS};
use flashtwin_ftl::recyclers::{self, RECYCLINGS};

use super::{Key, Kind, count, policy};
use crate::spec::quantity::Dimension::Time;

/// `gc.policy`, the keys that its orders have of their own, and the rest.
pub(super) fn keys() -> Vec<Key> {
    let own = ORDERS.iter().flat_map(|order| order.settings).map(setting);
    std::iter::once(order())
        .chain(own)
        .chain(MARKS.iter().copied())
        .chain([pace()])
        .chain(IDLE.iter().copied())
        .chain([recycler(), separation()])
        .chain(ORACLE.iter().copied())
        .collect()
}

/// The key that names an order.
fn order() -> Key {
    let takes: Vec<String> = ORDERS
        .iter()
        .map(|order| format!("`{}`: {}", order.name, order.takes))
        .collect();
    let meaning = format!("Which superblock is collected. {}.", takes.join("; "));
    policy(
        "gc.policy",
        Kind::Word(NAMES),
        "\"greedy\"",
        String::leak(meaning),
    )
    .or("\"greedy\"")
}

/// The key that says how the host waits.
fn pace() -> Key {
    let waits: Vec<String> = PACINGS
        .iter()
        .map(|pacing| format!("`{}`: {}", pacing.name, pacing.waits))
        .collect();
    let meaning = format!("How the host waits for collection. {}.", waits.join("; "));
    policy(
        "gc.pace",
        Kind::Word(pacing::NAMES),
        "\"paced\"",
        String::leak(meaning),
    )
    .or("\"paced\"")
}

/// The key that names what goes on in a drive that has been written all over.
fn recycler() -> Key {
    let does: Vec<String> = RECYCLINGS
        .iter()
        .map(|recycling| format!("`{}`: {}", recycling.name, recycling.does))
        .collect();
    let meaning = format!(
        "What else collection does in a drive that has been written all over. {}.",
        does.join("; ")
    );
    policy(
        "gc.recycler",
        Kind::Word(recyclers::NAMES),
        "\"none\"",
        String::leak(meaning),
    )
    .or("\"none\"")
}

/// The key that names what is divided.
fn separation() -> Key {
    let divided: Vec<String> = SEPARATIONS
        .iter()
        .map(|way| format!("`{}`: {}", way.name, way.divides))
        .collect();
    let meaning = format!("Which data shares superblocks. {}.", divided.join("; "));
    policy(
        "gc.separation",
        Kind::Word(WORDS),
        "\"gc\"",
        String::leak(meaning),
    )
    .or("\"gc\"")
}

/// A key that an order has of its own.
fn setting(own: &Setting) -> Key {
    let kind = count(own.min, own.max);
    policy(own.name, kind, own.default, own.meaning).or(own.default)
}

const MARKS: &[Key] = &[
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

const IDLE: &[Key] = &[
    policy(
        "gc.idle_after",
        Kind::Quantity {
            dimension: Time,
            zero: false,
            never: true,
        },
        "\"5 s\"",
        "Collection goes on ahead of need after so long without a host command, or \"never\".",
    )
    .or("\"never\""),
    policy(
        "gc.idle_target",
        count(0, 1_000_000),
        "40",
        "Collection in idle time ends when so many superblocks are free.",
    )
    .or("0"),
];

const ORACLE: &[Key] = &[
    policy(
        "gc.hot_share",
        Kind::Factor,
        "0.2",
        "With `oracle`: the share of the capacity, from its beginning, that the host calls hot.",
    )
    .or("0.2"),
    policy(
        "gc.hot_pool",
        Kind::Factor,
        "0.25",
        "With `oracle`: the share of the superblocks in use that is the hot pool's.",
    )
    .or("0.25"),
];
