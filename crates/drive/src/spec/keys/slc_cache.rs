//! The SLC cache.

use flashtwin_ftl::choices::{DESIGNS, Design, Free, FullRule, RULES, Unit};
use flashtwin_ftl::policy::{CacheMode, WhenFull, Worn};

use crate::spec::key::Kind::{Factor, SizeByFill};
use crate::spec::key::{Key, Name, choice, policy, section, size, words};
use crate::spec::mechanism::{Case, Part};
use crate::spec::value::{Datum, Form};
use crate::spec::values::Values;
use crate::spec::words::Admitted;

section! {
    /// Which superblocks are the cache, and what enters it.
    read SlcCache in "slc_cache" {
        /// Where the cache takes its blocks
        mode: &'static Design =
            policy(
                choice(CacheMode::NAMES, DESIGNS.iter().map(|design| (design.name, design.takes))),
                "dynamic",
            ).idle("none").off(&[Case::OneMode]);
        /// User data in borrowed blocks at most; 0 for none, static and whole-drive, and where
        /// `slc_cache.size_by_fill` says it.
        size: u64 = policy(size().or_zero(), "24 GB").scaled().only(Part::Sized, "0").free(Free {
            name: "cache",
            title: "size of the cache, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.025, 0.3],
            usual: None,
            spread: 0.25,
            log: true,
            seen: "where the first speed of a fill ends",
        });
        /// User data in borrowed blocks at most, as the drive fills: straight lines between points
        /// of the share of the capacity that holds data. Empty: `slc_cache.size` throughout.
        size_by_fill: Vec<(u32, u64)> =
            policy(SizeByFill, "[\"0 %: 140 GB\", \"75 %: 12 GB\"]")
                .or("[]")
                .scaled()
                .only(Part::Sized, "[]");
        /// User data in the cache's own blocks; 0 for none, dynamic and whole-drive.
        static_size: u64 = policy(size().or_zero(), "0").scaled().only(Part::Own, "0").free(Free {
            name: "static",
            title: "the cache's own blocks, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.008, 0.04],
            usual: Some(0.016),
            spread: 0.5,
            log: false,
            seen: "what is fast on a full drive too",
        });
        /// Second tier: user data in borrowed blocks of `nand.tier.bits` bits a cell at most, which
        /// takes what the SLC cache has no room for; 0 = none.
        tier_size: u64 =
            policy(size().or_zero(), "48 GB").or("0").scaled().only(Part::Tier, "0").free(Free {
            name: "tier",
            title: "size of the second tier, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.05, 0.4],
            usual: None,
            spread: 0.5,
            log: false,
            seen: "where the second speed of a fill ends",
        });
        /// Own blocks that have used up `nand.slc.endurance` cycles: they go on, each is given up,
        /// or the first takes all the others with it.
        worn: Worn = policy(words::<Worn>(), "shrink").or("keep");
        /// Host data past the cache
        when_full: &'static FullRule =
            policy(
                choice(WhenFull::NAMES, RULES.iter().map(|rule| (rule.name, rule.data))),
                "staged",
            ).only(Part::Cache, "direct").waits(&[
                (Case::NoCache, "there is no cache to fill (slc_cache.mode = none)"),
            ]);
        /// Which writes enter the cache: all, commands up to `slc_cache.admit_limit`, or those that
        /// do not continue a sequential run longer than that. The others go straight to native
        /// blocks.
        admit: Admitted = policy(words::<Admitted>(), "random").or("all");
        /// With `slc_cache.admit` small: the largest command that enters; with random: the longest
        /// sequential run.
        admit_limit: u64 = policy(size(), "64 KiB").or("64 KiB");
        /// Once full, the cache has its emptiest superblock folded before anything else, where at
        /// most this share of it is valid, so that what an overwrite frees comes back; 0 = never.
        reclaim: u64 = policy(Factor, "0.5").or("0.5")
            .within(0..=999, "{} of a superblock may be valid, so emptying it frees nothing",
                "write less than 1, like 0.5");
        /// Once full, the cache takes data again when this size of it can be opened.
        rearm: u64 = policy(size().or_zero(), "2.4 GB").scaled().free(Free {
            name: "rearm",
            title: "share of the cache that takes data again during a fill",
            unit: Unit::OfCache,
            range: [0.01, 1.0],
            usual: Some(0.1),
            spread: 0.7,
            log: true,
            seen: "fast stretches amid the slow part of a fill",
        });
    }
}

impl Form for &'static Design {
    fn of(datum: &Datum) -> Option<&'static Design> {
        CacheMode::named(<&str>::of(datum)?).map(CacheMode::design)
    }
}

impl Form for &'static FullRule {
    fn of(datum: &Datum) -> Option<&'static FullRule> {
        FullRule::named(<&str>::of(datum)?)
    }
}
