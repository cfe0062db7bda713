//! Secure erase: by erasing blocks, or by throwing the keys away.
//!
//! A block erase takes as long as the erases, all groups of dies side by side. A crypto erase
//! takes a command: the drive encrypts what it stores, and without the keys nothing of it is
//! left; its blocks are erased as superblocks run short, or in idle time (see
//! [`flashtwin_ftl::Ftl::forget`]).

use flashtwin_base::{Device, Nanos};
use flashtwin_ftl::Policies;
use flashtwin_ftl::op::class;

use super::Drive;
use crate::config::SecureErase;
use crate::power::Phase;

impl<P: Policies> Drive<P> {
    /// Secure erase, of the kind that the spec says, after what is under way. The answer is the
    /// time it took.
    pub fn purge(&mut self) -> Nanos {
        let took = self.purge_while(&mut || true);
        took.expect("nobody stopped it")
    }

    /// As [`Drive::purge`]; `go_on` is asked where it takes long. There is no answer where that
    /// says no: the drive is left in the middle of its erase, and of no use any more.
    pub fn purge_while(&mut self, go_on: &mut dyn FnMut() -> bool) -> Option<Nanos> {
        assert_eq!(self.commands.outstanding(), 0, "purge under host commands");
        let begun = self.clock.now();
        self.background.set_purging(true);
        self.settle();
        match self.controller.secure_erase {
            SecureErase::Block => {
                self.erase_all(go_on)?;
                self.ftl.purge();
            }
            SecureErase::Crypto => {
                self.pass(self.controller.command, go_on)?;
                self.ftl.forget();
                self.ftl.pump(&mut self.ops);
                self.issue();
                self.fell_idle();
            }
        }
        self.errors.forget();
        self.read_ahead.invalidate(0, self.ftl.logical_units());
        self.commands.set_programming(false);
        self.background.set_purging(false);
        Some(self.clock.now() - begun)
    }

    fn pass(&mut self, time: Nanos, go_on: &mut dyn FnMut() -> bool) -> Option<()> {
        let to = self.clock.now() + time;
        self.advance_while(to, &mut Vec::new(), &mut |_| go_on())
            .then_some(())
    }

    /// Lets the time pass that it takes to erase every superblock that holds anything.
    fn erase_all(&mut self, go_on: &mut dyn FnMut() -> bool) -> Option<()> {
        let mut times = vec![0; self.ftl.layout().groups as usize];
        let mut erases = [0; class::COUNT];
        for (index, block) in self.ftl.superblocks().iter().enumerate() {
            if block.written > 0 {
                let class = class::erase(block.mode);
                let group = self.ftl.layout().group_of(index as u32);
                times[group as usize] += self.flash.array_time(class).0;
                erases[class as usize] += 1;
            }
        }
        self.wake_for_work();
        self.pass(Nanos(times.into_iter().max().unwrap_or(0)), go_on)?;
        let dies = u64::from(self.ftl.layout().group_dies);
        for (class, count) in (0..).zip(erases) {
            self.flash.book(class, count * dies);
        }
        self.power.turn(self.clock.now(), Phase::Resting);
        Some(())
    }

    /// Stops background work and lets the flash come to rest.
    pub(super) fn settle(&mut self) {
        self.withdraw_offers();
        self.ftl.pad_host_through(&mut self.ops);
        self.issue();
        self.end_operations();
    }

    /// Lets what is under way end.
    pub(super) fn end_operations(&mut self) {
        while self.flash_is_busy() || self.lookups.are_fetching() {
            let Some(due) = self.clock.next_due() else {
                panic!("busy flash without an event\n{}", self.describe());
            };
            self.advance(due, &mut Vec::new());
        }
    }
}
