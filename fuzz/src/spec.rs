//! Specs: any text loads or is refused with messages, and what loads can be printed, read again
//! and built.
//!
//! The text is a spec. Comments that begin with `#set`, `#firmware` or `#scale` are the options of
//! the command line. A spec may extend `base` (41 GB) or `small` (some MB, so that it is built).

use flashtwin_base::rng::Rng;
use flashtwin_drive::spec::keys::{self, KEYS};
use flashtwin_drive::spec::{self, Spec, SpecError};
use flashtwin_drive::{Config, Drive};

use crate::draw::{pick, value};

/// What a spec may extend.
pub(crate) const PARENTS: [(&str, &str); 2] = [
    ("base", include_str!("base.toml")),
    ("small", include_str!("small.toml")),
];

/// Only drives with at most this number of mapping units, and of blocks, are built: thousands a
/// second.
const UNITS_MOST: u64 = 1 << 16;

/// Holds a text against what must be true of any; the answer is whether it is one that is right.
///
/// # Panics
/// Where it is not.
pub fn check(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let option = |name: &str| {
        let of = |line: &str| Some(line.strip_prefix(name)?.trim().to_owned());
        text.lines().filter_map(of).collect::<Vec<String>>()
    };
    let scale = option("#scale ");
    let scale = scale.first().map(String::as_str);
    let (firmware, sets) = (option("#firmware "), option("#set "));
    match spec::load_text(text, &PARENTS, &firmware, &sets, scale) {
        Ok(spec) => {
            loads_again_and_builds(&spec);
            true
        }
        Err(errors) => {
            are_told(&errors, text);
            false
        }
    }
}

fn loads_again_and_builds(spec: &Spec) {
    let again = spec::load_text(spec.to_toml(), &[], &[], &[], None);
    let again = again.unwrap_or_else(|errors| panic!("{errors:?} in\n{}", spec.to_toml()));
    assert_eq!(spec.hash, again.hash, "{}", spec.to_toml());
    assert_eq!(spec.config, again.config, "{}", spec.to_toml());
    assert_eq!(spec.to_toml(), again.to_toml());
    if units(&spec.config) <= UNITS_MOST {
        Drive::new(&spec.config, 1).ftl().check();
    }
}

/// Mapping units and blocks of the flash, which a drive has tables for.
pub(crate) fn units(config: &Config) -> u64 {
    let flash = &config.part.geometry;
    let numbers = [
        flash.channels,
        flash.dies_per_channel,
        flash.planes,
        flash.blocks_per_plane,
        flash.wordlines_per_block,
        flash.cell.bits(),
    ];
    let pages = numbers.iter().try_fold(1_u64, |product, number| {
        product.checked_mul(u64::from(*number))
    });
    let slots = u64::from(flash.page_bytes.div_ceil(config.policy.unit_bytes))
        * u64::from(config.policy.compression_ratio.max(1));
    pages
        .and_then(|pages| pages.checked_mul(slots))
        .unwrap_or(u64::MAX)
}

fn are_told(errors: &[SpecError], text: &str) {
    assert!(!errors.is_empty(), "refused without a word");
    let lines = text.lines().count() + 1;
    for error in errors {
        assert!(
            !error.message.is_empty() && !error.hint.is_empty(),
            "{error:?}"
        );
        let own = error.file == "text";
        assert!(
            !own || error.line.is_none_or(|line| line <= lines),
            "{error:?}"
        );
    }
}

/// The text with one value changed, or one option more; none where it is not text.
#[must_use]
pub fn mutate(data: &[u8], seed: u64) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(data).ok()?;
    let mut rng = Rng::new(seed, 0);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let valued: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].contains('='))
        .collect();
    match rng.below(8) {
        0..3 => {
            let key = &KEYS[rng.below(KEYS.len() as u64) as usize];
            let value = value(key, &mut rng);
            lines.push(format!("#set {}={}", key.name, value.trim_matches('"')));
        }
        3 => lines.push(format!("#scale 1/{}", 1 + rng.below(70))),
        4 if !lines.is_empty() => {
            lines.swap_remove(rng.below(lines.len() as u64) as usize);
        }
        _ if valued.is_empty() => return None,
        _ => {
            let at = pick(&mut rng, &valued);
            let (name, _) = lines[at].split_once('=')?;
            let word = name.trim().rsplit(['.', ' ']).next().unwrap_or_default();
            let same = KEYS
                .iter()
                .filter(|key| key.name[keys::section_of(key.name).len() + 1..] == *word);
            let same: Vec<usize> = same.filter_map(|key| keys::position(key.name)).collect();
            let key = match same.is_empty() {
                true => rng.below(KEYS.len() as u64) as usize,
                false => pick(&mut rng, &same),
            };
            lines[at] = format!("{name}= {}", value(&KEYS[key], &mut rng));
        }
    }
    Some(lines.join("\n").into_bytes())
}
