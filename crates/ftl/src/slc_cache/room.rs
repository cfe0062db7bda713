//! How much the host may hand over now, and what is set aside for it.
//!
//! Where a write goes is asked three times (how much room, set it aside, place it), and between the
//! questions the answer may change only to a stream that can take the data as well.

use super::Route;
use crate::ftl::Ftl;
use crate::orders::Policies;
use crate::policy::{Admit, CacheMode};
use crate::streams::Stream;

impl<P: Policies> Ftl<P> {
    /// Whether a superblock may be opened for direct data of a route.
    #[inline]
    pub(super) fn direct_openable(&self, route: Route) -> bool {
        let other = self.buffer.promised[1 - route as usize];
        self.available() > self.policy.gc.reserve_superblocks + u32::from(other)
            || !self.blocks.half.is_empty()
    }

    /// Whether the other route's data goes to a stream too.
    #[inline]
    fn shares(&mut self, stream: Stream, route: Route) -> bool {
        let other = match route {
            Route::Cache => Route::Direct,
            Route::Direct => Route::Cache,
        };
        self.buffer.coming[other as usize] > 0 && self.host_stream(other) == stream
    }

    /// Units on their way to a stream, and whether a superblock is set aside for it.
    #[inline]
    fn awaited(&mut self, stream: Stream, route: Route) -> (u32, bool) {
        let (mut coming, mut promised) = (
            self.buffer.coming[route as usize],
            self.buffer.promised[route as usize],
        );
        if self.shares(stream, route) {
            coming += self.buffer.coming[1 - route as usize];
            promised |= self.buffer.promised[1 - route as usize];
        }
        (coming, promised)
    }

    /// Units of a route that the host may hand over now; 0 when it has to wait for a program, a
    /// fold or a collection. The units have to be reserved before they are handed over.
    #[inline]
    pub fn room(&mut self, route: Route) -> u32 {
        let buffer = self.buffer.capacity_units - self.buffer.used_units;
        let held = self.fold.holds_host() || self.collect.holds_host() || self.map_holds();
        if buffer == 0 || held || self.collection.halts_host {
            return 0;
        }
        let stream = self.host_stream(route);
        let (coming, promised) = self.awaited(stream, route);
        let can_open = match stream {
            _ if promised => true,
            Stream::Cache => self.cache_openable() > 0,
            Stream::Tier => self.tier_openable() > 0,
            _ => self.direct_openable(route),
        };
        let left = self.streams[stream].left().saturating_sub(coming);
        self.starved = !can_open && left == 0;
        if can_open { buffer } else { buffer.min(left) }
    }

    /// Sets buffer aside for units that the host is sending, and a free superblock where they do
    /// not fit into the open one: no mover takes it before they arrive.
    #[inline]
    pub fn reserve(&mut self, route: Route, units: u32) {
        self.buffer.used_units += units;
        self.buffer.coming[route as usize] += units;
        self.promise(route);
    }

    /// [`Ftl::room`] and [`Ftl::reserve`] in one where nothing is in question: without a cache all
    /// goes to one open superblock, and the units fit into it and into the buffer. False, and
    /// nothing is set aside, where the two have to be asked.
    #[inline]
    pub fn reserve_at_once(&mut self, route: Route, units: u32) -> bool {
        let free = self.buffer.capacity_units - self.buffer.used_units;
        let held = self.fold.holds_host() || self.collect.holds_host() || self.paged.is_on();
        let s = &self.streams[Stream::Direct];
        if self.cache.mode != CacheMode::None
            || held
            || self.collection.halts_host
            || s.ratio > 1
            || units > free
            || self.buffer.coming_units() + units > s.left()
        {
            return false;
        }
        self.starved = false;
        self.buffer.used_units += units;
        self.buffer.coming[route as usize] += units;
        true
    }

    /// Sets a free superblock aside where what is coming on a route does not fit into the open one.
    #[inline]
    pub(crate) fn promise(&mut self, route: Route) {
        let stream = self.host_stream(route);
        let (coming, promised) = self.awaited(stream, route);
        self.buffer.promised[route as usize] |= !promised && coming > self.streams[stream].left();
    }

    /// A host stream has opened a superblock: the one that was set aside for it is taken.
    pub(crate) fn keep_promise(&mut self, stream: Stream) {
        let promised = &mut self.buffer.promised;
        if stream != Stream::Direct || !promised[Route::Direct as usize] {
            promised[Route::Cache as usize] = false;
        } else {
            promised[Route::Direct as usize] = false;
        }
    }

    /// Superblocks that are set aside for the host.
    #[inline]
    pub(crate) fn promised(&self) -> u32 {
        self.buffer.promised.iter().map(|&p| u32::from(p)).sum()
    }

    /// The route of a write of so many bytes; `run_bytes` says how long the sequential run is
    /// that it continues, itself included.
    #[inline]
    #[must_use]
    pub fn route(&self, bytes: u64, run_bytes: impl FnOnce() -> u64) -> Route {
        let direct = match self.policy.cache.admit {
            Admit::All => false,
            Admit::Small(most) => bytes > most,
            Admit::Random(most) => run_bytes() > most,
        };
        if direct { Route::Direct } else { Route::Cache }
    }

    /// Units of buffer that are not taken.
    #[must_use]
    pub fn buffer_free(&self) -> u32 {
        self.buffer.capacity_units - self.buffer.used_units
    }

    /// Units of buffer that come free as the programs under way end.
    #[must_use]
    pub fn buffer_programming(&self) -> u32 {
        let waiting = self.host_units_waiting() + self.passes.host_units;
        self.buffer.used_units - self.buffer.coming_units() - waiting
    }
}
