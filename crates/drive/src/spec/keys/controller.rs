//! The label, the controller, the host link, and what the drive says about itself.

use crate::config::{Acknowledge, Family, Flushing, LinkKind, SecureErase};
use crate::spec::key::Kind::{Factor, Flag};
use crate::spec::key::{Key, Name, count, fixed, policy, rate, section, size, time, words};
use crate::spec::mechanism::Case;
use crate::spec::words::{Fua, SataRate};

/// Ways with flushes that leave none to others.
const NO_GROUPS: &[(Case, &str)] = &[
    (
        Case::HasCapacitors,
        "flushes are answered from RAM (controller.plp = true)",
    ),
    (
        Case::Ungrouped,
        "flushes are not grouped (controller.flush)",
    ),
];

section! {
    /// The label.
    Drive in "drive" {
        /// Bytes that the host sees; whole sectors of 512 B.
        capacity: u64 = fixed(size(), "240 GB").scaled();
        /// Host bytes that the maker vouches for; 0 where the label says nothing.
        rated_tbw: u64 = fixed(size().or_zero(), "80 TB").or("0").scaled();
        /// Years of warranty, for full writes a day; 0 where the label says nothing.
        warranty_years: u64 = fixed(count(0, 20), "3").or("0");
        /// Native program/erase cycles that each block of a used drive has behind it when it is
        /// built, or as much of its rated life where it holds one bit a cell; 0 = a new drive.
        initial_cycles: u64 = fixed(count(0, 1_000_000_000), "750").or("0");
        /// Years, at most 50, that a used drive is old when it is built: SMART counts them among
        /// the hours that the power was on, and what the host writes until it has written the
        /// capacity once is taken for data of that age, kept at `errors.retention_temperature`; 0 =
        /// a new drive.
        initial_age: u64 = fixed(Factor, "3").or("0")
            .within(0..=50_000, "more than 50 years",
                "write less");
    }
}

section! {
    /// The controller and its firmware's handling of commands.
    Controller in "controller" {
        /// Firmware time a command, one after another.
        command_time: u64 = fixed(time().or_zero(), "6 us");
        /// Host data held until programmed; at least a native program of a die, less than an SLC
        /// superblock.
        write_buffer: u64 = fixed(size(), "1.5 MiB");
        /// Native programs that dies have in hand at once, all dies together, as a budget of power
        /// or of memory allows; 0 = as many as there are. Programs in SLC mode do not count.
        native_programs: u64 = fixed(count(0, 65_535), "8").or("0");
        /// A write is done when it is in the buffer, or when it is programmed.
        acknowledge: Acknowledge = policy(words::<Acknowledge>(), "write-back");
        /// Power-loss protection: capacitors feed the programs of what is in the buffer, so that
        /// what is acknowledged is durable and a flush has nothing to do.
        plp: bool = fixed(Flag, "false").or("false");
        /// Without capacitors a flush programs at once what waits in the buffer, padded; or flushes
        /// that wait together are one, one after another, with the writes that were queued before;
        /// or it does nothing: the drive answers at once, and what was acknowledged may be lost.
        flush: Flushing =
            policy(words::<Flushing>(), "group").or("program");
        /// A write with FUA is programmed, padded, at once, or answered as if a flush followed it;
        /// waits while `controller.flush` is not group.
        fua: Fua = policy(words::<Fua>(), "flush").or("program").waits(NO_GROUPS);
        /// Firmware time of a flush beside `command_time`: with capacitors until it is answered, in
        /// a group the time in which others join it.
        flush_time: u64 = fixed(time().or_zero(), "40 us").or("0");
        /// Pages of the map's journal that a group of flushes programs in SLC mode, one after
        /// another, once its data is on flash; waits while `controller.flush` is not group.
        flush_pages: u64 = policy(count(0, 16), "1").or("0").waits(NO_GROUPS);
        /// Small writes wait for each other until a program is full; otherwise each is padded.
        gather: bool = policy(Flag, "true").idle("false").off(&[Case::WritesThrough]);
        /// A partly filled program is padded after this time in which no write comes or waits;
        /// waits while `gather` is false.
        gather_time: u64 = policy(time().or_zero(), "100 ms");
        /// A write of what still waits in the write buffer takes its place there: the older data is
        /// never programmed.
        coalesce: bool = policy(Flag, "true").or("false");
        /// The host sends on while the buffer is programmed; otherwise the two take turns.
        overlap: bool = policy(Flag, "true");
        /// Reads overtake programs and erases that wait for the same die.
        read_priority: bool = policy(Flag, "true");
        /// Reads that overtake at most before the first operation that waits for the same die, or
        /// core, has its turn; waits while `read_priority` is false.
        reads_first: u64 = policy(count(1, 1_000_000), "8").or("64");
        /// Sequential streams that are recognised; 0 = no read-ahead.
        read_ahead_streams: u64 = policy(count(0, 256), "4").idle("0").off(&[Case::NoReadAhead]);
        /// Bytes read ahead of a stream; whole mapping units; waits while `read_ahead_streams` is
        /// 0.
        read_ahead: u64 = policy(size().or_zero(), "512 KiB");
        /// Firmware cores: each understands one command at a time, in `command_time`.
        cores: u64 = fixed(count(1, 64), "4").or("1");
        /// Data that error correction and memory pass between controller and flash, all channels
        /// and both directions together; 0 = as much as the channels carry.
        data_rate: u64 = fixed(rate().or_zero(), "600 MB/s").or("0");
        /// Firmware time of each flash read, whoever asks for it: a core has one flash operation in
        /// hand at a time.
        read_time: u64 = fixed(time().or_zero(), "5 us").or("0");
        /// Firmware time of each page row that a die programs, three in a one-shot program of TLC,
        /// and of each erase.
        program_time: u64 = fixed(time().or_zero(), "30 us").or("0");
        /// Firmware time for each KiB that goes between controller and flash.
        kib_time: u64 = fixed(time().or_zero(), "1 us").or("0");
        /// Firmware time for each mapping unit that folding or collection moves: its entry of the
        /// map is looked up and changed.
        move_time: u64 = fixed(time().or_zero(), "4 us").or("0");
        /// Firmware time of a TRIM beside `command_time`, whatever its length.
        trim_time: u64 = fixed(time().or_zero(), "50 us").or("0");
        /// Firmware time of a TRIM for each GB (10^9 bytes) that it covers.
        trim_gb_time: u64 = fixed(time().or_zero(), "500 us").or("0");
        /// A TRIM waits until all commands before it are done, and those after it wait for it
        /// (SATA's unqueued TRIM); otherwise it takes one core's time beside them.
        trim_alone: bool = policy(Flag, "true").or("false");
        /// A secure erase erases every used block at once, or throws the keys away and erases
        /// blocks as they are needed or the drive is idle.
        secure_erase: SecureErase = policy(words::<SecureErase>(), "crypto").or("block");
        /// 8 B of check data go with every 512 B sector from link to flash: 1.6 % more on the
        /// channels, and damage on the way is told instead of handed out.
        end_to_end: bool = fixed(Flag, "true").or("false");
        /// Work in the background (`fold.idle_after`, `gc.idle_after`, `map.idle_after`) begins and
        /// goes on while the host keeps the drive busy for less than this share of a window; 0 =
        /// only while no command is outstanding.
        idle_share: u64 = policy(Factor, "0.05").or("0")
            .within(0..=900, "more than 90 %, which leaves no time for work in the background",
                "write 0.9 or less");
        /// The window of `controller.idle_share`; waits while that is 0.
        idle_window: u64 = policy(time(), "1 s").or("100 ms").waits(&[
                (Case::OnlySilence,
                    "silence alone counts as idle time (controller.idle_share = 0)"),
            ]);
        /// Longest that collection, folding, flush and the map may keep a read, a write or a flush
        /// waiting, beyond what the other times of the spec ask. It changes nothing in the drive: a
        /// longer wait is told with its time and cause.
        longest_wait: u64 = fixed(time(), "2 s").or("2 s");
    }
}

section! {
    /// Compression of what is stored.
    Compression in "compression" {
        /// Times that the best compressible data is smaller on flash; 1 = nothing is compressed.
        best_ratio: u64 = fixed(count(1, 8), "2").or("1");
        /// Data that the compressing engine takes in from the host; 0 = as much as comes. Waits
        /// while `best_ratio` is 1.
        rate: u64 = fixed(rate().or_zero(), "500 MB/s").or("0");
    }
}

section! {
    /// The host link.
    Link in "link" {
        /// SATA sends in one direction at a time and takes 32 commands at most; NVMe sends both
        /// ways at once.
        kind: LinkKind = fixed(words::<LinkKind>(), "nvme").or("sata");
        /// Payload of the host link in one direction, as measured; 0 = what the raw link leaves
        /// after encoding and framing.
        rate: u64 = fixed(rate().or_zero(), "545 MB/s");
        /// Line rate of a SATA link, 8b/10b encoded.
        sata_rate: SataRate =
            fixed(words::<SataRate>(), "3 Gb/s").or("6 Gb/s");
        /// PCIe generation of an NVMe link: 2.5, 5, 8, 16, 32 GT/s a lane.
        pcie_generation: u64 = fixed(count(1, 5), "4").or("3");
        /// PCIe lanes of an NVMe link: 1, 2, 4, 8 or 16.
        pcie_lanes: u64 = fixed(count(1, 16), "2").or("4");
        /// Most data in a PCIe packet, which carries 24 B of framing beside it; a power of two from
        /// 128 B to 4 KiB.
        max_payload: u64 = fixed(size(), "512 B").or("256 B");
        /// Queues of an NVMe link, each of `queue_depth` commands; SATA has one.
        queues: u64 = fixed(count(1, 65_535), "8").or("1").off(&[Case::Sata]);
        /// Commands that a queue of the drive takes at once (NCQ: 32); at most 65,535 in all.
        queue_depth: u64 = fixed(count(1, 65_535), "32").idle("32").off(&[Case::DeepSata]);
        /// From the host's doorbell or frame until the firmware can see the command; commands
        /// overlap in it.
        submit_time: u64 = fixed(time().or_zero(), "1 us").or("0");
        /// From the end of a command in the drive until the host sees it; commands overlap in it.
        complete_time: u64 = fixed(time().or_zero(), "2 us").or("0");
        /// Link time that a read or a write takes beside its data: setup and status frames, queue
        /// entries.
        frame_time: u64 = fixed(time().or_zero(), "1.5 us").or("0");
        /// SATA: link time of the frame with which the drive asks for each 8 KiB of a write's data
        /// (DMA Activate); waits while `kind` is nvme.
        activate_time: u64 = fixed(time().or_zero(), "1.4 us").or("0");
    }
}

section! {
    /// The drive's own report of itself.
    Smart in "smart" {
        /// Whose SMART data it has: the NVMe health log, or the ATA attributes of a family; none =
        /// neither.
        family: Family =
            fixed(
                words::<Family>(),
                "micron",
            )
            .or("none");
    }
}
