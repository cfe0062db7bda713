//! The flash: geometry, timings, endurance.

use super::{Key, Kind, SUPERBLOCKS_MIN, count, fixed, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::{Size, Time, TransferRate};

pub(super) const KEYS: &[Key] = &[
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
        "nand.independent_planes",
        Kind::Flag,
        "true",
        "Each plane of a die reads for itself: reads of pages on different planes, of any blocks, \
         go on at the same time; otherwise a die does one read after another.",
    )
    .or("false"),
    fixed(
        "nand.codeword",
        quantity_or_zero(Size),
        "\"4 KiB\"",
        "User data of an ECC codeword, a power of two from 1 to 64 KiB: of a larger mapping unit a \
         read moves the codewords that it needs over the channel; 0 = always whole units.",
    )
    .or("\"4 KiB\""),
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
        "nand.native.second_pass",
        quantity_or_zero(Time),
        "\"5 ms\"",
        "Time of a second pass over a wordline (fine after foggy, as QLC does); 0 where \
         `nand.native.tprog` is all. Needs one-shot programs.",
    )
    .or("0"),
    fixed(
        "nand.native.third_pass",
        quantity_or_zero(Time),
        "\"3 ms\"",
        "Time of a third pass over a wordline; 0 where two are all.",
    )
    .or("0"),
    fixed(
        "nand.native.fourth_pass",
        quantity_or_zero(Time),
        "\"3 ms\"",
        "Time of a fourth pass over a wordline; 0 where three are all.",
    )
    .or("0"),
    fixed(
        "nand.native.pass_distance",
        count(0, 64),
        "1",
        "Wordlines behind it that get their first pass before a wordline gets its second, and \
         between any two passes. Their data stays in the controller meanwhile.",
    )
    .or("1"),
    fixed(
        "nand.native.pass_transfer",
        Kind::Flag,
        "true",
        "The data crosses the channel again for each later pass; otherwise the die has kept it.",
    )
    .or("true"),
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
        "nand.tier.bits",
        count(0, 3),
        "2",
        "Bits a cell of blocks in the second tier of the cache: more than one, fewer than native; \
         0 = the part has no such mode. Needs one-shot programs.",
    )
    .or("0"),
    fixed(
        "nand.tier.tr",
        Kind::PageTimes,
        "[\"45 us\", \"60 us\"]",
        "Time to read a page of the second tier: one for all, or one for each page type.",
    )
    .or("\"50 us\""),
    fixed(
        "nand.tier.tprog",
        quantity(Time),
        "\"1 ms\"",
        "Time to program a wordline of the second tier, all of its pages in one shot.",
    )
    .or("\"1 ms\""),
    fixed(
        "nand.tier.tbers",
        quantity(Time),
        "\"8 ms\"",
        "Time to erase a block after use in the second tier.",
    )
    .or("\"10 ms\""),
    fixed(
        "nand.tier.endurance",
        count(1, 1_000_000_000),
        "6000",
        "Program/erase cycles that a block is rated for in the second tier.",
    )
    .or("6000"),
];
