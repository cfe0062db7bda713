//! Checks that a map that is not in DRAM has room, in RAM and on flash.

use flashtwin_ftl::policy::Residency;
use flashtwin_ftl::{JOURNAL_ENTRY_BYTES, pool_superblocks};

use super::super::quantity::human;
use super::super::value::Datum;
use super::super::values::Values;
use super::Findings;
use super::flash::Flash;
use crate::config::LinkKind;
use crate::spec::keys::{Drive, Ftl, Link, Map, NandNative};
use crate::spec::words::MapMode;

/// With fewer pages than commands under way, commands would evict each other's pages.
pub(in crate::spec) const PAGES_MIN: u64 = 16;
/// The journal holds the changes of a few granules at least, so that movers can go on.
const CHANGES_MIN: u64 = 512;
/// Granules of a superblock of map pages: with fewer, collecting one would write more than it
/// frees.
const GRANULES_MIN: u128 = 8;

pub(super) fn check(found: &mut Findings<'_>) {
    host(found);
    cache(found);
    journal(found);
    granules(found);
    passes(found);
}

/// True if the map is read page by page.
pub(in crate::spec) fn is_paged(values: &Values) -> Option<bool> {
    Some(values.of(Map::residency)? != Residency::Dram)
}

/// The memory of a host is within reach of NVMe drives only.
fn host(found: &mut Findings<'_>) -> Option<()> {
    let hmb = found.values.of(Map::residency)? == Residency::HostMemory;
    if hmb && found.values.of(Link::kind)? != LinkKind::Nvme {
        let message = "a SATA drive has no way to the host's memory";
        let hint = "write \"demand\" or \"dram\", or `link.kind = \"nvme\"`";
        found.add(Map::residency, message, hint);
    }
    Some(())
}

fn cache(found: &mut Findings<'_>) -> Option<()> {
    if !is_paged(found.values)? {
        return None;
    }
    let unit = found.values.of(Ftl::mapping_unit)?;
    let least = PAGES_MIN * unit;
    let hmb = found.values.of(Map::residency)? == Residency::HostMemory;
    for key in [Map::cache, Map::hmb] {
        let size = found.values.of(key).filter(|&size| size < least);
        let Some(size) = size.filter(|_| hmb || key.name == Map::cache.name) else {
            continue;
        };
        let message = format!(
            "{} holds less than {PAGES_MIN} pages of the map of {} each",
            human(size.into()),
            human(unit.into())
        );
        found.add(
            key,
            message,
            format!("write at least {}", human(least.into())),
        );
    }
    Some(())
}

fn journal(found: &mut Findings<'_>) -> Option<()> {
    let size = found.values.of(Map::journal)?;
    let least = CHANGES_MIN * JOURNAL_ENTRY_BYTES;
    if is_paged(found.values)? && size < least {
        let message = format!(
            "{} holds less than {CHANGES_MIN} changes",
            human(size.into())
        );
        found.add(
            Map::journal,
            message,
            format!("write at least {}", human(least.into())),
        );
    }
    Some(())
}

/// Bytes of a superblock and of a program in the mode of the map.
fn pool(values: &Values) -> Option<(u128, u128)> {
    let flash = Flash::read(values)?;
    let row = flash.planes * flash.page;
    if values.of(Map::mode)? == MapMode::Slc {
        return Some((flash.slc_superblock(), row));
    }
    let pages = match values.entry(NandNative::tprog)?.datum {
        Datum::Times(_) => 1,
        _ => flash.bits,
    };
    Some((flash.superblock(), row * pages))
}

fn granules(found: &mut Findings<'_>) -> Option<()> {
    let (superblock, granule) = pool(found.values)?;
    let granules = superblock / granule.max(1);
    if is_paged(found.values)? && granules < GRANULES_MIN {
        let message =
            format!("a superblock of map pages takes {granules} programs, too few to collect it");
        found.add(
            Map::residency,
            message,
            format!("describe flash with {GRANULES_MIN} or more, or write \"dram\""),
        );
    }
    Some(())
}

/// A map page cannot stay in RAM until later wordlines are written: it has to be on flash soon.
fn passes(found: &mut Findings<'_>) -> Option<()> {
    let native = found.values.of(Map::mode)? == MapMode::Native;
    if is_paged(found.values)? && native && found.values.of(NandNative::second_pass)? > 0 {
        let message = "map pages cannot wait for the second pass of their wordline";
        found.add(Map::mode, message, "write `map.mode = \"slc\"`");
    }
    Some(())
}

/// Superblocks that hold the map and nothing else.
pub(super) fn superblocks(values: &Values) -> Option<u128> {
    if !is_paged(values)? {
        return Some(0);
    }
    let unit = u128::from(values.of(Ftl::mapping_unit)?);
    let entries = unit / u128::from(values.of(Map::entry)?.max(1));
    let units = u128::from(values.of(Drive::capacity)?).div_ceil(unit.max(1));
    let (superblock, granule) = pool(values)?;
    let number = |n: u128| u64::try_from(n).ok();
    let pages = number(units.div_ceil(entries.max(1)))?;
    let in_units = |bytes: u128| number(bytes / unit.max(1));
    let count = pool_superblocks(pages, in_units(superblock)?, in_units(granule)?);
    Some(u128::from(count))
}
