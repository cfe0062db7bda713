//! The engine: owns *now* and the queue of events, and joins host link, firmware and flash.
//!
//! It decides nothing about data: it asks the firmware how much it takes, hands over what has
//! arrived, carries out the operations that come back and reports their ends. Liveness: while a
//! command is outstanding some event is due; a drive that is stuck prints its state.

use flashtwin_base::queue::EventQueue;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Source};
use flashtwin_ftl::{BuiltIn, Counters, Ftl, NandOp, Placement, Policies, Token};

use crate::ageing::Ageing;
use crate::background::Background;
use crate::command::{Commands, SECTOR_BYTES};
use crate::config::{Config, Controller};
use crate::errors::BitErrors;
use crate::event::{Event, lane};
use crate::fault::Supply;
use crate::firmware::Firmware;
use crate::flash::Flash;
use crate::link::{Cores, HostLink};
use crate::lookup::Lookups;
use crate::paces::Paces;
use crate::power::{Phase, Power};
use crate::protection::{Damage, Path};
use crate::read_ahead::ReadAhead;
use crate::rebuild::Rebuilds;
use crate::repeat::Stretch;
use crate::runs::Runs;
use crate::smart::Nameplate;
use crate::thermal::Thermal;
use crate::timeline::Activity;
use crate::totals::Totals;
use crate::turns::Turns;
use crate::waits::Waits;
use crate::xray::{Inside, Xray};

/// Looks at the inside that are taken without asking whether it is time to leave off.
const LOOKS: u32 = 1024;

/// Tokens of host reads from here on are chunks of read-ahead, those below are commands.
pub(crate) const READ_AHEAD: u32 = 1 << 31;

/// A simulated drive.
pub struct Drive<P: Policies = BuiltIn> {
    pub(crate) capacity_bytes: u64,
    pub(crate) controller: Controller,
    pub(crate) link: HostLink,
    pub(crate) path: Path,
    pub(crate) ftl: Ftl<P>,
    pub(crate) firmware: Firmware,
    pub(crate) flash: Flash,
    pub(crate) errors: BitErrors,
    pub(crate) paces: Paces,
    pub(crate) rebuilds: Rebuilds,
    pub(crate) events: EventQueue<Event>,
    pub(crate) now: Nanos,
    pub(crate) commands: Commands,
    pub(crate) lookups: Lookups,
    pub(crate) background: Background,
    pub(crate) read_ahead: ReadAhead,
    pub(crate) runs: Runs,
    pub(crate) xray: Xray,
    pub(crate) ops: Vec<NandOp>,
    pub(crate) woken: Vec<(u32, u32)>,
    pub(crate) done: Vec<Completion>,
    pub(crate) cores: Cores,
    /// When the compressing engine has done what it was given.
    pub(crate) engine_free: Nanos,
    pub(crate) totals: Totals,
    pub(crate) nameplate: Nameplate,
    pub(crate) power: Power,
    pub(crate) thermal: Thermal,
    /// The next sample of the X-ray or tick of the temperature.
    pub(crate) look_due: Nanos,
    pub(crate) supply: Supply,
    /// Small writes can be acknowledged the short way, see [`crate::serve`].
    pub(crate) short_way: bool,
    /// When the loops leave off.
    pub(crate) turns: Turns,
    /// See [`Drive::reads_of_nothing`].
    pub(crate) reads_of_nothing: u64,
    pub(crate) waits: Waits,
    /// Work that was repeated and not simulated.
    pub(crate) repeated: Stretch,
}

flashtwin_base::state! { Drive<P: Policies> {
    kept: events, now, runs, engine_free, totals, supply, repeated;
    part: link, path, ftl, firmware, flash, errors, rebuilds, commands, lookups, background,
        read_ahead, cores, power, thermal;
    built: capacity_bytes, controller, xray, ops, woken, done, nameplate, look_due, short_way,
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
        let mut flash = Flash::new(&config.part, ftl.layout(), c);
        let ahead = ReadAhead::new(
            c.read_ahead_streams,
            c.read_ahead_bytes,
            ftl.layout().unit_bytes,
        );
        let power = Power::new(&config.power, &config.part, &flash, config.link.bytes_per_s);
        let thermal = Thermal::new(&config.heat, config.link.bytes_per_s);
        flash.retry_time = config.errors.ladder();
        flash.notes_begun = ftl.coalesces();
        let superblocks = ftl.layout().superblocks;
        let ageing = Ageing::new(&config.errors, config.age, thermal.celsius(Nanos::ZERO, 0));
        Drive {
            capacity_bytes: config.capacity_bytes,
            look_due: thermal.due,
            power,
            thermal,
            errors: BitErrors::new(&config.errors, superblocks, ftl.layout().group_dies, ageing),
            paces: Paces::new(config.part.variation, seed),
            rebuilds: Rebuilds::default(),
            firmware: Firmware::new(c, ftl.layout()),
            flash,
            events: EventQueue::with_capacity(256),
            now: Nanos::ZERO,
            lookups: Lookups::new(&ftl, c.host_memory_latency),
            commands: Commands::new(config.link.queue_depth, c.overlap, ftl.layout().unit_bytes),
            background: Background::new(&config.policy, c),
            read_ahead: ahead,
            runs: Runs::default(),
            xray: Xray::default(),
            ops: Vec::with_capacity(256),
            woken: Vec::new(),
            done: Vec::with_capacity(64),
            cores: Cores::new(c.cores),
            engine_free: Nanos::ZERO,
            link: HostLink::new(&config.link),
            path: Path::new(c.end_to_end, seed),
            totals: Totals::default(),
            nameplate: Nameplate::new(config, &ftl),
            supply: Supply::new(),
            short_way: crate::serve::has_short_way(config),
            turns: Turns::new(),
            reads_of_nothing: 0,
            waits: Waits::new(config),
            repeated: Stretch::default(),
            ftl,
            controller: c.clone(),
        }
    }

    /// The drive's clock.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.now
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
        self.xray.restart(self.now, every);
        self.look_due = self.thermal.due.min(self.xray.due());
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
        self.look(self.now);
        let inside = Inside {
            ftl: &self.ftl,
            host_bytes: self.totals.bytes(Op::Write),
            flash: &self.flash,
            errors: self.errors.counts,
            power: &self.power,
            thermal: &self.thermal,
        };
        self.xray.close(self.now, &inside);
        &self.xray
    }

    /// Takes the samples of the X-ray and the ticks of the temperature that are due at or before
    /// `to`, by time.
    #[cold]
    pub(crate) fn look(&mut self, to: Nanos) {
        while !self.look_some(to) {}
    }

    /// As [`Drive::look`], a few of them; the answer is whether none is due any more.
    #[cold]
    pub(crate) fn look_some(&mut self, to: Nanos) -> bool {
        for _ in 0..LOOKS {
            let next = self.thermal.due.min(self.xray.due());
            self.look_due = next;
            if next > to {
                return true;
            }
            self.turns.look(next);
            self.heat_to(next);
            let inside = Inside {
                ftl: &self.ftl,
                host_bytes: self.totals.bytes(Op::Write),
                flash: &self.flash,
                errors: self.errors.counts,
                power: &self.power,
                thermal: &self.thermal,
            };
            self.xray.sample(next, &inside);
        }
        self.look_due = self.thermal.due.min(self.xray.due());
        false
    }

    /// Whether a request ends within the drive.
    #[inline]
    pub(crate) fn is_in_range(&self, request: &Request) -> bool {
        let sectors = self.capacity_bytes / SECTOR_BYTES;
        request
            .lba
            .checked_add(u64::from(request.sectors))
            .is_some_and(|end| end <= sectors)
    }

    /// Tells the firmware which programs have their data on their dies, where it wants to know.
    #[inline]
    pub(crate) fn tell_begun(&mut self) {
        if self.flash.notes_begun {
            self.ftl.programs_begun(self.flash.begun.drain(..));
        }
    }

    /// Queues the operations that the firmware has asked for, and sends its copies of map pages to
    /// the host's memory.
    #[inline]
    pub(crate) fn issue(&mut self) {
        if !self.ops.is_empty() {
            self.issue_some();
        }
        if self.lookups.uses_host_memory {
            self.copy_to_host_memory();
        }
    }

    #[inline(never)]
    fn issue_some(&mut self) {
        if self.power.phase == Phase::Resting {
            self.wake_for_work();
        }
        if self.paces.on {
            self.set_paces();
        }
        if self.errors.on {
            (0..self.ops.len()).for_each(|index| self.grade_own(index));
        }
        for index in 0..self.ops.len() {
            self.send_to_flash(self.ops[index]);
        }
        self.ops.clear();
    }

    #[inline(always)]
    pub(crate) fn handle(&mut self, event: Event) {
        match event {
            Event::Done(die) if self.flash.is_void(die, self.now) => {}
            Event::Done(die) => {
                if self.is_recorded() {
                    self.record_end(die);
                }
                let op = self.flash.done(die, self.now, &mut self.events);
                self.operation_ended(op);
                if !self.flash_is_busy() {
                    self.flash_rests();
                }
            }
            Event::PlaneSensed(die, plane) => {
                self.flash
                    .plane_sensed((die, plane), self.now, &mut self.events);
            }
            Event::PlaneDone(die, plane) => {
                if self.is_recorded() {
                    self.record_plane_end(die, plane);
                }
                let op = self
                    .flash
                    .plane_done((die, plane), self.now, &mut self.events);
                self.operation_ended(op);
                if !self.flash_is_busy() {
                    self.flash_rests();
                }
            }
            Event::Arrived => self.arrived(),
            Event::Command(slot) => self.begin_command(slot),
            Event::Answer(slot) => self.answer(slot, self.commands.status(slot)),
            Event::Seen(slot) => self.seen(slot),
            Event::Trimmed(slot) => self.begin_trim(slot),
            Event::Release => self.release(),
            Event::Prepared => self.prepared(),
            Event::Sensed(die) => self.flash.sensed(die, self.now, &mut self.events),
            Event::RegisterFree(die) => self.flash.register_free(die, self.now),
            Event::Rested(die) => self.flash.rested(die, self.now, &mut self.events),
            Event::Suspended(die) => {
                if self.is_recorded() {
                    self.record_suspension(die);
                }
                self.flash.suspended(die, self.now, &mut self.events);
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

    #[inline(never)]
    pub(crate) fn operation_ended(&mut self, op: NandOp) {
        match op.token {
            Token::Host(chunk) if chunk >= READ_AHEAD => self.chunk_read(chunk - READ_AHEAD),
            Token::Host(slot) => self.piece_read(slot, op.units),
            Token::Rebuild(place) => self.rebuild_read(place, op),
            token => {
                let ages = matches!(
                    token,
                    Token::Program(_) | Token::Copyback(_) | Token::Erase(_)
                );
                if ages && self.errors.on {
                    self.note_age(token);
                }
                self.tell_begun();
                self.ftl.finish(token, &mut self.ops);
                self.issue();
                self.await_share();
                match token {
                    Token::Program(_) | Token::FirstPass(_) | Token::Journal(_) => {
                        self.programmed();
                    }
                    Token::MapRead(slot) => self.map_arrived(slot),
                    _ => self.admit(),
                }
                if self.lookups.are_queued() {
                    self.retry_lookups();
                }
            }
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
                return self.now;
            }
            let Some((at, event)) = self.events.pop_due(until.min(self.look_due)) else {
                if !self.looks_before_next(until) {
                    break;
                }
                continue;
            };
            self.now = at;
            self.turns.take();
            self.handle(event);
            if UNTIL_DONE && !self.done.is_empty() {
                until = at;
                self.turns.completed();
            }
        }
        until
    }

    /// Nothing happens until the next look, which may be due before the next event. Takes some of
    /// those that are; false where no event is due at or before `limit`.
    #[cold]
    pub(crate) fn looks_before_next(&mut self, limit: Nanos) -> bool {
        let next = self.events.peek_at().filter(|at| *at <= limit);
        if let Some(at) = next {
            self.look_on(Nanos(at.0 - 1));
        }
        next.is_some()
    }

    /// As [`Drive::look_some`] where nothing happens until `to`: time goes on with the looks.
    fn look_on(&mut self, to: Nanos) -> bool {
        let all = self.look_some(to);
        self.now = self.now.max(self.turns.looked);
        all
    }

    /// As [`Device::advance`], but it may leave off on its way; the answer is how far time has
    /// come.
    pub fn advance_some(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.run_events::<false>(to);
        while !self.turns.has_left_off && !self.look_on(to) {
            if self.turns.are_due() {
                self.turns.leave_off();
            }
        }
        let reached = if self.turns.has_left_off {
            self.now
        } else {
            self.now = self.now.max(to);
            to
        };
        self.end_run(done);
        reached
    }

    /// A request arrives now.
    #[inline]
    pub(crate) fn take(&mut self, request: Request) {
        if self.power.phase != Phase::Serving {
            self.wake_for_command();
        }
        let first = self.commands.outstanding() == 0;
        if self.background.idle || (self.background.watches_host && first) {
            self.host_is_back();
        }
        let in_range = self.is_in_range(&request);
        let refused = self.ftl.is_read_only() && matches!(request.op, Op::Write | Op::Trim);
        if in_range && !refused {
            let bytes = u64::from(request.sectors) * SECTOR_BYTES;
            self.totals.count(request.op, bytes);
        }
        let slot = self.commands.take(request, in_range);
        if self.is_recorded() {
            self.record_command(slot, request.lba);
        }
        self.expect(slot);
        let mut time = self.controller.command;
        if request.op == Op::Trim && in_range && !self.controller.trim.alone {
            time += self.trim_time(request.sectors);
        }
        let seen = self.now + self.link.submit_time();
        let understood = if self.thermal.hold_ps > 0 && matches!(request.op, Op::Read | Op::Write) {
            let bytes = u64::from(request.sectors) * SECTOR_BYTES;
            time += self.thermal.hold(bytes);
            if self.is_recorded() {
                self.record_cores(seen, time, Activity::Understands(request.op));
            }
            self.cores.take_all(seen, time)
        } else {
            if self.is_recorded() {
                self.record_core(seen, time, Activity::Understands(request.op));
            }
            self.cores.take(seen, time)
        };
        self.events
            .push_in_order(lane::FIRMWARE, understood, Event::Command(slot));
    }

    /// What is due besides events at the time that they have reached, and what has completed.
    #[inline(always)]
    fn end_run(&mut self, done: &mut Vec<Completion>) {
        if !self.turns.has_left_off && self.now >= self.look_due {
            self.look(self.now);
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
    pub(crate) fn check_liveness(&self) {
        assert!(
            self.commands.outstanding() == 0 || !self.events.is_empty(),
            "the drive is stuck\n{}",
            self.describe()
        );
    }

    /// The state of everything, for a panic.
    #[cold]
    pub(crate) fn describe(&self) -> String {
        format!(
            "at {} ns, {} commands outstanding\n{}{}{}{}",
            self.now.0,
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
        debug_assert!(now >= self.now, "the host's time ran backwards");
        if now > self.look_due {
            self.look(Nanos(now.0 - 1));
        }
        assert!(!self.supply.off, "a command to a drive without power");
        self.now = now;
        self.take(request);
    }

    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        self.events.peek_at()
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
        self.turns.has_left_off
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
