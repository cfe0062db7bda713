//! The one table of keys. Parsing, checking, the JSON Schema and the reference page follow from it.
//!
//! Invariants: every key has to be in every spec, own or inherited, so that nothing is decided
//! behind the reader's back; what a mode has no use for is written as 0. Order here is the order
//! of a printed spec.

use super::quantity::Dimension;

/// What a value has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number in a range.
    Count {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A size, time or rate with its unit.
    Quantity {
        /// What it measures.
        dimension: Dimension,
        /// 0 is allowed: none, or at once.
        zero: bool,
        /// The word "never" is allowed.
        never: bool,
    },
    /// One time, or a list of one for each page type, lower page first.
    PageTimes,
    /// A plain number with at most three decimals.
    Factor,
    /// true or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A key of the format.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// The form of its value.
    pub kind: Kind,
    /// A firmware decision, which a `[firmware.NAME]` profile may change.
    pub policy: bool,
    /// A value as it would be written, in TOML.
    pub example: &'static str,
    /// What it means, one or two sentences.
    pub meaning: &'static str,
}

const fn count(min: u32, max: u32) -> Kind {
    Kind::Count { min, max }
}

const fn quantity(dimension: Dimension) -> Kind {
    Kind::Quantity {
        dimension,
        zero: false,
        never: false,
    }
}

const fn quantity_or_zero(dimension: Dimension) -> Kind {
    Kind::Quantity {
        dimension,
        zero: true,
        never: false,
    }
}

const fn fixed(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        kind,
        policy: false,
        example,
        meaning,
    }
}

const fn policy(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        kind,
        policy: true,
        example,
        meaning,
    }
}

use Dimension::{ByteRate, Size, Time, TransferRate};

/// Fewer superblocks make garbage collection another thing than in a drive.
pub const SUPERBLOCKS_MIN: u32 = 8;

/// Every key, in the order of a printed spec.
pub const KEYS: &[Key] = &[
    fixed(
        "drive.capacity",
        quantity(Size),
        "\"240 GB\"",
        "Bytes that the host sees; whole sectors of 512 B.",
    ),
    fixed(
        "nand.channels",
        count(1, 64),
        "4",
        "Buses between controller and flash.",
    ),
    fixed(
        "nand.dies_per_channel",
        count(1, 64),
        "1",
        "Dies that share a bus.",
    ),
    fixed(
        "nand.planes",
        count(1, 16),
        "4",
        "Planes of a die, operated together.",
    ),
    fixed(
        "nand.blocks_per_plane",
        count(SUPERBLOCKS_MIN, 1_000_000),
        "496",
        "Usable blocks of a plane; one of each plane of each die makes a superblock, so this is \
         their number.",
    ),
    fixed(
        "nand.wordlines_per_block",
        count(2, 65_536),
        "704",
        "Wordlines of a block, a word line of each string counted as one: what is programmed at \
         once on a plane.",
    ),
    fixed(
        "nand.page_size",
        quantity(Size),
        "\"16 KiB\"",
        "User data of a page; a multiple of `ftl.mapping_unit`.",
    ),
    fixed(
        "nand.cell",
        Kind::Word(&["slc", "mlc", "tlc", "qlc"]),
        "\"tlc\"",
        "Bits a cell in native mode: 1, 2, 3, 4.",
    ),
    fixed(
        "nand.bus_rate",
        quantity(TransferRate),
        "\"400 MT/s\"",
        "Rate of a channel; a transfer is one byte.",
    ),
    fixed(
        "nand.cache_program",
        Kind::Flag,
        "false",
        "The die takes the data of its next program while it programs; otherwise the two take \
         turns.",
    ),
    fixed(
        "nand.slc.tr",
        Kind::PageTimes,
        "\"35 us\"",
        "Time to read a page of a block in SLC mode.",
    ),
    fixed(
        "nand.slc.tprog",
        Kind::PageTimes,
        "\"404.8 us\"",
        "Time to program a wordline in SLC mode.",
    ),
    fixed(
        "nand.slc.tbers",
        quantity(Time),
        "\"5 ms\"",
        "Time to erase a block in SLC mode.",
    ),
    fixed(
        "nand.slc.endurance",
        count(1, 1_000_000_000),
        "40000",
        "Program/erase cycles that a block is rated for in SLC mode.",
    ),
    fixed(
        "nand.native.tr",
        Kind::PageTimes,
        "[\"45 us\", \"60 us\", \"75 us\"]",
        "Time to read a page: one for all, or one for each page type, lower page first.",
    ),
    fixed(
        "nand.native.tprog",
        Kind::PageTimes,
        "\"4.3 ms\"",
        "Time to program: one value programs all pages of a wordline in one shot, a list programs \
         page by page.",
    ),
    fixed(
        "nand.native.tbers",
        quantity(Time),
        "\"10 ms\"",
        "Time to erase a block in native mode.",
    ),
    fixed(
        "nand.native.endurance",
        count(1, 1_000_000_000),
        "1500",
        "Program/erase cycles that a block is rated for in native mode.",
    ),
    fixed(
        "ftl.mapping_unit",
        quantity(Size),
        "\"4 KiB\"",
        "Smallest piece of data that the map points to; a power of two from 4 to 64 KiB.",
    ),
    fixed(
        "ftl.system",
        quantity_or_zero(Size),
        "\"2 GB\"",
        "Flash that never holds user data: system area, spares, bad blocks, parity; counted in \
         native mode.",
    ),
    policy(
        "slc_cache.mode",
        Kind::Word(&["none", "static", "dynamic", "hybrid", "whole-drive"]),
        "\"dynamic\"",
        "Where the cache takes its blocks: nowhere, own ones, borrowed free ones, own then \
         borrowed, any free one.",
    ),
    policy(
        "slc_cache.size",
        quantity_or_zero(Size),
        "\"24 GB\"",
        "User data in borrowed blocks at most; 0 for none, static and whole-drive.",
    ),
    policy(
        "slc_cache.static_size",
        quantity_or_zero(Size),
        "0",
        "User data in the cache's own blocks; 0 for none, dynamic and whole-drive.",
    ),
    policy(
        "slc_cache.when_full",
        Kind::Word(&["direct", "fold-first", "staged"]),
        "\"staged\"",
        "Host data past the cache: straight to native blocks, held until a superblock is folded, \
         or through SLC all the same while as much is folded out.",
    ),
    policy(
        "slc_cache.rearm",
        quantity_or_zero(Size),
        "\"2.4 GB\"",
        "Once full, the cache takes data again when so much of it can be opened.",
    ),
    policy(
        "fold.idle_after",
        Kind::Quantity {
            dimension: Time,
            zero: false,
            never: true,
        },
        "\"30 s\"",
        "Folding begins after so long without a host command, or \"never\".",
    ),
    policy(
        "fold.reserve",
        quantity_or_zero(Size),
        "\"30 GB\"",
        "Native bytes still free at which folding under pressure begins; 0 = only when nothing \
         else is left.",
    ),
    policy(
        "fold.pace",
        Kind::Factor,
        "1.5",
        "Cache bytes folded a host byte under pressure, at least 1 where all is staged; 0 where \
         nothing folds under pressure.",
    ),
    policy(
        "fold.path",
        Kind::Word(&["copyback", "controller"]),
        "\"controller\"",
        "Folded data stays inside the die, or crosses the channel to the controller and back.",
    ),
    policy(
        "gc.policy",
        Kind::Word(&["greedy"]),
        "\"greedy\"",
        "Which superblock is collected: the one with the least valid data.",
    ),
    policy(
        "gc.low",
        count(1, 1_000_000),
        "4",
        "Collection begins when fewer superblocks are free.",
    ),
    policy(
        "gc.high",
        count(1, 1_000_000),
        "6",
        "Collection ends when so many superblocks are free.",
    ),
    policy(
        "gc.reserve",
        count(2, 1_000_000),
        "3",
        "Superblocks that the host never gets: collection and folding need them to finish.",
    ),
    fixed(
        "controller.command_time",
        quantity_or_zero(Time),
        "\"6 us\"",
        "Firmware time a command, one after another.",
    ),
    fixed(
        "controller.write_buffer",
        quantity(Size),
        "\"1.5 MiB\"",
        "Host data held until programmed; at least a native program of a die, less than an SLC \
         superblock.",
    ),
    policy(
        "controller.acknowledge",
        Kind::Word(&["write-back", "write-through"]),
        "\"write-back\"",
        "A write is done when it is in the buffer, or when it is programmed.",
    ),
    policy(
        "controller.gather",
        Kind::Flag,
        "true",
        "Small writes wait for each other until a program is full; otherwise each is padded.",
    ),
    policy(
        "controller.gather_time",
        quantity_or_zero(Time),
        "\"100 ms\"",
        "A partly filled program is padded after so long without a write; waits while `gather` is \
         false.",
    ),
    policy(
        "controller.overlap",
        Kind::Flag,
        "true",
        "The host sends on while the buffer is programmed; otherwise the two take turns.",
    ),
    policy(
        "controller.read_priority",
        Kind::Flag,
        "true",
        "Reads overtake programs and erases that wait for the same die.",
    ),
    policy(
        "controller.read_ahead_streams",
        count(0, 256),
        "4",
        "Sequential streams that are recognised; 0 = no read-ahead.",
    ),
    policy(
        "controller.read_ahead",
        quantity_or_zero(Size),
        "\"512 KiB\"",
        "Bytes read ahead of a stream; whole mapping units; waits while `read_ahead_streams` is 0.",
    ),
    fixed(
        "link.rate",
        quantity(ByteRate),
        "\"545 MB/s\"",
        "Payload of the host link, one direction at a time.",
    ),
    fixed(
        "link.queue_depth",
        count(1, 32),
        "32",
        "Commands that the drive takes at once (NCQ: 32).",
    ),
];

/// Text keys above the sections: name, meaning.
pub const HEADER: &[(&str, &str)] = &[
    ("schema", "Version of this format: 1."),
    (
        "id",
        "Name in the catalogue and in run directories: lower-case letters, digits, `-`, `_`, `.`.",
    ),
    ("name", "Name for people."),
    (
        "description",
        "What the reader should know; also in a profile.",
    ),
    (
        "extends",
        "The id or the path of a drive whose values and profiles hold where this file says \
         nothing.",
    ),
    (
        "firmware",
        "With `extends`: the profile of that drive that is switched on. As `[firmware.NAME]`: a \
         profile of this drive.",
    ),
    (
        "origin",
        "Origin of every value of this file that does not name its own.",
    ),
    (
        "source",
        "Source of every value of this file that does not name its own.",
    ),
];

/// The version of the format.
pub const SCHEMA: u64 = 1;

/// Where a value may come from, and what the word promises.
pub const ORIGINS: &[(&str, &str)] = &[
    ("datasheet", "the part's own document"),
    ("published", "printed by the source"),
    ("computed", "follows from published figures"),
    ("prior", "usual in the field, no source for this drive"),
    ("fitted", "chosen so that the drive's outcomes come out"),
    ("user", "changed with `--set`"),
];

/// Place of a key in the table.
#[must_use]
pub fn position(name: &str) -> Option<usize> {
    KEYS.iter().position(|key| key.name == name)
}

/// Whether keys lie under this path ("nand", "nand.slc").
#[must_use]
pub fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| {
        key.name
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The section a key stands in ("nand.slc" for `nand.slc.tr`).
#[must_use]
pub fn section_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(section, _)| section)
}

/// Every section once, in order.
#[must_use]
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = KEYS.iter().map(|key| section_of(key.name)).collect();
    sections.dedup();
    sections
}

/// Names of all keys, or of the policy keys alone.
pub fn names(policy_only: bool) -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter()
        .filter(move |key| key.policy || !policy_only)
        .map(|key| key.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_sections_stand_together() {
        let mut seen: Vec<&str> = names(false).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), KEYS.len());
        let mut once = sections();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), sections().len());
    }
}
