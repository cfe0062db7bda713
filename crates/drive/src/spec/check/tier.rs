//! Checks that there can be a second tier of the cache: it needs a cell mode between SLC and
//! native, and a first tier.

use super::super::quantity::human;
use super::super::value::Datum;
use super::super::values::Values;
use super::Findings;
use super::flash::Flash;
use crate::spec::keys::{NandNative, NandTier, SlcCache};

pub(super) fn check(found: &mut Findings<'_>) {
    bits(found);
    size(found);
}

/// Native bytes that the second tier takes.
pub(super) fn native_bytes(values: &Values) -> Option<u128> {
    let flash = Flash::read(values)?;
    let size = u128::from(values.of(SlcCache::tier_size)?);
    let bits = u128::from(values.of(NandTier::bits)?);
    Some(size * flash.bits / bits.max(1))
}

fn bits(found: &mut Findings<'_>) -> Option<()> {
    let bits = u128::from(found.values.of(NandTier::bits)?);
    if bits == 0 {
        return None;
    }
    let native = Flash::read(found.values)?.bits;
    let key = NandTier::bits;
    if bits < 2 || bits >= native {
        let message = format!("{bits} bits a cell do not lie between SLC and {native} bits");
        let hint = match native {
            0..=2 => "write `nand.tier.bits = 0`".to_owned(),
            3 => "write 2, or 0 for none".to_owned(),
            _ => format!("write 2 to {}, or 0 for none", native - 1),
        };
        found.add(key, message, hint);
    }
    let list = &found.values.entry(NandNative::tprog)?.datum;
    if matches!(list, Datum::Times(_)) {
        let message = "a second tier on a part that programs page by page";
        let hint = "give `nand.native.tprog` one time, or write `nand.tier.bits = 0`";
        found.add(key, message, hint);
    }
    Some(())
}

fn size(found: &mut Findings<'_>) -> Option<()> {
    let size = u128::from(found.values.of(SlcCache::tier_size)?);
    if size == 0 {
        return None;
    }
    let key = SlcCache::tier_size;
    let off = "write `slc_cache.tier_size = 0`";
    let design = SlcCache::read(found.values).mode?;
    if !design.caches() {
        let mode = design.name;
        let message = format!("a second tier, and no cache before it (mode `{mode}`)");
        found.add(key, message, format!("{off}, or another `slc_cache.mode`"));
    }
    let bits = u128::from(found.values.of(NandTier::bits)?);
    if bits == 0 {
        let message = "a second tier on a part without a mode for it";
        let hint = format!("{off}, or `nand.tier.bits` between 1 and those of the cell");
        found.add(key, message, hint);
        return None;
    }
    let least = Flash::read(found.values)?.slc_superblock() * bits;
    if size < least {
        let (size, least) = (human(size), human(least));
        let message = format!("{size} is less than one superblock of {bits} bits a cell, {least}");
        let hint = "a cache is counted in superblocks: write more, or 0";
        found.add(key, message, hint);
    }
    Some(())
}
