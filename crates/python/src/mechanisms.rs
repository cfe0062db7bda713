//! What is declared of caches, for inference: designs, rules for a full cache, the second tier, and
//! the keys whose values it looks for.

use flashtwin_drive::spec::choices::{Borrows, DESIGNS, Design, Free, FullRule, RULES, TIER};
use flashtwin_drive::spec::keys::{KEYS, Key};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The most bits a cell of flash that there is.
const MOST_BITS: u32 = 4;

/// `designs`, `full_rules`, `tier` and `keys`, each as it is declared.
#[pyfunction]
pub fn cache_mechanisms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    let designs = DESIGNS.iter().map(|facts| design(py, facts));
    all.set_item(
        "designs",
        PyList::new(py, designs.collect::<PyResult<Vec<_>>>()?)?,
    )?;
    let rules = RULES.iter().map(|facts| full_rule(py, facts));
    all.set_item(
        "full_rules",
        PyList::new(py, rules.collect::<PyResult<Vec<_>>>()?)?,
    )?;
    let tier = PyDict::new(py);
    tier.set_item("called", TIER.class)?;
    tier.set_item("bits", (TIER.least_bits, MOST_BITS))?;
    tier.set_item("seen", TIER.seen)?;
    all.set_item("tier", tier)?;
    let keys = PyList::empty(py);
    for key in KEYS.iter() {
        if let Some(free) = key.free {
            let row = free_value(py, &free)?;
            row.set_item("key", key.name)?;
            row.set_item("meaning", key.meaning)?;
            row.set_item("part", part_of(key))?;
            row.set_item("off", key.only.map(|(_, off)| off.trim_matches('"')))?;
            keys.append(row)?;
        }
    }
    all.set_item("keys", keys)?;
    Ok(all)
}

/// The part of the cache that a key belongs to, or the rule; none where it is of all of them.
fn part_of(key: &Key) -> Option<&'static str> {
    let rule = |rule: &&FullRule| rule.keys.iter().any(|own| own.name == key.name);
    let part = key.only.map(|(part, _)| part.name());
    part.or_else(|| RULES.iter().find(rule).map(|rule| rule.name))
}

fn design<'py>(py: Python<'py>, facts: &Design) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", facts.name)?;
    row.set_item("takes", facts.takes)?;
    row.set_item("called", facts.seen.map(|_| facts.name))?;
    row.set_item("seen", facts.seen)?;
    row.set_item("bits", (facts.least_bits, MOST_BITS))?;
    row.set_item("caches", facts.caches())?;
    row.set_item("owns", facts.owns)?;
    let borrows = match facts.borrows {
        Borrows::Nothing => "nothing",
        Borrows::Sized => "sized",
        Borrows::All => "all",
    };
    row.set_item("borrows", borrows)?;
    Ok(row)
}

fn full_rule<'py>(py: Python<'py>, facts: &FullRule) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", facts.name)?;
    row.set_item("data", facts.data)?;
    row.set_item("called", facts.class)?;
    row.set_item("seen", facts.seen)?;
    let keys: Vec<&str> = facts.keys.iter().map(|own| own.name).collect();
    row.set_item("keys", keys)?;
    let pace = PyDict::new(py);
    for bits in 2..=MOST_BITS {
        pace.set_item(bits, f64::from(facts.pace_milli(bits)) / 1000.0)?;
    }
    row.set_item("pace", pace)?;
    Ok(row)
}

fn free_value<'py>(py: Python<'py>, free: &Free) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", free.name)?;
    row.set_item("title", free.title)?;
    row.set_item("unit", free.unit.name())?;
    row.set_item("range", (free.range[0], free.range[1]))?;
    row.set_item("usual", free.usual)?;
    row.set_item("spread", free.spread)?;
    row.set_item("scale", if free.log { "log" } else { "even" })?;
    row.set_item("seen", free.seen)?;
    Ok(row)
}
