//! What a host sees of each rule of the SLC cache: which writes enter, how large it is, what
//! happens past it, and how it comes back.

use crate::common::asks;
use crate::common::loops::{self, falls_under, go, job, rate_between};
use crate::common::{self, load_with};
use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_ftl::Counters;
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

const GB: f64 = 1e9;
const UNIT: f64 = 4096.0;

/// A static cache of 2 GB that data passes by when it is full.
const STATIC: &[&str] = &[
    "slc_cache.mode=static",
    "slc_cache.size=0",
    "slc_cache.static_size=2 GB",
    "slc_cache.when_full=direct",
    "slc_cache.rearm=400 MB",
    "drive.capacity=32 GB",
    "fold.reserve=0",
    "fold.pace=0",
];

fn drive(sets: &[&[&str]]) -> Drive {
    Drive::new(&load_with(common::BASE, &[], &sets.concat()).config, 1)
}

fn write(drive: &mut Drive, rw: ReadWrite, block: u64, bytes: u64) -> (Outcome, Counters) {
    write_within(drive, rw, block, bytes, None)
}

/// Writes so many bytes, random ones within a file at the beginning of the drive.
fn write_within(
    drive: &mut Drive,
    rw: ReadWrite,
    block: u64,
    bytes: u64,
    file: Option<u64>,
) -> (Outcome, Counters) {
    let before = *drive.counters();
    let mut job = job(rw, block, 32);
    job.io_bytes = Some(bytes);
    job.size = file;
    let outcome = go(drive, job);
    drive.ftl().check();
    (outcome, since(&before, drive.counters()))
}

fn since(before: &Counters, now: &Counters) -> Counters {
    Counters {
        slc_units: now.slc_units - before.slc_units,
        direct_units: now.direct_units - before.direct_units,
        fold_units: now.fold_units - before.fold_units,
        ..*now
    }
}

#[test]
fn a_small_file_lives_in_a_cache_that_reclaims_its_emptiest_superblock() {
    let file = Some(1 << 30);
    let run = |reclaim: &str| {
        let mut d = drive(&[STATIC, &[reclaim]]);
        write_within(&mut d, ReadWrite::RandWrite, 4096, 12_000_000_000, file)
    };
    let (without, c) = run("slc_cache.reclaim=0");
    assert!(
        c.direct_units > c.slc_units,
        "the cache filled up and stayed full"
    );
    let (with, c) = run("slc_cache.reclaim=0.5");
    assert_eq!(c.direct_units, 0, "room in the cache at all times");
    let folded = c.fold_units as f64 / c.slc_units as f64;
    // A cache of twice the file: greedy collection would copy 0.26 a write and keep it in the
    // cache; what is folded out leaves it, so it is less.
    assert!((0.01..0.26).contains(&folded), "{folded} folded a write");
    let rate = |o: &Outcome| rate_between(o, 6.0 * GB, 12.0 * GB);
    assert!(rate(&with) > 1.5 * rate(&without));
}

/// A dynamic cache of one superblock of 32 units, in a drive of 1128, whose controller takes turns.
const TINY: &[&str] = &[
    "nand.cell=qlc",
    "nand.native.tr=[\"45 us\", \"60 us\", \"75 us\", \"90 us\"]",
    "nand.native.tprog=4 ms",
    "nand.wordlines_per_block=16",
    "nand.blocks_per_plane=26",
    "nand.planes=2",
    "ftl.mapping_unit=32 KiB",
    "ftl.system=0",
    "drive.capacity=36096 KiB",
    "slc_cache.size=1 MiB",
    "slc_cache.when_full=direct",
    "slc_cache.rearm=1 MiB",
    "slc_cache.reclaim=0.999",
    "fold.reserve=0",
    "fold.idle_after=1 s",
    "fold.pace=2",
    "controller.overlap=false",
    "controller.gather=false",
    "controller.acknowledge=write-through",
    "controller.write_buffer=128 KiB",
    "gc.reserve=2",
];

/// Overwrites leave little valid data in the cache, so that it is reclaimed; new data follows,
/// which fills it again and is not worth that. The firmware kept the host waiting for what it had
/// found worth reclaiming before, while nothing was under way that could have ended the wait: the
/// drive was stuck.
#[test]
fn a_cache_with_nothing_left_to_reclaim_lets_data_go_past() {
    for seed in 0..30 {
        let mut d = drive(&[TINY]);
        let mut rng = Rng::new(seed, 1);
        for _ in 0..400 {
            let most = if rng.chance(30) { 500 } else { 16 };
            let units = 1 + rng.below(most);
            let at = if rng.chance(50) {
                0
            } else {
                rng.below(1128 - units)
            };
            let (_, status) = asks::single(&mut d, Op::Write, at * 64, (units * 64) as u32);
            assert_eq!(status, Status::Ok);
            if rng.chance(5) {
                let to = d.now() + Nanos::from_secs(3);
                d.advance(to, &mut Vec::new());
            }
        }
        let c = d.counters();
        assert!(c.fold_units > 0 && c.direct_units > 0, "{c:?}");
    }
}

#[test]
fn mostly_valid_superblocks_are_not_reclaimed() {
    let mut d = drive(&[STATIC, &["slc_cache.reclaim=0.5"]]);
    let (outcome, c) = write(&mut d, ReadWrite::Write, 128 << 10, 20_000_000_000);
    assert_eq!(c.fold_units, 0);
    let cached = c.slc_units as f64 * UNIT;
    assert!(
        (cached / (2.0 * GB) - 1.0).abs() < 0.03,
        "{cached} bytes in the cache"
    );
    let level = rate_between(&outcome, 0.2 * GB, 1.8 * GB) * 0.8;
    let end = falls_under(&outcome, 0.2 * GB, level);
    assert!((end / cached - 1.0).abs() < 0.03, "{end} against {cached}");
}

/// The firmware folds the superblocks of a full cache whose data the host has overwritten, and no
/// others. A fill after that goes past the cache, as it does where the host has overwritten none.
/// Superblocks are small here beside the write buffer, so that the host waits until one is folded.
#[test]
fn a_reclaimed_superblock_does_not_draw_a_fill_through_the_cache() {
    const FLASH: &[&str] = &[
        "drive.capacity=6 GB",
        "ftl.system=100 MB",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=1400",
        "slc_cache.static_size=200 MB",
        "slc_cache.reclaim=0.5",
        "slc_cache.rearm=20 MB",
    ];
    const FILE: u64 = 23 << 20;
    let fill = |cached: u64, times: u64| {
        let mut d = drive(&[STATIC, FLASH]);
        write(&mut d, ReadWrite::Write, 128 << 10, cached);
        if times > 0 {
            write_within(
                &mut d,
                ReadWrite::Write,
                128 << 10,
                times * FILE,
                Some(FILE),
            );
        }
        let mut job = job(ReadWrite::Write, 128 << 10, 32);
        job.offset = 1 << 30;
        job.io_bytes = Some(4 << 30);
        let before = *d.counters();
        let outcome = go(&mut d, job);
        d.ftl().check();
        let written = since(&before, d.counters());
        (rate_between(&outcome, GB, 4.0 * GB), written)
    };
    for cached in [168 << 20, 172 << 20, 176 << 20] {
        let (past, _) = fill(cached, 0);
        for times in [1, 3] {
            let (after, written) = fill(cached, times);
            let through = written.slc_units as f64 / written.host_units as f64;
            assert!(after > 0.95 * past, "{after} for {past}");
            assert!(through < 0.1, "{through} of the data through the cache");
        }
    }
}

#[test]
fn writes_enter_by_size_or_unless_they_go_on_in_a_row() {
    let cases = [
        ("all", "64 KiB", ReadWrite::Write, 128 << 10, 1.0),
        ("small", "64 KiB", ReadWrite::Write, 64 << 10, 1.0),
        ("small", "64 KiB", ReadWrite::Write, 68 << 10, 0.0),
        ("small", "64 KiB", ReadWrite::RandWrite, 128 << 10, 0.0),
        ("random", "64 KiB", ReadWrite::RandWrite, 4096, 1.0),
        // Of a run only the beginning enters: sixteen commands of the 25,000.
        ("random", "64 KiB", ReadWrite::Write, 4096, 16.0 / 25_000.0),
        (
            "random",
            "256 KiB",
            ReadWrite::Write,
            128 << 10,
            2.0 / 782.0,
        ),
    ];
    for (admit, limit, rw, block, expected) in cases {
        let sets = [
            format!("slc_cache.admit={admit}"),
            format!("slc_cache.admit_limit={limit}"),
        ];
        let mut d = drive(&[STATIC, &[&sets[0], &sets[1]]]);
        let (_, c) = write(&mut d, rw, block, 102_400_000);
        let total = (c.slc_units + c.direct_units) as f64;
        let share = c.slc_units as f64 / total;
        assert!(
            (share - expected).abs() < 0.001,
            "{admit} {limit} {rw:?} {block}: {share}, not {expected}"
        );
    }
}

#[test]
fn the_size_follows_the_fill() {
    let sets = [
        "slc_cache.size=0",
        "slc_cache.size_by_fill=[\"0 %: 6 GB\", \"75 %: 1.5 GB\"]",
        "slc_cache.when_full=direct",
        "slc_cache.rearm=92 MB",
        "drive.capacity=36 GB",
        "fold.idle_after=10 ms",
    ];
    let mut d = drive(&[&sets]);
    let (outcome, _) = write(&mut d, ReadWrite::Write, 128 << 10, 16_000_000_000);
    let level = rate_between(&outcome, GB, 4.0 * GB) * 0.8;
    let end = falls_under(&outcome, GB, level);
    // The cache fills and shrinks at once: x = 6 GB - x (6 - 1.5 GB) / (0.75 of 36 GB).
    let expected = 6.0 * GB / (1.0 + 4.5 / 27.0);
    assert!((end / expected - 1.0).abs() < 0.03, "{end}, not {expected}");
    // Refilled from two thirds of the drive on, the cache empty again.
    write(&mut d, ReadWrite::Write, 128 << 10, 24_000_000_000);
    loops::rest(&mut d, Nanos::from_secs(600));
    assert_eq!(d.ftl().cache_units().1, 0, "emptied in idle time");
    let mut more = job(ReadWrite::Write, 128 << 10, 32);
    more.offset = 24_000_000_000 / 131_072 * 131_072;
    more.io_bytes = Some(8_000_000_000);
    let outcome = go(&mut d, more);
    let end = falls_under(&outcome, 0.3 * GB, level);
    let left = 6.0 - 4.5 * 24.0 / 27.0;
    let expected = left * GB / (1.0 + 4.5 / 27.0);
    assert!((end / expected - 1.0).abs() < 0.08, "{end}, not {expected}");
}

/// Room for many programs a die: with two streams and few, one die can wait while the buffer holds
/// the other's.
const BUFFER: &str = "controller.write_buffer=12 MiB";

#[test]
fn a_mixed_cache_pays_for_each_share_what_it_costs() {
    let sets = |share: &'static str| [share, "slc_cache.when_full=mixed", "fold.pace=1.5", BUFFER];
    let alone = |when: &str| {
        let mut d = drive(&[&[when, "fold.pace=1.5", BUFFER]]);
        let (outcome, _) = write(&mut d, ReadWrite::Write, 128 << 10, 14_000_000_000);
        rate_between(&outcome, 6.0 * GB, 13.0 * GB)
    };
    let direct = alone("slc_cache.when_full=direct");
    let staged = alone("slc_cache.when_full=staged");
    for (text, share) in [("0.3", 0.3), ("0.5", 0.5), ("0.8", 0.8)] {
        let key: &'static str = format!("slc_cache.direct_share={text}").leak();
        let mut d = drive(&[&sets(key)]);
        let (outcome, c) = write(&mut d, ReadWrite::Write, 128 << 10, 14_000_000_000);
        let rate = rate_between(&outcome, 6.0 * GB, 13.0 * GB);
        let expected = 1.0 / (share / direct + (1.0 - share) / staged);
        assert!(
            (rate / expected - 1.0).abs() < 0.02,
            "{share}: {rate}, not {expected}"
        );
        let past = 14.0 * GB - 4.0 * GB;
        let found = c.direct_units as f64 * UNIT / past;
        assert!((found - share).abs() < 0.02, "{found} direct, not {share}");
    }
}

#[test]
fn a_cache_that_is_folded_in_mid_fill_is_used_again_and_again() {
    let sets = [
        "slc_cache.mode=dynamic",
        "slc_cache.when_full=direct",
        "slc_cache.rearm=1 GB",
        "fold.rearm_pace=0.5",
        "fold.reserve=0",
    ];
    let mut d = drive(&[&sets]);
    let (outcome, c) = write(&mut d, ReadWrite::Write, 128 << 10, 22_000_000_000);
    // 4 GB at first; then 1 GB in the cache for each 2 GB direct, which fold 1 GB.
    let expected = 4.0 * GB + 18.0 * GB / 3.0;
    let cached = c.slc_units as f64 * UNIT;
    assert!(
        (cached / expected - 1.0).abs() < 0.05,
        "{cached}, not {expected}"
    );
    // (22 - 4) GB in teeth of 3.
    assert_eq!(loops::rises_above(&outcome, 200e6), 6);
}

/// Fills a dynamic cache of 4 GB with 3.5 GB; the drive then has nothing to do.
fn with_cached_data(sets: &[&str]) -> Drive {
    let own = ["slc_cache.when_full=direct", "fold.reserve=0"];
    let mut d = drive(&[&own, sets]);
    write(&mut d, ReadWrite::Write, 128 << 10, 3500 << 20);
    d
}

/// Bytes a second that are folded in idle time, over four seconds of it.
fn fold_rate(d: &mut Drive) -> f64 {
    let before = d.counters().fold_units;
    loops::rest(d, Nanos::from_secs(4));
    (d.counters().fold_units - before) as f64 * UNIT / 4.0
}

#[test]
fn folding_in_the_background_keeps_to_its_rate() {
    let free = fold_rate(&mut with_cached_data(&["fold.idle_after=1 ms"]));
    for (text, rate) in [("fold.rate=10 MB/s", 10e6), ("fold.rate=37 MB/s", 37e6)] {
        assert!(rate < 0.8 * free, "{rate} is no limit to {free}");
        let found = fold_rate(&mut with_cached_data(&["fold.idle_after=1 ms", text]));
        assert!((found / rate - 1.0).abs() < 0.02, "{found}, not {rate}");
    }
}

#[test]
fn few_free_superblocks_start_folding_under_the_host_s_hands() {
    let sets = [
        "fold.idle_after=never",
        "fold.low=100",
        "fold.high=110",
        "slc_cache.when_full=direct",
        "fold.reserve=0",
    ];
    let mut d = drive(&[&sets]);
    let superblock = d.ftl().layout().native_bytes();
    let before = u64::from(d.ftl().free_superblocks());
    // The cache takes three superblocks of flash for one of data: 44 of 147 with 4 GB.
    write(&mut d, ReadWrite::Write, 128 << 10, 3 << 30);
    assert_eq!(d.counters().fold_units, 0, "enough are free");
    write(&mut d, ReadWrite::Write, 128 << 10, 8 << 30);
    loops::rest(&mut d, Nanos::from_secs(300));
    assert!(d.counters().fold_units > 0);
    let (_, valid) = d.ftl().cache_units();
    let free = d.ftl().free_superblocks();
    assert!(
        free >= 100,
        "{free} of {before} of {superblock} bytes are free"
    );
    assert!(valid > 0, "folding ends at the high mark");
}

#[test]
fn a_check_costs_what_it_reads_and_sends() {
    let base = ["fold.idle_after=1 ms", "fold.path=copyback"];
    let rate = |sets: &[&str]| fold_rate(&mut with_cached_data(&[&base, sets].concat()));
    let plain = rate(&[]);
    // On a die: 3 x 35 us of reads and 4.3 ms of programming for 192 KiB; a check adds three
    // reads of 35 us and 163.84 us of transfer, on a channel that is otherwise idle.
    let copy = 3.0 * 35.0 + 4300.0;
    let check = 3.0 * (35.0 + 163.84);
    for (set, every) in [("fold.check_every=1", 1.0), ("fold.check_every=4", 4.0)] {
        let expected = plain * copy / (copy + check / every);
        let found = rate(&[set]);
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{every}: {found}, not {expected}"
        );
    }
    let through = rate(&["fold.path=controller"]);
    let fallen = rate(&["fold.check_every=1", "fold.check_cycles=0"]);
    assert!(
        (fallen / through - 1.0).abs() < 0.01,
        "{fallen}, not {through}"
    );
}

#[test]
fn a_static_cache_has_a_budget_of_its_own() {
    let run = |worn: &str| {
        let sets = ["nand.slc.endurance=3", "slc_cache.reclaim=0.9", worn];
        let mut d = drive(&[STATIC, &sets]);
        // A file of 1 GB, written anew again and again: nothing but overwrites frees the cache.
        for _ in 0..14 {
            let mut write = job(ReadWrite::Write, 128 << 10, 32);
            write.size = Some(1 << 30);
            go(&mut d, write);
        }
        d.ftl().check();
        d
    };
    let kept = run("slc_cache.worn=keep");
    assert_eq!(kept.counters().direct_units, 0);
    assert_eq!(kept.ftl().static_budget(), 0.0);
    let shrunk = run("slc_cache.worn=shrink");
    let own = shrunk
        .ftl()
        .superblocks()
        .iter()
        .filter(|b| b.fixed)
        .count() as u64;
    // Every static superblock is erased as often as it is rated, and what they held is all that
    // the cache ever took.
    assert_eq!(shrunk.counters().slc_erases, 3 * own);
    let most = 3 * own * u64::from(shrunk.ftl().layout().slc_units);
    assert_eq!(shrunk.counters().slc_units, most);
    assert_eq!(u64::from(shrunk.ftl().retired_superblocks()), own);
    let closed = run("slc_cache.worn=close");
    let erases = closed.counters().slc_erases;
    assert!(
        (2 * own..3 * own).contains(&erases),
        "{erases} erases of {own}"
    );
    assert!(closed.counters().direct_units > shrunk.counters().direct_units);
}

/// The mean rate and longest wait of random 4 KiB writes, in their second turn over a full drive
/// of 80 superblocks of 50 MB beside those of the cache.
fn full_and_random(sets: &[&str]) -> (f64, u64) {
    let small = [
        "nand.wordlines_per_block=128",
        "ftl.system=0",
        "drive.capacity=2.8672 GB",
        "gc.low=10",
        "gc.high=12",
        "slc_cache.when_full=direct",
        "slc_cache.rearm=0",
        "slc_cache.size=0",
        "fold.reserve=0",
        "fold.pace=0",
    ];
    let sets = [&small, sets].concat();
    let mut drive = Drive::new(&load_with(common::BASE, &[], &sets).config, 1);
    let whole = drive.capacity_bytes();
    write(&mut drive, ReadWrite::Write, 128 << 10, whole);
    write(&mut drive, ReadWrite::RandWrite, 4096, whole);
    let (outcome, _) = write(&mut drive, ReadWrite::RandWrite, 4096, whole / 4);
    let longest = outcome.hist[0].1.percentile(100.0).expect("writes");
    (loops::rate(&outcome), longest)
}

/// Random writes on a full drive without a cache, and beside a full static one under each of the
/// rules: as fast, with no wait `waits` times as long.
fn go_on_beside_a_cache(gc: &[&str], rules: &[&[&str]], waits: u64) {
    let off = [
        "nand.blocks_per_plane=80",
        "slc_cache.mode=none",
        "fold.idle_after=never",
    ];
    let own = [
        "nand.blocks_per_plane=92",
        "slc_cache.mode=static",
        "slc_cache.static_size=201 MB",
        "fold.idle_after=1 h",
    ];
    let (rate, wait) = full_and_random(&[&off[..], gc].concat());
    for rule in rules {
        let (found, longest) = full_and_random(&[&own[..], gc, rule].concat());
        assert!(found > 0.95 * rate, "{gc:?} {rule:?}: {found} B/s, {rate}");
        assert!(
            longest < waits * wait,
            "{gc:?} {rule:?}: {longest} ns, {wait}"
        );
    }
}

/// A full static cache is no reason to fold: that takes native room and gives none back, and
/// collection has to win it again while the host waits.
#[test]
fn beside_a_full_static_cache_random_writes_go_on_as_without_one() {
    let mixed = [
        "slc_cache.when_full=mixed",
        "slc_cache.direct_share=0.5",
        "fold.pace=1",
    ];
    go_on_beside_a_cache(&[], &[&[], &mixed], 2);
    let fold_first = ["slc_cache.when_full=fold-first", "fold.pace=1"];
    go_on_beside_a_cache(&[], &[&fold_first], 6);
}

#[test]
#[ignore = "the same under other rules; ./dev test --full runs it"]
fn beside_a_full_static_cache_random_writes_go_on_however_is_collected() {
    let direct: [&[&str]; 3] = [
        &["slc_cache.reclaim=0.5"],
        &["fold.rearm_pace=1"],
        &["slc_cache.when_full=staged", "fold.pace=1"],
    ];
    go_on_beside_a_cache(&[], &direct, 2);
    for gc in [
        "gc.separation=hot-cold",
        "gc.policy=cost-benefit",
        "gc.pace=stop-the-world",
    ] {
        go_on_beside_a_cache(&[gc], &[&[]], 2);
    }
}
