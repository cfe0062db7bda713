//! Static wear levelling as the host sees it: what it costs in flash writes and in speed, and how
//! far apart the superblocks are that SMART and the X-ray tell of. It moves what rests and nothing
//! else: where writes are spread evenly it does nothing at all.

use crate::common::loops::{go, job};
use crate::common::{self, load_with};
use flashtwin_base::Device;
use flashtwin_drive::Drive;
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

const THRESHOLD: u32 = 30;

/// A small drive of a few dozen superblocks, full, one tenth of which is written at random until
/// the hot superblocks are worn more than twice the threshold.
fn hot_tenth(sets: &[&str]) -> (Drive, Outcome, f64) {
    let small = [
        "drive.capacity=96 MB",
        "nand.channels=2",
        "nand.planes=2",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=60",
        "ftl.system=0",
        "controller.write_buffer=384 KiB",
    ];
    let sets = [&small[..], sets].concat();
    let mut drive = Drive::new(&load_with(common::BASE, &["slc-off"], &sets).config, 1);
    go(&mut drive, job(ReadWrite::Write, 128 << 10, 32));
    let mut hot = job(ReadWrite::RandWrite, 64 << 10, 32);
    hot.size = Some(drive.capacity_bytes() / 10 / (64 << 10) * (64 << 10));
    hot.io_bytes = Some(80 * drive.capacity_bytes() / (64 << 10) * (64 << 10));
    let before = *drive.counters();
    let outcome = go(&mut drive, hot);
    let after = *drive.counters();
    let programmed = after.programmed_units() - before.programmed_units();
    let waf = programmed as f64 / (after.host_units - before.host_units) as f64;
    (drive, outcome, waf)
}

fn spread(drive: &Drive) -> u32 {
    let cycles = drive.ftl().superblocks().iter().map(|b| b.native_cycles);
    cycles.clone().max().unwrap_or(0) - cycles.min().unwrap_or(0)
}

#[test]
fn resting_data_goes_into_worn_superblocks_for_next_to_nothing() {
    let seconds = |outcome: &Outcome| outcome.series.dt_ns.iter().sum::<i64>() as f64;
    for dynamic in ["fifo", "least-worn"] {
        let dynamic = format!("wear.dynamic={dynamic}");
        let (none, without, plain) = hot_tenth(&[&dynamic]);
        let threshold = format!("wear.static_threshold={THRESHOLD}");
        let (levelled, with, waf) = hot_tenth(&[&dynamic, &threshold]);
        assert!(
            spread(&none) > 2 * THRESHOLD,
            "{dynamic}: {}",
            spread(&none)
        );
        assert!(
            waf < 1.1 * plain,
            "{dynamic}: WAF {waf}, without levelling {plain}"
        );
        let slower = seconds(&with) / seconds(&without);
        assert!(slower < 1.15, "{dynamic}: {slower} times as long");
        let apart = spread(&levelled);
        assert!(apart <= THRESHOLD + 3, "{dynamic}: {apart} cycles apart");
        levelled.ftl().check();
    }
}

/// A drive of a quarter of a thousand superblocks, full.
fn full(sets: &[&str]) -> Drive {
    let small = [
        "nand.channels=2",
        "nand.planes=2",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=240",
        "ftl.system=0",
        "controller.write_buffer=384 KiB",
    ];
    let sets = [&small[..], sets].concat();
    let mut drive = Drive::new(&load_with(common::BASE, &["slc-off"], &sets).config, 1);
    go(&mut drive, job(ReadWrite::Write, 128 << 10, 32));
    drive
}

/// Writes so many times the capacity at random within the first `percent` of the drive; the answer
/// is the write amplification.
fn randomly(drive: &mut Drive, (block_bytes, percent, times): (u64, u64, u64)) -> f64 {
    let whole = |bytes: u64| Some(bytes / block_bytes * block_bytes);
    let mut random = job(ReadWrite::RandWrite, block_bytes, 32);
    random.size = whole(drive.capacity_bytes() / 100 * percent);
    random.io_bytes = whole(drive.capacity_bytes() * times);
    let before = *drive.counters();
    go(drive, random);
    let after = *drive.counters();
    let programmed = after.programmed_units() - before.programmed_units();
    programmed as f64 / (after.host_units - before.host_units) as f64
}

/// Each superblock is collected soon, and those that are behind catch up. Old data that has been
/// collected several times is as likely to be overwritten as new data.
#[test]
fn evenly_written_data_does_not_rest() {
    does_not_rest(&["drive.capacity=640 MB", "gc.policy=greedy"]);
}

#[test]
#[ignore = "the same under another rule; ./dev test --full runs it"]
fn evenly_written_data_does_not_rest_where_victims_are_chosen_by_age() {
    does_not_rest(&["drive.capacity=704 MB", "gc.policy=cost-benefit"]);
}

fn does_not_rest(sets: &[&str]) {
    let levelled = [sets, &["wear.static_threshold=1"]].concat();
    let [none, levelled] = [sets, &levelled].map(|sets| {
        let mut drive = full(sets);
        let waf = randomly(&mut drive, (4096, 100, 8));
        (drive, waf)
    });
    let (plain, waf) = (none.1, levelled.1);
    assert!(waf < 1.01 * plain, "{sets:?}: WAF {waf} for {plain}");
    let apart = [&none, &levelled].map(|(drive, _)| spread(drive));
    assert!(apart[1] <= apart[0] + 3, "{sets:?}: {apart:?} cycles apart");
}

/// Once nothing rests any more, the superblock that levelling was filling is not left open: it
/// would be lost to collection, a sixteenth of the spare ones here, and never be worn.
#[test]
fn what_rested_and_rests_no_more_costs_nothing() {
    let run = |threshold: &str| {
        let mut drive = full(&["drive.capacity=704 MB", threshold]);
        let resting = randomly(&mut drive, (64 << 10, 10, 12));
        let apart = spread(&drive);
        let even = randomly(&mut drive, (4096, 100, 6));
        (drive, resting, apart, even)
    };
    let none = run("wear.static_threshold=0");
    let levelled = run("wear.static_threshold=10");
    assert!(none.2 > 50, "{} cycles apart without levelling", none.2);
    assert!(levelled.2 <= 13, "{} cycles apart", levelled.2);
    assert!(
        levelled.1 < 1.1 * none.1,
        "WAF {} for {}",
        levelled.1,
        none.1
    );
    assert!(
        levelled.3 < 1.02 * none.3,
        "then WAF {} for {}",
        levelled.3,
        none.3
    );
    let apart = spread(&levelled.0);
    assert!(apart <= 25, "then {apart} cycles apart");
    levelled.0.ftl().check();
}
