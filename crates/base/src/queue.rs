//! The two queues of a simulation: events by time, and a ring that can be full.
//!
//! Events due at one time come out in the order in which they were pushed: a run is the same every
//! time, and a cause never overtakes its effect. Neither queue allocates once it has reached its
//! size.

use crate::Nanos;
use crate::ring::Ring;

/// Children a node of the heap: four keep a node's children in one or two cache lines, and the
/// tree of the hundred events of a busy drive four levels deep.
const ARITY: usize = 4;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Entry<T> {
    /// Time in the upper half, number of the push in the lower: one comparison orders both.
    key: u128,
    event: T,
}

/// Lanes beside the heap, for kinds of events whose times mostly come in order.
const LANES: usize = 2;

/// Events waiting for their time, ordered by (time, order of pushing): a heap, and beside it lanes
/// for events that are pushed in the order of their times, which need no sorting, and a place for
/// an event of a kind of which one waits at most.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(from = "Stored<T>", into = "Stored<T>")]
pub struct EventQueue<T: Copy> {
    heap: Vec<Entry<T>>,
    lanes: [Ring<Entry<T>>; LANES],
    pushed: u64,
    /// When the first entry of each lane is due, and after them of the heap; never where there is
    /// none. To find the earliest event takes one line of memory and no look at the entries, but
    /// where two are due at one time.
    first: [Nanos; LANES + 1],
    /// The earliest of them, and where it is.
    next: (Nanos, usize),
    /// The one that waits alone, and when it is due; never where there is none.
    alone: Option<Entry<T>>,
    alone_at: Nanos,
}

/// What a queue holds, as it is stored.
#[derive(serde::Serialize, serde::Deserialize)]
struct Stored<T> {
    heap: Vec<Entry<T>>,
    lanes: [Vec<Entry<T>>; LANES],
    pushed: u64,
}

impl<T: Copy> From<Stored<T>> for EventQueue<T> {
    fn from(stored: Stored<T>) -> EventQueue<T> {
        let Stored {
            heap,
            lanes,
            pushed,
        } = stored;
        let mut queue = EventQueue {
            heap,
            lanes: lanes.map(Ring::from_iter),
            pushed,
            ..EventQueue::new()
        };
        queue.first = std::array::from_fn(|place| queue.due(place));
        queue.find_next();
        queue
    }
}

impl<T: Copy> From<EventQueue<T>> for Stored<T> {
    fn from(mut queue: EventQueue<T>) -> Stored<T> {
        if let Some(alone) = queue.alone {
            queue.raise(alone.key, alone.event);
        }
        let lanes = queue.lanes.map(|lane| lane.iter().copied().collect());
        Stored {
            heap: queue.heap,
            lanes,
            pushed: queue.pushed,
        }
    }
}

impl<T: Copy> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue::new()
    }
}

impl<T: Copy> EventQueue<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> EventQueue<T> {
        EventQueue::with_capacity(0)
    }

    /// An empty queue with room for `events` before it grows.
    #[must_use]
    pub fn with_capacity(events: usize) -> EventQueue<T> {
        EventQueue {
            heap: Vec::with_capacity(events),
            lanes: std::array::from_fn(|_| Ring::new()),
            pushed: 0,
            first: [Nanos::NEVER; LANES + 1],
            next: (Nanos::NEVER, LANES),
            alone: None,
            alone_at: Nanos::NEVER,
        }
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        let lanes = self.lanes.iter().map(Ring::len).sum::<usize>();
        self.heap.len() + lanes + usize::from(self.alone.is_some())
    }

    /// True if none waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next.0.min(self.alone_at) == Nanos::NEVER && self.len() == 0
    }

    /// The events and when they are due, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Nanos, T)> {
        let lanes = self.lanes.iter().flat_map(Ring::iter);
        let all = self.heap.iter().chain(lanes).chain(&self.alone);
        all.map(|entry| (time_of(entry.key), entry.event))
    }

    /// True if the heap and every lane are in order, and every entry has a number that was given
    /// out.
    #[cfg(test)]
    fn is_sound(&self) -> bool {
        let heap = (1..self.heap.len()).all(|i| self.heap[(i - 1) / ARITY].key < self.heap[i].key);
        let ordered = |lane: &Ring<Entry<T>>| {
            let keys = lane.iter().map(|entry| entry.key);
            keys.clone().zip(keys.skip(1)).all(|(one, next)| one < next)
        };
        let pushed = |entry: &Entry<T>| (entry.key as u64) < self.pushed;
        let lanes = self.lanes.iter().flat_map(Ring::iter);
        let mut all = self.heap.iter().chain(lanes).chain(&self.alone);
        heap && self.lanes.iter().all(ordered) && all.all(pushed)
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.lanes.iter_mut().for_each(Ring::clear);
        self.first = [Nanos::NEVER; LANES + 1];
        self.next = (Nanos::NEVER, LANES);
        (self.alone, self.alone_at) = (None, Nanos::NEVER);
    }

    /// Adds an event that is due at `at`.
    #[inline]
    pub fn push(&mut self, at: Nanos, event: T) {
        let key = self.next_key(at);
        self.raise(key, event);
    }

    /// Adds an event of a kind whose times mostly come in order; each kind keeps to its own lane.
    /// One that comes out of order goes to the heap, so that the order of all is the same as with
    /// [`EventQueue::push`].
    #[inline]
    pub fn push_in_order(&mut self, lane: usize, at: Nanos, event: T) {
        let key = self.next_key(at);
        match self.lanes[lane].back() {
            Some(last) if time_of(last.key) > at => return self.raise(key, event),
            Some(_) => {}
            None => self.comes_first(lane, at),
        }
        self.lanes[lane].push_back(Entry { key, event });
    }

    /// Adds an event of a kind of which one waits at most. Another one goes to the heap.
    #[inline]
    pub fn push_alone(&mut self, at: Nanos, event: T) {
        let key = self.next_key(at);
        if self.alone.is_some() || at == Nanos::NEVER {
            return self.raise(key, event);
        }
        (self.alone, self.alone_at) = (Some(Entry { key, event }), at);
    }

    /// The number of a push that may be made later, by [`EventQueue::push_numbered`], or never.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.pushed += 1;
        self.pushed - 1
    }

    /// Adds an event that was given its number in the order of pushing before.
    pub fn push_numbered(&mut self, at: Nanos, number: u64, event: T) {
        self.raise(key_of(at, number), event);
        // It may come before events at its time that have been pushed since.
        self.follows(LANES, self.due(LANES));
    }

    #[inline]
    fn next_key(&mut self, at: Nanos) -> u128 {
        key_of(at, self.number())
    }

    /// Puts an entry into the heap, as high as it belongs. It comes in registers: to copy what has
    /// just been written to memory part by part would wait for the parts.
    #[inline(never)]
    fn raise(&mut self, key: u128, event: T) {
        if time_of(key) < self.first[LANES] {
            self.comes_first(LANES, time_of(key));
        }
        self.heap.push(Entry { key, event });
        let heap = self.heap.as_mut_slice();
        let mut hole = heap.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if heap[parent].key <= key {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = Entry { key, event };
    }

    /// An entry that has been pushed is the first at its place: it may be the first of all. At one
    /// time those come first that are there.
    #[inline]
    fn comes_first(&mut self, place: usize, at: Nanos) {
        self.first[place] = at;
        if at < self.next.0 {
            self.next = (at, place);
        }
    }

    /// The first entry of a place has been taken: the next one there is due at `at`.
    #[inline]
    fn follows(&mut self, place: usize, at: Nanos) {
        self.first[place] = at;
        self.find_next();
    }

    /// Finds the earliest entry by the times of the first ones.
    #[inline]
    fn find_next(&mut self) {
        let [one, two, heap] = self.first;
        let lane = if two < one { (two, 1) } else { (one, 0) };
        self.next = if heap < lane.0 { (heap, LANES) } else { lane };
        if heap == lane.0 || (one == two && heap > one) {
            self.find_first_pushed();
        }
    }

    /// The same where some of them are due at one time, or none is due at all.
    #[cold]
    #[inline(never)]
    fn find_first_pushed(&mut self) {
        let places = (0..=LANES).filter_map(|place| Some((self.front(place)?.key, place)));
        self.next = places
            .min()
            .map_or((Nanos::NEVER, LANES), |(key, place)| (time_of(key), place));
    }

    /// The first entry of a lane, or of the heap behind them.
    #[inline]
    fn front(&self, place: usize) -> Option<&Entry<T>> {
        match self.lanes.get(place) {
            Some(lane) => lane.front(),
            None => self.heap.first(),
        }
    }

    /// When the first entry of a place is due.
    #[inline]
    fn due(&self, place: usize) -> Nanos {
        self.front(place)
            .map_or(Nanos::NEVER, |entry| time_of(entry.key))
    }

    /// When the earliest event is due.
    #[inline]
    #[must_use]
    pub fn peek_at(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(self.next.0.min(self.alone_at))
    }

    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, T)> {
        self.pop_due(Nanos::NEVER)
    }

    /// Takes the earliest event if it is due at or before `to`.
    #[inline(always)]
    pub fn pop_due(&mut self, to: Nanos) -> Option<(Nanos, T)> {
        let (at, place) = self.next;
        if self.alone_at <= at && (self.alone_at < at || self.alone_was_pushed_first()) {
            return self.take_alone(to);
        }
        if at > to {
            return None;
        }
        if at == Nanos::NEVER {
            return self.take_last();
        }
        let Some(lane) = self.lanes.get_mut(place) else {
            return self.take_from_heap();
        };
        let event = lane.pop_front()?.event;
        let next = lane.front().map_or(Nanos::NEVER, |e| time_of(e.key));
        self.follows(place, next);
        Some((at, event))
    }

    #[inline]
    fn take_alone(&mut self, to: Nanos) -> Option<(Nanos, T)> {
        let (alone, at) = (self.alone?, self.alone_at);
        if at > to {
            return None;
        }
        (self.alone, self.alone_at) = (None, Nanos::NEVER);
        Some((at, alone.event))
    }

    /// Of two events at one time, or of none at all: whether the one that waits alone comes first.
    #[cold]
    #[inline(never)]
    fn alone_was_pushed_first(&self) -> bool {
        match (self.alone, self.front(self.next.1)) {
            (Some(alone), Some(other)) => alone.key < other.key,
            (alone, _) => alone.is_some(),
        }
    }

    /// Takes the first of the events that are never due, if there is one.
    #[cold]
    #[inline(never)]
    fn take_last(&mut self) -> Option<(Nanos, T)> {
        self.find_first_pushed();
        let place = self.next.1;
        let entry = match self.lanes.get_mut(place) {
            Some(lane) => lane.pop_front()?,
            None => return self.take_from_heap(),
        };
        self.follows(place, self.due(place));
        Some((time_of(entry.key), entry.event))
    }

    #[inline(never)]
    fn take_from_heap(&mut self) -> Option<(Nanos, T)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        self.follows(LANES, self.due(LANES));
        Some((time_of(first.key), first.event))
    }

    /// Puts an entry in place of the first one, as deep as it belongs.
    #[inline]
    fn sink(&mut self, entry: Entry<T>) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        loop {
            let child = hole * ARITY + 1;
            let Some(least) = least_of(heap, child) else {
                break;
            };
            if heap[least].key >= entry.key {
                break;
            }
            heap[hole] = heap[least];
            hole = least;
        }
        heap[hole] = entry;
    }
}

/// The earliest of the children that begin at `first`; `None` for a leaf.
#[inline]
fn least_of<T>(heap: &[Entry<T>], first: usize) -> Option<usize> {
    let children = heap.get(first..)?;
    let children = &children[..children.len().min(ARITY)];
    let mut least = 0;
    let mut key = children.first()?.key;
    for (i, child) in children.iter().enumerate().skip(1) {
        if child.key < key {
            (least, key) = (i, child.key);
        }
    }
    Some(first + least)
}

#[inline]
fn key_of(at: Nanos, number: u64) -> u128 {
    u128::from(at.0) << 64 | u128::from(number)
}

#[inline]
fn time_of(key: u128) -> Nanos {
    Nanos((key >> 64) as u64)
}

/// A first-in first-out ring whose capacity is fixed when it is built: full is a state, not a
/// surprise.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    items: Ring<T>,
    capacity: usize,
}

impl<T: Copy> Fifo<T> {
    /// An empty ring for `capacity` items.
    #[must_use]
    pub fn new(capacity: usize) -> Fifo<T> {
        Fifo {
            items: Ring::new(),
            capacity,
        }
    }

    /// Appends an item, or hands it back when the ring is full.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.is_full() {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// The oldest item.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.items.front()
    }

    /// The items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Forgets every item.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// How many items it holds.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// How many it can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// True if it holds none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// True if it has no room.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.items.len() >= self.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    #[test]
    fn ties_come_out_in_the_order_pushed() {
        let mut queue = EventQueue::new();
        (0..50).for_each(|n| queue.push(Nanos(7), n));
        queue.push(Nanos(6), 99);
        assert_eq!(queue.pop(), Some((Nanos(6), 99)));
        for n in 0..50 {
            assert_eq!(queue.pop(), Some((Nanos(7), n)));
        }
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn only_what_is_due_comes_out() {
        let mut queue = EventQueue::with_capacity(2);
        queue.push(Nanos(10), 'b');
        queue.push(Nanos(5), 'a');
        assert_eq!(queue.pop_due(Nanos(4)), None);
        assert_eq!(queue.pop_due(Nanos(5)), Some((Nanos(5), 'a')));
        assert_eq!(queue.pop_due(Nanos(9)), None);
        assert_eq!(queue.peek_at(), Some(Nanos(10)));
        queue.clear();
        assert!(queue.is_empty());
        assert_eq!(queue.pop_due(Nanos::NEVER), None);
    }

    #[test]
    fn a_full_ring_hands_the_item_back() {
        let mut ring = Fifo::new(2);
        assert_eq!(ring.push('a'), Ok(()));
        assert_eq!(ring.push('b'), Ok(()));
        assert_eq!(ring.push('c'), Err('c'));
        assert!(ring.is_full());
        assert_eq!(
            (ring.pop(), ring.front(), ring.len()),
            (Some('a'), Some(&'b'), 1)
        );
        assert_eq!(Fifo::new(0).push(1), Err(1));
    }

    proptest! {
        #[test]
        fn heap_and_lanes_agree_with_an_ordered_map(
            steps in prop::collection::vec(
                prop::option::weighted(0.6, (0u64..42, 0..LANES + 3)),
                0..600,
            ),
        ) {
            let mut queue = EventQueue::new();
            let mut reference = BTreeMap::new();
            let mut numbered = Vec::new();
            for (n, step) in steps.into_iter().enumerate() {
                if let Some((at, lane)) = step {
                    let at = if at < 40 { at } else { u64::MAX };
                    if lane > LANES + 1 {
                        numbered.push((Nanos(at), queue.number(), n));
                    } else if lane < LANES {
                        queue.push_in_order(lane, Nanos(at), n);
                    } else if lane > LANES {
                        queue.push_alone(Nanos(at), n);
                    } else {
                        queue.push(Nanos(at), n);
                    }
                    if lane > LANES + 1 {
                        continue;
                    }
                    reference.insert((Nanos(at), n), n);
                } else if let Some((at, number, n)) = numbered.pop().filter(|_| n % 3 == 0) {
                    queue.push_numbered(at, number, n);
                    reference.insert((at, n), n);
                } else {
                    let expected = reference.pop_first().map(|((at, _), n)| (at, n));
                    prop_assert_eq!(queue.pop(), expected);
                }
                prop_assert_eq!(queue.len(), reference.len());
                prop_assert_eq!(queue.is_empty(), reference.is_empty());
                prop_assert!(queue.is_sound());
                if n % 16 == 0 {
                    queue = EventQueue::from(Stored::from(queue));
                }
                prop_assert_eq!(queue.peek_at(), reference.keys().next().map(|(at, _)| *at));
            }
        }

        #[test]
        fn ring_agrees_with_a_deque(
            capacity in 0usize..9,
            steps in prop::collection::vec(prop::option::weighted(0.6, any::<u8>()), 0..200),
        ) {
            let mut ring = Fifo::new(capacity);
            let mut reference = VecDeque::new();
            for step in steps {
                match step {
                    Some(item) if reference.len() < capacity => {
                        prop_assert_eq!(ring.push(item), Ok(()));
                        reference.push_back(item);
                    }
                    Some(item) => prop_assert_eq!(ring.push(item), Err(item)),
                    None => prop_assert_eq!(ring.pop(), reference.pop_front()),
                }
                prop_assert!(ring.iter().eq(reference.iter()));
            }
        }
    }
}
