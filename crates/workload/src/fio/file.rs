//! One file of a job: where each direction stands in it, and which blocks were touched.

use flashtwin_base::rng::Rng;

use super::distribution::{Ranks, Zones};
use super::{BlockMap, Fio, Kinds, Span, Strides};

/// No request yet.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// True if a file is open. One that is closed with requests under way stays open until their end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Door {
    pub open: bool,
    pub closing: bool,
    /// Requests and syncs under way.
    pub under_way: u32,
}

/// A file; positions are bytes from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// With zones, its offset is that of the zone in work.
    pub span: Span,
    /// Where the job begins in it from the second pass on, from where fio reckons its end, too.
    home: u64,
    /// Bytes that random offsets are drawn from.
    reach: u64,
    /// Where the last request of each direction began, and where it ended.
    pub last_start: [u64; 3],
    pub last_end: [u64; 3],
    pub map: Option<BlockMap>,
    /// The map holds where requests began, and not what they cover.
    starts_only: bool,
    /// Nothing is left of it in this pass.
    pub done: bool,
    /// Open or closed, where only some may be open at once.
    pub door: Door,
    ranks: Option<Ranks>,
    zones: [Zones; 3],
}

/// Blocks of the map of a file, where it has one.
fn map_blocks(fio: &Fio, span: Span, random: bool) -> Option<u64> {
    let least = fio.least_block();
    let reach = fio.strides.map_or(span.used(), |strides| strides.range);
    let mapped = random && fio.distribution.kind == Kinds::Random && fio.random_map;
    (mapped && reach >= least).then_some(reach / least)
}

/// Bytes of memory that a file takes, its map included.
pub(super) fn bytes_of(fio: &Fio, span: Span, random: bool) -> u64 {
    let map = map_blocks(fio, span, random).map_or(0, BlockMap::bytes_of);
    size_of::<File>() as u64 + map
}

impl File {
    /// A file at its beginning; `random` is of a job with random offsets.
    pub fn new(fio: &Fio, span: Span, random: bool, rng: &mut Rng) -> File {
        let used = span.used();
        let distribution = &fio.distribution;
        let least = fio.least_block();
        let ranks = random
            .then(|| Ranks::new(distribution, used.div_ceil(least).max(1), rng))
            .flatten();
        let blocks = fio.blocks.as_ref().expect("a checked job has its blocks");
        let zones = [0, 1, 2].map(|direction: usize| {
            if !random {
                return Zones::default();
            }
            let grain = blocks[direction].grain();
            Zones::new(distribution, direction, (used / grain).max(1), grain)
        });
        let reach = fio.strides.map_or(used, |strides| strides.range);
        File {
            span,
            home: span.home(),
            reach,
            last_start: [NOWHERE; 3],
            last_end: [span.offset; 3],
            map: map_blocks(fio, span, random).map(BlockMap::new),
            starts_only: fio.random_starts,
            done: false,
            door: Door::default(),
            ranks,
            zones,
        }
    }

    /// As it was before the first request of a pass.
    pub fn reset(&mut self) {
        self.span.offset = self.home;
        self.door = Door::default();
        self.reset_here();
    }

    /// As it was before the first request of this zone.
    pub fn reset_here(&mut self) {
        self.last_start = [NOWHERE; 3];
        self.last_end = [self.span.offset; 3];
        self.done = false;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// The zone of the next request, after `asked` bytes in this one; says whether it is a new one.
    pub fn stride(&mut self, strides: &Strides, direction: usize, asked: u64) -> bool {
        let ends = asked >= strides.size;
        if ends {
            self.span.offset += strides.range + strides.skip;
            if self.span.offset >= self.span.end() {
                self.span.offset = self.home;
            }
            self.last_end[direction] = self.span.offset;
        }
        // A zone that is shorter than what is asked of it is gone through again.
        if self.last_end[direction] >= self.span.offset + strides.range {
            self.last_end[direction] = self.span.offset;
        }
        if ends || asked.is_multiple_of(strides.range) {
            self.reset_here();
        }
        ends
    }

    /// Bytes from a place up to the end of what the job works on.
    pub fn room(&self, at: u64) -> u64 {
        (self.home + self.span.used()).saturating_sub(at)
    }

    /// True if ranks decide, and not a plain draw.
    pub fn is_by_rank(&self) -> bool {
        self.ranks.is_some()
    }

    /// A random block of `grain` bytes for requests of at least `least`; `None` where there is none
    /// left, or none at all.
    pub fn random_block(
        &mut self,
        direction: usize,
        grain: u64,
        least: u64,
        rng: &mut Rng,
    ) -> Option<u64> {
        if let Some(ranks) = &self.ranks {
            return Some(ranks.draw(rng));
        }
        // The last block that can be asked for leaves room for the smallest request.
        let room = self.reach.saturating_sub(least.saturating_sub(grain));
        let blocks = room / grain;
        if blocks == 0 {
            return None;
        }
        let zones = &self.zones[direction];
        if !zones.is_empty() {
            return Some(zones.draw(blocks, rng));
        }
        let Some(map) = &mut self.map else {
            return Some(rng.below(blocks));
        };
        if self.starts_only {
            // fio's generator goes over the map's blocks, which are of the smallest size of all
            // directions: of larger ones most that it draws lie behind the end.
            let block = map.next_free(rng.below(map.blocks()))?;
            map.take_run(block, 1);
            return Some(block);
        }
        let block = rng.below(blocks);
        if map.is_taken(block) {
            map.next_free(block)
        } else {
            Some(block)
        }
    }

    /// The offset after the last request of a direction, from where the job begins; `None` past the
    /// end. `add` bytes lie between two requests. `wraps`: a pass is followed by another.
    pub fn next_in_order(&mut self, direction: usize, add: i64, wraps: bool) -> Option<u64> {
        let (offset, used, end) = (self.span.offset, self.span.used(), self.span.end());
        let last = &mut self.last_end[direction];
        if wraps && *last >= used + self.home {
            *last = offset;
        }
        if *last >= end {
            return None;
        }
        // Backwards from the beginning is from the end. fio takes that from the beginning of the
        // file and not from where the job begins: what comes out below that is no offset at all.
        let back = end.min(used);
        if add < 0 && offset > 0 && *last == offset {
            *last = back;
        }
        let position = last.wrapping_sub(offset);
        if position == 0 || add == 0 {
            return Some(position);
        }
        let moved = position.wrapping_add_signed(add);
        if moved < end {
            Some(moved)
        } else if add > 0 {
            Some(offset)
        } else {
            Some(back.wrapping_add_signed(add))
        }
    }
}
