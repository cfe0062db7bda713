//! What the label says.

use super::{Key, fixed, quantity};
use crate::spec::quantity::Dimension::Size;

pub(super) const KEYS: &[Key] = &[fixed(
    "drive.capacity",
    quantity(Size),
    "\"240 GB\"",
    "Bytes that the host sees; whole sectors of 512 B.",
)];
