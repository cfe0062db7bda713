//! Words that all rooms of the firmware share. This module uses no other.

/// How the cells of a superblock are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Mode {
    /// One bit a cell.
    Slc,
    /// As many bits as the part is built for.
    Native,
    /// Some of its bits: the second tier of the cache.
    Tier,
}

/// No logical or physical unit.
pub const NONE: u32 = u32::MAX;

/// What a superblock is used for while it is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Pool {
    /// Data in native blocks.
    Data,
    /// Pages of the map.
    Map,
    /// Data in the SLC cache.
    Cache,
    /// Data in the cache's second tier.
    Tier,
}
