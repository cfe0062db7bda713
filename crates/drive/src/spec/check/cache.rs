//! Whether the SLC cache fits the flash, and whether its policies agree with each other.
//!
//! Rule: a key that contradicts the mode is an error (a size without a cache), one that only waits
//! for its switch is not (`rearm` while nothing goes direct), so that one `--set` can switch a
//! thing off.

use super::super::quantity::{human, milli_text};
use super::super::value::Datum;
use super::Findings;
use super::flash::Flash;

pub(super) fn check(found: &mut Findings<'_>) {
    sizes(found);
    fits(found);
    holds_a_superblock(found);
    cell(found);
    rearm(found);
    when_full(found);
    fold(found);
    copyback(found);
    emptied(found);
}

/// Each mode asks for its own parts and for no other.
fn sizes(found: &mut Findings<'_>) -> Option<()> {
    let mode = found.values.word("slc_cache.mode")?;
    let parts = [
        (
            "slc_cache.size",
            matches!(mode, "dynamic" | "hybrid"),
            "dynamic or hybrid",
        ),
        (
            "slc_cache.static_size",
            matches!(mode, "static" | "hybrid"),
            "static or hybrid",
        ),
    ];
    for (key, asked, modes) in parts {
        match found.values.number(key) {
            Some(0) if asked => {
                let message = format!("0, but a cache of mode `{mode}` has such a part");
                found.add(
                    key,
                    message,
                    "write its size, or choose another `slc_cache.mode`",
                );
            }
            Some(size) if size > 0 && !asked => {
                let message = format!(
                    "{} with mode `{mode}`, which has no such part",
                    human(size.into())
                );
                found.add(
                    key,
                    message,
                    format!("write `{key} = 0`, or `slc_cache.mode` {modes}"),
                );
            }
            _ => {}
        }
    }
    Some(())
}

/// User bytes of a cache take as many native bytes as the cell has bits.
fn fits(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let system = flash.system(found.values)?;
    let sizes = ["slc_cache.size", "slc_cache.static_size"].map(|key| found.values.number(key));
    let total: u128 = sizes.iter().flatten().map(|size| u128::from(*size)).sum();
    let room = flash.blocks.saturating_sub(system) * flash.superblock();
    let larger = if sizes[0] >= sizes[1] {
        "slc_cache.size"
    } else {
        "slc_cache.static_size"
    };
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
            format!("the largest possible is {}", human(room / flash.bits)),
        );
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
    let mode = found.values.word("slc_cache.mode")?;
    if found.values.word("nand.cell")? == "slc" && mode != "none" {
        let message = format!("mode `{mode}` on flash that has one bit a cell anyway");
        found.add(
            "slc_cache.mode",
            message,
            "write `slc_cache.mode = \"none\"`",
        );
    }
    Some(())
}

/// What has to come free is counted in superblocks, as the cache is.
fn rearm(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let rearm = u128::from(found.values.number("slc_cache.rearm")?);
    let size = |key: &str| {
        found
            .values
            .number(key)
            .map(|size| flash.slc_superblocks(size))
    };
    let largest = match found.values.word("slc_cache.mode")? {
        "none" => return None,
        "whole-drive" => flash.blocks,
        _ => size("slc_cache.size")? + size("slc_cache.static_size")?,
    };
    if largest > 0 && rearm.div_ceil(flash.slc_superblock()) > largest {
        let (least, most) = (human(rearm), human(largest * flash.slc_superblock()));
        let message =
            format!("{least} never come free in a cache of {most} ({largest} superblocks)");
        found.add("slc_cache.rearm", message, format!("write at most {most}"));
    }
    Some(())
}

fn when_full(found: &mut Findings<'_>) -> Option<()> {
    let (mode, rule) = (
        found.values.word("slc_cache.mode")?,
        found.values.word("slc_cache.when_full")?,
    );
    if mode == "none" && rule != "direct" {
        let message = format!("`{rule}` without a cache to fill");
        found.add(
            "slc_cache.when_full",
            message,
            "write `slc_cache.when_full = \"direct\"`",
        );
    }
    let pace = found.values.number("fold.pace")?;
    if mode != "none" && rule == "staged" && pace < 1000 {
        let message = format!(
            "{} staged bytes leave the cache a host byte, and one comes in",
            milli_text(pace)
        );
        found.add(
            "fold.pace",
            message,
            "write at least 1; what comes back needs more, like 1.5",
        );
    }
    Some(())
}

/// Folding under pressure needs a cache that borrows, or one that everything passes through.
fn fold(found: &mut Findings<'_>) -> Option<()> {
    let (mode, rule) = (
        found.values.word("slc_cache.mode")?,
        found.values.word("slc_cache.when_full")?,
    );
    let borrows = matches!(mode, "dynamic" | "hybrid" | "whole-drive");
    let why = if mode == "none" {
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
    if pace.is_some_and(|pace| pace > 0) && !borrows && (mode == "none" || rule == "direct") {
        let message = format!("folding under pressure with mode `{mode}`: {why}");
        found.add("fold.pace", message, "write `fold.pace = 0`");
    }
    if pace == Some(0) && borrows && rule != "staged" {
        let message = "0, but borrowed blocks have to come back before the drive is full";
        found.add(
            "fold.pace",
            message,
            "write how many cache bytes are folded a host byte, like 0.5",
        );
    }
    borrows.then(|| reserve_fits(found)).flatten()
}

/// Copyback keeps the data in the die, and parity is made of data in the controller.
fn copyback(found: &mut Findings<'_>) -> Option<()> {
    let parity = found.values.word("ftl.parity")? != "none";
    let borrowed = found.values.word("slc_cache.mode")? != "none";
    if parity && borrowed && found.values.word("fold.path")? == "copyback" {
        let message = "data that stays inside a die never meets the parity of its stripe";
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

/// A cache that nothing ever empties is used once in a drive's life.
fn emptied(found: &mut Findings<'_>) -> Option<()> {
    let (mode, rule) = (
        found.values.word("slc_cache.mode")?,
        found.values.word("slc_cache.when_full")?,
    );
    let idle = &found.values.entry("fold.idle_after")?.datum;
    let never = *idle == Datum::Never;
    if mode == "none" && !never {
        let hint = "write `fold.idle_after = \"never\"`";
        found.add(
            "fold.idle_after",
            "folding on idle without a cache to fold",
            hint,
        );
    }
    if mode == "static" && rule == "direct" && never {
        let hint = "write a time like \"30 s\", or `slc_cache.when_full` fold-first";
        found.add(
            "fold.idle_after",
            "nothing ever empties this static cache",
            hint,
        );
    }
    Some(())
}
