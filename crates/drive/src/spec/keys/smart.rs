//! What the drive says about itself.

use super::{Key, Kind, fixed};

pub(super) const KEYS: &[Key] = &[fixed(
    "smart.family",
    Kind::Word(&[
        "none",
        "nvme",
        "micron",
        "intel",
        "samsung",
        "sandforce",
        "wd",
    ]),
    "\"micron\"",
    "Whose SMART data it has: the NVMe health log, or the ATA attributes of a family; none = \
     neither.",
)
.or("\"none\"")];
