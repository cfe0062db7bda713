//! One file of a job: where each direction stands in it, and which blocks were touched.

use flashtwin_base::rng::Rng;

use super::distribution::{Ranks, Zones};
use super::{BlockMap, Fio, Kinds, Span};

/// No request yet.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// A file; positions are bytes from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub span: Span,
    /// Where the last request of each direction began, and where it ended.
    pub last_start: [u64; 3],
    pub last_end: [u64; 3],
    pub map: Option<BlockMap>,
    /// Nothing is left of it in this pass.
    pub done: bool,
    ranks: Option<Ranks>,
    zones: [Zones; 3],
}

impl File {
    /// A file at its beginning; `random` is of a job with random offsets.
    pub fn new(fio: &Fio, span: Span, random: bool, rng: &mut Rng) -> File {
        let used = span.used();
        let distribution = &fio.distribution;
        let uniform = distribution.kind == Kinds::Random;
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
        let map = random && uniform && fio.random_map && used >= least;
        File {
            span,
            last_start: [NOWHERE; 3],
            last_end: [span.offset; 3],
            map: map.then(|| BlockMap::new(used / least)),
            done: false,
            ranks,
            zones,
        }
    }

    /// As it was before the first request.
    pub fn reset(&mut self) {
        self.last_start = [NOWHERE; 3];
        self.last_end = [self.span.offset; 3];
        self.done = false;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// Whether ranks decide, and not a plain draw.
    pub fn is_by_rank(&self) -> bool {
        self.ranks.is_some()
    }

    /// A random block of `grain` bytes for requests of at least `least`; `None` where there is none
    /// left, or none at all.
    pub fn random_block(
        &self,
        direction: usize,
        grain: u64,
        least: u64,
        rng: &mut Rng,
    ) -> Option<u64> {
        if let Some(ranks) = &self.ranks {
            return Some(ranks.draw(rng));
        }
        // The last block that can be asked for leaves room for the smallest request.
        let room = self.span.used().saturating_sub(least.saturating_sub(grain));
        let blocks = room / grain;
        if blocks == 0 {
            return None;
        }
        let zones = &self.zones[direction];
        if !zones.is_empty() {
            return Some(zones.draw(blocks, rng));
        }
        let block = rng.below(blocks);
        match &self.map {
            Some(map) if map.is_taken(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    /// The offset after the last request of a direction, from where the job begins; `None` past the
    /// end. `add` bytes lie between two requests. `wraps`: a pass is followed by another.
    pub fn next_in_order(&mut self, direction: usize, add: i64, wraps: bool) -> Option<u64> {
        let Span { bytes, offset, .. } = self.span;
        let used = self.span.used();
        let last = &mut self.last_end[direction];
        if wraps && *last >= used + offset {
            *last = offset;
        }
        if *last >= bytes {
            return None;
        }
        // Backwards from the beginning is from the end.
        let end = bytes.min(used);
        if add < 0 && offset > 0 && *last == offset {
            *last = end;
        }
        let position = last.saturating_sub(offset);
        if position == 0 || add == 0 {
            return Some(position);
        }
        let moved = position as i64 + add;
        if (0..bytes as i64).contains(&moved) {
            return Some(moved as u64);
        }
        if add > 0 {
            Some(offset)
        } else {
            (end as i64 + add).try_into().ok()
        }
    }
}
