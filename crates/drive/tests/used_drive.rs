//! What a young, an old, a warm and a used drive show to a host: latencies, and what SMART says.

use crate::common::asks::{self, UNCACHED, single};
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_nand::error::{YEAR, acceleration};

/// A drive with the rates of the field and the usual correction, out of the sun.
const USUAL: [&str; 4] = [
    "errors.correctable=72",
    "controller.read_ahead_streams=0",
    "thermal.ambient=30 C",
    "thermal.resistance=1 mK/W",
];

fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[&UNCACHED, &USUAL, sets])
}

fn rest(d: &mut Drive, time: Nanos) {
    let to = d.now() + time;
    d.advance(to, &mut Vec::new());
}

fn write(d: &mut Drive) {
    single(d, Op::Write, 0, 96 * 8);
    single(d, Op::Flush, 0, 0);
}

/// Nanoseconds of a read of the first page.
fn read(d: &mut Drive) -> u64 {
    let (time, status) = single(d, Op::Read, 0, 8);
    assert_eq!(status, Status::Ok);
    time
}

/// How much longer a read takes after so many years.
fn slower_after(sets: &[&str], years: u64) -> u64 {
    let mut d = drive(sets);
    write(&mut d);
    let young = read(&mut d);
    rest(&mut d, Nanos(YEAR.0 * years));
    read(&mut d) - young
}

#[test]
fn years_on_a_warm_shelf_cost_a_new_drive_its_retries() {
    let warm = ["thermal.ambient=40 C"];
    assert_eq!(slower_after(&warm, 1), 0);
    let ten = slower_after(&warm, 10);
    assert!(ten >= 80_000, "{ten} ns after ten years");
    assert_eq!(slower_after(&["thermal.ambient=20 C"], 10), 0);
}

#[test]
fn many_reads_of_one_place_cost_a_new_drive_its_retries() {
    // Three million reads at the rate of new cells, thirty times as fast.
    let sets = [
        "errors.correctable=15",
        "errors.native.disturb_fresh=30",
        "errors.native.disturb=0",
    ];
    let mut d = drive(&sets);
    write(&mut d);
    let young = read(&mut d);
    for _ in 0..100_000 {
        single(&mut d, Op::Read, 0, 8);
    }
    assert_eq!(read(&mut d) - young, 80_000);
}

#[test]
fn a_block_that_is_read_too_often_is_moved() {
    let programmed = |limit: &str| {
        let mut d = drive(&[limit]);
        write(&mut d);
        let before = d.counters().programmed_units();
        let mut slowest = 0;
        for _ in 0..30_000 {
            slowest = slowest.max(read(&mut d));
        }
        (d.counters().programmed_units() - before, slowest)
    };
    let (none, usual) = programmed("errors.native.read_limit=0");
    let (units, slowest) = programmed("errors.native.read_limit=8192");
    assert_eq!(none, 0, "no host wrote");
    // 96 units are read in order to move them, three times, and a read meets their program.
    assert!(units >= 3 * 96, "{units} units");
    assert!(slowest > 2 * usual, "{slowest} ns, {usual} without");
}

#[test]
fn heat_hastens_retention_by_the_law_of_arrhenius() {
    let steps = |celsius: &str, days: u64| {
        let sets = [
            "errors.correctable=10",
            "errors.native.fresh=0",
            "errors.native.wear=0",
            "errors.native.retention_fresh=40",
            "errors.native.retention=0",
            "errors.retention_power=1",
            celsius,
        ];
        let mut d = drive(&sets);
        write(&mut d);
        let young = read(&mut d);
        rest(&mut d, Nanos::from_secs(days * 24 * 3600));
        (read(&mut d) - young) / 80_000
    };
    // 10 bits a quarter at 30 degrees; at 52 as many in a quarter over the acceleration.
    let quarter = 91.3;
    let warm = quarter / acceleration(1.1, 30.0, 52.0);
    for (ambient, days) in [
        ("thermal.ambient=30 C", quarter),
        ("thermal.ambient=52 C", warm),
    ] {
        assert_eq!(steps(ambient, (days * 0.9) as u64), 0, "{ambient}");
        assert_eq!(steps(ambient, (days * 1.3) as u64), 1, "{ambient}");
    }
    let cold = "errors.activation_energy=0";
    assert_eq!(steps(cold, 80), 0);
}

#[test]
fn the_drives_own_heat_counts() {
    // Steps that data takes after a year on a drive that draws half a watt at rest.
    let slower = |celsius: u32, resistance: &str| {
        let ambient = format!("thermal.ambient={celsius} C");
        let mut d = drive(&[
            "errors.correctable=20",
            "power.idle=500 mW",
            resistance,
            ambient.as_str(),
        ]);
        write(&mut d);
        let young = read(&mut d);
        rest(&mut d, Nanos(YEAR.0));
        (read(&mut d) - young) / 80_000
    };
    let open = |celsius| slower(celsius, "thermal.resistance=1 mK/W");
    // 30 degrees of air and 20 of its own are as bad as 50 of air.
    let own = slower(30, "thermal.resistance=40 K/W");
    assert_eq!(own, open(50));
    assert!(own > open(30), "{own} steps");
}

#[test]
fn reads_of_the_map_take_the_ladder_too() {
    let paged = [
        "map.residency=demand",
        "map.cache=64 KiB",
        "map.mode=native",
        "errors.correctable=10",
        "errors.native.fresh=9",
        "errors.native.wear=0",
        "errors.native.retention_fresh=5.9",
        "errors.native.retention=0",
        "errors.retention_power=1",
        "errors.activation_energy=0",
    ];
    let far = 4 << 20;
    let reads = |years: u64| {
        let mut d = drive(&paged);
        // Pages of the map are on flash once others have taken their places in the cache.
        for lba in (0..2 * far).step_by(8192) {
            single(&mut d, Op::Write, lba, 96 * 8);
        }
        single(&mut d, Op::Flush, 0, 0);
        rest(&mut d, Nanos(YEAR.0 * years));
        [0, far].map(|lba| single(&mut d, Op::Read, lba, 8).0)
    };
    let (young, old) = (reads(0), reads(1));
    // 14.9 bits where 10 are corrected: a step for the page of the map, and one for the data.
    assert_eq!([old[0] - young[0], old[1] - young[1]], [160_000, 160_000]);
}

#[test]
fn a_used_drive_need_not_be_simulated_from_new() {
    let used = |cycles: &str| {
        let cycles = format!("drive.initial_cycles={cycles}");
        let mut d = drive(&[&cycles, "smart.family=nvme"]);
        write(&mut d);
        let young = read(&mut d);
        rest(&mut d, Nanos(YEAR.0 * 3));
        let old = read(&mut d);
        let percent = d.smart()["nvme_smart_health_information_log"]["percentage_used"].clone();
        (percent.as_u64().expect("a number"), old - young)
    };
    assert_eq!(used("0"), (0, 0));
    assert_eq!(used("750").0, 50);
    let (percent, slower) = used("1500");
    assert_eq!(percent, 100);
    assert!(slower >= 80_000, "{slower} ns after three years");
}

#[test]
fn what_a_used_drive_was_filled_with_is_as_old_as_it() {
    let mut d = drive(&[
        "drive.initial_age=10",
        "thermal.ambient=40 C",
        "errors.retention_temperature=20 C",
        "errors.correctable=50",
        "smart.family=nvme",
        "nand.wordlines_per_block=16",
        "drive.capacity=512 MB",
        "ftl.system=0",
    ]);
    let sectors = d.capacity_bytes() / 512;
    let fill = |d: &mut Drive| {
        for lba in (0..sectors / 2048 * 2048).step_by(2048) {
            single(d, Op::Write, lba, 2048);
        }
        single(d, Op::Flush, 0, 0);
    };
    fill(&mut d);
    let old = read(&mut d);
    fill(&mut d);
    fill(&mut d);
    let new = read(&mut d);
    assert!(old >= new + 80_000, "{old} ns, and {new} when written anew");
    let hours = &d.smart()["nvme_smart_health_information_log"]["power_on_hours"];
    assert_eq!(hours.as_u64(), Some(87_660));
}
