//! The engine: lets time pass, and joins host link, firmware and flash.
//!
//! It decides nothing about data: it asks the firmware how much it takes, hands over what has
//! arrived, carries out the operations that come back and reports their ends. Liveness: while a
//! command is outstanding some event is due; a drive that is stuck prints its state.
//!
//! Each part of the drive keeps its state to itself, does what it can do alone, and is handed what
//! it needs of the others and the clock. The files of this folder are the sequences in which
//! several parts change together: [`serve`] asks the host, [`commands`] begins and answers what it
//! asks for, [`writes`], [`reads`], [`flushes`] and [`trims`] do it, [`operations`] carries it to
//! the flash. No module outside of this folder knows of [`Drive`].

mod commands;
mod errors;
mod filling;
mod flushes;
mod heat;
mod idle;
mod inspect;
mod look_ups;
mod operations;
mod power_cuts;
mod purge;
mod reads;
mod recorded;
#[cfg(feature = "snapshots")]
mod saved;
mod serve;
mod timeless;
mod trims;
mod writes;

use flashtwin_base::{Completion, Device, Nanos, Request, Source};
use flashtwin_ftl::{BuiltIn, Ftl, NandOp, Policies};

use crate::ageing::Ageing;
use crate::background::Background;
use crate::clock::Clock;
use crate::codewords::Codewords;
use crate::command::Commands;
use crate::config::{Config, Controller};
use crate::errors::BitErrors;
use crate::event::Event;
use crate::fault::Supply;
use crate::firmware::Firmware;
use crate::flash::Flash;
use crate::link::{Compressor, HostLink};
use crate::lookup::Lookups;
use crate::paces::Paces;
use crate::power::Power;
use crate::protection::Path;
use crate::read_ahead::ReadAhead;
use crate::rebuild::Rebuilds;
use crate::repeat::Stretch;
use crate::runs::Runs;
use crate::smart::Nameplate;
use crate::thermal::Thermal;
use crate::totals::Totals;
use crate::trim::Trims;
use crate::turns::Turns;
use crate::waits::Waits;
use crate::xray::Xray;

/// A simulated drive.
pub struct Drive<P: Policies = BuiltIn> {
    capacity_bytes: u64,
    controller: Controller,
    link: HostLink,
    path: Path,
    ftl: Ftl<P>,
    firmware: Firmware,
    flash: Flash,
    errors: BitErrors,
    paces: Paces,
    rebuilds: Rebuilds,
    clock: Clock,
    commands: Commands,
    trims: Trims,
    lookups: Lookups,
    background: Background,
    read_ahead: ReadAhead,
    runs: Runs,
    xray: Xray,
    ops: Vec<NandOp>,
    done: Vec<Completion>,
    compressor: Compressor,
    codewords: Codewords,
    totals: Totals,
    nameplate: Nameplate,
    power: Power,
    thermal: Thermal,
    /// The next sample of the X-ray or tick of the temperature.
    look_due: Nanos,
    supply: Supply,
    /// Small writes can be acknowledged the short way, see [`serve`].
    short_way: bool,
    /// When the loops leave off.
    turns: Turns,
    /// See [`Drive::reads_of_nothing`].
    reads_of_nothing: u64,
    waits: Waits,
    /// Work that was repeated and not simulated.
    repeated: Stretch,
}

flashtwin_base::state! { Drive<P: Policies> {
    kept: runs, totals, supply, repeated;
    part: clock, link, compressor, path, ftl, firmware, flash, errors, rebuilds, commands, trims,
        lookups, background, read_ahead, power, thermal;
    built: capacity_bytes, controller, codewords, xray, ops, done, nameplate, look_due, short_way,
        reads_of_nothing, turns, paces, waits;
} }

impl Drive {
    /// A drive as it leaves the factory; `seed` decides what is left to chance in it.
    #[must_use]
    pub fn new(config: &Config, seed: u64) -> Drive {
        Drive::with_policies(config, seed, BuiltIn::of(&config.policy))
    }
}

impl<P: Policies> Drive<P> {
    /// The same with policies of the caller's own in place of those that the config names.
    #[must_use]
    pub fn with_policies(config: &Config, seed: u64, policies: P) -> Drive<P> {
        let c = &config.controller;
        let policy = config.policy.clone();
        let ftl = Ftl::with_policies(
            &config.part,
            policy,
            config.capacity_bytes,
            c.buffer_bytes,
            seed,
            policies,
        );
        let ladder = config.errors.ladder();
        let flash = Flash::new(&config.part, ftl.layout(), c, ladder, ftl.coalesces());
        let ahead = ReadAhead::new(
            c.read_ahead_streams,
            c.read_ahead_bytes,
            ftl.layout().unit_bytes,
        );
        let power = Power::new(&config.power, &config.part, &flash, config.link.bytes_per_s);
        let thermal = Thermal::new(&config.heat, config.link.bytes_per_s);
        let superblocks = ftl.layout().superblocks;
        let ageing = Ageing::new(&config.errors, config.age, thermal.celsius(Nanos::ZERO, 0));
        Drive {
            capacity_bytes: config.capacity_bytes,
            look_due: thermal.due(),
            power,
            thermal,
            errors: BitErrors::new(&config.errors, superblocks, ftl.layout().group_dies, ageing),
            paces: Paces::new(config.part.variation, seed),
            rebuilds: Rebuilds::default(),
            firmware: Firmware::new(c, ftl.layout()),
            flash,
            clock: Clock::new(),
            lookups: Lookups::new(&ftl, c.host_memory_latency),
            commands: Commands::new(config.link.queue_depth, c.overlap, ftl.layout().unit_bytes),
            trims: Trims::new(&c.trim),
            background: Background::new(&config.policy, c),
            read_ahead: ahead,
            runs: Runs::default(),
            xray: Xray::default(),
            ops: Vec::with_capacity(256),
            done: Vec::with_capacity(64),
            compressor: Compressor::new(c.compression_bytes_per_s),
            codewords: Codewords::new(c.codeword_bytes, ftl.layout().unit_bytes, ftl.compresses()),
            link: HostLink::new(&config.link),
            path: Path::new(c.end_to_end, seed),
            totals: Totals::default(),
            nameplate: Nameplate::new(config, &ftl),
            supply: Supply::new(),
            short_way: serve::has_short_way(config),
            turns: Turns::new(),
            reads_of_nothing: 0,
            waits: Waits::new(config),
            repeated: Stretch::default(),
            ftl,
            controller: c.clone(),
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Done(die) if self.flash.is_void(die, self.clock.now()) => {}
            Event::Done(die) => {
                if self.is_recorded() {
                    self.record_end(die);
                }
                let op = self.flash.done(die, &mut self.clock);
                self.operation_ended(op);
                if !self.flash_is_busy() {
                    self.flash_rests();
                }
            }
            Event::PlaneSensed(die, plane) => {
                self.flash.plane_sensed((die, plane), &mut self.clock);
            }
            Event::PlaneDone(die, plane) => {
                if self.is_recorded() {
                    self.record_plane_end(die, plane);
                }
                let op = self.flash.plane_done((die, plane), &mut self.clock);
                self.operation_ended(op);
                if !self.flash_is_busy() {
                    self.flash_rests();
                }
            }
            Event::Arrived => self.arrived(),
            Event::Command(slot) => self.begin_command(slot),
            Event::Answer(slot) => self.answer(slot, self.commands[slot].status()),
            Event::Seen(slot) => self.seen(slot),
            Event::Trimmed(slot) => self.begin_trim(slot),
            Event::Release => self.release(),
            Event::Prepared => self.prepared(),
            Event::Sensed(die) => self.flash.sensed(die, &mut self.clock),
            Event::RegisterFree(die) => self.flash.register_free(die, self.clock.now()),
            Event::Rested(die) => self.flash.rested(die, &mut self.clock),
            Event::Suspended(die) => {
                if self.is_recorded() {
                    self.record_suspension(die);
                }
                self.flash.suspended(die, &mut self.clock);
            }
            Event::MapFetched(slot) => self.map_fetched(slot),
            Event::FlushGathered => self.flush_gathered(),
            Event::GatherTimer => self.gather_timer(),
            Event::IdleTimer => self.idle_timer(),
            Event::BusyTimer => self.busy_timer(),
            Event::RefreshTimer => self.refresh_timer(),
            Event::FoldTimer => self.fold_timer(),
        }
    }

    /// Lets happen what is due at or before `limit`; with `UNTIL_DONE`, what is due after the first
    /// moment that completes anything is left. The answer is that moment, or else `limit`, or where
    /// the loop left off.
    fn run_events<const UNTIL_DONE: bool>(&mut self, limit: Nanos) -> Nanos {
        self.turns.begin();
        let mut until = limit;
        loop {
            if self.turns.are_due() && self.done.is_empty() && self.is_over() {
                self.turns.leave_off();
                return self.clock.now();
            }
            let Some(event) = self.clock.go_on(until.min(self.look_due)) else {
                if !self.looks_before_next(until) {
                    break;
                }
                continue;
            };
            self.turns.take();
            self.handle(event);
            if UNTIL_DONE && !self.done.is_empty() {
                until = self.clock.now();
                self.turns.completed();
            }
        }
        until
    }

    /// Nothing happens until the next look, which may be due before the next event. Takes some of
    /// those that are; false where no event is due at or before `limit`.
    #[cold]
    fn looks_before_next(&mut self, limit: Nanos) -> bool {
        let next = self.clock.next_due().filter(|at| *at <= limit);
        if let Some(at) = next {
            self.look_on(Nanos(at.0 - 1));
        }
        next.is_some()
    }

    /// As [`Drive::look_some`] where nothing happens until `to`: time goes on with the looks.
    fn look_on(&mut self, to: Nanos) -> bool {
        let all = self.look_some(to);
        self.clock.pass_to(self.turns.looked());
        all
    }

    /// As [`Device::advance`], but it may leave off on its way; the answer is how far time has
    /// come.
    pub fn advance_some(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.run_events::<false>(to);
        while !self.turns.have_left_off() && !self.look_on(to) {
            if self.turns.are_due() {
                self.turns.leave_off();
            }
        }
        let reached = if self.turns.have_left_off() {
            self.clock.now()
        } else {
            self.clock.pass_to(to);
            to
        };
        self.end_run(done);
        reached
    }

    /// What is due besides events at the time that they have reached, and what has completed.
    #[inline(always)]
    fn end_run(&mut self, done: &mut Vec<Completion>) {
        if !self.turns.have_left_off() && self.clock.now() >= self.look_due {
            self.look(self.clock.now());
        }
        if done.is_empty() {
            std::mem::swap(done, &mut self.done);
        } else {
            done.append(&mut self.done);
        }
        self.check_liveness();
    }

    /// Liveness: while a command is outstanding, something is due. That the host leaves the
    /// superblocks that folding and collection need is checked where superblocks are opened.
    #[inline(always)]
    fn check_liveness(&self) {
        assert!(
            self.commands.outstanding() == 0 || !self.clock.is_idle(),
            "the drive is stuck\n{}",
            self.describe()
        );
    }

    /// The state of everything, for a panic.
    #[cold]
    fn describe(&self) -> String {
        format!(
            "at {} ns, {} commands outstanding\n{}{}{}{}",
            self.clock.now().0,
            self.commands.outstanding(),
            self.commands.describe(),
            self.lookups.describe(),
            self.ftl.describe(),
            self.flash.describe()
        )
    }
}

impl<P: Policies> Device for Drive<P> {
    fn queue_depth(&self) -> u32 {
        self.link.queue_depth()
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    #[inline]
    fn submit(&mut self, now: Nanos, request: Request) {
        debug_assert!(now >= self.clock.now(), "the host's time ran backwards");
        if now > self.look_due {
            self.look(Nanos(now.0 - 1));
        }
        assert!(!self.supply.is_off(), "a command to a drive without power");
        self.clock.set(now);
        self.take(request);
    }

    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        self.clock.next_due()
    }

    #[inline]
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        self.advance_while(to, done, &mut |_| true);
    }

    #[inline]
    fn advance_some(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        Drive::advance_some(self, to, done)
    }

    #[inline]
    fn has_left_off(&self) -> bool {
        self.turns.have_left_off()
    }

    #[inline(always)]
    fn advance_until_done(&mut self, limit: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let reached = self.run_events::<true>(limit);
        self.end_run(done);
        reached
    }

    #[inline]
    fn serve<S: Source>(&mut self, source: &mut S) -> Nanos {
        self.serve_host(source)
    }
}
