//! Many binary heaps over one set of superblocks, each superblock in at most one of them, the
//! smallest key on top.
//!
//! A superblock is put in and taken out in the logarithm of the heap's length. [`Heaps::walk`]
//! visits from the top and leaves out what lies under a key that its caller has no use for, so
//! that looking for what is among the smallest keys visits little else.

use crate::words::NONE;

/// Heaps numbered from 0, of superblocks numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Heaps {
    /// Keys and superblocks; the two under place p are at 2p + 1 and 2p + 2.
    heaps: Vec<Vec<(u64, u32)>>,
    /// Heap and place of each superblock.
    seats: Vec<(u32, u32)>,
}

impl Heaps {
    /// `heaps` empty heaps of what is numbered below `members`.
    pub(crate) fn new(heaps: u32, members: u32) -> Heaps {
        Heaps {
            heaps: vec![Vec::new(); heaps as usize],
            seats: vec![(NONE, NONE); members as usize],
        }
    }

    /// The smallest key of a heap.
    pub(crate) fn smallest(&self, heap: u32) -> Option<u64> {
        self.heaps[heap as usize].first().map(|&(key, _)| key)
    }

    /// Puts a member that is in no heap into one.
    pub(crate) fn push(&mut self, heap: u32, key: u64, member: u32) {
        debug_assert_eq!(self.seats[member as usize].0, NONE, "{member} is in a heap");
        let entries = &mut self.heaps[heap as usize];
        entries.push((key, member));
        let last = entries.len() - 1;
        self.rise(heap, last);
    }

    /// Takes a member out of the heap that it is in.
    pub(crate) fn remove(&mut self, member: u32) {
        let (heap, place) = std::mem::replace(&mut self.seats[member as usize], (NONE, NONE));
        assert_ne!(heap, NONE, "superblock {member} is in no heap");
        let entries = &mut self.heaps[heap as usize];
        entries.swap_remove(place as usize);
        if (place as usize) < entries.len() {
            let place = self.sink(heap, place as usize);
            self.rise(heap, place);
        }
    }

    /// Moves what stands at a place up to where no larger key is above it.
    fn rise(&mut self, heap: u32, mut place: usize) {
        let entries = &mut self.heaps[heap as usize];
        let entry = entries[place];
        while place > 0 && entries[(place - 1) / 2].0 > entry.0 {
            let above = (place - 1) / 2;
            entries[place] = entries[above];
            self.seats[entries[place].1 as usize] = (heap, place as u32);
            place = above;
        }
        entries[place] = entry;
        self.seats[entry.1 as usize] = (heap, place as u32);
    }

    /// Moves what stands at a place down to where no smaller key is under it; the answer is where.
    fn sink(&mut self, heap: u32, mut place: usize) -> usize {
        let entries = &mut self.heaps[heap as usize];
        let entry = entries[place];
        loop {
            let mut under = 2 * place + 1;
            if under + 1 < entries.len() && entries[under + 1].0 < entries[under].0 {
                under += 1;
            }
            if under >= entries.len() || entries[under].0 >= entry.0 {
                break;
            }
            entries[place] = entries[under];
            self.seats[entries[place].1 as usize] = (heap, place as u32);
            place = under;
        }
        entries[place] = entry;
        self.seats[entry.1 as usize] = (heap, place as u32);
        place
    }

    /// Visits the members of a heap from the top; what lies under a member for which `visit` says
    /// no is left out: no key in there is smaller.
    pub(crate) fn walk(&self, heap: u32, visit: &mut impl FnMut(u64, u32) -> bool) {
        self.walk_from(heap, 0, visit);
    }

    fn walk_from(&self, heap: u32, place: usize, visit: &mut impl FnMut(u64, u32) -> bool) {
        let Some(&(key, member)) = self.heaps[heap as usize].get(place) else {
            return;
        };
        if visit(key, member) {
            self.walk_from(heap, 2 * place + 1, visit);
            self.walk_from(heap, 2 * place + 2, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashtwin_base::rng::Rng;

    #[test]
    fn heaps_agree_with_plain_lists() {
        let (mut heaps, mut plain) = (Heaps::new(3, 40), vec![Vec::new(); 3]);
        let mut rng = Rng::new(1, 0);
        for _ in 0..5_000 {
            let (heap, member) = (rng.below(3) as u32, rng.below(40) as u32);
            match heaps.seats[member as usize].0 {
                NONE => {
                    let key = rng.below(30);
                    heaps.push(heap, key, member);
                    plain[heap as usize].push((key, member));
                }
                at => {
                    heaps.remove(member);
                    plain[at as usize].retain(|&(_, m)| m != member);
                }
            }
            let limit = rng.below(40);
            for (heap, plain) in (0u32..).zip(&plain) {
                assert_eq!(heaps.smallest(heap), plain.iter().map(|e| e.0).min());
                let mut walked = Vec::new();
                heaps.walk(heap, &mut |key, member| {
                    walked.extend((key < limit).then_some((key, member)));
                    key < limit
                });
                let under = plain.iter().copied().filter(|&(key, _)| key < limit);
                let mut under: Vec<(u64, u32)> = under.collect();
                walked.sort_unstable();
                under.sort_unstable();
                assert_eq!(walked, under);
            }
        }
    }
}
