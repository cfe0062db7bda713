//! Checks that the controller's policies agree with each other and with the flash.

use flashtwin_ftl::checkpoint_rows;
use flashtwin_ftl::policy::{Residency, Worn};

use super::super::quantity::human;
use super::super::value::Datum;
use super::Findings;
use super::flash::Flash;
use crate::config::Acknowledge;
use crate::spec::keys::{Compression, Controller, Drive, Ftl, Map, NandNative, SlcCache};
use crate::spec::words::{Admitted, MapMode, PairedPages};

pub(super) fn check(found: &mut Findings<'_>) {
    gathering(found);
    read_ahead(found);
    buffer(found);
    checkpoint(found);
    between_passes(found);
    pairs(found);
}

fn gathering(found: &mut Findings<'_>) -> Option<()> {
    let gather = found.values.of(Controller::gather)?;
    if gather && found.values.of(Controller::acknowledge) == Some(Acknowledge::WriteThrough) {
        let message = "a write-through drive cannot let small writes wait for each other";
        let hint =
            "write `controller.gather = false`, or `controller.acknowledge = \"write-back\"`";
        found.add(Controller::gather, message, hint);
    }
    if gather && found.values.of(Controller::gather_time)? == 0 {
        let message = "0 pads a write at once, but `gather` lets it wait";
        let hint = "write a time like \"100 ms\", or `controller.gather = false`";
        found.add(Controller::gather_time, message, hint);
    }
    Some(())
}

fn read_ahead(found: &mut Findings<'_>) -> Option<()> {
    let streams = found.values.of(Controller::read_ahead_streams)?;
    if streams > 0 && found.values.of(Controller::read_ahead)? == 0 {
        let message = format!("0 bytes for {streams} streams");
        let hint = "write a size like \"512 KiB\", or `controller.read_ahead_streams = 0`";
        found.add(Controller::read_ahead, message, hint);
    }
    Some(())
}

/// The system area is a ring of blocks in SLC mode. A checkpoint counts until the next one is
/// complete, so two of them are in it, with the journal between them; and a block of each die is
/// erased at once before it is written again, so that nothing in there may count any more.
fn checkpoint(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    if values.of(Ftl::checkpoint)? == 0 {
        return None;
    }
    let flash = Flash::read(values)?;
    let unit = values.of(Ftl::mapping_unit)?;
    let units = values.of(Drive::capacity)?.div_ceil(unit.max(1));
    let row = u64::try_from(flash.row()).ok().filter(|&row| row > 0)?;
    let map = u128::from(checkpoint_rows(units, row)) * flash.row();
    let journal = match values.of(Ftl::trim_journal)? {
        true => flash.row(),
        false => 0,
    };
    let blocks = flash.slc_blocks();
    let least = 2 * map + journal + blocks;
    // A superblock of the system has no parity: its rows go round all the dies.
    let superblock = blocks / flash.groups;
    let room = flash.system(values)? * superblock;
    if room >= least {
        return None;
    }
    let message = format!(
        "a checkpoint of {units} map entries takes {}; two of them, {}and the blocks being erased, \
         {}, take {} in SLC mode, and the system area has {}",
        human(map),
        match journal {
            0 => String::new(),
            row => format!("a row of the journal of trims, {}, ", human(row)),
        },
        human(blocks),
        human(least),
        human(room)
    );
    let needed = least.div_ceil(superblock);
    let hint = format!(
        "write `ftl.system = \"{} B\"`, {needed} superblocks, or more, or `ftl.checkpoint = 0`",
        needed * superblock * flash.bits
    );
    found.add(Ftl::system, message, hint);
    Some(())
}

/// The buffer holds one program at least, and less than a superblock.
fn buffer(found: &mut Findings<'_>) -> Option<()> {
    let flash = Flash::read(found.values)?;
    let buffer = u128::from(found.values.of(Controller::write_buffer)?);
    let pages = match found.values.entry(NandNative::tprog)?.datum {
        Datum::Times(_) => 1,
        _ => flash.bits,
    };
    let granule = flash.planes * pages * flash.page;
    if buffer < granule {
        let message = format!(
            "{} is less than one native program of a die, {}",
            human(buffer),
            human(granule)
        );
        found.add(
            Controller::write_buffer,
            message,
            format!("write at least {}", human(granule)),
        );
    }
    if buffer >= flash.slc_superblock() {
        let most = human(flash.slc_superblock());
        let message = format!(
            "{} is not smaller than a superblock in SLC mode, {most}",
            human(buffer)
        );
        found.add(
            Controller::write_buffer,
            message,
            format!("write less than {most}"),
        );
    }
    Some(())
}

/// Data for native cells stays in the buffer until the last pass of its wordline, on every die. The
/// buffer has to have room for more data beside it: a second pass comes once later wordlines are
/// written.
fn between_passes(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    let flash = Flash::read(values)?;
    let passes = [
        NandNative::second_pass,
        NandNative::third_pass,
        NandNative::fourth_pass,
    ];
    let [second, third, fourth] = passes.map(|pass| values.of(pass));
    let (second, third, fourth) = (second?, third?, fourth?);
    for (key, time, before) in [(passes[1], third, second), (passes[2], fourth, third)] {
        if time > 0 && before == 0 {
            let hint = "write the times of the passes before it too";
            found.add(key, "a later pass without the one before it", hint);
            return None;
        }
    }
    if second == 0 {
        return None;
    }
    let later = 1 + u128::from(third > 0) + u128::from(fourth > 0);
    if matches!(values.entry(NandNative::tprog)?.datum, Datum::Times(_)) {
        let message = "a part that programs page by page has no second pass";
        let hint = "write one time for `nand.native.tprog`, or `nand.native.second_pass = 0`";
        found.add(NandNative::second_pass, message, hint);
        return None;
    }
    let distance = u128::from(values.of(NandNative::pass_distance)?);
    if distance >= flash.wordlines {
        let message = format!("{distance} wordlines of a block of {}", flash.wordlines);
        let hint = format!("write less than {}", flash.wordlines);
        found.add(NandNative::pass_distance, message, hint);
        return None;
    }
    let cache = SlcCache::read(values);
    let rule = cache.when_full?;
    let staged = !rule.bypasses && !rule.shares;
    // At a fill where the cache has no size, data goes past it.
    let table = !cache.size_by_fill?.is_empty() || cache.worn? != Worn::Keep;
    if staged && !table && cache.admit? == Admitted::All {
        return None;
    }
    let granule = flash.planes * flash.bits * flash.page;
    // Hot and cold data wait in granules of their own.
    let streams = 1 + u128::from(super::gc::extra_host_streams(values)?);
    let least = streams * ((later * distance + 1) * flash.all_dies() + 1) * granule;
    let buffer = u128::from(values.of(Controller::write_buffer)?);
    if buffer < least {
        let message = format!(
            "{} do not hold the data between the passes of a wordline on {} dies, {}",
            human(buffer),
            flash.all_dies(),
            human(least)
        );
        let hint = format!("write at least {}, or a smaller distance", human(least));
        found.add(Controller::write_buffer, message, hint);
    }
    Some(())
}

/// A page can be lost by the program of another page of its wordline only where pages are
/// programmed one by one. It stays in the buffer until its wordline is full.
fn pairs(found: &mut Findings<'_>) -> Option<()> {
    let values = found.values;
    if values.of(Ftl::paired_pages)? != PairedPages::Lost {
        return None;
    }
    let flash = Flash::read(values)?;
    let paged =
        values.of(Map::residency)? != Residency::Dram && values.of(Map::mode)? == MapMode::Native;
    let (why, other) = if SlcCache::read(values).mode?.lower_pages_first {
        let why = "a drive that fills lower pages first has to protect them";
        (why, "another `slc_cache.mode`")
    } else if values.of(Compression::best_ratio)? > 1 {
        let why = "compressed data does not wait for other pages of its wordline";
        (why, "`compression.best_ratio = 1`")
    } else if paged {
        let why = "map pages cannot wait for other pages of their wordline";
        (why, "`map.mode = \"slc\"`")
    } else {
        ("", "")
    };
    if !why.is_empty() {
        let hint = format!("write `ftl.paired_pages = \"protected\"`, or {other}");
        found.add(Ftl::paired_pages, why, hint);
        return None;
    }
    let streams = 1 + u128::from(super::gc::extra_host_streams(values)?);
    let least = streams * (flash.bits * flash.all_dies() + 1) * flash.planes * flash.page;
    let buffer = u128::from(values.of(Controller::write_buffer)?);
    if buffer < least {
        let message = format!(
            "{} do not hold the pages of a wordline on {} dies, {}",
            human(buffer),
            flash.all_dies(),
            human(least)
        );
        let hint = format!("write at least {}", human(least));
        found.add(Controller::write_buffer, message, hint);
    }
    Some(())
}
