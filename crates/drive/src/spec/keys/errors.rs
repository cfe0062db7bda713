//! Bit errors, what corrects them, and refresh.

use super::{Key, Kind, count, fixed, policy, quantity};
use crate::spec::quantity::Dimension::Time;

pub(super) const KEYS: &[Key] = &[
    fixed(
        "errors.correctable",
        count(0, 4096),
        "72",
        "Wrong bits a KiB that a first decode corrects; 0 leaves bit errors out altogether.",
    )
    .or("0"),
    fixed(
        "errors.page_spread",
        Kind::Factor,
        "0.3",
        "Pages have up to this share more or fewer wrong bits than the average one.",
    )
    .or("0"),
    fixed(
        "errors.wear_power",
        Kind::Factor,
        "1.5",
        "The power of wear (cycles over rated cycles) with which wrong bits rise.",
    )
    .or("1.5"),
    fixed(
        "errors.retention_power",
        Kind::Factor,
        "0.5",
        "The power of time with which wrong bits rise.",
    )
    .or("0.5"),
    fixed(
        "errors.retry_steps",
        count(0, 32),
        "8",
        "Steps of the read-retry ladder before a soft decode.",
    )
    .or("8"),
    fixed(
        "errors.retry_gain",
        Kind::Factor,
        "1.5",
        "How many times fewer wrong bits each step finds.",
    )
    .or("1.5"),
    fixed(
        "errors.retry_time",
        quantity(Time),
        "\"80 us\"",
        "Time of a step on the die: sense, transfer, decode.",
    )
    .or("\"80 us\""),
    fixed(
        "errors.soft_gain",
        Kind::Factor,
        "2",
        "How many times more wrong bits a soft decode corrects.",
    )
    .or("2"),
    fixed(
        "errors.soft_time",
        quantity(Time),
        "\"400 us\"",
        "Time of the further senses of a soft decode.",
    )
    .or("\"400 us\""),
    policy(
        "errors.refresh_at",
        Kind::Factor,
        "0.8",
        "Share of the correctable bits at which data is written anew; 0 = never.",
    )
    .or("0"),
    policy(
        "errors.rebuild",
        Kind::Flag,
        "true",
        "What the code cannot correct is made anew from the other granules of its stripe and \
         moved. Needs `ftl.parity` and `errors.correctable`.",
    )
    .or("false"),
    fixed(
        "errors.slc.fresh",
        Kind::Factor,
        "0.001",
        "Wrong bits a KiB of new cells in SLC mode.",
    )
    .or("0.001"),
    fixed(
        "errors.slc.wear",
        Kind::Factor,
        "1",
        "Wrong bits a KiB added in SLC mode at the end of the rated life.",
    )
    .or("1"),
    fixed(
        "errors.slc.retention",
        Kind::Factor,
        "2",
        "Wrong bits a KiB added in SLC mode by a year at the end of the rated life.",
    )
    .or("2"),
    fixed(
        "errors.slc.disturb",
        Kind::Factor,
        "1",
        "Wrong bits a KiB added in SLC mode by a million reads of a block at the end of the rated \
         life.",
    )
    .or("1"),
    fixed(
        "errors.native.fresh",
        Kind::Factor,
        "0.1",
        "Wrong bits a KiB of new cells in native mode.",
    )
    .or("0.1"),
    fixed(
        "errors.native.wear",
        Kind::Factor,
        "15",
        "Wrong bits a KiB added in native mode at the end of the rated life.",
    )
    .or("15"),
    fixed(
        "errors.native.retention",
        Kind::Factor,
        "60",
        "Wrong bits a KiB added in native mode by a year at the end of the rated life.",
    )
    .or("60"),
    fixed(
        "errors.native.disturb",
        Kind::Factor,
        "30",
        "Wrong bits a KiB added in native mode by a million reads of a block at the end of the \
         rated life.",
    )
    .or("30"),
];
