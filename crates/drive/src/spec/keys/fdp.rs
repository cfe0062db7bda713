//! Flexible data placement (NVMe 2.0, TP4146): the host says which of its writes belong together.

use super::{Key, Kind, count, policy};

pub(super) const KEYS: &[Key] = &[
    policy(
        "fdp.handles",
        count(1, 8),
        "8",
        "Reclaim unit handles: writes of each handle fill superblocks (reclaim units) of their \
         own. 1 = no placement by the host.",
    )
    .or("1"),
    policy(
        "fdp.isolation",
        Kind::Word(&["initial", "persistent"]),
        "\"persistent\"",
        "What collection does with data of different handles: `initial` mixes it, `persistent` \
         keeps a superblock open for each handle too.",
    )
    .or("\"initial\""),
];
