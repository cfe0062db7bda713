//! Folding: from SLC superblocks to native ones.

use super::{Key, Kind, policy, quantity_or_zero};
use crate::spec::quantity::Dimension::{Size, Time};

pub(super) const KEYS: &[Key] = &[
    policy(
        "fold.idle_after",
        Kind::Quantity {
            dimension: Time,
            zero: false,
            never: true,
        },
        "\"30 s\"",
        "Folding begins after so long without a host command, or \"never\".",
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
        "fold.rearm_pace",
        Kind::Factor,
        "0.5",
        "Cache bytes folded a host byte while host data goes direct past a full cache, so that it \
         takes data again in mid-fill; 0 = not.",
    )
    .or("0"),
    policy(
        "fold.path",
        Kind::Word(&["copyback", "controller"]),
        "\"controller\"",
        "Folded data stays inside the die, or crosses the channel to the controller and back.",
    ),
];
