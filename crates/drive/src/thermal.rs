//! How warm the drive is: one lump of heat capacity behind one thermal resistance.
//!
//! With power P, resistance R, capacity C and air at A the temperature goes to A + P R by e^(-t /
//! RC). It is taken on a grid of ticks, the mean power of a tick from the energy at its ends, which
//! is exact for constant power. The grid follows from the drive's own state: a sample of the X-ray
//! changes nothing.
//!
//! Throttling has two steps with hysteresis (NVMe calls their temperatures TMT1 and TMT2), decided
//! at ticks. While one holds, what heats is held to a share of its time: a die rests after each
//! operation, the host's or the firmware's own, the controller stands still for the same share of
//! its time, and the firmware leaves pauses between commands, so that the link is held to it, too.
//! e^x comes from `libm`, so every machine agrees.

use flashtwin_base::Nanos;

use crate::config::{Heat, Throttle};
use crate::flash::FULL_SPEED;

/// Time constants of drives are tens of seconds: a tick is short beside them.
const TICK: Nanos = Nanos::from_ms(100);
/// In a long rest in which the temperature comes past no threshold.
const LONG_TICK: Nanos = Nanos::from_secs(60);
/// Microwatts of a watt; femtojoules per nanosecond are microwatts.
pub(crate) const WATT_UW: f64 = 1e6;

/// The temperature, and the throttling that follows from it.
pub(crate) struct Thermal {
    ambient: f64,
    /// Kelvins for a watt, the fan reckoned in.
    resistance: f64,
    /// Seconds.
    time_constant: f64,
    /// What is left of a difference after a tick.
    decay: f64,
    warning: f64,
    critical: f64,
    steps: [Step; 2],
    /// Degrees at `at`.
    celsius: f64,
    at: Nanos,
    energy_fj: u128,
    due: Nanos,
    /// Picoseconds that a byte takes while throttling holds; 0 = full speed.
    hold_ps: u64,
    /// Thousandths of its time that a die may work.
    speed_milli: u64,
    times: ThermalTimes,
}

flashtwin_base::state! { Thermal {
    kept: celsius, at, energy_fj, due, hold_ps, speed_milli, times;
    part: steps;
    built: ambient, resistance, time_constant, decay, warning, critical;
} }

/// Time spent too warm, and how often throttling began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ThermalTimes {
    /// At or above the warning temperature and below the critical one.
    pub warning: Nanos,
    /// At or above the critical temperature.
    pub critical: Nanos,
    /// With a step of throttling on: the first, the second.
    pub throttled: [Nanos; 2],
    /// How often it began.
    pub begun: [u32; 2],
}

/// A rest of the drive, as the temperature sees it.
#[derive(Clone, Copy)]
pub(crate) struct Rest {
    /// So far.
    pub lasts: Nanos,
    /// In its deepest state.
    pub least_watts: f64,
}

/// A step of throttling.
struct Step {
    start: f64,
    stop: f64,
    speed_milli: u64,
    hold_ps: u64,
    on: bool,
}

flashtwin_base::state! { Step {
    kept: on;
    built: start, stop, speed_milli, hold_ps;
} }

impl Step {
    fn new(config: &Throttle, link_bytes_per_s: u64) -> Step {
        let speed_milli = config.speed_milli.max(1);
        let rate = u128::from(link_bytes_per_s) * u128::from(speed_milli);
        Step {
            start: config.start_mc.map_or(f64::INFINITY, |mc| mc as f64 / 1e3),
            stop: config.stop_mc as f64 / 1e3,
            speed_milli,
            hold_ps: (1_000_000_000_000_000 / rate) as u64,
            on: false,
        }
    }

    /// Hysteresis; the answer is whether it has just begun.
    fn feel(&mut self, celsius: f64) -> bool {
        let was = self.on;
        self.on = celsius >= self.start || (was && celsius > self.stop);
        self.on && !was
    }
}

impl Thermal {
    pub(crate) fn new(heat: &Heat, link_bytes_per_s: u64) -> Thermal {
        let resistance = heat.resistance_mk_per_w as f64 / heat.fan_milli as f64;
        let time_constant = resistance * heat.capacity_mj_per_k as f64 / 1e3;
        let ambient = heat.ambient_mc as f64 / 1e3;
        Thermal {
            ambient,
            resistance,
            time_constant,
            decay: libm::exp(-TICK.as_secs_f64() / time_constant),
            warning: heat.warning_mc as f64 / 1e3,
            critical: heat.critical_mc as f64 / 1e3,
            steps: [&heat.throttle, &heat.heavy].map(|step| Step::new(step, link_bytes_per_s)),
            celsius: ambient,
            at: Nanos::ZERO,
            energy_fj: 0,
            due: TICK,
            hold_ps: 0,
            speed_milli: FULL_SPEED,
            times: ThermalTimes::default(),
        }
    }

    /// When the next tick is due.
    pub(crate) fn due(&self) -> Nanos {
        self.due
    }

    /// Whether the tick under way is a long one, of which more is left than a short one takes.
    pub(crate) fn is_in_long_tick(&self, now: Nanos) -> bool {
        self.due > now + TICK
    }

    /// Whether throttling holds.
    pub(crate) fn throttles(&self) -> bool {
        self.hold_ps > 0
    }

    /// Thousandths of its time that a die may work.
    pub(crate) fn speed_milli(&self) -> u64 {
        self.speed_milli
    }

    /// The air around the drive has this temperature from now on.
    pub(crate) fn set_ambient(&mut self, millicelsius: i32) {
        self.ambient = f64::from(millicelsius) / 1e3;
    }

    /// Degrees at `at`, by when `energy_fj` has been drawn.
    pub(crate) fn celsius(&self, at: Nanos, energy_fj: u128) -> f64 {
        let span = at - self.at;
        if span == Nanos::ZERO {
            return self.celsius;
        }
        let power = (energy_fj - self.energy_fj) as f64 / span.0 as f64 / WATT_UW;
        let decay = if span == TICK {
            self.decay
        } else {
            libm::exp(-span.as_secs_f64() / self.time_constant)
        };
        let end = self.ambient + power * self.resistance;
        end + (self.celsius - end) * decay
    }

    /// Goes on to `at`. `rest` says whether the drive rests.
    pub(crate) fn tick(&mut self, at: Nanos, energy_fj: u128, rest: Option<Rest>) {
        let span = at - self.at;
        let watts = match span {
            Nanos::ZERO => f64::INFINITY,
            _ => (energy_fj - self.energy_fj) as f64 / span.0 as f64 / WATT_UW,
        };
        self.celsius = self.celsius(at, energy_fj);
        self.at = at;
        self.energy_fj = energy_fj;
        self.count(span);
        for (step, begun) in self.steps.iter_mut().zip(&mut self.times.begun) {
            *begun += u32::from(step.feel(self.celsius));
        }
        let on = || self.steps.iter().filter(|step| step.on);
        self.hold_ps = on().map(|step| step.hold_ps).max().unwrap_or(0);
        let slowest = on().map(|step| step.speed_milli).min();
        self.speed_milli = slowest.unwrap_or(FULL_SPEED);
        let long = rest.is_some_and(|rest| rest.lasts >= LONG_TICK && self.is_calm(watts, rest));
        self.due = at + if long { LONG_TICK } else { TICK };
    }

    /// Whether nothing will come of the temperature in the rest: it is low, or it stays on its side
    /// of every threshold. The power of a rest falls from what it is now to that of the deepest
    /// state, so the temperature lies between itself and where these two lead.
    fn is_calm(&self, watts: f64, rest: Rest) -> bool {
        if self.hold_ps == 0 && self.celsius < self.warning {
            return true;
        }
        let leads = |watts: f64| self.ambient + watts * self.resistance;
        let low = self.celsius.min(leads(rest.least_watts));
        let high = self.celsius.max(leads(watts));
        let felt = |step: &Step| if step.on { step.stop } else { step.start };
        let thresholds = self.steps.iter().map(felt);
        let mut thresholds = thresholds.chain([self.warning, self.critical]);
        thresholds.all(|threshold| !(low..=high).contains(&threshold))
    }

    /// Books a tick where its end finds the drive.
    fn count(&mut self, span: Nanos) {
        self.times = self.times_with(span);
    }

    /// The times with so much more as the drive is now.
    fn times_with(&self, span: Nanos) -> ThermalTimes {
        let mut times = self.times;
        if self.celsius >= self.critical {
            times.critical += span;
        } else if self.celsius >= self.warning {
            times.warning += span;
        }
        for (step, time) in self.steps.iter().zip(&mut times.throttled) {
            *time += if step.on { span } else { Nanos::ZERO };
        }
        times
    }

    /// How long the firmware holds a command of so many bytes back.
    pub(crate) fn hold(&self, bytes: u64) -> Nanos {
        Nanos(bytes.saturating_mul(self.hold_ps) / 1000)
    }

    /// From here on the drive warns.
    pub(crate) fn warning_celsius(&self) -> f64 {
        self.warning
    }

    /// Up to the last tick, and up to `now` in a long one, in which nothing changes.
    pub(crate) fn times(&self, now: Nanos) -> ThermalTimes {
        let long = self.due > self.at + TICK;
        self.times_with(if long { now - self.at } else { Nanos::ZERO })
    }
}
