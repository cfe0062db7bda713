//! The flash: geometry, timings, endurance.

use flashtwin_nand::part::Cell;

use crate::spec::key::Kind::{Factor, Flag, PageTimes};
use crate::spec::key::{Key, Name, bus_rate, count, fixed, section, size, time, words};
use crate::spec::mechanism::Case;
use crate::spec::value::Datum;

/// Fewer superblocks make garbage collection another thing than in a drive.
pub const SUPERBLOCKS_MIN: u32 = 8;

const READS_WAIT: &[(Case, &str)] = &[(
    Case::ReadsWait,
    "reads do not go first (controller.read_priority = false)",
)];

section! {
    /// The flash: geometry and what holds in every mode.
    Nand in "nand" {
        /// Buses between controller and flash.
        channels: u64 = fixed(count(1, 64), "4");
        /// Dies that share a bus.
        dies_per_channel: u64 = fixed(count(1, 64), "1");
        /// Planes of a die, operated together.
        planes: u64 = fixed(count(1, 16), "4");
        /// Usable blocks of a plane; one of each plane of each die makes a superblock, so this is
        /// their number.
        blocks_per_plane: u64 = fixed(count(SUPERBLOCKS_MIN, 1_000_000), "496");
        /// Wordlines of a block, a word line of each string counted as one: what is programmed at
        /// once on a plane.
        wordlines_per_block: u64 = fixed(count(2, 65_536), "704");
        /// User data of a page; a multiple of `ftl.mapping_unit`.
        page_size: u64 = fixed(size(), "16 KiB");
        /// Bits a cell in native mode: 1, 2, 3, 4.
        cell: Cell = fixed(words::<Cell>(), "tlc");
        /// Rate of a channel; a transfer is one byte.
        bus_rate: u64 = fixed(bus_rate(), "400 MT/s");
        /// The die takes the data of its next program while it programs; otherwise the two take
        /// turns.
        cache_program: bool = fixed(Flag, "false");
        /// Each plane of a die reads for itself: reads of pages on different planes, of any blocks,
        /// go on at the same time; otherwise a die does one read after another.
        independent_planes: bool = fixed(Flag, "true").or("false");
        /// User data of an ECC codeword, a power of two from 1 to 64 KiB: of a larger mapping unit
        /// a read moves the codewords that it needs over the channel; 0 = always whole units.
        codeword: u64 = fixed(size().or_zero(), "4 KiB").or("4 KiB");
    }
}

section! {
    /// Blocks in SLC mode.
    NandSlc in "nand.slc" {
        /// Time to read a page of a block in SLC mode.
        tr: Datum = fixed(PageTimes, "35 us");
        /// Time to program a wordline in SLC mode.
        tprog: Datum = fixed(PageTimes, "404.8 us");
        /// Time to erase a block in SLC mode.
        tbers: u64 = fixed(time(), "5 ms");
        /// Program/erase cycles that a block is rated for in SLC mode.
        endurance: u64 = fixed(count(1, 1_000_000_000), "40000");
    }
}

section! {
    /// Blocks in native mode.
    NandNative in "nand.native" {
        /// Time to read a page: one for all, or one for each page type, lower page first.
        tr: Datum = fixed(PageTimes, "[\"45 us\", \"60 us\", \"75 us\"]");
        /// Time to program: one value programs all pages of a wordline in one shot, a list programs
        /// page by page.
        tprog: Datum = fixed(PageTimes, "4.3 ms");
        /// Time of a second pass over a wordline (fine after foggy, as QLC does); 0 where
        /// `nand.native.tprog` is all. Needs one-shot programs.
        second_pass: u64 = fixed(time().or_zero(), "5 ms").or("0");
        /// Time of a third pass over a wordline; 0 where two are all.
        third_pass: u64 = fixed(time().or_zero(), "3 ms").or("0").off(&[Case::NoSecondPass]);
        /// Time of a fourth pass over a wordline; 0 where three are all.
        fourth_pass: u64 = fixed(time().or_zero(), "3 ms").or("0").off(&[Case::NoThirdPass]);
        /// Wordlines behind it that get their first pass before a wordline gets its second, and
        /// between any two passes. Their data stays in the controller meanwhile.
        pass_distance: u64 = fixed(count(0, 64), "1").or("1");
        /// The data crosses the channel again for each later pass; otherwise the die has kept it.
        pass_transfer: bool = fixed(Flag, "true").or("true");
        /// Time to erase a block in native mode.
        tbers: u64 = fixed(time(), "10 ms");
        /// Program/erase cycles that a block is rated for in native mode.
        endurance: u64 = fixed(count(1, 1_000_000_000), "1500");
    }
}

section! {
    /// Blocks in the second tier.
    NandTier in "nand.tier" {
        /// Bits a cell of blocks in the second tier of the cache: more than one, fewer than native;
        /// 0 = the part has no such mode. Needs one-shot programs.
        bits: u64 = fixed(count(0, 3), "2").or("0").off(&[Case::NoTierBetween]);
        /// Time to read a page of the second tier: one for all, or one for each page type.
        tr: Datum = fixed(PageTimes, "[\"45 us\", \"60 us\"]").or("50 us");
        /// Time to program a wordline of the second tier, all of its pages in one shot.
        tprog: Datum = fixed(time(), "1 ms").or("1 ms");
        /// Time to erase a block after use in the second tier.
        tbers: u64 = fixed(time(), "8 ms").or("10 ms");
        /// Program/erase cycles that a block is rated for in the second tier.
        endurance: u64 = fixed(count(1, 1_000_000_000), "6000").or("6000");
    }
}

section! {
    /// Program and erase suspend.
    NandSuspend in "nand.suspend" {
        /// A host read that finds its die programming suspends the program. Needs
        /// `controller.read_priority`.
        program: bool = fixed(Flag, "true").or("false").off(&[Case::ReadsWait]).waits(READS_WAIT);
        /// A host read that finds its die erasing suspends the erase.
        erase: bool = fixed(Flag, "true").or("false").off(&[Case::ReadsWait]).waits(READS_WAIT);
        /// Time from the suspension to an array that can read; the operation makes no progress in
        /// it.
        entry: u64 = fixed(time().or_zero(), "20 us").or("20 us");
        /// Time that an operation takes more each time that it goes on.
        penalty: u64 = fixed(time().or_zero(), "20 us").or("20 us");
        /// Times that one operation is suspended at most; then reads wait for its end.
        most: u64 = fixed(count(1, 1_000_000), "8").or("8");
        /// Reads that are served at most before a suspended operation goes on.
        reads: u64 = fixed(count(1, 1_000_000), "32").or("32");
    }
}

section! {
    /// How operations of one kind differ in time.
    NandVariation in "nand.variation" {
        /// Blocks differ in tR, tPROG and tBERS, each drawn for itself from the seed: the standard
        /// deviation, as a share of the mean; 0 = all alike.
        block: u64 = fixed(Factor, "0.03").or("0");
        /// Reads and programs take longer from wordline to wordline: the last one by this share
        /// beyond the mean, the first one as much less; 0 = all alike.
        layer: u64 = fixed(Factor, "0.08").or("0");
        /// Programs at the end of a block's rated life are shorter by this share.
        program_wear: u64 = fixed(Factor, "0.1").or("0");
        /// Erases at the end of a block's rated life are longer by this share.
        erase_wear: u64 = fixed(Factor, "1.5").or("0");
    }
}
