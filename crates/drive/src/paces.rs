//! How long each operation takes beside the part's mean: by its block, its wordline and their wear.
//!
//! A multi-plane operation ends with its slowest plane, so the blocks of a superblock on one die
//! share one draw. Energy is reckoned from the mean times. So are the start after a power cut and a
//! purge, which are sums over many blocks.

use flashtwin_ftl::op::class;
use flashtwin_nand::Variation;
use flashtwin_nand::variation::Kind;

/// The paces of a drive.
pub(crate) struct Paces {
    pub(crate) variation: Variation,
    pub(crate) seed: u64,
    /// Operations of a kind differ in time. Otherwise every pace is the mean and none is drawn.
    pub(crate) on: bool,
    /// Dies that are slower than their spec, and thousandths of the spec's time that each takes.
    pub(crate) slow: Vec<(u16, u32)>,
}

impl Paces {
    pub(crate) fn new(variation: Variation, seed: u64) -> Paces {
        Paces {
            variation,
            seed,
            on: variation.any(),
            slow: Vec::new(),
        }
    }
}

pub(crate) fn kind(class: u8) -> Kind {
    if class::is_read(class) {
        Kind::Read
    } else if class::is_erase(class) {
        Kind::Erase
    } else {
        Kind::Program
    }
}
