//! How long each operation takes beside the part's mean: by its block, its wordline and their wear.
//!
//! A multi-plane operation ends with its slowest plane, so the blocks of a superblock on one die
//! share one draw. Energy is reckoned from the mean times. So are the start after a power cut and a
//! purge, which are sums over many blocks.

use flashtwin_ftl::op::class;
use flashtwin_ftl::{Ftl, Policies};
use flashtwin_nand::variation::Kind;
use flashtwin_nand::{Pace, Variation};

/// The paces of a drive.
pub(crate) struct Paces {
    variation: Variation,
    seed: u64,
    /// Operations of a kind differ in time. Otherwise every pace is the mean and none is drawn.
    on: bool,
    /// Dies that are slower than their spec, and thousandths of the spec's time that each takes.
    slow: Vec<(u16, u32)>,
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

    /// Operations of a kind differ in time.
    pub(crate) fn are_on(&self) -> bool {
        self.on
    }

    /// From now on every operation of a die takes `milli` thousandths of the time that the spec
    /// gives it.
    pub(crate) fn slow(&mut self, die: u16, milli: u32) {
        self.slow.retain(|(slow, _)| *slow != die);
        self.slow.push((die, milli));
        self.on = true;
    }

    /// The pace of an operation of a class on a die, in a superblock and on a wordline.
    #[cold]
    pub(crate) fn of<P: Policies>(
        &self,
        class: u8,
        die: u16,
        (superblock, wordline): (u32, u32),
        ftl: &Ftl<P>,
    ) -> Pace {
        let layout = ftl.layout();
        let block = u64::from(superblock) * u64::from(layout.dies) + u64::from(die);
        let wear = if self.variation.wears() {
            ftl.rated().wear_of(&ftl.superblocks()[superblock as usize])
        } else {
            0.0
        };
        let wordline = (wordline, layout.wordlines());
        let pace = (self.variation).pace(kind(class), self.seed, block, wordline, wear);
        match self.slow.iter().find(|(slow, _)| *slow == die) {
            Some(&(_, milli)) => pace.slower(milli),
            None => pace,
        }
    }
}

fn kind(class: u8) -> Kind {
    if class::is_read(class) {
        Kind::Read
    } else if class::is_erase(class) {
        Kind::Erase
    } else {
        Kind::Program
    }
}
