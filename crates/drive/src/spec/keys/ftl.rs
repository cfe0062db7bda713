//! The map, what never holds user data, and wear.

use flashtwin_ftl::policy::{Levelling, Parity, ReadOnlyAt, Residency};

use crate::spec::key::Kind::{Factor, Flag};
use crate::spec::key::{Key, Name, count, fixed, policy, section, size, time, words};
use crate::spec::mechanism::Case;
use crate::spec::words::{MapMode, PairedPages};

/// Weak and bad blocks can be all of them, but no more.
pub(in crate::spec) const PERCENT_MAX_MILLI: u64 = 100_000;

section! {
    /// The map and what never holds user data.
    Ftl in "ftl" {
        /// Smallest piece of data that the map points to; a power of two from 4 to 64 KiB.
        mapping_unit: u64 = fixed(size(), "4 KiB");
        /// Flash that never holds user data: system area, spares, bad blocks; counted in native
        /// mode. Parity too, where `ftl.parity` does not count it.
        system: u64 = fixed(size().or_zero(), "2 GB").scaled();
        /// Parity within a superblock (RAISE, RAIN): `stripe` makes one granule of each stripe,
        /// which is a granule on each die of the superblock, the exclusive-or of the others. It
        /// takes capacity and writes.
        parity: Parity = fixed(words::<Parity>(), "stripe").or("none");
        /// Padding in the cache fills pages of single planes, and later data takes the rest of the
        /// wordline; otherwise the wordline on all planes of a die is filled up.
        pad_pages: bool = policy(Flag, "true").or("false").waits(&[
                (Case::NoCache, "there is no cache (slc_cache.mode = none)"),
                (Case::HasParity, "parity covers wordlines of all planes (ftl.parity = stripe)"),
                (Case::Compresses, "compressed rows are filled up (compression.best_ratio)"),
            ]);
        /// Dies that a superblock spans, a divisor of all dies; 0 means all of them. With fewer
        /// there are more and smaller superblocks, and each stream keeps one open in each group of
        /// dies. Sizes in superblocks (`gc.low`, `gc.high`, `gc.reserve`) count these.
        superblock_dies: u64 = fixed(count(0, 4096), "4").or("0").off(&[Case::LowerPagesFirst]);
        /// Host data between checkpoints: the map is written to the system area in SLC mode, so
        /// that a start after a power cut reads only what was written since; 0 = none, it reads
        /// all.
        checkpoint: u64 = policy(size().or_zero(), "64 GB").or("0");
        /// Where a part programs page by page: `protected` backs the pages of a wordline up while
        /// another of them is programmed; with `lost` a power cut takes them too, and no page
        /// counts as durable before the last of its wordline is programmed.
        paired_pages: PairedPages = policy(words::<PairedPages>(), "lost").or("protected")
                .off(&[Case::LowerPagesFirst, Case::Compresses, Case::NativeMap])
                .waits(&[
                    (Case::OneShot,
                        "the part programs all pages of a wordline at once (nand.native.tprog)"),
                    (Case::HasCapacitors, "no program is torn (controller.plp = true)"),
                ]);
        /// Trims are journaled in the system area, and a flush writes the journal; otherwise data
        /// that was trimmed may come back after a power cut. Needs `ftl.checkpoint`.
        trim_journal: bool = policy(Flag, "true").or("false")
                .off(&[Case::NoCheckpoints])
                .waits(&[(Case::NoCheckpoints,
                    "each checkpoint ends the journal, and there are none (ftl.checkpoint = 0)")]);
    }
}

section! {
    /// Where the map from logical to physical units is, and what its parts on flash cost.
    Map in "map" {
        /// The whole map in the drive's DRAM; or on flash, read page by page into the controller's
        /// SRAM (drives without DRAM); or that with a second level in the host's memory (HMB).
        /// Every spec says which: a drive without DRAM is another drive.
        residency: Residency = policy(words::<Residency>(), "demand")
            .idle("demand")
            .off(&[Case::SataWithHostMemory]);
        /// SRAM for pages of the map where it is not in DRAM; a page is one mapping unit.
        cache: u64 = policy(size(), "1 MiB").or("1 MiB").scaled();
        /// Memory of the host that holds pages of the map, with `hmb`.
        hmb: u64 = policy(size(), "64 MiB").or("64 MiB").scaled();
        /// Round trip to the host's memory before the first byte of a page comes, with `hmb`.
        hmb_latency: u64 = policy(time(), "1.5 us").or("1.5 us");
        /// Bytes of a map entry: a page of 4 KiB with entries of 4 B reaches 1024 units.
        entry: u64 = policy(count(4, 64), "4").or("4");
        /// How the blocks that hold pages of the map are programmed, where it is not in DRAM.
        mode: MapMode = policy(words::<MapMode>(), "slc").or("slc");
        /// RAM for changes of entries whose pages are not in SRAM (8 B each): data moved by folding
        /// and collection. They wait there to be worked into their pages.
        journal: u64 = policy(size(), "64 KiB").or("64 KiB");
        /// A flush writes changed pages of the map back too, instead of leaving them to recovery.
        write_on_flush: bool = policy(Flag, "false").or("false");
        /// Changed pages of the map are written back after this time without a host command, once
        /// folding and collection have come to rest, or "never".
        idle_after: Option<u64> = policy(time().or_never(), "5 s").or("never");
    }
}

section! {
    /// Wear levelling, bad blocks and the end of life.
    Wear in "wear" {
        /// Which free superblock is written next: the last one freed, the first one freed, or the
        /// least worn.
        dynamic: Levelling = policy(words::<Levelling>(), "fifo").or("fifo");
        /// Resting data is moved once the superblock it lies in is this number of cycles behind the
        /// most worn one; 0 = never.
        static_threshold: u64 = policy(count(0, 1_000_000), "100").or("0");
        /// Blocks of each plane beside `nand.blocks_per_plane`, which take the places of bad ones.
        spares: u64 = fixed(count(0, 1_000_000), "8").or("0");
        /// Blocks that are bad from the factory, in percent; the seed says which. A superblock
        /// takes any good block of each plane, so the plane with the fewest decides how many there
        /// are.
        bad_percent: u64 = fixed(Factor, "0.4").or("0")
            .within(0..=PERCENT_MAX_MILLI, "{} in a hundred",
                "write at most 100");
        /// Blocks too weak for the native mode, in percent; the seed says which. They are put
        /// together into superblocks that serve the SLC cache only, or nothing where there is none.
        weak_percent: u64 = fixed(Factor, "2").or("0")
            .within(0..=PERCENT_MAX_MILLI, "{} in a hundred",
                "write at most 100");
        /// Programs of a block that fail in a million, at the end of its rated life. The data is
        /// programmed again elsewhere, and the block replaced by a spare or its superblock retired.
        program_failures: u64 = fixed(Factor, "20").or("0");
        /// Erases of a block that fail in a million, at the end of its rated life.
        erase_failures: u64 = fixed(Factor, "500").or("0");
        /// The power of wear (cycles over rated cycles) with which failures rise: 8 makes them 256
        /// times rarer at half the rated life, and as much more frequent at twice of it.
        failure_growth: u64 = fixed(count(0, 64), "8").or("8");
        /// When the drive can only be read: when retired superblocks have eaten what collection
        /// needs, before that when a plane has no spare left, or when mean wear is at its rating.
        read_only_at: ReadOnlyAt =
            policy(words::<ReadOnlyAt>(), "reserve-gone")
                .or("reserve-gone").off(&[Case::NoSparesToLose]);
    }
}
