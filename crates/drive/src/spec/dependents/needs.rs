//! Keys that a mechanism needs to have more of a number, or another value.
//!
//! A number becomes the least that `check` accepts, unless the drive itself says of what size it
//! should be: nothing here is a guess about drives.

use super::super::check::cache;
use super::super::check::flash::{self, Flash};
use super::super::check::link::RawLink;
use super::super::check::{gc, wear};
use super::super::parts::{self, Part};
use super::super::quantity::Dimension;
use super::super::value::Datum;
use super::super::values::Values;
use crate::spec::keys::{
    Controller, Drive, Fdp, Fold, Ftl, Gc, Link, Name, Nand, NandNative, NandSuspend, SlcCache,
    Wear,
};

/// A layer that gives one of the switches needs the key to have another value.
pub(super) struct Need {
    pub switches: &'static [&'static str],
    pub key: &'static str,
    /// That value, of the values with the layer and of those before it; none where what is there
    /// will do.
    pub fitting: fn(&Values, &Values) -> Option<Datum>,
}

/// These keys decide how many streams are open besides those of every drive.
const STREAMS: &[&str] = &[Gc::separation.name, Fdp::handles.name, Fdp::isolation.name];
const CELL: &[&str] = &[Nand::cell.name];
const LINK: &[&str] = &[
    Link::kind.name,
    Link::sata_rate.name,
    Link::pcie_generation.name,
    Link::pcie_lanes.name,
    Link::max_payload.name,
];
const PARTS: &[&str] = &[SlcCache::mode.name, SlcCache::size_by_fill.name];
const SIZES: &[&str] = &[
    SlcCache::mode.name,
    SlcCache::size.name,
    SlcCache::static_size.name,
    SlcCache::size_by_fill.name,
];
const EMPTIED: &[&str] = &[
    SlcCache::mode.name,
    SlcCache::tier_size.name,
    Fold::idle_after.name,
];
const PACED: &[&str] = &[
    SlcCache::mode.name,
    SlcCache::when_full.name,
    "slc_cache.direct_share",
    SlcCache::tier_size.name,
];

/// A need comes before those that depend on its key.
pub(super) const NEEDS: &[Need] = &[
    need(CELL, NandNative::tr.name, |values, _| {
        mean_time(values, NandNative::tr).map(|(mean, _)| time(mean))
    }),
    need(CELL, NandNative::tprog.name, |values, _| {
        mean_time(values, NandNative::tprog).map(|(mean, bits)| Datum::Times(vec![mean; bits]))
    }),
    need(CELL, Drive::capacity.name, |values, before| {
        let fits = u128::from(values.of(Drive::capacity)?) <= flash::room(values)?;
        let bytes = fewer_bits(values, before, Drive::capacity)?;
        (!fits).then_some(size(bytes / 512 * 512))
    }),
    need(CELL, Ftl::system.name, |values, before| {
        beside_less(values, before, Ftl::system)
    }),
    need(CELL, Fold::reserve.name, |values, before| {
        beside_less(values, before, Fold::reserve)
    }),
    need(LINK, Link::rate.name, |values, _| {
        let most = RawLink::read(values)?.encoded();
        let above = values.of(Link::rate)? > most;
        above.then_some(Datum::Quantity(0, Dimension::ByteRate))
    }),
    need(PARTS, SlcCache::size.name, |values, before| {
        let cache = SlcCache::read(values);
        let missing = cache.size? == 0 && cache.size_by_fill?.is_empty();
        let own = before.of(SlcCache::static_size).unwrap_or(0);
        let least = slc_superblock(values)?;
        let asked = missing && cache.mode?.is_sized();
        asked.then_some(size(if own > 0 { own } else { least }))
    }),
    need(PARTS, SlcCache::static_size.name, |values, _| {
        let cache = SlcCache::read(values);
        let asked = cache.static_size? == 0 && cache.mode?.owns;
        asked.then_some(size(slc_superblock(values)?))
    }),
    need(SIZES, SlcCache::rearm.name, |values, _| {
        cache::most_rearm(values).map(size)
    }),
    need(EMPTIED, SlcCache::when_full.name, |values, _| {
        parts::is_never_emptied(values)?.then_some(Datum::Word("fold-first"))
    }),
    need(PACED, Fold::pace.name, least_pace),
    need(
        &[Wear::read_only_at.name, Wear::bad_percent.name],
        Wear::spares.name,
        |values, _| wear::least_spares(values).map(Datum::Count),
    ),
    need(
        &[NandSuspend::program.name, NandSuspend::erase.name],
        Controller::read_priority.name,
        |values, _| {
            let first = values.of(Controller::read_priority)?;
            let suspends = [NandSuspend::program, NandSuspend::erase];
            let suspends = suspends.iter().any(|key| values.of(*key) == Some(true));
            (suspends && !first).then_some(Datum::Flag(true))
        },
    ),
    need(&[Gc::separation.name], Gc::hot_pool.name, |values, _| {
        let small = gc::small_pools(values)?;
        let share = values.of(Gc::hot_share)?;
        (!small.is_empty() && values.of(Gc::hot_pool)? != share).then_some(Datum::Milli(share))
    }),
    need(STREAMS, Gc::low.name, |values, _| {
        at_least(values, Gc::low, gc::least_low(values)?)
    }),
    need(STREAMS, Gc::high.name, |values, _| {
        gc::least_low(values)?;
        at_least(values, Gc::high, values.of(Gc::low)?)
    }),
    need(STREAMS, Gc::idle_target.name, |values, _| {
        gc::least_low(values)?;
        let idle = values.entry(Gc::idle_after)?.datum != Datum::Never;
        let above = values.of(Gc::high)? + 1;
        at_least(values, Gc::idle_target, above).filter(|_| idle)
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

fn at_least(values: &Values, key: Name<u64>, least: u64) -> Option<Datum> {
    (values.of(key)? < least).then_some(Datum::Count(least))
}

fn slc_superblock(values: &Values) -> Option<u64> {
    u64::try_from(Flash::read(values)?.slc_superblock()).ok()
}

/// The mean of times by page type where there are not as many as the cell has bits, and its bits.
fn mean_time(values: &Values, key: Name<Datum>) -> Option<(u64, usize)> {
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
fn fewer_bits(values: &Values, before: &Values, key: Name<u64>) -> Option<u64> {
    let (bits, earlier) = (flash::bits(values)?, flash::bits(before)?);
    let bytes = u128::from(before.of(key)?);
    (bits < earlier).then(|| (bytes * bits / earlier) as u64)
}

/// The same where the capacity was lowered with the cells.
fn beside_less(values: &Values, before: &Values, key: Name<u64>) -> Option<Datum> {
    let lowered = fewer_bits(values, before, Drive::capacity)? / 512 * 512;
    let asked = values.of(Drive::capacity)? == lowered && values.of(key)? > 0;
    fewer_bits(values, before, key).map(size).filter(|_| asked)
}

/// Data leaves a full cache as quickly as it comes, and borrowed superblocks come back.
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
