//! The SLC cache.

use flashtwin_ftl::designs::{DESIGNS, NAMES};
use flashtwin_ftl::full_rules::{self, RULES};

use super::{Key, Kind, policy, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::Size;

/// `slc_cache.mode`, and the rest.
pub(super) fn keys() -> Vec<Key> {
    std::iter::once(mode())
        .chain(KEYS.iter().copied())
        .chain([when_full()])
        .chain(PAST.iter().copied())
        .collect()
}

/// The key that names a design.
fn mode() -> Key {
    let designs: Vec<String> = DESIGNS
        .iter()
        .map(|design| format!("`{}`: {}", design.name, design.takes))
        .collect();
    let meaning = format!("Where the cache takes its blocks. {}.", designs.join("; "));
    policy(
        "slc_cache.mode",
        Kind::Word(NAMES),
        "\"dynamic\"",
        String::leak(meaning),
    )
}

/// The key that names what happens when the cache is full.
fn when_full() -> Key {
    let goes: Vec<String> = RULES
        .iter()
        .map(|rule| format!("`{}`: {}", rule.name, rule.data))
        .collect();
    let meaning = format!("Host data past the cache. {}.", goes.join("; "));
    policy(
        "slc_cache.when_full",
        Kind::Word(full_rules::NAMES),
        "\"staged\"",
        String::leak(meaning),
    )
}

const KEYS: &[Key] = &[
    policy(
        "slc_cache.size",
        quantity_or_zero(Size),
        "\"24 GB\"",
        "User data in borrowed blocks at most; 0 for none, static and whole-drive, and where \
         `slc_cache.size_by_fill` says it.",
    )
    .scaled(),
    policy(
        "slc_cache.size_by_fill",
        Kind::SizeByFill,
        "[\"0 %: 140 GB\", \"75 %: 12 GB\"]",
        "User data in borrowed blocks at most, as the drive fills: straight lines between points \
         of the share of the capacity that holds data. Empty: `slc_cache.size` throughout.",
    )
    .or("[]")
    .scaled(),
    policy(
        "slc_cache.static_size",
        quantity_or_zero(Size),
        "0",
        "User data in the cache's own blocks; 0 for none, dynamic and whole-drive.",
    )
    .scaled(),
    policy(
        "slc_cache.tier_size",
        quantity_or_zero(Size),
        "\"48 GB\"",
        "Second tier: user data in borrowed blocks of `nand.tier.bits` bits a cell at most, which \
         takes what the SLC cache has no room for; 0 = none.",
    )
    .or("0")
    .scaled(),
    policy(
        "slc_cache.worn",
        Kind::Word(&["keep", "shrink", "close"]),
        "\"shrink\"",
        "Own blocks that have used up `nand.slc.endurance` cycles: they go on, each is given up, \
         or the first takes all the others with it.",
    )
    .or("\"keep\""),
];

const PAST: &[Key] = &[
    policy(
        "slc_cache.direct_share",
        Kind::Factor,
        "0.5",
        "With `slc_cache.when_full` mixed: share of the host data that goes straight to native \
         blocks, between 0 and 1.",
    )
    .or("0.5"),
    policy(
        "slc_cache.admit",
        Kind::Word(&["all", "small", "random"]),
        "\"random\"",
        "Which writes enter the cache: all, commands up to `slc_cache.admit_limit`, or those that \
         do not continue a sequential run longer than that. The others go straight to native \
         blocks.",
    )
    .or("\"all\""),
    policy(
        "slc_cache.admit_limit",
        quantity(Size),
        "\"64 KiB\"",
        "With `slc_cache.admit` small: the largest command that enters; with random: the longest \
         sequential run.",
    )
    .or("\"64 KiB\""),
    policy(
        "slc_cache.reclaim",
        Kind::Factor,
        "0.5",
        "Once full, the cache has its emptiest superblock folded before anything else, where at \
         most this share of it is valid; 0 = never.",
    )
    .or("0"),
    policy(
        "slc_cache.rearm",
        quantity_or_zero(Size),
        "\"2.4 GB\"",
        "Once full, the cache takes data again when so much of it can be opened.",
    )
    .scaled(),
];
