//! Checks that the SLC cache fits the flash and that its policies agree with each other.
//!
//! Rule: a key of a part that is not there is an error (a size without a cache). A key that has no
//! effect because its switch is off is none (`rearm` while no data goes past the cache). Values of
//! earlier layers that contradict a mode chosen by a later one have been turned off before
//! (`dependents`).

use flashtwin_ftl::choices::Borrows;
use flashtwin_ftl::policy::Parity;
use flashtwin_nand::part::Cell;

use super::super::keys::{KEYS, Key};
use super::super::parts::{self, Part};
use super::super::quantity::{Dimension, human, milli_text};
use super::super::value::{self, Datum};
use super::super::values::Values;
use super::flash::Flash;
use super::{Findings, tier};
use crate::spec::keys::{Fold, Ftl, Nand, NandNative, SlcCache};
use crate::spec::words::Path;

pub(super) fn check(found: &mut Findings<'_>) {
    for key in KEYS.iter() {
        belongs(found, key);
    }
    sizes(found);
    fits(found);
    holds_a_superblock(found);
    cell(found);
    rearm(found);
    when_full(found);
    shares(found);
    background(found);
    checks(found);
    lower_pages(found);
    gives_back(found);
    copyback(found);
    emptied(found);
}

/// A key of a part that is not there has no value but the one that leaves it out.
fn belongs(found: &mut Findings<'_>, key: &Key) -> Option<()> {
    let (part, off) = key.only?;
    let entry = found.values.entry(key.name)?;
    let cache = SlcCache::read(found.values);
    let (design, rule) = (cache.mode?, cache.when_full?);
    // Without a cache `slc_cache.when_full` may say anything: it has an effect once a later layer
    // adds a cache. `tier::check` judges the size of a tier.
    let excused = matches!(part, Part::Tier) || key.name == SlcCache::when_full.name;
    if excused || part.is_there(found.values)? || entry.datum == value::default(key, off) {
        return None;
    }
    let given = match &entry.datum {
        Datum::Quantity(bytes, Dimension::Size) => human(u128::from(*bytes)),
        Datum::SizeByFill(_) => "a table of sizes".to_owned(),
        datum => datum.text(),
    };
    let message = format!("{given} {}", part.lacking(design, rule));
    let hint = format!("write `{} = {off}`{}", key.name, part.otherwise());
    found.add(key.name, message, hint);
    Some(())
}

/// A mode needs the sizes of its own parts, and its borrowed part has one size or a table.
fn sizes(found: &mut Findings<'_>) -> Option<()> {
    let cache = SlcCache::read(found.values);
    let design = cache.mode?;
    let points = cache.size_by_fill.as_deref().unwrap_or_default();
    let needed = format!("0, but mode `{}` needs a size", design.name);
    let hint = "write its size, or choose another `slc_cache.mode`";
    if design.owns && cache.static_size == Some(0) {
        found.add(SlcCache::static_size, needed.as_str(), hint);
    }
    match cache.size {
        Some(size) if size > 0 && !points.is_empty() => {
            let message = format!("{} beside a table of sizes", human(size.into()));
            let hint = "write `slc_cache.size = 0`, or empty `slc_cache.size_by_fill`";
            found.add(SlcCache::size, message, hint);
        }
        Some(0) if design.is_sized() && points.is_empty() => {
            found.add(SlcCache::size, needed, hint);
        }
        _ => {}
    }
    let empty = points.iter().all(|(_, bytes)| *bytes == 0);
    if design.is_sized() && !points.is_empty() && empty {
        let hint = "write a size for at least one point";
        found.add(SlcCache::size_by_fill, "0 at every fill", hint);
    }
    Some(())
}

/// User bytes of a cache take as many native bytes as the cell has bits.
fn fits(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let system = flash.system(found.values)?;
    let cache = SlcCache::read(found.values);
    let (largest, key) = parts::borrowed(&cache);
    let sizes = [largest, cache.static_size];
    let total: u128 = sizes.iter().flatten().map(|size| u128::from(*size)).sum();
    let room = flash.blocks.saturating_sub(system) * flash.superblock();
    let larger = if sizes[0] >= sizes[1] {
        key
    } else {
        SlcCache::static_size.name
    };
    let tier = tier::native_bytes(found.values)?;
    if total * flash.bits > room {
        let message = format!(
            "a cache of {} takes {} of flash at {} bits a cell, and there are {}",
            human(total),
            human(total * flash.bits),
            flash.bits,
            human(room)
        );
        found.add(
            larger,
            message,
            format!(
                "the largest possible is {}{}",
                human(room / flash.bits),
                match flash.parity {
                    0 => "",
                    _ => ", or write `ftl.parity = \"none\"`",
                }
            ),
        );
    }
    if total * flash.bits <= room && total * flash.bits + tier > room {
        let left = human(room - total * flash.bits);
        let message = format!(
            "{} of flash for the second tier, and the first leaves {left}",
            human(tier)
        );
        let hint = "lower it, or the sizes of the first";
        found.add(SlcCache::tier_size, message, hint);
    }
    Some(())
}

/// A cache is counted in superblocks: one that is smaller is none.
fn holds_a_superblock(found: &mut Findings<'_>) -> Option<()> {
    let least = Flash::read(found.values)?.slc_superblock();
    for key in [SlcCache::size, SlcCache::static_size] {
        let size = found.values.of(key).map_or(0, u128::from);
        if size > 0 && size < least {
            let (size, least) = (human(size), human(least));
            let message = format!("{size} is less than one superblock in SLC mode, {least}");
            found.add(
                key,
                message,
                "a cache is counted in superblocks: write more, or 0",
            );
        }
    }
    Some(())
}

fn cell(found: &mut Findings<'_>) -> Option<()> {
    let design = SlcCache::read(found.values).mode?;
    let mode = design.name;
    if found.values.of(Nand::cell)? == Cell::Slc && design.caches() {
        let message = format!("mode `{mode}` on flash that has one bit a cell anyway");
        found.add(
            SlcCache::mode,
            message,
            "write `slc_cache.mode = \"none\"`, or `nand.cell` with more bits",
        );
    }
    Some(())
}

/// A cache cannot have more free than its size; both are counted in superblocks.
fn rearm(found: &mut Findings<'_>) -> Option<()> {
    let most = most_rearm(found.values)?;
    let rearm = human(SlcCache::read(found.values).rearm?.into());
    let most = human(most.into());
    let message = format!("{rearm} never come free in a cache of {most}");
    let hint = format!("write at most {most}, or a larger cache (`slc_cache.size` and its like)");
    found.add(SlcCache::rearm, message, hint);
    Some(())
}

/// The most that can come free in the cache, where `slc_cache.rearm` waits for more.
pub(in crate::spec) fn most_rearm(values: &Values) -> Option<u64> {
    let flash = Flash::read(values)?;
    let cache = SlcCache::read(values);
    let rearm = u128::from(cache.rearm?);
    let parts = [parts::borrowed(&cache).0, cache.static_size];
    let [lent, own] = parts.map(|size| size.map(|size| flash.slc_superblocks(size)));
    let design = cache.mode?;
    let largest = match design.borrows {
        Borrows::All => flash.blocks,
        _ if !design.caches() => return None,
        _ => lent? + own?,
    };
    let above = largest > 0 && rearm.div_ceil(flash.slc_superblock()) > largest;
    let most = u64::try_from(largest * flash.slc_superblock()).ok()?;
    above.then_some(most)
}

/// A full cache has to be emptied as quickly as data flows through it.
fn when_full(found: &mut Findings<'_>) -> Option<()> {
    let when_full = parts::when_full(found.values)?;
    let pace = Fold::read(found.values).pace?;
    let staged = u64::from(when_full.keeps_up_milli());
    let flows = Part::Cache.is_there(found.values)? && when_full.rule().flows();
    if flows && pace < staged {
        let (leave, least) = (milli_text(pace), milli_text(staged));
        let (come, more) = match when_full.rule().shares {
            true => (format!("{least} come"), ""),
            false => (
                "one comes".to_owned(),
                "; what comes back needs more, like 1.5",
            ),
        };
        let message =
            format!("{leave} staged bytes leave the cache for each host byte, and {come} in");
        found.add(Fold::pace, message, format!("write at least {least}{more}"));
    }
    Some(())
}

/// Values of the rule's own keys are those that it takes.
fn shares(found: &mut Findings<'_>) -> Option<()> {
    for own in SlcCache::read(found.values).when_full?.keys {
        super::within(found, own.name, own.within);
    }
    Some(())
}

/// Folding for free superblocks ends above where it begins.
fn background(found: &mut Findings<'_>) -> Option<()> {
    let fold = Fold::read(found.values);
    let (low, high) = (fold.low?, fold.high?);
    if low > 0 && high < low {
        let message = format!("folding ends at {high} free superblocks but begins below {low}");
        found.add(Fold::high, message, format!("write at least {low}"));
    }
    Some(())
}

/// Lower pages can be filled first only where each page is programmed by itself, and where a
/// superblock spans all dies.
fn lower_pages(found: &mut Findings<'_>) -> Option<()> {
    if !SlcCache::read(found.values).mode?.lower_pages_first {
        return None;
    }
    if !matches!(
        found.values.entry(NandNative::tprog)?.datum,
        Datum::Times(_)
    ) {
        let message = "lower pages first, on a part that programs all pages of a wordline at once";
        let hint = "give `nand.native.tprog` a time for each page type, or choose another mode";
        found.add(SlcCache::mode, message, hint);
    }
    if Flash::read(found.values)?.groups > 1 {
        let message = "lower pages first go over all dies at once";
        let hint = "write `ftl.superblock_dies = 0`, or choose another `slc_cache.mode`";
        found.add(Ftl::superblock_dies, message, hint);
    }
    Some(())
}

/// Checks read out what a copy inside the die would not; through the controller there is no such
/// copy.
fn checks(found: &mut Findings<'_>) -> Option<()> {
    let fold = Fold::read(found.values);
    if fold.check_every? > 0 && fold.path? == Path::Controller {
        let message = "a fold through the controller checks all data already";
        let hint = "write `fold.check_every = 0`, or `fold.path = \"copyback\"`";
        found.add(Fold::check_every, message, hint);
    }
    Some(())
}

/// Folding gives borrowed blocks back before the drive is full, and does not begin at its first
/// byte.
fn gives_back(found: &mut Findings<'_>) -> Option<()> {
    let (cache, fold) = (SlcCache::read(found.values), Fold::read(found.values));
    if !Part::Lends.is_there(found.values)? {
        return None;
    }
    if fold.pace == Some(0) && !cache.when_full?.flows() {
        let message = "0, but borrowed blocks have to come back before the drive is full";
        let hint = "write how many cache bytes are folded a host byte, like 0.5";
        found.add(Fold::pace, message, hint);
    }
    let room = Flash::read(found.values)?.native(found.values)?;
    let reserve = u128::from(fold.reserve?);
    if reserve >= room {
        let message = format!("{} is all of the flash, {}", human(reserve), human(room));
        let hint = "lower it: folding would begin at the first byte";
        found.add(Fold::reserve, message, hint);
    }
    Some(())
}

/// With copyback data stays in the die; parity is computed from data in the controller.
fn copyback(found: &mut Findings<'_>) -> Option<()> {
    let parity = found.values.of(Ftl::parity)? != Parity::None;
    let cached = Part::Cache.is_there(found.values)?;
    if parity && cached && Fold::read(found.values).path? == Path::Copyback {
        let message = "a copy inside a die passes by the controller, which makes the parity";
        let hint = "write `fold.path = \"controller\"`, or `ftl.parity = \"none\"`";
        found.add(Fold::path, message, hint);
    }
    Some(())
}

/// A cache that is never emptied would be used once in a drive's life.
fn emptied(found: &mut Findings<'_>) -> Option<()> {
    if parts::is_never_emptied(found.values)? {
        let hint = "write a time like \"30 s\", or `slc_cache.when_full` fold-first";
        let message = "nothing ever empties this static cache";
        found.add(Fold::idle_after, message, hint);
    }
    Some(())
}
