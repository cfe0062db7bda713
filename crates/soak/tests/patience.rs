//! The host's clock of a drive's working time, against times that can be reckoned.

use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_soak::draw;
use flashtwin_soak::patience::Patience;

/// How long a drive that is on for so many seconds could work, and when it is overdue.
fn worked(sets: &[&str], seconds: u64) -> (f64, bool) {
    let warm = [
        "power.idle=100 mW",
        "thermal.ambient=25 C",
        "thermal.resistance=12 K/W",
        "thermal.capacity=50 mJ/K",
        "thermal.throttle.stop=25.001 C",
    ];
    let config = draw::load(&[&warm, sets].concat());
    let (mut drive, mut patience) = (Drive::new(&config, 1), Patience::new(&config));
    for second in 1..=seconds {
        drive.advance(Nanos::from_secs(second), &mut Vec::new());
        patience.worked(&drive);
    }
    let worked = patience.worked(&drive).as_secs_f64();
    (worked, patience.is_over(Nanos::ZERO))
}

#[test]
fn a_throttled_second_counts_as_its_share() {
    let near = |sets: &[&str], expected: f64| {
        let (found, _) = worked(sets, 200);
        assert!(
            (found - expected).abs() < 1.0,
            "{found} s, {expected} expected"
        );
    };
    near(&[], 200.0);
    let slow = [
        "thermal.throttle.start=25.002 C",
        "thermal.throttle.speed=0.2",
    ];
    near(&slow, 40.0);
    // Of two steps the slower one counts.
    let both = [
        "thermal.heavy.start=25.9 C",
        "thermal.heavy.stop=25.8 C",
        "thermal.heavy.speed=0.05",
    ];
    near(&[&slow[..], &both].concat(), 10.0);
}

/// A host waits for as much work of a throttled drive as of a cool one.
#[test]
fn patience_ends_after_the_same_work() {
    let slow = [
        "thermal.throttle.start=25.002 C",
        "thermal.throttle.speed=0.2",
    ];
    let least = |sets: &[&str]| [1000, 4000, 12_000].map(|seconds| worked(sets, seconds).1);
    assert_eq!(least(&[]), [false, true, true]);
    assert_eq!(least(&slow), [false, false, true]);
}

/// Where a worn block's erase takes twenty-one times that of a new one, a host waits for as many.
#[test]
fn patience_lasts_for_the_erases_of_worn_blocks() {
    let worn = ["nand.native.tbers=60 ms", "nand.variation.erase_wear=20"];
    let over = |sets: &[&str]| [4000, 20_000].map(|seconds| worked(sets, seconds).1);
    assert_eq!(over(&worn[..1]), [true, true]);
    assert_eq!(over(&worn), [false, true]);
}
