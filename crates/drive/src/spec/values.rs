//! The values of a drive, each with where it comes from.

use super::error::Place;
use super::keys::{self, KEYS, Name};
use super::value::{Datum, Form};

/// A datum with its provenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub datum: Datum,
    pub origin: &'static str,
    pub source: String,
    pub place: Place,
}

/// The values of a drive by position in the key table; a gap is a key that is missing or was
/// refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values(Vec<Option<Entry>>);

impl Values {
    pub fn new() -> Values {
        Values(vec![None; KEYS.len()])
    }

    pub fn put(&mut self, position: usize, entry: Entry) {
        self.0[position] = Some(entry);
    }

    /// Each value of `over` replaces the one that is here.
    pub fn overlay(&mut self, over: &Values) {
        for (position, entry) in over.iter() {
            self.put(position, entry.clone());
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.0
            .iter()
            .enumerate()
            .filter_map(|(position, entry)| Some((position, entry.as_ref()?)))
    }

    pub fn has(&self, position: usize) -> bool {
        self.0[position].is_some()
    }

    /// The entry of a key of the table; a name that is not in it is our mistake.
    pub fn entry<'k>(&self, key: impl Into<&'k str>) -> Option<&Entry> {
        let name = key.into();
        let position = keys::position(name).unwrap_or_else(|| panic!("no key {name}"));
        self.0[position].as_ref()
    }

    /// The value of a key, of the type that it is read as.
    pub fn of<T: Form>(&self, key: Name<T>) -> Option<T> {
        T::of(&self.entry(key)?.datum)
    }

    /// A whole number by the name of its key, in base units where the key has a unit.
    pub fn number(&self, name: &str) -> Option<u64> {
        u64::of(&self.entry(name)?.datum)
    }
}
