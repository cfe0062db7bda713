//! An order of garbage collection in a crate of its own: windowed greedy.
//!
//! Of the superblocks that were filled first, a window of so many, the one with the fewest valid
//! units is collected (Hu, Eleftheriou, Haas, Iliadis and Pletka, SYSTOR 2009). A window of one is
//! FIFO, one as long as the drive is greedy: a firmware that keeps no order by valid units gets
//! most of what greedy gives for a look at a few.
//!
//! The drive is compiled for it, so it costs no more than an order of ours. `tests/host.rs` hands
//! it to `Drive::with_policies` and measures what the host sees of it.

use flashtwin_base::rng::Rng;
use flashtwin_ftl::orders::{Candidates, VictimOrder};

/// Takes the superblock with the fewest valid units of those that were filled first.
#[derive(Clone, Copy, Debug)]
pub struct WindowedGreedy {
    /// How many it looks at.
    pub window: usize,
}

// It remembers nothing from victim to victim: a snapshot of the drive holds nothing of it.
flashtwin_base::state! { WindowedGreedy { built: window; } }

impl VictimOrder for WindowedGreedy {
    fn choose(&mut self, among: &mut Candidates<'_>, _: &mut Rng) -> Option<u32> {
        let window = among.by_age().take(self.window);
        window.min_by_key(|&superblock| among.valid(superblock))
    }
}
