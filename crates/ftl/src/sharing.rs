//! Which classes of data have superblocks of their own: those for which that pays.
//!
//! Data that is told apart is cheap to collect if its parts die at different rates, and each
//! superblock that is open is spare flash which collection does not have. With s spare superblocks
//! random overwrites of n superblocks of data cost about n / 2s copies each. Groups of n_g
//! superblocks that take a share r_g of the overwrites cost r_g n_g / 2 s_g, and with s divided at
//! its best, in proportion to the root of r_g n_g, all of them together (Σ √(r_g n_g))² / 2s.
//! That sum is least where the groups differ and that of one group where they die alike; what the
//! groups keep open is taken off s.
//!
//! Rates are not all: data of a class may die at one time, which no count of deaths shows. Of all
//! ways to put neighbouring classes together the one with most groups is therefore taken that costs
//! hardly more than the cheapest, on the deaths counted since the last ones faded. A class that
//! has no superblock of its own is written with the next lower one that has. What it has open is
//! filled to its end first, so that nothing is left behind. In a drive that knows of no deaths all
//! classes are apart.

use crate::blocks::Blocks;
use crate::layout::{Layout, Mode};
use crate::lifetimes::{CLASSES, Filled, Lifetimes};
use crate::policy::{Policy, Separation};
use crate::superblock::State;
use crate::words::Pool;

/// One part in this number of the logical units dies between two looks.
const LOOKS: u64 = 8;
/// Groups are kept apart that cost at most this many times the cheapest way.
const TOLERATED: f64 = 1.04;
/// An open superblock takes this of the spare ones: it is half empty in the mean.
const OPEN: f64 = 0.5;

/// A class of the host's data or of collected data; none where data has no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u8);

impl Class {
    /// Of data in the cache, of the map, and of what was never written.
    pub(crate) const NONE: Class = Class(0);

    pub(crate) fn host(class: u8) -> Class {
        Class(1 + class)
    }

    pub(crate) fn collected(class: u8) -> Class {
        Class(1 + CLASSES as u8 + class)
    }

    /// The filling that its data came with; none without a class.
    pub(crate) fn filled(self) -> Option<Filled> {
        let number = self.0.checked_sub(1)?;
        Some(match number.checked_sub(CLASSES as u8) {
            None => Filled::Host(number),
            Some(class) => Filled::Collected(class),
        })
    }
}

/// Classes of the host's data, and of collected data behind them.
const ALL: usize = 2 * CLASSES;

/// Who lives and dies in each class, and which of them share superblocks.
pub(crate) struct Sharing {
    /// How many classes there are of each kind.
    classes: [usize; 2],
    /// The class of each logical unit's present copy; empty where data is not divided by lifetime.
    class_of: Vec<u8>,
    /// Units that are valid in each class, and those that died lately.
    live: [u64; ALL],
    died: [u64; ALL],
    since_look: u64,
    /// The class that each is written with.
    with: [u8; ALL],
    /// The class of what is being placed.
    placing: u8,
}

flashtwin_base::state! { Sharing {
    kept: live, died, since_look, with;
    table: class_of;
    built: classes, placing;
} }

impl Sharing {
    /// Nothing has been written.
    pub(crate) fn new(policy: &Policy, lifetimes: &impl Lifetimes, units: u32) -> Sharing {
        let classes = lifetimes.classes();
        let units = match policy.gc.separation {
            Separation::ByLifetime(_) => units as usize,
            _ => 0,
        };
        Sharing {
            classes: [classes.0.into(), classes.1.into()],
            class_of: vec![Class::NONE.0; units],
            live: [0; ALL],
            died: [0; ALL],
            since_look: 0,
            with: std::array::from_fn(|class| (class % CLASSES) as u8),
            placing: Class::NONE.0,
        }
    }

    /// The class of the copy that a unit has.
    pub(crate) fn class_of(&self, lpn: u32) -> Class {
        Class(self.class_of[lpn as usize])
    }

    /// The host is writing data of a class; the answer is the class that it is written with.
    pub(crate) fn place_host(&mut self, class: u8) -> u8 {
        self.placing = Class::host(class).0;
        self.with[usize::from(class)]
    }

    /// The class that a class of collected data is written with.
    pub(crate) fn of_collected(&self, class: u8) -> u8 {
        self.with[CLASSES + usize::from(class)]
    }

    /// The host has replaced units by what it was placing, which went past the cache or into it.
    pub(crate) fn wrote(&mut self, lpn: u32, count: u32, past_cache: bool) {
        let class = match past_cache {
            true => Class(self.placing),
            false => Class::NONE,
        };
        self.replace(lpn, count, class);
    }

    /// The copies of units are gone, and where they have a class now, others have it.
    pub(crate) fn replace(&mut self, lpn: u32, count: u32, class: Class) {
        if self.class_of.is_empty() {
            return;
        }
        for unit in &mut self.class_of[lpn as usize..(lpn + count) as usize] {
            if let Some(old) = unit.checked_sub(1) {
                self.live[usize::from(old)] -= 1;
                self.died[usize::from(old)] += 1;
                self.since_look += 1;
            }
            *unit = class.0;
        }
        if let Some(new) = class.0.checked_sub(1) {
            self.live[usize::from(new)] += u64::from(count);
        }
    }

    /// Units are moved into a class of collected data.
    pub(crate) fn collected(&mut self, lpns: &[u32], class: u8) {
        let class = Class::collected(class);
        for &lpn in lpns {
            let unit = &mut self.class_of[lpn as usize];
            if let Some(old) = unit.checked_sub(1) {
                self.live[usize::from(old)] -= 1;
            }
            *unit = class.0;
        }
        self.live[usize::from(class.0 - 1)] += lpns.len() as u64;
    }

    /// Enough has died for another look.
    pub(crate) fn is_due(&self) -> bool {
        let least = self.class_of.len() as u64 / LOOKS;
        least > 0 && self.since_look >= least
    }

    /// Looks which classes should share superblocks. The superblocks below `kept` free ones are not
    /// to spare.
    #[cold]
    pub(crate) fn look_at(&mut self, blocks: &Blocks, layout: &Layout, kept: u32) {
        let units = f64::from(layout.whole_units(Mode::Native));
        let native = blocks.all().iter().filter(|block| {
            let data = matches!(block.pool, Pool::Data) && !block.fixed && !block.map;
            data && block.state != State::Retired
        });
        let (count, valid) = native.fold((0u32, 0u64), |(count, valid), block| {
            (count + 1, valid + u64::from(block.valid))
        });
        let spare = f64::from(count) - f64::from(kept) - valid as f64 / units;
        self.look(spare, OPEN * f64::from(layout.groups));
    }

    /// Puts classes together where `open` of the `spare` superblocks for each group are too many.
    fn look(&mut self, spare: f64, open: f64) {
        let [host, collected] = [0, 1].map(|kind| {
            let first = kind * CLASSES;
            let of = first..first + self.classes[kind];
            Groups::all(&self.died[of.clone()], &self.live[of])
        });
        let pairs = || {
            let pairs = host
                .iter()
                .flat_map(|host| collected.iter().map(move |c| (host, c)));
            pairs.map(|(host, collected)| {
                let count = host.count + collected.count;
                let left = spare - open * f64::from(count);
                let sum = host.roots + collected.roots;
                let cost = match left > 0.0 {
                    true => sum * sum / left,
                    false => f64::INFINITY,
                };
                (cost, count, host, collected)
            })
        };
        let least = pairs().map(|pair| pair.0).fold(f64::INFINITY, f64::min);
        // With nothing spare no group is worth it.
        let mut best = (f64::INFINITY, 0, &host[0], &collected[0]);
        for pair in pairs().filter(|pair| pair.0.is_finite() && pair.0 <= TOLERATED * least) {
            if pair.1 > best.1 || (pair.1 == best.1 && pair.0 < best.0) {
                best = pair;
            }
        }
        self.with[..CLASSES].copy_from_slice(&best.2.with);
        self.with[CLASSES..].copy_from_slice(&best.3.with);
        self.died.iter_mut().for_each(|died| *died /= 2);
        self.since_look = 0;
    }
}

/// A way to put neighbouring classes of one kind together.
struct Groups {
    /// The class that each is written with: the first of its group.
    with: [u8; CLASSES],
    count: u32,
    /// Sum over the groups of √(deaths · living).
    roots: f64,
}

impl Groups {
    /// All ways, the one with a single group first. A bit for each class but the first says that a
    /// group begins with it.
    fn all(died: &[u64], live: &[u64]) -> Vec<Groups> {
        let ways = 1u32 << (died.len() - 1);
        (0..ways)
            .map(|begins| Groups::of(begins << 1, died, live))
            .collect()
    }

    fn of(begins: u32, died: &[u64], live: &[u64]) -> Groups {
        let mut groups = Groups {
            with: [0; CLASSES],
            count: 1,
            roots: 0.0,
        };
        let (mut first, mut sums) = (0, (0, 0));
        let root = |(died, live): (u64, u64)| (died as f64 * live as f64).sqrt();
        for (class, (&died, &live)) in died.iter().zip(live).enumerate() {
            if begins >> class & 1 == 1 {
                groups.roots += root(sums);
                groups.count += 1;
                (first, sums) = (class, (0, 0));
            }
            sums = (sums.0 + died, sums.1 + live);
            groups.with[class] = first as u8;
        }
        groups.roots += root(sums);
        groups
    }
}
