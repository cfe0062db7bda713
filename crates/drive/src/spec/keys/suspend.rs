//! Program and erase suspend.

use super::{Key, Kind, count, fixed, quantity_or_zero};
use crate::spec::quantity::Dimension::Time;

pub(super) const KEYS: &[Key] = &[
    fixed(
        "nand.suspend.program",
        Kind::Flag,
        "true",
        "A host read that finds its die programming suspends the program. Needs \
         `controller.read_priority`.",
    )
    .or("false"),
    fixed(
        "nand.suspend.erase",
        Kind::Flag,
        "true",
        "The same for erases.",
    )
    .or("false"),
    fixed(
        "nand.suspend.entry",
        quantity_or_zero(Time),
        "\"20 us\"",
        "Time from the suspension to an array that can read; the operation makes no progress in \
         it.",
    )
    .or("\"20 us\""),
    fixed(
        "nand.suspend.penalty",
        quantity_or_zero(Time),
        "\"20 us\"",
        "Time that an operation takes more each time that it goes on.",
    )
    .or("\"20 us\""),
    fixed(
        "nand.suspend.most",
        count(1, 1_000_000),
        "8",
        "Times that one operation is suspended at most; then reads wait for its end.",
    )
    .or("8"),
    fixed(
        "nand.suspend.reads",
        count(1, 1_000_000),
        "32",
        "Reads that are served at most before a suspended operation goes on.",
    )
    .or("32"),
];
