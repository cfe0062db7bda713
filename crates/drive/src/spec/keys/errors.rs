//! Bit errors, what corrects them, and refresh.

use super::{Key, Kind, count, fixed, policy, quantity, quantity_or_zero};
use crate::spec::quantity::Dimension::{Temperature, Time};

/// What holds for all cells, and the rates of each cell mode.
pub(super) fn keys() -> Vec<Key> {
    let modes = [("slc", "SLC"), ("native", "native")];
    let rates = modes.iter().enumerate().flat_map(|(at, &(mode, words))| {
        let rates = RATES.iter();
        let rates = rates.map(move |rate| rate.key(mode, words, rate.examples[at]));
        rates.chain([read_limit(mode, words)])
    });
    KEYS.iter().copied().chain(rates).collect()
}

/// The reads of a block that a firmware lets come together.
fn read_limit(mode: &str, words: &str) -> Key {
    let name = String::leak(format!("errors.{mode}.read_limit"));
    let meaning = String::leak(format!(
        "Reads of a block in {words} mode after which its data is written anew (read reclaim), \
         looked at every 4096 reads; 0 = never. Needs `errors.correctable`."
    ));
    policy(name, count(0, 1_000_000_000), "100000", meaning).or("0")
}

/// A rate at which cells get bits wrong, for each mode of cells.
struct Rate {
    name: &'static str,
    /// In SLC and in native mode.
    examples: [&'static str; 2],
    /// With `{}` for the mode.
    meaning: &'static str,
}

impl Rate {
    fn key(&self, mode: &str, words: &str, value: &'static str) -> Key {
        let name = String::leak(format!("errors.{mode}.{}", self.name));
        let meaning = String::leak(self.meaning.replace("{}", words));
        fixed(name, Kind::Factor, value, meaning).or(value)
    }
}

const RATES: &[Rate] = &[
    Rate {
        name: "fresh",
        examples: ["0.1", "12.1"],
        meaning: "Wrong bits a KiB of new cells in {} mode.",
    },
    Rate {
        name: "wear",
        examples: ["1", "42.7"],
        meaning: "Wrong bits a KiB added in {} mode at the end of the rated life.",
    },
    Rate {
        name: "retention_fresh",
        examples: ["0.3", "12.5"],
        meaning: "Wrong bits a KiB added in {} mode by a year in new cells.",
    },
    Rate {
        name: "retention",
        examples: ["0.7", "25.7"],
        meaning: "Wrong bits a KiB added in {} mode by a year on top of that, at the end of the \
                  rated life; in proportion to wear before.",
    },
    Rate {
        name: "disturb_fresh",
        examples: ["0.1", "1"],
        meaning: "Wrong bits a KiB added in {} mode by a million reads of a block of new cells.",
    },
    Rate {
        name: "disturb",
        examples: ["1", "13"],
        meaning: "Wrong bits a KiB added in {} mode by a million reads of a block on top of that, \
                  at the end of the rated life; in proportion to wear before.",
    },
];

const KEYS: &[Key] = &[
    fixed(
        "errors.correctable",
        count(0, 4096),
        "72",
        "Wrong bits a KiB that a first decode corrects; 0 leaves bit errors out altogether.",
    )
    .or("0"),
    fixed(
        "errors.page_spread",
        Kind::Factor,
        "0.3",
        "Pages have up to this share more or fewer wrong bits than the average one.",
    )
    .or("0"),
    fixed(
        "errors.wear_power",
        Kind::Factor,
        "2.05",
        "The power of wear (cycles over rated cycles) with which wrong bits rise.",
    )
    .or("2.05"),
    fixed(
        "errors.retention_power",
        Kind::Factor,
        "0.54",
        "The power of time with which wrong bits rise.",
    )
    .or("0.54"),
    fixed(
        "errors.activation_energy",
        Kind::Factor,
        "1.1",
        "Energy in electronvolts, at most 3, with which the loss of charge goes faster in a warm \
         drive and slower in a cold one (law of Arrhenius); 0 = heat does nothing.",
    )
    .or("1.1"),
    fixed(
        "errors.retention_temperature",
        quantity_or_zero(Temperature),
        "\"30 C\"",
        "Temperature that the rates of retention hold for.",
    )
    .or("\"30 C\""),
    fixed(
        "errors.retry_steps",
        count(0, 32),
        "8",
        "Steps of the read-retry ladder before a soft decode.",
    )
    .or("8"),
    fixed(
        "errors.retry_gain",
        Kind::Factor,
        "1.5",
        "How many times fewer wrong bits each step finds.",
    )
    .or("1.5"),
    fixed(
        "errors.retry_time",
        quantity(Time),
        "\"80 us\"",
        "Time of a step on the die: sense, transfer, decode.",
    )
    .or("\"80 us\""),
    fixed(
        "errors.soft_gain",
        Kind::Factor,
        "2",
        "How many times more wrong bits a soft decode corrects.",
    )
    .or("2"),
    fixed(
        "errors.soft_time",
        quantity(Time),
        "\"400 us\"",
        "Time of the further senses of a soft decode.",
    )
    .or("\"400 us\""),
    policy(
        "errors.refresh_at",
        Kind::Factor,
        "0.8",
        "Share of the correctable bits at which data is written anew; 0 = never.",
    )
    .or("0"),
    policy(
        "errors.rebuild",
        Kind::Flag,
        "true",
        "What the code cannot correct is made anew from the other granules of its stripe and \
         moved. Needs `ftl.parity` and `errors.correctable`.",
    )
    .or("false"),
];
