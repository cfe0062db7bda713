//! Repeating what a steady load does, without simulating it.
//!
//! Years of a load are one stretch of it thousands of times over: the map, the superblocks and what
//! the host waits do not move any more, and what does move is known from the stretch: cycles,
//! bytes, time, energy. A caller takes a [`Mark`], simulates, asks for what was done since
//! ([`crate::Drive::since`]) and has that repeated. The drive then goes on from where it was, more
//! worn and older: how much the next stretch differs from the one that was repeated is what the
//! jump may have got wrong.
//!
//! A jump ends before the law changes: before a block of the cache has used up its rated cycles,
//! where that takes it out of use, before the drive has used up its own, where it can only be read
//! then, and before data that the load leaves alone has to be refreshed.
//! What happens by chance as cells wear is not repeated ([`Config::repeat_refusal`]).
//!
//! Invariants: the map, the free superblocks, the queue of events and the drive's clock stay as
//! they are, so that repeating nothing changes nothing. What was repeated is kept beside the
//! counters and told with them, for units of the host are the firmware's clock; erases alone are
//! counted with the others. Cycles are spread evenly over the superblocks of a kind, as levelling
//! keeps them. A caller says after how many bytes of the host's its load has rewritten its span:
//! data that was written within the last of these bytes is rewritten in time and keeps its age, all
//! other data ages by the time of all repetitions.

use flashtwin_base::{Nanos, Op};
use flashtwin_ftl::{Counters, Cycles};

use crate::config::Config;
use crate::power::StateTimes;
use crate::totals::Totals;

/// The work of a drive in a time, or so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stretch {
    time: Nanos,
    counters: Counters,
    totals: Totals,
    states: StateTimes,
    energy_fj: u128,
    cycles: Cycles,
}

/// The work that a drive had done at a moment.
#[derive(Clone, Debug)]
pub struct Mark(Stretch);

impl Stretch {
    /// The work of a drive in its time so far.
    pub(crate) fn so_far(
        time: Nanos,
        (counters, cycles): (Counters, Cycles),
        totals: Totals,
        (states, energy_fj): (StateTimes, u128),
    ) -> Stretch {
        Stretch {
            time,
            counters,
            totals,
            states,
            energy_fj,
            cycles,
        }
    }

    /// The work of which all before a mark is left out.
    pub(crate) fn since(&self, mark: &Mark) -> Stretch {
        let then = &mark.0;
        Stretch {
            time: self.time - then.time,
            counters: self.counters.since(&then.counters),
            totals: self.totals.since(&then.totals),
            states: self.states.since(&then.states),
            energy_fj: self.energy_fj - then.energy_fj,
            cycles: self.cycles.since(&then.cycles),
        }
    }

    /// The time and the energy that it would take for some bytes of the host's, and no work.
    pub(crate) fn taken_by(&self, bytes: u64) -> Stretch {
        let written = self.written_bytes().max(1);
        let share = |of: u128| of * u128::from(bytes) / u128::from(written);
        Stretch {
            time: Nanos(share(self.time.0.into()) as u64),
            states: self.states.part(bytes, written),
            energy_fj: share(self.energy_fj),
            ..Stretch::default()
        }
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    pub(crate) fn states(&self) -> &StateTimes {
        &self.states
    }

    pub(crate) fn energy_fj(&self) -> u128 {
        self.energy_fj
    }

    pub(crate) fn cycles(&self) -> &Cycles {
        &self.cycles
    }

    /// Adds another stretch `times` times.
    pub fn add(&mut self, other: &Stretch, times: u64) {
        self.time = Nanos(
            self.time
                .0
                .saturating_add(other.time.0.saturating_mul(times)),
        );
        self.counters.add(&other.counters, times);
        self.totals.add(&other.totals, times);
        self.states.add(&other.states, times);
        let energy = other.energy_fj.saturating_mul(times.into());
        self.energy_fj = self.energy_fj.saturating_add(energy);
        self.cycles.add(&other.cycles, times);
    }

    /// Adds what was repeated to what was counted, erases aside: those are counted together.
    pub(crate) fn add_told(&mut self, repeated: &Stretch) {
        let erases = |c: &Counters| (c.slc_erases, c.native_erases, c.tier_erases);
        let (slc, native, tier) = erases(&self.counters);
        self.add(repeated, 1);
        let c = &mut self.counters;
        (c.slc_erases, c.native_erases, c.tier_erases) = (slc, native, tier);
    }

    /// Bytes that the host wrote in it.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.totals.bytes(Op::Write)
    }

    /// How long it took.
    #[must_use]
    pub fn time(&self) -> Nanos {
        self.time
    }
}

impl Mark {
    /// A mark after all of some work.
    pub(crate) fn after(work: Stretch) -> Mark {
        Mark(work)
    }

    /// All that the drive had done.
    pub(crate) fn into_stretch(self) -> Stretch {
        self.0
    }
}

impl Config {
    /// Why nothing that this drive does can be repeated without simulating it; none where it can.
    #[must_use]
    pub fn repeat_refusal(&self) -> Option<&'static str> {
        let wear = &self.policy.wear;
        let by_chance = wear.program.at_rated_ppb > 0 || wear.erase.at_rated_ppb > 0;
        by_chance.then_some(
            "its blocks fail by chance as they wear (wear.program_failures, wear.erase_failures)",
        )
    }
}
