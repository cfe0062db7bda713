//! Settled: once no superblock is left that was never written, each host unit is accompanied by a
//! copy from the superblock whose turn it is, until a purge.

use super::Recycling;

pub(super) const RECYCLING: Recycling = Recycling {
    name: "settled",
    does: "once no superblock is left that was never written, a unit is copied for each that the \
           host writes, whether space is wanted or not, until a secure erase",
    accompanies: true,
};
