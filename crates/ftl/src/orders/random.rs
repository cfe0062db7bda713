//! Random: any superblock, each as likely as the others. Its write amplification has a closed form.

use flashtwin_base::rng::Rng;

use super::{Candidates, Registered, VictimOrder};

/// Takes any superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random;

flashtwin_base::state! { Random {} }

impl Registered for Random {
    const NAME: &'static str = "random";
    const TAKES: &'static str = "any";

    fn new(_: &dyn Fn(&str) -> u32) -> Random {
        Random
    }
}

impl VictimOrder for Random {
    fn choose(&mut self, among: &mut Candidates<'_>, chance: &mut Rng) -> Option<u32> {
        among.any(chance)
    }
}
