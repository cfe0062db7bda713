//! Bit errors against times that can be reckoned by hand, over years of virtual rest.

use crate::common::asks::{self, UNCACHED, single};
use crate::common::loops::{go, job};
use crate::common::{BASE, load_with};
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_nand::error::YEAR;
use flashtwin_workload::ReadWrite;

/// No cache, a rated life of one cycle so that wear is 1, and 40 wrong bits a KiB a year.
const WORN: [&str; 12] = [
    "nand.native.endurance=1",
    "errors.native.fresh=0",
    "errors.native.wear=0",
    "errors.native.retention_fresh=0",
    "errors.native.retention=40",
    "errors.native.disturb_fresh=0",
    "errors.native.disturb=0",
    "errors.activation_energy=0",
    "errors.retention_power=1",
    "errors.retry_gain=1.5",
    "errors.retry_time=80 us",
    "errors.soft_time=400 us",
];

fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[&UNCACHED, &WORN, sets])
}

/// Latency and status of a read of data that rested for so many quarters of a year.
fn read_after(sets: &[&str], quarters: u64) -> (u64, Status, Drive) {
    let mut d = drive(sets);
    single(&mut d, Op::Write, 0, 96 * 8);
    single(&mut d, Op::Flush, 0, 0);
    let to = d.now() + Nanos(YEAR.0 / 4 * quarters);
    d.advance(to, &mut Vec::new());
    let (time, status) = single(&mut d, Op::Read, 0, 8);
    (time, status, d)
}

#[test]
fn rest_costs_steps_of_the_ladder() {
    let plain = read_after(&["errors.correctable=0"], 4).0;
    // 10 wrong bits a quarter, 10 are corrected at once; 1.5^2 = 2.25, 1.5^4 = 5.06.
    for (quarters, steps) in [(0, 0), (1, 1), (2, 2), (4, 4), (5, 4), (8, 6)] {
        let (time, status, d) = read_after(&["errors.correctable=10"], quarters);
        assert_eq!(status, Status::Ok);
        assert_eq!(time, plain + steps * 80_000, "after {quarters} quarters");
        assert_eq!(d.error_counts().retries, steps);
    }
}

#[test]
fn a_soft_decode_comes_last_and_then_the_data_is_lost() {
    let plain = read_after(&["errors.correctable=0"], 4).0;
    let sets = [
        "errors.correctable=10",
        "errors.retry_steps=2",
        "errors.soft_gain=2",
    ];
    // After two steps 2.25 times fewer: 22 bits can be had with them, 45 with the soft decode.
    let (time, status, d) = read_after(&sets, 4);
    assert_eq!((time, status), (plain + 2 * 80_000 + 400_000, Status::Ok));
    assert_eq!(d.error_counts().uncorrectable, 0);
    let (time, status, mut d) = read_after(&sets, 5);
    assert_eq!(time, plain + 2 * 80_000 + 400_000, "it was tried");
    assert_eq!(status, Status::Unreadable);
    assert_eq!(d.error_counts().uncorrectable, 1);
    // It stays lost until it is written anew.
    assert_eq!(single(&mut d, Op::Read, 0, 8).1, Status::Unreadable);
    d.purge();
    single(&mut d, Op::Write, 0, 8);
    single(&mut d, Op::Flush, 0, 0);
    assert_eq!(single(&mut d, Op::Read, 0, 8).1, Status::Ok);
}

#[test]
fn refresh_keeps_resting_data_readable() {
    let sets = ["errors.correctable=10", "errors.retry_steps=2"];
    let run = |refresh: &str| {
        // A longer life, so that refreshing does not wear the drive out: 10 bits a year in its
        // first cycle.
        let rate = [
            "nand.native.endurance=100",
            "errors.native.retention=1000",
            refresh,
            "nand.wordlines_per_block=64",
            "drive.capacity=3 GB",
            "ftl.system=0",
        ];
        let mut d = drive(&[&sets[..], &rate].concat());
        let sectors = 1 << 17;
        for lba in (0..sectors).step_by(2048) {
            single(&mut d, Op::Write, lba, 2048);
        }
        single(&mut d, Op::Flush, 0, 0);
        let to = d.now() + Nanos(YEAR.0 * 6);
        d.advance(to, &mut Vec::new());
        let bad = (0..sectors)
            .step_by(2048)
            .filter(|&lba| single(&mut d, Op::Read, lba, 2048).1 != Status::Ok)
            .count();
        d.ftl().check();
        (bad, d.counters().refresh_units, *d.counters())
    };
    let (bad, moved, _) = run("errors.refresh_at=0");
    assert!(bad > 0 && moved == 0, "{bad} unreadable");
    let (bad, moved, counters) = run("errors.refresh_at=0.9");
    assert_eq!(bad, 0);
    assert!(moved > 0);
    assert_eq!((bad, moved, counters), run("errors.refresh_at=0.9"));
}

#[test]
fn reads_disturb_what_is_read_often() {
    let sets = [
        "errors.correctable=10",
        "errors.native.retention=0",
        "errors.native.disturb=1000",
        "controller.read_ahead_streams=0",
    ];
    let mut d = drive(&sets);
    single(&mut d, Op::Write, 0, 96 * 8);
    single(&mut d, Op::Flush, 0, 0);
    // 1000 bits a million reads of a block, and all go to the same one.
    for _ in 0..9_990 {
        single(&mut d, Op::Read, 0, 8);
    }
    assert_eq!(d.error_counts().retries, 0);
    for _ in 0..100 {
        single(&mut d, Op::Read, 0, 8);
    }
    assert!(d.error_counts().retries > 0);
    // The superblock's block on the other die was read once.
    let before = d.error_counts().retries;
    single(&mut d, Op::Read, 48 * 8, 8);
    assert_eq!(d.error_counts().retries, before);
}

#[test]
fn cells_too_bad_for_refresh_do_not_keep_the_drive_busy() {
    // 12 wrong bits in fresh data, and refresh at 9: no copy is ever any better.
    let sets = [
        "errors.correctable=10",
        "errors.native.fresh=12",
        "errors.retry_steps=4",
        "errors.refresh_at=0.9",
        "nand.wordlines_per_block=16",
        "drive.capacity=512 MB",
        "ftl.system=0",
    ];
    let mut d = drive(&sets);
    let sectors = d.capacity_bytes() / 512;
    let size = 2048;
    for _ in 0..2 {
        for lba in (0..sectors / size * size).step_by(size as usize) {
            assert_eq!(single(&mut d, Op::Write, lba, size as u32).1, Status::Ok);
        }
    }
    single(&mut d, Op::Flush, 0, 0);
    let hours = 5;
    let before = *d.counters();
    let to = d.now() + Nanos::from_secs(hours * 3600);
    d.advance(to, &mut Vec::new());
    // No superblock is moved oftener than once an hour.
    let moved = d.counters().refresh_units - before.refresh_units;
    let most = (hours + 1) * u64::from(d.ftl().mapped_units());
    assert!(moved > 0 && moved <= most, "{moved} units moved");
    d.ftl().check();
}

/// A cache of worn cells whose first data is folded when it has rested for so long, and the steps
/// of the ladder taken so far.
fn folded_after(sets: &[&str], quarters: u64) -> (Drive, u64) {
    let base = [
        "fold.path=copyback",
        "fold.idle_after=never",
        "nand.slc.endurance=1",
        "nand.native.endurance=1",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=400",
        "drive.capacity=2 GB",
        "ftl.system=0",
        "slc_cache.size=60 MB",
        "slc_cache.rearm=30 MB",
        "fold.reserve=0",
        "controller.read_ahead_streams=0",
        "errors.slc.fresh=0",
        "errors.slc.wear=0",
        "errors.slc.retention_fresh=0",
        "errors.slc.retention=40",
        "errors.slc.disturb_fresh=0",
        "errors.slc.disturb=0",
        "errors.native.fresh=0",
        "errors.native.wear=0",
        "errors.native.retention_fresh=0",
        "errors.native.retention=0",
        "errors.native.disturb_fresh=0",
        "errors.native.disturb=0",
        "errors.activation_energy=0",
        "errors.retention_power=1",
        "errors.retry_gain=1.5",
        "errors.correctable=10",
    ];
    let mut d = asks::drive(&[&base, sets]);
    let write = |d: &mut Drive, range: std::ops::Range<u64>| {
        for lba in range.step_by(2048) {
            single(d, Op::Write, lba, 2048);
        }
        single(d, Op::Flush, 0, 0);
    };
    // The first superblocks of the cache rest; then it fills up and they are folded.
    write(&mut d, 0..32 * 2048);
    let to = d.now() + Nanos(YEAR.0 / 4 * quarters);
    d.advance(to, &mut Vec::new());
    write(&mut d, 32 * 2048..160 * 2048);
    let retries = d.error_counts().retries;
    (d, retries)
}

/// The steps that the first read of folded data takes, and how much has been folded.
fn steps_after_fold(sets: &[&str], quarters: u64) -> (u64, u64) {
    let (mut d, before) = folded_after(sets, quarters);
    let status = single(&mut d, Op::Read, 0, 8).1;
    assert_eq!(status, Status::Ok);
    (d.error_counts().retries - before, d.counters().fold_units)
}

#[test]
fn a_copy_inside_the_die_keeps_the_errors_of_its_source() {
    let folds = |sets: &[&str], quarters| {
        let (steps, folded) = steps_after_fold(sets, quarters);
        assert!(folded > 0);
        steps
    };
    // 10 bits a quarter and none of its own: 2.25 times fewer in two steps.
    for (quarters, steps) in [(0, 0), (1, 1), (2, 2), (4, 4)] {
        assert_eq!(folds(&[], quarters), steps, "after {quarters} quarters");
        assert_eq!(folds(&["fold.path=controller"], quarters), 0);
    }
    // A check that finds half of what can be corrected sends the rest through the controller.
    let checked = ["fold.check_every=1", "fold.check_errors=0.5"];
    assert_eq!(folds(&checked, 0), 0);
    assert_eq!(
        folds(&checked, 2),
        0,
        "5 bits are reached in half a quarter"
    );
    let far = [
        "fold.check_every=1",
        "fold.check_errors=1",
        "errors.correctable=20",
    ];
    assert_eq!(folds(&far, 1), 0);
    assert_eq!(folds(&["errors.correctable=20"], 4), 2);
    assert_eq!(folds(&far, 4), 0);
}

#[test]
fn what_a_small_write_leaves_of_a_lost_unit_stays_lost() {
    let sets = ["errors.correctable=10", "errors.retry_steps=2"];
    // A soft decode corrects 20 bits, and 50 are wrong.
    let (_, status, mut d) = read_after(&sets, 5);
    assert_eq!(status, Status::Unreadable);
    for lba in [0, 8] {
        assert_eq!(single(&mut d, Op::Write, lba, 1).1, Status::Ok);
        let (_, status) = single(&mut d, Op::Read, lba, 8);
        assert_eq!(
            status,
            Status::Unreadable,
            "sectors that nobody has written"
        );
        single(&mut d, Op::Write, lba, 8);
        assert_eq!(single(&mut d, Op::Read, lba, 8).1, Status::Ok);
    }
}

#[test]
fn the_rest_of_a_unit_is_read_with_the_steps_of_its_errors() {
    let write_after = |sets: &[&str]| {
        let (_, _, mut d) = read_after(sets, 4);
        let before = d.error_counts().retries;
        let time = single(&mut d, Op::Write, 8, 1).0;
        (time, d.error_counts().retries - before)
    };
    // 40 bits a year, of which 10 are corrected: four steps.
    let (plain, none) = write_after(&["errors.correctable=0"]);
    let (worn, steps) = write_after(&["errors.correctable=10"]);
    assert_eq!((none, steps), (0, 4));
    assert_eq!(worn, plain + 4 * 80_000);
}

#[test]
fn half_filled_superblocks_are_refreshed_too() {
    let lower = [
        "slc_cache.mode=lower-pages",
        "nand.native.tprog=[\"1 ms\", \"2 ms\", \"3 ms\"]",
        "nand.native.endurance=100",
        "errors.native.retention=1000",
        "errors.correctable=10",
        "errors.retry_steps=2",
        "errors.refresh_at=0.9",
        "nand.wordlines_per_block=64",
        "drive.capacity=3 GB",
        "ftl.system=0",
    ];
    let mut d = drive(&lower);
    let sectors = 1 << 17;
    for lba in (0..sectors).step_by(2048) {
        single(&mut d, Op::Write, lba, 2048);
    }
    single(&mut d, Op::Flush, 0, 0);
    let to = d.now() + Nanos(YEAR.0 * 6);
    d.advance(to, &mut Vec::new());
    assert!(d.counters().refresh_units > 0);
    for lba in (0..sectors).step_by(2048) {
        assert_eq!(single(&mut d, Op::Read, lba, 2048).1, Status::Ok, "{lba}");
    }
    d.ftl().check();
}

#[test]
fn every_step_of_the_ladder_draws_what_a_sense_does() {
    let power = [
        "power.flash_read=10 mW",
        "power.flash_program=0",
        "power.flash_transfer=0",
        "power.flash_standby=0",
        "power.link=0",
        "power.active=100 mW",
        "power.idle=100 mW",
    ];
    // Of four planes that sense together, and of one that reads for itself.
    for (planes, sets) in [(4, &[][..]), (1, &["nand.independent_planes=true"])] {
        let drawn = |correctable: &str| {
            let sets = [&power[..], sets, &[correctable]].concat();
            let (_, _, d) = read_after(&sets, 4);
            d.energy_fj() - 100_000 * u128::from(d.now().0)
        };
        let more = drawn("errors.correctable=10") - drawn("errors.correctable=0");
        assert_eq!(more, planes * 10_000 * 4 * 80_000, "{planes} planes");
    }
}

/// Data that lay in the cache until it could not be read is lost where it is folded to, too: the
/// firmware reads what it moves with the errors that are there.
#[test]
fn what_cannot_be_read_any_more_is_not_made_whole_by_folding() {
    let ends = |quarters| {
        let lost = [
            "fold.path=controller",
            "errors.retry_steps=2",
            "errors.soft_gain=1",
        ];
        let (mut d, _) = folded_after(&lost, quarters);
        single(&mut d, Op::Read, 0, 8).1
    };
    // Two steps correct 22 bits.
    assert_eq!(ends(2), Status::Ok);
    assert_eq!(ends(3), Status::Unreadable);
}

/// The same of data that collection moves.
#[test]
fn what_cannot_be_read_any_more_is_not_made_whole_by_collection() {
    let ends = |quarters: u64| {
        let sets = [
            "errors.correctable=10",
            "errors.retry_steps=2",
            "errors.soft_gain=1",
            // 40 bits a year in the first cycle.
            "nand.native.endurance=25",
            "errors.native.retention=1000",
            "nand.wordlines_per_block=16",
            "drive.capacity=896 MB",
            "ftl.system=0",
        ];
        let mut d = drive(&sets);
        let sectors = d.capacity_bytes() / 512 / 2048 * 2048;
        let write = |d: &mut Drive, lba, sectors| {
            assert_eq!(single(d, Op::Write, lba, sectors).1, Status::Ok);
        };
        for lba in (0..sectors).step_by(2048) {
            write(&mut d, lba, 2048);
        }
        let to = d.now() + Nanos(YEAR.0 / 4 * quarters);
        d.advance(to, &mut Vec::new());
        // Every other mebibyte is written over and over: the rest of each superblock is moved.
        for _ in 0..3 {
            for lba in (2048..sectors).step_by(4096) {
                write(&mut d, lba, 2048);
            }
        }
        assert!(d.counters().gc_units > 0, "collection moved something");
        let bad = (0..sectors)
            .step_by(4096)
            .filter(|&lba| single(&mut d, Op::Read, lba, 2048).1 != Status::Ok)
            .count();
        (bad, sectors / 4096)
    };
    assert_eq!(ends(2).0, 0);
    let (bad, all) = ends(3);
    assert_eq!(bad as u64, all, "mebibytes that nobody can read");
}

/// Sets of a drive at the end of its rated life, whose worst page has 71.2 wrong bits a KiB as soon
/// as it is written, by the rates of the format.
fn at_the_end_of_its_life<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    let end = [
        "nand.native.endurance=1500",
        "drive.initial_cycles=1500",
        "errors.correctable=72",
        "errors.page_spread=0.3",
        "nand.wordlines_per_block=16",
        "drive.capacity=512 MB",
        "ftl.system=0",
    ];
    [&UNCACHED[..], &end, sets].concat()
}

/// A drive that nobody writes to programs its data about once a month at most, or is warned of.
#[test]
fn a_worn_drive_at_rest_does_not_rewrite_itself_all_the_time() {
    // How often the drive writes what it holds anew while it rests.
    let rewritten = |sets: &[&str], days: u64| {
        let mut d = asks::drive(&[&at_the_end_of_its_life(sets)]);
        go(&mut d, job(ReadWrite::Write, 1 << 20, 8));
        let host = d.counters().host_units;
        let to = d.now() + Nanos::from_secs(days * 86_400);
        d.advance(to, &mut Vec::new());
        d.counters().refresh_units as f64 / host as f64
    };
    let warned = |sets: &[&str]| {
        let spec = load_with(BASE, &[], &at_the_end_of_its_life(sets));
        spec.warnings
            .into_iter()
            .filter(|text| text.contains("written anew"))
            .collect::<Vec<_>>()
    };
    for (refresh, foretold) in [
        ("errors.refresh_at=0.9", "as soon as it is written"),
        ("errors.refresh_at=1", "after 0.2 days"),
    ] {
        let warning = warned(&[refresh]);
        assert!(warning[0].contains(foretold), "{warning:?}");
        let mended = "write errors.refresh_at = 1.2 or more";
        assert!(warning[0].contains(mended), "{warning:?}");
        let times = rewritten(&[refresh], 1);
        assert!(times > 3.0, "{refresh}: {times}");
    }
    for sets in [
        &["errors.refresh_at=1.2"][..],
        &["errors.refresh_at=1.5"],
        &["errors.refresh_at=0"],
        &["errors.refresh_at=0.8", "errors.correctable=144"],
    ] {
        assert_eq!(warned(sets), [""; 0]);
        assert_eq!(rewritten(sets, 29), 0.0, "{sets:?}");
    }
}

#[test]
fn data_that_is_lost_before_it_is_written_anew_is_warned_of() {
    let warned = |refresh: &str| {
        let sets = ["errors.retry_steps=1", "errors.soft_gain=2", refresh];
        let spec = load_with(BASE, &[], &at_the_end_of_its_life(&sets));
        spec.warnings
            .iter()
            .any(|text| text.starts_with("data is lost before"))
    };
    assert!(warned("errors.refresh_at=3.1"));
    assert!(!warned("errors.refresh_at=3"));
}
