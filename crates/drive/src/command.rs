//! Host commands: what each one waits for, from the firmware's look at it to its answer.
//!
//! This file has the commands and the queues in which they wait; `crate::engine` has what each kind
//! does: `commands` from the look to the answer, `writes`, `reads`, `flushes` and `trims` between.
//! Where the map is not all in RAM, a command goes on page by page of the map (see `lookup`).
//!
//! # The ways in which a write may go
//!
//! There is one long way, which any write may go. The others leave out what cannot have changed.
//! The first three have the same results as it, which `crates/soak/tests/served.rs` holds for
//! random drives and hosts; the last one leaves a drive alike, which
//! `crates/drive/tests/precondition.rs` holds.
//!
//! 0. **The long way** (`write`, `Ftl::decide`, `reserve`, `append_host`): a burst has room,
//!    crosses the link, is placed, and the command is answered. An event for each step.
//! 1. **Understood and begun** (`serve::begins_shortly`): a write of one whole unit begins as soon
//!    as the firmware has looked at it. Left where `asks_more`: the drive has no short way
//!    (`serve::has_short_way`: turns, write-through, compression, a TRIM that is alone, time for
//!    the answer), data is read ahead or lost, the map is paged, or the drive can only be read; or
//!    where the write's handle says where it goes. With `may_queue_ahead` it needs no event of its
//!    own: left where anything but collection may have work (`Ftl::collects_alone`).
//! 2. **Arrived and answered** (`serve::arrived_shortly`): a burst that is all of a write of one
//!    unit is placed, answered and replaced by the host's next request in the same slot. Left where
//!    `Commands::arrives_whole` has none, or, for the next request, where the drive rests, is
//!    throttled, or is asked for anything but a plain write (`take_again`).
//! 3. **Filling** (`filling`, `Ftl::fill`): longer bursts over what holds nothing, in a loop that
//!    knows arrivals, prepared programs, their ends and looks at commands. Left at any other event,
//!    where a burst is the last or meets what was written (`Ftl::is_filled_by`), where a program is
//!    none of host data, and after a look at the X-ray or the heat where `only_fills` has ended.
//! 4. **Without time** (`precondition`, `Ftl::place_units`): no link and no clock; units are placed
//!    together up to the end of a granule, of the buffer, or of what collection lets the host be
//!    ahead. Left for `append_host` where `Ftl::places_units_together` is false (a cache,
//!    compression, coalescing, inferred lifetimes, power cuts, a paged map), and for the ways above
//!    where `Config::precondition_refusal` says so.

mod coming;
pub(crate) mod flush;

use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};

use flashtwin_base::ring::Ring;
use flashtwin_base::{Nanos, Op, Request, Status};
use flashtwin_ftl::{Reserved, Route};

use coming::Coming;
use flush::Flushes;

/// Bytes of a sector.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// Most units that come over the link before the buffer is looked at again.
const BURST_BYTES: u32 = 128 << 10;
/// So many writes have to wait before another one is queued ahead: behind fewer its turn may come
/// before it is understood, and then it has to be taken back.
const FEW_WAIT: usize = 4;

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    tag: u32,
    op: Op,
    lba: u64,
    /// First mapping unit, and how many are touched.
    lpn: u32,
    units: u32,
    /// Units of a write that have been sent for, or of a read that have gone out.
    sent: u32,
    /// Units whose map entries have been looked up.
    looked_up: u32,
    bytes: u64,
    /// True where the command covers each of its units from end to end.
    whole_units: bool,
    /// Of a write: whether the cache may take it.
    route: Route,
    /// Whether it ends within the drive. Otherwise the fields above have no meaning.
    in_range: bool,
    /// Flash reads and pages of the map that have not come.
    pending: u32,
    /// When the last byte so far has crossed the link.
    crossed: Nanos,
    /// Of a write that is queued ahead: when the firmware has understood it, and the number of that
    /// event. Of all others [`UNDERSTOOD`].
    understood: (Nanos, u64),
    /// Of a read, a flush and a write that waits for its programs: when it began to wait for the
    /// flash. Of all others never.
    began: Nanos,
    /// Done only when it is on flash.
    fua: bool,
    /// How much smaller its data can be made.
    compressible_percent: u8,
    /// The placement handle of its data.
    placement: u8,
    /// How it ends, as far as is known.
    status: Status,
}

/// Of a command that is queued once the firmware has understood it. No event has that number: a
/// drive may understand commands in no time, at the beginning of its own.
const UNDERSTOOD: (Nanos, u64) = (Nanos::ZERO, u64::MAX);

/// True before the firmware understands a write, if that was queued ahead of it.
#[inline(always)]
fn is_ahead(understood: (Nanos, u64), now: Nanos) -> bool {
    understood.0 >= now && understood.1 != UNDERSTOOD.1
}

impl Command {
    /// What a slot holds before its first command.
    const VACANT: Command = Command {
        tag: 0,
        op: Op::Flush,
        lba: 0,
        lpn: 0,
        units: 0,
        sent: 0,
        looked_up: 0,
        bytes: 0,
        whole_units: true,
        route: Route::Cache,
        in_range: false,
        pending: 0,
        crossed: Nanos::ZERO,
        understood: UNDERSTOOD,
        began: Nanos::NEVER,
        fua: false,
        compressible_percent: 0,
        placement: 0,
        status: Status::Ok,
    };

    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its sectors.
    pub(crate) fn sectors(&self) -> Range<u64> {
        self.lba..self.lba + self.bytes / SECTOR_BYTES
    }

    /// Its bytes on the drive.
    pub(crate) fn byte_range(&self) -> Range<u64> {
        let begins = self.lba * SECTOR_BYTES;
        begins..begins + self.bytes
    }

    /// The units that it touches.
    pub(crate) fn lpns(&self) -> Range<u32> {
        self.lpn..self.lpn + self.units
    }

    /// The first unit that it touches, and how many.
    pub(crate) fn span(&self) -> (u32, u32) {
        (self.lpn, self.units)
    }

    /// Whether it covers each of its units completely.
    pub(crate) fn covers_whole_units(&self) -> bool {
        self.whole_units
    }

    /// The units that it covers completely, in a drive of that capacity, whose last unit may be one
    /// that the host has a part of.
    pub(crate) fn whole_units(&self, unit: u64, logical_units: u32, capacity: u64) -> (u32, u32) {
        let Range { start, end } = self.byte_range();
        let first = start.div_ceil(unit);
        let end = if end == capacity {
            u64::from(logical_units)
        } else {
            end / unit
        };
        (first as u32, end.saturating_sub(first) as u32)
    }

    /// From here on it is a command for those units alone.
    pub(crate) fn cut_to(&mut self, (lpn, units): (u32, u32)) {
        (self.lpn, self.units) = (lpn, units);
    }

    pub(crate) fn is_in_range(&self) -> bool {
        self.in_range
    }

    pub(crate) fn is_trim(&self) -> bool {
        self.op == Op::Trim && self.in_range
    }

    pub(crate) fn has_fua(&self) -> bool {
        self.fua
    }

    pub(crate) fn placement(&self) -> u8 {
        self.placement
    }

    pub(crate) fn compressible_percent(&self) -> u8 {
        self.compressible_percent
    }

    #[inline]
    pub(crate) fn route(&self) -> Route {
        self.route
    }

    pub(crate) fn status(&self) -> Status {
        self.status
    }

    /// It ends so, as far as is known.
    pub(crate) fn ends(&mut self, status: Status) {
        self.status = status;
    }

    /// It begins to wait for the flash.
    pub(crate) fn begins_to_wait(&mut self, now: Nanos) {
        self.began = now;
    }

    /// Since when it has waited for the flash; never where it does not.
    pub(crate) fn waits_since(&self) -> Nanos {
        self.began
    }

    /// The first unit whose map entry has not been looked up.
    pub(crate) fn cursor(&self) -> u32 {
        self.lpn + self.looked_up
    }

    /// All map entries below that of a unit have been looked up.
    pub(crate) fn looked_up_to(&mut self, lpn: u32) {
        self.looked_up = lpn - self.lpn;
    }

    /// It waits for a number of further reads, or pages of the map.
    pub(crate) fn awaits(&mut self, pieces: u32) {
        self.pending += pieces;
    }

    /// One of them has come.
    pub(crate) fn piece_came(&mut self) {
        self.pending -= 1;
    }

    /// None of them is still to come.
    #[inline]
    pub(crate) fn has_all_pieces(&self) -> bool {
        self.pending == 0
    }

    /// Units that have not been sent for, or not gone out.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.units - self.sent
    }

    /// An equal share of them for each piece that is still to come, and the one that has.
    pub(crate) fn share(&self) -> u32 {
        self.left().div_ceil(self.pending + 1)
    }

    /// Bytes of the next `count` units that cross the link, and whether they are its first.
    #[inline]
    pub(crate) fn next_bytes(&self, count: u32, unit_bytes: u32) -> (u64, bool) {
        let first = self.sent == 0;
        let unit = u64::from(unit_bytes);
        if self.whole_units {
            return (u64::from(count) * unit, first);
        }
        let Range { start, end } = self.byte_range();
        let from = (u64::from(self.lpn) + u64::from(self.sent)) * unit;
        let to = (from + u64::from(count) * unit).min(end);
        // Where the command ends within its last unit, nothing may be left of it once all units are
        // out.
        (to.saturating_sub(from.max(start)), first)
    }

    /// They go out, and are out at a time.
    pub(crate) fn went_out(&mut self, count: u32, crossed: Nanos) {
        self.sent += count;
        self.crossed = crossed;
    }

    /// When the last byte so far has crossed the link.
    pub(crate) fn crossed(&self) -> Nanos {
        self.crossed
    }

    /// A write of whole units within the drive that is done when it is in the buffer.
    fn is_plain_write(&self) -> bool {
        let is_whole = self.in_range && self.whole_units && self.units > 0;
        self.op == Op::Write && is_whole && !self.fua
    }
}

/// A burst of a write's data in the buffer.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) slot: u32,
    pub(crate) lpn: u32,
    pub(crate) reserved: Reserved,
    /// The command has no more data to come.
    pub(crate) last: bool,
}

/// All commands inside the drive.
pub(crate) struct Commands {
    slots: Vec<Command>,
    vacant: Vec<u32>,
    /// Writes that wait for the buffer, first come first served. The last of them may be queued
    /// ahead, see [`Commands::queue_ahead`]; the first is not.
    incoming: Ring<u32>,
    /// What is set aside for the units that are crossing the link for the first of `incoming`.
    crossing: Option<Reserved>,
    /// A flush came while they were crossing: granules are padded when they have arrived.
    pad_on_arrival: bool,
    /// Writes and flushes that wait until every host granule below a number is programmed.
    durable: VecDeque<(u64, u32)>,
    /// Flushes that are programmed together.
    flushes: Flushes,
    takes_turns: bool,
    programming: bool,
    /// Taking turns: what has been received and not yet placed.
    received: Vec<Piece>,
    /// A sector's number, shifted right by so much, is its unit's: units are powers of two.
    unit_shift: u32,
    coming: Coming,
    /// Most units that come over the link before the buffer is looked at again.
    burst_units: u32,
}

flashtwin_base::state! { Commands {
    kept: pad_on_arrival, programming;
    built: slots, vacant, incoming, crossing, durable, flushes, takes_turns, received,
        unit_shift, coming, burst_units;
} }

/// The command in a slot.
impl Index<u32> for Commands {
    type Output = Command;

    #[inline(always)]
    fn index(&self, slot: u32) -> &Command {
        &self.slots[slot as usize]
    }
}

impl IndexMut<u32> for Commands {
    #[inline(always)]
    fn index_mut(&mut self, slot: u32) -> &mut Command {
        &mut self.slots[slot as usize]
    }
}

/// Commands come and end.
impl Commands {
    pub(crate) fn new(queue_depth: u32, overlap: bool, unit_bytes: u32) -> Commands {
        Commands {
            slots: Vec::with_capacity(queue_depth as usize),
            vacant: Vec::with_capacity(queue_depth as usize),
            incoming: Ring::new(),
            crossing: None,
            pad_on_arrival: false,
            durable: VecDeque::with_capacity(queue_depth as usize),
            flushes: Flushes::default(),
            takes_turns: !overlap,
            programming: false,
            received: Vec::new(),
            unit_shift: unit_bytes.trailing_zeros() - SECTOR_BYTES.trailing_zeros(),
            coming: Coming::default(),
            burst_units: BURST_BYTES / unit_bytes,
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, request: Request, in_range: bool) -> u32 {
        let shift = self.unit_shift;
        // The sum may overflow in a request past the end of the drive, which is refused later: what
        // is computed from it here is not used then.
        let end = request.lba.wrapping_add(u64::from(request.sectors));
        let lpn = request.lba >> shift;
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Command::VACANT);
            self.slots.len() as u32 - 1
        });
        // Written in place: a copy would stall until each field has reached the cache.
        self.slots[slot as usize] = Command {
            tag: request.tag,
            op: request.op,
            lba: request.lba,
            lpn: lpn as u32,
            units: (end.wrapping_add((1 << shift) - 1) >> shift).wrapping_sub(lpn) as u32,
            sent: 0,
            looked_up: 0,
            bytes: u64::from(request.sectors) * SECTOR_BYTES,
            whole_units: (request.lba | end) & ((1 << shift) - 1) == 0,
            route: Route::Cache,
            in_range,
            pending: 0,
            crossed: Nanos::ZERO,
            understood: UNDERSTOOD,
            began: Nanos::NEVER,
            fua: request.fua,
            compressible_percent: request.compressible_percent,
            placement: request.placement,
            status: Status::Ok,
        };
        slot
    }

    /// The unit that a sector of the host's lies in.
    #[inline]
    pub(crate) fn unit_at(&self, lba: u64) -> u32 {
        (lba >> self.unit_shift) as u32
    }

    /// A command has ended well; the answer is its tag.
    #[inline(always)]
    pub(crate) fn end(&mut self, slot: u32) -> u32 {
        self.vacant.push(slot);
        self[slot].tag
    }

    /// Puts a request into the slot of a write of one whole unit, the last that has ended, where it
    /// is another such write within the drive; false, and nothing is done, where it is not.
    #[inline(always)]
    pub(crate) fn again(&mut self, slot: u32, request: &Request) -> bool {
        let unit_sectors = 1 << self.unit_shift;
        let begins_unit = request.lba & (unit_sectors - 1) == 0;
        let alike = u64::from(request.sectors) == unit_sectors && begins_unit;
        if !alike || self.vacant.last() != Some(&slot) {
            return false;
        }
        self.vacant.pop();
        let lpn = self.unit_at(request.lba);
        let command = &mut self[slot];
        command.tag = request.tag;
        command.lba = request.lba;
        command.lpn = lpn;
        (command.sent, command.looked_up) = (0, 0);
        command.understood = UNDERSTOOD;
        command.compressible_percent = request.compressible_percent;
        command.placement = request.placement;
        true
    }

    /// The most commands that were outstanding at once since the power came.
    pub(crate) fn most_outstanding(&self) -> usize {
        self.slots.len()
    }

    /// The most units of a command in any slot.
    pub(crate) fn most_units(&self) -> u64 {
        let units = self.slots.iter().map(|command| u64::from(command.units));
        units.max().unwrap_or(0)
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "writes waiting {:?}, {:?} crossing, durable {:?}, {:?}, programming {}\n{:?}\n",
            self.incoming, self.crossing, self.durable, self.flushes, self.programming, self.slots
        )
    }
}

/// Writes wait, and their data crosses the link.
impl Commands {
    /// Most units that come over the link before the buffer is looked at again.
    pub(crate) fn burst_units(&self) -> u32 {
        self.burst_units
    }

    /// The drive receives until its buffer is full, and then programs all of it.
    #[inline]
    pub(crate) fn take_turns(&self) -> bool {
        self.takes_turns
    }

    /// Data may be sent for: none is crossing, and it is not the programs' turn.
    #[inline]
    pub(crate) fn may_receive(&self) -> bool {
        self.crossing.is_none() && !self.programming
    }

    /// From now on it is the programs' turn, or is not.
    pub(crate) fn set_programming(&mut self, programming: bool) {
        self.programming = programming;
    }

    pub(crate) fn is_programming(&self) -> bool {
        self.programming
    }

    /// A write waits, or its data has been sent for and is not placed yet.
    pub(crate) fn bring_more(&self) -> bool {
        self.crossing.is_some() || self.has_received() || !self.incoming.is_empty()
    }

    /// True where a write that arrived before the command `before`, or data that the link has
    /// brought already, will write the unit `lpn`.
    pub(crate) fn bring(&self, lpn: u32, before: u32) -> bool {
        let earlier = self.incoming.iter().take_while(|&&slot| slot != before);
        let queued = earlier.into_iter().any(|&slot| {
            let (first, units) = self[slot].span();
            lpn.wrapping_sub(first) < units
        });
        let within = |piece: &Piece| lpn.wrapping_sub(piece.lpn) < piece.reserved.units();
        queued || self.received.iter().any(within)
    }

    /// Padding is put off until what is crossing has arrived; false where nothing is.
    pub(crate) fn put_off_padding(&mut self) -> bool {
        self.pad_on_arrival |= self.crossing.is_some();
        self.crossing.is_some()
    }

    /// True, once, where padding was put off until data arrives.
    pub(crate) fn take_padding(&mut self) -> bool {
        std::mem::take(&mut self.pad_on_arrival)
    }

    /// A write of that route waits until its data is sent for.
    #[inline(always)]
    pub(crate) fn wait_for_data(&mut self, slot: u32, route: Route) {
        self[slot].route = route;
        self.incoming.push_back(slot);
    }

    /// The first write that waits.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<u32> {
        self.incoming.front().copied()
    }

    /// No write waits for its data.
    #[inline(always)]
    pub(crate) fn is_nothing_queued(&self) -> bool {
        self.incoming.is_empty()
    }

    /// How many writes wait.
    pub(crate) fn queued(&self) -> usize {
        self.incoming.len()
    }

    /// Units of a write's next burst.
    #[inline]
    pub(crate) fn burst_of(&self, slot: u32) -> u32 {
        self[slot].left().min(self.burst_units)
    }

    /// The first write's next burst is sent for.
    #[inline]
    pub(crate) fn send_for(&mut self, reserved: Reserved) {
        self.crossing = Some(reserved);
    }

    /// The burst that is crossing has arrived.
    pub(crate) fn arrive(&mut self) -> Option<Piece> {
        let reserved = self.crossing.take()?;
        let slot = self.first_waiting()?;
        let command = &mut self[slot];
        let lpn = command.lpn + command.sent;
        command.sent += reserved.units();
        let last = command.left() == 0;
        if last {
            self.take_incoming();
        }
        Some(Piece {
            slot,
            lpn,
            reserved,
            last,
        })
    }

    /// The first of the writes that wait is done with, or refused.
    #[inline]
    pub(crate) fn take_incoming(&mut self) {
        self.incoming.pop_front();
        self.flushes.write_taken();
        self.coming.write_taken();
    }

    /// Keeps a piece that the link has brought; the firmware places all of them when it stops
    /// receiving.
    pub(crate) fn keep_received(&mut self, piece: Piece) {
        self.received.push(piece);
    }

    pub(crate) fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// All that has been received is going to be placed. The emptied list comes back with
    /// [`Commands::reuse_received`].
    pub(crate) fn take_received(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.received)
    }

    pub(crate) fn reuse_received(&mut self, emptied: Vec<Piece>) {
        self.received = emptied;
    }

    /// A command is answered when all that was begun below a number is programmed.
    pub(crate) fn wait_for_programs(&mut self, sequence: u64, slot: u32) {
        self.durable.push_back((sequence, slot));
    }

    #[inline]
    pub(crate) fn any_wait_for_programs(&self) -> bool {
        !self.durable.is_empty()
    }

    /// The first command that has waited for programs, where all below `oldest` have ended.
    pub(crate) fn take_durable(&mut self, oldest: u64) -> Option<u32> {
        let &(sequence, slot) = self.durable.front()?;
        if sequence > oldest {
            return None;
        }
        self.durable.pop_front();
        Some(slot)
    }

    /// Flushes, and writes that are answered with them.
    pub(crate) fn flushes(&self) -> &Flushes {
        &self.flushes
    }

    pub(crate) fn flushes_mut(&mut self) -> &mut Flushes {
        &mut self.flushes
    }

    /// All writes that were queued before the group under way have been placed: from now on it
    /// waits for the flash, and for no other command of the host.
    pub(crate) fn group_begins_to_wait(&mut self, now: Nanos) {
        for &slot in self.flushes.group() {
            self.slots[slot as usize].begins_to_wait(now);
        }
    }
}

/// The short ways of writes of one unit.
impl Commands {
    /// What has arrived, where it is the whole of a write of one whole unit that is done when it is
    /// in the buffer: its slot, what is set aside for it, and its unit. It waits no more.
    #[inline(always)]
    pub(crate) fn arrives_whole(&mut self) -> Option<(u32, Reserved, u32)> {
        let &slot = self.incoming.front()?;
        let command = &self[slot];
        let plain = command.units == 1 && command.whole_units && !command.fua;
        if !plain || self.pad_on_arrival || self.flushes.wait_for_writes() {
            return None;
        }
        let lpn = command.lpn;
        let reserved = self.crossing.take()?;
        self.take_incoming();
        Some((slot, reserved, lpn))
    }

    /// The placement handle of a write of one whole unit within the drive; none of other commands.
    #[inline(always)]
    pub(crate) fn one_unit_of(&self, slot: u32) -> Option<u8> {
        let command = &self[slot];
        let is_single_unit = command.op == Op::Write && command.units == 1 && command.whole_units;
        (is_single_unit && command.in_range).then_some(command.placement)
    }

    /// Whether a write that has just been sent to the drive may be queued before it is understood:
    /// nothing else is outstanding but writes that wait.
    #[inline(always)]
    pub(crate) fn may_queue_ahead(&self) -> bool {
        let waiting = self.incoming.len();
        waiting >= FEW_WAIT && self.outstanding() == waiting + 1
    }

    /// Queues a write that the cache may take ahead of the moment at which the firmware has
    /// understood it. Its turn comes later still, as a rule: then nothing is noticed of it, and an
    /// event is saved.
    #[inline(always)]
    pub(crate) fn queue_ahead(&mut self, slot: u32, understood: (Nanos, u64)) {
        self[slot].understood = understood;
        self.wait_for_data(slot, Route::Cache);
    }

    /// Whether the first write that waits was queued ahead and comes to its turn too early.
    #[inline(always)]
    pub(crate) fn is_first_ahead(&self, now: Nanos) -> bool {
        let first = self.incoming.front();
        first.is_some_and(|&slot| is_ahead(self[slot].understood, now))
    }

    /// Takes the last of the writes that wait, where it was queued ahead and is not understood yet;
    /// with it comes what it was queued with.
    pub(crate) fn take_back(&mut self, now: Nanos) -> Option<(u32, (Nanos, u64))> {
        let slot = *self.incoming.back()?;
        let understood = &mut self.slots[slot as usize].understood;
        if !is_ahead(*understood, now) {
            return None;
        }
        self.incoming.pop_back();
        Some((slot, std::mem::replace(understood, UNDERSTOOD)))
    }
}

/// A host that only fills the drive.
impl Commands {
    /// True while more than one unit crosses the link.
    #[inline(always)]
    pub(crate) fn is_run(&self) -> bool {
        self.crossing.as_ref().is_some_and(|r| r.units() > 1)
    }

    /// What waits does so for its data, and for no more than its turn.
    pub(crate) fn only_receive(&self) -> bool {
        let waits = self.takes_turns || self.programming || self.pad_on_arrival;
        !waits && self.received.is_empty() && self.durable.is_empty() && self.flushes.are_none()
    }

    /// The burst that has arrived: its command, what is set aside for it, its first unit and
    /// whether it is the command's last. None where its command is not answered from the buffer, or
    /// where nothing waits behind it.
    #[inline(always)]
    pub(crate) fn arrived_burst(&self) -> Option<(u32, &Reserved, u32, bool)> {
        let slot = self.first_waiting()?;
        let command = &self[slot];
        let reserved = self.crossing.as_ref()?;
        let is_last = command.sent + reserved.units() == command.units;
        let waits_last = is_last && self.incoming.len() == 1;
        let goes_on = !command.fua && !waits_last;
        goes_on.then_some((slot, reserved, command.lpn + command.sent, is_last))
    }

    /// It is taken in.
    #[inline(always)]
    pub(crate) fn take_burst(&mut self, slot: u32, is_last: bool) -> Option<Reserved> {
        let reserved = self.crossing.take()?;
        self[slot].sent += reserved.units();
        if is_last {
            self.take_incoming();
        }
        Some(reserved)
    }

    /// Of the first write that waits, where none is crossing and it waits for nothing else: its
    /// slot, and the units of its next burst.
    #[inline(always)]
    pub(crate) fn next_burst(&self) -> Option<(u32, u32)> {
        let slot = self.first_waiting()?;
        if self.crossing.is_some() || !self[slot].has_all_pieces() {
            return None;
        }
        Some((slot, self.burst_of(slot)))
    }

    /// The placement handle of a write of whole units within the drive that is answered from the
    /// buffer; none of other commands.
    #[inline(always)]
    pub(crate) fn plain_write(&self, slot: u32) -> Option<u8> {
        let command = &self[slot];
        command.is_plain_write().then_some(command.placement)
    }
}
