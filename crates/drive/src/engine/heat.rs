//! The drive wakes and rests, draws power and gets warm, and the X-ray looks at it at the same
//! moments.

use flashtwin_base::{Nanos, Op};
use flashtwin_ftl::Policies;

use super::Drive;
use crate::power::{Phase, StateTimes};
use crate::thermal::{Rest, ThermalTimes, WATT_UW};
use crate::timeline::Activity;
use crate::xray::{Inside, Xray};

/// Looks at the inside that are taken without asking whether it is time to leave off.
const LOOKS: u32 = 1024;

impl<P: Policies> Drive<P> {
    /// A command has come while none was outstanding.
    pub(super) fn wake_for_command(&mut self) {
        let rested = self.power.rests_since();
        let wait = self.power.turn(self.clock.now(), Phase::Serving);
        if rested.is_some() {
            self.heat_after_rest();
        }
        if wait > Nanos::ZERO {
            if self.is_recorded() {
                self.record_cores(self.clock.now(), wait, Activity::StandsStill);
            }
            self.firmware.stand_still(self.clock.now(), wait);
        }
    }

    /// The firmware begins work by itself.
    #[cold]
    pub(super) fn wake_for_work(&mut self) {
        self.power.turn(self.clock.now(), Phase::Working);
        self.heat_after_rest();
    }

    /// The last command has been answered.
    pub(super) fn served(&mut self) {
        let phase = if self.flash_is_busy() {
            Phase::Working
        } else {
            Phase::Resting
        };
        self.power.turn(self.clock.now(), phase);
    }

    /// The flash has come to rest.
    pub(super) fn flash_rests(&mut self) {
        if self.power.phase() == Phase::Working {
            self.power.turn(self.clock.now(), Phase::Resting);
        }
    }

    /// How long the drive has been in each state.
    #[must_use]
    pub fn state_times(&self) -> StateTimes {
        self.power.times(self.clock.now())
    }

    /// Energy since the drive was built, in femtojoules (microwatts times nanoseconds).
    #[must_use]
    pub fn energy_fj(&self) -> u128 {
        self.power.energy_fj(self.clock.now(), &self.flash)
    }

    /// Sets the temperature of the air around the drive, in thousandths of a degree. Not part of a
    /// snapshot.
    pub fn set_ambient(&mut self, millicelsius: i32) {
        self.look(self.clock.now());
        self.thermal.set_ambient(millicelsius);
    }

    /// Takes the ticks that are due at or before `to`.
    #[cold]
    pub(super) fn heat_to(&mut self, to: Nanos) {
        while self.thermal.due() <= to {
            self.heat_at(self.thermal.due());
        }
    }

    fn heat_at(&mut self, at: Nanos) {
        let energy = self.power.energy_fj(at, &self.flash);
        let rest = self.power.rests_since().map(|since| Rest {
            lasts: at - since,
            least_watts: self.power.least_uw() / WATT_UW,
        });
        self.thermal.tick(at, energy, rest);
        self.flash.throttle(self.thermal.speed_milli());
        if self.thermal.throttles() {
            self.waits.throttled(at, self.thermal.speed_milli());
            self.waits.rests(self.flash.rests_until());
        }
        self.power.throttle(at, self.thermal.speed_milli());
        if self.errors.are_on() {
            let celsius = self.thermal.celsius(at, energy);
            self.errors.warm(at, celsius);
        }
    }

    /// A rest is over: its long ticks are, too.
    pub(super) fn heat_after_rest(&mut self) {
        if self.thermal.is_in_long_tick(self.clock.now()) {
            self.heat_at(self.clock.now());
            self.look_due = self.look_due.min(self.thermal.due());
        }
    }

    /// Degrees Celsius now.
    #[must_use]
    pub fn celsius(&self) -> f64 {
        self.thermal.celsius(self.clock.now(), self.energy_fj())
    }

    /// Time spent too warm or throttled.
    #[must_use]
    pub fn thermal_times(&self) -> ThermalTimes {
        self.thermal.times(self.clock.now())
    }

    /// Takes the samples of the X-ray and the ticks of the temperature that are due at or before
    /// `to`, by time.
    #[cold]
    pub(super) fn look(&mut self, to: Nanos) {
        while !self.look_some(to) {}
    }

    /// As [`Drive::look`], a few of them; the answer is whether none is due any more.
    #[cold]
    pub(super) fn look_some(&mut self, to: Nanos) -> bool {
        for _ in 0..LOOKS {
            let next = self.thermal.due().min(self.xray.due());
            self.look_due = next;
            if next > to {
                return true;
            }
            self.turns.look(next);
            self.heat_to(next);
            let (xray, inside) = self.xray_and_inside();
            xray.sample(next, &inside);
        }
        self.look_due = self.thermal.due().min(self.xray.due());
        false
    }

    /// The X-ray, and what it samples: all else of the drive.
    pub(super) fn xray_and_inside(&mut self) -> (&mut Xray, Inside<'_, P>) {
        let inside = Inside {
            ftl: &self.ftl,
            host_bytes: self.totals.bytes(Op::Write),
            flash: &self.flash,
            errors: self.errors.counts(),
            power: &self.power,
            thermal: &self.thermal,
        };
        (&mut self.xray, inside)
    }
}
