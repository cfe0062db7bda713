//! Wear, failures, bit errors; power states and heat.

use flashtwin_base::rng::Rng;

use super::flash::Shape;
use super::pick;

/// How superblocks wear, and which blocks fail. Where pages that failed would have to go among the
/// host's, `gc.separation` has the last word.
pub(super) fn health(rng: &mut Rng, shape: &mut Shape) {
    shape.sets.extend([
        format!(
            "wear.dynamic={}",
            pick(rng, &["none", "fifo", "least-worn"])
        ),
        format!(
            "wear.static_threshold={}",
            pick(rng, &[0, 0, 1, 3, 10, 1_000_000])
        ),
    ]);
    let fails = rng.chance(50);
    let spares = if fails { pick(rng, &[0, 0, 1, 4]) } else { 0 };
    let ends = ["reserve-gone", "rated-wear", "spares-gone"];
    let known = match (fails, spares) {
        (false, _) => 1,
        (true, 0) => 2,
        _ => 3,
    };
    let end = pick(rng, &ends[..known]);
    let cycles = match (fails, end) {
        (false, _) => pick(rng, &[0, 0, 1, 700]),
        // A drive that may be rated for one cycle would end before it begins.
        (true, "rated-wear") => 0,
        (true, _) => pick(rng, &[0, 0, 1]),
    };
    shape.sets.extend([
        format!("drive.initial_cycles={cycles}"),
        format!("drive.initial_age={}", pick(rng, &["0", "0", "1", "50"])),
        format!("wear.spares={spares}"),
        format!("wear.read_only_at={end}"),
    ]);
    if !fails {
        return;
    }
    let rate = ["0", "0", "30", "100", "1000"];
    shape.sets.extend([
        format!("nand.slc.endurance={}", pick(rng, &[40_000, 100, 10, 1])),
        format!("nand.native.endurance={}", pick(rng, &[1500, 20, 3, 1])),
        format!("nand.tier.endurance={}", pick(rng, &[6000, 20, 3, 1])),
        format!("wear.bad_percent={}", pick(rng, &["0", "0", "1", "3"])),
        format!("wear.weak_percent={}", pick(rng, &["0", "0", "2", "8"])),
        format!("wear.program_failures={}", pick(rng, &rate)),
        format!("wear.erase_failures={}", pick(rng, &rate)),
        format!("wear.failure_growth={}", pick(rng, &[0, 1, 3, 8, 64])),
    ]);
}

/// Bit errors that come within the seconds, the rests and the few cycles of a story.
pub(super) fn errors(rng: &mut Rng, shape: &mut Shape) {
    if rng.chance(70) {
        let off = [
            "errors.correctable=0",
            "errors.rebuild=false",
            "fold.check_errors=0",
            "errors.slc.read_limit=0",
            "errors.native.read_limit=0",
        ];
        return shape.sets.extend(off.map(str::to_owned));
    }
    let rebuilds = shape.parity && rng.chance(70);
    let checks = !shape.sets.iter().any(|set| set == "fold.check_every=0");
    let limit = if checks {
        pick(rng, &["0", "0.1", "0.5", "1"])
    } else {
        "0"
    };
    shape.sets.extend([
        format!("errors.rebuild={rebuilds}"),
        format!("fold.check_errors={limit}"),
    ]);
    for mode in ["slc", "native"] {
        let retention = pick(rng, &["0", "60", "1000", "1000"]);
        let disturb = pick(rng, &["0", "30", "1000"]);
        shape.sets.extend([
            format!("errors.{mode}.fresh={}", pick(rng, &["0", "0.1", "3"])),
            format!("errors.{mode}.wear={}", pick(rng, &["0", "15", "40"])),
            format!("errors.{mode}.retention={retention}"),
            format!("errors.{mode}.disturb={disturb}"),
            format!("errors.{mode}.read_limit={}", pick(rng, &["0", "4096"])),
            format!(
                "errors.{mode}.retention_fresh={}",
                pick(rng, &["0", "12.5", "1000"])
            ),
            format!(
                "errors.{mode}.disturb_fresh={}",
                pick(rng, &["0", "1", "1000"])
            ),
        ]);
    }
    let powers = ["0.5", "1", "0.1"];
    shape.sets.extend([
        format!("errors.correctable={}", pick(rng, &[1, 4, 30, 72, 4096])),
        format!("errors.page_spread={}", pick(rng, &["0", "0.3", "1"])),
        format!("errors.wear_power={}", pick(rng, &["1", "1.5", "0", "8"])),
        format!("errors.retention_power={}", pick(rng, &powers)),
        format!("errors.activation_energy={}", pick(rng, &["0", "1.1", "3"])),
        format!(
            "errors.retention_temperature={}",
            pick(rng, &["30 C", "55 C", "0"])
        ),
        format!("errors.retry_steps={}", pick(rng, &[0, 1, 8, 32])),
        format!("errors.retry_gain={}", pick(rng, &["1", "1.5", "1000"])),
        format!("errors.retry_time={}", pick(rng, &["80 us", "2 ms"])),
        format!("errors.soft_gain={}", pick(rng, &["1", "2"])),
        format!("errors.soft_time={}", pick(rng, &["400 us", "10 ms"])),
        format!(
            "errors.refresh_at={}",
            pick(rng, &["0", "0.05", "0.3", "0.8", "1"])
        ),
    ]);
}

/// Low-power states that rests between commands enter, what everything draws, and a drive so
/// light that seconds of work warm it up to its throttling.
pub(super) fn power(rng: &mut Rng, shape: &mut Shape) {
    let time = |rng: &mut Rng| pick(rng, &["0", "1 ms", "20 ms"]);
    let light = pick(rng, &["never", "never", "1 us", "10 ms", "1 s"]);
    // The deep state comes later than the light one is entered.
    let deep = match light {
        "1 s" => pick(rng, &["never", "10 s"]),
        _ => pick(rng, &["never", "50 ms", "10 s"]),
    };
    let rated = pick(rng, &["0", "1 GB", "80 TB"]);
    shape.sets.push(format!("drive.rated_tbw={rated}"));
    let watts = ["0", "82.5 mW", "20 mW", "3 W"];
    shape.sets.extend([
        format!("power.light.after={light}"),
        format!("power.light.entry={}", time(rng)),
        format!("power.light.exit={}", time(rng)),
        format!("power.light.power={}", pick(rng, &["50 mW", "5 mW"])),
        format!("power.deep.after={deep}"),
        format!("power.deep.entry={}", time(rng)),
        format!("power.deep.exit={}", time(rng)),
        format!("power.deep.power={}", pick(rng, &["5 mW", "0"])),
        format!("power.active={}", pick(rng, &["500 mW", "2 W", "12 W"])),
        format!("power.idle={}", pick(rng, &["250 mW", "60 mW"])),
        format!("power.link={}", pick(rng, &["150 mW", "0", "2 W"])),
        format!("power.flash_standby={}", pick(rng, &["33 uW", "0", "1 mW"])),
    ]);
    for part in ["read", "program", "erase", "transfer"] {
        let draw = pick(rng, &watts);
        shape.sets.push(format!("power.flash_{part}={draw}"));
    }
    shape.sets.extend([
        format!(
            "thermal.resistance={}",
            pick(rng, &["12 K/W", "12 K/W", "3 K/W", "60 K/W"])
        ),
        format!("thermal.warning={}", pick(rng, &["75 C", "26 C"])),
        format!("thermal.critical={}", pick(rng, &["80 C", "76 C"])),
    ]);
    if rng.chance(60) {
        let ambient = pick(rng, &["25 C", "0 C", "85 C"]);
        return shape.sets.push(format!("thermal.ambient={ambient}"));
    }
    let capacity = pick(rng, &["5 mJ/K", "50 mJ/K", "1 J/K"]);
    let speed = pick(rng, &["0.2", "0.5", "0.9", "0.02"]);
    let stop = pick(rng, &["29 C", "25.5 C"]);
    shape.sets.extend([
        "thermal.ambient=25 C".to_owned(),
        format!("thermal.capacity={capacity}"),
        format!("thermal.fan={}", pick(rng, &["1", "2", "0.5"])),
        format!("thermal.throttle.start={}", pick(rng, &["30 C", "34 C"])),
        format!("thermal.throttle.stop={stop}"),
        format!("thermal.throttle.speed={speed}"),
        format!("thermal.heavy.start={}", pick(rng, &["never", "36 C"])),
        format!("thermal.heavy.stop={}", pick(rng, &["31 C", "28 C"])),
        format!("thermal.heavy.speed={}", pick(rng, &["0.05", "0.1"])),
    ]);
}
