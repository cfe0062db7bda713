//! The power goes and comes (see [`crate::fault`]).

use flashtwin_base::{Completion, Device, Nanos, Status};
use flashtwin_ftl::{Change, Policies, Recovery};

use super::Drive;
use crate::command::Commands;
use crate::fault::PowerCycles;
use crate::lookup::Lookups;
use crate::power::Phase;
use crate::read_ahead::ReadAhead;
use crate::rebuild::Rebuilds;
use crate::runs::Runs;
use crate::timeline::Activity;

impl<P: Policies> Drive<P> {
    /// Switches on what power cuts need: spare areas of the flash, 12 bytes a physical unit and 16
    /// a logical one, and the wait of erases for what replaced their data. Not under commands.
    pub fn enable_power_cuts(&mut self) {
        assert_eq!(self.commands.outstanding(), 0, "commands are outstanding");
        let offered = self.background.is_idle();
        self.come_to_rest();
        self.ftl.enable_power_cuts();
        if offered {
            self.falls_quiet(self.clock.now());
        }
    }

    /// Switches on power cuts, and has the host's data bear bytes: the caller keeps them in slots,
    /// see [`flashtwin_ftl::Change`]. Not under commands.
    pub fn enable_contents(&mut self) {
        if !self.ftl.has_power_cuts() {
            self.enable_power_cuts();
        }
        self.ftl.enable_contents();
    }

    /// Host data that was placed since the last call, in its order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.ftl.take_changes()
    }

    /// Slots that nothing refers to any more may be handed out again; the answer is which.
    pub fn settle_slots(&mut self) -> Vec<u32> {
        self.ftl.settle_slots()
    }

    /// While the power is off: a superblock comes up empty, whatever was promised of it.
    pub fn lose_superblock(&mut self, superblock: u32) {
        assert!(self.supply.is_off(), "the power is on");
        self.ftl.lose_superblock(superblock);
    }

    /// A command that the drive had answered well failed on its way to the host: SMART counts it.
    pub fn note_failed(&mut self, status: Status) {
        self.totals.end(status);
    }

    /// The drive comes to its end now: it can be read, and takes no more data.
    pub fn end_life(&mut self) {
        self.ftl.end_life();
    }

    /// Whether the power is off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.supply.is_off()
    }

    /// Counts of starts and of power losses.
    #[must_use]
    pub fn power_cycles(&self) -> PowerCycles {
        self.supply.cycles()
    }

    /// The power goes at `now`, before anything that is due at that instant. What was answered by
    /// then is appended to `done`; the other commands are never answered.
    pub fn power_cut(&mut self, now: Nanos, done: &mut Vec<Completion>) {
        assert!(!self.supply.is_off(), "the power is off already");
        assert!(now >= self.clock.now(), "the host's time ran backwards");
        if now > self.clock.now() {
            self.advance(Nanos(now.0 - 1), done);
        }
        self.go_dark(now, false);
    }

    /// The host says that the power will go (flush and standby), waits, and switches it off; the
    /// answer is the time that the drive took.
    pub fn shut_down(&mut self) -> Nanos {
        assert_eq!(self.commands.outstanding(), 0, "commands are outstanding");
        let begun = self.clock.now();
        self.come_to_rest();
        // With the whole map on flash the next start need not rebuild it from spare areas.
        self.ftl.checkpoint_map(&mut self.ops);
        self.settle();
        self.go_dark(self.clock.now(), true);
        self.clock.now() - begun
    }

    /// Everything of the host's is programmed, trims too.
    fn come_to_rest(&mut self) {
        self.ftl.pad_host_through(&mut self.ops);
        self.ftl.flush_journal(&mut self.ops);
        self.issue();
        self.settle();
    }

    /// The power comes at `now`; the answer is the time until the first command is looked at.
    /// Commands may be sent at once.
    pub fn power_on(&mut self, now: Nanos) -> Nanos {
        assert!(self.supply.is_off(), "the power is on already");
        assert!(now >= self.clock.now(), "the host's time ran backwards");
        self.advance(now, &mut Vec::new());
        self.supply.come();
        self.power.turn(now, Phase::Resting);
        self.heat_after_rest();
        let recovery = self.ftl.recover();
        let time = self.recovery_time(&recovery);
        for (class, &count) in recovery.operations.iter().enumerate() {
            self.flash.book(class as u8, count);
        }
        if self.is_recorded() {
            self.record_cores(now, time, Activity::StandsStill);
        }
        self.firmware.stand_still(now, time);
        self.waits.starts(now + time);
        self.errors
            .age_after_start(&recovery.erased, &self.ftl, &mut self.clock);
        // Pages of the map that the cut made stale are written anew.
        self.ftl.pump(&mut self.ops);
        self.issue();
        self.await_share();
        self.falls_quiet(now + time);
        time
    }

    /// Array times of all operations, spread over the dies. What crosses the channels for them is
    /// little: spare areas, and the few superblocks that were open.
    fn recovery_time(&self, recovery: &Recovery) -> Nanos {
        let operations = recovery.operations.iter().enumerate();
        let total: u64 = operations
            .map(|(class, count)| self.flash.array_time(class as u8).0 * count)
            .sum();
        Nanos(total.div_ceil(u64::from(self.ftl.layout().dies)))
    }

    /// RAM is gone; the counters that the host reads by SMART are on flash.
    fn go_dark(&mut self, now: Nanos, is_safe: bool) {
        self.clock.set(now);
        self.power.turn(now, Phase::Off);
        self.heat_after_rest();
        self.supply.go(is_safe);
        self.ftl.cut_power(self.controller.power_loss_protection);
        self.clock.forget_events();
        self.ops.clear();
        self.done.clear();
        self.flash.power_lost(now);
        self.firmware.power_lost();
        let c = &self.controller;
        self.commands = Commands::new(
            self.link.queue_depth(),
            c.overlap,
            self.ftl.layout().unit_bytes,
        );
        self.trims.power_lost();
        self.background.power_lost();
        self.waits.power_lost();
        self.errors.power_lost();
        let unit = self.ftl.layout().unit_bytes;
        self.read_ahead = ReadAhead::new(c.read_ahead_streams, c.read_ahead_bytes, unit);
        self.lookups = Lookups::new(&self.ftl, c.host_memory_latency);
        self.runs = Runs::default();
        self.rebuilds = Rebuilds::default();
        self.link.power_lost(now);
    }
}
