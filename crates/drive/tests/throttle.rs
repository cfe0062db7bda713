//! Throttling as a host sees it: the rates that two steps leave where flash is the limit, where the
//! temperature settles, and the shape of a fill that grows warm.

use crate::common::asks::{UNCACHED, drive};
use crate::common::loops::{go, job, rate, rest, rises_above};
use std::path::PathBuf;

use flashtwin_base::Nanos;
use flashtwin_drive::{Drive, spec};
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

/// A drive whose flash takes most of its power, warm within seconds.
const WARM: [&str; 9] = [
    "power.flash_program=400 mW",
    "power.flash_read=100 mW",
    "power.flash_standby=0",
    "power.link=0",
    "power.active=200 mW",
    "power.idle=100 mW",
    "thermal.resistance=12 K/W",
    "thermal.capacity=0.5 J/K",
    "nand.cache_program=false",
];

fn writes(d: &mut Drive, seconds: u64) -> Outcome {
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.runtime_ns = Some(seconds * 1_000_000_000);
    go(d, write)
}

/// Both dies program granules of 192 KiB, one after another: each takes its data, tPROG, and the
/// rest that leaves the die its share.
#[test]
fn a_drive_that_is_limited_by_its_flash_has_its_share_of_that() {
    for speed in ["1", "0.5", "0.3", "0.05"] {
        let throttle = format!("thermal.throttle.speed={speed}");
        let sets = [
            "thermal.throttle.start=25.002 C",
            "thermal.throttle.stop=25.001 C",
            throttle.as_str(),
        ];
        let mut d = drive(&[&UNCACHED, &WARM, &sets]);
        writes(&mut d, 2);
        let found = rate(&writes(&mut d, 20));
        let granule = f64::from(192 << 10);
        let share: f64 = speed.parse().unwrap();
        let expected = 2.0 * granule / (granule / 400e6 + 4.3e-3 / share);
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{found} at {speed}, {expected} expected"
        );
    }
}

/// A sixteenth of the BX500 in thick felt. Its controller draws more than its flash: both slow
/// down.
#[test]
fn the_bx500_is_slower_and_cooler_the_harder_it_is_throttled() {
    let found = ["1", "0.5", "0.3"].map(|speed| {
        let throttle = format!("thermal.throttle.speed={speed}");
        let sets = [
            "thermal.resistance=60 K/W",
            "thermal.capacity=0.5 J/K",
            "thermal.throttle.start=40 C",
            "thermal.throttle.stop=26 C",
            throttle.as_str(),
        ];
        let mut d = bx500(&sets);
        // Past the cache.
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.io_bytes = Some(2_000_000_000);
        go(&mut d, write);
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.runtime_ns = Some(120_000_000_000);
        write.offset = 2_000_000_000 >> 20 << 20;
        (rate(&go(&mut d, write)), d.celsius())
    });
    let [full, half, third] = found;
    assert!((0.4..0.6).contains(&(half.0 / full.0)), "{found:?}");
    assert!((0.2..0.4).contains(&(third.0 / full.0)), "{found:?}");
    assert!(half.1 < full.1 - 5.0 && third.1 < half.1 - 2.0, "{found:?}");
}

fn bx500(sets: &[&str]) -> Drive {
    let catalogue = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let catalogue = catalogue.join("../../python/flashtwin/catalogue/drives");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let spec = spec::load_scaled("bx500-240", &[catalogue], &[], &sets, Some("1/16"))
        .expect("the catalogue loads");
    Drive::new(&spec.config, 1)
}

/// Full speed ends above 60 degrees; each step would end far below the temperature at which it
/// stops, so the drive goes to and fro between the two, and the host gets what the heat allows.
#[test]
fn the_temperature_settles_between_the_two_of_a_step_whatever_its_speed() {
    let rates = ["0.3", "0.1"].map(|speed| {
        let throttle = format!("thermal.throttle.speed={speed}");
        let sets = [
            "thermal.throttle.start=50 C",
            "thermal.throttle.stop=48 C",
            throttle.as_str(),
        ];
        let mut d = drive(&[&UNCACHED, &WARM, &sets]);
        writes(&mut d, 30);
        let mut bytes = 0.0;
        for _ in 0..100 {
            bytes += rate(&writes(&mut d, 1));
            let celsius = d.celsius();
            assert!((47.5..50.7).contains(&celsius), "{celsius} at {speed}");
        }
        bytes / 100.0
    });
    let alike = rates[0] / rates[1];
    assert!((0.85..1.18).contains(&alike), "{rates:?}");
}

/// A first step that is too mild is followed by the second.
#[test]
fn a_mild_step_gives_way_to_the_hard_one() {
    let sets = [
        "thermal.throttle.start=45 C",
        "thermal.throttle.stop=43 C",
        "thermal.throttle.speed=0.95",
        "thermal.heavy.start=52 C",
        "thermal.heavy.stop=50 C",
        "thermal.heavy.speed=0.05",
    ];
    let mut d = drive(&[&UNCACHED, &WARM, &sets]);
    writes(&mut d, 30);
    for _ in 0..40 {
        writes(&mut d, 1);
        assert!((49.5..52.7).contains(&d.celsius()), "{}", d.celsius());
    }
    assert_eq!(d.thermal_times().begun[0], 1, "the first step stays");
}

/// What the firmware does by itself heats as much as what it is asked for.
#[test]
fn folding_while_nobody_asks_keeps_to_the_threshold() {
    let peak = |sets: &[&str]| {
        let mut d = drive(&[&WARM, sets]);
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.io_bytes = Some(4_000_000_000);
        go(&mut d, write);
        rest(&mut d, Nanos::from_secs(29));
        let mut peak: f64 = 0.0;
        for _ in 0..6000 {
            rest(&mut d, Nanos::from_ms(100));
            peak = peak.max(d.celsius());
        }
        (peak, d.counters().fold_units)
    };
    let free = peak(&[]);
    let sets = [
        "thermal.throttle.start=40 C",
        "thermal.throttle.stop=38 C",
        "thermal.throttle.speed=0.2",
    ];
    let throttled = peak(&sets);
    assert!(free.0 > 50.0, "{free:?}");
    assert!(throttled.0 < 40.7, "{throttled:?}");
    assert_eq!(throttled.1, free.1, "all of it is folded in the end");
}

/// The end of a cache is a step down that stays; heat comes and goes as the drive cools.
#[test]
fn a_fill_falls_once_where_a_cache_ends_and_again_and_again_where_heat_does() {
    let fill = |sets: &[&[&str]]| {
        let mut d = drive(sets);
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.io_bytes = Some(12_000_000_000);
        go(&mut d, write)
    };
    let heat = [
        "thermal.throttle.start=50 C",
        "thermal.throttle.stop=40 C",
        "thermal.throttle.speed=0.1",
    ];
    let cached = fill(&[&["slc_cache.when_full=direct"]]);
    let heated = fill(&[&UNCACHED, &WARM, &heat]);
    let level = |o: &Outcome| 0.8 * rate_at_best(o);
    assert_eq!(rises_above(&cached, level(&cached)), 0);
    let rises = rises_above(&heated, level(&heated));
    assert!(rises >= 5, "{rises} recoveries");
}

/// The rate of the first second.
fn rate_at_best(outcome: &Outcome) -> f64 {
    let (bytes, times) = (&outcome.series.bytes, &outcome.series.dt_ns);
    let bytes: i64 = bytes.iter().take(20).sum();
    let time: i64 = times.iter().take(20).sum();
    bytes as f64 / (time as f64 / 1e9)
}

/// Planes that read for themselves rest with their die: so long after four reads that each die has
/// its share. As a rule enough reads wait for each of its planes to have one.
#[test]
fn planes_that_read_alone_keep_to_their_share() {
    for share in [0.5, 0.2] {
        let throttle = format!("thermal.throttle.speed={share}");
        let sets = [
            "nand.independent_planes=true",
            "nand.native.tr=400 us",
            "thermal.throttle.start=25.002 C",
            "thermal.throttle.stop=25.001 C",
            throttle.as_str(),
        ];
        let mut d = drive(&[&UNCACHED, &WARM, &sets]);
        writes(&mut d, 2);
        let mut read = job(ReadWrite::RandRead, 4096, 32);
        read.size = Some(20 << 20);
        read.runtime_ns = Some(2_000_000_000);
        let found = rate(&go(&mut d, read)) / 4096.0;
        let most = 8.0 / (400e-6 / share + 4096.0 / 400e6);
        assert!(
            (0.9..1.01).contains(&(found / most)),
            "{found} at {share}, {most} at the most"
        );
    }
}
