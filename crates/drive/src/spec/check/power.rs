//! Whether the power states and temperatures of a drive are in order.

use super::super::quantity::{self, Dimension};
use super::super::value::Datum;
use super::Findings;

pub(super) fn check(found: &mut Findings<'_>) {
    depth(found);
    order(found);
    fan(found);
    limits(found);
    for step in ["throttle", "heavy"] {
        throttling(found, step);
    }
    harder(found);
}

/// A number; none for "never" or where the value was refused.
fn number(found: &Findings<'_>, key: &str) -> Option<u64> {
    match found.values.entry(key)?.datum {
        Datum::Never => None,
        _ => found.values.number(key),
    }
}

fn watts(uw: u64) -> String {
    quantity::text(uw, Dimension::Power)
}

fn degrees(mc: u64) -> String {
    quantity::text(mc, Dimension::Temperature)
}

/// No state draws more than the one above it.
fn depth(found: &mut Findings<'_>) {
    let states = [
        ("power.active", None),
        ("power.idle", None),
        ("power.light.power", Some("power.light.after")),
        ("power.deep.power", Some("power.deep.after")),
    ];
    let mut above: Option<(&str, u64)> = None;
    for (key, after) in states {
        if after.is_some_and(|after| number(found, after).is_none()) {
            continue;
        }
        let Some(power) = number(found, key) else {
            continue;
        };
        if let Some((name, more)) = above
            && power > more
        {
            let message = format!(
                "{} is more than the {} of `{name}`",
                watts(power),
                watts(more)
            );
            found.add(key, message, format!("write at most {}", watts(more)));
        }
        above = Some((key, power));
    }
}

/// The deep state is entered after the light one.
fn order(found: &mut Findings<'_>) -> Option<()> {
    let light = number(found, "power.light.after")? + number(found, "power.light.entry")?;
    let deep = number(found, "power.deep.after")?;
    if deep < light {
        let text = |ns| quantity::text(ns, Dimension::Time);
        let message = format!(
            "the deep state begins after {}, before the light one is entered after {}",
            text(deep),
            text(light)
        );
        found.add(
            "power.deep.after",
            message,
            format!("write at least {}", text(light)),
        );
    }
    Some(())
}

fn fan(found: &mut Findings<'_>) -> Option<()> {
    if number(found, "thermal.fan")? == 0 {
        let hint = "write 1 for still air, 2 for a fan that halves the resistance";
        found.add("thermal.fan", "no heat would leave the drive", hint);
    }
    Some(())
}

fn limits(found: &mut Findings<'_>) -> Option<()> {
    let warning = number(found, "thermal.warning")?;
    let critical = number(found, "thermal.critical")?;
    if critical < warning {
        let message = format!(
            "critical at {} and warning at {}",
            degrees(critical),
            degrees(warning)
        );
        found.add(
            "thermal.critical",
            message,
            format!("write at least {}", degrees(warning)),
        );
    }
    Some(())
}

/// A throttling step ends below the temperature at which it begins and above that of the air, and
/// leaves some speed.
fn throttling(found: &mut Findings<'_>, step: &str) -> Option<()> {
    let key = |what: &str| format!("thermal.{step}.{what}");
    let start = number(found, &key("start"))?;
    let stop = number(found, &key("stop"))?;
    if stop >= start {
        let message = format!(
            "throttling ends at {} and begins at {}",
            degrees(stop),
            degrees(start)
        );
        let hint = format!("write less than {}", degrees(start));
        found.add(&key("stop"), message, hint);
    }
    let ambient = number(found, "thermal.ambient")?;
    if stop <= ambient {
        let message = format!(
            "{} is not above the air, {}: throttling would never end",
            degrees(stop),
            degrees(ambient)
        );
        let hint = format!(
            "write more than {}, or lower `thermal.ambient`",
            degrees(ambient)
        );
        found.add(&key("stop"), message, hint);
    }
    let speed = number(found, &key("speed"))?;
    if speed == 0 || speed > 1000 {
        let message = "a share of the speed lies above 0 and is at most 1";
        found.add(&key("speed"), message, "write a share like 0.05");
    }
    Some(())
}

fn harder(found: &mut Findings<'_>) -> Option<()> {
    let first = number(found, "thermal.throttle.start")?;
    let second = number(found, "thermal.heavy.start")?;
    if second <= first {
        let message = format!(
            "the second step begins at {}, the first at {}",
            degrees(second),
            degrees(first)
        );
        let hint = format!("write more than {}", degrees(first));
        found.add("thermal.heavy.start", message, hint);
    }
    Some(())
}
