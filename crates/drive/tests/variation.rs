//! Blocks, layers and wear that take times of their own, as a host sees them: in the spread of its
//! latencies, and in rates that stay as they were.

use crate::common::asks::{UNCACHED, drive};
use crate::common::loops::{go, job, rest};
use crate::common::{BASE, load_with};
use flashtwin_base::Nanos;
use flashtwin_base::hist::value_of;
use flashtwin_drive::Drive;
use flashtwin_host::Outcome;
use flashtwin_workload::{Direction, ReadWrite};

const SPREAD: [&str; 2] = ["nand.variation.block=0.04", "nand.variation.layer=0.09"];
const READ: &str = "nand.native.tr=60 us";

/// A drive whose first 4 GB are written, natively, and that has come to rest.
fn filled(sets: &[&str]) -> Drive {
    filled_drive(sets, 1)
}

/// The same of a drive with this seed.
fn filled_drive(sets: &[&str], seed: u64) -> Drive {
    let sets = [&UNCACHED[..], sets].concat();
    let mut d = Drive::new(&load_with(BASE, &[], &sets).config, seed);
    let mut fill = job(ReadWrite::Write, 128 << 10, 8);
    fill.io_bytes = Some(4 << 30);
    go(&mut d, fill);
    rest(&mut d, Nanos::from_secs(1));
    d
}

/// Random reads, one at a time.
fn reads(d: &mut Drive) -> Outcome {
    let mut read = job(ReadWrite::RandRead, 4096, 1);
    (read.size, read.io_bytes) = (Some(4 << 30), Some(400 << 20));
    go(d, read)
}

/// Values of the buckets that hold a latency of a direction, with how many each holds.
fn latencies(outcome: &Outcome, direction: Direction) -> Vec<(f64, f64)> {
    let of = outcome.hist.iter().find(|(of, _)| *of == direction);
    let counts = of.expect("such requests").1.counts();
    let held = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    held.map(|(at, &count)| (value_of(at) as f64, count as f64))
        .collect()
}

fn deviation(values: &[(f64, f64)]) -> f64 {
    let count: f64 = values.iter().map(|(_, n)| n).sum();
    let mean = values.iter().map(|(ns, n)| ns * n).sum::<f64>() / count;
    let squares = values.iter().map(|(ns, n)| (ns - mean).powi(2) * n);
    (squares.sum::<f64>() / count).sqrt()
}

#[test]
fn reads_one_at_a_time_spread_as_the_spec_says_around_the_same_mean() {
    let off = reads(&mut filled(&[READ]));
    let on = reads(&mut filled(&[READ, SPREAD[0], SPREAD[1]]));
    let (alike, spread) = (
        latencies(&off, Direction::Read),
        latencies(&on, Direction::Read),
    );
    assert!(
        alike.len() <= 3,
        "{} buckets without variation",
        alike.len()
    );
    assert!(spread.len() > 15, "{} buckets with it", spread.len());
    let (before, after) = (off.jobs[0].latency_mean_ns, on.jobs[0].latency_mean_ns);
    assert!(
        (after - before).abs() < 0.01 * 60_000.0,
        "{before} ns, {after} ns with it"
    );
    let expected = 60_000.0 * (0.04f64.powi(2) + 0.09f64.powi(2) / 3.0).sqrt();
    let found = deviation(&spread);
    assert!(
        (found / expected - 1.0).abs() < 0.08,
        "{found} ns of {expected}"
    );
}

/// The same place takes the same time on every run, and another drive of the kind takes another.
#[test]
fn a_block_keeps_its_time() {
    let spread = |d: &mut Drive| latencies(&reads(d), Direction::Read);
    let mut d = filled(&[READ, SPREAD[0]]);
    let first = spread(&mut d);
    assert_eq!(spread(&mut d), first);
    let another = &mut filled_drive(&[READ, SPREAD[0]], 2);
    assert_ne!(spread(another), first);
}

/// The layers of all dies come at the same time. Blocks do not: a stripe of two ends with the
/// slower one, whose mean is 0.564 deviations (1 / pi^(1/2)) above that of one, less what the
/// buffer evens out.
#[test]
fn a_fill_takes_as_long_as_without_but_for_the_slower_die_of_each_stripe() {
    let fill = |sets: &[&str]| {
        let mut d = drive(&[&UNCACHED, sets]);
        let mut fill = job(ReadWrite::Write, 128 << 10, 32);
        fill.io_bytes = Some(16 << 30);
        go(&mut d, fill).jobs[0].duration.as_secs_f64()
    };
    let off = fill(&[]);
    let layers = fill(&SPREAD[1..]) / off;
    assert!((layers - 1.0).abs() < 0.003, "{layers} with layers");
    let blocks = fill(&SPREAD[..1]) / off;
    let most = 1.0 + 0.564 * 0.04;
    assert!(
        (1.01..1.1 * most).contains(&blocks),
        "{blocks} with blocks, {most} at the most"
    );
}

/// A used drive programs faster: tPROG and not the transfer shrinks by the share.
#[test]
fn worn_blocks_program_faster() {
    let rate = |sets: &[&str]| {
        let slow = ["nand.native.tprog=8 ms", "drive.initial_cycles=1500"];
        let mut d = drive(&[&UNCACHED, &slow, sets]);
        let mut fill = job(ReadWrite::Write, 128 << 10, 32);
        fill.io_bytes = Some(4 << 30);
        go(&mut d, fill).jobs[0].duration.as_secs_f64()
    };
    let (off, on) = (rate(&[]), rate(&["nand.variation.program_wear=0.25"]));
    let transfer = (48.0 * 4096.0) / 400e6;
    let expected = (6e-3 + transfer) / (8e-3 + transfer);
    assert!(
        (on / off / expected - 1.0).abs() < 0.01,
        "{off} s, {on} s: {expected} expected"
    );
}

/// A read behind an erase waits for all of it.
#[test]
fn worn_blocks_erase_more_slowly() {
    let longest = |sets: &[&str]| {
        let small = [
            "nand.wordlines_per_block=22",
            "drive.capacity=1.2 GB",
            "ftl.system=20 MB",
            "drive.initial_cycles=1500",
            "nand.native.tbers=40 ms",
            "nand.native.tprog=500 us",
        ];
        let mut d = drive(&[&UNCACHED, &small, sets]);
        go(&mut d, job(ReadWrite::Write, 128 << 10, 8));
        let mut mixed = job(ReadWrite::RandRw, 4096, 4);
        mixed.io_bytes = Some(2 << 30);
        let waits = latencies(&go(&mut d, mixed), Direction::Read);
        waits.last().expect("reads").0
    };
    let (off, on) = (longest(&[]), longest(&["nand.variation.erase_wear=1"]));
    assert!(off > 39e6 && off < 60e6, "{off} ns");
    assert!(on > 79e6 && on < 110e6, "{on} ns");
}
