//! What the drive has drawn: exact, and without an event of its own.
//!
//! Energy is linear in what has happened, so only durations and counts are kept: how long the drive
//! served, worked and rested, operations by class and units over channels (in `flash`), bytes over
//! the link. The energy is the sum of each count times its cost, to the femtojoule, and is computed
//! when it is read. The idle states that a rest went through depend on its length alone and are
//! computed when the rest ends. Invariant: the times of all states add up to the drive's clock.
//!
//! While throttling holds, the controller stands still for the rest of its share of the active time
//! and draws what it draws when idle.
//!
//! Work that the firmware begins by itself (folding after idle time) wakes the drive at once; only
//! a command waits for a state to be left.

use flashtwin_base::Nanos;
use flashtwin_ftl::op::class;
use flashtwin_nand::Part;
use flashtwin_nand::energy::Work;

use crate::config::{IdleState, PowerDraw};
use crate::flash::{FULL_SPEED, Flash};

/// What the drive as a whole is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Phase {
    /// A command is outstanding.
    Serving,
    /// None is, but the flash works.
    Working,
    /// Nothing is under way.
    Resting,
    /// The power is off.
    Off,
}

/// A state that a drive draws power in, in the order of their depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A command is outstanding, or the flash works.
    Active,
    /// Ready.
    Idle,
    /// The first low-power state.
    Light,
    /// The second low-power state.
    Deep,
}

/// Nanoseconds in each state since the drive was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StateTimes {
    /// With a command outstanding.
    pub serving: u64,
    /// Without one, the flash at work.
    pub working: u64,
    /// Ready, entering a low-power state included.
    pub idle: u64,
    /// In the first low-power state.
    pub light: u64,
    /// In the second low-power state.
    pub deep: u64,
    /// Without power.
    pub off: u64,
    /// Thousandths of nanoseconds of `serving` and `working` in which throttling held the
    /// controller still, so that it drew what it draws when idle.
    pub held_milli: u128,
}

impl StateTimes {
    /// Each of them with that of others.
    #[must_use]
    fn with(&self, others: &StateTimes, of: impl Fn(u128, u128) -> u128) -> StateTimes {
        let ns =
            |own: u64, other: u64| u64::try_from(of(own.into(), other.into())).unwrap_or(u64::MAX);
        StateTimes {
            serving: ns(self.serving, others.serving),
            working: ns(self.working, others.working),
            idle: ns(self.idle, others.idle),
            light: ns(self.light, others.light),
            deep: ns(self.deep, others.deep),
            off: ns(self.off, others.off),
            held_milli: of(self.held_milli, others.held_milli),
        }
    }

    /// Times since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &StateTimes) -> StateTimes {
        self.with(earlier, u128::saturating_sub)
    }

    /// A part of them.
    #[must_use]
    pub fn part(&self, of: u64, all: u64) -> StateTimes {
        self.with(self, |own, _| own * u128::from(of) / u128::from(all))
    }

    /// Adds others, each `times` times.
    pub fn add(&mut self, others: &StateTimes, times: u64) {
        *self = self.with(others, |sum, other| sum + other * u128::from(times));
    }

    /// All of them: the drive's clock.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.serving + self.working + self.idle + self.light + self.deep + self.off
    }
}

/// Keeps the times and turns them into energy.
pub(crate) struct Power {
    draw: PowerDraw,
    phase: Phase,
    since: Nanos,
    /// Up to `since`.
    times: StateTimes,
    /// Thousandths of its active time that the controller works: all but while throttled.
    speed_milli: u64,
    /// Rests shorter than this go through no low-power state.
    shallow: Nanos,
    /// Femtojoules of the array, by class of operation.
    op_fj: [u128; class::COUNT],
    /// Bytes that have crossed the host link, and what it can do in a second.
    link_bytes: u64,
    link_bytes_per_s: u64,
    /// The same of one plane's share of a read.
    plane_fj: [u128; class::COUNT],
    dies: u32,
    bus_bytes_per_s: u64,
}

flashtwin_base::state! { Power {
    kept: phase, since, times, speed_milli, link_bytes;
    built: draw, shallow, op_fj, plane_fj, link_bytes_per_s, dies, bus_bytes_per_s;
} }

impl Power {
    pub(crate) fn new(
        draw: &PowerDraw,
        part: &Part,
        flash: &Flash,
        link_bytes_per_s: u64,
    ) -> Power {
        Power {
            phase: Phase::Resting,
            since: Nanos::ZERO,
            times: StateTimes::default(),
            speed_milli: FULL_SPEED,
            shallow: draw.light.after.min(draw.deep.after),
            op_fj: operations(draw, part, flash, part.geometry.planes),
            plane_fj: operations(draw, part, flash, 1),
            link_bytes: 0,
            link_bytes_per_s,
            dies: part.geometry.dies(),
            bus_bytes_per_s: part.bus_bytes_per_s,
            draw: draw.clone(),
        }
    }

    /// What the drive as a whole is doing.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Bytes cross the host link.
    pub(crate) fn note_link(&mut self, bytes: u64) {
        self.link_bytes += bytes;
    }

    /// Begins another phase; the answer is how long a command has to wait for the drive to wake.
    pub(crate) fn turn(&mut self, now: Nanos, phase: Phase) -> Nanos {
        let span = now - self.since;
        let mut wake = Nanos::ZERO;
        if self.speed_milli < FULL_SPEED {
            self.times.held_milli = self.held_milli(now);
        }
        match self.phase {
            Phase::Serving => self.times.serving += span.0,
            Phase::Working => self.times.working += span.0,
            Phase::Off => self.times.off += span.0,
            Phase::Resting if span < self.shallow => self.times.idle += span.0,
            Phase::Resting => {
                add_rest(&mut self.times, &self.draw, span);
                wake = self.waking(span);
            }
        }
        self.since = now;
        self.phase = phase;
        wake
    }

    /// From `now` on the controller works this share of its active time.
    pub(crate) fn throttle(&mut self, now: Nanos, speed_milli: u64) {
        if speed_milli == self.speed_milli {
            return;
        }
        if matches!(self.phase, Phase::Serving | Phase::Working) {
            self.turn(now, self.phase);
        }
        self.speed_milli = speed_milli;
    }

    /// See [`StateTimes::held_milli`]: up to `now`.
    fn held_milli(&self, now: Nanos) -> u128 {
        let span = match self.phase {
            Phase::Serving | Phase::Working => now - self.since,
            Phase::Resting | Phase::Off => Nanos::ZERO,
        };
        self.times.held_milli + u128::from(span.0) * u128::from(FULL_SPEED - self.speed_milli)
    }

    /// How long waking takes after a rest: the rest of an entry, and the exit.
    #[cold]
    fn waking(&self, rest: Nanos) -> Nanos {
        let state = self.entered(rest);
        let entered = state.after + state.entry;
        Nanos(entered.0.saturating_sub(rest.0)) + state.exit
    }

    /// The state that a rest of this length has begun to enter; it is long enough for one.
    fn entered(&self, rest: Nanos) -> &IdleState {
        if rest >= self.draw.deep.after {
            &self.draw.deep
        } else {
            &self.draw.light
        }
    }

    /// Since when the drive rests or is off; none while it works.
    pub(crate) fn rests_since(&self) -> Option<Nanos> {
        matches!(self.phase, Phase::Resting | Phase::Off).then_some(self.since)
    }

    /// Microwatts in the deepest state that a rest comes to; of a drive that is off none.
    pub(crate) fn least_uw(&self) -> f64 {
        if self.phase == Phase::Off {
            return 0.0;
        }
        let states = [&self.draw.light, &self.draw.deep];
        let entered = states
            .into_iter()
            .filter(|state| state.after < Nanos::NEVER);
        let least = entered.map(|state| state.power_uw).min();
        let least = least.unwrap_or(self.draw.idle_uw).min(self.draw.idle_uw);
        (least + u64::from(self.dies) * self.draw.flash.standby_uw) as f64
    }

    /// Times up to `now`, which is not before the last turn.
    pub(crate) fn times(&self, now: Nanos) -> StateTimes {
        let mut times = self.times;
        times.held_milli = self.held_milli(now);
        let span = now - self.since;
        match self.phase {
            Phase::Serving => times.serving += span.0,
            Phase::Working => times.working += span.0,
            Phase::Off => times.off += span.0,
            Phase::Resting => add_rest(&mut times, &self.draw, span),
        }
        times
    }

    /// The state at `now`.
    pub(crate) fn state(&self, now: Nanos) -> State {
        let rest = now - self.since;
        let in_it = |state: &IdleState| reached(state) <= rest;
        match self.phase {
            Phase::Serving | Phase::Working => State::Active,
            Phase::Off => State::Deep,
            Phase::Resting if in_it(&self.draw.deep) => State::Deep,
            Phase::Resting if in_it(&self.draw.light) => State::Light,
            Phase::Resting => State::Idle,
        }
    }

    /// Femtojoules up to `now`: operations that have ended, and every state for its time.
    pub(crate) fn energy_fj(&self, now: Nanos, flash: &Flash) -> u128 {
        let times = self.times(now);
        let product = |time: u64, uw: u64| u128::from(time) * u128::from(uw);
        let states = product(times.serving + times.working, self.draw.active_uw)
            + product(times.idle, self.draw.idle_uw)
            + product(times.light, self.draw.light.power_uw)
            + product(times.deep, self.draw.deep.power_uw);
        let gain = self.draw.active_uw.saturating_sub(self.draw.idle_uw);
        let states = states - times.held_milli * u128::from(gain) / u128::from(FULL_SPEED);
        let standby =
            product(now.0 - times.off, self.draw.flash.standby_uw) * u128::from(self.dies);
        let ended = flash.ended().iter().zip(&self.op_fj);
        let arrays: u128 = ended.map(|(&count, &fj)| u128::from(count) * fj).sum();
        let spared = flash.spared().iter().zip(&self.plane_fj);
        // Without independent planes no read leaves a plane idle.
        let spared: u128 = match flash.reads_by_planes() {
            false => 0,
            true => spared.map(|(&count, &fj)| u128::from(count) * fj).sum(),
        };
        let retries = product(flash.retry_plane_ns(), self.draw.flash.read_uw);
        let arrays = arrays - spared + retries;
        let moved = flash.bytes_moved();
        let channels = self.draw.flash.transfer_fj(moved, self.bus_bytes_per_s);
        let link = product(self.link_bytes, self.draw.link_uw) * 1_000_000_000
            / u128::from(self.link_bytes_per_s);
        states + standby + arrays + channels + link
    }
}

/// When a rest has reached a state, counted from its beginning.
fn reached(state: &IdleState) -> Nanos {
    Nanos(state.after.0.saturating_add(state.entry.0))
}

/// Shares a rest out among the states that it went through.
fn add_rest(times: &mut StateTimes, draw: &PowerDraw, rest: Nanos) {
    let deep = reached(&draw.deep).0.min(rest.0);
    let light = reached(&draw.light).0.min(deep);
    times.idle += light;
    times.light += deep - light;
    times.deep += rest.0 - deep;
}

/// Femtojoules of the array for an operation of each class on so many planes.
fn operations(draw: &PowerDraw, part: &Part, flash: &Flash, planes: u32) -> [u128; class::COUNT] {
    let array = |work, time| draw.flash.array_fj(work, planes, time);
    std::array::from_fn(|index| {
        let class = index as u8;
        let time = flash.array_time(class);
        if class == class::COPYBACK {
            let passes = 1 + part
                .later_passes
                .map_or(0, |passes| u64::from(passes.count()));
            let reads = passes * u64::from(part.geometry.cell.bits());
            let senses = Nanos(flash.array_time(class::SLC_READ).0 * reads);
            array(Work::Read, senses) + array(Work::Program, time - senses)
        } else if class::is_read(class) {
            array(Work::Read, time)
        } else if class::is_program(class) {
            array(Work::Program, time)
        } else {
            array(Work::Erase, time)
        }
    })
}
