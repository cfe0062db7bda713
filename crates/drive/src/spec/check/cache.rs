//! Whether the SLC cache fits the flash, and whether its policies agree with each other.
//!
//! Rule: a key that contradicts the mode is an error (a size without a cache). A key that has no
//! effect because its switch is off is none (`rearm` while no data goes past the cache). Values of
//! earlier layers that contradict a mode chosen by a later one have been turned off before
//! (`dependents`).

use flashtwin_ftl::designs::{Borrows, CacheMode, DESIGNS, Design};
use flashtwin_ftl::full_rules::{FullRule, WhenFull};

use super::super::quantity::{human, milli_text};
use super::super::value::{Datum, Values};
use super::flash::Flash;
use super::{Findings, tier};

pub(super) fn check(found: &mut Findings<'_>) {
    sizes(found);
    by_fill(found);
    fits(found);
    holds_a_superblock(found);
    cell(found);
    rearm(found);
    when_full(found);
    shares(found);
    refill(found);
    background(found);
    checks(found);
    lower_pages(found);
    fold(found);
    copyback(found);
    emptied(found);
}

/// The design that the values name.
pub(in crate::spec) fn design(values: &Values) -> Option<&'static Design> {
    CacheMode::named(values.word("slc_cache.mode")?).map(CacheMode::design)
}

/// What the values say of a full cache.
pub(in crate::spec) fn full_rule(values: &Values) -> Option<&'static FullRule> {
    WhenFull::named(values.word("slc_cache.when_full")?).map(WhenFull::rule)
}

/// Whether a design uses a key of sizes.
type Has = fn(&Design) -> bool;

/// The designs that use it, as a hint names them.
fn those(has: Has) -> String {
    let names = DESIGNS.iter().filter(|design| has(design));
    let names: Vec<&str> = names.map(|design| design.name).collect();
    names.join(" or ")
}

/// A mode needs the sizes of its own parts, and takes no others.
fn sizes(found: &mut Findings<'_>) -> Option<()> {
    let design = design(found.values)?;
    let mode = design.name;
    let parts: [(&str, Has); 2] = [
        ("slc_cache.size", Design::is_sized),
        ("slc_cache.static_size", |design| design.owns),
    ];
    let table = table(found.values);
    for (key, has) in parts {
        let asked = has(design);
        let by_table = key == "slc_cache.size" && !table.is_empty();
        match found.values.number(key) {
            Some(size) if by_table && size > 0 => {
                let message = format!("{} beside a table of sizes", human(size.into()));
                let hint = "write `slc_cache.size = 0`, or empty `slc_cache.size_by_fill`";
                found.add(key, message, hint);
            }
            Some(0) if asked && !by_table => {
                let message = format!("0, but mode `{mode}` needs a size");
                found.add(
                    key,
                    message,
                    "write its size, or choose another `slc_cache.mode`",
                );
            }
            Some(size) if size > 0 && !asked => {
                let message = format!(
                    "{} with mode `{mode}`, which does not use it",
                    human(size.into())
                );
                found.add(
                    key,
                    message,
                    format!("write `{key} = 0`, or `slc_cache.mode` {}", those(has)),
                );
            }
            _ => {}
        }
    }
    Some(())
}

/// The points of the table of sizes; none where there is no table.
pub(in crate::spec) fn table(values: &Values) -> Vec<(u32, u64)> {
    match values.entry("slc_cache.size_by_fill").map(|e| &e.datum) {
        Some(Datum::SizeByFill(points)) => points.clone(),
        _ => Vec::new(),
    }
}

/// The largest borrowed part, and the key that gives it.
fn borrowed(values: &Values) -> (Option<u64>, &'static str) {
    match table(values).iter().map(|(_, bytes)| *bytes).max() {
        Some(largest) => (Some(largest), "slc_cache.size_by_fill"),
        None => (values.number("slc_cache.size"), "slc_cache.size"),
    }
}

/// A table of sizes needs a mode that borrows, and a size above 0 at one fill at least.
fn by_fill(found: &mut Findings<'_>) -> Option<()> {
    let points = table(found.values);
    let largest = points.iter().map(|(_, bytes)| *bytes).max()?;
    let design = design(found.values)?;
    let key = "slc_cache.size_by_fill";
    if !design.is_sized() {
        let mode = design.name;
        let message = format!("a table of sizes with mode `{mode}`, which does not use it");
        let others = those(Design::is_sized);
        let hint = format!("write `slc_cache.size_by_fill = []`, or mode {others}");
        found.add(key, message, hint);
    } else if largest == 0 {
        found.add(
            key,
            "0 at every fill",
            "write a size for at least one point",
        );
    }
    Some(())
}

/// User bytes of a cache take as many native bytes as the cell has bits.
fn fits(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let system = flash.system(found.values)?;
    let (largest, key) = borrowed(found.values);
    let sizes = [largest, found.values.number("slc_cache.static_size")];
    let total: u128 = sizes.iter().flatten().map(|size| u128::from(*size)).sum();
    let room = flash.blocks.saturating_sub(system) * flash.superblock();
    let larger = if sizes[0] >= sizes[1] {
        key
    } else {
        "slc_cache.static_size"
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
        found.add("slc_cache.tier_size", message, hint);
    }
    Some(())
}

/// A cache is counted in superblocks: one that is smaller is none.
fn holds_a_superblock(found: &mut Findings<'_>) -> Option<()> {
    let least = Flash::read(found.values)?.slc_superblock();
    for key in ["slc_cache.size", "slc_cache.static_size"] {
        let size = found.values.number(key).map_or(0, u128::from);
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
    let design = design(found.values)?;
    let mode = design.name;
    if found.values.word("nand.cell")? == "slc" && design.caches() {
        let message = format!("mode `{mode}` on flash that has one bit a cell anyway");
        found.add(
            "slc_cache.mode",
            message,
            "write `slc_cache.mode = \"none\"`, or `nand.cell` with more bits",
        );
    }
    Some(())
}

/// A cache cannot have more free than its size; both are counted in superblocks.
fn rearm(found: &mut Findings<'_>) -> Option<()> {
    let most = most_rearm(found.values)?;
    let rearm = human(found.values.number("slc_cache.rearm")?.into());
    let most = human(most.into());
    let message = format!("{rearm} never come free in a cache of {most}");
    let hint = format!("write at most {most}, or a larger cache (`slc_cache.size` and its like)");
    found.add("slc_cache.rearm", message, hint);
    Some(())
}

/// The most that can come free in the cache, where `slc_cache.rearm` waits for more.
pub(in crate::spec) fn most_rearm(values: &Values) -> Option<u64> {
    let flash = Flash::read(values)?;
    let rearm = u128::from(values.number("slc_cache.rearm")?);
    let parts = [borrowed(values).0, values.number("slc_cache.static_size")];
    let [lent, own] = parts.map(|size| size.map(|size| flash.slc_superblocks(size)));
    let design = design(values)?;
    let largest = match design.borrows {
        Borrows::All => flash.blocks,
        _ if !design.caches() => return None,
        _ => lent? + own?,
    };
    let above = largest > 0 && rearm.div_ceil(flash.slc_superblock()) > largest;
    let most = u64::try_from(largest * flash.slc_superblock()).ok()?;
    above.then_some(most)
}

/// Thousandths of each host byte that go through a full cache.
pub(in crate::spec) fn staged_milli(values: &Values) -> Option<u64> {
    let direct = values.number("slc_cache.direct_share")?.min(1000) as u32;
    Some(full_rule(values)?.keeps_up_milli(direct) as u64)
}

/// What flows through a full cache has to leave it as quickly.
fn when_full(found: &mut Findings<'_>) -> Option<()> {
    let rule = full_rule(found.values)?;
    let pace = found.values.number("fold.pace")?;
    let staged = staged_milli(found.values)?;
    let flows = design(found.values)?.caches() && rule.flows();
    if flows && pace < staged {
        let (leave, least) = (milli_text(pace), milli_text(staged));
        let (come, more) = match rule.shares {
            true => (format!("{least} come"), ""),
            false => (
                "one comes".to_owned(),
                "; what comes back needs more, like 1.5",
            ),
        };
        let message =
            format!("{leave} staged bytes leave the cache for each host byte, and {come} in");
        found.add(
            "fold.pace",
            message,
            format!("write at least {least}{more}"),
        );
    }
    Some(())
}

/// Shares lie between none and all.
fn shares(found: &mut Findings<'_>) -> Option<()> {
    let share = found.values.number("slc_cache.direct_share")?;
    if full_rule(found.values)?.shares && !(1..1000).contains(&share) {
        let message = format!(
            "with {} of the host data direct nothing is mixed",
            milli_text(share)
        );
        let hint = "write a share between 0 and 1, or `slc_cache.when_full` direct or staged";
        found.add("slc_cache.direct_share", message, hint);
    }
    let reclaim = found.values.number("slc_cache.reclaim")?;
    if reclaim >= 1000 {
        let message = format!(
            "{} of a superblock may be valid, so emptying it frees nothing",
            milli_text(reclaim)
        );
        found.add("slc_cache.reclaim", message, "write less than 1, like 0.5");
    }
    Some(())
}

/// Folding while data goes past the cache needs a rule by which data does so.
fn refill(found: &mut Findings<'_>) -> Option<()> {
    let design = design(found.values)?;
    let rule = full_rule(found.values)?;
    let pace = found.values.number("fold.rearm_pace")?;
    if pace > 0 && design.caches() && !rule.bypasses {
        let message = format!("folding while data goes direct, with `{}`", rule.name);
        let hint = "write `fold.rearm_pace = 0`, or `slc_cache.when_full = \"direct\"`";
        found.add("fold.rearm_pace", message, hint);
    }
    Some(())
}

/// Folding for free superblocks needs borrowed ones, and ends above where it begins.
fn background(found: &mut Findings<'_>) -> Option<()> {
    let (low, high) = (
        found.values.number("fold.low")?,
        found.values.number("fold.high")?,
    );
    let design = design(found.values)?;
    let mode = design.name;
    let lends = design.owns && tier::exists(found.values)?;
    if low > 0 && !lends && !design.lends() {
        let message = format!("{low} with mode `{mode}`: folding gives no superblock back");
        found.add("fold.low", message, "write `fold.low = 0`");
    }
    if low > 0 && high < low {
        let message = format!("folding ends at {high} free superblocks but begins below {low}");
        found.add("fold.high", message, format!("write at least {low}"));
    }
    Some(())
}

/// Lower pages can be filled first only where each page is programmed by itself, and where a
/// superblock spans all dies.
fn lower_pages(found: &mut Findings<'_>) -> Option<()> {
    if !design(found.values)?.lower_pages_first {
        return None;
    }
    if !matches!(
        found.values.entry("nand.native.tprog")?.datum,
        Datum::Times(_)
    ) {
        let message = "lower pages first, on a part that programs all pages of a wordline at once";
        let hint = "give `nand.native.tprog` a time for each page type, or choose another mode";
        found.add("slc_cache.mode", message, hint);
    }
    if Flash::read(found.values)?.groups > 1 {
        let message = "lower pages first go over all dies at once";
        let hint = "write `ftl.superblock_dies = 0`, or choose another `slc_cache.mode`";
        found.add("ftl.superblock_dies", message, hint);
    }
    Some(())
}

/// Checks read out what a copy inside the die would not; through the controller there is no such
/// copy.
fn checks(found: &mut Findings<'_>) -> Option<()> {
    let every = found.values.number("fold.check_every")?;
    if every > 0 && found.values.word("fold.path")? == "controller" {
        let message = "a fold through the controller checks all data already";
        let hint = "write `fold.check_every = 0`, or `fold.path = \"copyback\"`";
        found.add("fold.check_every", message, hint);
    }
    Some(())
}

/// Folding under pressure needs a cache that borrows, or one that all data goes through.
fn fold(found: &mut Findings<'_>) -> Option<()> {
    let design = design(found.values)?;
    let (mode, rule) = (design.name, full_rule(found.values)?);
    let borrows = design.lends() || (design.caches() && tier::exists(found.values)?);
    let why = if !design.caches() {
        "there is no cache to fold"
    } else {
        "own blocks give no room back"
    };
    let (reserve, pace) = (
        found.values.number("fold.reserve"),
        found.values.number("fold.pace"),
    );
    if let Some(reserve) = reserve.filter(|reserve| *reserve > 0 && !borrows) {
        let message = format!("{} with mode `{mode}`: {why}", human(reserve.into()));
        found.add("fold.reserve", message, "write `fold.reserve = 0`");
    }
    if pace.is_some_and(|pace| pace > 0) && !borrows && (!design.caches() || rule.bypasses) {
        let message = format!("folding under pressure with mode `{mode}`: {why}");
        found.add("fold.pace", message, "write `fold.pace = 0`");
    }
    if pace == Some(0) && borrows && !rule.flows() {
        let message = "0, but borrowed blocks have to come back before the drive is full";
        found.add(
            "fold.pace",
            message,
            "write how many cache bytes are folded a host byte, like 0.5",
        );
    }
    borrows.then(|| reserve_fits(found)).flatten()
}

/// With copyback data stays in the die; parity is computed from data in the controller.
fn copyback(found: &mut Findings<'_>) -> Option<()> {
    let parity = found.values.word("ftl.parity")? != "none";
    let borrowed = design(found.values)?.caches();
    if parity && borrowed && found.values.word("fold.path")? == "copyback" {
        let message = "a copy inside a die passes by the controller, which makes the parity";
        let hint = "write `fold.path = \"controller\"`, or `ftl.parity = \"none\"`";
        found.add("fold.path", message, hint);
    }
    Some(())
}

fn reserve_fits(found: &mut Findings<'_>) -> Option<()> {
    let room = Flash::read(found.values)?.native(found.values)?;
    let reserve = u128::from(found.values.number("fold.reserve")?);
    if reserve >= room {
        let message = format!("{} is all of the flash, {}", human(reserve), human(room));
        found.add(
            "fold.reserve",
            message,
            "lower it: folding would begin at the first byte",
        );
    }
    Some(())
}

/// Whether the cache has blocks of its own that nothing folds.
pub(in crate::spec) fn is_never_emptied(values: &Values) -> Option<bool> {
    let design = design(values)?;
    let never = values.entry("fold.idle_after")?.datum == Datum::Never;
    let rearms = values.number("fold.rearm_pace")? > 0;
    let kept = design.owns && !design.lends() && full_rule(values)?.bypasses;
    Some(kept && never && !rearms && !tier::exists(values)?)
}

/// A cache that is never emptied would be used once in a drive's life.
fn emptied(found: &mut Findings<'_>) -> Option<()> {
    let idle = &found.values.entry("fold.idle_after")?.datum;
    if !design(found.values)?.caches() && *idle != Datum::Never {
        let hint = "write `fold.idle_after = \"never\"`";
        found.add(
            "fold.idle_after",
            "folding on idle without a cache to fold",
            hint,
        );
    }
    if is_never_emptied(found.values)? {
        let hint = "write a time like \"30 s\", or `slc_cache.when_full` fold-first";
        found.add(
            "fold.idle_after",
            "nothing ever empties this static cache",
            hint,
        );
    }
    Some(())
}
