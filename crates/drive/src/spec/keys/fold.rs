//! Folding: from SLC superblocks to native ones.

use flashtwin_ftl::choices::{Free, Unit};

use super::{Key, Kind, count, quantity_or_never, quantity_or_zero, section, setting, with_own};
use crate::spec::parts::Part;
use crate::spec::quantity::Dimension::{ByteRate, Size, Time};
use crate::spec::value::Values;

section! {
    /// How data gets out of the cache.
    Fold in "fold" {
        idle_after: Option<u64> = setting(
            quantity_or_never(Time),
            "\"30 s\"",
            "Folding in the background begins after so long without a host command, or \"never\".",
        )
        .only(Part::Cache, "\"never\"")
        .free(Free {
            name: "idle",
            title: "rest before folding begins",
            unit: Unit::Seconds,
            range: [0.3, 600.0],
            usual: Some(15.0),
            spread: 1.6,
            log: true,
            seen: "how much of the cache is there again after rests of different lengths",
        });
        reserve: u64 = setting(
            quantity_or_zero(Size),
            "\"30 GB\"",
            "Native bytes still free at which folding under pressure begins; 0 = only when nothing \
             else is left.",
        )
        .scaled()
        .only(Part::Lends, "0")
        .free(Free {
            name: "reserve",
            title: "native flash that is free when folding begins, as a share of the capacity",
            unit: Unit::OfCapacity,
            range: [0.02, 0.12],
            usual: Some(0.05),
            spread: 0.6,
            log: false,
            seen: "where in a fill the slowest part begins",
        });
        pace: u64 = setting(
            Kind::Factor,
            "1.5",
            "Cache bytes folded a host byte under pressure, at least 1 where all is staged; 0 \
             where nothing folds under pressure.",
        )
        .only(Part::Presses, "0");
        low: u64 = setting(
            count(0, 1_000_000),
            "20",
            "Folding goes on in the background, whatever the host does, while fewer superblocks \
             are free; 0 = not for that.",
        )
        .or("0")
        .only(Part::Lends, "0");
        high: u64 = setting(
            count(0, 1_000_000),
            "24",
            "Once begun below `fold.low`, it stops when so many superblocks are free.",
        )
        .or("0");
        rate: u64 = setting(
            quantity_or_zero(ByteRate),
            "\"50 MB/s\"",
            "Folded in the background at most (idle time, `fold.low`); 0 = as fast as the flash \
             goes. Pressure and demand have no limit.",
        )
        .or("0");
        check_every: u64 = setting(
            count(0, 1_000_000),
            "16",
            "With copyback: of so many groups of wordlines one is read out over the channel and \
             checked before it is copied; 1 = all, 0 = none.",
        )
        .or("0");
        check_cycles: u64 = setting(
            count(0, 1_000_000_000),
            "20000",
            "SLC cycles of a superblock from which on a check finds too many errors: the rest of \
             it is folded through the controller.",
        )
        .or("1000000000");
        check_errors: u64 = setting(
            Kind::Factor,
            "0.3",
            "Share of the correctable bits from which on a check finds too many: the rest of the \
             superblock is folded through the controller; 0 = `fold.check_cycles` alone says so. \
             Needs `errors.correctable` and `fold.check_every`.",
        )
        .or("0");
        path: &'static str = setting(
            Kind::Word(&["copyback", "controller"]),
            "\"controller\"",
            "Folded data stays inside the die, or crosses the channel to the controller and back.",
        );
    }
}
