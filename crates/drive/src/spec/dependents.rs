//! What depends on a mechanism is turned off with it, and what a mechanism needs more of is raised.
//!
//! A layer is a file that extends another, a firmware profile, or the sets of a command line. A
//! layer that turns a mechanism off need not name each key that only makes sense with it: those
//! keys take the value that does nothing. A layer that chooses a mechanism need not count what it
//! needs either: numbers that are too small for it are raised to the least that `check` accepts.
//! Either way the key's source says why, and a note says what it was. A key that the layer gives
//! itself is never changed: values that contradict each other within a layer are refused by
//! `check`.

use super::check::cache::{design, full_rule};
use super::check::gc;
use super::check::link::NCQ;
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

/// A rule comes before those that depend on its keys.
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
    // SATA has one queue, no placement handles, and no way to the host's memory.
    Rule {
        switches: &["link.kind"],
        off: is_sata,
        dependents: &[("link.queues", "1"), ("fdp.handles", "1")],
    },
    Rule {
        switches: &["link.kind"],
        off: |values| Some(is_sata(values)? && values.number("link.queue_depth")? > NCQ),
        dependents: &[("link.queue_depth", "32")],
    },
    Rule {
        switches: &["link.kind"],
        off: |values| Some(is_sata(values)? && values.word("map.residency")? == "hmb"),
        dependents: &[("map.residency", "\"demand\"")],
    },
    Rule {
        switches: &["fdp.handles"],
        off: |values| Some(values.number("fdp.handles")? == 1),
        dependents: &[("fdp.isolation", "\"initial\"")],
    },
    Rule {
        switches: &["wear.spares"],
        off: |values| {
            let without = values.number("wear.spares")? == 0;
            Some(without && values.word("wear.read_only_at")? == "spares-gone")
        },
        dependents: &[("wear.read_only_at", "\"reserve-gone\"")],
    },
];

fn is_sata(values: &Values) -> Option<bool> {
    Some(values.word("link.kind")? == "sata")
}

/// These keys decide how many streams are open besides those of every drive.
const STREAMS: &[&str] = &["gc.separation", "fdp.handles", "fdp.isolation"];

/// A layer that gives one of `STREAMS` needs the key to have this number or more. The function
/// answers none where there are no further streams.
type Need = (&'static str, fn(&Values) -> Option<u64>);

/// A need comes before those that depend on its key.
const NEEDS: &[Need] = &[
    ("gc.low", gc::least_low),
    ("gc.high", |values| {
        gc::least_low(values)?;
        values.number("gc.low")
    }),
    ("gc.idle_target", |values| {
        gc::least_low(values)?;
        let idle = values.entry("gc.idle_after")?.datum != Datum::Never;
        idle.then_some(values.number("gc.high")? + 1)
    }),
];

/// A key that changed with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    /// The key and value that did it: "slc_cache.mode = none".
    pub by: String,
    pub key: &'static str,
    /// What it was before.
    pub was: String,
    /// What it was raised to; none where it was turned off.
    pub raised: Option<String>,
}

/// Every key that the layer gives replaces what stands here. What depends on a mechanism that the
/// layer turns off is turned off too, and what a mechanism that it chooses needs is raised.
pub(super) fn overlay(values: &mut Values, layer: &Values) -> Vec<Changed> {
    values.overlay(layer);
    let mut changed: Vec<Changed> = Vec::new();
    for rule in RULES {
        let Some(switch) = switched(rule.switches, layer, &changed) else {
            continue;
        };
        if (rule.off)(values) != Some(true) {
            continue;
        }
        let Some(cause) = Cause::of(switch, values) else {
            continue;
        };
        let others = rule
            .dependents
            .iter()
            .filter(|(key, _)| layer.entry(key).is_none());
        changed.extend(others.filter_map(|(key, off)| turn_off(values, key, off, &cause)));
    }
    let cause = switched(STREAMS, layer, &changed).and_then(|switch| Cause::of(switch, values));
    if let Some(cause) = cause {
        let others = NEEDS.iter().filter(|(key, _)| layer.entry(key).is_none());
        changed.extend(others.filter_map(|need| raise(values, *need, &cause)));
    }
    changed
}

/// The first of the switches that the layer gives or has changed.
fn switched<'s>(switches: &[&'s str], layer: &Values, changed: &[Changed]) -> Option<&'s str> {
    let is_new = |key: &&&str| {
        layer.entry(key).is_some() || changed.iter().any(|earlier| earlier.key == **key)
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

/// Nothing where the key is off already, or no layer has given it a value yet: a default is no part
/// of a mechanism.
fn turn_off(values: &mut Values, key: &'static str, off: &str, cause: &Cause) -> Option<Changed> {
    let position = keys::position(key)?;
    let datum: Datum = value::default(&KEYS[position], off);
    let was = values.entry(key).filter(|entry| entry.datum != datum)?;
    let was = was.datum.text();
    cause.put(values, position, datum, "off with");
    Some(Changed {
        by: cause.text.clone(),
        key,
        was,
        raised: None,
    })
}

/// Nothing where the number is large enough, or no layer has given it yet.
fn raise(values: &mut Values, (key, least): Need, cause: &Cause) -> Option<Changed> {
    let least = least(values)?;
    let was = values.number(key).filter(|&number| number < least)?;
    let position = keys::position(key)?;
    cause.put(values, position, Datum::Count(least), "needed by");
    Some(Changed {
        by: cause.text.clone(),
        key,
        was: was.to_string(),
        raised: Some(least.to_string()),
    })
}

/// A sentence for each switch and for what it does.
pub(super) fn notes(changed: &[Changed]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for Changed {
        by,
        key,
        was,
        raised,
    } in changed
    {
        let (verb, part) = match raised {
            None => ("turns off", format!("{key} ({was})")),
            Some(least) => ("raises", format!("{key} from {was} to {least}")),
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
                // A drive that never mentions the key has it off. Depth 32 is SATA's most.
                if let Some(text) = key.default.filter(|_| *name != "link.queue_depth") {
                    assert_eq!(value::default(key, text), off, "{name}");
                }
            }
        }
        for name in STREAMS.iter().chain(NEEDS.iter().map(|(name, _)| name)) {
            assert!(keys::position(name).is_some(), "{name}");
        }
    }
}
