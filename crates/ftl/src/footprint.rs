//! What the tables of a drive's firmware will take of this machine's memory, before any is made.
//!
//! The sum of the tables that grow with the drive: those of units, and those of superblocks. What
//! is small whatever the drive is left to the caller.

use flashtwin_nand::Part;

use crate::blocks::Superblock;
use crate::layout::Layout;
use crate::lifetimes::{Inferred, Lifetimes};
use crate::policy::{Policy, Separation};

/// Map, reverse map.
const ENTRY_BYTES: u64 = 4;
/// Both candidate pools with their lists and heaps, the queues of free and closed ones, and what
/// the drive knows of the age of its data.
const SUPERBLOCK_BYTES: u64 = size_of::<Superblock>() as u64 + 208;
/// Reads of each block that a superblock has on a die.
const READS_BYTES: u64 = 4;
/// A page of a map that is not all in RAM: its place in both caches, and what is owed to it.
const MAP_PAGE_BYTES: u64 = 40;

/// Bytes of the tables, as a part that shrinks with the wordlines of a block and one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Tables of units.
    pub units_bytes: u64,
    /// Tables of superblocks.
    pub superblocks_bytes: u64,
}

impl Footprint {
    /// Of a drive with this part, policy and advertised capacity.
    #[must_use]
    pub fn of(part: &Part, policy: &Policy, capacity_bytes: u64) -> Footprint {
        let layout = Layout::new(part, policy);
        let unit = u64::from(policy.unit_bytes);
        let logical = capacity_bytes.div_ceil(unit);
        let pages = match policy.map.is_whole() {
            true => 0,
            false => logical.div_ceil(policy.map.entries(layout.unit_bytes).into()),
        };
        let superblocks = u64::from(layout.superblocks);
        let physical = superblocks * u64::from(layout.native_units);
        let packed = if layout.packs() { physical } else { 0 };
        let mapped = logical + pages;
        let inferred = match policy.gc.separation {
            // The class of each unit beside what the way keeps.
            Separation::ByLifetime(way) => mapped * (1 + Inferred::new(way).unit_bytes()),
            _ => 0,
        };
        Footprint {
            units_bytes: (mapped + physical) * ENTRY_BYTES
                + physical / 8
                + packed
                + inferred
                + pages * MAP_PAGE_BYTES,
            superblocks_bytes: superblocks
                * (SUPERBLOCK_BYTES + READS_BYTES * u64::from(layout.group_dies)),
        }
    }
}
