//! Folding: from SLC superblocks to native ones.

use flashtwin_ftl::choices::{Free, Unit};

use crate::spec::key::Kind::Factor;
use crate::spec::key::{Key, Name, count, policy, rate, section, size, time, words};
use crate::spec::mechanism::{Case, Part};
use crate::spec::values::Values;
use crate::spec::words::Path;

section! {
    /// How data gets out of the cache.
    read Fold in "fold" {
        /// Folding in the background begins after this time without a host command, or "never".
        idle_after: Option<u64> =
            policy(time().or_never(), "30 s").only(Part::Cache, "never").free(Free {
            name: "idle",
            title: "rest before folding begins",
            unit: Unit::Seconds,
            range: [0.3, 600.0],
            usual: Some(15.0),
            spread: 1.6,
            log: true,
            seen: "how much of the cache is there again after rests of different lengths",
        });
        /// Native bytes still free at which folding under pressure begins; 0 = only when nothing
        /// else is left.
        reserve: u64 = policy(size().or_zero(), "30 GB").scaled().only(Part::Lends, "0").free(Free {
            name: "reserve",
            title: "native flash that is free when folding begins, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.02, 0.12],
            usual: Some(0.05),
            spread: 0.6,
            log: false,
            seen: "where in a fill the slowest part begins",
        });
        /// Cache bytes folded a host byte under pressure, at least 1 where all is staged, and twice
        /// as many while the host goes past the cache and fewer than `gc.low` superblocks are free;
        /// 0 where nothing folds under pressure.
        pace: u64 = policy(Factor, "1.5").only(Part::Presses, "0");
        /// Folding goes on in the background, whatever the host does, while fewer superblocks are
        /// free; 0 = not for that.
        low: u64 = policy(count(0, 1_000_000), "20").or("0").only(Part::Lends, "0");
        /// Once begun below `fold.low`, it stops when this number of superblocks is free.
        high: u64 = policy(count(0, 1_000_000), "24").or("0");
        /// Folded in the background at most (idle time, `fold.low`); 0 = as fast as the flash goes.
        /// Pressure and demand have no limit.
        rate: u64 = policy(rate().or_zero(), "50 MB/s").or("0");
        /// With copyback: of this number of groups of wordlines one is read out over the channel
        /// and checked before it is copied; 1 = all, 0 = none.
        check_every: u64 = policy(count(0, 1_000_000), "16").or("0").off(&[Case::NoCopyback]);
        /// SLC cycles of a superblock from which on a check finds too many errors: the rest of it
        /// is folded through the controller.
        check_cycles: u64 = policy(count(0, 1_000_000_000), "20000").or("1000000000");
        /// Share of the correctable bits from which on a check finds too many: the rest of the
        /// superblock is folded through the controller; 0 = `fold.check_cycles` alone says so.
        /// Needs `errors.correctable` and `fold.check_every`.
        check_errors: u64 = policy(Factor, "0.3").or("0")
            .within(0..=1000, "a share above 1",
                "write 1 or less").off(&[Case::NoChecks, Case::NoBitErrors]);
        /// Folded data stays inside the die, or crosses the channel to the controller and back.
        path: Path = policy(words::<Path>(), "controller")
            .idle("controller")
            .off(&[Case::ParityOfFolds]);
    }
}
