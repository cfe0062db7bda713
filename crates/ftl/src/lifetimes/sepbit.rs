//! Six classes by inferred invalidation time, after SepBIT (Wang, Li, Lee, Zhao, Shi and Huang,
//! FAST 2022).
//!
//! Of a unit that the host writes it is guessed that it will live as long as the copy that it
//! replaces did: shorter than the mean lifespan l of collected superblocks of the first class puts
//! it there, all other host data is in the second. Of a unit that is moved it is known how old it
//! is. What comes from the first class was guessed wrong and has a class of its own, the third;
//! other data is divided by its age at 4 l and 16 l into the last three. l is the mean over the
//! last sixteen superblocks of the first class, and without end before there were so many.
//!
//! The one table has the time of the last write of each unit, in steps of eight host units and in
//! 32 bits: after 128 TiB of 4 KiB units it begins anew, and what has rested for longer is taken
//! for younger. Invariant: 0 stands for never.

use super::{Filled, Lifetimes, Moved, Registered, Write};

/// Host units of a step of time, as a power of two.
const STEP: u32 = 3;
/// Superblocks of the first class over which their lifespan is averaged.
const SUPERBLOCKS: u64 = 16;
/// Ages, in lifespans, at which moved data comes into the next class.
const AGES: [u64; 2] = [4, 16];

/// Divides by the age of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SepBit {
    /// When each unit was written last.
    written: Vec<u32>,
    /// Mean lifespan of superblocks of the first class, in host units.
    lifespan: u64,
    /// Lifespans of those collected since, and how many they are.
    sum: u64,
    count: u64,
}

flashtwin_base::state! { SepBit {
    kept: lifespan, sum, count;
    table: written;
} }

fn step_of(now: u64) -> u32 {
    ((now >> STEP) as u32).wrapping_add(1).max(1)
}

impl SepBit {
    /// Host units since a unit was written; none where it never was.
    fn age(&self, lpn: u32, now: u64) -> Option<u64> {
        let written = self.written[lpn as usize];
        let age = u64::from(step_of(now).wrapping_sub(written)) << STEP;
        (written != 0).then_some(age)
    }

    /// Whether the host writes a unit again within the lifespan.
    fn is_short(&self, lpn: u32, now: u64) -> bool {
        self.age(lpn, now).is_some_and(|age| age < self.lifespan)
    }
}

impl Registered for SepBit {
    const NAME: &'static str = "sepbit";
    const DIVIDES: &'static str =
        "host data by how long what it replaces has lived, collected data by its age, six classes";

    fn new() -> SepBit {
        SepBit {
            written: Vec::new(),
            lifespan: u64::MAX,
            sum: 0,
            count: 0,
        }
    }
}

impl Lifetimes for SepBit {
    fn classes(&self) -> (u8, u8) {
        (2, 4)
    }

    fn start(&mut self, logical_units: u32) {
        *self = SepBit {
            written: vec![0; logical_units as usize],
            ..SepBit::new()
        };
    }

    fn host(&mut self, write: &Write) -> (u8, u32) {
        let short = self.is_short(write.lpn, write.now);
        let rest = write.lpn + 1..write.lpn + write.count;
        let alike = rest.take_while(|&lpn| self.is_short(lpn, write.now) == short);
        (u8::from(!short), 1 + alike.count() as u32)
    }

    fn wrote(&mut self, lpn: u32, count: u32, now: u64) {
        let units = lpn as usize..(lpn + count) as usize;
        self.written[units].fill(step_of(now));
    }

    fn collected(&mut self, moved: &Moved) -> u8 {
        if moved.from == Filled::Host(0) {
            return 0;
        }
        let age = self.age(moved.lpn, moved.now).unwrap_or(u64::MAX);
        let passed = AGES.map(|ages| age >= self.lifespan.saturating_mul(ages));
        1 + passed.map(u8::from).iter().sum::<u8>()
    }

    fn victim(&mut self, from: Filled, lifespan: u64) {
        if from != Filled::Host(0) {
            return;
        }
        self.sum = self.sum.saturating_add(lifespan);
        self.count += 1;
        if self.count >= SUPERBLOCKS {
            self.lifespan = self.sum / self.count;
            (self.sum, self.count) = (0, 0);
        }
    }

    fn unit_bytes(&self) -> u64 {
        size_of::<u32>() as u64
    }
}
