//! The controller and its firmware's handling of commands.

use super::{Key, Kind, count, fixed, policy, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::{ByteRate, Size, Time};

pub(super) const KEYS: &[Key] = &[
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
    fixed(
        "controller.plp",
        Kind::Flag,
        "false",
        "Power-loss protection: capacitors feed the programs of what is in the buffer, so that \
         what is acknowledged is durable and a flush has nothing to do.",
    )
    .or("false"),
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
        "controller.coalesce",
        Kind::Flag,
        "true",
        "A write of what still waits in the write buffer takes its place there: the older data is \
         never programmed.",
    )
    .or("false"),
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
        "controller.reads_first",
        count(1, 1_000_000),
        "8",
        "Reads that overtake at most before the first operation that waits for the same die, or \
         core, has its turn; waits while `read_priority` is false.",
    )
    .or("64"),
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
        "controller.cores",
        count(1, 64),
        "4",
        "Firmware cores: so many commands are understood side by side, `command_time` each.",
    )
    .or("1"),
    fixed(
        "controller.data_rate",
        quantity_or_zero(ByteRate),
        "\"600 MB/s\"",
        "What error correction and memory pass between controller and flash, all channels and both \
         directions together; 0 = as much as the channels carry.",
    )
    .or("0"),
    fixed(
        "controller.read_time",
        quantity_or_zero(Time),
        "\"5 us\"",
        "Firmware time of each flash read, whoever asks for it: a core has one flash operation in \
         hand at a time.",
    )
    .or("0"),
    fixed(
        "controller.program_time",
        quantity_or_zero(Time),
        "\"30 us\"",
        "Firmware time of each page row that a die programs, three in a one-shot program of TLC, \
         and of each erase.",
    )
    .or("0"),
    fixed(
        "controller.kib_time",
        quantity_or_zero(Time),
        "\"1 us\"",
        "Firmware time for each KiB that goes between controller and flash.",
    )
    .or("0"),
    fixed(
        "controller.move_time",
        quantity_or_zero(Time),
        "\"4 us\"",
        "Firmware time for each mapping unit that folding or collection moves: its entry of the \
         map is looked up and changed.",
    )
    .or("0"),
    fixed(
        "controller.trim_time",
        quantity_or_zero(Time),
        "\"50 us\"",
        "Firmware time of a TRIM beside `command_time`, whatever its length.",
    )
    .or("0"),
    fixed(
        "controller.trim_gb_time",
        quantity_or_zero(Time),
        "\"500 us\"",
        "Firmware time of a TRIM for each GB (10^9 bytes) that it covers.",
    )
    .or("0"),
    policy(
        "controller.trim_alone",
        Kind::Flag,
        "true",
        "A TRIM waits until all commands before it are done, and those after it wait for it \
         (SATA's unqueued TRIM); otherwise it takes one core's time beside them.",
    )
    .or("false"),
    policy(
        "controller.secure_erase",
        Kind::Word(&["block", "crypto"]),
        "\"crypto\"",
        "A secure erase erases every used block at once, or throws the keys away and erases blocks \
         as they are needed or the drive is idle.",
    )
    .or("\"block\""),
    fixed(
        "controller.end_to_end",
        Kind::Flag,
        "true",
        "8 B of check data go with every 512 B sector from link to flash: 1.6 % more on the \
         channels, and damage on the way is told instead of handed out.",
    )
    .or("false"),
];
