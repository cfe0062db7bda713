//! Energy and heat against closed forms: sums by hand, the step response of a resistance and a
//! capacity, the rate that throttling leaves.

use crate::common::loops::{go, job, rate, rest};
use crate::common::{self, check, edit, load_with};
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// Round figures, so that sums can be done by hand.
const POWER: [&str; 7] = [
    "power.flash_read=10 mW",
    "power.flash_program=20 mW",
    "power.flash_erase=30 mW",
    "power.flash_transfer=0",
    "power.flash_standby=0",
    "power.link=0",
    "power.idle=100 mW",
];

fn drive(sets: &[&str]) -> Drive {
    Drive::new(&load_with(common::BASE, &[], sets).config, 1)
}

fn powered(sets: &[&str]) -> Drive {
    drive(&[&POWER, sets].concat())
}

/// One command from its submission to its end; the answer is how long it took.
fn one(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> Nanos {
    let begun = drive.now();
    drive.submit(begun, Request::new(0, op, lba, sectors));
    let mut done = Vec::new();
    while done.is_empty() {
        let due = drive.next_due().expect("the command ends");
        drive.advance(due, &mut done);
    }
    done[0].at - begun
}

const UW_S: u128 = 1_000_000_000;

#[test]
fn energy_is_the_sum_of_operations_and_states() {
    let mut d = powered(&["power.active=400 mW"]);
    one(&mut d, Op::Write, 0, 2048);
    one(&mut d, Op::Flush, 0, 0);
    rest(&mut d, Nanos::from_secs(1));
    // 1 MiB is 16 SLC programs of 4 planes.
    let programs = 16 * 4 * 20_000 * 404_800_u128;
    let times = d.state_times();
    assert_eq!(times.total(), d.now().0, "{times:?}");
    let states = u128::from(times.serving + times.working) * 400_000;
    let idle = u128::from(times.idle) * 100_000;
    assert_eq!(d.energy_fj(), programs + states + idle);
    let before = d.energy_fj();
    // Every read of a row is one sense of 4 planes; the data lies in 16 rows.
    let took = one(&mut d, Op::Read, 0, 2048);
    let reads = 16 * 4 * 10_000 * 35_000_u128;
    let longer = u128::from(took.0) * 400_000;
    assert_eq!(d.energy_fj() - before, reads + longer);
}

#[test]
fn channels_link_and_standby_draw_for_their_time() {
    let still = [
        "power.active=100 mW",
        "power.idle=100 mW",
        "power.flash_program=0",
    ];
    let plain = powered(&still);
    let sets = [
        &still[..],
        &["power.link=545 mW", "power.flash_transfer=40 mW"],
        &["power.flash_standby=1 mW"],
    ];
    let mut d = powered(&sets.concat());
    one(&mut d, Op::Write, 0, 2048);
    one(&mut d, Op::Flush, 0, 0);
    rest(&mut d, Nanos::from_secs(1));
    // 1 MiB at 545 MB/s and 545 mW is 2^20 nJ; at 400 MB/s and 40 mW 2^20 / 10 nJ; two dies.
    let link = (1 << 20) * 1_000_000_u128;
    let channels = (1 << 20) * 100_000_u128;
    let standby = 2 * 1_000 * u128::from(d.now().0);
    let rest = u128::from(d.now().0) * 100_000;
    assert_eq!(plain.energy_fj(), 0);
    assert_eq!(d.energy_fj(), link + channels + standby + rest);
}

#[test]
fn an_erase_of_the_drive_is_drawn_too() {
    let mut d = powered(&[]);
    one(&mut d, Op::Write, 0, 8);
    let before = d.energy_fj();
    let took = d.purge();
    let array = d.energy_fj() - before - u128::from(took.0) * 500_000;
    // One program of what was partly filled; one superblock of 2 dies of 4 planes in SLC mode.
    let program = 4 * 20_000 * 404_800_u128;
    assert_eq!(array, program + 2 * 4 * 30_000 * 5_000_000_u128);
}

#[test]
fn a_rest_goes_down_through_the_states_and_its_end_waits_for_them() {
    let states = [
        "power.light.after=1 s",
        "power.light.power=50 mW",
        "power.light.entry=100 ms",
        "power.light.exit=10 ms",
        "power.deep.after=5 s",
        "power.deep.power=5 mW",
        "power.deep.entry=1 s",
        "power.deep.exit=20 ms",
    ];
    let millis = Nanos::from_ms;
    let table = [
        (millis(999), millis(0), [999, 0, 0]),
        (millis(1_000), millis(110), [1_000, 0, 0]),
        (millis(1_060), millis(50), [1_060, 0, 0]),
        (millis(3_000), millis(10), [1_100, 1_900, 0]),
        (millis(5_400), millis(620), [1_100, 4_300, 0]),
        (millis(10_000), millis(20), [1_100, 4_900, 4_000]),
    ];
    for (span, wait, [idle, light, deep]) in table {
        let mut d = powered(&states);
        let mut awake = powered(&[]);
        rest(&mut d, span);
        rest(&mut awake, span);
        let times = d.state_times();
        let found = [times.idle, times.light, times.deep].map(|ns| ns / 1_000_000);
        assert_eq!(found, [idle, light, deep], "after {span:?}");
        let drawn = 100_000 * idle + 50_000 * light + 5_000 * deep;
        assert_eq!(d.energy_fj(), u128::from(drawn) * 1_000_000);
        let longer = one(&mut d, Op::Read, 0, 8) - one(&mut awake, Op::Read, 0, 8);
        assert_eq!(longer, wait, "after {span:?}");
        assert_eq!(one(&mut d, Op::Read, 0, 8), one(&mut awake, Op::Read, 0, 8));
    }
}

#[test]
fn folding_by_itself_is_work_and_not_rest() {
    let mut d = powered(&["fold.idle_after=10 s", "power.light.after=1 s"]);
    one(&mut d, Op::Write, 0, 4 << 11);
    rest(&mut d, Nanos::from_secs(60));
    let times = d.state_times();
    assert!(d.counters().fold_units == 0 || times.working > 0);
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(1 << 30);
    go(&mut d, write);
    let before = d.state_times();
    rest(&mut d, Nanos::from_secs(60));
    let worked = d.state_times().working - before.working;
    assert!(d.counters().fold_units > 0);
    assert!(worked > 1_000_000_000, "{worked}");
    assert_eq!(d.state_times().total(), d.now().0);
}

#[test]
fn without_power_nothing_is_drawn_and_no_hour_counts() {
    let mut d = powered(&["power.idle=400 mW", "smart.family=nvme"]);
    d.enable_power_cuts();
    let hour = Nanos::from_secs(3600);
    rest(&mut d, hour);
    d.power_cut(hour, &mut Vec::new());
    let (drawn, warm) = (d.energy_fj(), d.celsius());
    d.power_on(hour + hour);
    let recovered = d.energy_fj();
    assert!(recovered - drawn < drawn / 1000, "recovery reads a little");
    assert!(warm > 29.0 && d.celsius() < 25.1, "{warm}, {}", d.celsius());
    assert_eq!(d.state_times().off, hour.0);
    let smart = d.smart();
    let log = &smart["nvme_smart_health_information_log"];
    assert_eq!(log["power_on_hours"], 1);
    let mean = smart["flashtwin"]["energy"]["mean_mw"].as_f64();
    assert!((mean.expect("watts") - 400.0).abs() < 0.4, "{mean:?}");
    rest(&mut d, hour);
    assert_eq!(d.energy_fj() - recovered, drawn);
}

/// 10 K/W and 5 J/K are a time constant of 50 s.
const HEAT: [&str; 6] = [
    "thermal.ambient=20 C",
    "thermal.resistance=10 K/W",
    "thermal.capacity=5 J/K",
    "power.idle=2 W",
    "power.active=2 W",
    "power.flash_standby=0",
];

#[test]
fn constant_power_warms_by_the_step_response() {
    let mut d = drive(&HEAT);
    for seconds in [0.05, 10.0, 50.0, 200.0, 1000.0] {
        rest(&mut d, Nanos((seconds * 1e9) as u64));
        let t = d.now().as_secs_f64();
        let expected = 20.0 + 20.0 * (1.0 - libm::exp(-t / 50.0));
        let found = d.celsius();
        assert!(
            (found - expected).abs() < 1e-9,
            "{t} s: {found}, not {expected}"
        );
    }
    let halved = [&HEAT[..], &["thermal.fan=2"]].concat();
    let mut d = drive(&halved);
    rest(&mut d, Nanos::from_secs(100_000));
    assert!((d.celsius() - 30.0).abs() < 1e-9, "{}", d.celsius());
}

/// Ticks of a long rest are long only where the temperature comes past no threshold: the times at
/// which it does are right to a short tick, on the way up and, in a deeper state, down again.
#[test]
fn a_long_rest_comes_past_each_threshold_in_time() {
    let marks = ["thermal.warning=30 C", "thermal.critical=35 C"];
    let deep = [
        "power.deep.after=300 s",
        "power.deep.power=500 mW",
        "power.deep.entry=0",
    ];
    let day = 86_400.0;
    // From 20 to 40 degrees with 50 s; from 40 to 25 after 300 s.
    let (warm, hot) = (50.0 * libm::log(2.0), 50.0 * libm::log(4.0));
    let (less_hot, cool) = (
        300.0 + 50.0 * libm::log(15.0 / 10.0),
        300.0 + 50.0 * libm::log(15.0 / 5.0),
    );
    for (sets, warning, critical) in [
        (&deep[..0], hot - warm, day - hot),
        (&deep[..], hot - warm + cool - less_hot, less_hot - hot),
    ] {
        let mut d = drive(&[&HEAT[..], &marks, sets].concat());
        rest(&mut d, Nanos::from_secs(86_400));
        let times = d.thermal_times();
        for (found, expected) in [(times.warning, warning), (times.critical, critical)] {
            let found = found.as_secs_f64();
            assert!((found - expected).abs() < 0.25, "{found} s, not {expected}");
        }
    }
}

#[test]
fn a_drive_without_power_cools_from_the_moment_that_it_goes() {
    let mut d = drive(&HEAT);
    d.enable_power_cuts();
    let second = Nanos::from_secs(1);
    let still = |celsius: f64, goal: f64, seconds: f64| {
        goal + (celsius - goal) * libm::exp(-seconds / 50.0)
    };
    // Long rests before and between, so that the ticks are long ones.
    rest(&mut d, Nanos(1030 * second.0));
    let warm = d.celsius();
    d.power_cut(d.now(), &mut Vec::new());
    rest(&mut d, Nanos(95 * second.0));
    let cool = d.celsius();
    assert!((cool - still(warm, 20.0, 95.0)).abs() < 1e-6, "{cool}");
    d.power_on(d.now());
    rest(&mut d, Nanos(20 * second.0));
    let found = d.celsius();
    // The start itself reads a little.
    assert!((found - still(cool, 40.0, 20.0)).abs() < 0.01, "{found}");
}

#[test]
fn a_rest_cools_whoever_looks() {
    let sets = [&HEAT[..], &["power.idle=100 mW"]].concat();
    let (mut seen, mut alone) = (drive(&sets), drive(&sets));
    seen.restart_xray(Nanos::from_ms(7));
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(8 << 30);
    let ends = [&mut seen, &mut alone].map(|d| {
        go(d, write.clone());
        let warm = d.celsius();
        rest(d, Nanos::from_secs(25));
        (warm, d.celsius())
    });
    assert_eq!(ends[0], ends[1]);
    let (warm, cool) = ends[0];
    assert!(warm > cool + 5.0, "{warm} then {cool}");
    // Once folding is through, the drive cools to 21 degrees.
    rest(&mut alone, Nanos::from_secs(100_000));
    assert!((alone.celsius() - 21.0).abs() < 1e-6, "{}", alone.celsius());
}

/// Reads of what was never written leave the dies alone: the link's share is what is left.
#[test]
fn throttling_leaves_its_share_of_the_link_with_hysteresis() {
    let sets = [
        "thermal.resistance=30 K/W",
        "thermal.capacity=1 J/K",
        "thermal.throttle.start=55 C",
        "thermal.throttle.stop=46 C",
        "thermal.throttle.speed=0.02",
        "power.active=500 mW",
        "power.link=5 W",
        "power.flash_standby=0",
    ];
    let mut d = drive(&sets);
    let cold = {
        let mut read = job(ReadWrite::Read, 128 << 10, 32);
        read.io_bytes = Some(1 << 30);
        rate(&go(&mut d, read))
    };
    let mut read = job(ReadWrite::Read, 128 << 10, 32);
    read.runtime_ns = Some(200_000_000_000);
    let outcome = go(&mut d, read);
    let rates: Vec<f64> = outcome
        .series
        .bytes
        .iter()
        .zip(&outcome.series.dt_ns)
        .map(|(&bytes, &ns)| bytes as f64 / (ns as f64 / 1e9))
        .collect();
    let slow: Vec<f64> = rates.iter().copied().filter(|&r| r < 30e6).collect();
    assert!(
        cold > 200e6 && slow.len() > 20,
        "{cold}, {} slow",
        slow.len()
    );
    // A command of 128 KiB takes its share of the link and its time in the firmware.
    let share = 131_072.0 / (131_072.0 / 10.9e6 + 6e-6);
    let mean = slow.iter().sum::<f64>() / slow.len() as f64;
    assert!((mean / share - 1.0).abs() < 0.02, "{mean}, not {share}");
    let times = d.thermal_times();
    assert!(times.begun[0] >= 2, "{times:?}");
    assert!((45.0..57.0).contains(&d.celsius()), "{}", d.celsius());
}

/// Reads of what was never written take nothing but firmware and link, so that two powers are all
/// there is: full speed, and the share that throttling leaves.
#[test]
fn the_sawtooth_of_a_hard_throttle_has_the_duty_of_its_exponentials() {
    let heat = [
        "thermal.resistance=10 K/W",
        "thermal.capacity=2 J/K",
        "thermal.throttle.start=60 C",
        "thermal.throttle.stop=50 C",
        "thermal.throttle.speed=0.02",
    ];
    let power = [
        "power.active=500 mW",
        "power.link=5 W",
        "power.flash_standby=0",
    ];
    let mut d = drive(&[&heat[..], &power].concat());
    let (tau, start, stop) = (20.0, 60.0, 50.0);
    let fast = warms_to(&mut d, 2_000_000_000);
    // From the air to the start: the first throttling is where the exponential crosses.
    let crossing = tau * libm::log((fast - 25.0) / (fast - start));
    while d.thermal_times().begun[0] == 0 {
        warms_to(&mut d, 100_000_000);
    }
    let found = d.now().as_secs_f64();
    assert!((found - crossing).abs() < 0.3, "{found} s, not {crossing}");
    let slow = warms_to(&mut d, 1_000_000_000);
    let warming = tau * libm::log((fast - stop) / (fast - start));
    let cooling = tau * libm::log((start - slow) / (stop - slow));
    let before = (d.thermal_times(), d.now());
    warms_to(&mut d, 400_000_000_000);
    let times = d.thermal_times();
    let held = (times.throttled[0] - before.0.throttled[0]).as_secs_f64();
    let share = held / (d.now() - before.1).as_secs_f64();
    let expected = cooling / (warming + cooling);
    assert!((share - expected).abs() < 0.03, "{share}, not {expected}");
    let begun = f64::from(times.begun[0] - before.0.begun[0]);
    let cycles = (d.now() - before.1).as_secs_f64() / (warming + cooling);
    assert!(
        (begun - cycles).abs() <= 0.05 * cycles + 1.0,
        "{begun}, not {cycles}"
    );
}

/// Reads for so long; the answer is where the temperature would end at the mean power of it.
fn warms_to(d: &mut Drive, ns: u64) -> f64 {
    let (energy, begun) = (d.energy_fj(), d.now());
    let mut read = job(ReadWrite::Read, 128 << 10, 4);
    read.runtime_ns = Some(ns);
    go(d, read);
    let joules = (d.energy_fj() - energy) as f64 / 1e15;
    25.0 + 10.0 * joules / (d.now() - begun).as_secs_f64()
}

#[test]
fn minutes_above_the_limits_are_counted() {
    let sets = [
        &HEAT[..],
        &["thermal.warning=30 C", "thermal.critical=35 C"],
    ]
    .concat();
    let mut d = drive(&sets);
    rest(&mut d, Nanos::from_secs(1000));
    let times = d.thermal_times();
    // 30 degrees after 50 ln 2 s, 35 after 50 ln 4.
    let (warm, hot) = (50.0 * libm::log(2.0), 50.0 * libm::log(4.0));
    let found = [times.warning.as_secs_f64(), times.critical.as_secs_f64()];
    assert!((found[0] - (hot - warm)).abs() < 0.2, "{found:?}");
    assert!((found[1] - (1000.0 - hot)).abs() < 0.2, "{found:?}");
}

#[test]
fn energy_of_a_second_is_a_watt_second() {
    let mut d = drive(&HEAT);
    rest(&mut d, Nanos::from_secs(1));
    assert_eq!(d.energy_fj(), 2_000_000 * UW_S);
}

#[test]
fn states_and_temperatures_out_of_order_are_refused() {
    let with = |text: &str| edit(&[("[firmware.slc-off]", &format!("{text}\n[firmware.slc-off]"))]);
    check(
        &with("[power]\nidle = \"600 mW\""),
        &[(
            Some("idle"),
            "power.idle",
            "600 mW is more than the 500 mW",
            "at most 500 mW",
        )],
    );
    check(
        &with("[power.light]\nafter = \"2 s\"\n[power.deep]\nafter = \"1 s\""),
        &[(
            Some("1 s"),
            "power.deep.after",
            "before the light one",
            "at least 2 s",
        )],
    );
    check(
        &with("[thermal]\nfan = 0"),
        &[(
            Some("fan"),
            "thermal.fan",
            "no heat would leave",
            "still air",
        )],
    );
    check(
        &with("[thermal]\ncritical = \"70 C\""),
        &[(
            Some("critical"),
            "thermal.critical",
            "critical at 70 C",
            "at least 75 C",
        )],
    );
    check(
        &with("[thermal.throttle]\nstart = \"60 C\"\nspeed = 2"),
        &[
            (Some("speed"), "thermal.throttle.speed", "above 0", "0.05"),
            (
                None,
                "thermal.throttle.stop",
                "ends at 65 C",
                "less than 60 C",
            ),
        ],
    );
    check(
        &with("[thermal.throttle]\nstart = \"80 C\"\n[thermal.heavy]\nstart = \"75 C\""),
        &[(
            Some("75 C"),
            "thermal.heavy.start",
            "the first at 80 C",
            "more than 80 C",
        )],
    );
    check(
        &with("[thermal]\nambient = \"66 C\"\n[thermal.throttle]\nstart = \"80 C\""),
        &[(
            None,
            "thermal.throttle.stop",
            "would never end",
            "more than 66 C",
        )],
    );
}
