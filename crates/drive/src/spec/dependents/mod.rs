//! Turns off what depends on a mechanism with it, and raises what a mechanism needs more of.
//!
//! A layer is a file that extends another, a firmware profile, or the sets of a command line. A
//! layer that turns a mechanism off need not name each key that only makes sense with it: those
//! keys take the value that does nothing. A layer that chooses a mechanism need not count what it
//! needs either: numbers that are too small for it are raised to the least that `check` accepts.
//! Either way the key's source says why, and a note says what it was. A key that the layer gives
//! itself is never changed: values that contradict each other within a layer are refused by
//! `check`.

mod needs;

use super::keys::{self, KEYS, Key};
use super::mechanism::Case;
use super::value::{self, Datum};
use super::values::{Entry, Values};
use needs::NEEDS;

/// A key that changed with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    /// The key and value that did it: "slc_cache.mode = none".
    pub by: String,
    pub key: &'static str,
    /// Its value before.
    pub was: String,
    pub to: New,
}

/// The new value of a key, and how a note calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum New {
    Off,
    Raised(String),
    Lowered(String),
    Set(String),
}

impl New {
    /// The value beside the one that was there.
    fn than(was: &Datum, datum: &Datum) -> New {
        let text = datum.text();
        let number = |datum: &Datum| match datum {
            Datum::Count(number) | Datum::Quantity(number, _) | Datum::Milli(number) => {
                Some(*number)
            }
            _ => None,
        };
        match (number(was), number(datum)) {
            // 0 of a rate is none that is given, and not a low one.
            (Some(_), Some(0)) => New::Set(text),
            (Some(was), Some(new)) if new > was => New::Raised(text),
            (Some(_), Some(_)) => New::Lowered(text),
            _ => New::Set(text),
        }
    }
}

/// Every key that the layer gives replaces what stands here. What depends on a mechanism that the
/// layer turns off is turned off too, and what a mechanism that it chooses needs is changed. The
/// first layer changes nothing else: there is nothing before it.
pub(super) fn overlay(values: &mut Values, layer: &Values) -> Vec<Changed> {
    let before = values.clone();
    values.overlay(layer);
    let mut layered = Layered {
        values,
        layer,
        before: &before,
        changed: Vec::new(),
    };
    for case in Case::BEFORE_PARTS {
        layered.turn_off_in(*case);
    }
    for key in KEYS.iter() {
        if let Some((part, off)) = key.only {
            let is_off = |values: &Values| part.is_there(values).map(|there| !there);
            layered.turn_off(&part.switches(), is_off, [(key.name, off)]);
        }
    }
    for case in after_parts() {
        layered.turn_off_in(case);
    }
    let mut changed = layered.changed;
    for need in NEEDS {
        let given = layer.entry(need.key).is_some() || before.entry(need.key).is_none();
        let switch = switched(need.switches, layer, &changed).filter(|_| !given);
        let Some(cause) = switch.and_then(|switch| Cause::of(switch, values)) else {
            continue;
        };
        if let Some(datum) = (need.fitting)(values, &before) {
            changed.extend(change(values, need.key, datum, &cause));
        }
    }
    changed
}

/// Values with a layer on top, and what has changed with it.
struct Layered<'a> {
    values: &'a mut Values,
    layer: &'a Values,
    before: &'a Values,
    changed: Vec<Changed>,
}

impl Layered<'_> {
    /// Where the layer brings a case about, the keys take their idle value that are off in it.
    fn turn_off_in(&mut self, case: Case) {
        let keys = off_in(case).map(|key| (key.name, key.idle_value()));
        self.turn_off(case.switches(), |values| case.holds(values), keys);
    }

    /// Where the layer gives one of the switches and something is off with it, what depends on that
    /// takes the value that does nothing.
    fn turn_off(
        &mut self,
        switches: &[&'static str],
        is_off: impl Fn(&Values) -> Option<bool>,
        dependents: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) {
        let Some(switch) = switched(switches, self.layer, &self.changed) else {
            return;
        };
        if is_off(self.values) != Some(true) {
            return;
        }
        let Some(cause) = Cause::of(switch, self.values) else {
            return;
        };
        for (key, off) in dependents {
            if self.layer.entry(key).is_none() {
                let off = turn_off(self.values, self.before, key, off, &cause);
                self.changed.extend(off);
            }
        }
    }
}

/// The first of the switches that the layer gives or has changed.
fn switched(
    switches: &[&'static str],
    layer: &Values,
    changed: &[Changed],
) -> Option<&'static str> {
    let is_new = |key: &&&str| {
        layer.entry(**key).is_some() || changed.iter().any(|earlier| earlier.key == **key)
    };
    switches.iter().find(is_new).copied()
}

/// The key and value that another one changes with.
struct Cause {
    /// "slc_cache.mode = none"
    text: String,
    entry: Entry,
}

impl Cause {
    fn of(switch: &str, values: &Values) -> Option<Cause> {
        let entry = values.entry(switch)?.clone();
        Some(Cause {
            text: format!("{switch} = {}", entry.datum.text()),
            entry,
        })
    }

    /// Puts a value at a position; its source is this cause, after `why`.
    fn put(&self, values: &mut Values, position: usize, datum: Datum, why: &str) {
        let entry = Entry {
            datum,
            origin: self.entry.origin,
            source: format!("{why} {}", self.text),
            place: self.entry.place.clone(),
        };
        values.put(position, entry);
    }
}

/// Nothing where the key is off already, or no layer before gave it a value.
fn turn_off(
    values: &mut Values,
    before: &Values,
    key: &'static str,
    off: &str,
    cause: &Cause,
) -> Option<Changed> {
    before.entry(key)?;
    let position = keys::position(key)?;
    let datum: Datum = value::default(&KEYS[position], off);
    let was = values.entry(key).filter(|entry| entry.datum != datum)?;
    let was = was.datum.text();
    cause.put(values, position, datum, "off with");
    Some(Changed {
        by: cause.text.clone(),
        key,
        was,
        to: New::Off,
    })
}

/// Nothing where the key has the value.
fn change(values: &mut Values, key: &'static str, datum: Datum, cause: &Cause) -> Option<Changed> {
    let was = values.entry(key).filter(|entry| entry.datum != datum)?;
    let (was, to) = (was.datum.text(), New::than(&was.datum, &datum));
    cause.put(values, keys::position(key)?, datum, "needed by");
    Some(Changed {
        by: cause.text.clone(),
        key,
        was,
        to,
    })
}

/// A sentence for each switch and for what it does.
pub(super) fn notes(changed: &[Changed]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for Changed { by, key, was, to } in changed {
        let (verb, part) = match to {
            New::Off => ("turns off", format!("{key} ({was})")),
            New::Raised(to) => ("raises", format!("{key} from {was} to {to}")),
            New::Lowered(to) => ("lowers", format!("{key} from {was} to {to}")),
            New::Set(to) => ("sets", format!("{key} from {was} to {to}")),
        };
        let head = format!("{by} also {verb}");
        match notes.iter_mut().find(|(other, _)| *other == head) {
            Some((_, parts)) => parts.push(part),
            None => notes.push((head, vec![part])),
        }
    }
    let sentence = |(head, parts): (String, Vec<String>)| format!("{head} {}", parts.join(", "));
    notes.into_iter().map(sentence).collect()
}

/// The cases that follow the parts which a cache lacks.
fn after_parts() -> impl Iterator<Item = Case> {
    let all = Case::ALL.iter().copied();
    all.filter(|case| !Case::BEFORE_PARTS.contains(case))
}

/// The keys that are off in a case.
fn off_in(case: Case) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.off.contains(&case))
}

/// Of each case or part the keys that switch it, and those that hang on them with what they are
/// then.
pub fn rules() -> impl Iterator<Item = (Vec<&'static str>, Vec<(&'static str, &'static str)>)> {
    let cases = Case::ALL.iter().map(|case| {
        let keys = off_in(*case).map(|key| (key.name, key.idle_value()));
        (case.switches().to_vec(), keys.collect())
    });
    let parts = KEYS.iter().filter_map(|key| {
        let (part, off) = key.only?;
        Some((part.switches(), vec![(key.name, off)]))
    });
    cases.chain(parts)
}

/// Of each key that another value needs, the keys that do and the key itself.
pub fn needs() -> impl Iterator<Item = (Words, &'static str)> {
    NEEDS.iter().map(|need| (need.switches, need.key))
}

type Words = &'static [&'static str];
