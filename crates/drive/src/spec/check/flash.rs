//! Checks that the flash could be built, and that the advertised capacity fits into it.

use flashtwin_ftl::policy::Parity;
use flashtwin_nand::Variation;

use super::super::quantity::human;
use super::super::value::Datum;
use super::super::values::Values;
use super::wear::{lost, share};
use super::{Findings, map};
use crate::spec::keys::{
    Controller, Drive, Ftl, Gc, Name, Nand, NandNative, NandSlc, NandTier, NandVariation, SlcCache,
    Wear,
};
use crate::spec::words::Admitted;

/// The quickest operation takes at least this share of the mean time.
const LEAST_OF_MEAN: f64 = 0.05;

/// The layout in numbers wide enough for any product of them.
pub(in crate::spec) struct Flash {
    /// Dies of a superblock.
    dies: u128,
    /// Groups of dies that superblocks are cut from.
    pub groups: u128,
    pub planes: u128,
    /// Superblocks.
    pub blocks: u128,
    pub wordlines: u128,
    pub page: u128,
    pub bits: u128,
    /// Granules of each stripe that are parity: one or none.
    pub parity: u128,
}

impl Flash {
    /// None where a number is missing, or where there are too few dies for a stripe; other checks
    /// report that.
    pub fn read(values: &Values) -> Option<Flash> {
        let number = |key: Name<u64>| values.of(key).map(u128::from);
        let (all, dies) = (dies(values)?, superblock_dies(values)?);
        let flash = Flash {
            dies,
            groups: all / dies,
            planes: number(Nand::planes)?,
            blocks: number(Nand::blocks_per_plane)? * (all / dies),
            wordlines: number(Nand::wordlines_per_block)?,
            page: number(Nand::page_size)?,
            bits: bits(values)?,
            parity: u128::from(has_parity(values)?),
        };
        (all % dies == 0 && flash.dies > flash.parity).then_some(flash)
    }

    /// Dies of the drive.
    pub fn all_dies(&self) -> u128 {
        self.dies * self.groups
    }

    /// Bytes of data in a superblock in SLC mode.
    pub fn slc_superblock(&self) -> u128 {
        (self.dies - self.parity) * self.planes * self.wordlines * self.page
    }

    /// Bytes of a page of every plane of a die: what one program in SLC mode takes.
    pub fn row(&self) -> u128 {
        self.planes * self.page
    }

    /// Bytes of a block of every plane of every die in SLC mode.
    pub fn slc_blocks(&self) -> u128 {
        self.all_dies() * self.wordlines * self.row()
    }

    /// Bytes of data in a superblock in native mode.
    pub fn superblock(&self) -> u128 {
        self.slc_superblock() * self.bits
    }

    /// Bytes of all cells in native mode.
    pub fn raw(&self) -> u128 {
        self.dies * self.planes * self.wordlines * self.page * self.bits * self.blocks
    }

    /// Bytes of it that parity takes.
    pub fn spent_on_parity(&self) -> u128 {
        self.raw() - self.superblock() * self.blocks
    }

    /// Superblocks that the system takes; its key is in bytes of cells.
    pub fn system(&self, values: &Values) -> Option<u128> {
        let bytes = u128::from(values.of(Ftl::system)?);
        Some(bytes.div_ceil((self.raw() / self.blocks).max(1)))
    }

    /// SLC superblocks nearest to a size; the engine counts the cache in the same way.
    pub fn slc_superblocks(&self, bytes: u64) -> u128 {
        (u128::from(bytes) + self.slc_superblock() / 2) / self.slc_superblock()
    }

    /// Superblocks that stay for user data in native mode: neither system nor the cache's own or
    /// the map's.
    fn native_superblocks(&self, values: &Values) -> Option<u128> {
        let own = self.own(values)? + map::superblocks(values)?;
        let taken = self.system(values)? + own + self.unfit(values)?;
        Some(self.blocks.saturating_sub(taken))
    }

    /// Superblocks that bad and weak blocks may cost, beyond those weak ones that the cache's own
    /// part takes.
    fn unfit(&self, values: &Values) -> Option<u128> {
        let blocks = self.blocks / self.groups;
        let spares = u128::from(values.of(Wear::spares)?);
        let bad = lost(share(values, Wear::bad_percent)?, blocks + spares, spares);
        let weak = lost(share(values, Wear::weak_percent)?, blocks, 0) * self.groups;
        Some(bad * self.groups + weak.saturating_sub(self.own(values)?))
    }

    /// The same in bytes.
    pub fn native(&self, values: &Values) -> Option<u128> {
        Some(self.native_superblocks(values)? * self.superblock())
    }

    /// Superblocks of the cache's own.
    fn own(&self, values: &Values) -> Option<u128> {
        let cache = SlcCache::read(values);
        let size = if cache.mode?.owns {
            cache.static_size?
        } else {
            0
        };
        Some(self.slc_superblocks(size))
    }
}

fn dies(values: &Values) -> Option<u128> {
    let number = |key: Name<u64>| values.of(key).map(u128::from);
    Some(number(Nand::channels)? * number(Nand::dies_per_channel)?)
}

/// Dies that a superblock spans, as the key means them.
fn superblock_dies(values: &Values) -> Option<u128> {
    match values.of(Ftl::superblock_dies)? {
        0 => dies(values),
        some => Some(some.into()),
    }
}

fn has_parity(values: &Values) -> Option<bool> {
    Some(values.of(Ftl::parity)? == Parity::Stripe)
}

pub(in crate::spec) fn bits(values: &Values) -> Option<u128> {
    Some(values.of(Nand::cell)?.bits().into())
}

/// True if a wordline is programmed page by page and has more pages than one.
pub(in crate::spec) fn pages_one_by_one(values: &Values) -> Option<bool> {
    let listed = matches!(values.entry(NandNative::tprog)?.datum, Datum::Times(_));
    Some(listed && bits(values)? > 1)
}

/// Pages are 32-bit sizes in the engine, and no part comes near.
const PAGE_MAX: u64 = 1 << 20;

pub(super) fn check(found: &mut Findings<'_>) {
    page_types(found);
    mapping(found);
    codeword(found);
    units(found);
    sectors(found);
    groups(found);
    parity(found);
    variation(found);
    capacity(found);
}

/// Lists by page type are as long as the cell has bits.
fn page_types(found: &mut Findings<'_>) {
    let native = bits(found.values);
    let tier = found.values.of(NandTier::bits);
    let tier = tier.filter(|bits| *bits > 0).map(u128::from);
    let lists = [
        (NandSlc::tr, Some(1), "SLC mode"),
        (NandSlc::tprog, Some(1), "SLC mode"),
        (NandNative::tr, native, "the native mode"),
        (NandNative::tprog, native, "the native mode"),
        (NandTier::tr, tier, "the second tier"),
    ];
    for (key, bits, mode) in lists {
        let (Some(Datum::Times(times)), Some(bits)) = (found.values.of(key), bits) else {
            continue;
        };
        if times.len() as u128 != bits {
            let message = format!("{} times for {bits} page types of {mode}", times.len());
            found.add(key, message, format!("give one time, or a list of {bits}"));
        }
    }
}

fn codeword(found: &mut Findings<'_>) -> Option<()> {
    let bytes = found.values.of(Nand::codeword)?;
    if bytes > 0 && !(bytes.is_power_of_two() && (1 << 10..=64 << 10).contains(&bytes)) {
        let text = human(bytes.into());
        let message = format!("{text} is not a power of two from 1 to 64 KiB");
        found.add(Nand::codeword, message, "write 1, 2 or 4 KiB, or 0");
    }
    Some(())
}

fn mapping(found: &mut Findings<'_>) -> Option<()> {
    let page = found.values.of(Nand::page_size);
    if page.is_some_and(|page| page > PAGE_MAX) {
        let hint = format!("write at most {}", human(u128::from(PAGE_MAX)));
        found.add(Nand::page_size, "larger than any page", hint);
    }
    let unit = found.values.of(Ftl::mapping_unit)?;
    let text = human(unit.into());
    if !unit.is_power_of_two() || !(4 << 10..=64 << 10).contains(&unit) {
        let message = format!("{text} is not a power of two from 4 to 64 KiB");
        let hint = "write 4 KiB, 8 KiB, 16 KiB, 32 KiB or 64 KiB";
        found.add(Ftl::mapping_unit, message, hint);
        return None;
    }
    let planes = found.values.of(Nand::planes).unwrap_or(1);
    let fits_units = |page: u64| {
        let spans = unit.is_multiple_of(page) && (page * planes).is_multiple_of(unit);
        page.is_multiple_of(unit) || spans
    };
    if let Some(page) = page.filter(|&page| !fits_units(page)) {
        let page = human(page.into());
        let message = format!(
            "{page} is not a multiple of the mapping unit, {text}, nor do whole pages of \
             {planes} planes make up units"
        );
        let hint = "choose another page size or lower `ftl.mapping_unit`";
        found.add(Nand::page_size, message, hint);
    }
    for key in [Controller::write_buffer, Controller::read_ahead] {
        let partial = found.values.of(key).filter(|bytes| bytes % unit != 0);
        let Some(bytes) = partial else { continue };
        let message = format!(
            "{} is not whole mapping units of {text}",
            human(bytes.into())
        );
        found.add(key, message, format!("write a multiple of {text}"));
    }
    Some(())
}

/// Every group of dies is as large as the others.
fn groups(found: &mut Findings<'_>) -> Option<()> {
    let (all, dies) = (dies(found.values)?, superblock_dies(found.values)?);
    if all % dies != 0 {
        let message = format!("{dies} dies a superblock do not divide the {all} of the drive");
        let hint = format!("write a divisor of {all}, or 0 for all of them");
        found.add(Ftl::superblock_dies, message, hint);
    }
    Some(())
}

/// Parity needs a stripe of two granules or more.
fn parity(found: &mut Findings<'_>) -> Option<()> {
    if has_parity(found.values)? && superblock_dies(found.values)? == 1 {
        let message = "`stripe` on a single die: each stripe has one granule";
        let hint = "write `ftl.parity = \"none\"`, or let superblocks span more dies";
        found.add(Ftl::parity, message, hint);
    }
    Some(())
}

/// The spread of times leaves the quickest operation a share of the mean time.
fn variation(found: &mut Findings<'_>) -> Option<()> {
    let share = |key: Name<u64>| Some(found.values.of(key)? as f64 / 1000.0);
    let least = Variation::least(
        share(NandVariation::block)?,
        share(NandVariation::layer)?,
        share(NandVariation::program_wear)?,
    );
    if least < LEAST_OF_MEAN {
        let message = "the quickest programs would take next to no time";
        let hint = "3.5 times `block` and `layer` stay under 0.95 together; so does `program_wear`";
        found.add(NandVariation::block, message, hint);
    }
    Some(())
}

/// Map entries have 32 bits, one value of which stands for "nowhere".
fn units(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let unit = found.values.of(Ftl::mapping_unit)?;
    let units = flash.raw() / u128::from(unit);
    if units >= u128::from(u32::MAX) {
        let message = format!(
            "{} of flash are {units} units of {}, more than a 32-bit map can point to",
            human(flash.raw()),
            human(unit.into())
        );
        found.add(
            Ftl::mapping_unit,
            message,
            "raise `ftl.mapping_unit`, or describe less flash",
        );
    }
    Some(())
}

/// Bytes of the smallest piece that a host can address.
const SECTOR: u64 = 512;

fn sectors(found: &mut Findings<'_>) -> Option<()> {
    let capacity = found.values.of(Drive::capacity)?;
    if capacity % SECTOR != 0 {
        let hint = format!("write \"{} B\"", capacity / SECTOR * SECTOR);
        found.add(
            Drive::capacity,
            format!("not whole sectors of {SECTOR} B"),
            hint,
        );
    }
    Some(())
}

/// The capacity has to fit beside the flash that never holds host data.
fn capacity(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    let flash = Flash::read(values)?;
    let capacity = u128::from(values.of(Drive::capacity)?);
    if capacity > flash.raw() {
        let (holds, wants) = (human(flash.raw()), human(capacity));
        let message = format!("flash holds {holds} but the drive advertises {wants}");
        found.add(
            Drive::capacity,
            message,
            "lower `drive.capacity` or raise `nand.dies_per_channel`",
        );
        return None;
    }
    let held = u128::from(values.of(Gc::reserve)?) * flash.superblock();
    let room = room(values)?;
    if capacity > room {
        let message = format!(
            "flash holds {} but {} of it never hold user data (system {}, {}{}{}static cache {}, \
             reserve of garbage collection {}): {} are left and the drive advertises {}",
            human(flash.raw()),
            human(flash.raw() - room),
            human(values.of(Ftl::system)?.into()),
            match flash.spent_on_parity() {
                0 => String::new(),
                bytes => format!("parity {}, ", human(bytes)),
            },
            match map::superblocks(values)? {
                0 => String::new(),
                count => format!("map {}, ", human(count * flash.superblock())),
            },
            match flash.unfit(values)? {
                0 => String::new(),
                some => format!("bad and weak blocks {}, ", human(some * flash.superblock())),
            },
            human(flash.own(values)? * flash.superblock()),
            human(held),
            human(room),
            human(capacity)
        );
        found.add(Drive::capacity, message, room_hint(values)?);
        return None;
    }
    collectable(found, &flash, capacity)
}

/// Native bytes that can hold the host's data.
pub(in crate::spec) fn room(values: &Values) -> Option<u128> {
    let flash = Flash::read(values)?;
    let held = u128::from(values.of(Gc::reserve)?) * flash.superblock();
    Some(flash.native(values)?.saturating_sub(held))
}

/// Says how to make room for the host's data.
fn room_hint(values: &Values) -> Option<String> {
    let parity = match has_parity(values)? {
        true => ", write `ftl.parity = \"none\"`",
        false => "",
    };
    Some(format!(
        "lower `drive.capacity` or what is held back{parity}, or raise `nand.dies_per_channel`"
    ))
}

/// Garbage collection of a full drive has to be able to reach its goal, or it would never stop.
fn collectable(found: &mut Findings<'_>, flash: &Flash, capacity: u128) -> Option<()> {
    let high = u128::from(found.values.of(Gc::high)?);
    let superblocks = flash.native_superblocks(found.values)?;
    let spare = superblocks.saturating_sub(capacity.div_ceil(flash.superblock()));
    let cache = SlcCache::read(found.values);
    let cached = cache.mode?.caches();
    let parted = cache.when_full?.shares || cache.admit? != Admitted::All;
    let tier = u128::from(cache.tier_size? > 0);
    // Each stream may have one open on every group of dies: the host's one, or two where its data
    // goes two ways at once, one more with a second tier, folding's, collection's and levelling's.
    let extra = u128::from(super::gc::extra_streams(found.values)?);
    let levelled = u128::from(found.values.of(Wear::static_threshold)? > 0);
    let own = u128::from(cached) + u128::from(cached && parted) + tier + levelled;
    let open = flash.groups * (2 + extra + own);
    let at_work = u128::from(found.values.of(Gc::reserve)?) + open + 1;
    if spare < at_work {
        let message = format!(
            "a full drive leaves {spare} superblocks of {} beside its data: open ones, one being \
             erased and the reserve take {at_work}",
            human(flash.superblock())
        );
        found.add(
            Drive::capacity,
            message,
            "lower `drive.capacity` or `gc.reserve`",
        );
        return None;
    }
    let halts = super::gc::pacing(found.values)?.stops_host;
    let spare = if halts { spare - open } else { spare };
    if spare < high {
        let beside = if halts { " beside the open ones" } else { "" };
        let message = format!(
            "collection ends at {high} free superblocks but a full drive leaves {spare} of \
             {}{beside}",
            human(flash.superblock())
        );
        found.add(
            Gc::high,
            message,
            format!("write at most {spare}, or lower `drive.capacity`"),
        );
    }
    Some(())
}
