//! Words drawn blindly for keys of the catalogue's drives: few drives are refused, each of them for
//! a contradiction that is known here, and with a hint that names the keys between which to choose.

use std::path::PathBuf;

use flashtwin_base::rng::Rng;
use flashtwin_drive::spec::keys::{KEYS, Kind};
use flashtwin_drive::spec::{self, SpecError};

/// What may be refused, by its key, a part of the message, and why no key can follow the other.
const CONTRADICTIONS: &[(&str, &str, &str)] = &[
    (
        "slc_cache.mode",
        "programs all pages of a wordline at once",
        "no file says how long a page takes by itself",
    ),
    (
        "slc_cache.mode",
        "one bit a cell anyway",
        "both were chosen: the cell and a cache",
    ),
    (
        "gc.separation",
        "would share the SLC cache",
        "an oracle divides the flash, and a cache comes before it",
    ),
    (
        "gc.separation",
        "collected data is packed by itself",
        "compression is the drive's, and not to be turned off by a word of collection",
    ),
    (
        "gc.hot_pool",
        "for",
        "the flash has no room for two pools with spare in each",
    ),
    (
        "map.residency",
        "no way to the host's memory",
        "the link is what the drive is sold by",
    ),
    (
        "controller.gather",
        "write-through",
        "when a write is acknowledged decides what a power cut takes",
    ),
    (
        "fold.path",
        "makes the parity",
        "parity is protection, and not to be turned off by how data moves",
    ),
    (
        "ftl.paired_pages",
        "has to protect them",
        "both were chosen",
    ),
    (
        "ftl.paired_pages",
        "wait for other pages of the",
        "a page in RAM and one that may be lost are not modelled together",
    ),
    (
        "ftl.paired_pages",
        "compressed data",
        "a page in RAM and one that may be lost are not modelled together",
    ),
    (
        "compression.best_ratio",
        "map in pages",
        "compressed units and map pages are not modelled together",
    ),
    (
        "fold.idle_after",
        "nothing ever empties",
        "both were chosen: an own part that is passed by when full, and no time to fold it",
    ),
    (
        "drive.capacity",
        "",
        "the flash has no room for it beside parity, map or open superblocks",
    ),
    (
        "slc_cache.size",
        "of flash at",
        "parity takes room, and the cache would take what is left",
    ),
    (
        "slc_cache.rearm",
        "never come free",
        "as the size, of which it is a share",
    ),
    (
        "fold.reserve",
        "is all of the flash",
        "as the capacity, of which it is a share",
    ),
];

/// Draws for each number of keys.
const DRAWS: u64 = 400;

fn catalogue() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/flashtwin/catalogue/drives")
}

/// Every key that takes a word, `true` and `false` among them, with its words.
fn words() -> Vec<(&'static str, &'static [&'static str])> {
    let words = KEYS.iter().filter_map(|key| match key.kind {
        Kind::Word(words) => Some((key.name, words)),
        Kind::Flag => Some((key.name, &["true", "false"][..])),
        _ => None,
    });
    words.collect()
}

/// A drive of the catalogue and sets for so many of its keys.
fn drawn(rng: &mut Rng, ids: &[String], keys: u64) -> (String, Vec<String>) {
    let pick = |rng: &mut Rng, of: usize| rng.below(of as u64) as usize;
    let id = ids[pick(rng, ids.len())].clone();
    let mut left = words();
    let mut set = || {
        let (key, words) = left.swap_remove(pick(rng, left.len()));
        format!("{key}={}", words[pick(rng, words.len())])
    };
    (id, (0..keys).map(|_| set()).collect())
}

/// Of what was drawn for a number of keys, what is refused.
fn refused(keys: u64) -> Vec<(String, Vec<SpecError>)> {
    let ids = spec::catalogue(&[catalogue()]);
    let draws = (0..DRAWS).filter_map(|seed| {
        let (id, sets) = drawn(&mut Rng::new(seed, keys), &ids, keys);
        let errors = spec::load(&id, &[catalogue()], &[], &sets).err()?;
        Some((format!("{id} {sets:?}"), errors))
    });
    draws.collect()
}

/// The error is one of the contradictions above, and its text names the keys.
fn assert_contradiction(drive: &str, error: &SpecError) {
    let known = CONTRADICTIONS.iter();
    let mut known =
        known.filter(|(key, part, _)| error.key == *key && error.message.contains(part));
    assert!(known.next().is_some(), "{drive}: {error}");
    let told = format!("{} {} {}", error.key, error.message, error.hint);
    let named = KEYS.iter().filter(|key| told.contains(key.name)).count();
    assert!(
        named >= 2 && !error.hint.is_empty(),
        "{drive}: {error}; {}",
        error.hint
    );
}

#[test]
fn few_words_contradict_each_other_and_hints_name_the_keys_between_which_to_choose() {
    for (keys, most_percent) in [(1, 5), (4, 10), (8, 20)] {
        let refused = refused(keys);
        let share = format!("{keys} keys: {} of {DRAWS} refused", refused.len());
        assert!(
            refused.len() as u64 * 100 <= DRAWS * most_percent,
            "{share}"
        );
        println!("{share}");
        for (drive, errors) in &refused {
            errors
                .iter()
                .for_each(|error| assert_contradiction(drive, error));
        }
    }
}

/// A drive that is accepted is the same drive once more when all that it became is written out: no
/// key was changed that would have been refused, and what waits is no mistake.
#[test]
fn what_is_accepted_is_printed_as_a_drive_that_says_all_of_it() {
    let ids = spec::catalogue(&[catalogue()]);
    for seed in 0..100 {
        let (id, sets) = drawn(&mut Rng::new(seed, 8), &ids, 8);
        let Ok(spec) = spec::load(&id, &[catalogue()], &[], &sets) else {
            continue;
        };
        let again = spec::load_text(spec.to_toml(), &[], &[], &[], None);
        let again = again.unwrap_or_else(|errors| panic!("{id} {sets:?}: {errors:?}"));
        assert_eq!(again.hash, spec.hash, "{id} {sets:?}");
        for set in &sets {
            let (key, word) = set.split_once('=').expect("a set");
            let value = spec.values.iter().find(|value| value.key == key);
            assert_eq!(value.expect("a key").text, word, "{id} {sets:?}");
        }
    }
}
