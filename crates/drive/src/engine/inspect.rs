//! What a drive tells of itself: counts, the X-ray, SMART data, waits.

use flashtwin_base::Nanos;
use flashtwin_ftl::{Counters, Ftl, Placement, Policies};
use serde_json::Value;

use super::Drive;
use crate::protection::Damage;
use crate::smart::{self, Facts, Seen};
use crate::totals::Totals;
use crate::waits::Wait;
use crate::xray::Xray;

impl<P: Policies> Drive<P> {
    /// The drive's SMART data as `smartctl --json` prints it, and what a twin knows beyond it.
    #[must_use]
    pub fn smart(&self) -> Value {
        smart::told(&self.facts(), &self.ftl)
    }

    /// The SMART data of a drive that is `larger` times as large and has lived as many times as
    /// long, with as many times the bytes: what the drive of the full size would show of a life
    /// that a copy has lived. Beside it the cycles by mode, and the spare that is left.
    #[must_use]
    pub fn lived(&self, larger: u64) -> Value {
        smart::lived(&self.facts().of_larger(larger), &self.ftl)
    }

    fn facts(&self) -> Facts<'_> {
        // Repeated work is told with the simulated one.
        let mut lived = self.mark().into_stretch();
        lived.add_told(&self.repeated);
        self.nameplate.facts(Seen {
            ftl: &self.ftl,
            capacity_bytes: self.capacity_bytes,
            lived,
            celsius: self.celsius(),
            warning_celsius: self.thermal.warning_celsius(),
            heat: self.thermal_times(),
            power: self.power_cycles(),
            rebuilt: self.errors.counts().rebuilt,
        })
    }

    /// The longest wait beyond `controller.longest_wait` since the last call, and how many there
    /// were.
    pub fn take_waits(&mut self) -> Option<(Wait, u64)> {
        self.waits.take()
    }

    /// A read, a flush or a write that waits for its programs is answered after a long time.
    #[cold]
    pub(super) fn waited_long(&mut self, slot: u32) {
        let command = &self.commands[slot];
        let (op, (_, units)) = (command.op(), command.span());
        let span = (command.waits_since(), self.clock.now());
        let queue = self.commands.most_outstanding() as u64;
        let reads = self.commands.most_units() * queue;
        let bytes = reads.saturating_mul(self.ftl.layout().unit_bytes.into());
        let crosses = self.link.time_of(bytes, queue);
        let cause = self.ftl.what_holds_host();
        self.waits
            .ended_late((op, units), (reads, crosses), span, cause);
    }

    /// The drive's clock.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// The firmware, for inspection.
    #[must_use]
    pub fn ftl(&self) -> &Ftl<P> {
        &self.ftl
    }

    /// Changes of the map since the last call, see [`Ftl::take_placements`].
    pub fn take_placements(&mut self) -> Vec<Placement> {
        self.ftl.take_placements()
    }

    /// What has been done so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.ftl.counters()
    }

    /// What the host has asked for so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many reads of the host met no data since the drive was built or loaded: nothing of what
    /// they asked for was ever written, or all of it was trimmed.
    #[must_use]
    pub fn reads_of_nothing(&self) -> u64 {
        self.reads_of_nothing
    }

    /// How many commands of the host are not answered.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.commands.outstanding()
    }

    /// Bytes of state for each mapping unit that the host can address.
    #[must_use]
    pub fn bytes_per_unit(&self) -> f64 {
        self.ftl.table_bytes() as f64 / f64::from(self.ftl.logical_units())
    }

    /// A new series of the X-ray from now on, a sample at the end of every interval;
    /// `Nanos::ZERO` switches it off.
    pub fn restart_xray(&mut self, every: Nanos) {
        self.xray.restart(self.clock.now(), every);
        self.look_due = self.thermal.due().min(self.xray.due());
    }

    /// Damages one in so many reads from now on, drawn at random, between the flash and the link;
    /// 0 ends it. See [`Drive::damage`].
    pub fn inject_corruption(&mut self, one_in: u64) {
        self.path.inject(one_in);
    }

    /// What became of the reads that were damaged.
    #[must_use]
    pub fn damage(&self) -> Damage {
        self.path.damage()
    }

    /// The X-ray as it is.
    #[must_use]
    pub fn xray(&self) -> &Xray {
        &self.xray
    }

    /// The X-ray's samples up to now, the last interval's included.
    pub fn close_xray(&mut self) -> &Xray {
        self.look(self.clock.now());
        let now = self.clock.now();
        let (xray, inside) = self.xray_and_inside();
        xray.close(now, &inside);
        &self.xray
    }
}
