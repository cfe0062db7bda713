//! Where the map from logical to physical units is, and what its parts on flash cost.

use super::{Key, Kind, count, policy, quantity};
use crate::spec::quantity::Dimension::{Size, Time};

pub(super) const KEYS: &[Key] = &[
    policy(
        "map.residency",
        Kind::Word(&["dram", "demand", "hmb"]),
        "\"demand\"",
        "The whole map in the drive's DRAM; or on flash, read page by page into the controller's \
         SRAM (drives without DRAM); or that with a second level in the host's memory (HMB). Every \
         spec says which: a drive without DRAM is another drive.",
    ),
    policy(
        "map.cache",
        quantity(Size),
        "\"1 MiB\"",
        "SRAM for pages of the map where it is not in DRAM; a page is one mapping unit.",
    )
    .or("\"1 MiB\"")
    .scaled(),
    policy(
        "map.hmb",
        quantity(Size),
        "\"64 MiB\"",
        "Memory of the host that holds pages of the map, with `hmb`.",
    )
    .or("\"64 MiB\"")
    .scaled(),
    policy(
        "map.hmb_latency",
        quantity(Time),
        "\"1.5 us\"",
        "Round trip to the host's memory before the first byte of a page comes, with `hmb`.",
    )
    .or("\"1.5 us\""),
    policy(
        "map.entry",
        count(4, 64),
        "4",
        "Bytes of a map entry: a page of 4 KiB with entries of 4 B reaches 1024 units.",
    )
    .or("4"),
    policy(
        "map.mode",
        Kind::Word(&["slc", "native"]),
        "\"slc\"",
        "How the blocks that hold pages of the map are programmed, where it is not in DRAM.",
    )
    .or("\"slc\""),
    policy(
        "map.journal",
        quantity(Size),
        "\"64 KiB\"",
        "RAM for changes of entries whose pages are not in SRAM (8 B each): data moved by folding \
         and collection. They wait there to be worked into their pages.",
    )
    .or("\"64 KiB\""),
    policy(
        "map.write_on_flush",
        Kind::Flag,
        "false",
        "A flush writes changed pages of the map back too, instead of leaving them to recovery.",
    )
    .or("false"),
    policy(
        "map.idle_after",
        Kind::Quantity {
            dimension: Time,
            zero: false,
            never: true,
        },
        "\"5 s\"",
        "Changed pages of the map are written back after so long without a host command, once \
         folding and collection have come to rest, or \"never\".",
    )
    .or("\"never\""),
];
