//! The host link.

use super::{Key, count, fixed, quantity};
use crate::spec::quantity::Dimension::ByteRate;

pub(super) const KEYS: &[Key] = &[
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
