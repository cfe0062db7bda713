//! The search for the deepest queue that keeps a latency (`latency_target`).
//!
//! It begins with depth 1 and doubles while a window keeps the target; after the first failure it
//! halves the range between the deepest that kept it and the shallowest that did not. Once a window
//! brings no change, the measurement begins anew and one window more is the result.

use flashtwin_base::Nanos;
use flashtwin_workload::fio::LatencyTarget;

/// What a window came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing, or a deeper queue.
    GoOn,
    /// A shallower queue: what is under way has to end first.
    Drain,
    /// The depth is found: measure it from now on.
    Measure,
    /// It was measured.
    Done,
    /// Not even depth 1 keeps it.
    Failed,
}

/// The search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub target: LatencyTarget,
    pub depth: u32,
    most: u32,
    low: u32,
    high: u32,
    stable: u32,
    since: Nanos,
    ios: u64,
    failed: u64,
    last_window: bool,
}

impl Search {
    pub fn new(target: LatencyTarget, most: u32) -> Search {
        Search {
            target,
            depth: 1,
            most,
            low: 1,
            high: most,
            stable: 0,
            since: Nanos::ZERO,
            ios: 0,
            failed: 0,
            last_window: false,
        }
    }

    /// A pass begins after so many requests; a search that has found its depth goes on with it.
    pub fn begin(&mut self, now: Nanos, ios: u64) {
        if !self.last_window {
            (self.depth, self.low, self.high) = (1, 1, self.most);
        }
        self.window(now, ios);
    }

    /// A window begins.
    pub fn window(&mut self, now: Nanos, ios: u64) {
        (self.since, self.ios, self.failed) = (now, ios, 0);
    }

    /// A request took longer than the target; whether that alone is a failure.
    pub fn exceeded(&mut self, now: Nanos, ios: u64) -> Verdict {
        if self.target.percentile < 100.0 {
            self.failed += 1;
            return Verdict::GoOn;
        }
        self.shallower(now, ios)
    }

    fn shallower(&mut self, now: Nanos, ios: u64) -> Verdict {
        if self.depth == 1 {
            return Verdict::Failed;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low) / 2;
        self.stable = 0;
        self.window(now, ios);
        Verdict::Drain
    }

    /// Looks at the window, if it is over.
    pub fn look(&mut self, now: Nanos, ios: u64) -> Verdict {
        if (now - self.since).0 < self.target.window_ns || ios == self.ios {
            return Verdict::GoOn;
        }
        let count = (ios - self.ios) as f64;
        let percent_in_time = 100.0 * (count - self.failed as f64) / count;
        if percent_in_time < self.target.percentile {
            let verdict = self.shallower(now, ios);
            if verdict != Verdict::Failed {
                return verdict;
            }
            // A share that even depth 1 does not keep ends nothing: fio stays with it.
            self.window(now, ios);
            return Verdict::GoOn;
        }
        let verdict = self.deeper();
        self.window(now, ios);
        verdict
    }

    fn deeper(&mut self) -> Verdict {
        let old = self.depth;
        self.low = old;
        if old + 1 == self.high {
            // Three windows in a row say that the depth that failed may have been bad luck.
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = if self.high == self.most {
            old * 2
        } else {
            (old + self.high) / 2
        };
        self.depth = self.depth.min(self.most);
        if self.target.run || self.depth != old {
            return Verdict::GoOn;
        }
        if self.last_window {
            return Verdict::Done;
        }
        self.last_window = true;
        Verdict::Measure
    }

    /// The measurement begins anew, with no request counted.
    pub fn measured_from(&mut self, now: Nanos) {
        self.window(now, 0);
    }
}
