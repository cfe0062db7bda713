//! The cores of the controller, each of which does one thing at a time.

use flashtwin_base::Nanos;

/// The firmware's cores, which understand commands one at a time each.
pub(crate) struct Cores(Vec<Nanos>);

impl flashtwin_base::State for Cores {
    fn visit<V: flashtwin_base::Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        visitor.sized("Cores.0", &mut self.0)
    }
}

impl Cores {
    pub(crate) fn new(count: u32) -> Cores {
        Cores(vec![Nanos::ZERO; count as usize])
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// They have nothing to do any more.
    pub(crate) fn power_lost(&mut self) {
        self.0.fill(Nanos::ZERO);
    }

    /// Has the core that is free first work for `time`, from `from` on at the earliest; the answer
    /// is when it is done.
    #[inline]
    pub(crate) fn take(&mut self, from: Nanos, time: Nanos) -> Nanos {
        let (mut first, rest) = self.0.split_first_mut().expect("a core");
        for core in rest {
            if *core < *first {
                first = core;
            }
        }
        *first = from.max(*first) + time;
        *first
    }

    /// The core that is free first, and when.
    pub(crate) fn first_free(&self) -> (usize, Nanos) {
        // Of several the first, as in `take`.
        let cores = self.0.iter().copied().enumerate();
        cores.min_by_key(|&(_, free)| free).expect("a core")
    }

    /// When each core is free.
    pub(crate) fn each_free(&self) -> impl Iterator<Item = Nanos> {
        self.0.iter().copied()
    }

    /// As [`Cores::take`], with all cores at a standstill: the drive wakes, or is throttled.
    #[cold]
    pub(crate) fn take_all(&mut self, from: Nanos, time: Nanos) -> Nanos {
        let done = self.take(from, time);
        for core in &mut self.0 {
            *core = done.max(*core);
        }
        done
    }
}
