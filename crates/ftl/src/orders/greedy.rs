//! Greedy: the superblock with the fewest valid units. Best for data that is all written alike.

use flashtwin_base::rng::Rng;

use super::{Candidates, Registered, VictimOrder};

/// Takes the superblock with the fewest valid units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greedy;

flashtwin_base::state! { Greedy {} }

impl Registered for Greedy {
    const NAME: &'static str = "greedy";
    const TAKES: &'static str = "the one with the least valid data";

    fn new(_: &dyn Fn(&str) -> u32) -> Greedy {
        Greedy
    }
}

impl VictimOrder for Greedy {
    fn choose(&mut self, among: &mut Candidates<'_>, _: &mut Rng) -> Option<u32> {
        Some(among.emptiest())
    }

    fn takes_emptiest(&self) -> bool {
        true
    }

    fn most_full_in_turn(&self) -> u32 {
        0
    }
}
