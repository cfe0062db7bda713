//! Static wear levelling as the host sees it: what it costs in flash writes and in speed, and how
//! far apart the superblocks are that SMART and the X-ray tell of.

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
