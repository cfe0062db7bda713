//! A drive that compresses, against times and rates that can be reckoned by hand.

use crate::common;
use crate::common::asks::{self, UNCACHED, bus, link};
use crate::common::loops::{go, job, rate};
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::{RawJob, ReadWrite};

/// 44 superblocks and 9 GB.
const SMALL: [&str; 5] = [
    "nand.blocks_per_plane=44",
    "drive.capacity=9 GB",
    "gc.high=5",
    "fold.reserve=500 MB",
    "slc_cache.rearm=100 MB",
];
const COMMAND: u64 = 6_000;

fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[&UNCACHED, sets])
}

fn two() -> Drive {
    drive(&["compression.best_ratio=2"])
}

fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32, percent: u8) -> u64 {
    let mut request = Request::new(9, op, lba, sectors);
    request.compressible_percent = percent;
    asks::ask(drive, request).0
}

fn writes(percent: u32) -> RawJob {
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(1 << 30);
    write.compress_percent = percent;
    write
}

fn near(found: f64, expected: f64, within: f64) {
    assert!(
        (found / expected - 1.0).abs() < within,
        "{found} against {expected}"
    );
}

/// Two dies, each a granule of 196,608 bytes in 4.3 ms and its transfer; a granule holds more of
/// what compresses, in eighths of a unit and whole units a row of 16.
#[test]
fn a_fill_runs_at_the_rate_of_what_is_left_of_it() {
    let granule = 196_608.0;
    let alone = 2.0 * granule / (4.3e-3 + granule / 400e6);
    for (percent, per_row) in [(0, 16.0), (13, 18.0), (38, 25.0), (90, 32.0)] {
        let mut d = two();
        near(
            rate(&go(&mut d, writes(percent))),
            alone * per_row / 16.0,
            0.02,
        );
        let c = d.counters();
        let waf = c.programmed_units() as f64 / c.host_units as f64;
        near(waf, 16.0 / per_row, 0.02);
        d.ftl().check();
    }
    // At a ratio of 8 the link is the limit, if the buffer holds the granules of both dies twice.
    let mut d = drive(&["compression.best_ratio=8", "controller.write_buffer=12 MiB"]);
    near(rate(&go(&mut d, writes(100))), 545e6, 0.05);
}

#[test]
fn a_drive_that_does_not_compress_sees_no_difference() {
    let outcome = |percent| go(&mut drive(&[]), writes(percent));
    assert_eq!(outcome(0), outcome(80));
}

#[test]
fn reads_bring_less_over_the_channel_and_all_over_the_link() {
    for (percent, stored) in [(0, 4096), (38, 2560), (50, 2048), (100, 2048)] {
        let mut d = two();
        for unit in 0..96 {
            single(&mut d, Op::Write, unit * 8, 8, percent);
        }
        single(&mut d, Op::Flush, 0, 0, 0);
        let time = single(&mut d, Op::Read, 0, 8, 0);
        assert_eq!(time, COMMAND + 45_000 + bus(stored) + link(4096));
    }
    // 32 units of one row: one sense instead of two.
    let mut d = two();
    single(&mut d, Op::Write, 0, 96 * 8, 50);
    single(&mut d, Op::Flush, 0, 0, 0);
    let time = single(&mut d, Op::Read, 0, 32 * 8, 0);
    assert_eq!(time, COMMAND + 45_000 + bus(65_536) + link(131_072));
}

#[test]
fn the_engine_takes_no_more_than_its_rate() {
    let fast = ["nand.native.tprog=200 us", "compression.best_ratio=2"];
    let slow = [&fast[..], &["compression.rate=150 MB/s"]].concat();
    near(rate(&go(&mut drive(&slow), writes(50))), 150e6, 0.01);
    assert!(rate(&go(&mut drive(&fast), writes(50))) > 400e6);
    let mut d = drive(&slow);
    let engine = 4096 * 1_000_000_000 / 150_000_000;
    assert_eq!(single(&mut d, Op::Write, 0, 8, 50), COMMAND + engine);
}

/// What cannot be compressed takes the time that it takes without compression, to the nanosecond.
#[test]
fn incompressible_data_takes_its_time() {
    let life = |sets: &[&str]| {
        let mut d = asks::drive(&[&SMALL, &["slc_cache.size=400 MB"], sets]);
        let mut fill = job(ReadWrite::Write, 1 << 20, 8);
        fill.size = Some(8 << 30);
        let first = go(&mut d, fill);
        let mut mix = job(ReadWrite::RandRw, 4096, 16);
        (mix.size, mix.io_bytes) = (Some(8 << 30), Some(1 << 30));
        let second = go(&mut d, mix);
        d.ftl().check();
        (first, second, *d.counters())
    };
    assert_eq!(life(&[]), life(&["compression.best_ratio=2"]));
}

#[test]
fn compressible_random_writes_amplify_less_than_one() {
    let settled = |percent| {
        let mut d = drive(&[&SMALL[..4], &["fold.reserve=0", "compression.best_ratio=2"]].concat());
        let mut fill = job(ReadWrite::Write, 1 << 20, 8);
        fill.compress_percent = percent;
        go(&mut d, fill);
        let mut random = job(ReadWrite::RandWrite, 4096, 32);
        random.compress_percent = percent;
        random.io_bytes = Some(5 << 30);
        let before = *d.counters();
        go(&mut d, random);
        let c = d.counters();
        let programmed = c.programmed_units() - before.programmed_units();
        programmed as f64 / (c.host_units - before.host_units) as f64
    };
    let (hard, soft) = (settled(0), settled(50));
    assert!(hard > 2.0, "{hard}");
    assert!(
        soft < 0.7,
        "{soft}: half the data, and as much room again to work in"
    );
}

#[test]
fn drives_that_cannot_pack_are_refused() {
    let table = [
        (
            &["compression.best_ratio=2", "ftl.mapping_unit=64 KiB"][..],
            "compression.best_ratio",
            "less than 4 mapping units",
        ),
        (
            &[
                "compression.best_ratio=2",
                "controller.write_buffer=256 KiB",
            ],
            "controller.write_buffer",
            "less than what compresses",
        ),
    ];
    for (sets, key, message) in table {
        let owned: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        let base = common::write("base", common::BASE);
        let told = flashtwin_drive::spec::load(&base, &[], &[], &owned).unwrap_err();
        let found = told.iter().find(|error| error.message.contains(message));
        assert_eq!(found.map(|error| error.key.as_str()), Some(key), "{told:?}");
    }
}

#[test]
fn the_map_in_a_checkpoint_is_not_compressed() {
    for (ratio, percent) in [(1, 0), (2, 0), (2, 50)] {
        let ratio = format!("compression.best_ratio={ratio}");
        let mut d = drive(&[&ratio, "ftl.checkpoint=400 MB", "drive.capacity=9 GB"]);
        for at in 0..450 {
            single(&mut d, Op::Write, at * 2048, 2048, percent);
        }
        let to = d.now() + Nanos::from_secs(1);
        d.advance(to, &mut Vec::new());
        // 9 GB are 2,197,266 entries of 4 bytes, and a row is 64 KiB: 135 of them.
        let units = 135 * 16;
        assert_eq!(d.counters().journal_units, units, "{ratio}");
        assert_eq!(
            d.counters().slc_mode_units,
            units,
            "they are all in SLC mode"
        );
        d.ftl().check();
    }
}
