//! Rests of the host: what they bring back, also where they are not quite silent.

use crate::common::load_with;
use crate::common::loops::{go, job, rest};
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

const MB: u64 = 1_000_000;

/// A cache of 2 GB that data passes by when it is full, until nearly all of it is free again.
const BYPASSED: [&str; 8] = [
    "slc_cache.mode=dynamic",
    "slc_cache.static_size=0",
    "slc_cache.size=2 GB",
    "slc_cache.when_full=direct",
    "slc_cache.rearm=1.9 GB",
    "fold.pace=0.5",
    "fold.reserve=0",
    "fold.idle_after=1 s",
];

fn drive(sets: &[&str]) -> Drive {
    let spec = load_with(crate::common::BASE, &[], &[&BYPASSED, sets].concat());
    Drive::new(&spec.config, 1)
}

fn write(drive: &mut Drive, from: u64, bytes: u64) {
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.offset = from / (128 << 10) * (128 << 10);
    write.size = Some(bytes / (128 << 10) * (128 << 10));
    go(drive, write);
}

/// Bytes of a write that go into the cache.
fn cached(drive: &mut Drive, from: u64, bytes: u64) -> f64 {
    let before = drive.counters().slc_units;
    write(drive, from, bytes);
    (drive.counters().slc_units - before) as f64 * 4096.0
}

/// Re-arming under the host's hands and what a rest gives back have thresholds of their own.
#[test]
fn what_a_rest_has_freed_takes_data_at_once() {
    let mut d = drive(&["fold.rate=100 MB/s"]);
    write(&mut d, 0, 3000 * MB);
    assert!(
        cached(&mut d, 3000 * MB, 200 * MB) < 1.0,
        "the cache is full"
    );
    // A second of silence, and ten of folding: half of the cache, far below `slc_cache.rearm`.
    rest(&mut d, Nanos::from_secs(11));
    let taken = cached(&mut d, 4000 * MB, 1500 * MB);
    assert!((0.5..1.2).contains(&(taken / 1e9)), "{taken} bytes");
    d.ftl().check();
}

/// Rests with a read every half a second, and what the cache takes after them.
fn after_reads(sets: &[&str]) -> f64 {
    let mut d = drive(sets);
    write(&mut d, 0, 3000 * MB);
    for turn in 0..60 {
        let read = Request::new(turn, Op::Read, u64::from(turn) * 8, 8);
        d.submit(d.now(), read);
        rest(&mut d, Nanos::from_ms(500));
    }
    d.ftl().check();
    cached(&mut d, 4000 * MB, 2000 * MB) / 1e9
}

#[test]
fn a_read_now_and_then_ends_no_rest() {
    let share = "controller.idle_share=0.05";
    assert!(after_reads(&[]) < 0.1, "silence alone counts by default");
    let taken = after_reads(&[share]);
    assert!(taken > 1.8, "{taken} GB");
    // The same reads are too many for a thousandth of ten milliseconds.
    let little = [
        "controller.idle_share=0.001",
        "controller.idle_window=10 ms",
    ];
    let taken = after_reads(&little);
    assert!(taken < 0.1, "{taken} GB");
}

/// Work that was begun beside a few reads is left off when the host keeps the drive busy.
#[test]
fn a_host_that_is_back_ends_the_rest() {
    let mut d = drive(&["controller.idle_share=0.05", "fold.rate=20 MB/s"]);
    write(&mut d, 0, 3000 * MB);
    rest(&mut d, Nanos::from_secs(3));
    let before = d.counters().fold_units;
    assert!(before > 0, "folding has begun");
    let mut read = job(ReadWrite::RandRead, 4096, 32);
    read.runtime_ns = Some(5_000_000_000);
    go(&mut d, read);
    let folded = (d.counters().fold_units - before) as f64 * 4096.0;
    // Five milliseconds at 20 MB/s, and what was under way; the whole time would be 100 MB.
    assert!(folded < 20e6, "{folded} bytes");
}
