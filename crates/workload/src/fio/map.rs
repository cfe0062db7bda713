//! Which blocks of a file were asked for already: a bit each, with summaries above.
//!
//! A random map has to answer one question fast at any fill: the next free block from here on. A
//! word of a level says of 64 words of the level below which of them are full, so that an answer
//! looks at a few words, however many blocks there are.

const WORD: u64 = 64;

/// A set of blocks that only grows, until it is cleared.
#[derive(Clone, Debug)]
pub struct BlockMap {
    blocks: u64,
    /// From the blocks themselves up to a single word; a set bit is a block, or a full word.
    levels: Vec<Vec<u64>>,
    free: u64,
}

impl BlockMap {
    /// Bytes of memory of a map of `blocks`: a bit each, and a 64th of that in the levels above.
    #[must_use]
    pub fn bytes_of(blocks: u64) -> u64 {
        blocks.div_ceil(WORD).saturating_mul(8) * 65 / 64
    }

    /// All of `blocks` free.
    #[must_use]
    pub fn new(blocks: u64) -> BlockMap {
        assert!(blocks > 0, "a map of no blocks");
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(WORD);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = BlockMap {
            blocks,
            levels,
            free: 0,
        };
        map.clear();
        map
    }

    /// All are free again.
    pub fn clear(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // Bits past the last block are set: they are never free.
            if let (Some(last), rest @ 1..) = (level.last_mut(), bits % WORD) {
                *last = u64::MAX << rest;
            }
            bits = bits.div_ceil(WORD);
        }
        self.free = self.blocks;
    }

    /// How many there are.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How many are free.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.free
    }

    /// True if a block is taken; past the end all are.
    #[inline]
    #[must_use]
    pub fn is_taken(&self, block: u64) -> bool {
        let word = self.levels[0].get((block / WORD) as usize);
        word.is_none_or(|word| word >> (block % WORD) & 1 == 1)
    }

    /// Takes a block; false where it was taken before.
    #[inline]
    fn take(&mut self, block: u64) -> bool {
        if self.is_taken(block) {
            return false;
        }
        self.free -= 1;
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[(bit / WORD) as usize];
            *word |= 1 << (bit % WORD);
            if *word != u64::MAX {
                break;
            }
            bit /= WORD;
        }
        true
    }

    /// Takes `count` blocks from `block` on, up to the first that is taken; says how many.
    #[inline]
    pub fn take_run(&mut self, block: u64, count: u64) -> u64 {
        (0..count).find(|i| !self.take(block + i)).unwrap_or(count)
    }

    /// The first free block at or after `block`, from the beginning again after the end.
    #[must_use]
    pub fn next_free(&self, block: u64) -> Option<u64> {
        if self.free == 0 {
            return None;
        }
        self.free_from(block).or_else(|| self.free_from(0))
    }

    fn free_from(&self, block: u64) -> Option<u64> {
        let mut at = block;
        for level in 0..self.levels.len() {
            let word = *self.levels[level].get((at / WORD) as usize)?;
            let open = !word & (u64::MAX << (at % WORD));
            if open != 0 {
                let bit = at / WORD * WORD + u64::from(open.trailing_zeros());
                return Some(self.descend(level, bit));
            }
            at = at / WORD + 1;
        }
        None
    }

    /// The first free block below a bit of a level that is not full.
    fn descend(&self, level: usize, bit: u64) -> u64 {
        let below = self.levels[..level].iter().rev();
        below.fold(bit, |bit, words| {
            let open = !words[bit as usize];
            bit * WORD + u64::from(open.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_map_has_nothing_free() {
        for blocks in [1, 63, 64, 65, 4096, 4097, 300_000] {
            let mut map = BlockMap::new(blocks);
            assert_eq!((map.free(), map.next_free(blocks)), (blocks, Some(0)));
            assert_eq!(map.take_run(0, blocks + 9), blocks);
            assert_eq!((map.free(), map.next_free(0)), (0, None));
            map.clear();
            assert_eq!(
                (map.free(), map.next_free(blocks - 1)),
                (blocks, Some(blocks - 1))
            );
        }
    }

    proptest! {
        /// Against a list of flags.
        #[test]
        fn the_next_free_block_is_the_next_free_block(
            blocks in 1u64..9_000,
            runs in prop::collection::vec((0u64..9_000, 1u64..400), 0..60),
        ) {
            let mut map = BlockMap::new(blocks);
            let mut flags = vec![false; blocks as usize];
            for (block, count) in runs {
                let block = block % blocks;
                let tail = flags[block as usize..].iter().take(count as usize);
                let open = tail.take_while(|taken| !**taken).count();
                flags[block as usize..][..open].fill(true);
                prop_assert_eq!(map.take_run(block, count), open as u64);
                let free = flags.iter().filter(|taken| !**taken).count();
                prop_assert_eq!(map.free(), free as u64);
                let from = block as usize;
                let later = (from..flags.len()).chain(0..from).find(|i| !flags[*i]);
                prop_assert_eq!(map.next_free(block), later.map(|i| i as u64));
            }
        }
    }
}
