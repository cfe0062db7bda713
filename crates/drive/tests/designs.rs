//! The cache designs of the market, each a spec of its own in `designs/`: the shape of its fill,
//! against the closed forms and against the rule of the design.

use crate::common::loops::{breaks_at, falls_under, go, job, rate_between, rest, rises_above};
use std::path::PathBuf;

use flashtwin_base::Nanos;
use flashtwin_drive::{Drive, spec};
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

const GB: f64 = 1e9;
const BLOCK: u64 = 128 << 10;

fn design(id: &str) -> Drive {
    design_with(id, &[])
}

fn design_with(id: &str, sets: &[String]) -> Drive {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/designs");
    let spec = spec::load(id, &[folder], &[], sets).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(|e| format!("{e} ({})", e.hint)).collect();
        panic!("{id}:\n{}", lines.join("\n"))
    });
    Drive::new(&spec.config, 1)
}

/// Writes so many GB in order from a place of the drive.
fn write(drive: &mut Drive, from_gb: f64, gb: f64) -> Outcome {
    let blocks = |gb: f64| (gb * GB) as u64 / BLOCK * BLOCK;
    let mut write = job(ReadWrite::Write, BLOCK, 32);
    write.offset = blocks(from_gb);
    write.io_bytes = Some(blocks(gb));
    let outcome = go(drive, write);
    drive.ftl().check();
    outcome
}

/// Where the rate falls for good under eight tenths of what it is at the beginning, in GB.
fn knee(outcome: &Outcome) -> f64 {
    let level = 0.8 * rate_between(outcome, 0.05 * GB, 0.4 * GB);
    falls_under(outcome, 0.05 * GB, level) / GB
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found / expected - 1.0).abs() < tolerance,
        "{what}: {found}, not {expected}"
    );
}

/// Fills up to a place, rests until nothing is cached, and writes on.
fn refilled(id: &str, full_gb: f64, more_gb: f64) -> Outcome {
    let mut d = design(id);
    write(&mut d, 0.0, full_gb);
    rest(&mut d, Nanos::from_secs(600));
    assert_eq!(d.ftl().cache_units().1, 0, "{id}: folded in idle time");
    write(&mut d, full_gb, more_gb)
}

#[test]
fn a_static_cache_is_the_same_at_every_fill() {
    let mut d = design("static");
    near("empty", knee(&write(&mut d, 0.0, 8.0)), 1.0, 0.05);
    assert_eq!(d.counters().fold_units, 0, "never folded for capacity");
    near(
        "three quarters",
        knee(&refilled("static", 25.5, 6.0)),
        1.0,
        0.05,
    );
}

#[test]
fn a_hybrid_cache_falls_back_to_its_static_part() {
    near(
        "empty",
        knee(&write(&mut design("hybrid"), 0.0, 12.0)),
        4.0,
        0.05,
    );
    near("half full", knee(&refilled("hybrid", 18.0, 8.0)), 4.0, 0.05);
    let mut d = design("hybrid");
    write(&mut d, 0.0, 33.5);
    rest(&mut d, Nanos::from_secs(600));
    // Flash that is free beyond the reserve of 6 GB may be borrowed, and a third of it holds data.
    let native = d.ftl().layout().native_bytes() as f64 / GB;
    let borrowed = (f64::from(d.ftl().free_superblocks()) - (6.0 / native).ceil()) * native / 3.0;
    assert!((0.1..0.6).contains(&borrowed), "{borrowed} GB to borrow");
    near(
        "nearly full",
        knee(&write(&mut d, 33.5, 2.4)),
        1.0 + borrowed,
        0.1,
    );
}

#[test]
fn a_whole_drive_cache_is_what_is_free_over_the_bits_of_a_cell() {
    for (id, bits) in [("third", 3.0), ("quarter", 4.0)] {
        let mut d = design(id);
        let native = d.ftl().layout().native_bytes() as f64;
        let usable = f64::from(d.ftl().free_superblocks() - 3) * native / GB;
        near(
            id,
            knee(&write(&mut d, 0.0, 0.5 * usable)),
            usable / bits,
            0.03,
        );
        // Sixteen GB are native after a rest: the others are free again.
        let left = (usable - 16.0) / bits;
        near(id, knee(&refilled(id, 16.0, left + 4.0)), left, 0.05);
    }
}

#[test]
fn a_cache_by_fill_shrinks_while_it_is_filled() {
    // x = 0.5 + 5 (1 - x / 27): both grow with the same bytes.
    let at = |full: f64| (0.5 + 5.0 * (1.0 - full / 27.0)) / (1.0 + 5.0 / 27.0);
    let empty = write(&mut design("by-fill"), 0.0, 12.0);
    near("empty", knee(&empty), at(0.0), 0.04);
    near(
        "half",
        knee(&refilled("by-fill", 13.5, 8.0)),
        at(13.5),
        0.06,
    );
    near(
        "past the last point",
        knee(&refilled("by-fill", 28.0, 4.0)),
        0.5,
        0.25,
    );
}

#[test]
fn a_cache_that_is_folded_first_pays_for_both_programs() {
    let mut d = design("fold-first");
    let outcome = write(&mut d, 0.0, 12.0);
    assert_eq!(d.counters().direct_units, 0);
    let cached = rate_between(&outcome, 0.05 * GB, 0.8 * GB);
    let before = d.counters().fold_units;
    let begun = d.now();
    rest(&mut d, Nanos::from_secs(3));
    let spent = (d.now() - begun).as_secs_f64() - 1.0;
    let fold = (d.counters().fold_units - before) as f64 * 4096.0 / spent;
    // The host stops while a step is folded, and then writes as much.
    let expected = 1.0 / (1.0 / cached + 1.0 / fold);
    let past = rate_between(&outcome, 3.0 * GB, 11.0 * GB);
    near("past it", past, expected, 0.04);
    let knee = breaks_at(&outcome, (0.05 * GB, 11.0 * GB), (cached, past)) / GB;
    near("knee", knee, 1.0, 0.12);
}

/// What a host waits for is a step, which is as long on a drive of a sixteenth of the size.
#[test]
fn a_cache_that_is_folded_first_stalls_no_longer_on_a_larger_drive() {
    let longest = |sets: &[&str], gb: f64| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let outcome = write(&mut design_with("fold-first", &sets), 0.0, gb);
        outcome.jobs[0].latency_max.as_secs_f64()
    };
    let whole = longest(&[], 4.0);
    let smaller = [
        "nand.wordlines_per_block=44",
        "drive.capacity=2.048 GB",
        "slc_cache.static_size=62.5 MB",
        "slc_cache.rearm=25 MB",
        "ftl.system=31 MB",
    ];
    let sixteenth = longest(&smaller, 0.5);
    assert!(
        whole < 0.15 && sixteenth < 0.15,
        "{whole} s, {sixteenth} s at a sixteenth"
    );
    near("longest wait", whole, sixteenth, 0.25);
    // Each byte of a step takes the same time.
    let of_step = |mib: u32| longest(&[&format!("fold.step={mib} MiB")], 4.0);
    let [short, middle, long] = [8, 16, 32].map(of_step);
    near("longer steps", long - middle, 2.0 * (middle - short), 0.1);
}

#[test]
fn a_rearmed_cache_is_used_a_second_time() {
    let mut d = design("rearmed");
    let outcome = write(&mut d, 0.0, 18.0);
    // 4 GB, then 7.6 GB direct while 3.8 are folded, then 3.8 GB in the cache again.
    assert_eq!(rises_above(&outcome, 200e6), 1);
    let again = rate_between(&outcome, 12.2 * GB, 15.0 * GB);
    near(
        "again",
        again,
        rate_between(&outcome, 0.5 * GB, 3.5 * GB),
        0.03,
    );
    let between = rate_between(&outcome, 4.5 * GB, 11.0 * GB);
    assert!(between < 0.5 * again, "{between} between the teeth");
}

#[test]
fn folding_holds_a_pace_of_less_than_a_row_for_each_burst() {
    // A burst is 32 units and a row 16: a mover that forgot what it did too much would fold half
    // a byte for each one.
    for pace in [0.05, 0.2, 0.4] {
        let mut d = design_with("rearmed", &[format!("fold.rearm_pace={pace}")]);
        write(&mut d, 0.0, 10.0);
        let c = d.counters();
        near(
            &format!("pace {pace}"),
            c.fold_units as f64 / c.direct_units as f64,
            pace,
            0.05,
        );
    }
}

#[test]
fn two_tiers_are_three_plateaus() {
    let mut d = design("two-tiers");
    let outcome = write(&mut d, 0.0, 20.0);
    let c = *d.counters();
    let layout = d.ftl().layout();
    let (slc, tier) = (layout.slc_bytes() as f64, layout.tier_bytes() as f64);
    // A granule crosses the channel in 163.84 us a row; each of two dies is then busy.
    let rate = |rows: f64, program: f64| 2.0 * rows * 65_536.0 / ((rows * 163.84 + program) * 1e-6);
    let knees = [(2e9 / slc).round() * slc, (6e9 / tier).round() * tier];
    let knees = [knees[0], knees[0] + knees[1]];
    let plateaus = [
        (0.05 * GB, knees[0] - 0.1 * GB, rate(1.0, 404.8)),
        (knees[0] + 0.2 * GB, knees[1] - 0.2 * GB, rate(2.0, 2000.0)),
        (knees[1] + 0.3 * GB, 19.9 * GB, rate(3.0, 4300.0)),
    ];
    for (index, (from, to, expected)) in plateaus.into_iter().enumerate() {
        near(
            &format!("plateau {index}"),
            rate_between(&outcome, from, to),
            expected,
            0.02,
        );
    }
    let levels = plateaus.map(|(_, _, rate)| rate);
    let first = breaks_at(
        &outcome,
        (0.05 * GB, knees[1] - 0.2 * GB),
        (levels[0], levels[1]),
    );
    near("the first knee", first, knees[0], 0.02);
    let second = breaks_at(
        &outcome,
        (knees[0] + 0.2 * GB, 19.9 * GB),
        (levels[1], levels[2]),
    );
    near("the second knee", second, knees[1], 0.02);
    let bytes = |units: u64| units as f64 * 4096.0;
    near("in SLC", bytes(c.slc_units), knees[0], 0.001);
    near(
        "in the tier",
        bytes(c.tier_units),
        knees[1] - knees[0],
        0.001,
    );
    assert_eq!(c.fold_units, 0, "nothing is folded for the host");
}

#[test]
fn both_tiers_are_emptied_in_idle_time_the_first_one_first() {
    let mut d = design("two-tiers");
    write(&mut d, 0.0, 9.0);
    let wear = d.ftl().mean_wear();
    rest(&mut d, Nanos::from_secs(600));
    assert_eq!(d.ftl().cache_units().1 + d.ftl().tier_units().1, 0);
    let c = *d.counters();
    assert_eq!(c.fold_units, c.slc_units + c.tier_units, "each byte once");
    let full = |bytes: u64, each: u64| bytes / each;
    let layout = d.ftl().layout();
    assert!(c.slc_erases >= full(c.slc_units * 4096, layout.slc_bytes()));
    assert!(c.tier_erases >= full(c.tier_units * 4096, layout.tier_bytes()));
    let cycles = c.slc_erases as f64 / 40_000.0 + c.tier_erases as f64 / 6000.0;
    let expected = cycles / f64::from(layout.superblocks);
    near("wear", d.ftl().mean_wear() - wear, expected, 1e-9);
    // Both take data again.
    let again = write(&mut d, 9.0, 7.0);
    assert_eq!(d.counters().direct_units, c.direct_units);
    near("again", knee(&again), 2.0, 0.05);
}

#[test]
fn lower_pages_come_first_and_upper_pages_after_without_a_copy() {
    let mut d = design("lower-pages");
    let layout = d.ftl().layout();
    let (lower, free) = (layout.slc_bytes() as f64, d.ftl().free_superblocks());
    let reserve = 3;
    let outcome = write(&mut d, 0.0, 25.9);
    let c = d.counters();
    assert_eq!((c.slc_units, c.fold_units, c.gc_units), (0, 0, 0));
    assert_eq!((c.slc_erases, c.native_erases), (0, 0));
    let first = rate_between(&outcome, 1.0 * GB, 13.0 * GB);
    let second = rate_between(&outcome, 16.0 * GB, 25.0 * GB);
    // Two dies take 64 KiB each in 163.84 us of transfer and 850 or 2300 us of programming.
    let rate = |program: f64| 2.0 * 65_536.0 / ((163.84 + program) * 1e-6);
    near("lower pages", first, rate(850.0), 0.02);
    near("upper pages", second, rate(2300.0), 0.02);
    let end = breaks_at(&outcome, (GB, 25.0 * GB), (first, second));
    near(
        "where they end",
        end,
        f64::from(free - reserve) * lower,
        0.02,
    );
}
