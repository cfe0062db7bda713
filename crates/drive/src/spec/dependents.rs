//! What depends on a mechanism is turned off with it.
//!
//! A later layer (a file that extends another, a firmware profile, the sets of a command line) that
//! turns a mechanism off need not name each key that only makes sense with it: those that come from
//! earlier layers take the value that does nothing, keep a source that says why, and are told in a
//! note. What one layer says itself is never touched, so that values that contradict each other
//! within a layer are refused by `check` as ever.

use super::check::cache::{design, full_rule};
use super::keys::{self, KEYS};
use super::value::{self, Datum, Entry, Values};

/// While `off` holds, the keys of `dependents` could only contradict; they take the value beside
/// them. `off` knows only keys of `switches`: setting one of these is what can turn something off.
struct Rule {
    switches: &'static [&'static str],
    off: fn(&Values) -> Option<bool>,
    dependents: &'static [(&'static str, &'static str)],
}

const DIRECT: (&str, &str) = ("slc_cache.when_full", "\"direct\"");
const NO_SIZE: (&str, &str) = ("slc_cache.size", "0");
const NO_TABLE: (&str, &str) = ("slc_cache.size_by_fill", "[]");
const NO_STATIC: (&str, &str) = ("slc_cache.static_size", "0");
const NO_RESERVE: (&str, &str) = ("fold.reserve", "0");
const NO_PACE: (&str, &str) = ("fold.pace", "0");
const NO_LOW: (&str, &str) = ("fold.low", "0");

/// In an order in which a rule comes before those that depend on its keys.
const RULES: &[Rule] = &[
    Rule {
        switches: &["nand.tier.bits"],
        off: |values| Some(values.number("nand.tier.bits")? == 0),
        dependents: &[("slc_cache.tier_size", "0")],
    },
    // No blocks in SLC mode: nothing to fill, nothing to fold.
    Rule {
        switches: &["slc_cache.mode"],
        off: |values| Some(!design(values)?.caches()),
        dependents: &[
            NO_SIZE,
            NO_TABLE,
            NO_STATIC,
            ("slc_cache.tier_size", "0"),
            DIRECT,
            NO_RESERVE,
            NO_PACE,
            NO_LOW,
            ("fold.idle_after", "\"never\""),
        ],
    },
    // Each of these modes has its own parts.
    Rule {
        switches: &["slc_cache.mode"],
        off: |values| Some(!design(values)?.is_sized()),
        dependents: &[NO_SIZE, NO_TABLE],
    },
    Rule {
        switches: &["slc_cache.mode"],
        off: |values| Some(!design(values)?.owns),
        dependents: &[NO_STATIC],
    },
    // Own blocks give no room back, unless they lend it to a second tier.
    Rule {
        switches: &["slc_cache.mode", "slc_cache.tier_size"],
        off: |values| {
            let alone = values.number("slc_cache.tier_size")? == 0;
            Some(alone && !design(values)?.lends())
        },
        dependents: &[NO_RESERVE, NO_LOW],
    },
    Rule {
        switches: &[
            "slc_cache.mode",
            "slc_cache.tier_size",
            "slc_cache.when_full",
        ],
        off: |values| {
            let alone = values.number("slc_cache.tier_size")? == 0;
            let direct = full_rule(values)?.bypasses;
            Some(alone && direct && !design(values)?.lends())
        },
        dependents: &[NO_PACE],
    },
    // Nothing goes past the cache that could be folded for.
    Rule {
        switches: &["slc_cache.when_full"],
        off: |values| Some(!full_rule(values)?.bypasses),
        dependents: &[("fold.rearm_pace", "0")],
    },
    Rule {
        switches: &["fold.path"],
        off: |values| Some(values.word("fold.path")? == "controller"),
        dependents: &[("fold.check_every", "0")],
    },
    Rule {
        switches: &["fold.check_every"],
        off: |values| Some(values.number("fold.check_every")? == 0),
        dependents: &[("fold.check_errors", "0")],
    },
    Rule {
        switches: &["errors.correctable"],
        off: |values| Some(values.number("errors.correctable")? == 0),
        dependents: &[
            ("errors.rebuild", "false"),
            ("fold.check_errors", "0"),
            ("errors.slc.read_limit", "0"),
            ("errors.native.read_limit", "0"),
        ],
    },
    Rule {
        switches: &["ftl.parity"],
        off: |values| Some(values.word("ftl.parity")? == "none"),
        dependents: &[("errors.rebuild", "false")],
    },
    Rule {
        switches: &["ftl.checkpoint"],
        off: |values| Some(values.number("ftl.checkpoint")? == 0),
        dependents: &[("ftl.trim_journal", "false")],
    },
    Rule {
        switches: &["nand.native.second_pass"],
        off: |values| Some(values.number("nand.native.second_pass")? == 0),
        dependents: &[("nand.native.third_pass", "0")],
    },
    Rule {
        switches: &["nand.native.third_pass"],
        off: |values| Some(values.number("nand.native.third_pass")? == 0),
        dependents: &[("nand.native.fourth_pass", "0")],
    },
    Rule {
        switches: &["controller.acknowledge"],
        off: |values| Some(values.word("controller.acknowledge")? == "write-through"),
        dependents: &[("controller.gather", "false")],
    },
    Rule {
        switches: &["controller.read_ahead"],
        off: |values| Some(values.number("controller.read_ahead")? == 0),
        dependents: &[("controller.read_ahead_streams", "0")],
    },
    Rule {
        switches: &["controller.read_priority"],
        off: |values| Some(!values.flag("controller.read_priority")?),
        dependents: &[
            ("nand.suspend.program", "false"),
            ("nand.suspend.erase", "false"),
        ],
    },
];

/// A key that was turned off with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnedOff {
    /// The key and value that did it: "slc_cache.mode = none".
    pub by: String,
    pub key: &'static str,
    /// What it was before.
    pub was: String,
}

/// Everything that the layer says replaces what stands here. What depends on a mechanism that the
/// layer turns off is turned off too.
pub(super) fn overlay(values: &mut Values, layer: &Values) -> Vec<TurnedOff> {
    values.overlay(layer);
    let mut turned: Vec<TurnedOff> = Vec::new();
    for rule in RULES {
        let changed = |key: &&&str| {
            layer.entry(key).is_some() || turned.iter().any(|earlier| earlier.key == **key)
        };
        let Some(switch) = rule.switches.iter().find(changed) else {
            continue;
        };
        if (rule.off)(values) != Some(true) {
            continue;
        }
        let Some(switch) = values.entry(switch).map(|entry| (*switch, entry.clone())) else {
            continue;
        };
        let others = rule
            .dependents
            .iter()
            .filter(|(key, _)| layer.entry(key).is_none());
        turned.extend(others.filter_map(|(key, off)| turn_off(values, key, off, &switch)));
    }
    turned
}

/// Nothing where the key is off already, or no layer has given it a value yet: a default is no part
/// of a mechanism.
fn turn_off(
    values: &mut Values,
    key: &'static str,
    off: &str,
    (switch, by): &(&str, Entry),
) -> Option<TurnedOff> {
    let position = keys::position(key)?;
    let datum: Datum = value::default(&KEYS[position], off);
    let was = values.entry(key).filter(|entry| entry.datum != datum)?;
    let turned = TurnedOff {
        by: format!("{switch} = {}", by.datum.text()),
        key,
        was: was.datum.text(),
    };
    let entry = Entry {
        datum,
        origin: by.origin,
        source: format!("off with {}", turned.by),
        place: by.place.clone(),
    };
    values.put(position, entry);
    Some(turned)
}

/// A sentence for each switch.
pub(super) fn notes(turned: &[TurnedOff]) -> Vec<String> {
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for off in turned {
        let part = format!("{} ({})", off.key, off.was);
        match notes.iter_mut().find(|(by, _)| *by == off.by) {
            Some((_, parts)) => parts.push(part),
            None => notes.push((&off.by, vec![part])),
        }
    }
    let sentence =
        |(by, parts): (&str, Vec<String>)| format!("{by} also turns off {}", parts.join(", "));
    notes.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_keys_and_values_that_there_are() {
        for rule in RULES {
            for switch in rule.switches {
                assert!(keys::position(switch).is_some(), "{switch}");
            }
            for (name, off) in rule.dependents {
                let key = &KEYS[keys::position(name).expect(name)];
                let off = value::default(key, off);
                // A drive that never mentions the key has it off.
                if let Some(text) = key.default {
                    assert_eq!(value::default(key, text), off, "{name}");
                }
            }
        }
    }
}
