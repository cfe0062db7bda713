//! FIFO: the superblock that was filled first. Its write amplification has a closed form.

use flashtwin_base::rng::Rng;

use super::{Candidates, Registered, VictimOrder};

/// Takes the superblock that was filled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fifo;

flashtwin_base::state! { Fifo {} }

impl Registered for Fifo {
    const NAME: &'static str = "fifo";
    const TAKES: &'static str = "the one that was filled first";

    fn new(_: &dyn Fn(&str) -> u32) -> Fifo {
        Fifo
    }
}

impl VictimOrder for Fifo {
    fn choose(&mut self, among: &mut Candidates<'_>, _: &mut Rng) -> Option<u32> {
        among.oldest()
    }
}
