//! Drives with a tiny endurance, written until they can only be read.

use crate::common::asks::{self, UNCACHED};
use crate::common::{self, load_with};
use flashtwin_base::{Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;
use flashtwin_drive::xray::COLUMNS;

/// A drive of 64 MiB that is rated for a few cycles, without a cache.
const SMALL: [&str; 13] = [
    "drive.capacity=40 MB",
    "nand.channels=2",
    "nand.planes=2",
    "nand.wordlines_per_block=8",
    "nand.blocks_per_plane=44",
    "nand.native.endurance=20",
    "ftl.system=0",
    "controller.write_buffer=384 KiB",
    "wear.dynamic=least-worn",
    "wear.static_threshold=5",
    "wear.spares=2",
    "wear.program_failures=100",
    "wear.erase_failures=1000",
];

fn drive(sets: &[&str], seed: u64) -> Drive {
    let sets = [&SMALL[..], &UNCACHED, sets].concat();
    Drive::new(&load_with(common::BASE, &[], &sets).config, seed)
}

fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Status {
    asks::single(drive, op, lba, sectors).1
}

/// Writes the drive over and over until it refuses; the answer is how many bytes it took.
fn write_to_the_end(drive: &mut Drive) -> u64 {
    let sectors = drive.capacity_bytes() / 512;
    let (mut at, mut bytes) = (0, 0);
    loop {
        let count = 256.min(sectors - at);
        match single(drive, Op::Write, at, count as u32) {
            Status::Ok => bytes += count * 512,
            Status::ReadOnly => return bytes,
            other => panic!("{other:?}"),
        }
        at = (at + count) % sectors;
        assert!(bytes < 400 * drive.capacity_bytes(), "it never ends");
    }
}

#[test]
fn it_ends_after_the_rated_life_and_is_all_there() {
    let mut drive = drive(&[], 1);
    drive.restart_xray(Nanos::from_secs(1));
    let bytes = write_to_the_end(&mut drive);
    let lives = bytes as f64 / drive.capacity_bytes() as f64;
    // Rated for 20 cycles; failures are rare before them and common at twice of it.
    assert!((15.0..80.0).contains(&lives), "{lives} drive writes");
    let sectors = drive.capacity_bytes() / 512;
    assert_eq!(single(&mut drive, Op::Flush, 0, 0), Status::Ok);
    for lba in (0..sectors - 8).step_by(8) {
        assert_eq!(single(&mut drive, Op::Read, lba, 8), Status::Ok);
        assert!(drive.ftl().locate((lba / 8) as u32).is_some());
    }
    assert_eq!(single(&mut drive, Op::Write, 0, 8), Status::ReadOnly);
    assert_eq!(single(&mut drive, Op::Trim, 0, 8), Status::ReadOnly);
    drive.ftl().check();
    let took = drive.purge();
    assert!(took > Nanos::ZERO);
    assert_eq!(single(&mut drive, Op::Write, 0, 8), Status::ReadOnly);
    drive.ftl().check();

    let columns = drive.close_xray().columns();
    let column = |name| &columns[COLUMNS.iter().position(|c| *c == name).unwrap()];
    let last = |name| *column(name).last().unwrap();
    assert!(last("retired_superblocks") > 0 && last("failure_bytes") > 0);
    assert!(column("wear_ppm").windows(2).all(|w| w[0] <= w[1]));
    assert!(
        column("retired_superblocks")
            .windows(2)
            .all(|w| w[0] <= w[1])
    );
    // Wear is levelled: nothing is far ahead of the mean.
    assert!(last("wear_spread_ppm") < 500_000);
    assert!(last("wear_bytes") == 0, "everything is hot");
}

#[test]
fn the_policy_says_when_it_ends() {
    let bytes = |rule: &str| {
        let rule = format!("wear.read_only_at={rule}");
        let mut drive = drive(&[&rule], 3);
        let bytes = write_to_the_end(&mut drive);
        (
            bytes,
            drive.ftl().mean_wear(),
            drive.ftl().retired_superblocks(),
        )
    };
    let (rated, wear, _) = bytes("rated-wear");
    assert!((1.0..1.05).contains(&wear), "{wear}");
    let (spares, _, retired) = bytes("spares-gone");
    assert_eq!(retired, 0, "a spare was there for each bad block");
    let (reserve, _, retired) = bytes("reserve-gone");
    assert!(retired > 0);
    assert!(spares < reserve && rated < reserve);
}

/// A drive none of whose blocks fails ends by its wear alone.
const SOUND: [&str; 3] = [
    "wear.read_only_at=rated-wear",
    "wear.program_failures=0",
    "wear.erase_failures=0",
];

/// It looked at its wear only where a block might have failed, and went on for good.
#[test]
fn it_ends_at_its_rated_life_though_nothing_fails() {
    let mut drive = drive(&SOUND, 1);
    write_to_the_end(&mut drive);
    let wear = drive.ftl().mean_wear();
    assert!((1.0..1.05).contains(&wear), "{wear}");
    assert_eq!(single(&mut drive, Op::Trim, 0, 8), Status::ReadOnly);
    assert_eq!(single(&mut drive, Op::Read, 0, 8), Status::Ok);
}

#[test]
fn purges_take_of_its_rated_life_too() {
    let mut drive = drive(&SOUND, 1);
    let sectors = drive.capacity_bytes() / 512;
    let mut purges = 0;
    while single(&mut drive, Op::Write, 0, 256) == Status::Ok {
        for lba in (256..sectors - 256).step_by(256) {
            single(&mut drive, Op::Write, lba, 256);
        }
        drive.purge();
        purges += 1;
        assert!(purges < 100, "it never ends");
    }
    let wear = drive.ftl().mean_wear();
    assert!((1.0..1.1).contains(&wear), "{wear}");
}

/// A drive that goes on with fewer stands still once each stream has a superblock open and none is
/// left to collect into.
#[test]
fn it_ends_while_each_stream_can_have_a_superblock_open() {
    let sets = [
        "gc.separation=sepbit",
        "gc.reserve=3",
        "gc.low=9",
        "gc.high=10",
    ];
    let mut drive = drive(&sets, 1);
    write_to_the_end(&mut drive);
    let ftl = drive.ftl();
    let left = ftl.superblocks().len() as u32 - ftl.retired_superblocks();
    let data = drive.capacity_bytes().div_ceil(2 * 2 * 8 * 3 * (16 << 10)) as u32;
    // Two streams of the host's data and four of what is collected, and levelling's.
    let (reserve, streams, erased) = (3, 7, 1);
    assert_eq!(left + 1, data + reserve + streams + erased);
}

#[test]
fn equal_seeds_end_alike() {
    let run = |seed| {
        let mut drive = drive(&[], seed);
        let bytes = write_to_the_end(&mut drive);
        (bytes, drive.now(), *drive.counters())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn without_failures_nothing_ends() {
    let mut drive = drive(&["wear.program_failures=0", "wear.erase_failures=0"], 1);
    let sectors = drive.capacity_bytes() / 512;
    for _ in 0..60 {
        let mut at = 0;
        while at < sectors {
            let count = 256.min(sectors - at);
            assert_eq!(single(&mut drive, Op::Write, at, count as u32), Status::Ok);
            at += count;
        }
    }
    assert!(drive.ftl().mean_wear() > 1.5);
    assert_eq!(drive.ftl().retired_superblocks(), 0);
}

#[test]
fn smart_sees_the_end_come() {
    let mut drive = drive(&["smart.family=nvme"], 1);
    let log = |drive: &Drive, name: &str| {
        let smart = drive.smart();
        let value = &smart["nvme_smart_health_information_log"][name];
        value.as_u64().unwrap_or_else(|| panic!("{name}: {value}"))
    };
    assert_eq!(log(&drive, "available_spare"), 100);
    assert_eq!(log(&drive, "critical_warning"), 0);
    write_to_the_end(&mut drive);
    assert_eq!(
        log(&drive, "available_spare"),
        0,
        "spares go before the end"
    );
    assert_eq!(log(&drive, "critical_warning"), 1 | 1 << 3);
    assert_eq!(drive.smart()["smart_status"]["passed"], false);
    assert_eq!(log(&drive, "num_err_log_entries"), 1, "the refused write");
    let worn = (drive.ftl().mean_wear() * 100.0) as u64;
    assert!(worn > 100 && log(&drive, "percentage_used").abs_diff(worn) <= 1);

    let mut drive = self::drive(&["smart.family=micron"], 1);
    write_to_the_end(&mut drive);
    let smart = drive.smart();
    let table = smart["ata_smart_attributes"]["table"].as_array();
    let rows = table.expect("there are attributes");
    let reallocated = rows.iter().find(|row| row["id"] == 5).expect("attribute 5");
    assert_eq!(reallocated["raw"]["value"], drive.ftl().grown_bad_blocks());
    assert_eq!(reallocated["when_failed"], "now");
    assert_eq!(smart["smart_status"]["passed"], false);
}

/// All of this drive may be cache, and in SLC mode its blocks last for a cycle.
const WORN_CACHE: [&str; 19] = [
    "nand.channels=3",
    "nand.dies_per_channel=2",
    "nand.planes=1",
    "nand.wordlines_per_block=8",
    "nand.page_size=4 KiB",
    "nand.blocks_per_plane=46",
    "nand.slc.endurance=1",
    "nand.native.tprog=[\"500 us\", \"1 ms\", \"2 ms\"]",
    "ftl.paired_pages=lost",
    "ftl.system=1152 KiB",
    "drive.capacity=13005312 B",
    "controller.write_buffer=76 KiB",
    "slc_cache.mode=whole-drive",
    "slc_cache.reclaim=0",
    "slc_cache.when_full=fold-first",
    "fold.step=1 GiB",
    "fold.reserve=1152 KiB",
    "wear.erase_failures=30",
    "wear.failure_growth=64",
];

/// Superblocks fail while the cache is full, until a single one is free. Collection had that one
/// again and again for victims with hardly an invalid unit, and its padding used up what it gained.
/// Folding, which would have made room, had nowhere to write: the host was never answered.
#[test]
fn a_worn_drive_answers_every_write_while_its_cache_is_full() {
    for seed in 0..4 {
        let config = load_with(common::BASE, &[], &WORN_CACHE).config;
        let mut drive = Drive::new(&config, seed);
        let sectors = drive.capacity_bytes() / 4096 * 8;
        let (mut at, mut done) = (0, Vec::new());
        for _ in 0..2_000 {
            let count = 512.min(sectors - at);
            let sent = drive.now();
            drive.submit(sent, Request::new(1, Op::Write, at, count as u32));
            while done.is_empty() {
                let due = drive.next_due().expect("a write is under way");
                let waits = due - sent;
                assert!(waits < Nanos::from_secs(100), "{}", drive.ftl().describe());
                drive.advance(due, &mut done);
            }
            match done.remove(0).status {
                Status::ReadOnly => break,
                status => assert_eq!(status, Status::Ok),
            }
            at = (at + count) % sectors;
        }
        drive.ftl().check();
        assert!(drive.ftl().retired_superblocks() > 8);
    }
}
