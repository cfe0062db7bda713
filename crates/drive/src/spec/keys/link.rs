//! The host link.

use super::{Key, Kind, count, fixed, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::{ByteRate, Size, Time};

pub(super) const KEYS: &[Key] = &[
    fixed(
        "link.kind",
        Kind::Word(&["sata", "nvme"]),
        "\"nvme\"",
        "SATA sends in one direction at a time and takes 32 commands at most; NVMe sends both ways \
         at once.",
    )
    .or("\"sata\""),
    fixed(
        "link.rate",
        quantity_or_zero(ByteRate),
        "\"545 MB/s\"",
        "Payload of the host link in one direction, as measured; 0 = what the raw link leaves \
         after encoding and framing.",
    ),
    fixed(
        "link.sata_rate",
        Kind::Word(&["1.5 Gb/s", "3 Gb/s", "6 Gb/s"]),
        "\"3 Gb/s\"",
        "Line rate of a SATA link, 8b/10b encoded.",
    )
    .or("\"6 Gb/s\""),
    fixed(
        "link.pcie_generation",
        count(1, 5),
        "4",
        "PCIe generation of an NVMe link: 2.5, 5, 8, 16, 32 GT/s a lane.",
    )
    .or("3"),
    fixed(
        "link.pcie_lanes",
        count(1, 16),
        "2",
        "PCIe lanes of an NVMe link: 1, 2, 4, 8 or 16.",
    )
    .or("4"),
    fixed(
        "link.max_payload",
        quantity(Size),
        "\"512 B\"",
        "Most data in a PCIe packet, which carries 24 B of framing beside it; a power of two from \
         128 B to 4 KiB.",
    )
    .or("\"256 B\""),
    fixed(
        "link.queues",
        count(1, 65_535),
        "8",
        "Queues of an NVMe link, each of `queue_depth` commands; SATA has one.",
    )
    .or("1"),
    fixed(
        "link.queue_depth",
        count(1, 65_535),
        "32",
        "Commands that a queue of the drive takes at once (NCQ: 32); at most 65,535 in all.",
    ),
    fixed(
        "link.submit_time",
        quantity_or_zero(Time),
        "\"1 us\"",
        "From the host's doorbell or frame until the firmware can see the command; commands \
         overlap in it.",
    )
    .or("0"),
    fixed(
        "link.complete_time",
        quantity_or_zero(Time),
        "\"2 us\"",
        "From the end of a command in the drive until the host sees it; commands overlap in it.",
    )
    .or("0"),
    fixed(
        "link.frame_time",
        quantity_or_zero(Time),
        "\"1.5 us\"",
        "Link time that a read or a write takes beside its data: setup and status frames, queue \
         entries.",
    )
    .or("0"),
    fixed(
        "link.activate_time",
        quantity_or_zero(Time),
        "\"1.4 us\"",
        "SATA: link time of the frame with which the drive asks for each 8 KiB of a write's data \
         (DMA Activate); waits while `kind` is nvme.",
    )
    .or("0"),
];
