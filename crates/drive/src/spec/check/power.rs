//! Checks that the power states and temperatures of a drive are in order.

use super::super::quantity::{self, Dimension};
use super::Findings;
use crate::spec::keys::{
    Name, Power, PowerDeep, PowerLight, Thermal, ThermalHeavy, ThermalThrottle,
};

pub(super) fn check(found: &mut Findings<'_>) {
    depth(found);
    order(found);
    limits(found);
    use ThermalHeavy as Heavy;
    use ThermalThrottle as Light;
    throttling(found, Light::start, Light::stop, Light::speed);
    throttling(found, Heavy::start, Heavy::stop, Heavy::speed);
    harder(found);
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
        (Power::active, None),
        (Power::idle, None),
        (PowerLight::power, Some(PowerLight::after)),
        (PowerDeep::power, Some(PowerDeep::after)),
    ];
    let mut above: Option<(Name<u64>, u64)> = None;
    for (key, after) in states {
        if after.is_some_and(|after| found.values.of(after).flatten().is_none()) {
            continue;
        }
        let Some(power) = found.values.of(key) else {
            continue;
        };
        if let Some((name, more)) = above
            && power > more
        {
            let message = format!(
                "{} is more than the {} of `{}`",
                watts(power),
                watts(more),
                name.name
            );
            found.add(key, message, format!("write at most {}", watts(more)));
        }
        above = Some((key, power));
    }
}

/// The deep state is entered after the light one.
fn order(found: &mut Findings<'_>) -> Option<()> {
    let light = found.values.of(PowerLight::after)?? + found.values.of(PowerLight::entry)?;
    let deep = found.values.of(PowerDeep::after)??;
    if deep < light {
        let text = |ns| quantity::text(ns, Dimension::Time);
        let message = format!(
            "the deep state begins after {}, before the light one is entered after {}",
            text(deep),
            text(light)
        );
        found.add(
            PowerDeep::after,
            message,
            format!("write at least {}", text(light)),
        );
    }
    Some(())
}

fn limits(found: &mut Findings<'_>) -> Option<()> {
    let warning = found.values.of(Thermal::warning)?;
    let critical = found.values.of(Thermal::critical)?;
    if critical < warning {
        let message = format!(
            "critical at {} and warning at {}",
            degrees(critical),
            degrees(warning)
        );
        found.add(
            Thermal::critical,
            message,
            format!("write at least {}", degrees(warning)),
        );
    }
    Some(())
}

/// A throttling step ends below the temperature at which it begins and above that of the air, and
/// leaves some speed.
fn throttling(
    found: &mut Findings<'_>,
    start_at: Name<Option<u64>>,
    stop_at: Name<u64>,
    share: Name<u64>,
) -> Option<()> {
    let start = found.values.of(start_at)??;
    let stop = found.values.of(stop_at)?;
    if stop >= start {
        let message = format!(
            "throttling ends at {} and begins at {}",
            degrees(stop),
            degrees(start)
        );
        let hint = format!("write less than {}", degrees(start));
        found.add(stop_at, message, hint);
    }
    let ambient = found.values.of(Thermal::ambient)?;
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
        found.add(stop_at, message, hint);
    }
    let speed = found.values.of(share)?;
    if speed == 0 || speed > 1000 {
        let message = "a share of the speed lies above 0 and is at most 1";
        found.add(share, message, "write a share like 0.05");
    }
    Some(())
}

fn harder(found: &mut Findings<'_>) -> Option<()> {
    let first = found.values.of(ThermalThrottle::start)??;
    let second = found.values.of(ThermalHeavy::start)??;
    if second <= first {
        let message = format!(
            "the second step begins at {}, the first at {}",
            degrees(second),
            degrees(first)
        );
        let hint = format!("write more than {}", degrees(first));
        found.add(ThermalHeavy::start, message, hint);
    }
    Some(())
}
