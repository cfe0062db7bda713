//! How long each operation takes beside the part's mean: by its block, its wordline and their wear.
//!
//! A multi-plane operation ends with its slowest plane, so the blocks of a superblock on one die
//! share one draw. Energy is reckoned from the mean times. So are the start after a power cut and a
//! purge, which are sums over many blocks.

use flashtwin_ftl::op::class;
use flashtwin_ftl::{NandOp, Policies};
use flashtwin_nand::variation::Kind;
use flashtwin_nand::{Pace, Variation};

use crate::engine::Drive;

/// The paces of a drive.
pub(crate) struct Paces {
    variation: Variation,
    seed: u64,
    /// Operations of a kind differ in time. Otherwise every pace is the mean and none is drawn.
    pub(crate) on: bool,
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

impl<P: Policies> Drive<P> {
    /// From now on every operation of a die takes `milli` thousandths of the time that the spec
    /// gives it. Not part of a snapshot.
    pub fn slow_die(&mut self, die: u16, milli: u32) {
        self.paces.slow.retain(|(slow, _)| *slow != die);
        self.paces.slow.push((die, milli));
        self.paces.on = true;
    }

    /// Sets the paces of the operations that the firmware has asked for.
    #[cold]
    pub(crate) fn set_paces(&mut self) {
        for index in 0..self.ops.len() {
            let op = self.ops[index];
            if let Some(place) = self.ftl.worked_on(op.token) {
                let pace = self.pace(op.class, op.die, place);
                self.ops[index].pace = pace;
                self.waits.slowest = self.waits.slowest.max(pace);
            }
        }
    }

    /// Sets the pace of a read of the row that a physical unit lies in.
    #[inline]
    pub(crate) fn set_pace(&self, op: &mut NandOp, ppn: u32) {
        if self.paces.on {
            op.pace = self.pace(op.class, op.die, self.ftl.wordline_at(ppn));
        }
    }

    /// The pace of an operation of a class on a die, in a superblock and on a wordline.
    #[cold]
    pub(crate) fn pace(&self, class: u8, die: u16, (superblock, wordline): (u32, u32)) -> Pace {
        let (paces, layout) = (&self.paces, self.ftl.layout());
        let block = u64::from(superblock) * u64::from(layout.dies) + u64::from(die);
        let wear = if paces.variation.wears() {
            let superblock = &self.ftl.superblocks()[superblock as usize];
            self.ftl.rated().wear_of(superblock)
        } else {
            0.0
        };
        let wordline = (wordline, layout.wordlines());
        let pace = (paces.variation).pace(kind(class), paces.seed, block, wordline, wear);
        match paces.slow.iter().find(|(slow, _)| *slow == die) {
            Some(&(_, milli)) => pace.slower(milli),
            None => pace,
        }
    }
}
