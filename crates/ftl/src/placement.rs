//! Where what the host writes goes: decided once, reserved once, consumed once.
//!
//! [`Ftl::decide`] says which stream takes the next data of a route and how much of it; it notes
//! where it finds that the cache has become full or can be used again. [`Ftl::reserve`] sets buffer
//! aside for that data and, if the open superblock has not enough room for it, a free superblock.
//! What it hands out is used up by [`Ftl::append_host`] when the data has arrived. The decision
//! holds until then: the data goes to that stream as long as there is room in it, whatever has
//! become of the cache in between. Only if a burst is longer than the room that a full cache has
//! left, the rest of the burst is decided anew.
//!
//! A decision for [`Stream::Direct`] holds room in native blocks; which open native superblock each
//! unit shares there is said by [`crate::separation`] as it is placed, because the age of the copy
//! that it replaces is known then.

use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::lifetimes::Lifetimes;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::policy::Separation;
use crate::slc_cache::Route;
use crate::streams::Stream;

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
    pub(crate) fn is_for(&self, stream: Stream) -> bool {
        self.stream == stream
    }

    /// The part of it that is for its first units.
    pub(crate) fn take(&mut self, units: u32) -> Reserved {
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
        let held = self.cache.fold.holds_host()
            || self.collection.mover.holds_host()
            || self.paged.holds();
        if buffer == 0 || held || self.collection.memory.halts_host {
            return None;
        }
        let stream = self.host_stream(route);
        let awaited = &self.writing.buffer.awaited;
        let can_open = awaited.promised_to(stream) > 0 || self.may_open(stream);
        let left = self.writing.streams[stream].left();
        let left = left.saturating_sub(awaited.coming_to(stream));
        self.writing.starved = !can_open && left == 0;
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
        (self.collection.mover.holds_host() || self.cache.fold.holds_host())
            && !self.writing.starved
            && self.buffer_free() > 0
            && !self.is_read_only()
    }

    /// What keeps the host's data waiting, in words.
    #[must_use]
    pub fn what_holds_host(&self) -> &'static str {
        let collects = self.collection.mover.holds_host() || self.collection.memory.halts_host;
        let folds = self.cache.fold.holds_host();
        let works = |source: u32, waits: bool| source != NONE || waits;
        let collecting = works(
            self.collection.mover.source,
            self.collection.mover.waiting(),
        );
        let folding = works(self.cache.fold.source, self.cache.fold.waiting());
        let starved = self.writing.starved;
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
        let awaited = &self.writing.buffer.awaited;
        let left = self.writing.streams[stream].left() > awaited.coming_to(stream);
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
        self.writing.buffer.used_units += units;
        self.writing.buffer.awaited.reserve(stream, units);
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
        let free = self.writing.buffer.capacity_units - self.writing.buffer.used_units;
        let held = self.cache.fold.holds_host()
            || self.collection.mover.holds_host()
            || self.paged.is_on();
        let stream = match route {
            Route::Cache | Route::Direct => Stream::Direct,
            Route::Handle(handle) => Stream::of_host(handle),
        };
        let s = &self.writing.streams[stream];
        if self.cache.is_on()
            || held
            || self.collection.memory.halts_host
            || s.ratio > 1
            || units > free
            || self.writing.buffer.awaited.units() + units > s.left()
        {
            return None;
        }
        self.writing.starved = false;
        self.writing.buffer.used_units += units;
        self.writing.buffer.awaited.reserve(stream, units);
        Some(Reserved {
            route,
            stream,
            units,
        })
    }

    /// Sets a free superblock aside where what is coming to a stream does not fit into its open
    /// one.
    #[inline]
    fn set_aside(&mut self, stream: Stream) {
        let coming = self.writing.buffer.awaited.coming_to(stream);
        if coming > self.writing.streams[stream].left() {
            self.writing.buffer.awaited.reserve_superblock(stream);
        }
    }

    /// The same for every stream, one of which has lost its superblock.
    pub(crate) fn set_aside_for_all(&mut self) {
        for &stream in self.writing.in_use.host {
            self.set_aside(stream);
        }
    }

    /// The stream for reserved data that has arrived: the one that was decided, as long as it has a
    /// place.
    #[inline]
    fn stream_for(&mut self, reserved: &Reserved) -> Stream {
        let stream = reserved.stream;
        if stream.is_direct() || self.writing.streams[stream].left() > 0 || self.may_open(stream) {
            return stream;
        }
        self.host_stream(reserved.route)
    }

    /// What was set aside is not needed: the data took the place of other data.
    fn give_back(&mut self, reserved: Reserved) {
        self.writing.buffer.used_units -= reserved.units;
        self.writing
            .buffer
            .awaited
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
            stream
        } else {
            self.append_run(&reserved, lpn, ops)
        };
        self.writing.buffer.awaited.commit(reserved.stream, count);
        if self.cache.rule().shares {
            let (cache, seen) = self.cache_and_seen();
            cache.placed(&seen, stream, count);
        }
        self.owe(count);
        self.erase_dead(ops);
        if self.cuts.is_checkpoint_due(self.counters.host_units) {
            self.cuts.begin_checkpoint(
                self.writing.sequence,
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
            lpn += taken;
            left -= taken;
        }
        stream
    }

    /// The route of a write of so many bytes with a placement handle; `run_bytes` says how long the
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

    /// Units of buffer that are not taken.
    #[must_use]
    #[inline]
    pub fn buffer_free(&self) -> u32 {
        self.writing.buffer.capacity_units - self.writing.buffer.used_units
    }

    /// Units of buffer that come free as the programs under way end.
    #[must_use]
    pub fn buffer_programming(&self) -> u32 {
        let waiting = self.writing.host_units_waiting() + self.writing.passes.host_units;
        self.writing.buffer.used_units - self.writing.buffer.awaited.units() - waiting
    }
}
