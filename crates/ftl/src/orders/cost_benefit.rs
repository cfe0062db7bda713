//! Cost-benefit (Kawaguchi, Nishioka and Motoda 1995, after Rosenblum and Ousterhout 1992): old
//! superblocks are collected with more valid data than young ones, which will lose more by
//! themselves.

use flashtwin_base::rng::Rng;

use super::{Candidates, Registered, VictimOrder};

/// Takes the superblock with the most benefit for its cost, `(1 − u) / 2u × age`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostBenefit;

flashtwin_base::state! { CostBenefit {} }

impl Registered for CostBenefit {
    const NAME: &'static str = "cost-benefit";
    const TAKES: &'static str = "the one with the best of free share times age over valid share";

    fn new(_: &dyn Fn(&str) -> u32) -> CostBenefit {
        CostBenefit
    }
}

impl VictimOrder for CostBenefit {
    fn choose(&mut self, among: &mut Candidates<'_>, _: &mut Rng) -> Option<u32> {
        among.worthiest()
    }

    fn most_full_in_turn(&self) -> u32 {
        1
    }
}
