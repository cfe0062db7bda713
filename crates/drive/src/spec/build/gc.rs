//! Garbage collection.

use flashtwin_ftl::policy::{Fdp, Gc, Isolation, Pace, Recycler, Separation, Victim};

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
        separation: Separation::named(checked.word("gc.separation"), &|key| checked.count(key))
            .expect("a word of the key"),
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
