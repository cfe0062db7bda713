//! The closed forms of SLC caches on whole drives: where folding has to begin, and how fast a fill
//! is while it goes on.
//!
//! k bits a cell, C the cache, P the native bytes free at the start less the reserve. Every rate
//! that the laws take in is measured on the same drive, alone.

use crate::common::loops::{breaks_at, falls_under, go, job, rate, rate_between, rest};
use crate::common::{self, load_with};
use flashtwin_base::Nanos;
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

const GB: f64 = 1e9;
const K: f64 = 3.0;

fn drive(sets: &[&str]) -> Drive {
    Drive::new(&load_with(common::BASE, &[], sets).config, 1)
}

fn fill(drive: &mut Drive) -> flashtwin_host::Outcome {
    go(drive, job(ReadWrite::Write, 128 << 10, 32))
}

/// Rate of folding alone: the cache is filled, then left alone until it is empty.
fn fold_rate(sets: &[&str]) -> f64 {
    let mut drive = drive(&[sets, &["fold.idle_after=10 ms"]].concat());
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(3500 << 20);
    go(&mut drive, write);
    let unit = 4096.0;
    rest(&mut drive, Nanos::from_secs(2));
    let (before, begun) = (drive.counters().fold_units, drive.now());
    rest(&mut drive, Nanos::from_secs(10));
    let folded = (drive.counters().fold_units - before) as f64 * unit;
    assert!(
        drive.counters().fold_units as f64 * unit < 3.4e9,
        "it ran dry while measured"
    );
    folded / (drive.now() - begun).as_secs_f64()
}

/// Native bytes that a fill may use before folding begins.
fn usable(drive: &Drive, reserve: f64) -> f64 {
    let native = drive.ftl().layout().native_bytes() as f64;
    (f64::from(drive.ftl().free_superblocks()) - (reserve / native).ceil()) * native
}

#[test]
fn staged_data_pays_for_both_programs_and_later_for_the_borrowed_cells() {
    let mut d = drive(&[]);
    let p = usable(&d, 2.0 * GB);
    let cache = 4.0 * GB;
    let onset = p - (K - 1.0) * cache;
    let outcome = fill(&mut d);
    let v_slc = rate_between(&outcome, 0.5 * GB, 3.5 * GB);
    let v_n = fold_rate(&[]);
    let staged = rate_between(&outcome, 6.0 * GB, onset - GB);
    let folding = rate_between(&outcome, onset + 1.5 * GB, 39.0 * GB);
    let expected = 1.0 / (1.0 / v_slc + 1.0 / v_n);
    assert!(
        (staged / expected - 1.0).abs() < 0.02,
        "{staged} against {expected}"
    );
    let expected = 1.0 / (1.0 / v_slc + K / (K - 1.0) / v_n);
    assert!(
        (folding / expected - 1.0).abs() < 0.02,
        "{folding} against {expected}"
    );
    let found = breaks_at(&outcome, (6.0 * GB, 39.0 * GB), (staged, folding));
    let slack = d.ftl().layout().native_bytes() as f64 * 3.0;
    assert!(
        (found - onset).abs() < slack,
        "folding begins at {found}, not {onset}"
    );
}

#[test]
fn direct_data_shares_the_dies_with_folding_once_the_borrowed_cells_are_needed() {
    let sets = [
        "slc_cache.when_full=direct",
        "fold.pace=0.5",
        "slc_cache.rearm=3.9 GB",
    ];
    let mut d = drive(&sets);
    let p = usable(&d, 2.0 * GB);
    let onset = p - (K - 1.0) * 4.0 * GB;
    let outcome = fill(&mut d);
    let v_direct = rate_between(&outcome, 6.0 * GB, onset - GB);
    let v_f = fold_rate(&sets);
    let folding = rate_between(&outcome, onset + 1.5 * GB, onset + 6.0 * GB);
    let expected = 1.0 / (1.0 / v_direct + (1.0 / (K - 1.0)) / v_f);
    assert!(
        (folding / expected - 1.0).abs() < 0.02,
        "{folding} against {expected}"
    );
    let found = breaks_at(&outcome, (6.0 * GB, onset + 6.0 * GB), (v_direct, folding));
    let slack = d.ftl().layout().native_bytes() as f64 * 3.0;
    assert!(
        (found - onset).abs() < slack,
        "folding begins at {found}, not {onset}"
    );
}

#[test]
fn a_static_cache_never_has_to_fold_for_capacity() {
    let sets = [
        "slc_cache.mode=static",
        "slc_cache.size=0",
        "slc_cache.static_size=1 GB",
        "slc_cache.when_full=direct",
        "slc_cache.rearm=1 GB",
        "drive.capacity=36 GB",
        "fold.reserve=0",
        "fold.pace=0",
    ];
    let mut d = drive(&sets);
    let outcome = fill(&mut d);
    assert_eq!(d.counters().fold_units, 0);
    let past = rate_between(&outcome, 2.0 * GB, 18.0 * GB);
    let late = rate_between(&outcome, 18.0 * GB, 35.0 * GB);
    assert!((late / past - 1.0).abs() < 0.01, "{late} after {past}");
}

#[test]
fn a_whole_drive_cache_ends_at_a_third_of_the_flash() {
    let sets = [
        "slc_cache.mode=whole-drive",
        "slc_cache.size=0",
        "slc_cache.when_full=direct",
        "fold.idle_after=never",
        "fold.reserve=0",
        "fold.pace=0.5",
    ];
    let mut d = drive(&sets);
    let keep = f64::from(d.ftl().free_superblocks()) - 3.0;
    let third = keep * d.ftl().layout().slc_bytes() as f64;
    let outcome = fill(&mut d);
    let level = rate_between(&outcome, GB, 10.0 * GB) * 0.8;
    let found = falls_under(&outcome, GB, level);
    assert!(
        (found / third - 1.0).abs() < 0.02,
        "{found} against {third}"
    );
}

#[test]
fn littles_law_holds_on_the_drive() {
    let mut d = drive(&[]);
    let mut write = job(ReadWrite::RandWrite, 4096, 16);
    write.threads = 2;
    write.io_bytes = Some(400 << 20);
    write.host_ns = 3000;
    let outcome = go(&mut d, write);
    let totals = &outcome.jobs[0];
    let per_second = totals.ios as f64 / totals.duration.as_secs_f64();
    let expected = per_second * totals.latency_mean_ns / 1e9;
    assert!((totals.mean_depth / expected - 1.0).abs() < 0.001);
}

#[test]
fn random_overwrites_on_a_full_staged_drive_find_a_steady_rate() {
    let mut d = drive(&["drive.capacity=36 GB", "gc.low=10", "gc.high=12"]);
    fill(&mut d);
    let mut write = job(ReadWrite::RandWrite, 4096, 32);
    write.io_bytes = Some(7_000_000_000);
    let outcome = go(&mut d, write);
    d.ftl().check();
    let c = d.counters();
    assert!(c.gc_units > 0 && c.fold_units > 0 && c.direct_units == 0);
    assert!(rate(&outcome) > 1e6);
    let stalls = outcome.series.bytes.iter().filter(|&&b| b == 0).count();
    assert_eq!(stalls, 0, "intervals of 50 ms without a completed write");
}
