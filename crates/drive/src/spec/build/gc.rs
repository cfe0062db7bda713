//! Garbage collection.

use flashtwin_ftl::policy::{Fdp, Gc, Isolation, Pace, Recycler, Separation, Victim, Way};

use super::Checked;

pub(super) fn policy(checked: &Checked<'_>) -> Gc {
    Gc {
        victim: Victim::named(checked.word("gc.policy"), &|key| checked.count(key)),
        low_superblocks: checked.count("gc.low"),
        high_superblocks: checked.count("gc.high"),
        reserve_superblocks: checked.count("gc.reserve"),
        pace: Pace::named(checked.word("gc.pace")).expect("a word of the key"),
        idle_after: checked.time_or_never("gc.idle_after"),
        idle_superblocks: checked.count("gc.idle_target"),
        recycler: Recycler::named(checked.word("gc.recycler")).expect("a word of the key"),
        separation: match checked.word("gc.separation") {
            "none" => Separation::None,
            "gc" => Separation::Gc,
            "oracle" => Separation::Oracle {
                hot_milli: checked.count("gc.hot_share"),
                pool_milli: checked.count("gc.hot_pool"),
            },
            name => match Way::named(name) {
                Some(way) => Separation::ByLifetime(way),
                None => unreachable!("gc.separation was checked"),
            },
        },
    }
}

pub(super) fn placement(checked: &Checked<'_>) -> Fdp {
    Fdp {
        handles: checked.count("fdp.handles"),
        isolation: match checked.word("fdp.isolation") {
            "initial" => Isolation::Initial,
            _ => Isolation::Persistent,
        },
    }
}
