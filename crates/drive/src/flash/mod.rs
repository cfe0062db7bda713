//! Dies and channels as queued resources: what runs now, what waits, and when it ends.
//!
//! A die does one array operation at a time. A read senses its pages and then sends them over the
//! channel; a program takes its data over the channel first, and with cache program the data of
//! the next one is taken while the array is busy. Channels serve in the order in which they are
//! asked.

mod native_programs;
mod planes;
mod suspend;

use std::collections::VecDeque;

use flashtwin_base::Nanos;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::op::class;
use flashtwin_ftl::{Layout, NandOp, Token};
use flashtwin_nand::{ModeTiming, Pace, Part, Program, Suspend};

use crate::clock::Clock;
use crate::command::SECTOR_BYTES;
use crate::config::Controller;
use crate::event::Event;
use crate::overtaking::Overtaken;
use crate::timeline::{Activity, Timeline};

use native_programs::NativePrograms;
use planes::Planes;
use suspend::Pause;

/// All of a die's time, in the unit of shares of it.
pub(crate) const FULL_SPEED: u64 = 1000;
/// Check data of a sector with end-to-end protection (T10 PI).
const CHECK_BYTES: u64 = 8;

/// One die and what waits for it.
struct Die {
    channel: u16,
    /// Reads for the host that overtake everything else.
    urgent: VecDeque<NandOp>,
    queue: VecDeque<NandOp>,
    running: Option<NandOp>,
    /// With cache program: the next program, and when its data has been taken.
    loaded: Option<(NandOp, Nanos)>,
    /// The page register is free: the next program's data may be taken.
    may_load: bool,
    pause: Pause,
    /// Reads for the host that have begun before the first of `queue`.
    overtaken: Overtaken,
    /// Throttled, it begins nothing before this.
    rests_until: Nanos,
    /// Reads that go on side by side, where planes work for themselves.
    planes: Planes,
}

flashtwin_base::state! { Die {
    kept: urgent, queue, running, loaded, may_load, pause, overtaken, rests_until, planes;
    built: channel;
} }

impl Die {
    /// No operation waits for the die to be idle.
    #[inline]
    fn nothing_waits(&self) -> bool {
        self.urgent.is_empty() && self.queue.is_empty()
    }

    /// What comes next: a read that goes first, unless enough of them have.
    #[inline]
    fn take_next(&mut self, reads_first: u32) -> Option<NandOp> {
        if self.queue.is_empty() {
            self.overtaken.clear();
            return self.urgent.pop_front();
        }
        if self.urgent.is_empty() || self.overtaken.is_at(reads_first) {
            self.overtaken.clear();
            return self.queue.pop_front();
        }
        self.overtaken.note();
        self.urgent.pop_front()
    }
}

/// All dies, channels and their times.
pub(crate) struct Flash {
    dies: Vec<Die>,
    channel_free: Vec<Nanos>,
    /// Bytes a second that the controller passes, all channels together; 0 without a limit.
    data_bytes_per_s: u64,
    /// When it has passed what it was given.
    data_free: Nanos,
    array_time: [Nanos; class::COUNT],
    transfer_time: Vec<Nanos>,
    /// What so many steps of the read-retry ladder add to a read.
    retry_time: Vec<Nanos>,
    cache_program: bool,
    read_priority: bool,
    /// Reads that overtake at most before the first operation that waits.
    reads_first: u32,
    /// None where nothing is ever suspended.
    suspend: Option<Suspend>,
    suspensions: u64,
    /// Thousandths of its time that each die may work: all but while the drive is throttled.
    speed_milli: u64,
    /// Programs whose data dies have taken since the firmware was last told, by the places in
    /// their tokens; only where it wants to know.
    begun: Vec<u32>,
    notes_begun: bool,
    /// A die shares its way to the controller with no other, so that a read's end is known when it
    /// starts.
    lone: bool,
    busy: u32,
    /// Operations that have ended, by class, and the units that they moved over a channel.
    ended: [u64; class::COUNT],
    units_moved: u64,
    unit_on_channel_bytes: u64,
    /// Codewords of those units that stayed on their dies, and the bytes of one.
    codewords_skipped: u64,
    codeword_on_channel_bytes: u64,
    bus_bytes_per_s: u64,
    /// Nanoseconds that planes have spent on steps of the read-retry ladder, of ended reads.
    retry_plane_ns: u64,
    planes: u32,
    /// Planes of a die that read for themselves; 0 where they do not.
    independent: u32,
    /// Native programs that dies have in hand, where their number is limited, and those that wait
    /// until there are fewer.
    native: NativePrograms,
    /// Nothing can be suspended, loaded ahead or read by single planes: an operation for an idle
    /// die with an empty queue starts at once.
    starts_at_once: bool,
    /// Planes that reads of each class, among those that have ended, left alone.
    spared: [u64; class::COUNT],
    /// What records the drive: its dies and channels have most to tell.
    timeline: Option<Box<Timeline>>,
}

flashtwin_base::state! { Flash {
    kept: data_free, suspensions, speed_milli, begun, busy, ended, units_moved, codewords_skipped,
        retry_plane_ns, spared;
    sized: channel_free;
    part: dies, native;
    built: data_bytes_per_s, array_time, transfer_time, retry_time, cache_program, read_priority,
        reads_first, suspend, notes_begun, lone,
        unit_on_channel_bytes, codeword_on_channel_bytes, bus_bytes_per_s, planes, independent,
        starts_at_once, timeline;
} }

fn fill_times(times: &mut [Nanos], mode: &ModeTiming, read: u8, program: u8, erase: u8) {
    for (page, &time) in mode.read.iter().enumerate() {
        times[read as usize + page] = time;
    }
    match &mode.program {
        Program::OneShot(time) => times[program as usize] = *time,
        Program::PageByPage(pages) => {
            for (page, &time) in pages.iter().enumerate() {
                times[program as usize + page] = time;
            }
        }
    }
    times[erase as usize] = mode.erase;
}

impl Flash {
    /// The flash of a drive. `retry_time` is what steps of the read-retry ladder add to a read;
    /// `notes_begun`: the firmware wants to know which programs have their data on their dies.
    pub(crate) fn new(
        part: &Part,
        layout: &Layout,
        controller: &Controller,
        retry_time: Vec<Nanos>,
        notes_begun: bool,
    ) -> Flash {
        let mut array_time = [Nanos::ZERO; class::COUNT];
        fill_times(
            &mut array_time,
            &part.native,
            class::NATIVE_READ,
            class::NATIVE_PROGRAM,
            class::NATIVE_ERASE,
        );
        fill_times(
            &mut array_time,
            &part.slc,
            class::SLC_READ,
            class::SLC_PROGRAM,
            class::SLC_ERASE,
        );
        if let Some(tier) = &part.tier {
            fill_times(
                &mut array_time,
                &tier.timing,
                class::TIER_READ,
                class::TIER_PROGRAM,
                class::TIER_ERASE,
            );
        }
        let senses = array_time[class::SLC_READ as usize].0 * u64::from(layout.bits);
        let program = array_time[class::NATIVE_PROGRAM as usize].0;
        // With several passes the source is sensed for each of them.
        let (later, time) = match layout.later_passes {
            Some(passes) => (u64::from(passes.count()), passes.time().0),
            None => (0, 0),
        };
        array_time[class::COPYBACK as usize] = Nanos((1 + later) * senses + program + time);
        if let Some(passes) = layout.later_passes {
            let first = class::LATER_PASS as usize;
            array_time[first..first + passes.times.len()].copy_from_slice(&passes.times);
        }
        let grain = u64::from(layout.grain_bytes());
        let on_channel = |bytes: u64| {
            let check = bytes / SECTOR_BYTES * CHECK_BYTES;
            bytes + if controller.end_to_end { check } else { 0 }
        };
        let unit_on_channel_bytes = on_channel(grain);
        let transfer = |grains: u64| bus_time(grains * unit_on_channel_bytes, part.bus_bytes_per_s);
        let g = &part.geometry;
        let die = |index: u32| Die {
            channel: (index % g.channels) as u16,
            // Without capacity set aside they stay as short as what has waited, and so in the
            // processor's cache.
            urgent: VecDeque::new(),
            queue: VecDeque::new(),
            running: None,
            loaded: None,
            may_load: false,
            pause: Pause::default(),
            overtaken: Overtaken::default(),
            rests_until: Nanos::ZERO,
            planes: Planes::new(if part.independent_planes { g.planes } else { 0 }),
        };
        Flash {
            dies: (0..layout.dies).map(die).collect(),
            data_bytes_per_s: controller.data_bytes_per_s,
            data_free: Nanos::ZERO,
            channel_free: vec![Nanos::ZERO; g.channels as usize],
            array_time,
            retry_time,
            transfer_time: (0..=u64::from(layout.granule_grains(Mode::Native)))
                .map(transfer)
                .collect(),
            cache_program: part.cache_program,
            read_priority: controller.read_priority,
            reads_first: controller.reads_first,
            suspend: part.suspend.any().then(|| part.suspend.clone()),
            suspensions: 0,
            speed_milli: FULL_SPEED,
            begun: Vec::new(),
            notes_begun,
            lone: g.dies_per_channel == 1 && controller.data_bytes_per_s == 0,
            busy: 0,
            ended: [0; class::COUNT],
            units_moved: 0,
            unit_on_channel_bytes,
            codewords_skipped: 0,
            codeword_on_channel_bytes: on_channel(part.codeword_bytes.into()),
            bus_bytes_per_s: part.bus_bytes_per_s,
            retry_plane_ns: 0,
            planes: g.planes,
            independent: if part.independent_planes { g.planes } else { 0 },
            native: NativePrograms::new(controller.native_programs),
            starts_at_once: !part.independent_planes && !part.suspend.any() && !part.cache_program,
            spared: [0; class::COUNT],
            timeline: None,
        }
    }

    /// Operations that have ended, by class.
    pub(crate) fn ended(&self) -> &[u64; class::COUNT] {
        &self.ended
    }

    /// Bytes that ended operations moved over a channel, what protects them included.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.units_moved * self.unit_on_channel_bytes
            - self.codewords_skipped * self.codeword_on_channel_bytes
    }

    /// Nanoseconds that planes have spent on steps of the read-retry ladder, of ended reads.
    pub(crate) fn retry_plane_ns(&self) -> u64 {
        self.retry_plane_ns
    }

    /// Planes that reads of each class, among those that have ended, left alone.
    pub(crate) fn spared(&self) -> &[u64; class::COUNT] {
        &self.spared
    }

    /// Books operations that were not carried out one by one.
    pub(crate) fn book(&mut self, class: u8, count: u64) {
        self.ended[class as usize] += count;
    }

    /// Whether any die has something to do.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Nothing runs and nothing waits any more.
    pub(crate) fn power_lost(&mut self, now: Nanos) {
        for die in &mut self.dies {
            die.urgent.clear();
            die.queue.clear();
            die.pause = Pause::default();
            die.overtaken.clear();
            die.rests_until = Nanos::ZERO;
            (die.running, die.loaded, die.may_load) = (None, None, false);
            die.planes.power_lost();
        }
        self.channel_free.fill(now);
        self.data_free = now;
        self.begun.clear();
        self.busy = 0;
        self.native.power_lost();
    }

    /// Array time of a kind of operation.
    pub(crate) fn array_time(&self, class: u8) -> Nanos {
        self.array_time[class as usize]
    }

    /// Dies take the data of the next program while they program.
    pub(crate) fn takes_ahead(&self) -> bool {
        self.cache_program
    }

    /// How many dies there are.
    pub(crate) fn dies(&self) -> usize {
        self.dies.len()
    }

    /// Reads that somebody waits for go first.
    pub(crate) fn prefers_reads(&self) -> bool {
        self.read_priority
    }

    /// Programs or erases are suspended for reads.
    pub(crate) fn suspends(&self) -> bool {
        self.suspend.is_some()
    }

    /// Planes that a read can leave alone are told apart.
    pub(crate) fn reads_by_planes(&self) -> bool {
        self.independent > 0
    }

    /// The firmware wants to know which programs have their data on their dies.
    pub(crate) fn notes_begun(&self) -> bool {
        self.notes_begun
    }

    /// Those that have got it since the last call, by the places in their tokens.
    pub(crate) fn take_begun(&mut self) -> impl Iterator<Item = u32> {
        self.begun.drain(..)
    }

    /// A recording goes on from now, or none does; the answer is the one that did.
    pub(crate) fn record(&mut self, timeline: Option<Box<Timeline>>) -> Option<Box<Timeline>> {
        std::mem::replace(&mut self.timeline, timeline)
    }

    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.timeline.is_some()
    }

    /// The recording that goes on.
    #[inline]
    pub(crate) fn recording(&mut self) -> Option<&mut Timeline> {
        self.timeline.as_deref_mut()
    }

    /// The operation that runs on a die.
    pub(crate) fn running(&self, die: u16) -> Option<NandOp> {
        self.dies[usize::from(die)].running
    }

    /// The read on this plane of a die, whose planes work for themselves.
    pub(crate) fn running_on(&self, die: u16, plane: u16) -> Option<NandOp> {
        self.dies[usize::from(die)].planes.running_on(plane)
    }

    /// The operation that a die has suspended or is about to.
    pub(crate) fn held(&self, die: u16) -> Option<NandOp> {
        self.dies[usize::from(die)].pause.held_op().copied()
    }

    /// Times that a read has suspended a program or an erase.
    pub(crate) fn suspensions(&self) -> u64 {
        self.suspensions
    }

    /// Queues an operation and starts it when its die is idle.
    #[inline]
    pub(crate) fn push(&mut self, op: NandOp, clock: &mut Clock) {
        self.busy += 1;
        if !self.native.are_limited() || self.native.takes(op) {
            self.give(op, clock);
        }
    }

    /// Gives an operation to its die.
    #[inline]
    fn give(&mut self, op: NandOp, clock: &mut Clock) {
        let die = &mut self.dies[op.die as usize];
        let idle = die.running.is_none() && die.nothing_waits();
        if self.starts_at_once && idle && clock.now() >= die.rests_until {
            die.running = Some(op);
            self.begin(&op, op.die, clock);
            return;
        }
        let urgent = self.read_priority && is_awaited(op.token);
        if urgent {
            die.urgent.push_back(op);
        } else {
            die.queue.push_back(op);
        }
        if die.running.is_none() {
            self.start_next(op.die, clock);
        } else if urgent && self.suspend.is_some() {
            self.ask_suspend(op.die, clock);
        } else if self.cache_program && die.may_load {
            self.load_next(op.die, clock.now());
        }
    }

    /// Starts what waits for an idle die.
    #[inline(always)]
    fn start_next(&mut self, index: u16, clock: &mut Clock) {
        if clock.now() < self.dies[index as usize].rests_until {
            return;
        }
        if self.independent > 0 {
            self.start_planes(index, clock);
            return;
        }
        let die = &mut self.dies[index as usize];
        if self.suspend.is_some() && die.pause.holds() {
            if !self.serves_read(index) {
                self.resume(index, clock);
                return;
            }
            let die = &mut self.dies[index as usize];
            die.running = die.urgent.pop_front();
            self.start(index, clock);
            return;
        }
        if let Some((op, taken)) = die.loaded.take() {
            self.start_array(op, index, clock.now().max(taken), clock);
            return;
        }
        let die = &mut self.dies[index as usize];
        die.running = die.take_next(self.reads_first);
        self.start(index, clock);
    }

    /// Starts the operation that an idle die has been given, if there is one.
    #[inline(always)]
    fn start(&mut self, index: u16, clock: &mut Clock) {
        if let Some(op) = self.dies[index as usize].running {
            self.begin(&op, index, clock);
        }
    }

    /// Starts an operation that an idle die has been given.
    #[inline(always)]
    fn begin(&mut self, op: &NandOp, index: u16, clock: &mut Clock) {
        if class::is_read(op.class) {
            let sensed = clock.now() + self.sense_time(op);
            self.note_work(index, 0, (clock.now(), sensed));
            if self.lone {
                let sent = self.send(index, op, sensed);
                clock.push(sent, Event::Done(index));
            } else {
                clock.push(sensed, Event::Sensed(index));
            }
        } else {
            self.start_all_planes(op, index, clock);
        }
    }

    /// Starts an operation that is no read: all planes work on it.
    fn start_alone(&mut self, op: NandOp, index: u16, clock: &mut Clock) {
        self.dies[index as usize].running = Some(op);
        self.start_all_planes(&op, index, clock);
    }

    /// The same of an operation that its die has been given.
    #[inline]
    fn start_all_planes(&mut self, op: &NandOp, index: u16, clock: &mut Clock) {
        if class::is_program(op.class) {
            if self.notes_begun {
                self.note_begun(op.token);
            }
            let taken = self.take_data(index, op.units, clock.now());
            self.begin_array(op, index, taken, clock);
        } else {
            let ends = clock.now() + self.time_in_array(op);
            self.note_work(index, 0, (clock.now(), ends));
            self.note_array(index, clock.now(), ends);
            clock.push(ends, Event::Done(index));
        }
    }

    /// How long the array works on an operation: of a read, until its pages can be sent.
    #[inline(always)]
    fn sense_time(&self, op: &NandOp) -> Nanos {
        self.time_in_array(op) + self.retry_time[op.retries as usize]
    }

    /// How long the array works on an operation that needs no step of the read-retry ladder.
    #[inline(always)]
    fn time_in_array(&self, op: &NandOp) -> Nanos {
        let mean = self.array_time[op.class as usize];
        if op.pace == Pace::MEAN {
            return mean;
        }
        Nanos(op.pace.of(mean.0))
    }

    /// Sends what a read has sensed; the answer is when that has crossed the channel.
    #[inline(always)]
    fn send(&mut self, index: u16, op: &NandOp, from: Nanos) -> Nanos {
        let time = if op.skipped > 0 {
            let left_out = u64::from(op.skipped) * self.codeword_on_channel_bytes;
            let bytes = u64::from(op.units) * self.unit_on_channel_bytes - left_out;
            bus_time(bytes, self.bus_bytes_per_s)
        } else {
            self.transfer_time[op.units as usize]
        };
        let channel = die_channel(&self.dies, index);
        let free = self.channel_free[channel as usize];
        let sent = self.take_channel(channel, time, from);
        if let Some(timeline) = &mut self.timeline {
            let bytes = u64::from(op.units) * self.unit_on_channel_bytes
                - u64::from(op.skipped) * self.codeword_on_channel_bytes;
            let activity = Activity::FromDie(index);
            timeline.transfers(channel, activity, bytes, (from.max(free), sent));
        }
        sent
    }

    /// Tells a recording when an array works on what it begins.
    #[inline]
    fn note_work(&mut self, index: u16, plane: usize, when: (Nanos, Nanos)) {
        if let Some(timeline) = &mut self.timeline {
            timeline.works(index, plane, when);
        }
    }

    /// The array begins a program whose data is in the page register at `at`.
    fn start_array(&mut self, op: NandOp, index: u16, at: Nanos, clock: &mut Clock) {
        self.dies[index as usize].running = Some(op);
        self.begin_array(&op, index, at, clock);
    }

    #[inline]
    fn begin_array(&mut self, op: &NandOp, index: u16, at: Nanos, clock: &mut Clock) {
        let ends = at + self.time_in_array(op);
        self.note_work(index, 0, (at, ends));
        self.note_array(index, at, ends);
        clock.push(ends, Event::Done(index));
        if self.cache_program {
            clock.push(at, Event::RegisterFree(index));
        }
    }

    #[inline]
    fn take_channel(&mut self, channel: u16, time: Nanos, from: Nanos) -> Nanos {
        let free = &mut self.channel_free[channel as usize];
        *free = from.max(*free) + time;
        if self.data_bytes_per_s > 0 {
            return self.pass_data(channel, time, from);
        }
        *free
    }

    /// The same data goes through error correction and memory, which all channels share; the
    /// channel is held until it has.
    #[cold]
    fn pass_data(&mut self, channel: u16, time: Nanos, from: Nanos) -> Nanos {
        let scaled = u128::from(time.0) * u128::from(self.bus_bytes_per_s);
        let passes = Nanos((scaled / u128::from(self.data_bytes_per_s)) as u64);
        self.data_free = from.max(self.data_free) + passes;
        let free = &mut self.channel_free[channel as usize];
        *free = self.data_free.max(*free);
        *free
    }

    /// Notes that a die takes the data of a program.
    #[cold]
    fn note_begun(&mut self, token: Token) {
        if let Token::Program(place) | Token::FirstPass(place) = token {
            self.begun.push(place);
        }
    }

    /// When a die has taken the data of a program, which may need none from the controller.
    #[inline]
    fn take_data(&mut self, index: u16, units: u16, now: Nanos) -> Nanos {
        if units == 0 {
            return now;
        }
        let time = self.transfer_time[units as usize];
        let channel = die_channel(&self.dies, index);
        let free = self.channel_free[channel as usize];
        let taken = self.take_channel(channel, time, now);
        if let Some(timeline) = &mut self.timeline {
            let bytes = u64::from(units) * self.unit_on_channel_bytes;
            let activity = Activity::ToDie(index);
            timeline.transfers(channel, activity, bytes, (now.max(free), taken));
        }
        taken
    }

    /// The page register of a die is free: with cache program the next data may come.
    pub(crate) fn register_free(&mut self, index: u16, now: Nanos) {
        self.dies[index as usize].may_load = true;
        self.load_next(index, now);
    }

    fn load_next(&mut self, index: u16, now: Nanos) {
        let die = &mut self.dies[index as usize];
        let programs = die.running.is_some_and(|op| class::is_program(op.class));
        let next = die
            .queue
            .front()
            .is_some_and(|op| class::is_program(op.class));
        if !programs || !next || !die.urgent.is_empty() || die.loaded.is_some() {
            return;
        }
        if let Some(op) = die.queue.pop_front() {
            die.may_load = false;
            if self.notes_begun {
                self.note_begun(op.token);
            }
            let taken = self.take_data(index, op.units, now);
            self.dies[index as usize].loaded = Some((op, taken));
        }
    }

    /// The array has sensed the pages of the running read: they go over the channel.
    #[inline]
    pub(crate) fn sensed(&mut self, index: u16, clock: &mut Clock) {
        if let Some(op) = self.dies[index as usize].running {
            let sent = self.send(index, &op, clock.now());
            clock.push(sent, Event::Done(index));
        }
    }

    /// Whom the operation that runs on a die is for.
    #[inline]
    pub(crate) fn token_on(&self, die: u16) -> Option<Token> {
        let running = &self.dies[die as usize].running;
        running.as_ref().map(|op| op.token)
    }

    /// The running operation of a die has ended; the next one starts.
    #[inline]
    pub(crate) fn done(&mut self, index: u16, clock: &mut Clock) -> NandOp {
        let die = &mut self.dies[index as usize];
        die.may_load = false;
        let Some(op) = die.running.take() else {
            panic!("die {index} ended an operation that it had not begun");
        };
        self.count_ended(&op);
        if self.is_throttled() {
            self.rest(index, self.sense_time(&op), clock);
        }
        let die = &mut self.dies[index as usize];
        if self.starts_at_once && die.nothing_waits() && clock.now() >= die.rests_until {
            // As a rule, where the cores are slower than the dies.
            die.overtaken.clear();
        } else {
            self.start_next(index, clock);
        }
        if self.native.are_limited()
            && let Some(next) = self.native.ended(&op)
        {
            self.give(next, clock);
        }
        op
    }

    /// Throttled, a die that has worked for `time` leaves the array alone for so long that its
    /// share of the time is kept. What waits for it begins afterwards, whoever asked for it.
    #[cold]
    fn rest(&mut self, index: u16, time: Nanos, clock: &mut Clock) {
        let die = &mut self.dies[index as usize];
        let rest = Nanos(time.0 * (FULL_SPEED - self.speed_milli) / self.speed_milli);
        die.rests_until = clock.now().max(die.rests_until) + rest;
        clock.push(die.rests_until, Event::Rested(index));
    }

    /// When the last die will have rested.
    pub(crate) fn rests_until(&self) -> Nanos {
        let rests = self.dies.iter().map(|die| die.rests_until);
        rests.max().unwrap_or(Nanos::ZERO)
    }

    /// A die may have rested long enough.
    #[cold]
    pub(crate) fn rested(&mut self, index: u16, clock: &mut Clock) {
        if self.dies[index as usize].running.is_none() {
            self.start_next(index, clock);
        }
    }

    /// From now on dies that have worked keep to this share of their time, in thousandths.
    pub(crate) fn throttle(&mut self, speed_milli: u64) {
        self.speed_milli = speed_milli;
    }

    /// What `time` of work takes, with the standstill that throttling adds to it.
    #[inline]
    pub(crate) fn stretched(&self, time: Nanos) -> Nanos {
        if self.is_throttled() {
            return Nanos(time.0 * FULL_SPEED / self.speed_milli);
        }
        time
    }

    /// Whether the drive is throttled.
    #[inline]
    pub(crate) fn is_throttled(&self) -> bool {
        self.speed_milli < FULL_SPEED
    }

    #[inline]
    fn count_ended(&mut self, op: &NandOp) {
        self.busy -= 1;
        self.ended[op.class as usize] += 1;
        self.units_moved += u64::from(op.units);
        self.codewords_skipped += u64::from(op.skipped);
        if op.retries > 0 {
            self.count_retries(op);
        }
    }

    #[cold]
    fn count_retries(&mut self, op: &NandOp) {
        let planes = match self.independent {
            0 => self.planes,
            all => op.planes.mask(all).count_ones(),
        };
        self.retry_plane_ns += self.retry_time[op.retries as usize].0 * u64::from(planes);
    }

    /// Notes that a read left so many planes of its die alone.
    fn spare(&mut self, op: &NandOp, planes: u32) {
        self.spared[op.class as usize] += u64::from(planes);
    }

    /// The state in a line a die, for a panic.
    pub(crate) fn describe(&self) -> String {
        let line = |(i, d): (usize, &Die)| {
            format!(
                "die {i}: {:?} {:?}, waiting {}+{}\n",
                d.running,
                d.planes,
                d.urgent.len(),
                d.queue.len()
            )
        };
        let dies: String = self.dies.iter().enumerate().map(line).collect();
        dies + &self.native.describe()
    }
}

/// Whether somebody waits for what an operation brings, so that it goes first.
#[inline]
pub(crate) fn is_awaited(token: Token) -> bool {
    matches!(
        token,
        Token::Host(_) | Token::MapRead(_) | Token::Rebuild(_)
    )
}

/// Time that bytes take on a channel.
fn bus_time(bytes: u64, bytes_per_s: u64) -> Nanos {
    Nanos((u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s)) as u64)
}

#[inline]
fn die_channel(dies: &[Die], index: u16) -> u16 {
    dies[index as usize].channel
}
