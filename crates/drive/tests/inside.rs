//! Parts of the crate that no drive shows alone: counters of a stream, quantities, words and tables
//! of keys. Here and not beside them, as a crate is compiled a second time for tests of its own.

use flashtwin_base::Nanos;
use flashtwin_drive::inside::{
    Dimension, RUNS, Runs, TEXT_MOST, are_one_value, distance, nearest, needs, parse, pcie, rules,
    sata, shown, text,
};
use flashtwin_drive::spec::keys::{self, KEYS, names, sections};
use flashtwin_drive::xray::Xray;
use proptest::prelude::*;

#[test]
fn runs_between_each_other_are_told_apart_and_the_oldest_is_forgotten() {
    let mut runs = Runs::default();
    for round in 1..5 {
        for base in [0, 1 << 20, 1 << 30] {
            let lba = base + (round - 1) * 8;
            assert_eq!(runs.note(lba, 8, 4096), round * 4096);
        }
    }
    for other in 0..RUNS as u64 {
        assert_eq!(runs.note((1 << 40) + other * 1000, 8, 4096), 4096);
    }
    assert_eq!(runs.note(32, 8, 4096), 4096, "forgotten");
}

#[test]
fn payload_rates_are_those_of_the_standards() {
    let table = [
        (sata(6_000), 600_000_000, 591_270_611),
        (sata(1_500), 150_000_000, 147_817_652),
        // 250 MB/s a lane and 256 / 280 of it.
        (pcie(1, 1, 256), 250_000_000, 228_571_428),
        // 4 x 8 GT/s x 128/130 / 8.
        (pcie(3, 4, 256), 3_938_461_538, 3_600_879_120),
        (pcie(3, 4, 128), 3_938_461_538, 3_316_599_189),
        (pcie(5, 4, 512), 15_753_846_153, 15_048_450_056),
    ];
    for (rates, encoded, payload) in table {
        assert_eq!(rates, (encoded, payload));
    }
}

#[test]
fn rules_name_keys_and_values_that_there_are() {
    for (switches, dependents) in rules() {
        for switch in switches {
            assert!(keys::position(switch).is_some(), "{switch}");
        }
        for (name, off) in dependents {
            let key = &KEYS[keys::position(name).expect(name)];
            // A drive that never mentions the key has it off. Depth 32 is SATA's most.
            if let Some(text) = key.default.filter(|_| name != "link.queue_depth") {
                assert!(are_one_value(key, text, off), "{name}");
            }
        }
    }
    for (switches, needed) in needs() {
        for name in switches.iter().chain([&needed]) {
            assert!(keys::position(name).is_some(), "{name}");
        }
    }
}

#[test]
fn names_are_unique_and_sections_stand_together() {
    let mut seen: Vec<&str> = names(false).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), KEYS.len());
    let mut once = sections();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), sections().len());
}

#[test]
fn decimals_are_exact() {
    let table = [
        ("404.8 us", Dimension::Time, 404_800),
        ("4.3ms", Dimension::Time, 4_300_000),
        ("35 µs", Dimension::Time, 35_000),
        ("2.4 GB", Dimension::Size, 2_400_000_000),
        ("0.5 KiB", Dimension::Size, 512),
        ("0", Dimension::Size, 0),
        ("545 MB/s", Dimension::ByteRate, 545_000_000),
        ("1.6 GT/s", Dimension::TransferRate, 1_600_000_000),
    ];
    for (text, dimension, value) in table {
        assert_eq!(parse(text, dimension), Ok(value), "{text}");
    }
}

#[test]
fn what_is_not_a_quantity_says_why() {
    let table = [
        ("24", Dimension::Size, "has no unit"),
        ("24 KB", Dimension::Size, "`KB` is not a unit of a size"),
        ("24 us", Dimension::Size, "`us` is not a unit of a size"),
        ("GB", Dimension::Size, "is not a size"),
        ("-1 GB", Dimension::Size, "is not a size"),
        ("1.2.3 GB", Dimension::Size, "is not a number"),
        ("2. GB", Dimension::Size, "is not a number"),
        ("0.3 B", Dimension::Size, "finer than one"),
        ("1.0005 us", Dimension::Time, "finer than one"),
        ("99999999999 GB", Dimension::Size, "too large"),
        (
            "400 MB/s",
            Dimension::TransferRate,
            "`MB/s` is not a unit of a bus rate",
        ),
    ];
    for (text, dimension, part) in table {
        let fault = parse(text, dimension).unwrap_err();
        assert!(fault.contains(part), "{text}: {fault}");
    }
}

#[test]
fn text_is_short_and_comes_back() {
    let table = [
        (24_000_000_000, Dimension::Size, "24 GB"),
        (16_384, Dimension::Size, "16 KiB"),
        (1_572_864, Dimension::Size, "1.5 MiB"),
        (404_800, Dimension::Time, "404.8 us"),
        (100_000_000, Dimension::Time, "100 ms"),
        (400_000_000, Dimension::TransferRate, "400 MT/s"),
        (1_234_567_891, Dimension::Size, "1234567891 B"),
    ];
    for (value, dimension, expected) in table {
        assert_eq!(text(value, dimension), expected);
        assert_eq!(parse(expected, dimension), Ok(value));
    }
}

#[test]
fn what_does_not_print_is_shown_as_its_code() {
    let table = [
        ("plain µs, e\u{301} and 閃", "plain µs, e\u{301} and 閃"),
        ("a\u{1b}[31m", "a\\u{1b}[31m"),
        ("a\nb", "a\\u{a}b"),
        ("\u{202e}gnp", "\\u{202e}gnp"),
        ("\u{200b}\u{a0}", "\\u{200b}\\u{a0}"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn long_text_keeps_both_ends() {
    let word = shown(&format!("`{}` is not a size", "7".repeat(5000)));
    assert!(word.starts_with("`777") && word.contains('…'), "{word}");
    assert!(word.ends_with("777` is not a size") && word.len() < 200);
    let words = shown(&"many words ".repeat(5000));
    assert!(words.chars().count() <= TEXT_MOST, "{}", words.len());
}

#[test]
fn swaps_and_moves_cost_one_edit() {
    assert_eq!(distance("tlc", "tcl"), 1);
    assert_eq!(distance("", "gc"), 2);
    assert_eq!(distance("planes", "planes"), 0);
}

#[test]
fn the_nearest_is_found_and_the_far_is_not() {
    let keys = ["drive.capacity", "slc_cache.size", "slc_cache.static_size"];
    assert_eq!(nearest("slc_cache.sise", keys), Some("slc_cache.size"));
    assert_eq!(nearest("nand.capacity", keys), Some("drive.capacity"));
    assert_eq!(nearest("size", keys), Some("slc_cache.size"));
    assert_eq!(nearest("nand.colour", keys), None);
}

proptest! {
    #[test]
    fn columns_are_the_rows_that_were_kept(
        rows in prop::collection::vec(prop::array::uniform32(-2i64..3), 0..40),
    ) {
        let mut xray = Xray::default();
        let wide = |row: &[i64; 32]| std::array::from_fn(|i| (row[i % 32] << i) as u64);
        rows.iter().for_each(|row| xray.keep(&wide(row)));
        let columns = xray.columns();
        prop_assert!(columns.iter().all(|column| column.len() == rows.len()));
        for (at, row) in rows.iter().enumerate() {
            prop_assert_eq!(columns.each_ref().map(|column| column[at] as u64), wide(row));
        }
        xray.restart(Nanos::ZERO, Nanos::ZERO);
        prop_assert!(xray.columns().iter().all(Vec::is_empty));
    }
}
