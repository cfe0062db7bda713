//! Wear, failures, bit errors; power states and heat.

use flashtwin_base::rng::Rng;

use super::flash::Shape;
use super::pick;

/// How superblocks wear.
pub(super) fn health(rng: &mut Rng, shape: &mut Shape) {
    shape.sets.extend([
        format!(
            "wear.dynamic={}",
            pick(rng, &["none", "fifo", "least-worn"])
        ),
        format!("wear.static_threshold={}", pick(rng, &[0, 0, 1, 3, 10])),
    ]);
    if rng.chance(60) {
        return;
    }
    shape.sets.extend([
        format!("nand.slc.endurance={}", pick(rng, &[40_000, 100, 10])),
        format!("nand.native.endurance={}", pick(rng, &[1500, 20, 3])),
        format!("wear.spares={}", pick(rng, &[0, 0, 1, 4])),
        format!("wear.bad_percent={}", pick(rng, &["0", "0", "1", "3"])),
        format!("wear.weak_percent={}", pick(rng, &["0", "0", "2"])),
        format!("wear.program_failures={}", pick(rng, &["0", "100", "1000"])),
        format!("wear.erase_failures={}", pick(rng, &["0", "100", "1000"])),
        format!("wear.failure_growth={}", pick(rng, &[0, 1, 3, 8])),
        format!(
            "wear.read_only_at={}",
            pick(rng, &["reserve-gone", "spares-gone", "rated-wear"])
        ),
    ]);
}

/// Bit errors that come within the seconds and the few cycles of a story.
pub(super) fn errors(rng: &mut Rng, shape: &mut Shape) {
    if rng.chance(70) {
        let off = [
            "errors.correctable=0",
            "errors.rebuild=false",
            "fold.check_errors=0",
        ];
        return shape.sets.extend(off.map(str::to_owned));
    }
    let rebuilds = shape.parity && rng.chance(70);
    let checks = !shape.sets.iter().any(|set| set == "fold.check_every=0");
    let limit = if checks {
        pick(rng, &["0", "0.1", "0.5"])
    } else {
        "0"
    };
    shape.sets.extend([
        format!("errors.rebuild={rebuilds}"),
        format!("fold.check_errors={limit}"),
    ]);
    for mode in ["slc", "native"] {
        let retention = pick(rng, &["0", "60", "20000", "1000000"]);
        let disturb = pick(rng, &["0", "30", "100000"]);
        shape.sets.extend([
            format!("errors.{mode}.fresh={}", pick(rng, &["0", "0.1", "3"])),
            format!("errors.{mode}.wear={}", pick(rng, &["0", "15", "40"])),
            format!("errors.{mode}.retention={retention}"),
            format!("errors.{mode}.disturb={disturb}"),
        ]);
    }
    shape.sets.extend([
        format!("errors.correctable={}", pick(rng, &[4, 30, 72])),
        format!("errors.page_spread={}", pick(rng, &["0", "0.3"])),
        format!("errors.wear_power={}", pick(rng, &["1", "1.5"])),
        format!("errors.retention_power={}", pick(rng, &["0.5", "1"])),
        format!("errors.retry_steps={}", pick(rng, &[0, 1, 8])),
        format!("errors.soft_gain={}", pick(rng, &["1", "2"])),
        format!("errors.refresh_at={}", pick(rng, &["0", "0.3", "0.8"])),
    ]);
}

/// Low-power states that rests between commands enter, and a drive so light that seconds of work
/// warm it up to its throttling.
pub(super) fn power(rng: &mut Rng, shape: &mut Shape) {
    let time = |rng: &mut Rng| pick(rng, &["0", "1 ms", "20 ms"]);
    let light = pick(rng, &["never", "never", "10 ms", "1 s"]);
    let deep = pick(rng, &["never", "never", "50 ms", "10 s"]);
    shape.sets.extend([
        format!("power.light.after={light}"),
        format!("power.light.entry={}", time(rng)),
        format!("power.light.exit={}", time(rng)),
        format!("power.deep.after={deep}"),
        format!("power.deep.entry={}", time(rng)),
        format!("power.deep.exit={}", time(rng)),
    ]);
    if rng.chance(70) {
        return;
    }
    let capacity = pick(rng, &["5 mJ/K", "50 mJ/K", "1 J/K"]);
    let speed = pick(rng, &["0.2", "0.5", "0.9"]);
    shape.sets.extend([
        format!("thermal.capacity={capacity}"),
        format!("thermal.fan={}", pick(rng, &["1", "2"])),
        format!("thermal.throttle.start={}", pick(rng, &["30 C", "34 C"])),
        "thermal.throttle.stop=29 C".to_owned(),
        format!("thermal.throttle.speed={speed}"),
        format!("thermal.heavy.start={}", pick(rng, &["never", "36 C"])),
        "thermal.heavy.stop=31 C".to_owned(),
        format!("thermal.heavy.speed={}", pick(rng, &["0.05", "0.1"])),
    ]);
}
