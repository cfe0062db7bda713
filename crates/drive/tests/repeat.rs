//! Stretches of a steady load that are repeated without being simulated: a life that is lived so is
//! the life that is simulated, as far as a host, SMART and the clock of the data can tell.

use flashtwin_base::Device;
use flashtwin_base::rng::Rng;
use flashtwin_drive::precondition::Span;
use flashtwin_drive::repeat::Stretch;
use flashtwin_drive::{Config, Drive};
use flashtwin_workload::ReadWrite;
use serde_json::Value;

use crate::common::loops::{go, job};
use crate::common::{self, load_with};

const SMALL: [&str; 6] = [
    "nand.wordlines_per_block=6",
    "nand.blocks_per_plane=300",
    "drive.capacity=600002560 B",
    "ftl.system=15 MB",
    "controller.write_buffer=384 KiB",
    "smart.family=nvme",
];
const NO_CACHE: &str = "slc_cache.mode=none";
/// Bytes of the host within which these loads write everything again.
const WRITTEN_AGAIN: u64 = 2 << 30;

fn config(sets: &[&str]) -> Config {
    load_with(common::BASE, &[], &[&SMALL[..], sets].concat()).config
}

/// A full drive in the steady state of random writes.
fn steady(sets: &[&str]) -> Drive {
    let mut drive = Drive::new(&config(sets), 1);
    go(&mut drive, job(ReadWrite::Write, 1 << 20, 8));
    let units = u64::from(drive.ftl().logical_units());
    let mut rng = Rng::new(5, 0);
    let spans = (0..2 * units).map(|_| Span {
        lba: rng.below(units) * 8,
        sectors: 8,
        handle: 0,
    });
    assert!(drive.precondition(spans, |_| true));
    drive
}

/// Random writes of a quarter of the drive; the answer is how long they took and their p99.
fn quarter(drive: &mut Drive, seed: u64) -> (u64, u64) {
    let mut write = job(ReadWrite::RandWrite, 4096, 32);
    write.io_bytes = Some(drive.capacity_bytes() / 4 / 4096 * 4096);
    write.seed = seed;
    let outcome = go(drive, write);
    let p99 = outcome.hist[0].1.percentile(99.0).expect("requests");
    ((outcome.end - outcome.start).0, p99)
}

/// Quarters, and what they came to.
fn quarters(drive: &mut Drive, seeds: std::ops::Range<u64>) -> Stretch {
    let mark = drive.mark();
    for seed in seeds {
        quarter(drive, seed);
    }
    drive.since(&mark)
}

fn number(smart: &Value, path: &str) -> f64 {
    let value = smart.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn a_life_that_is_repeated_is_the_life_that_is_simulated() {
    let [mut lived, mut jumped] = [(), ()].map(|()| steady(&[NO_CACHE]));
    quarters(&mut lived, 0..24);
    let stretch = quarters(&mut jumped, 0..8);
    assert_eq!(jumped.repeat(&stretch, 2, 0, WRITTEN_AGAIN), 2);
    jumped.ftl().check();
    let (lived_smart, jumped_smart) = (lived.smart(), jumped.smart());
    for path in [
        "/flashtwin/waf/host_bytes",
        "/flashtwin/waf/programmed_bytes",
        "/flashtwin/waf/total",
        "/flashtwin/waf/by_cause/gc",
        "/flashtwin/endurance/percent_used",
        "/flashtwin/energy/energy_uj",
        "/flashtwin/energy/mean_mw",
        "/nvme_smart_health_information_log/data_units_written",
    ] {
        let [by_life, by_jump] = [&lived_smart, &jumped_smart].map(|smart| number(smart, path));
        let off = (by_jump / by_life - 1.0).abs();
        assert!(off < 0.02, "{path}: {by_life} lived, {by_jump} repeated");
    }
    // Where nothing wears out, the host sees the same after it.
    let [one, other] = [&mut lived, &mut jumped].map(|drive| quarter(drive, 99));
    for (one, other) in [(one.0, other.0), (one.1, other.1)] {
        let off = (one as f64 / other as f64 - 1.0).abs();
        assert!(off < 0.05, "{one} and {other} ns");
    }
}

#[test]
fn writes_without_time_bring_their_time_and_energy_to_a_jump() {
    let mut drive = steady(&[NO_CACHE]);
    let stretch = quarters(&mut drive, 0..2);
    let before = drive.smart();
    drive.repeat(&stretch, 0, stretch.written_bytes(), WRITTEN_AGAIN);
    let after = drive.smart();
    let more = |path| number(&after, path) - number(&before, path);
    assert_eq!(more("/flashtwin/waf/host_bytes"), 0.0);
    let serving = more("/flashtwin/energy/states_ns/serving");
    let off = (serving / stretch.time().0 as f64 - 1.0).abs();
    assert!(off < 0.05, "{serving} ns of {:?}", stretch.time());
}

#[test]
fn a_jump_ends_before_the_cache_is_used_up() {
    let sets = [
        "slc_cache.mode=static",
        "slc_cache.size=0",
        "slc_cache.static_size=20 MB",
        "slc_cache.rearm=0",
        "slc_cache.when_full=direct",
        "slc_cache.worn=shrink",
        "nand.slc.endurance=4000",
        "fold.reserve=0",
        "fold.pace=0",
        "fold.idle_after=1 ms",
    ];
    let mut drive = Drive::new(&config(&sets), 1);
    let burst = |drive: &mut Drive| {
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.io_bytes = Some(16 << 20);
        go(drive, write);
        common::loops::rest(drive, flashtwin_base::Nanos::from_secs(5));
    };
    let mark = drive.mark();
    (0..10).for_each(|_| burst(&mut drive));
    let stretch = drive.since(&mark);
    let most = drive.repeats_until_change(&stretch, WRITTEN_AGAIN);
    assert!((200..2000).contains(&most), "{most} times ten bursts");
    assert_eq!(drive.repeat(&stretch, u64::MAX, 0, WRITTEN_AGAIN), most);
    let before = drive.ftl().cache_limit_units();
    assert!(before > 0, "the cache is there still");
    assert_eq!(
        drive.repeat(&stretch, 1, 0, WRITTEN_AGAIN),
        0,
        "the law is about to change"
    );
    for _ in 0..40 {
        burst(&mut drive);
    }
    assert!(drive.ftl().cache_limit_units() < before);
    drive.ftl().check();
}

/// The hot tenth is written over and over, the rest of the drive rests and grows old.
#[test]
fn a_jump_ends_before_resting_data_has_to_be_refreshed() {
    let sets = [NO_CACHE, "errors.correctable=72", "errors.refresh_at=0.8"];
    let mut drive = Drive::new(&config(&sets), 1);
    go(&mut drive, job(ReadWrite::Write, 1 << 20, 8));
    let mark = drive.mark();
    let mut hot = job(ReadWrite::RandWrite, 4096, 32);
    hot.size = Some(drive.capacity_bytes() / 10 / 4096 * 4096);
    hot.io_bytes = Some(drive.capacity_bytes() / 4 / 4096 * 4096);
    go(&mut drive, hot.clone());
    let stretch = drive.since(&mark);
    let again = stretch.written_bytes();
    let most = drive.repeats_until_change(&stretch, again);
    assert!(most > 100 && most < u64::MAX, "{most}");
    let rewritten = drive.repeats_until_change(&stretch, 8 * drive.capacity_bytes());
    assert_eq!(
        rewritten,
        u64::MAX,
        "a load that writes all of it lets nothing rest"
    );
    drive.repeat(&stretch, most, 0, again);
    assert_eq!(drive.repeats_until_change(&stretch, again), 0);
    let before = drive.counters().refresh_units;
    go(&mut drive, hot.clone());
    go(&mut drive, hot);
    assert!(drive.counters().refresh_units > before, "it is refreshed");
    drive.ftl().check();
}

#[test]
fn a_jump_ends_before_the_drive_can_only_be_read() {
    let mut drive = steady(&[NO_CACHE, "wear.read_only_at=rated-wear"]);
    let stretch = quarters(&mut drive, 0..8);
    let times = drive.repeat(&stretch, u64::MAX, 0, WRITTEN_AGAIN);
    assert!(times < u64::MAX);
    let wear = drive.ftl().mean_wear();
    assert!((0.9..=1.0).contains(&wear), "{wear} after {times} times");
    assert!(!drive.ftl().is_read_only());
    let mut seeds = 8..24;
    while !drive.ftl().is_read_only() {
        quarter(&mut drive, seeds.next().expect("it ends soon"));
    }
}

#[test]
fn what_fails_by_chance_is_not_repeated() {
    assert_eq!(config(&[NO_CACHE]).repeat_refusal(), None);
    let failing = config(&[NO_CACHE, "wear.program_failures=20", "wear.spares=8"]);
    let why = failing.repeat_refusal();
    assert!(why.is_some_and(|why| why.contains("program_failures")));
}
