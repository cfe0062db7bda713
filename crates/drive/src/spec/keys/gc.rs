//! Garbage collection.

use flashtwin_ftl::choices::{PACINGS, RECYCLINGS};
use flashtwin_ftl::lifetimes::{SEPARATIONS, WORDS};
use flashtwin_ftl::orders::{NAMES, ORDERS, Setting};
use flashtwin_ftl::policy::{Pace, Recycler};

use super::{Key, Kind, choice, count, policy};
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
    let takes = ORDERS.iter().map(|order| (order.name, order.takes));
    choice(NAMES, "\"greedy\"", "Which superblock is collected", takes)
        .named("gc.policy")
        .or("\"greedy\"")
}

/// The key that says how the host waits.
fn pace() -> Key {
    let waits = PACINGS.iter().map(|pacing| (pacing.name, pacing.waits));
    choice(
        Pace::NAMES,
        "\"paced\"",
        "How the host waits for collection",
        waits,
    )
    .named("gc.pace")
    .or("\"paced\"")
}

/// The key that names what goes on in a drive that has been written all over.
fn recycler() -> Key {
    let asks = "What else collection does in a drive that has been written all over";
    let does = RECYCLINGS.iter().map(|way| (way.name, way.does));
    choice(Recycler::NAMES, "\"none\"", asks, does)
        .named("gc.recycler")
        .or("\"none\"")
}

/// The key that names what is divided.
fn separation() -> Key {
    let divides = SEPARATIONS.iter().map(|way| (way.name, way.divides));
    choice(WORDS, "\"gc\"", "Which data shares superblocks", divides)
        .named("gc.separation")
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
