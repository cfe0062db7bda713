//! A queue in a ring whose length is a power of two: a place is the number of the push, masked.
//!
//! `std`'s deque takes any length and so compares and subtracts to find a place; in the queues
//! that every command passes through that is felt. Items are `Copy`, so that a vacant place simply
//! keeps what it last held.

/// A first-in first-out queue that doubles when it is full.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// As many as a power of two, or none at all.
    places: Vec<T>,
    /// Items taken and items pushed so far; both run on and may wrap.
    taken: usize,
    pushed: usize,
}

impl<T: Copy> Default for Ring<T> {
    fn default() -> Self {
        Ring::new()
    }
}

impl<T: Copy> Ring<T> {
    /// An empty queue. Its places come with the first item.
    #[must_use]
    pub const fn new() -> Ring<T> {
        Ring {
            places: Vec::new(),
            taken: 0,
            pushed: 0,
        }
    }

    /// How many items wait.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.pushed.wrapping_sub(self.taken)
    }

    /// True if none waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pushed == self.taken
    }

    /// Where the item of a number lies; only with places.
    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        if self.len() == self.places.len() {
            self.grow(item);
        }
        let place = self.place(self.pushed);
        self.places[place] = item;
        self.pushed = self.pushed.wrapping_add(1);
    }

    /// Twice as many places, four at the least; `filler` fills the vacant ones.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let count = self.places.len();
        let mut places = Vec::with_capacity((2 * count).max(4));
        places.extend(self.iter().copied());
        places.resize(places.capacity().next_power_of_two(), filler);
        (self.places, self.taken, self.pushed) = (places, 0, count);
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = *self.front()?;
        self.taken = self.taken.wrapping_add(1);
        Some(first)
    }

    /// Takes the newest item.
    #[inline]
    pub fn pop_back(&mut self) -> Option<T> {
        let last = *self.back()?;
        self.pushed = self.pushed.wrapping_sub(1);
        Some(last)
    }

    /// Takes the oldest item, if there is one, without a look at it.
    #[inline]
    pub fn drop_front(&mut self) {
        self.taken = self.taken.wrapping_add(usize::from(!self.is_empty()));
    }

    /// The oldest item.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// The newest item.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The item before which `index` others come.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len() {
            Some(&self.places[self.place(self.taken.wrapping_add(index))])
        } else {
            None
        }
    }

    /// The items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        (0..self.len()).map(|index| &self.places[self.place(self.taken.wrapping_add(index))])
    }

    /// Forgets every item.
    pub fn clear(&mut self) {
        self.taken = self.pushed;
    }
}

/// Stored as the items, oldest first.
impl<T: Copy + serde::Serialize> serde::Serialize for Ring<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

impl<'de, T: Copy + serde::Deserialize<'de>> serde::Deserialize<'de> for Ring<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Ring::from_iter(Vec::deserialize(deserializer)?))
    }
}

impl<T: Copy> FromIterator<T> for Ring<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Ring<T> {
        let mut ring = Ring::new();
        items.into_iter().for_each(|item| ring.push_back(item));
        ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_a_deque(
            steps in prop::collection::vec(prop::option::weighted(0.55, any::<u16>()), 0..400),
            cleared in 0usize..400,
            number in prop::sample::select(vec![0, usize::MAX - 7]),
        ) {
            let mut ring = Ring::new();
            (ring.taken, ring.pushed) = (number, number);
            let mut reference = VecDeque::new();
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Some(item) => {
                        ring.push_back(item);
                        reference.push_back(item);
                    }
                    None if n % 5 == 0 => {
                        prop_assert_eq!(ring.pop_back(), reference.pop_back());
                    }
                    None if n % 2 == 0 => {
                        ring.drop_front();
                        reference.pop_front();
                    }
                    None => prop_assert_eq!(ring.pop_front(), reference.pop_front()),
                }
                if n == cleared {
                    ring.clear();
                    reference.clear();
                }
                prop_assert_eq!(ring.len(), reference.len());
                prop_assert_eq!(ring.is_empty(), reference.is_empty());
                prop_assert_eq!(ring.front(), reference.front());
                prop_assert_eq!(ring.back(), reference.back());
                prop_assert_eq!(ring.get(3), reference.get(3));
                prop_assert!(ring.iter().eq(reference.iter()));
                prop_assert!(ring.places.is_empty() || ring.places.len().is_power_of_two());
            }
            prop_assert!(ring.clone().iter().copied().collect::<Ring<_>>().iter().eq(&reference));
        }
    }
}
