//! Blocks that are bad, weak or failing, and what the firmware does about them.
//!
//! *From the factory.* Each block is bad or weak by chance. Firmware makes its superblocks from the
//! good blocks of each plane, whatever their numbers, so that the plane with the fewest decides how
//! many there are, and the others keep the rest as spares. Weak blocks, which hold one bit a cell
//! but not more, are put together into as few superblocks as their plane with the most allows;
//! those serve the SLC cache only.
//!
//! *Used.* Each block of a used drive has some native cycles behind it when the drive is built, or
//! as much of its rated life in the mode that it is kept for. They count like those that come.
//!
//! *In use.* A program or an erase of a block fails with a probability that is `at_rated` at the
//! end of the rated life and rises with a power of wear: negligible before, certain in the long
//! run.
//! A failed program has cost its time; its data is still in the buffer and is programmed elsewhere,
//! the superblock takes no more data and is emptied. Then a spare of the same plane takes the bad
//! block's place, or the superblock is retired. A failed erase does that at once.
//!
//! *At the end* the drive can only be read: when what is left in native superblocks cannot hold the
//! capacity beside what folding and collection need, and earlier where the policy says so.
//!
//! Where fewer than three superblocks are to spare, a failing program is repeated with more
//! pulses and holds; the block is replaced all the same once it is empty. So it is with an erase
//! before data of an open superblock is written back after a power cut. No data is lost.
//!
//! The map's own superblocks fail like all others. One of them that is retired is replaced by a
//! free one of the data's, so that the pool keeps its size and the data has less to move in.
//!
//! That failures grow with a power of wear, and the values of the keys, are priors.

use std::ops::Range;

use flashtwin_base::rng::Rng;
use flashtwin_nand::Part;

use crate::layout::Layout;
use crate::policy::{Failures, Policy, Wear};
use crate::superblock::Born;

/// Numbers of the streams of chance in the drive's seed.
const FACTORY: u64 = 0x4641_4354;
const IN_USE: u64 = 0x4641_494c;

/// True with a probability from 0 to 1.
fn happens(chance: &mut Rng, probability: f64) -> bool {
    let scale = 1.0 / (1u64 << 53) as f64;
    probability > 0.0 && ((chance.next_u64() >> 11) as f64 * scale) < probability
}

/// The probability of a failure at so much wear (1 is the rated life).
fn probability(failures: &Failures, wear: f64) -> f64 {
    let power = (0..failures.growth).fold(1.0, |power, _| power * wear);
    (failures.at_rated_ppb as f64 * 1e-9 * power).min(1.0)
}

/// The first superblock behind the weak ones.
pub(crate) fn first_sound(born: &[Born]) -> u32 {
    let weak = born.iter().rposition(|&b| b == Born::Weak);
    weak.map_or(0, |at| at as u32 + 1)
}

/// Bad blocks, spares, and the random stream that decides which operations fail.
pub(crate) struct Health {
    chance: Rng,
    /// Whether programs or erases can fail.
    fails: bool,
    /// Good blocks of each plane of each die that are in no superblock.
    spares: Vec<u32>,
    planes: u32,
    /// Superblocks and the planes of their blocks that have failed and are not replaced yet.
    failed: Vec<(u32, u32)>,
    /// Blocks that have failed in use.
    grown_bad: u32,
    read_only: bool,
    /// Host data of a failed program waits in a granule again.
    placed_again: bool,
    /// The lowest sequence number of data that a failed program left in no granule, or the largest
    /// number where there is no such data. What that data replaces is not erased.
    homeless: u64,
}

flashtwin_base::state! { Health {
    kept: chance, failed, grown_bad, read_only, placed_again;
    sized: spares;
    built: fails, planes, homeless;
} }

impl Health {
    /// The blocks of a drive with this seed, and what its superblocks are like.
    pub(crate) fn new(
        part: &Part,
        policy: &Policy,
        layout: &Layout,
        seed: u64,
    ) -> (Health, Vec<Born>) {
        let wear = &policy.wear;
        let mut health = Health {
            chance: Rng::new(seed, IN_USE),
            fails: wear.program.at_rated_ppb + wear.erase.at_rated_ppb > 0,
            spares: Vec::new(),
            planes: part.geometry.planes,
            failed: Vec::new(),
            grown_bad: 0,
            read_only: false,
            placed_again: false,
            homeless: u64::MAX,
        };
        let mut chance = Rng::new(seed, FACTORY);
        let mut born = vec![Born::Good; layout.superblocks as usize];
        for group in 0..layout.groups {
            let members = born.iter_mut().skip(group as usize);
            let members = members.step_by(layout.groups as usize);
            let count = members.len() as u32;
            let (good, weak) = health.draw_group(wear, layout, count, &mut chance);
            for (born, place) in members.zip(0..) {
                *born = match place {
                    _ if place >= good => Born::Missing,
                    _ if place < weak => Born::Weak,
                    _ => Born::Good,
                };
            }
        }
        (health, born)
    }

    /// Draws the blocks of a die group that should make `count` superblocks: how many can be made,
    /// and how many of them are weak. The rest of the good blocks are spares.
    fn draw_group(
        &mut self,
        wear: &Wear,
        layout: &Layout,
        count: u32,
        chance: &mut Rng,
    ) -> (u32, u32) {
        let mut draw = |percent_milli: u32, of: u32| {
            let rate = f64::from(percent_milli) * 1e-5;
            (0..of).filter(|_| happens(chance, rate)).count() as u32
        };
        let blocks = count + wear.spares;
        let (mut good, mut weak) = (Vec::new(), 0);
        for _ in 0..layout.group_dies * self.planes {
            good.push(blocks - draw(wear.bad_percent_milli, blocks));
            weak = weak.max(draw(wear.weak_percent_milli, count));
        }
        let made = good.iter().copied().min().unwrap_or(0).min(count);
        self.spares.extend(good.iter().map(|good| good - made));
        (made, weak.min(made))
    }

    /// Puts spares in the places of a superblock's bad blocks; false when there are too few.
    pub(crate) fn mend(&mut self, superblock: u32) -> bool {
        let bad = |f: &&(u32, u32)| f.0 == superblock;
        let bad: Vec<u32> = self.failed.iter().filter(bad).map(|f| f.1).collect();
        self.failed.retain(|f| f.0 != superblock);
        let wanted = |plane: u32| bad.iter().filter(|&&p| p == plane).count() as u32;
        let mut planes = bad.iter();
        if planes.any(|&p| self.spares[p as usize] < wanted(p)) {
            return false;
        }
        for &plane in &bad {
            self.spares[plane as usize] -= 1;
        }
        true
    }

    /// The drive may have programs or erases that fail.
    pub(crate) fn may_fail(&self) -> bool {
        self.fails
    }

    /// Decides by the wear of a superblock on these dies whether the erase of each of its blocks
    /// has succeeded, and notes those that have not.
    pub(crate) fn draw_erase(
        &mut self,
        (superblock, dies): (u32, Range<u32>),
        wear: f64,
        failures: &Failures,
    ) {
        let probability = probability(failures, wear);
        for plane in dies.start * self.planes..dies.end * self.planes {
            if happens(&mut self.chance, probability) {
                self.note(superblock, plane);
            }
        }
    }

    /// Decides by the wear of a superblock whether a program on a die has failed, and notes which
    /// of its blocks that was.
    pub(crate) fn draw_program(
        &mut self,
        (superblock, die): (u32, u32),
        wear: f64,
        failures: &Failures,
    ) -> bool {
        let each = probability(failures, wear);
        let fails = happens(&mut self.chance, each * f64::from(self.planes));
        if fails {
            let plane = self.chance.below(self.planes.into()) as u32;
            self.note(superblock, die * self.planes + plane);
        }
        fails
    }

    /// Blocks have failed that are not replaced yet.
    pub(crate) fn has_failed_blocks(&self) -> bool {
        !self.failed.is_empty()
    }

    /// A superblock with blocks that have failed, of those that are `in_use`: in one whose cycles
    /// were used up it does not matter.
    pub(crate) fn next_failed(&mut self, in_use: impl Fn(u32) -> bool) -> Option<u32> {
        self.failed.retain(|&(superblock, _)| in_use(superblock));
        self.failed.first().map(|&(superblock, _)| superblock)
    }

    /// Blocks that have failed in use.
    pub(crate) fn grown_bad(&self) -> u32 {
        self.grown_bad
    }

    /// Good blocks of the plane that has the fewest to spare.
    pub(crate) fn spares(&self) -> u32 {
        self.spares.iter().copied().min().unwrap_or(0)
    }

    /// The drive has come to its end.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The drive comes to its end.
    pub(crate) fn end_life(&mut self) {
        self.read_only = true;
    }

    /// Host data of a failed program waits in a granule again, or what has replaced it does.
    pub(crate) fn note_placed_again(&mut self) {
        self.placed_again = true;
    }

    /// Whether that has happened since this was last asked.
    pub(crate) fn take_placed_again(&mut self) -> bool {
        std::mem::take(&mut self.placed_again)
    }

    /// Data of granules from a sequence number on is in no granule, or (the largest number) all of
    /// it is in one again.
    pub(crate) fn set_homeless(&mut self, sequence: u64) {
        self.homeless = sequence;
    }

    /// The lowest sequence number of data that a failed program left in no granule, or the largest
    /// number.
    pub(crate) fn homeless(&self) -> u64 {
        self.homeless
    }

    fn note(&mut self, superblock: u32, plane: u32) {
        if !self.failed.contains(&(superblock, plane)) {
            self.failed.push((superblock, plane));
            self.grown_bad += 1;
        }
    }
}
