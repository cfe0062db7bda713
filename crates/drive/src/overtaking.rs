//! A bound on overtaking: reads that somebody waits for go before other work of a die or a core,
//! but at most so many of them before one piece of work that they overtake.
//!
//! With a bound of n, the first work that waits beside the reads gets its turn after at most n of
//! them, each time that it could begin. So under a flood of reads a die starts one program for n
//! reads: a writer keeps a share, and its wait has a bound, in the manner of the `writes_starved`
//! of Linux's mq-deadline scheduler. Without a bound the flood leaves it nothing.

/// Reads that have overtaken what waits first beside them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Overtaken(u32);

impl Overtaken {
    /// Whether as many reads have gone first as may.
    #[inline]
    pub(crate) fn is_at(self, most: u32) -> bool {
        self.0 >= most
    }

    /// A read goes first.
    #[inline]
    pub(crate) fn note(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// What was overtaken has its turn, or nothing waits beside the reads.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0 = 0;
    }
}
