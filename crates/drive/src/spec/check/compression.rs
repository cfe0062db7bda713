//! Checks that a drive that compresses has rows to pack into, and a buffer to pack from.

use flashtwin_ftl::policy::Residency;

use super::super::quantity::human;
use super::super::value::Datum;
use super::Findings;
use super::flash::Flash;
use crate::spec::keys::{Compression, Controller, Ftl, Map, Nand, NandNative};

/// With fewer units in a row packing would waste as much as it saves.
const ROW_UNITS_MIN: u128 = 4;
/// With fewer wordlines the rows that a mover has under way would fill a superblock.
const WORDLINES_MIN: u128 = 8;
/// The bytes of an operation are counted in eighths of a unit, as a 16-bit number.
const GRANULE_UNITS_MAX: u128 = (1 << 16) / 8 - 1;

pub(super) fn check(found: &mut Findings<'_>) -> Option<()> {
    let ratio = u128::from(found.values.of(Compression::best_ratio)?);
    if ratio == 1 {
        return None;
    }
    let flash = Flash::read(found.values)?;
    let unit = u128::from(found.values.of(Ftl::mapping_unit)?);
    let off = "or write `compression.best_ratio = 1`";
    if flash.planes * flash.page < ROW_UNITS_MIN * unit {
        let message = format!(
            "a page of every plane is {}, less than {ROW_UNITS_MIN} mapping units to pack",
            human(flash.planes * flash.page)
        );
        let hint = format!("lower `ftl.mapping_unit`, {off}");
        found.add(Compression::best_ratio, message, hint);
    }
    if flash.wordlines < WORDLINES_MIN {
        let message = format!(
            "blocks of {} wordlines are too small to pack",
            flash.wordlines
        );
        let hint = format!("raise `nand.wordlines_per_block`, {off}");
        found.add(Compression::best_ratio, message, hint);
    }
    if found.values.of(Map::residency)? != Residency::Dram {
        let message = "compressed units are not modelled with a map in pages";
        let hint = format!("write `map.residency = \"dram\"`, {off}");
        found.add(Compression::best_ratio, message, hint);
    }
    if found.values.of(NandNative::second_pass)? > 0 {
        let message = "compressed units are not modelled with programs in two passes";
        let hint = format!("write `nand.native.second_pass = 0`, {off}");
        found.add(Compression::best_ratio, message, hint);
    }
    let units = flash.raw() / unit * ratio;
    if units >= u128::from(u32::MAX) {
        let message = format!(
            "{} of flash are {units} compressed units, more than a 32-bit map can point to",
            human(flash.raw())
        );
        found.add(
            Compression::best_ratio,
            message,
            "lower it, or raise `ftl.mapping_unit`",
        );
    }
    let pages = match found.values.entry(NandNative::tprog)?.datum {
        Datum::Times(_) => 1,
        _ => flash.bits,
    };
    let granule = flash.planes * pages * flash.page;
    if granule / unit > GRANULE_UNITS_MAX {
        let message = format!("one program takes {}, too much to pack", human(granule));
        found.add(Nand::page_size, message, "lower it");
    }
    let buffer = u128::from(found.values.of(Controller::write_buffer)?);
    if buffer < granule * ratio {
        let message = format!(
            "{} is less than what compresses into one native program, {}",
            human(buffer),
            human(granule * ratio)
        );
        let hint = format!("write at least {}", human(granule * ratio));
        found.add(Controller::write_buffer, message, hint);
    }
    Some(())
}
