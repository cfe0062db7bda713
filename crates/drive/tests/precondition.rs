//! Preconditioning without time leaves a drive as the same writes do in their time: how full its
//! superblocks are, what the writes cost, how many superblocks are free.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos, Op};
use flashtwin_drive::precondition::Span;
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive};
use flashtwin_workload::{Generator, RawJob, ReadWrite};

use crate::common::loops::{go, job};
use crate::common::{self, load_with};

/// A thirty-second of the base, in so many superblocks that one more or less is not seen.
const SMALL: [&str; 5] = [
    "nand.wordlines_per_block=6",
    "nand.blocks_per_plane=640",
    "drive.capacity=1400000512 B",
    "ftl.system=15 MB",
    "controller.write_buffer=384 KiB",
];
const NO_CACHE: &[&str] = &["slc_cache.mode=none"];
/// As much of a cache as the base has.
const CACHE: &[&str] = &[
    "slc_cache.size=125 MB",
    "slc_cache.rearm=12 MB",
    "fold.reserve=62 MB",
];

fn config(cache: &[&str], sets: &[&str]) -> Config {
    let sets = [&SMALL[..], cache, sets].concat();
    load_with(common::BASE, &[], &sets).config
}

fn drive(cache: &[&str], sets: &[&str]) -> Drive {
    Drive::new(&config(cache, sets), 1)
}

/// So many units overwritten at random.
fn overwriting(overwrites: u64) -> RawJob {
    let mut random = job(ReadWrite::RandWrite, 4096, 32);
    random.io_bytes = Some(overwrites * 4096);
    random
}

/// A fill and overwrites, in their time.
fn timed(drive: &mut Drive, overwrites: u64) {
    go(drive, job(ReadWrite::Write, 1 << 20, 8));
    if overwrites > 0 {
        go(drive, overwriting(overwrites));
    }
}

/// The same addresses without time.
fn untimed(drive: &mut Drive, overwrites: u64) {
    let mut jobs = vec![job(ReadWrite::Write, 1 << 20, 8)];
    if overwrites > 0 {
        jobs.push(overwriting(overwrites));
    }
    write_untimed(drive, jobs);
}

/// What jobs write, without time.
fn write_untimed(drive: &mut Drive, jobs: impl IntoIterator<Item = RawJob>) {
    let capacity = drive.capacity_bytes();
    for job in jobs {
        let job = job.check(capacity).expect("the test's job is right");
        let mut addresses = Generator::new(&job, 0);
        let mut handles = job.handles.iter().copied().cycle();
        let spans = std::iter::from_fn(|| {
            addresses.next(0).map(|ask| Span {
                lba: ask.lba,
                sectors: ask.sectors,
                handle: handles.next().unwrap_or(0),
            })
        });
        assert!(drive.precondition(spans, |_| true));
    }
}

/// Shares of units that are valid, of all superblocks from the emptiest to the fullest.
fn fullness(drive: &Drive) -> Vec<f64> {
    let units = f64::from(drive.ftl().layout().native_units);
    let all = drive.ftl().superblocks().iter();
    let mut shares: Vec<_> = all.map(|block| f64::from(block.valid) / units).collect();
    shares.sort_by(f64::total_cmp);
    shares
}

fn waf(drive: &Drive) -> f64 {
    let counters = drive.counters();
    counters.programmed_units() as f64 / counters.host_units as f64
}

/// Both drives in the same state by what of it matters.
fn are_alike(name: &str, timed: &Drive, untimed: &Drive) {
    let (with, without) = (fullness(timed), fullness(untimed));
    let apart: f64 = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).sum();
    let apart = apart / with.len() as f64;
    assert!(
        apart < 0.01,
        "{name}: superblocks differ by {apart} in the mean"
    );
    let (with, without) = (waf(timed), waf(untimed));
    let off = (without / with - 1.0).abs();
    assert!(
        off < 0.01,
        "{name}: WAF {with} with time, {without} without"
    );
    let (with, without) = (
        timed.ftl().free_superblocks(),
        untimed.ftl().free_superblocks(),
    );
    let all = timed.ftl().superblocks().len() as f64;
    let off = f64::from(with.abs_diff(without)) / all;
    assert!(
        off < 0.01,
        "{name}: {with} free with time, {without} without"
    );
}

fn check(name: &str, cache: &[&str], sets: &[&str], passes: u64) {
    let [mut with, mut without] = [(), ()].map(|()| drive(cache, sets));
    let overwrites = u64::from(with.ftl().logical_units()) * passes;
    timed(&mut with, overwrites);
    untimed(&mut without, overwrites);
    assert_eq!(without.now(), Nanos::ZERO, "{name}: time passed");
    assert_eq!(
        with.totals().bytes(Op::Write),
        without.totals().bytes(Op::Write)
    );
    // Programs under way end, and so do writes that wait to be gathered.
    for drive in [&mut with, &mut without] {
        let rest = drive.now() + Nanos::from_secs(1);
        drive.advance(rest, &mut Vec::new());
        drive.ftl().check();
    }
    are_alike(name, &with, &without);
}

#[test]
fn a_fill_without_time_is_a_fill() {
    check("no cache", NO_CACHE, &[], 0);
    check("staged", CACHE, &[], 0);
    check("direct", CACHE, &["slc_cache.when_full=direct"], 0);
}

#[test]
fn random_overwrites_without_time_are_random_overwrites() {
    check("no cache", NO_CACHE, &[], 1);
    check("staged", CACHE, &[], 1);
}

/// With slow cores collection holds a host for longer than `controller.gather_time`. Its
/// programs that waited for more were padded meanwhile, which took the free superblocks to the
/// reserve and let write amplification differ by 14 % from what is written without time.
#[test]
fn overwrites_without_time_are_alike_where_the_cores_are_the_limit() {
    for slow in ["controller.move_time=300 us", "controller.kib_time=20 us"] {
        check(slow, NO_CACHE, &[slow, "gc.low=10", "gc.high=10"], 2);
    }
}

/// A host that overwrites the same units in the same order again finds together what it wrote
/// together, as far as collection has not mixed it: that hangs on the order in which dies end.
#[test]
fn random_overwrites_that_are_replayed_without_time_are_the_same_replayed() {
    let [mut with, mut without] = [(), ()].map(|()| drive(NO_CACHE, &[]));
    let overwrites = u64::from(with.ftl().logical_units());
    timed(&mut with, overwrites);
    go(&mut with, overwriting(overwrites));
    untimed(&mut without, overwrites);
    write_untimed(&mut without, [overwriting(overwrites)]);
    are_alike("replayed", &with, &without);
}

/// The map cache holds a third of the map, a tenth of it, and fewer pages than the host has
/// commands outstanding.
#[test]
fn a_map_that_is_read_page_by_page_is_read_without_time_too() {
    let cache = "map.cache=64 KiB";
    check(cache, NO_CACHE, &["map.residency=demand", cache], 1);
    let second = ["map.cache=128 KiB", "controller.read_priority=false"];
    let second = [&["map.residency=demand"], &second[..]].concat();
    check("no read goes first", NO_CACHE, &second, 1);
}

/// All of a drive's state.
fn state(mut drive: Drive) -> Vec<u8> {
    drive.ftl().check();
    let identity = Identity {
        spec_hash: "0".repeat(64),
        seed: 1,
    };
    let mut bytes = Vec::new();
    drive.save(&mut bytes, &identity).expect("it is idle");
    bytes
}

/// Units at random, some of them again and again, so that a unit comes twice in one go; then in
/// order, so that superblocks lose all of their data.
fn scattered(units: u64) -> Vec<u64> {
    let mut chance = Rng::new(7, 0);
    let random = (0..units / 2).map(|_| match chance.below(4) {
        0 => chance.below(24),
        _ => chance.below(units),
    });
    random
        .collect::<Vec<_>>()
        .into_iter()
        .chain(0..units / 4)
        .collect()
}

/// A drive that has no handles takes each of them for the first one, but writes that name one are
/// placed one after another.
#[test]
fn units_that_are_placed_together_leave_what_one_after_another_does() {
    same_together(&[
        &[],
        &["gc.separation=none"],
        &[
            "ftl.parity=stripe",
            "drive.capacity=599998464 B",
            LESS_BUFFER,
        ],
    ]);
}

#[test]
#[ignore = "more drives; ./dev test --full runs it"]
fn units_that_are_placed_together_leave_the_same_on_other_drives() {
    same_together(&[
        &["ftl.superblock_dies=1", LESS_BUFFER],
        &["gc.pace=stop-the-world"],
        &["gc.policy=fifo", "gc.low=5", "gc.high=9"],
    ]);
    let cache = "map.cache=512 KiB";
    check(cache, NO_CACHE, &["map.residency=demand", cache], 1);
}

const LESS_BUFFER: &str = "controller.write_buffer=192 KiB";

fn same_together(drives: &[&[&str]]) {
    for &sets in drives {
        let states = [0, 1].map(|handle| {
            let mut drive = drive(NO_CACHE, sets);
            write_untimed(&mut drive, [job(ReadWrite::Write, 1 << 20, 8)]);
            let units = scattered(u64::from(drive.ftl().logical_units()) - 1);
            let spans = units.into_iter().map(|unit| Span {
                lba: unit * 8,
                sectors: 8,
                handle,
            });
            assert!(drive.precondition(spans, |_| true));
            state(drive)
        });
        assert!(states[0] == states[1], "{sets:?}");
    }
}

#[test]
fn a_drive_goes_on_after_it_as_any_drive() {
    let mut drive = drive(CACHE, &[]);
    untimed(&mut drive, 10_000);
    let outcome = go(&mut drive, job(ReadWrite::RandRw, 4096, 8));
    assert!(outcome.jobs[0].ios > 0 && outcome.jobs[0].errors.total() == 0);
    drive.ftl().check();
}

#[test]
fn a_stop_leaves_a_drive_that_is_whole() {
    let mut drive = drive(CACHE, &[]);
    let units = u64::from(drive.ftl().logical_units());
    let spans = (0..units).map(|at| Span {
        lba: at * 8,
        sectors: 8,
        handle: 0,
    });
    let whole = drive.precondition(spans, |bytes| bytes < 1 << 28);
    let written = drive.totals().bytes(Op::Write);
    assert!(!whole && written < units * 4096, "{written} bytes");
    drive.ftl().check();
}

#[test]
fn look_ups_that_go_before_collection_at_a_core_are_for_fills_alone() {
    let sets = [
        "map.residency=demand",
        "map.cache=512 KiB",
        "controller.move_time=10 us",
    ];
    let paged = config(NO_CACHE, &sets);
    assert_eq!(paged.precondition_refusal(false), None);
    let why = paged.precondition_refusal(true);
    assert!(
        why.is_some_and(|why| why.contains("reads_first")),
        "{why:?}"
    );
    assert_eq!(
        config(NO_CACHE, &sets[..2]).precondition_refusal(true),
        None
    );
    assert_eq!(
        config(NO_CACHE, &sets[2..]).precondition_refusal(true),
        None
    );
}

#[test]
fn placement_handles_are_kept_apart_without_time_too() {
    let sets = ["link.kind=nvme", "fdp.handles=4", "gc.low=8", "gc.high=8"];
    let [mut with, mut without] = [(), ()].map(|()| drive(NO_CACHE, &sets));
    let host = |drive: &Drive| {
        let capacity = drive.capacity_bytes();
        // Handle 1 is for a tenth of the drive, which is written over and over, 2 for the rest.
        let mut hot = job(ReadWrite::RandWrite, 4096, 32);
        (hot.size, hot.handles) = (Some(capacity / 10 / 4096 * 4096), vec![1]);
        hot.io_bytes = Some(capacity / 2);
        let mut fill = job(ReadWrite::Write, 1 << 20, 8);
        fill.handles = vec![2, 3];
        [fill, hot]
    };
    for job in host(&with) {
        go(&mut with, job);
    }
    let jobs = host(&without);
    write_untimed(&mut without, jobs);
    for drive in [&mut with, &mut without] {
        let rest = drive.now() + Nanos::from_secs(1);
        drive.advance(rest, &mut Vec::new());
        drive.ftl().check();
    }
    are_alike("handles", &with, &without);
}

#[test]
fn a_firmware_whose_padding_hangs_on_time_says_no() {
    for set in [
        "controller.gather=false",
        "controller.overlap=false",
        "controller.acknowledge=write-through",
    ] {
        let key = set.split('=').next().expect("a key");
        let why = config(NO_CACHE, &[set]).precondition_refusal(true);
        assert!(why.is_some_and(|why| why.contains(key)), "{set}: {why:?}");
    }
    assert_eq!(config(CACHE, &[]).precondition_refusal(true), None);
}
