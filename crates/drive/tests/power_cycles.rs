//! What goes on in a drive whose power was off: idle work, folding at a rate, refresh, ages.

use crate::common::asks::{self, UNCACHED, single};
use crate::common::loops::rest;
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_nand::error::YEAR;

fn drive(sets: &[&[&str]]) -> Drive {
    let mut drive = asks::drive(sets);
    drive.enable_power_cuts();
    drive
}

/// Switches the power off, by a cut or in the orderly way, and on a second later; the answer is
/// how long the start took.
fn off_and_on(d: &mut Drive, cut: bool) -> Nanos {
    if cut {
        d.power_cut(d.now(), &mut Vec::new());
    } else {
        d.shut_down();
    }
    let on = d.now() + Nanos::from_secs(1);
    d.power_on(on)
}

/// Writes so many MiB in order and flushes.
fn write(d: &mut Drive, mib: u64) {
    for at in 0..mib {
        assert_eq!(single(d, Op::Write, at * 2048, 2048).1, Status::Ok);
    }
    single(d, Op::Flush, 0, 0);
}

/// Units of a superblock in SLC mode: what is in the open one is not folded.
const OPEN: u64 = 22_528;

#[test]
fn a_drive_left_alone_after_its_start_folds_once_its_idle_time_is_over() {
    for cut in [true, false] {
        let mut d = drive(&[&["fold.idle_after=10 s"]]);
        write(&mut d, 1000);
        let (held, _) = d.ftl().cache_units();
        assert!(held > 200_000, "{held} units in the cache");
        let start = off_and_on(&mut d, cut);
        rest(&mut d, start + Nanos::from_ms(9_900));
        assert_eq!(d.counters().fold_units, 0, "the idle time is not over");
        rest(&mut d, Nanos::from_secs(120));
        assert!(d.counters().fold_units > 200_000, "cut {cut}");
        assert!(d.ftl().cache_units().1 < OPEN, "cut {cut}");
        d.ftl().check();
    }
}

#[test]
fn switching_power_cuts_on_does_not_end_idle_time() {
    let mut d = asks::drive(&[&["fold.idle_after=1 s"]]);
    write(&mut d, 1000);
    rest(&mut d, Nanos::from_ms(1_500));
    let folded = d.counters().fold_units;
    d.enable_power_cuts();
    rest(&mut d, Nanos::from_secs(120));
    assert!(folded > 0 && d.ftl().cache_units().1 < OPEN, "{folded}");
}

#[test]
fn folding_at_a_rate_goes_on_after_the_power_was_off() {
    for cut in [true, false] {
        let mut d = drive(&[&["fold.idle_after=1 s", "fold.rate=4 MB/s"]]);
        write(&mut d, 1000);
        rest(&mut d, Nanos::from_secs(20));
        let before = d.counters().fold_units;
        assert!(before > 15_000 && before < 21_000, "{before} units in 19 s");
        let start = off_and_on(&mut d, cut);
        rest(&mut d, start);
        single(&mut d, Op::Write, 0, 8);
        let before = d.counters().fold_units;
        rest(&mut d, Nanos::from_secs(101));
        let units = (d.counters().fold_units - before) as f64;
        let share = units / (100.0 * 4e6 / 4096.0);
        assert!((share - 1.0).abs() < 0.03, "{share} of the rate, cut {cut}");
        d.ftl().check();
    }
}

/// A source that was folded cannot be erased before the unit that replaced one of its own is on
/// flash, and that waits for others to fill its program. Nothing else is left to fold: the drive is
/// not woken for each share of its rate meanwhile.
#[test]
fn a_drive_at_a_rate_that_can_fold_nothing_is_not_busy() {
    let mut d = drive(&[&[
        "fold.idle_after=1 s",
        "fold.rate=400 MB/s",
        "controller.gather=true",
        "controller.gather_time=1000 s",
    ]]);
    write(&mut d, 1000);
    single(&mut d, Op::Write, 0, 8);
    rest(&mut d, Nanos::from_secs(60));
    let due = d.next_due().map_or(Nanos::NEVER, |at| at - d.now());
    assert!(d.counters().fold_units > 200_000);
    assert!(due > Nanos::from_ms(50), "the next event is in {due:?}");
}

#[test]
fn a_rate_is_held_to_the_byte() {
    let mut d = asks::drive(&[&["fold.idle_after=1 s", "fold.rate=1999 B/s"]]);
    write(&mut d, 1000);
    rest(&mut d, Nanos::from_secs(20_001));
    let share = d.counters().fold_units as f64 / (20_000.0 * 1999.0 / 4096.0);
    assert!((share - 1.0).abs() < 0.01, "{share} of the rate");
}

/// A rated life of one cycle, so that wear is 1, and 40 wrong bits a KiB a year, of which 10 are
/// corrected at once and each step of the ladder finds 1.5 times fewer.
const WORN: &[&str] = &[
    "nand.native.endurance=1",
    "errors.correctable=10",
    "errors.native.fresh=0",
    "errors.native.wear=0",
    "errors.native.retention=40",
    "errors.native.disturb=0",
    "errors.native.retention_fresh=0",
    "errors.native.disturb_fresh=0",
    "errors.activation_energy=0",
    "errors.retention_power=1",
    "nand.wordlines_per_block=64",
    "nand.blocks_per_plane=300",
    "drive.capacity=3 GB",
    "ftl.system=0",
];

fn quarters(count: u64) -> Nanos {
    Nanos(YEAR.0 / 4 * count)
}

/// When the first data has to be refreshed; nothing else is due by then.
fn refresh_due(d: &mut Drive) -> Nanos {
    rest(d, Nanos::from_secs(1));
    d.next_due().expect("data is going to be refreshed")
}

#[test]
fn refresh_goes_on_after_the_power_was_off() {
    let refreshed = ["errors.refresh_at=0.9", "errors.retry_steps=2"];
    // A longer life, so that refreshing does not wear the drive out.
    let life = ["nand.native.endurance=100", "errors.native.retention=1000"];
    for cut in [true, false] {
        let mut d = drive(&[&UNCACHED, WORN, &refreshed, &life]);
        write(&mut d, 64);
        rest(&mut d, quarters(1));
        let before = d.counters().refresh_units;
        off_and_on(&mut d, cut);
        rest(&mut d, quarters(24));
        assert!(d.counters().refresh_units > before, "cut {cut}");
        for at in 0..64 {
            let (_, status) = single(&mut d, Op::Read, at * 2048, 2048);
            assert_eq!(status, Status::Ok, "MiB {at}, cut {cut}");
        }
        d.ftl().check();
    }
}

#[test]
fn what_was_to_be_refreshed_when_the_power_went_is_refreshed_later() {
    let mut d = drive(&[&UNCACHED, WORN, &["errors.refresh_at=0.5"]]);
    write(&mut d, 1024);
    let due = refresh_due(&mut d);
    d.advance(due, &mut Vec::new());
    // All of it is due within the seconds that it took to write.
    rest(&mut d, Nanos::from_ms(20));
    d.power_cut(d.now(), &mut Vec::new());
    let (on, before) = (d.now() + Nanos(1), d.counters().refresh_units);
    d.power_on(on);
    rest(&mut d, Nanos::from_secs(3600 * 2));
    let refreshed = d.counters().refresh_units - before;
    assert!(refreshed > 200_000, "{refreshed} of 262,144 units");
    d.ftl().check();
}

#[test]
fn a_start_makes_what_it_writes_back_young_and_leaves_the_rest_its_age() {
    // The first superblock is full, and the second is being filled when the power goes.
    // The superblock that has just been erased is written next.
    let mut d = drive(&[&UNCACHED, WORN, &["wear.dynamic=none"]]);
    write(&mut d, 26);
    rest(&mut d, quarters(3));
    let steps = |d: &mut Drive, lba| {
        let before = d.error_counts().retries;
        assert_eq!(single(d, Op::Read, lba, 8).1, Status::Ok);
        d.error_counts().retries - before
    };
    // 30 bits: 1.5^3 = 3.4.
    assert_eq!(steps(&mut d, 0), 3);
    assert_eq!(steps(&mut d, 25 * 2048), 3);
    off_and_on(&mut d, true);
    assert_eq!(steps(&mut d, 0), 3, "it lies where it lay");
    assert_eq!(steps(&mut d, 25 * 2048), 0, "it was written back");
}

#[test]
fn a_purge_is_not_disturbed_by_what_was_to_be_refreshed() {
    for kind in ["block", "crypto"] {
        let kind = format!("controller.secure_erase={kind}");
        let sets = ["errors.refresh_at=0.9", &kind];
        let mut d = drive(&[&UNCACHED, WORN, &sets]);
        write(&mut d, 1024);
        let due = refresh_due(&mut d);
        d.advance(Nanos(due.0 - 1000), &mut Vec::new());
        d.purge();
        d.ftl().check();
        assert_eq!(d.counters().refresh_units, 0);
        // New data is refreshed when it is old.
        write(&mut d, 64);
        rest(&mut d, quarters(2));
        assert!(d.counters().refresh_units > 0, "{kind}");
    }
}
