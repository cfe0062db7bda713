//! Tables go out and come back; bytes that are none end in an error.

use std::path::{Path, PathBuf};

use flashtwin_tables::{Column, Columns, Damage, Table, pack, read, unpack, write};
use proptest::prelude::*;

const MOST: u64 = 1 << 24;

fn whole(table: &Table) -> Vec<u8> {
    let columns: Vec<_> = table
        .iter()
        .map(|(name, values)| (name.clone(), Column::Whole(values)))
        .collect();
    write(&columns)
}

fn columns(table: &Table) -> Columns<'_> {
    table
        .iter()
        .map(|(name, values)| (name.clone(), values.as_slice()))
        .collect()
}

/// Counters, noise, constants, extremes.
fn values(rows: usize) -> impl Strategy<Value = Vec<i64>> {
    let one = prop_oneof![
        any::<i64>(),
        0..100_i64,
        Just(7),
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    prop_oneof![
        prop::collection::vec(one, rows),
        (0..1000_i64, 0..1000_i64)
            .prop_map(move |(from, step)| (0..rows as i64).map(|at| from + at * step).collect()),
    ]
}

fn tables() -> impl Strategy<Value = Table> {
    (0..700_usize, 1..5_usize).prop_flat_map(|(rows, columns)| {
        prop::collection::vec(values(rows), columns).prop_map(|all| {
            all.into_iter()
                .enumerate()
                .map(|(at, values)| (format!("c{at}"), values))
                .collect()
        })
    })
}

/// The tables of a stored run.
fn stored_tables() -> Vec<PathBuf> {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/runs/finished");
    let entries = run.read_dir().expect("a golden run");
    let files = entries.map(|entry| entry.expect("a golden run").path());
    files
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 80,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn what_was_written_is_read(table in tables()) {
        prop_assert_eq!(read(&whole(&table), MOST), Ok(table.clone()));
        let block = pack(&[("a".to_owned(), columns(&table)), ("none".to_owned(), Vec::new())]);
        let back = unpack(&block, MOST);
        prop_assert_eq!(back, Ok(vec![("a".to_owned(), table), ("none".to_owned(), Vec::new())]));
    }

    #[test]
    fn no_bytes_end_in_a_panic(
        table in tables(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        for (bytes, kind) in [(whole(&table), 0), (pack(&[("a".to_owned(), columns(&table))]), 1)] {
            let mut bytes = bytes;
            let place = at.index(bytes.len());
            bytes[place] = byte;
            let short = &bytes[..place];
            if kind == 0 {
                let _ = (read(&bytes, MOST), read(short, MOST));
                prop_assert!(read(short, MOST).is_err());
            } else {
                let _ = unpack(&bytes, MOST);
                prop_assert!(unpack(short, MOST).is_err());
            }
        }
    }
}

#[test]
fn tables_of_several_groups_and_pages() {
    let rows = (1 << 20) + 5;
    let table: Table = vec![
        ("counter".to_owned(), (0..rows).map(|at| at * at).collect()),
        ("few".to_owned(), (0..rows).map(|at| at % 3).collect()),
    ];
    assert_eq!(read(&whole(&table), MOST), Ok(table));
}

#[test]
fn stored_tables_are_read_and_their_damage_is_told() {
    let files = stored_tables();
    assert!(files.len() >= 5, "{files:?}");
    for (number, path) in files.iter().enumerate() {
        let bytes = std::fs::read(path).expect("a golden file");
        let table = read(&bytes, MOST).expect("what flashtwin wrote");
        assert!(
            table
                .iter()
                .any(|(name, values)| name == "step" && !values.is_empty())
        );
        // Of each footer every third byte, of three files together all of them.
        let footer = bytes.len().saturating_sub(600);
        let in_footer = (footer + number % 3..bytes.len()).step_by(3);
        for at in (0..footer).step_by(499).chain(in_footer) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x81;
            let _ = read(&bytes, MOST);
        }
    }
}

#[test]
fn a_table_beyond_the_bound_is_refused_before_it_is_read() {
    let table: Table = vec![("a".to_owned(), vec![1; 1000])];
    let error = read(&whole(&table), 999).expect_err("1000 values, and 999 are allowed");
    assert_eq!(
        error.to_string(),
        "its 1000 rows are more than this machine can hold"
    );
    let block = pack(&[("t".to_owned(), columns(&table))]);
    assert!(unpack(&block, 999).is_err() && unpack(&block, 1000).is_ok());
}

#[test]
fn numbers_and_texts_are_written_for_others_only() {
    let words = ["a".to_owned(), String::new()];
    let bytes = write(&[
        ("text".to_owned(), Column::Words(&[0, -1, 1], &words)),
        ("number".to_owned(), Column::Numbers(&[1.5, f64::NAN, -2.0])),
    ]);
    let error: Damage = read(&bytes, MOST).expect_err("text is no whole number");
    assert_eq!(
        error.to_string(),
        "column text holds something else than whole numbers"
    );
}
