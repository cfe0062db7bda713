//! d-choices: the emptiest of a few that are drawn at random. One draw is the random order, many
//! come close to greedy without a look at every superblock.

use flashtwin_base::rng::Rng;

use super::{Candidates, FULL_IN_TURN, Registered, Setting, VictimOrder};

/// Takes the superblock with the fewest valid units of so many drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DChoices {
    /// How many are drawn.
    pub choices: u32,
}

flashtwin_base::state! { DChoices { built: choices; } }

const CHOICES: Setting = Setting {
    name: "gc.choices",
    min: 1,
    max: 1000,
    default: "10",
    meaning: "Superblocks that `d-choices` draws for each victim.",
};

impl Registered for DChoices {
    const NAME: &'static str = "d-choices";
    const TAKES: &'static str = "the one with the least of `gc.choices` drawn at random";
    const SETTINGS: &'static [Setting] = &[CHOICES];

    fn new(setting: &dyn Fn(&str) -> u32) -> DChoices {
        DChoices {
            choices: setting(CHOICES.name),
        }
    }
}

impl VictimOrder for DChoices {
    fn choose(&mut self, among: &mut Candidates<'_>, chance: &mut Rng) -> Option<u32> {
        let draws = (0..self.choices).filter_map(|_| among.any(chance));
        draws.min_by_key(|&superblock| among.valid(superblock))
    }

    fn most_full_in_turn(&self) -> u32 {
        (FULL_IN_TURN / self.choices).max(1)
    }
}
