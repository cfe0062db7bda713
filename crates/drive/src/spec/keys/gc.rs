//! Garbage collection, and which data shares superblocks.

use flashtwin_ftl::choices::{PACINGS, RECYCLINGS};
use flashtwin_ftl::lifetimes::{SEPARATIONS, WORDS};
use flashtwin_ftl::orders::{NAMES, ORDERS};
use flashtwin_ftl::policy::{Isolation, Pace, Recycler, Separation, Victim};

use crate::spec::key::Kind::Factor;
use crate::spec::key::{Key, Name, choice, count, policy, section, time, words};
use crate::spec::mechanism::Case;

section! {
    /// Garbage collection.
    Gc in "gc" {
        /// Which superblock is collected
        policy: Victim =
            policy(choice(NAMES, ORDERS.iter().map(|it| (it.name, it.takes))), "greedy")
                .or("greedy");
        /// Collection begins when fewer superblocks are free.
        low: u64 = policy(count(1, 1_000_000), "4");
        /// Collection ends when this number of superblocks is free.
        high: u64 = policy(count(1, 1_000_000), "6");
        /// Superblocks that the host never gets: collection and folding need them to finish.
        reserve: u64 = policy(count(2, 1_000_000), "3");
        /// How the host waits for collection
        pace: Pace =
            policy(choice(Pace::NAMES, PACINGS.iter().map(|it| (it.name, it.waits))), "paced")
                .or("paced");
        /// Collection goes on ahead of need after this time without a host command, or "never".
        idle_after: Option<u64> = policy(time().or_never(), "5 s").or("never");
        /// Collection in idle time ends when this number of superblocks is free.
        idle_target: u64 = policy(count(0, 1_000_000), "40").or("0");
        /// Further work of collection in a drive that has been written all over
        recycler: Recycler =
            policy(choice(Recycler::NAMES, RECYCLINGS.iter().map(|it| (it.name, it.does))), "none")
                .or("none");
        /// Which data shares superblocks
        separation: Separation =
            policy(choice(WORDS, SEPARATIONS.iter().map(|it| (it.name, it.divides))), "gc")
                .or("gc");
        /// With `oracle`: the share of the capacity, from its beginning, that the host calls hot.
        hot_share: u64 = policy(Factor, "0.2").or("0.2");
        /// With `oracle`: the share of the superblocks in use that is the hot pool's.
        hot_pool: u64 = policy(Factor, "0.25").or("0.25");
    }
}

section! {
    /// Flexible data placement (NVMe 2.0, TP4146): the host says which of its writes belong
    /// together.
    Fdp in "fdp" {
        /// Reclaim unit handles: writes of each handle fill superblocks (reclaim units) of their
        /// own. 1 = no placement by the host.
        handles: u64 = policy(count(1, 8), "8").or("1").off(&[Case::Sata]);
        /// Data of different handles in collection: `initial` mixes it, `persistent` keeps a
        /// superblock open for each handle too.
        isolation: Isolation =
            policy(words::<Isolation>(), "persistent")
                .or("initial")
                .off(&[Case::NoHandles])
                .waits(&[
                    (Case::NoHandles, "there are no handles to isolate (fdp.handles = 1)"),
                ]);
    }
}
