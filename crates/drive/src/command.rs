//! Host commands: what each one waits for, from the firmware's look at it to its answer.
//!
//! This file has what all commands share, from the look to the answer; `write`, `flush` and `read`
//! have what each kind does between. Where the map is not all in RAM, a command goes on page by
//! page of the map (see `lookup`).
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

pub(crate) mod coming;
pub(crate) mod flush;

use std::collections::VecDeque;

use flashtwin_base::ring::Ring;
use flashtwin_base::{Nanos, Op, Request, Status};
use flashtwin_ftl::Reserved;
use flashtwin_ftl::Route;

use crate::trim::Alone;

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
    pub(crate) tag: u32,
    pub(crate) op: Op,
    pub(crate) lba: u64,
    /// First mapping unit, and how many are touched.
    pub(crate) lpn: u32,
    pub(crate) units: u32,
    /// Units of a write that have been sent for, or of a read that have gone out.
    pub(crate) sent: u32,
    /// Units whose map entries have been looked up.
    pub(crate) looked_up: u32,
    pub(crate) bytes: u64,
    /// Whether it covers each of its units completely.
    pub(crate) whole_units: bool,
    /// Of a write: whether the cache may take it.
    pub(crate) route: Route,
    /// Whether it ends within the drive. Otherwise the fields above have no meaning.
    pub(crate) in_range: bool,
    /// Flash reads that have not come back.
    pub(crate) pending: u32,
    /// When the last byte so far has crossed the link.
    pub(crate) crossed: Nanos,
    /// Of a write that is queued ahead: when the firmware has understood it, and the number of that
    /// event. Of all others the beginning of time.
    understood: (Nanos, u64),
    /// Of a read, a flush and a write that waits for its programs: when it began to wait for the
    /// flash. Of all others never.
    pub(crate) began: Nanos,
    /// Done only when it is on flash.
    pub(crate) fua: bool,
    /// How much smaller its data can be made.
    pub(crate) compressible_percent: u8,
    /// The placement handle of its data.
    pub(crate) placement: u8,
    /// How it ends, as far as is known.
    pub(crate) status: Status,
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
        understood: (Nanos::ZERO, 0),
        began: Nanos::NEVER,
        fua: false,
        compressible_percent: 0,
        placement: 0,
        status: Status::Ok,
    };

    /// Bytes of the command that lie in `count` of its units from the one numbered `first` on.
    #[inline]
    pub(crate) fn bytes_of(&self, first: u32, count: u32, unit_bytes: u32) -> u64 {
        let unit = u64::from(unit_bytes);
        if self.whole_units {
            return u64::from(count) * unit;
        }
        let begin = self.lba * SECTOR_BYTES;
        let from = (u64::from(self.lpn) + u64::from(first)) * unit;
        let to = (from + u64::from(count) * unit).min(begin + self.bytes);
        // Where the command ends within its last unit, nothing may be left of it once all units are
        // out.
        to.saturating_sub(from.max(begin))
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
    pub(crate) slots: Vec<Command>,
    pub(crate) vacant: Vec<u32>,
    /// Writes that wait for the buffer, first come first served. The last of them may be queued
    /// ahead, see [`Commands::queue_ahead`]; the first is not.
    pub(crate) incoming: Ring<u32>,
    /// What is set aside for the units that are crossing the link for the first of `incoming`.
    pub(crate) crossing: Option<Reserved>,
    /// A flush came while they were crossing: granules are padded when they have arrived.
    pub(crate) pad_on_arrival: bool,
    /// Writes and flushes that wait until every host granule below a number is programmed.
    pub(crate) durable: VecDeque<(u64, u32)>,
    /// Flushes that are programmed together.
    pub(crate) flushes: Flushes,
    pub(crate) takes_turns: bool,
    pub(crate) programming: bool,
    /// Taking turns: what has been received and not yet placed.
    pub(crate) received: Vec<Piece>,
    /// A sector's number, shifted right by so much, is its unit's: units are powers of two.
    unit_shift: u32,
    pub(crate) coming: Coming,
    /// Most units that come over the link before the buffer is looked at again.
    pub(crate) burst_units: u32,
    pub(crate) alone: Alone,
}

flashtwin_base::state! { Commands {
    kept: pad_on_arrival, programming, alone;
    built: slots, vacant, incoming, crossing, durable, flushes, takes_turns, received,
        unit_shift, coming, burst_units;
} }

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
            alone: Alone::default(),
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// Most units that come over the link before the buffer is looked at again.
    pub(crate) fn burst_units(&self) -> u32 {
        self.burst_units
    }

    /// Nothing is being programmed any more: receiving may begin.
    pub(crate) fn restart_turns(&mut self) {
        self.programming = false;
    }

    /// A write waits, or its data has been sent for and is not placed yet.
    pub(crate) fn bring_more(&self) -> bool {
        self.crossing.is_some() || !self.received.is_empty() || !self.incoming.is_empty()
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
            understood: (Nanos::ZERO, 0),
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

    /// The first unit of a command whose map entry has not been looked up.
    pub(crate) fn cursor(&self, slot: u32) -> u32 {
        let command = &self.slots[slot as usize];
        command.lpn + command.looked_up
    }

    /// A command waits for a page of the map.
    pub(crate) fn wait_for_map(&mut self, slot: u32) {
        self.slots[slot as usize].pending += 1;
    }

    /// What has arrived, where it is the whole of a write of one whole unit that is done when it is
    /// in the buffer: its slot, what is set aside for it, and its unit. It waits no more.
    #[inline(always)]
    pub(crate) fn arrives_whole(&mut self) -> Option<(u32, Reserved, u32)> {
        let &slot = self.incoming.front()?;
        let command = &self.slots[slot as usize];
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
        let command = &self.slots[slot as usize];
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
        self.slots[slot as usize].understood = understood;
        self.waits_for_data(slot);
    }

    /// Whether the first write that waits was queued ahead and comes to its turn too early.
    #[inline(always)]
    pub(crate) fn is_first_ahead(&self, now: Nanos) -> bool {
        let first = self.incoming.front();
        first.is_some_and(|&slot| self.slots[slot as usize].understood.0 >= now)
    }

    /// Takes the last of the writes that wait, where it was queued ahead and is not understood yet;
    /// with it comes what it was queued with.
    pub(crate) fn take_back(&mut self, now: Nanos) -> Option<(u32, (Nanos, u64))> {
        let slot = *self.incoming.back()?;
        let understood = &mut self.slots[slot as usize].understood;
        if understood.0 < now {
            return None;
        }
        self.incoming.pop_back();
        Some((slot, std::mem::take(understood)))
    }

    /// A write that the cache may take waits until its data is sent for.
    #[inline(always)]
    pub(crate) fn waits_for_data(&mut self, slot: u32) {
        self.slots[slot as usize].route = Route::Cache;
        self.incoming.push_back(slot);
    }

    /// A command has ended well; the answer is its tag.
    #[inline(always)]
    pub(crate) fn end(&mut self, slot: u32) -> u32 {
        self.vacant.push(slot);
        self.slots[slot as usize].tag
    }

    /// No write waits for its data.
    #[inline(always)]
    pub(crate) fn is_nothing_queued(&self) -> bool {
        self.incoming.is_empty()
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
        let command = &mut self.slots[slot as usize];
        command.tag = request.tag;
        command.lba = request.lba;
        command.lpn = (request.lba >> self.unit_shift) as u32;
        (command.sent, command.looked_up) = (0, 0);
        command.understood = (Nanos::ZERO, 0);
        command.compressible_percent = request.compressible_percent;
        command.placement = request.placement;
        true
    }

    /// What waits, its units, and since when.
    pub(crate) fn wait_of(&self, slot: u32) -> (Op, u32, Nanos) {
        let command = &self.slots[slot as usize];
        (command.op, command.units, command.began)
    }

    /// The most commands that were outstanding at once since the power came.
    pub(crate) fn most_outstanding(&self) -> u64 {
        self.slots.len() as u64
    }

    /// The most units of a command in any slot.
    pub(crate) fn most_units(&self) -> u64 {
        let units = self.slots.iter().map(|command| u64::from(command.units));
        units.max().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn status(&self, slot: u32) -> Status {
        self.slots[slot as usize].status
    }

    #[inline]
    pub(crate) fn is_trim(&self, slot: u32) -> bool {
        let command = &self.slots[slot as usize];
        command.op == Op::Trim && command.in_range
    }

    pub(crate) fn sectors(&self, slot: u32) -> u32 {
        (self.slots[slot as usize].bytes / SECTOR_BYTES) as u32
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "writes waiting {:?}, {:?} crossing, durable {:?}, {:?}, programming {}\n{:?}\n",
            self.incoming, self.crossing, self.durable, self.flushes, self.programming, self.slots
        )
    }
}

/// Of a host that only fills the drive.
impl Commands {
    /// Whether what is crossing the link is more than a unit.
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
        let &slot = self.incoming.front()?;
        let command = &self.slots[slot as usize];
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
        self.slots[slot as usize].sent += reserved.units();
        if is_last {
            self.take_incoming();
        }
        Some(reserved)
    }

    /// Of the first write that waits, where none is crossing and it waits for nothing else: its
    /// slot, and the units of its next burst.
    #[inline(always)]
    pub(crate) fn next_burst(&self) -> Option<(u32, u32)> {
        let &slot = self.incoming.front()?;
        let command = &self.slots[slot as usize];
        if self.crossing.is_some() || command.pending > 0 {
            return None;
        }
        Some((slot, (command.units - command.sent).min(self.burst_units)))
    }
}
