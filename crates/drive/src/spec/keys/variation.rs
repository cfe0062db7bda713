//! How operations of one kind differ in time.

use super::{Key, Kind, fixed};

pub(super) const KEYS: &[Key] = &[
    fixed(
        "nand.variation.block",
        Kind::Factor,
        "0.03",
        "Blocks differ in tR, tPROG and tBERS, each drawn for itself from the seed: the standard \
         deviation, as a share of the mean; 0 = all alike.",
    )
    .or("0"),
    fixed(
        "nand.variation.layer",
        Kind::Factor,
        "0.08",
        "Reads and programs take longer from wordline to wordline: the last one by this share \
         beyond the mean, the first one as much less; 0 = all alike.",
    )
    .or("0"),
    fixed(
        "nand.variation.program_wear",
        Kind::Factor,
        "0.1",
        "Programs at the end of a block's rated life are shorter by this share.",
    )
    .or("0"),
    fixed(
        "nand.variation.erase_wear",
        Kind::Factor,
        "1.5",
        "Erases at the end of a block's rated life are longer by this share.",
    )
    .or("0"),
];
