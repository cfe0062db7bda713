//! The order of a trace's requests. Programs write a line when a request completes, or merge what
//! several processors saw, so that a line may be older than the one before it.
//!
//! Invariants: requests leave in the order of their times as long as no more than the window lies
//! between a request and its place; equal times keep the order of their lines; times count from
//! the earliest request and never run backwards; memory is bounded by the window.
//!
//! Most lines come in order: they wait in a queue, which costs next to nothing, and only those that
//! are older than the line before them are sorted.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use flashtwin_base::Nanos;

use super::Event;

/// How many requests are held back to be put in order.
pub const WINDOW: usize = 1 << 14;

struct Held {
    line: u64,
    sequence: u64,
    event: Event,
}

/// Requests on their way from the lines of a file to whoever asks for them.
pub struct Order {
    /// Requests in the order of their lines, none of them older than the one before it.
    in_order: VecDeque<Held>,
    /// Those that are older than the last one of these was when they came.
    stragglers: BinaryHeap<Held>,
    window: usize,
    sequence: u64,
    origin: Option<Nanos>,
    last: Nanos,
    /// Requests that came too late for their place.
    late: u64,
}

impl Order {
    /// Requests leave by their times, which count from the first of them.
    pub fn by_time() -> Order {
        Order::new(WINDOW, None)
    }

    /// Requests leave as they come, at the times that they have.
    pub fn as_they_come() -> Order {
        Order::new(1, Some(Nanos::ZERO))
    }

    fn new(window: usize, origin: Option<Nanos>) -> Order {
        Order {
            in_order: VecDeque::new(),
            stragglers: BinaryHeap::new(),
            window,
            sequence: 0,
            origin,
            last: Nanos::ZERO,
            late: 0,
        }
    }

    pub fn is_full(&self) -> bool {
        self.in_order.len() + self.stragglers.len() >= self.window
    }

    pub fn put(&mut self, line: u64, event: Event) {
        self.sequence += 1;
        let sequence = self.sequence;
        let held = Held {
            line,
            sequence,
            event,
        };
        match self.in_order.back() {
            Some(last) if event.at < last.event.at => self.stragglers.push(held),
            _ => self.in_order.push_back(held),
        }
    }

    /// The earliest of all that are held.
    fn earliest(&mut self) -> Option<Held> {
        let straggles = match (self.in_order.front(), self.stragglers.peek()) {
            (Some(next), Some(straggler)) => straggler > next,
            (next, _) => next.is_none(),
        };
        if straggles {
            return self.stragglers.pop();
        }
        self.in_order.pop_front()
    }

    /// The next request, and the line that it stands in.
    pub fn take(&mut self) -> Option<(u64, Event)> {
        let Held { line, event, .. } = self.earliest()?;
        let origin = *self.origin.get_or_insert(event.at);
        let at = Nanos(event.at.0.saturating_sub(origin.0));
        if at < self.last || event.at < origin {
            self.late += 1;
        }
        self.last = self.last.max(at);
        let event = Event {
            at: self.last,
            ..event
        };
        Some((line, event))
    }

    /// How many requests could not be put in order.
    pub fn late(&self) -> u64 {
        self.late
    }
}

impl Ord for Held {
    /// The earliest is the greatest, as the heap gives out the greatest.
    fn cmp(&self, other: &Held) -> Ordering {
        (other.event.at, other.sequence).cmp(&(self.event.at, self.sequence))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}
