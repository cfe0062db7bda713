//! What the soak draws: every key of the spec, with several values that pass the checks.

use std::collections::{BTreeMap, BTreeSet};

use flashtwin_base::rng::Rng;
use flashtwin_drive::spec::keys::{KEYS, Kind};
use flashtwin_soak::draw;

/// Drives that are drawn.
const DRIVES: u64 = 250;

/// `--nocapture` prints how often each key is drawn, with how many values, and some of them.
#[test]
fn every_key_is_drawn_with_several_values() {
    let mut seen: BTreeMap<&str, BTreeMap<String, u32>> = BTreeMap::new();
    for seed in 0..DRIVES {
        let (_, drive) = draw::drive(&mut Rng::new(seed, 0));
        for set in draw::values(&drive) {
            let (name, value) = set.split_once('=').expect("a value");
            let key = KEYS.iter().find(|key| key.name == name).expect("a key");
            let value = value.trim_matches('"').to_owned();
            *seen.entry(key.name).or_default().entry(value).or_default() += 1;
        }
    }
    let mut lacking = BTreeSet::new();
    for key in KEYS.iter() {
        let drawn = seen.remove(key.name).unwrap_or_default();
        let some: Vec<&str> = drawn.keys().take(6).map(String::as_str).collect();
        let times: u32 = drawn.values().sum();
        println!(
            "{:30} {times} times, {} values: {}",
            key.name,
            drawn.len(),
            some.join(", ")
        );
        let met = match key.kind {
            Kind::Word(words) => words.iter().all(|&word| drawn.contains_key(word)),
            _ => drawn.len() > 1,
        };
        if !met {
            lacking.insert(key.name);
        }
    }
    assert!(
        lacking.is_empty(),
        "drawn with fewer than two values: {lacking:?}"
    );
}
