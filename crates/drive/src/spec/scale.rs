//! `--scale 1/16`: a smaller drive with the same dies, planes and ratios.
//!
//! What is divided: wordlines a block first, then blocks a plane, and with them every size that is
//! a share of the flash (the keys marked `scaled`; the SRAM for the map stays at the least that a
//! drive has to have). The erase time is divided with the wordlines,
//! or erasing would cost more a byte than in the drive itself. What stays: dies, planes, pages, all
//! other timings, rates, buffers, and everything counted in superblocks. Garbage collection on a
//! few dozen superblocks is another drive, so blocks are never divided below [`SUPERBLOCKS`] and
//! wordlines never below [`WORDLINES`] or what the write buffer asks for; a scale that cannot be
//! had is refused with those that can.

use super::check::map::PAGES_MIN;
use super::document::MOST_SOURCE;
use super::error::{Fault, Place, SpecError};
use super::keys::KEYS;
use super::printable::middle_out;
use super::quantity::Dimension;
use super::value::Datum;
use super::values::Values;
use crate::spec::keys::{Controller, Ftl, Map, Name, Nand};

/// Fewest superblocks to which the number of blocks is divided.
const SUPERBLOCKS: u64 = 500;
/// Fewest wordlines of a block.
const WORDLINES: u64 = 4;

/// How many times smaller: "1/16" is 16.
fn parse(text: &str) -> Result<u64, Fault> {
    let divisor = text.strip_prefix("1/").map(str::trim);
    let divisor = divisor.or((text.trim() == "1").then_some("1"));
    // Digits alone: `parse` takes a sign as well.
    let digits = divisor.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|text| text.parse::<u64>().ok()) {
        Some(n) if n >= 1 => Ok(n),
        _ => Err(Fault::new(
            format!("`{text}` is not a scale"),
            "write it like --scale 1/16",
        )),
    }
}

/// All divisors of a number, in pairs of one below its root and one above.
fn divisors(number: u64) -> Vec<u64> {
    let low = (1..=number.isqrt()).filter(|by| number.is_multiple_of(*by));
    low.flat_map(|by| [by, number / by]).collect()
}

/// The sizes that may be divided: wordlines a block, blocks a plane, and the fewest wordlines that
/// are left.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limits {
    wordlines: u64,
    blocks: u64,
    fewest_wordlines: u64,
}

impl Limits {
    pub(super) fn read(values: &Values) -> Option<Limits> {
        let number = |key| values.of(key);
        // Where a product does not fit into 64 bits, the checks refuse the drive.
        let dies = number(Nand::channels)?.checked_mul(number(Nand::dies_per_channel)?)?;
        let planes = dies.checked_mul(number(Nand::planes)?)?;
        let row = planes.checked_mul(number(Nand::page_size)?)?;
        let buffer = number(Controller::write_buffer)?;
        Some(Limits {
            wordlines: number(Nand::wordlines_per_block)?,
            blocks: number(Nand::blocks_per_plane)?,
            // The buffer has to be smaller than a superblock in SLC mode.
            fewest_wordlines: WORDLINES.max(buffer / row.max(1) + 1),
        })
    }

    /// The divisors of wordlines and blocks for a scale; wordlines as far as they can be divided.
    fn split(&self, divisor: u64) -> Option<(u64, u64)> {
        let wordlines = (1..=divisor.min(self.wordlines)).rev().find(|by| {
            divisor.is_multiple_of(*by)
                && self.wordlines.is_multiple_of(*by)
                && self.wordlines / by >= self.fewest_wordlines
        })?;
        let blocks = divisor / wordlines;
        let honest = blocks == 1
            || (self.blocks.is_multiple_of(blocks) && self.blocks / blocks >= SUPERBLOCKS);
        honest.then_some((wordlines, blocks))
    }

    /// The scales that this drive can have, the largest drive first.
    pub(super) fn possible(&self) -> Vec<u64> {
        let blocks = divisors(self.blocks);
        let mut scales: Vec<u64> = divisors(self.wordlines)
            .into_iter()
            .flat_map(|by| blocks.iter().map(move |blocks| by * blocks))
            .collect();
        scales.sort_unstable();
        scales.dedup();
        scales.retain(|by| *by > 1 && self.split(*by).is_some());
        scales
    }
}

/// How many times smaller a scale makes a drive; 1 where the text is no scale.
pub(super) fn divisor(text: &str) -> u64 {
    parse(text).unwrap_or(1)
}

/// Divides a drive's values; the errors are those of the option.
pub(super) fn apply(text: &str, values: &mut Values) -> Result<(), SpecError> {
    let place = Place::whole("--scale");
    let divisor = parse(text).map_err(|fault| fault.at(&place, ""))?;
    let Some(limits) = Limits::read(values) else {
        return Ok(());
    };
    let Some((wordlines, blocks)) = limits.split(divisor) else {
        return Err(refused(divisor, &limits).at(&place, ""));
    };
    divide(values, Nand::wordlines_per_block.name, wordlines);
    divide(values, Nand::blocks_per_plane.name, blocks);
    for key in KEYS.iter().filter(|key| key.name.ends_with(".tbers")) {
        divide(values, key.name, wordlines);
    }
    let given: Vec<Option<u64>> = MAP_SIZES.iter().map(|key| values.of(*key)).collect();
    for key in KEYS.iter().filter(|key| key.scaled) {
        divide(values, key.name, divisor);
    }
    let pages = values.of(Ftl::mapping_unit).unwrap_or(0) * PAGES_MIN;
    for (key, given) in MAP_SIZES.into_iter().zip(given) {
        raise(values, key.name, pages.min(given.unwrap_or(0)));
    }
    Ok(())
}

/// Sizes that hold pages of the map.
const MAP_SIZES: [Name<u64>; 2] = [Map::cache, Map::hmb];

/// Raises a divided value to the least that the checks accept.
fn raise(values: &mut Values, name: &str, least: u64) {
    let Some(mut entry) = values.entry(name).cloned() else {
        return;
    };
    if let Datum::Quantity(size, dimension) = entry.datum
        && size < least
    {
        entry.datum = Datum::Quantity(least, dimension);
        entry.source = format!("{}, {PAGES_MIN} pages at least (--scale)", entry.source);
        values.put(
            super::keys::position(name).expect("a key of the table"),
            entry,
        );
    }
}

fn refused(divisor: u64, limits: &Limits) -> Fault {
    let possible = limits.possible();
    let message = format!(
        "1/{divisor} cannot be had from {} wordlines a block (at least {} stay) and {} blocks a \
         plane (at least {SUPERBLOCKS} stay)",
        limits.wordlines, limits.fewest_wordlines, limits.blocks
    );
    let hint = match possible
        .iter()
        .rev()
        .find(|by| **by < divisor)
        .or(possible.last())
    {
        None => "this drive cannot be made smaller".to_owned(),
        Some(near) => format!(
            "try --scale 1/{near}; the smallest is 1/{}",
            possible.last().unwrap_or(near)
        ),
    };
    Fault::new(message, hint)
}

/// Divides one value; sizes stay whole sectors.
fn divide(values: &mut Values, name: &str, by: u64) {
    const SECTOR: u64 = 512;
    let nothing = |datum: &Datum| match datum {
        Datum::Quantity(size, _) => *size == 0,
        Datum::SizeByFill(points) => points.is_empty(),
        _ => false,
    };
    let entry = values
        .entry(name)
        .filter(|entry| by > 1 && !nothing(&entry.datum));
    let Some(mut entry) = entry.cloned() else {
        return;
    };
    entry.datum = match entry.datum {
        Datum::Count(count) => Datum::Count(count / by),
        Datum::Quantity(time, Dimension::Time) => {
            Datum::Quantity((time / by).max(1), Dimension::Time)
        }
        Datum::Quantity(size, dimension) => {
            Datum::Quantity((size / by / SECTOR * SECTOR).max(SECTOR), dimension)
        }
        Datum::SizeByFill(points) => Datum::SizeByFill(
            points
                .into_iter()
                .map(|(share, size)| (share, size / by))
                .collect(),
        ),
        other => other,
    };
    // The result may be written as a spec, in which the length of a source is bounded.
    let source = middle_out(&entry.source, MOST_SOURCE - 100, MOST_SOURCE / 2 - 60);
    entry.source = format!("{source}; divided by {by} (--scale)");
    entry.origin = "user";
    values.put(
        super::keys::position(name).expect("a key of the table"),
        entry,
    );
}
