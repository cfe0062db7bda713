//! The SLC cache.

use super::{Key, Kind, policy, quantity_or_zero};
use crate::spec::quantity::Dimension::Size;

pub(super) const KEYS: &[Key] = &[
    policy(
        "slc_cache.mode",
        Kind::Word(&["none", "static", "dynamic", "hybrid", "whole-drive"]),
        "\"dynamic\"",
        "Where the cache takes its blocks: nowhere, own ones, borrowed free ones, own then \
         borrowed, any free one.",
    ),
    policy(
        "slc_cache.size",
        quantity_or_zero(Size),
        "\"24 GB\"",
        "User data in borrowed blocks at most; 0 for none, static and whole-drive.",
    ),
    policy(
        "slc_cache.static_size",
        quantity_or_zero(Size),
        "0",
        "User data in the cache's own blocks; 0 for none, dynamic and whole-drive.",
    ),
    policy(
        "slc_cache.when_full",
        Kind::Word(&["direct", "fold-first", "staged"]),
        "\"staged\"",
        "Host data past the cache: straight to native blocks, held until a superblock is folded, \
         or through SLC all the same while as much is folded out.",
    ),
    policy(
        "slc_cache.rearm",
        quantity_or_zero(Size),
        "\"2.4 GB\"",
        "Once full, the cache takes data again when so much of it can be opened.",
    ),
];
