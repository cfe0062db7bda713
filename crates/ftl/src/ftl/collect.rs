//! Garbage collection at work: when it goes on, and which superblock is next. See
//! [`crate::collect`].

use super::Ftl;
use crate::layout::Mode;
use crate::lifetimes::Lifetimes;
use crate::mover::{Work, between_passes};
use crate::op::NandOp;
use crate::orders::{Policies, VictimOrder};
use crate::streams::Stream;
use crate::wear::Cause;

/// Superblocks that have to be to spare before data is moved for another reason than space.
const SPARE_SUPERBLOCKS: u32 = 2;
/// In idle time, and while the host is stopped, a superblock is worth collecting when at least this
/// part of it is invalid, and at least these granules. A collection may end with a padded granule
/// in each of two streams: with less to gain, the padding could use up the gain and collection
/// would never end. In idle time with too few free superblocks the granules alone decide: a worn
/// drive may be unable to free as many as it should, and would copy full superblocks for as long as
/// it rests.
const WORTH_PART: u32 = 16;
const WORTH_GRANULES: u32 = 4;
/// While the host waits for a superblock, collection pads granules only if the padding is at most
/// this part of what it has freed meanwhile, so that a drive's copies rise by no more. At one part
/// in two, data divided into eight classes cost a drive with superblocks of eight granules more
/// copies than undivided data did.
const PADDED_PART: u64 = 32;

impl<P: Policies> Ftl<P> {
    /// Units to copy for each host unit, in thousandths.
    #[inline]
    pub(super) fn collect_pace_milli(&self) -> i64 {
        self.collection.pace_milli(&self.movers[Work::Collect])
    }

    /// True once every superblock has been written: the recycler copies beside the host's writes.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.collection.is_settled()
    }

    /// Free superblocks, and those that become free without more copies.
    fn free_soon(&self) -> u32 {
        let emptied = self.movers[Work::Collect].emptied() + self.movers[Work::Fold].emptied();
        self.free_to_fill() + self.blocks.erasing() + emptied
    }

    /// True while the drive is idle and has fewer free superblocks than collection in rests wants.
    fn collects_idle(&self) -> bool {
        self.movers[Work::Collect].is_idle() && self.free_soon() < self.policy.gc.idle_superblocks
    }

    /// Idle time is all that collection goes on for: the host neither waits for space nor has to be
    /// kept pace with.
    fn is_at_leisure(&self) -> bool {
        self.collects_idle()
            && !self.writing.is_starved()
            && !self.movers[Work::Collect].is_behind()
    }

    /// True while the host has to wait until collection ends.
    #[inline]
    pub(super) fn stops_the_world(&self) -> bool {
        let mover = &self.movers[Work::Collect];
        self.collection.stops_the_world(mover)
    }

    /// Collection for space has a victim, and is as far ahead of the host as it keeps or as the
    /// dies let it, so that [`Ftl::pump_collect`] would change nothing.
    #[inline]
    pub(super) fn collection_keeps_pace(&self) -> bool {
        let mover = &self.movers[Work::Collect];
        let collected = self.writing.buffer.flying_of(Stream::Collected);
        mover.is_working()
            && mover.cursor() < self.layout.native_units
            && mover.cause() == Cause::Space
            && (!mover.is_behind() || mover.is_far_ahead(collected))
            && !self.writing.is_starved()
            && mover.is_active()
            && !mover.is_idle()
            && !mover.waiting()
            && !self.collection.stops_host()
            && !self.collection.halts_host()
    }

    /// Enough is free and nothing is under way, so that [`Ftl::pump_collect`] would change nothing.
    #[inline]
    pub(super) fn collection_rests(&self) -> bool {
        self.movers[Work::Collect].rests()
            && !self.wear.is_busy()
            && !self.writing.is_starved()
            && !self.collection.halts_host()
            && self.free_to_fill() >= self.rest_superblocks()
            && !self.is_settled()
    }

    /// Nothing but collection moves data.
    #[inline]
    #[must_use]
    pub fn collects_alone(&self) -> bool {
        self.collection.works_alone()
    }

    /// No mover has anything to do, and none will before two more superblocks are opened.
    #[inline]
    #[must_use]
    pub fn leaves_movers_at_rest(&self) -> bool {
        self.collection.works_alone()
            && self.collection_rests()
            && self.free_to_fill() > self.rest_superblocks() + 2
    }

    /// Superblocks that count as free for collection: half-filled ones too, which the host goes on
    /// with. Not where the map has lost some of its own, for which it takes erased ones only: the
    /// host waits for the map then, and whoever counted the others would collect nothing.
    #[inline]
    fn free_to_fill(&self) -> u32 {
        match self.paged.lacking() {
            0 => self.blocks.free_or_half(),
            _ => self.blocks.free_count(),
        }
    }

    /// Free superblocks with which collection neither begins nor goes on.
    #[inline]
    fn rest_superblocks(&self) -> u32 {
        let gc = &self.policy.gc;
        gc.low_superblocks.max(gc.high_superblocks)
    }

    pub(super) fn pump_collect(&mut self, ops: &mut Vec<NandOp>) {
        let free = self.free_to_fill();
        if free < self.policy.gc.low_superblocks && !self.blocks.may_erase_native() {
            self.movers[Work::Collect].set_active(true);
        } else if free >= self.policy.gc.high_superblocks && !self.collects_for_space() {
            self.movers[Work::Collect].set_active(false);
            self.movers[Work::Collect].owe(0, 0);
        }
        // A source that was begun in idle time has a free superblock set aside, and the host may be
        // waiting for one.
        let in_the_way = self.writing.is_starved() && self.movers[Work::Collect].is_working();
        let aside = self.wear.is_busy()
            || self.movers[Work::Collect].is_idle()
            || in_the_way
            || self.is_settled();
        if self.movers[Work::Collect].is_active() || aside {
            self.collect(ops);
        }
        let halts = self.stops_the_world() && self.makes_space();
        self.collection.halt_host(halts);
    }

    /// A victim is being emptied because its space is wanted.
    fn collects_for_space(&self) -> bool {
        self.movers[Work::Collect].is_working()
            && self.movers[Work::Collect].cause() == Cause::Space
    }

    /// Something is under way that ends with a free superblock.
    fn makes_space(&self) -> bool {
        self.movers[Work::Collect].is_working()
            || self.blocks.erasing() > 0
            || self.movers[Work::Collect].waiting()
    }

    fn collect(&mut self, ops: &mut Vec<NandOp>) {
        loop {
            if !self.movers[Work::Collect].is_working() && self.writing.is_starved() {
                self.pad_passed_over(ops);
            }
            if !self.movers[Work::Collect].is_working() && !self.next_victim(ops) {
                self.movers[Work::Collect].owe(0, 0);
                let mover = &self.movers[Work::Collect];
                if mover.waiting() && mover.reading() == 0 && !self.victims_come() {
                    let awaited = self.writing.is_starved() || self.stops_the_world();
                    self.pad_moved(Work::Collect, awaited, ops);
                }
                self.wear.look_on();
                return;
            }
            if self.movers[Work::Collect].cursor() >= self.layout.native_units {
                if !self.finish_source(Work::Collect, ops) {
                    return;
                }
            } else if !self.may_collect() {
                self.free_emptied(Work::Collect, ops);
                return;
            } else {
                self.read_row(Work::Collect, ops);
            }
        }
    }

    /// Pads granules that keep a host from the superblock that it waits for. Emptied sources wait
    /// for these granules, and the copies of a whole later source have left them partly filled:
    /// they are of a class in which hardly anything is collected or, where power may be cut, of the
    /// host's own data. Other sources may leave them so too, and then the host would wait until
    /// nothing is left to collect. Not if a superblock is in erase anyway, and not before the
    /// sources have freed [`PADDED_PART`] times as much as padding takes.
    #[cold]
    fn pad_passed_over(&mut self, ops: &mut Vec<NandOp>) {
        let Some((sources, sequence)) = self.movers[Work::Collect].outlasted() else {
            return;
        };
        // Data to come has its place in the host's granules.
        let comes = self.writing.buffer.awaited().units() > 0;
        let held_by = |&stream: &Stream| {
            let replaced = self.cuts.is_on() && stream.is_host();
            (replaced || self.takes_moved(Work::Collect, stream))
                && !(comes && stream.is_host())
                && self.writing.begun_before(stream, sequence)
        };
        let padded: Vec<Stream> = Stream::ALL.into_iter().filter(held_by).collect();
        // The data of the next source will fill the granule of the usual stream.
        let usual = self.stream_of_pool(self.pool_in_turn());
        if padded.iter().all(|&stream| stream == usual) {
            return;
        }
        let padding = |&stream: &Stream| {
            let s = &self.writing[stream];
            let passes = match self.writing.passes.waiting_of(stream) {
                0 => 0,
                _ => between_passes(&self.layout) * s.full,
            };
            u64::from(s.granule - (s.next - s.begun) + passes)
        };
        let padding: u64 = padded.iter().map(padding).sum();
        let units = u64::from(self.layout.native_units);
        let freed = self.collection.freed_milli() * units * sources / 1000;
        if padding * PADDED_PART > freed || self.blocks.erases_native() {
            return;
        }
        for stream in padded {
            self.pad_through(stream, ops);
        }
    }

    /// Space is wanted, and superblocks that gain some will be victims once their programs have
    /// ended. Their data fills what would be padded now. A drive with later passes pads whole
    /// wordlines: after each single victim, that could be all that collection frees.
    fn victims_come(&self) -> bool {
        let units = self.layout.whole_units(Mode::Native);
        self.layout.later_passes.is_some()
            && self.movers[Work::Collect].is_active()
            && self.blocks.victims_come(units)
    }

    /// Collection may go on while it is behind what the host pays for. It may always go on while
    /// the host waits for space, in idle time, and while it moves data for another reason than
    /// space.
    #[inline]
    fn may_collect(&mut self) -> bool {
        let urgent =
            self.writing.is_starved() || self.movers[Work::Collect].cause() != Cause::Space;
        let goes = urgent || self.movers[Work::Collect].is_behind() || self.stops_the_world();
        (goes || self.collects_idle()) && self.may_read(Work::Collect)
    }

    /// Data that is moved for another reason than space goes first. The host does not pay for it.
    #[cold]
    fn start_relocation(&mut self) -> bool {
        if self.writing.is_starved() || self.available_to_movers() < SPARE_SUPERBLOCKS {
            return false;
        }
        let Some((superblock, cause)) = self.wear.next(&mut self.blocks) else {
            return false;
        };
        self.movers[Work::Collect].set_cause(cause);
        self.collection.charge_nothing();
        self.start_source(Work::Collect, superblock);
        true
    }

    /// Makes a superblock the source. While space is wanted it is the one that the policy chooses,
    /// unless all are full or folding a cache superblock costs less. In a settled drive it is the
    /// one whose turn it is.
    fn next_victim(&mut self, ops: &mut Vec<NandOp>) -> bool {
        // A host that waits for space does not wait for wear levelling too. Each erase asks for the
        // next levelling move, so each of the two would keep the other going.
        if self.wear.is_busy() && !self.stops_the_world() && self.start_relocation() {
            return true;
        }
        let enough = self.policy.gc.high_superblocks;
        if self.movers[Work::Collect].is_active() && self.free_to_fill() >= enough {
            self.movers[Work::Collect].set_active(false);
            self.movers[Work::Collect].owe(0, 0);
        }
        let coming = self.collection.stops_host() && self.free_soon() >= enough;
        let (active, idle) = (self.movers[Work::Collect].is_active(), self.collects_idle());
        let victim = if active {
            self.erase_dead(ops);
            match self.is_at_leisure() {
                true => self.victim_gaining(self.padding_of_collection()),
                false => self.victim_for_space(coming),
            }
        } else if idle {
            self.erase_dead(ops);
            self.worthy_victim()
        } else if self.is_settled() {
            let oldest = self.blocks.oldest(self.pool_in_turn());
            oldest.map(|victim| self.that_fits(victim))
        } else {
            None
        };
        let Some(victim) = victim else {
            return false;
        };
        let valid = self.blocks[victim].valid;
        let units = self.packing.units_in(&self.layout, victim);
        self.movers[Work::Collect].set_cause(Cause::Space);
        if active || idle {
            let pool = self.blocks.pool_of(victim);
            let each = self.policies.order().takes_emptiest();
            self.collection.chosen(each, pool, valid, units);
        } else {
            // The recycler takes what has its turn, and that may be full of valid data. The host
            // pays a copy for each unit it writes, and not what space would cost there.
            self.collection.charge_nothing();
        }
        self.counters.gc_victims += 1;
        let block = &self.blocks[victim];
        let lifespan = self.counters.host_units - block.opened_at;
        let from = block.filled_by.fills();
        self.policies.lifetimes().victim(from, lifespan);
        if self.sharing.is_due() {
            let kept = self.policy.gc.low_superblocks;
            self.sharing.look_at(&self.blocks, &self.layout, kept);
        }
        self.start_source(Work::Collect, victim);
        true
    }

    /// The victim of the policy, unless enough is `coming` anyway.
    fn victim_for_space(&mut self, coming: bool) -> Option<u32> {
        let (sequence, starved) = (self.writing.sequence(), self.writing.is_starved());
        if coming || (!starved && !self.collection.may_search(sequence)) {
            return None;
        }
        if self.collection.stops_host() && !starved {
            let worthy = self.worthy_victim();
            self.collection.set_worthy(worthy.is_some());
            if worthy.is_some() {
                return worthy;
            }
        }
        let victim = self.choose_from(self.pool_in_turn());
        if victim.is_none() {
            self.collection.search_later(sequence, &self.layout);
        }
        victim
    }

    /// A victim that is worth its copies though nobody needs the space now.
    fn worthy_victim(&mut self) -> Option<u32> {
        let part = self.layout.whole_units(Mode::Native) / WORTH_PART;
        self.victim_gaining(part.max(self.padding_of_collection()))
    }

    /// Units that a collection has to free so that padding cannot use them up. With several passes
    /// it may end with as many padded granules as wait for a later pass.
    fn padding_of_collection(&self) -> u32 {
        let granules = WORTH_GRANULES + between_passes(&self.layout);
        self.layout.whole(granules * self.layout.native_granule)
    }

    /// The victim of the policy, or the emptiest superblock where that victim frees fewer than
    /// `least` units. None where the emptiest frees fewer as well.
    fn victim_gaining(&mut self, least: u32) -> Option<u32> {
        let units = self.layout.whole_units(Mode::Native);
        let pool = self.pool_in_turn();
        let chosen = self.choose_from(pool)?;
        let emptiest = self.blocks.emptiest(pool);
        let gain = |s: &u32| units.saturating_sub(self.blocks[*s].valid) >= least;
        Some(chosen).filter(gain).or(emptiest.filter(gain))
    }

    /// The next victim of a pool, or of the other one where nothing is to be gained in it.
    fn choose_from(&mut self, pool: usize) -> Option<u32> {
        let victim = self.choose(pool);
        if victim.is_some() || !self.policy.gc.separation.divides_pools() {
            return victim;
        }
        self.choose(1 - pool)
    }

    /// True if collection leaves the next superblock that becomes free to folding. None is free,
    /// the host waits for one, and folding gains more than collection would: a victim would take
    /// that superblock and gain no more than its padding uses up.
    fn leaves_next_to_fold(&self) -> bool {
        let emptied = self.movers[Work::Collect].emptied() + self.movers[Work::Fold].emptied();
        self.writing.is_starved()
            && self.available_to_movers() == 0
            && self.blocks.erasing() + emptied > 0
            && self.folding_gains_more()
    }

    /// The next victim of a pool: none where nothing is to be gained, or folding costs less.
    fn choose(&mut self, pool: usize) -> Option<u32> {
        let at = (
            self.layout.whole_units(Mode::Native),
            self.counters.host_units,
        );
        let (order, blocks) = (self.policies.order(), &mut self.blocks);
        let chosen = self.collection.choose(pool, order, blocks, at)?;
        let chosen = self.that_fits(chosen);
        let valid = |superblock: u32| self.blocks[superblock].valid;
        let most = valid(chosen);
        let cheaper_fold = self.fold_for_space().is_some_and(|s| valid(s) <= most);
        (!cheaper_fold && !self.leaves_next_to_fold()).then_some(chosen)
    }

    /// A victim, or the emptiest superblock of its pool where the victim's copies could take the
    /// last free superblock, none is in erase, and no room would be left. After a power cut a
    /// source is a candidate among others. What is left of it fits behind its copies, which the
    /// start has padded; of a fuller one, a part would fill that room and free nothing.
    fn that_fits(&self, victim: u32) -> u32 {
        let free = self.available_to_movers();
        if free > 1 {
            return victim;
        }
        let pool = self.blocks.pool_of(victim);
        let left = self.writing[self.stream_of_pool(pool)].left();
        let room = left + free * self.layout.whole_units(Mode::Native);
        let needed = self.blocks[victim].valid + self.padding_of_collection();
        if needed <= room || self.blocks.erases_native() {
            return victim;
        }
        self.blocks.emptiest(pool).unwrap_or(victim)
    }
}
