//! The ways in which a write of the host may go.
//!
//! **The long way** is right for every drive. [`Ftl::decide`] says which stream takes the next data
//! of a route and how much of it; it notes where it finds that the cache has become full or can be
//! used again. [`Ftl::reserve`] sets buffer aside for that data and, if the open superblock has not
//! enough room for it, a free superblock. What it hands out is used up by [`Ftl::append_host`] when
//! the data has arrived. The decision holds until then: the data goes to that stream as long as
//! there is room in it, whatever has become of the cache in between. Only if a burst is longer than
//! the room that a full cache has left, the rest of the burst is decided anew. A decision for
//! [`Stream::Direct`] holds room in native blocks; which open native superblock each unit shares
//! there is said by [`super::separation`] as it is placed, because the age of the copy that it
//! replaces is known then.
//!
//! **The short ways** do what the long one would do, without asking again what cannot have changed.
//! Each is left for the long way as soon as its condition does not hold:
//!
//! - [`Ftl::reserve_at_once`] takes the place of deciding and reserving. Left where there is a
//!   cache or a paged map, data is compressed, a mover or collection holds the host, or the burst
//!   does not fit into the buffer and the open superblock.
//! - `append_unit` takes the place of `append_run` for a burst of one unit. Left where data is
//!   compressed or power cuts are on.
//! - [`Ftl::place_units`] takes the place of reserving and appending for many bursts of one unit,
//!   on a drive that [`Ftl::places_units_together`]. Left at the end of the granule, of the buffer
//!   and of what the host may be ahead of collection, and where collection has a row to read or a
//!   superblock to erase.
//! - [`Ftl::fill`] takes the place of reserving, appending and the end of the program, on a drive
//!   that [`Ftl::only_fills`]. Left where a unit holds something already ([`Ftl::is_filled_by`]),
//!   at the end of the open superblock, and where one is empty again ([`Ftl::granule_filled`]).

use super::Ftl;
use crate::layout::NONE;
use crate::lifetimes::Lifetimes;
use crate::mover::Work;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::policy::Separation;
use crate::slc_cache::Route;
use crate::streams::Stream;
use crate::write_buffer::Flight;

/// Where the next data of a route goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    route: Route,
    stream: Stream,
    room: u32,
}

impl Placement {
    /// Units that the host may hand over now.
    #[must_use]
    pub fn room(&self) -> u32 {
        self.room
    }
}

/// Buffer and flash that are set aside for data on its way. To be handed to
/// [`Ftl::append_host`] with the data.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Reserved {
    route: Route,
    stream: Stream,
    units: u32,
}

impl Reserved {
    /// Units that it is for.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.units
    }

    /// Whether it was decided for a stream.
    #[inline]
    pub(super) fn is_for(&self, stream: Stream) -> bool {
        self.stream == stream
    }

    /// The part of it that is for its first units.
    pub(super) fn take(&mut self, units: u32) -> Reserved {
        self.units -= units;
        Reserved { units, ..*self }
    }
}

impl<P: Policies> Ftl<P> {
    /// Where the next data of a route goes, and how much of it may come now; none where the host
    /// has to wait for a program, a fold or a collection.
    #[inline]
    pub fn decide(&mut self, route: Route) -> Option<Placement> {
        let buffer = self.buffer_free();
        let held = self.movers[Work::Fold].holds_host()
            || self.movers[Work::Collect].holds_host()
            || self.paged.holds();
        if buffer == 0 || held || self.collection.halts_host() {
            return None;
        }
        let stream = self.host_stream(route);
        let awaited = &self.writing.buffer.awaited();
        let can_open = awaited.promised_to(stream) > 0 || self.may_open(stream);
        let left = self.writing[stream].left();
        let left = left.saturating_sub(awaited.coming_to(stream));
        self.writing.set_starved(!can_open && left == 0);
        let room = if can_open { buffer } else { buffer.min(left) };
        (room > 0).then_some(Placement {
            route,
            stream,
            room,
        })
    }

    /// Whether a mover holds the host back and nothing but its work is missing: there is buffer,
    /// and superblocks can be opened, so that [`Ftl::decide`] has nothing to set going either.
    #[inline]
    #[must_use]
    pub fn makes_host_wait(&self) -> bool {
        (self.movers[Work::Collect].holds_host() || self.movers[Work::Fold].holds_host())
            && !self.writing.is_starved()
            && self.buffer_free() > 0
            && !self.is_read_only()
    }

    /// What keeps the host's data waiting, in words.
    #[must_use]
    pub fn what_holds_host(&self) -> &'static str {
        let collects = self.movers[Work::Collect].holds_host() || self.collection.halts_host();
        let folds = self.movers[Work::Fold].holds_host();
        let works = |source: u32, waits: bool| source != NONE || waits;
        let collecting = works(
            self.movers[Work::Collect].source(),
            self.movers[Work::Collect].waiting(),
        );
        let folding = works(
            self.movers[Work::Fold].source(),
            self.movers[Work::Fold].waiting(),
        );
        let starved = self.writing.is_starved();
        match (
            starved && collecting || collects,
            starved && folding || folds,
        ) {
            (true, true) => "collection and folding",
            (true, false) => "collection",
            (false, true) => "folding",
            (false, false) if starved => "a free superblock",
            (false, false) if self.is_map_paged() => "programs or pages of the map",
            (false, false) => "programs",
        }
    }

    /// The stream that takes the next host data of a route.
    #[inline]
    fn host_stream(&mut self, route: Route) -> Stream {
        match route {
            Route::Cache if self.cache.is_on() => {
                let (cache, seen) = self.cache_and_seen();
                cache.stream(&seen)
            }
            Route::Cache | Route::Direct => Stream::Direct,
            Route::Handle(handle) => self.handle_stream(handle),
        }
    }

    /// The stream of a placement handle, or the first one's where a superblock cannot be opened for
    /// it: so no handle can make a drive stick, and at the edge of the reserve they are mixed.
    fn handle_stream(&self, handle: u8) -> Stream {
        let stream = Stream::of_host(handle);
        let awaited = &self.writing.buffer.awaited();
        let left = self.writing[stream].left() > awaited.coming_to(stream);
        let opens = awaited.promised_to(stream) > 0 || self.may_open(stream);
        if left || opens {
            stream
        } else {
            Stream::Direct
        }
    }

    /// Whether a superblock that is set aside for nobody may be opened for host data.
    #[inline]
    fn may_open(&self, stream: Stream) -> bool {
        match stream {
            Stream::Cache => self.cache.openable(&self.seen()) > 0,
            Stream::Tier => self.cache.tier_may_open(&self.seen()),
            _ => self.seen().direct_openable(stream),
        }
    }

    /// Sets buffer aside for units that the host is sending, no more than there is room for, and a
    /// free superblock where they do not fit into the open one: no mover takes it before they
    /// arrive.
    #[inline]
    pub fn reserve(&mut self, placement: Placement, units: u32) -> Reserved {
        let Placement { route, stream, .. } = placement;
        debug_assert!(units <= placement.room, "{units} units, {placement:?}");
        self.writing.buffer.take(units);
        self.writing.buffer.awaited_mut().reserve(stream, units);
        self.set_aside(stream);
        Reserved {
            route,
            stream,
            units,
        }
    }

    /// [`Ftl::decide`] and [`Ftl::reserve`] in one where nothing is in question: without a cache
    /// all goes to one open superblock, and the units fit into it and into the buffer. None, and
    /// nothing is set aside, where the two have to be asked.
    #[inline]
    pub fn reserve_at_once(&mut self, route: Route, units: u32) -> Option<Reserved> {
        let free = self.writing.buffer.free();
        let held = self.movers[Work::Fold].holds_host()
            || self.movers[Work::Collect].holds_host()
            || self.paged.is_on();
        let stream = match route {
            Route::Cache | Route::Direct => Stream::Direct,
            Route::Handle(handle) => Stream::of_host(handle),
        };
        let s = &self.writing[stream];
        if self.cache.is_on()
            || held
            || self.collection.halts_host()
            || s.ratio > 1
            || units > free
            || self.writing.buffer.awaited().units() + units > s.left()
        {
            return None;
        }
        self.writing.set_starved(false);
        self.writing.buffer.take(units);
        self.writing.buffer.awaited_mut().reserve(stream, units);
        Some(Reserved {
            route,
            stream,
            units,
        })
    }

    /// The stream for reserved data that has arrived: the one that was decided, as long as it has a
    /// place.
    #[inline]
    fn stream_for(&mut self, reserved: &Reserved) -> Stream {
        let stream = reserved.stream;
        if stream.is_direct() || self.writing[stream].left() > 0 || self.may_open(stream) {
            return stream;
        }
        self.host_stream(reserved.route)
    }

    /// Data has gone to another stream than had been decided, and may have taken places there of
    /// other data that is coming: that gets a superblock instead.
    #[inline]
    fn keep_places(&mut self, reserved: &Reserved, stream: Stream) {
        if stream != reserved.stream {
            self.set_aside(stream);
        }
    }

    /// What was set aside is not needed: the data took the place of other data.
    fn give_back(&mut self, reserved: Reserved) {
        self.writing.buffer.give_back(reserved.units);
        self.writing
            .buffer
            .awaited_mut()
            .commit(reserved.stream, reserved.units);
    }

    /// Takes units from the host into the streams that were decided.
    #[inline]
    pub fn append_host(&mut self, reserved: Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        if self.policy.coalesce {
            self.coalesce(reserved, lpn, ops);
        } else {
            self.place_host(reserved, lpn, ops);
        }
    }

    /// Whether new data for a unit can take the place of the old in RAM.
    fn is_replaceable(&self, lpn: u32) -> bool {
        let ppn = self.map.physical[lpn as usize];
        ppn != NONE
            && (!self.compresses() || self.packing.is_as_large(ppn))
            && self.writing.can_replace(&self.layout, &self.blocks, ppn)
    }

    /// Takes units from the host, see [`Ftl::append_host`]: those whose older data still waits in
    /// the buffer replace it there and give back what was set aside for them. Map, streams and
    /// movers do not notice; a power cut finds the newer data or none of the granule.
    #[cold]
    fn coalesce(&mut self, mut reserved: Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        let mut at = lpn;
        while reserved.units() > 0 {
            let end = at + reserved.units();
            let waits = self.is_replaceable(at);
            let alike = (at + 1..end).take_while(|&next| self.is_replaceable(next) == waits);
            let part = reserved.take(1 + alike.count() as u32);
            let next = at + part.units();
            if waits {
                self.replace_waiting(&part, at);
                self.give_back(part);
            } else {
                self.place_host(part, at, ops);
            }
            at = next;
        }
    }

    /// Newer data takes the place of what waits.
    fn replace_waiting(&mut self, part: &Reserved, lpn: u32) {
        let units = part.units();
        self.counters.host_units += u64::from(units);
        self.counters.coalesced_units += u64::from(units);
        for lpn in lpn..lpn + units {
            self.cuts.placed(lpn, self.map.physical[lpn as usize], 1);
        }
    }

    /// Whether writes of what still waits in the buffer take its place.
    #[inline]
    #[must_use]
    pub fn coalesces(&self) -> bool {
        self.policy.coalesce
    }

    /// Whether host data may take less room than what is reserved for it, compressed or in the
    /// place of what waits.
    #[must_use]
    pub fn takes_less(&self) -> bool {
        self.compresses() || self.coalesces()
    }

    /// Takes units from the host that take a place of their own.
    #[inline]
    fn place_host(&mut self, reserved: Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        let count = reserved.units;
        self.counters.host_units += u64::from(count);
        self.paged.entries_changed(lpn, count);
        let stream = if count == 1 && !self.layout.packs() && !self.cuts.is_on() {
            let mut stream = self.stream_for(&reserved);
            if stream == Stream::Direct {
                stream = self.direct_stream(lpn, 1).0;
            }
            self.append_unit(stream, lpn, ops);
            self.wrote(stream, lpn, 1);
            self.keep_places(&reserved, stream);
            stream
        } else {
            self.append_run(&reserved, lpn, ops)
        };
        self.writing
            .buffer
            .awaited_mut()
            .commit(reserved.stream, count);
        if self.cache.rule().shares {
            let (cache, seen) = self.cache_and_seen();
            cache.placed(&seen, stream, count);
        }
        self.owe(count);
        self.erase_dead(ops);
        if self.cuts.is_checkpoint_due(self.counters.host_units) {
            self.cuts.begin_checkpoint(
                self.writing.sequence(),
                &self.map,
                &self.blocks,
                &self.layout,
                &mut self.counters,
                ops,
            );
        }
        self.pump(ops);
    }

    /// Who infers lifetimes hears of all that the host writes.
    #[inline]
    fn wrote(&mut self, stream: Stream, lpn: u32, count: u32) {
        if let Separation::ByLifetime(_) = self.policy.gc.separation {
            let now = self.counters.host_units;
            self.policies.lifetimes().wrote(lpn, count, now);
            self.sharing.wrote(lpn, count, stream.is_direct());
        }
    }

    /// Places a run of units in the stream that was decided, or one after another in those that
    /// parts of it belong to; the answer is the last one.
    #[inline(never)]
    fn append_run(&mut self, reserved: &Reserved, lpn: u32, ops: &mut Vec<NandOp>) -> Stream {
        let (mut lpn, mut left) = (lpn, reserved.units);
        let mut stream = reserved.stream;
        while left > 0 {
            stream = self.stream_for(reserved);
            let mut alike = left;
            if stream == Stream::Direct {
                (stream, alike) = self.direct_stream(lpn, left);
            }
            let taken = self.append(stream, lpn, alike, ops);
            self.wrote(stream, lpn, taken);
            self.keep_places(reserved, stream);
            lpn += taken;
            left -= taken;
        }
        stream
    }

    /// The route of a write of a length with a placement handle; `run_bytes` says how long the
    /// sequential run is that it continues, itself included. A handle that the drive does not have
    /// is the first one, as is any where it has but one.
    #[inline]
    #[must_use]
    pub fn route(&self, bytes: u64, handle: u8, run_bytes: impl FnOnce() -> u64) -> Route {
        if handle > 0 && u32::from(handle) < self.policy.fdp.handles {
            return Route::Handle(handle);
        }
        if self.cache.admits(bytes, run_bytes) {
            Route::Cache
        } else {
            Route::Direct
        }
    }

    /// Whether writes with a placement handle go where the cache may take them, whatever their
    /// length is and what they continue: [`Ftl::route`] needs not be asked.
    #[inline]
    #[must_use]
    pub fn routes_alike(&self, handle: u8) -> bool {
        handle == 0 && self.cache.admits_all()
    }

    /// Placement handles that the host's writes may name.
    #[must_use]
    pub fn placement_handles(&self) -> u32 {
        self.policy.fdp.handles
    }

    /// The host has written units: what folding and collection now have to move for them is added
    /// to the debt of each mover.
    #[inline]
    pub(super) fn owe(&mut self, units: u32) {
        if self.cache.is_on() {
            let pace = self.cache.fold_pace_milli(&self.seen());
            self.movers[Work::Fold].owe(units, pace);
        }
        let pace = self.collect_pace_milli();
        self.movers[Work::Collect].owe(units, pace);
    }
}

/// Units that the host writes one by one while collection keeps its pace: all that changes then is
/// the map, up to the next granule that is full or the next row that collection wants to read.
impl<P: Policies> Ftl<P> {
    /// Whether [`Ftl::place_units`] can take units of this drive: no mechanism but collection takes
    /// part in where they go.
    #[must_use]
    pub fn places_units_together(&self) -> bool {
        !self.cache.is_on()
            && !self.layout.packs()
            && !self.policy.coalesce
            && matches!(self.policy.gc.separation, Separation::None | Separation::Gc)
            && !self.cuts.is_on()
            && !self.paged.is_on()
    }

    /// Places units that the host hands over one after another, as far as nothing else happens in
    /// between; the answer is how many. The first of them has to be asked for in another way where
    /// there are none.
    #[inline]
    pub fn place_units(&mut self, lpns: &[u32], ops: &mut Vec<NandOp>) -> usize {
        let most = lpns.len().min(self.undisturbed_units() as usize);
        if most == 0 {
            return 0;
        }
        let placed = self.point_units(&lpns[..most]);
        self.counters.host_units += u64::from(placed);
        self.writing.buffer.take(placed);
        self.advance_stream(Stream::Direct, placed, ops);
        let pace = self.collect_pace_milli();
        self.movers[Work::Collect].owe(placed, pace);
        self.erase_dead(ops);
        self.pump(ops);
        placed as usize
    }

    /// How many units the host may hand over before anything has to be looked at but the map: up to
    /// the end of the granule, the buffer or what the host may be ahead of collection, and to the
    /// first that makes collection read.
    #[inline]
    fn undisturbed_units(&self) -> u32 {
        let s = &self.writing[Stream::Direct];
        let buffer = &self.writing.buffer;
        let mover = &self.movers[Work::Collect];
        let asked = buffer.awaited().units() > 0 || mover.holds_host();
        if asked || !self.keeps_pace() || self.blocks.has_dead() {
            return 0;
        }
        let room = s.here().min((s.begun + s.granule).saturating_sub(s.next));
        let free = buffer.free();
        let programming = buffer.flying_of(Stream::Collected);
        let paid = mover.units_until_disturbed(self.collect_pace_milli(), programming);
        room.min(free).min(paid)
    }

    /// Points units at the next places of the host's open superblock; the answer is how many. It
    /// ends with the first that leaves a superblock without valid data, which is erased at once.
    #[inline]
    fn point_units(&mut self, lpns: &[u32]) -> u32 {
        let s = &self.writing[Stream::Direct];
        let (superblock, count) = (s.superblock, lpns.len() as u32);
        let first = self.layout.base(superblock) + s.next;
        // A unit may come twice: its first place is valid before the second one replaces it.
        self.map.set_valid_run(first, count);
        self.blocks[superblock].valid += count;
        let mut placed = 0;
        while placed < count && !self.blocks.has_dead() {
            let lpn = lpns[placed as usize];
            let old = self.map.move_to(lpn, first + placed);
            placed += 1;
            if old != NONE {
                let (map, cache) = (&mut self.map, &mut self.cache);
                self.blocks.invalidate_unit(map, cache, &self.layout, old);
            }
        }
        if placed < count {
            self.map.clear_valid_run(first + placed, count - placed);
            self.blocks[superblock].valid -= count - placed;
        }
        self.map.note_units(&lpns[..placed as usize], first);
        placed
    }
}

/// The first writing of a drive that has nothing else to do: units that hold nothing are written in
/// order, and no data has to be moved for them.
impl<P: Policies> Ftl<P> {
    /// Whether placing host data for the first time, and the end of its programs, sets nothing else
    /// going: there is no mechanism that takes part in it, and collection rests until another
    /// superblock is opened. The answer stays the same while only [`Ftl::fill`] and
    /// [`Ftl::granule_filled`] change the firmware.
    #[must_use]
    pub fn only_fills(&self) -> bool {
        let layout = &self.layout;
        self.places_units_together()
            && !layout.parity
            && !layout.paired
            && layout.groups == 1
            && layout.later_passes.is_none()
            && !self.health.may_fail()
            && self.moves_nothing()
    }

    /// Nothing is moved, erased or waited for.
    fn moves_nothing(&self) -> bool {
        let buffer = &self.writing.buffer;
        self.collection.works_alone()
            && self.collection_rests()
            && !self.movers[Work::Collect].waiting()
            && !self.movers[Work::Fold].waiting()
            && !self.blocks.has_stale()
            && !self.blocks.has_dead()
            && !self.is_read_only()
            && self.writing[Stream::Direct].moved == 0
            && buffer.in_flight() == buffer.flying_of(Stream::Direct) as usize
    }

    /// Whether data that has arrived is written for the first time, and leaves room in the open
    /// superblock: [`Ftl::fill`] may take it.
    #[inline]
    #[must_use]
    pub fn is_filled_by(&self, reserved: &Reserved, lpn: u32) -> bool {
        let units = reserved.units();
        let s = &self.writing[Stream::Direct];
        reserved.is_for(Stream::Direct)
            && units < s.stop - s.next
            && self.map.is_unwritten(lpn, units)
    }

    /// Takes units from the host that [`Ftl::is_filled_by`].
    #[inline]
    pub fn fill(&mut self, reserved: &Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        let units = reserved.units();
        self.counters.host_units += u64::from(units);
        let s = &self.writing[Stream::Direct];
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        let full = self.writing.fill(Stream::Direct, units);
        self.map.point(lpn, ppn, units);
        self.map.expect_run(lpn + units, ppn + units, units);
        self.blocks[superblock].valid += units;
        self.writing
            .buffer
            .awaited_mut()
            .commit(Stream::Direct, units);
        if full {
            self.program_filled(ops);
        }
    }

    /// Issues the programs of the granules that are full.
    #[inline]
    fn program_filled(&mut self, ops: &mut Vec<NandOp>) {
        let writing = &mut self.writing;
        loop {
            let s = &writing[Stream::Direct];
            if s.begun + s.granule > s.next {
                return;
            }
            let (superblock, mode, granule) = (s.superblock, s.mode, s.granule);
            let (stripe, die) = self.layout.stripe_of(mode, s.begun);
            let page = if self.layout.one_shot {
                0
            } else {
                self.layout.place(mode, superblock, s.begun).1
            };
            let flight = Flight {
                first: self.layout.base(superblock) + s.begun,
                units: granule,
                superblock,
                host_units: granule,
                begun: false,
                moved: 0,
                stream: Stream::Direct,
                sequence: s.sequence,
                host_sequence: s.host_sequence,
                source: NONE,
                die: die as u16,
                stripe,
            };
            let place = writing.buffer.launch(flight);
            ops.push(NandOp::new(
                die as u16,
                self.layout.program_class(mode, page),
                granule as u16,
                writing.passes.first_token(mode, page, place),
            ));
            self.counters.direct_units += u64::from(granule);
            self.blocks[superblock].in_flight += 1;
            writing.end_granule(Stream::Direct);
        }
    }

    /// A program of host data has ended; false, and nothing has happened, where its superblock has
    /// to be looked at, for [`Ftl::finish`] to do.
    #[inline]
    #[must_use]
    pub fn granule_filled(&mut self, place: u32) -> bool {
        let superblock = self.writing.buffer.flight(place).superblock;
        let block = &mut self.blocks[superblock];
        if block.valid == 0 {
            return false;
        }
        block.in_flight -= 1;
        self.writing.buffer.land(place);
        true
    }

    /// Whether a burst has to wait for the programs under way, which make room for it in the
    /// buffer.
    #[inline]
    #[must_use]
    pub fn waits_for_programs(&self, units: u32) -> bool {
        let buffer = &self.writing.buffer;
        let s = &self.writing[Stream::Direct];
        let free = self.buffer_free();
        let coming = buffer.awaited().units();
        units > free && coming + units <= s.left() && units <= free + self.buffer_programming()
    }
}
