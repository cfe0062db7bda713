//! Which blocks of a span hold data, for jobs that trim some of them: a trim of what was trimmed
//! already would be none.
//!
//! A list of the blocks in use and each block's place in it, so that drawing, adding and removing
//! take the same time however many there are.

use flashtwin_base::rng::Rng;

/// Not in the list.
const ABSENT: u32 = u32::MAX;

/// The blocks of a span that hold data.
#[derive(Clone, Debug)]
pub(crate) struct InUse {
    list: Vec<u32>,
    place: Vec<u32>,
}

impl InUse {
    /// All of `blocks`: a job that trims runs on a drive that was filled.
    pub(crate) fn all(blocks: u32) -> InUse {
        InUse {
            list: (0..blocks).collect(),
            place: (0..blocks).collect(),
        }
    }

    /// A block was written.
    #[inline]
    pub(crate) fn add(&mut self, block: u32) {
        let place = &mut self.place[block as usize];
        if *place == ABSENT {
            *place = self.list.len() as u32;
            self.list.push(block);
        }
    }

    /// Takes one of them out, any with the same chance; `None` when there is none.
    #[inline]
    pub(crate) fn take(&mut self, rng: &mut Rng) -> Option<u32> {
        let last = self.list.len().checked_sub(1)?;
        let at = rng.below(self.list.len() as u64) as usize;
        let block = self.list.swap_remove(at);
        if at < last {
            self.place[self.list[at] as usize] = at as u32;
        }
        self.place[block as usize] = ABSENT;
        Some(block)
    }
}
