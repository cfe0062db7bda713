//! Rows rebuilt from their stripes, against shares and times that can be reckoned by hand.

use crate::common::asks::{self, UNCACHED, single};
use flashtwin_base::{Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;

/// Three data granules a stripe on four dies; 9.5 wrong bits a KiB for ever, pages differ by up to
/// 30 %, and 10 are corrected in one decode or never.
const SETS: [&str; 21] = [
    "nand.channels=4",
    "nand.wordlines_per_block=64",
    "drive.capacity=3 GB",
    "ftl.system=0",
    "ftl.parity=stripe",
    "controller.read_ahead_streams=0",
    "errors.native.fresh=9.5",
    "errors.native.wear=0",
    "errors.native.retention=0",
    "errors.native.disturb=0",
    "errors.native.retention_fresh=0",
    "errors.native.disturb_fresh=0",
    "errors.activation_energy=0",
    "errors.page_spread=0.3",
    "errors.correctable=10",
    "errors.retry_steps=1",
    "errors.retry_gain=1",
    "errors.soft_gain=1",
    "errors.retry_time=80 us",
    "errors.soft_time=400 us",
    "errors.rebuild=true",
];

/// The share of pages that cannot be read: those that differ by more than 0.5 ÷ 9.5 ÷ 0.3.
const UNREADABLE: f64 = (1.0 - 0.5 / 9.5 / 0.3) / 2.0;
/// Sectors of a row: a page of 16 KiB of each of four planes.
const ROW: u32 = 128;

fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[&UNCACHED, &SETS, sets])
}

fn fill(drive: &mut Drive, rows: u32) {
    for row in 0..rows {
        single(drive, Op::Write, u64::from(row * ROW), ROW);
    }
    single(drive, Op::Flush, 0, 0);
}

#[test]
fn a_row_is_lost_only_with_a_second_one_of_its_stripe() {
    let rows = 8000;
    let read = |sets: &[&str]| {
        let mut d = drive(sets);
        fill(&mut d, rows);
        let unreadable = |row: u32, d: &mut Drive| {
            single(d, Op::Read, u64::from(row * ROW), 8).1 == Status::Unreadable
        };
        let bad = (0..rows).filter(|&row| unreadable(row, &mut d)).count();
        d.ftl().check();
        (bad as f64 / f64::from(rows), d)
    };
    let (alone, d) = read(&["errors.rebuild=false"]);
    assert!((alone - UNREADABLE).abs() < 0.02, "{alone} of {UNREADABLE}");
    assert_eq!(d.error_counts().rebuilt, 0);
    assert_eq!(d.counters().refresh_units, 0);
    let (_, mut d) = read(&[]);
    let counts = d.error_counts();
    let tried = (counts.rebuilt + counts.lost_rows) as f64;
    let share = counts.rebuilt as f64 / tried;
    let expected = (1.0 - UNREADABLE).powi(3);
    assert!((share - expected).abs() < 0.03, "{share} of {expected}");
    assert!(counts.uncorrectable > 0);
    // Data that was rebuilt has been moved.
    assert!(d.counters().refresh_units > 0);
    d.restart_xray(Nanos::from_secs(1));
    let to = d.now() + Nanos::from_secs(2);
    d.advance(to, &mut Vec::new());
    let counts = d.error_counts();
    let at = flashtwin_drive::xray::COLUMNS
        .iter()
        .position(|&c| c == "rebuilt");
    let columns = d.close_xray().columns();
    assert_eq!(
        columns[at.expect("a column")].last(),
        Some(&(counts.rebuilt as i64))
    );
}

#[test]
fn a_rebuild_takes_the_failed_read_and_one_of_the_other_dies() {
    // Of two dies one holds the parity: a single other row is read.
    let mut d = drive(&["nand.channels=2", "drive.capacity=1 GB"]);
    fill(&mut d, 60);
    let (mut plain, mut seen) = (Vec::new(), 0);
    for row in 0..60 {
        let before = (d.error_counts(), d.counters().refresh_units);
        let (time, status) = single(&mut d, Op::Read, u64::from(row * ROW), 8);
        let after = d.error_counts();
        if after.retries == before.0.retries {
            plain.push(time);
        } else if after.rebuilt > before.0.rebuilt && before.0.rebuilt == 0 {
            // The first one: nothing is being refreshed yet.
            assert_eq!((status, before.1), (Status::Ok, 0));
            let failed = 80_000 + 400_000;
            // The same page type of the other die, and 4 KiB over its channel at 400 MB/s.
            let other = [45_000, 60_000, 75_000].map(|tr| tr + 10_240);
            let fits = |&other: &u64| plain.iter().any(|&p| time == p + failed + other);
            assert!(other.iter().any(fits), "{time} beside {plain:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 1);
}

#[test]
fn a_cut_forgets_rebuilds_under_way_and_loses_nothing_by_them() {
    let mut d = drive(&[]);
    d.enable_power_cuts();
    fill(&mut d, 600);
    for round in 0..200u64 {
        let now = d.now();
        for tag in 0..8 {
            let lba = (round * 8 + tag) % 600 * u64::from(ROW);
            d.submit(now, Request::new(tag as u32, Op::Read, lba, 8));
        }
        let at = now + Nanos(round * 7919 % 1_000_000);
        d.power_cut(at, &mut Vec::new());
        let ready = at + d.power_on(at);
        d.advance(ready, &mut Vec::new());
        d.ftl().check();
    }
    assert!(d.error_counts().rebuilt > 0);
    assert!((0..600).all(|row| d.ftl().locate(row * ROW / 8).is_some()));
}
