//! The length of a request, as fio draws it.
//!
//! One size is always that size: what does not fit is no request. Of several, fio draws until one
//! fits before the end of the job's part of the file; where the smallest does not, there is none.

use flashtwin_base::rng::Rng;

use super::{Blocks, Fio, Triple};

/// Draws the sizes of a job's requests.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    blocks: Triple<Blocks>,
    /// The smallest that is ever drawn.
    drawn: Triple<u64>,
    by_order: bool,
    unaligned: bool,
}

impl Sizes {
    pub fn new(fio: &Fio) -> Sizes {
        let blocks = fio.blocks.clone().expect("a checked job has its blocks");
        Sizes {
            drawn: [0, 1, 2].map(|i: usize| smallest(&blocks[i])),
            blocks,
            by_order: fio.blocks_by_order,
            unaligned: fio.blocks_unaligned,
        }
    }

    /// The sizes of a direction.
    #[inline]
    pub fn of(&self, direction: usize) -> &Blocks {
        &self.blocks[direction]
    }

    /// The direction whose sizes a request has: with `bs_is_seq_rand` that of reads for sequential
    /// requests, and that of writes for random ones.
    #[inline]
    pub fn which(&self, direction: usize, random: bool) -> usize {
        if self.by_order {
            usize::from(random)
        } else {
            direction
        }
    }

    /// Bytes of a request with `room` before the end; 0 where none fits. The numbers that are drawn
    /// are those of the sizes: trims and writes of one size law have each their own with fio.
    #[inline]
    pub fn draw(&self, which: usize, room: u64, rng: &mut Rng) -> u64 {
        let blocks = &self.blocks[which];
        if blocks.least == blocks.most {
            return blocks.least;
        }
        if self.drawn[which] > room {
            return 0;
        }
        let grain = if self.unaligned { 1 } else { blocks.least };
        loop {
            // fio adds a share of the largest to the smallest and cuts off what is above the
            // largest, which therefore is the most frequent.
            let bytes = if blocks.split.is_empty() {
                blocks.least + rng.below(blocks.most)
            } else {
                of_split(blocks, room, rng)
            };
            let bytes = (bytes - bytes % grain).min(blocks.most);
            if bytes <= room {
                return bytes;
            }
        }
    }
}

fn smallest(blocks: &Blocks) -> u64 {
    let drawn = blocks.split.iter().filter(|(_, percent)| *percent > 0);
    drawn.map(|(bytes, _)| *bytes).min().unwrap_or(blocks.least)
}

/// The size whose share the draw falls into, or a later one where that does not fit.
fn of_split(blocks: &Blocks, room: u64, rng: &mut Rng) -> u64 {
    let draw = rng.below(100);
    let (mut below, mut last) = (0, blocks.least);
    for (bytes, percent) in blocks.split.iter().filter(|(_, percent)| *percent > 0) {
        below += u64::from(*percent);
        last = *bytes;
        if draw < below && *bytes <= room {
            break;
        }
    }
    last
}
