//! The header of a file, and the names of its sections.

use super::{Identity, MAGIC};

/// Digits of a spec's hash.
pub(super) const HASH_BYTES: usize = 64;
/// Bytes of the header without its checksum.
pub(super) const HEADER_BYTES: usize = MAGIC.len() + 3 * 4 + HASH_BYTES + 8 + 1;
/// zstd's level: the tables are differences, which any level packs well, and speed counts.
pub(super) const LEVEL: i32 = 1;
/// Tag of the section of all that is small, and of the end.
pub(super) const SMALL: &str = "small";
pub(super) const END: &str = "end";

/// The values that a header holds.
pub(crate) struct Header {
    pub(crate) shape: u32,
    pub(crate) identity: Identity,
    pub(crate) power_cuts: bool,
    pub(crate) contents: bool,
}

/// Tag of a section.
pub(super) fn tag(name: &str) -> u32 {
    crc32fast::hash(name.as_bytes())
}
