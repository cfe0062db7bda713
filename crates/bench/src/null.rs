//! A device that does nothing: every request ends a fixed time after it arrived. What is left is
//! the cost of the host's loop.

use flashtwin_base::queue::Fifo;
use flashtwin_base::{Completion, Device, Nanos, Request, Status};

/// See the module.
#[derive(Debug)]
pub struct Null {
    capacity_bytes: u64,
    latency: Nanos,
    /// In the order of their ends, since all take the same time.
    under_way: Fifo<(Nanos, u32)>,
}

impl Null {
    /// A device of this size that takes `depth` requests at once, each for `latency`.
    #[must_use]
    pub fn new(capacity_bytes: u64, latency: Nanos, depth: u32) -> Null {
        Null {
            capacity_bytes,
            latency,
            under_way: Fifo::new(depth as usize),
        }
    }
}

impl Device for Null {
    fn queue_depth(&self) -> u32 {
        self.under_way.capacity() as u32
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    #[inline]
    fn submit(&mut self, now: Nanos, request: Request) {
        let entry = (now + self.latency, request.tag);
        self.under_way
            .push(entry)
            .expect("the host keeps to the depth");
    }

    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        self.under_way.front().map(|(at, _)| *at)
    }

    #[inline]
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        while let Some(&(at, tag)) = self.under_way.front().filter(|(at, _)| *at <= to) {
            self.under_way.pop();
            done.push(Completion {
                tag,
                at,
                status: Status::Ok,
            });
        }
    }
}
