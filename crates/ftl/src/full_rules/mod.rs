//! What happens to host data when the SLC cache is full: one file a rule, and a line in the
//! registry below.
//!
//! A rule is what a spec's `slc_cache.when_full` names. It says where the data goes and who waits
//! for whom; the cache, folding and the checks of a spec ask it and know no rule by its name.

/// A rule as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullRule {
    /// Its word in a spec.
    pub name: &'static str,
    /// What becomes of host data past the cache, as the end of a sentence.
    pub data: &'static str,
    /// Data goes past the cache to native blocks until enough of the cache can be opened again.
    pub bypasses: bool,
    /// A share of the data, `slc_cache.direct_share`, goes straight to native blocks.
    pub shares: bool,
    /// The host waits while a step is folded, `fold.step`, and then writes as much.
    pub in_steps: bool,
}

impl FullRule {
    /// All data goes through SLC, to begin from.
    const STAGES: FullRule = FullRule {
        name: "",
        data: "",
        bypasses: false,
        shares: false,
        in_steps: false,
    };

    /// Data goes through SLC while as much is folded out beside it.
    #[must_use]
    pub const fn flows(&self) -> bool {
        !self.bypasses && !self.in_steps
    }

    /// Cache units that have to be folded for each unit of the host, in thousandths, where
    /// `direct_milli` go straight to native blocks with a rule that shares.
    #[must_use]
    pub fn keeps_up_milli(&self, direct_milli: u32) -> i64 {
        if self.bypasses {
            0
        } else if self.shares {
            1000 - i64::from(direct_milli)
        } else {
            1000
        }
    }
}

crate::registry::registry! {
    /// What happens to host data when the cache is full.
    WhenFull: FullRule by rule, constants RULE, all in RULES {
        direct::Direct,
        fold_first::FoldFirst,
        staged::Staged,
        mixed::Mixed,
    }
}
