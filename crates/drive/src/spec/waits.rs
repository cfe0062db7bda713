//! Values that do nothing for now, because what they act on is not there.
//!
//! Such a value contradicts nothing: it waits for another key, so that sets and sweeps can switch a
//! mechanism on and off by one key. Where somebody gave the value, a note says what it waits for.

use super::keys::{self, KEYS, Key};
use super::value::{self, Datum};
use super::values::{Entry, Values};

/// The values with those that wait at rest: what the drive does.
pub(super) fn resting(values: &Values) -> Values {
    let mut resting = values.clone();
    for (key, entry, _) in waiting(values) {
        let position = keys::position(key.name).expect("a key of the table");
        let datum = idle(key);
        resting.put(
            position,
            Entry {
                datum,
                ..entry.clone()
            },
        );
    }
    resting
}

fn idle(key: &Key) -> Datum {
    value::default(key, key.idle_value())
}

/// The keys that wait for another one, each with its value and the reason.
fn waiting(values: &Values) -> impl Iterator<Item = (&'static Key, &Entry, &'static str)> {
    KEYS.iter().filter_map(|key| {
        let why = reason(key, values)?;
        let entry = values.entry(key.name)?;
        (entry.datum != idle(key)).then_some((key, entry, why))
    })
}

/// Why a key waits; none where it does not, or where a value that says so was refused.
fn reason(key: &Key, values: &Values) -> Option<&'static str> {
    for (case, why) in key.waits {
        if case.holds(values)? {
            return Some(why);
        }
    }
    None
}

/// A sentence for each value that waits.
pub(super) fn notes(values: &Values) -> Vec<String> {
    let note = |(key, entry, why): (&Key, &Entry, &str)| {
        format!("{} = {} waits: {why}", key.name, entry.datum.text())
    };
    waiting(values).map(note).collect()
}
