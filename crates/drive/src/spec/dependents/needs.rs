//! What a mechanism needs of other keys: more of a number, or another value.
//!
//! A number becomes the least that `check` accepts, unless the drive itself says of what size it
//! should be: nothing here is a guess about drives.

use super::super::check::cache;
use super::super::check::flash::{self, Flash};
use super::super::check::link::RawLink;
use super::super::check::{gc, wear};
use super::super::keys::fold::Fold;
use super::super::keys::slc_cache::SlcCache;
use super::super::parts::{self, Part, cache_key, fold_key};
use super::super::quantity::Dimension;
use super::super::value::{Datum, Values};

/// A layer that gives one of the switches needs the key to have another value.
pub(super) struct Need {
    pub switches: &'static [&'static str],
    pub key: &'static str,
    /// That value, of the values with the layer and of those before it; none where what is there
    /// will do.
    pub fitting: fn(&Values, &Values) -> Option<Datum>,
}

/// These keys decide how many streams are open besides those of every drive.
const STREAMS: &[&str] = &["gc.separation", "fdp.handles", "fdp.isolation"];
const CELL: &[&str] = &["nand.cell"];
const LINK: &[&str] = &[
    "link.kind",
    "link.sata_rate",
    "link.pcie_generation",
    "link.pcie_lanes",
    "link.max_payload",
];
const PARTS: &[&str] = &[cache_key::mode, cache_key::size_by_fill];
const SIZES: &[&str] = &[
    cache_key::mode,
    cache_key::size,
    cache_key::static_size,
    cache_key::size_by_fill,
];
const EMPTIED: &[&str] = &[cache_key::mode, cache_key::tier_size, fold_key::idle_after];
const PACED: &[&str] = &[
    cache_key::mode,
    cache_key::when_full,
    "slc_cache.direct_share",
    cache_key::tier_size,
];

/// A need comes before those that depend on its key.
pub(super) const NEEDS: &[Need] = &[
    need(CELL, "nand.native.tr", |values, _| {
        mean_time(values, "nand.native.tr").map(|(mean, _)| time(mean))
    }),
    need(CELL, "nand.native.tprog", |values, _| {
        mean_time(values, "nand.native.tprog").map(|(mean, bits)| Datum::Times(vec![mean; bits]))
    }),
    need(CELL, "drive.capacity", |values, before| {
        let fits = u128::from(values.number("drive.capacity")?) <= flash::room(values)?;
        let bytes = fewer_bits(values, before, "drive.capacity")?;
        (!fits).then_some(size(bytes / 512 * 512))
    }),
    need(CELL, "ftl.system", |values, before| {
        beside_less(values, before, "ftl.system")
    }),
    need(CELL, fold_key::reserve, |values, before| {
        beside_less(values, before, fold_key::reserve)
    }),
    need(LINK, "link.rate", |values, _| {
        let most = RawLink::read(values)?.encoded();
        let above = values.number("link.rate")? > most;
        above.then_some(Datum::Quantity(0, Dimension::ByteRate))
    }),
    need(PARTS, cache_key::size, |values, before| {
        let cache = SlcCache::read(values);
        let missing = cache.size? == 0 && cache.size_by_fill?.is_empty();
        let own = before.number(cache_key::static_size).unwrap_or(0);
        let least = slc_superblock(values)?;
        let asked = missing && cache.mode?.is_sized();
        asked.then_some(size(if own > 0 { own } else { least }))
    }),
    need(PARTS, cache_key::static_size, |values, _| {
        let cache = SlcCache::read(values);
        let asked = cache.static_size? == 0 && cache.mode?.owns;
        asked.then_some(size(slc_superblock(values)?))
    }),
    need(SIZES, cache_key::rearm, |values, _| {
        cache::most_rearm(values).map(size)
    }),
    need(EMPTIED, cache_key::when_full, |values, _| {
        parts::is_never_emptied(values)?.then_some(Datum::Word("fold-first"))
    }),
    need(PACED, fold_key::pace, least_pace),
    need(
        &["wear.read_only_at", "wear.bad_percent"],
        "wear.spares",
        |values, _| wear::least_spares(values).map(Datum::Count),
    ),
    need(
        &["nand.suspend.program", "nand.suspend.erase"],
        "controller.read_priority",
        |values, _| {
            let first = values.flag("controller.read_priority")?;
            let suspends = ["nand.suspend.program", "nand.suspend.erase"];
            let suspends = suspends.iter().any(|key| values.flag(key) == Some(true));
            (suspends && !first).then_some(Datum::Flag(true))
        },
    ),
    need(&["gc.separation"], "gc.hot_pool", |values, _| {
        let small = gc::small_pools(values)?;
        let share = values.number("gc.hot_share")?;
        (!small.is_empty() && values.number("gc.hot_pool")? != share).then_some(Datum::Milli(share))
    }),
    need(STREAMS, "gc.low", |values, _| {
        at_least(values, "gc.low", gc::least_low(values)?)
    }),
    need(STREAMS, "gc.high", |values, _| {
        gc::least_low(values)?;
        at_least(values, "gc.high", values.number("gc.low")?)
    }),
    need(STREAMS, "gc.idle_target", |values, _| {
        gc::least_low(values)?;
        let idle = values.entry("gc.idle_after")?.datum != Datum::Never;
        let above = values.number("gc.high")? + 1;
        at_least(values, "gc.idle_target", above).filter(|_| idle)
    }),
];

const fn need(
    switches: &'static [&'static str],
    key: &'static str,
    fitting: fn(&Values, &Values) -> Option<Datum>,
) -> Need {
    Need {
        switches,
        key,
        fitting,
    }
}

fn size(bytes: u64) -> Datum {
    Datum::Quantity(bytes, Dimension::Size)
}

fn time(ns: u64) -> Datum {
    Datum::Quantity(ns, Dimension::Time)
}

fn at_least(values: &Values, key: &str, least: u64) -> Option<Datum> {
    (values.number(key)? < least).then_some(Datum::Count(least))
}

fn slc_superblock(values: &Values) -> Option<u64> {
    u64::try_from(Flash::read(values)?.slc_superblock()).ok()
}

/// The mean of times by page type where there are not as many as the cell has bits, and its bits.
fn mean_time(values: &Values, key: &str) -> Option<(u64, usize)> {
    let bits = flash::bits(values)? as usize;
    match &values.entry(key)?.datum {
        Datum::Times(times) if times.len() != bits => {
            Some((times.iter().sum::<u64>() / times.len() as u64, bits))
        }
        _ => None,
    }
}

/// As large a part of the flash as the key's native bytes were before, where its cells hold fewer
/// bits now.
fn fewer_bits(values: &Values, before: &Values, key: &str) -> Option<u64> {
    let (bits, earlier) = (flash::bits(values)?, flash::bits(before)?);
    let bytes = u128::from(before.number(key)?);
    (bits < earlier).then(|| (bytes * bits / earlier) as u64)
}

/// The same where the capacity was lowered with the cells.
fn beside_less(values: &Values, before: &Values, key: &str) -> Option<Datum> {
    let lowered = fewer_bits(values, before, "drive.capacity")? / 512 * 512;
    let asked = values.number("drive.capacity")? == lowered && values.number(key)? > 0;
    fewer_bits(values, before, key).map(size).filter(|_| asked)
}

/// What flows into a full cache has to flow out of it, and what is borrowed has to come back.
fn least_pace(values: &Values, _before: &Values) -> Option<Datum> {
    let pace = Fold::read(values).pace?;
    let when_full = parts::when_full(values)?;
    if !Part::Cache.is_there(values)? {
        return None;
    }
    if when_full.rule().flows() {
        let staged = u64::from(when_full.keeps_up_milli());
        return (pace < staged).then_some(Datum::Milli(staged));
    }
    // A byte folded out of SLC frees as many native ones as the cell has bits, but for its own.
    let freed = (flash::bits(values)? as u64).saturating_sub(1).max(1);
    (pace == 0 && Part::Lends.is_there(values)?).then_some(Datum::Milli(1000_u64.div_ceil(freed)))
}
