//! Units that the host writes one by one while collection keeps its pace: all that changes then is
//! the map, up to the next granule that is full or the next row that collection wants to read.
//!
//! [`Ftl::place_units`] says how many units that are and places them in one loop, with the results
//! of [`Ftl::reserve_at_once`] and [`Ftl::append_host`] for one after another. It asks once what
//! these two ask for each unit: whether there is buffer, what collection costs, whether the host
//! has to wait and whether a mover has anything to do.

use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::policy::Separation;
use crate::streams::Stream;

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
        self.writing.buffer.used_units += placed;
        self.advance_stream(Stream::Direct, placed, ops);
        let pace = self.collect_pace_milli();
        self.collection.mover.owe(placed, pace);
        self.erase_dead(ops);
        self.pump(ops);
        placed as usize
    }

    /// How many units the host may hand over before anything has to be looked at but the map: up to
    /// the end of the granule, the buffer or what the host may be ahead of collection, and to the
    /// first that makes collection read.
    #[inline]
    fn undisturbed_units(&self) -> u32 {
        let s = &self.writing.streams[Stream::Direct];
        let buffer = &self.writing.buffer;
        let mover = &self.collection.mover;
        let asked = buffer.awaited.units() > 0 || mover.holds_host();
        if asked || !self.keeps_pace() || !self.cache.dead.is_empty() {
            return 0;
        }
        let room = s.here().min((s.begun + s.granule).saturating_sub(s.next));
        let free = buffer.capacity_units - buffer.used_units;
        let programming = buffer.by_stream[Stream::Collected];
        let paid = mover.units_until_disturbed(self.collect_pace_milli(), programming);
        room.min(free).min(paid)
    }

    /// Points units at the next places of the host's open superblock; the answer is how many. It
    /// ends with the first that leaves a superblock without valid data, which is erased at once.
    #[inline]
    fn point_units(&mut self, lpns: &[u32]) -> u32 {
        let s = &self.writing.streams[Stream::Direct];
        let (superblock, count) = (s.superblock, lpns.len() as u32);
        let first = self.layout.base(superblock) + s.next;
        // A unit may come twice: its first place is valid before the second one replaces it.
        self.map.set_valid_run(first, count);
        self.blocks.all[superblock as usize].valid += count;
        let mut placed = 0;
        while placed < count && self.cache.dead.is_empty() {
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
            self.blocks.all[superblock as usize].valid -= count - placed;
        }
        self.map.note_units(&lpns[..placed as usize], first);
        placed
    }
}
