//! The SLC cache.

use flashtwin_ftl::choices::{DESIGNS, Design, Free, FullRule, RULES, Unit};
use flashtwin_ftl::policy::{CacheMode, WhenFull};

use super::{Key, Kind, choice, quantity, quantity_or_zero, section, setting, with_own};
use crate::spec::parts::Part;
use crate::spec::quantity::Dimension::Size;
use crate::spec::value::{Datum, Form, Values};

section! {
    /// Which superblocks are the cache, and what enters it.
    SlcCache in "slc_cache" {
        mode: &'static Design = choice(
            CacheMode::NAMES,
            "\"dynamic\"",
            "Where the cache takes its blocks",
            DESIGNS.iter().map(|design| (design.name, design.takes)),
        );
        size: u64 = setting(
            quantity_or_zero(Size),
            "\"24 GB\"",
            "User data in borrowed blocks at most; 0 for none, static and whole-drive, and where \
             `slc_cache.size_by_fill` says it.",
        )
        .scaled()
        .only(Part::Sized, "0")
        .free(Free {
            name: "cache",
            title: "size of the cache, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.025, 0.3],
            usual: None,
            spread: 0.25,
            log: true,
            seen: "where the first speed of a fill ends",
        });
        size_by_fill: Vec<(u32, u64)> = setting(
            Kind::SizeByFill,
            "[\"0 %: 140 GB\", \"75 %: 12 GB\"]",
            "User data in borrowed blocks at most, as the drive fills: straight lines between \
             points of the share of the capacity that holds data. Empty: `slc_cache.size` \
             throughout.",
        )
        .or("[]")
        .scaled()
        .only(Part::Sized, "[]");
        static_size: u64 = setting(
            quantity_or_zero(Size),
            "0",
            "User data in the cache's own blocks; 0 for none, dynamic and whole-drive.",
        )
        .scaled()
        .only(Part::Own, "0")
        .free(Free {
            name: "static",
            title: "the cache's own blocks, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.008, 0.04],
            usual: Some(0.016),
            spread: 0.5,
            log: false,
            seen: "what is fast on a full drive too",
        });
        tier_size: u64 = setting(
            quantity_or_zero(Size),
            "\"48 GB\"",
            "Second tier: user data in borrowed blocks of `nand.tier.bits` bits a cell at most, \
             which takes what the SLC cache has no room for; 0 = none.",
        )
        .or("0")
        .scaled()
        .only(Part::Tier, "0")
        .free(Free {
            name: "tier",
            title: "size of the second tier, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.05, 0.4],
            usual: None,
            spread: 0.5,
            log: false,
            seen: "where the second speed of a fill ends",
        });
        worn: &'static str = setting(
            Kind::Word(&["keep", "shrink", "close"]),
            "\"shrink\"",
            "Own blocks that have used up `nand.slc.endurance` cycles: they go on, each is given \
             up, or the first takes all the others with it.",
        )
        .or("\"keep\"");
        when_full: &'static FullRule = choice(
            WhenFull::NAMES,
            "\"staged\"",
            "Host data past the cache",
            RULES.iter().map(|rule| (rule.name, rule.data)),
        )
        .only(Part::Cache, "\"direct\"");
        admit: &'static str = setting(
            Kind::Word(&["all", "small", "random"]),
            "\"random\"",
            "Which writes enter the cache: all, commands up to `slc_cache.admit_limit`, or those \
             that do not continue a sequential run longer than that. The others go straight to \
             native blocks.",
        )
        .or("\"all\"");
        admit_limit: u64 = setting(
            quantity(Size),
            "\"64 KiB\"",
            "With `slc_cache.admit` small: the largest command that enters; with random: the \
             longest sequential run.",
        )
        .or("\"64 KiB\"");
        reclaim: u64 = setting(
            Kind::Factor,
            "0.5",
            "Once full, the cache has its emptiest superblock folded before anything else, where \
             at most this share of it is valid; 0 = never.",
        )
        .or("0");
        rearm: u64 = setting(
            quantity_or_zero(Size),
            "\"2.4 GB\"",
            "Once full, the cache takes data again when so much of it can be opened.",
        )
        .scaled()
        .free(Free {
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
