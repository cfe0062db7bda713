//! Folding: from SLC superblocks to native ones.

use super::{Key, Kind, count, policy, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::{ByteRate, Size, Time};

pub(super) const KEYS: &[Key] = &[
    policy(
        "fold.idle_after",
        Kind::Quantity {
            dimension: Time,
            zero: false,
            never: true,
        },
        "\"30 s\"",
        "Folding in the background begins after so long without a host command, or \"never\".",
    ),
    policy(
        "fold.reserve",
        quantity_or_zero(Size),
        "\"30 GB\"",
        "Native bytes still free at which folding under pressure begins; 0 = only when nothing \
         else is left.",
    )
    .scaled(),
    policy(
        "fold.pace",
        Kind::Factor,
        "1.5",
        "Cache bytes folded a host byte under pressure, at least 1 where all is staged; 0 where \
         nothing folds under pressure.",
    ),
    policy(
        "fold.step",
        quantity(Size),
        "\"4 MiB\"",
        "With `slc_cache.when_full = \"fold-first\"`: cache bytes that are folded at a time while \
         the host waits, before it writes as many. How long it waits hangs on this and not on the \
         size of the drive.",
    )
    .or("\"4 MiB\""),
    policy(
        "fold.rearm_pace",
        Kind::Factor,
        "0.5",
        "Cache bytes folded a host byte while host data goes direct past a full cache, so that it \
         takes data again in mid-fill; 0 = not.",
    )
    .or("0"),
    policy(
        "fold.low",
        count(0, 1_000_000),
        "20",
        "Folding goes on in the background, whatever the host does, while fewer superblocks are \
         free; 0 = not for that.",
    )
    .or("0"),
    policy(
        "fold.high",
        count(0, 1_000_000),
        "24",
        "Once begun below `fold.low`, it stops when so many superblocks are free.",
    )
    .or("0"),
    policy(
        "fold.rate",
        quantity_or_zero(ByteRate),
        "\"50 MB/s\"",
        "Folded in the background at most (idle time, `fold.low`); 0 = as fast as the flash goes. \
         Pressure and demand have no limit.",
    )
    .or("0"),
    policy(
        "fold.check_every",
        count(0, 1_000_000),
        "16",
        "With copyback: of so many groups of wordlines one is read out over the channel and \
         checked before it is copied; 1 = all, 0 = none.",
    )
    .or("0"),
    policy(
        "fold.check_cycles",
        count(0, 1_000_000_000),
        "20000",
        "SLC cycles of a superblock from which on a check finds too many errors: the rest of it \
         is folded through the controller.",
    )
    .or("1000000000"),
    policy(
        "fold.check_errors",
        Kind::Factor,
        "0.3",
        "Share of the correctable bits from which on a check finds too many: the rest of the \
         superblock is folded through the controller; 0 = `fold.check_cycles` alone says so. Needs \
         `errors.correctable` and `fold.check_every`.",
    )
    .or("0"),
    policy(
        "fold.path",
        Kind::Word(&["copyback", "controller"]),
        "\"controller\"",
        "Folded data stays inside the die, or crosses the channel to the controller and back.",
    ),
];
