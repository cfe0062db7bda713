//! Random drives: values over all policies, small flash.
//!
//! What depends on each other (flash, cache, collection, room for the host) is drawn together so
//! that most drives are right; everything else in the table of keys is drawn by its kind. The
//! spec's own checks have the last word.

mod controller;
mod flash;
mod health;

use flashtwin_base::rng::Rng;
use flashtwin_drive::spec::keys::{KEYS, Key, Kind};
use flashtwin_drive::{Config, spec};
use flashtwin_ftl::choices::{CacheMode, DESIGNS, Design, FullRule, Pace, Recycler, WhenFull};
use flashtwin_ftl::lifetimes;
use flashtwin_ftl::orders::{NAMES, ORDERS};
use flashtwin_ftl::policy::Separation;

use flash::Shape;

/// The drive that all others are made of by `--set`.
const BASE: &str = include_str!("base.toml");

/// The base with these values.
///
/// # Panics
/// Where the spec's checks refuse it.
#[must_use]
pub fn load(sets: &[&str]) -> Config {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let spec = spec::load_text(BASE, &[], &[], &sets, None);
    spec.unwrap_or_else(|errors| panic!("{sets:?}: {errors:?}"))
        .config
}

/// The values of a drive in a line, which have spaces in them as their names have none.
#[must_use]
pub fn values(line: &str) -> Vec<String> {
    let mut sets: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let names = word
            .split_once('=')
            .is_some_and(|(name, _)| name.contains('.'));
        match sets.last_mut() {
            Some(last) if !names => *last += &format!(" {word}"),
            _ => sets.push(word.to_owned()),
        }
    }
    sets
}

/// One of these.
#[must_use]
pub fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// A number from `low` to `high`.
pub fn between(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

/// Placement handles, and the superblocks that they keep open beside those of any drive.
struct Handles {
    handles: u64,
    isolation: &'static str,
    extra: u64,
}

fn handles(rng: &mut Rng, shape: &Shape, mode: &str, separation: &str) -> Handles {
    let possible = shape.nvme && mode == "none" && separation == "gc";
    let handles = if possible { between(rng, 1, 8) } else { 1 };
    let isolation = match handles {
        1 => "initial",
        _ => pick(rng, &["initial", "persistent"]),
    };
    let streams = if isolation == "initial" { 1 } else { 2 };
    Handles {
        handles,
        isolation,
        extra: streams * (handles - 1),
    }
}

/// Cache, folding, collection and what is left for the host; whether something is.
fn policies(rng: &mut Rng, shape: &mut Shape) -> bool {
    let native = shape.slc * shape.bits;
    let design = design(rng, shape);
    let mode = design.name;
    let uncached = !design.caches();
    // Checkpoints need two blocks of each die, one of which is erased while the other counts.
    let system = match shape.checkpoints {
        true => shape.groups + between(rng, 1, 2),
        false => between(rng, 0, 2),
    };
    let most = (shape.superblocks / 3).max(1);
    let part = |rng: &mut Rng, asked: bool| if asked { between(rng, 1, most) } else { 0 };
    let borrowed = part(rng, design.is_sized());
    let own = part(rng, design.owns);
    let (tier_bits, tier) = tier(rng, shape, uncached);
    let borrows = design.lends() || (!uncached && tier > 0);
    let past = if uncached {
        "direct"
    } else {
        pick(rng, WhenFull::NAMES)
    };
    let rule = FullRule::named(past).expect("a word");
    let pace = match rule {
        _ if rule.flows() => pick(rng, &["1", "1.5", "3"]),
        _ if uncached => "0",
        _ if rule.bypasses && !borrows => "0",
        _ if !borrows => pick(rng, &["0", "0.5", "1.5"]),
        _ if !design.lends() => pick(rng, &["0", "0.1", "0.5", "2"]),
        _ => pick(rng, &["0.1", "0.5", "1", "2"]),
    };
    let idle = match rule {
        _ if uncached => "never",
        _ if rule.bypasses && !design.lends() => pick(rng, &["10 ms", "1 s", "30 s"]),
        _ => pick(rng, &["never", "10 ms", "1 s", "30 s"]),
    };
    let reserve = if borrows { between(rng, 0, 6) } else { 0 };
    // One is too few: collection cannot erase what it emptied before its last granule is full, and
    // folding leaves the last free superblock to it.
    let held = pick(rng, &[2, 2, 3, 4]);
    let (separation, classes) = separation(rng, mode);
    let fdp = handles(rng, shape, mode, separation);
    let extra = fdp.extra + classes;
    let low = held + between(rng, 1, 3) + if extra > 0 { 1 + extra } else { 0 };
    let high = low + between(rng, 0, 3);
    // Each mover's open superblock may have room that the host cannot use, and one may be in erase.
    let movers = if uncached { 1 } else { 2 } + u64::from(tier > 0);
    let paged = map(rng, shape);
    let pool = if paged { between(rng, 4, 8) } else { 0 };
    let lanes = (shape.groups - 1) * (2 * movers + extra) + extra;
    // Static wear levelling, where it is drawn, has a superblock open in each group.
    let spare = lanes + shape.groups + high.max(held + 2 + movers);
    let room = shape
        .superblocks
        .saturating_sub(system + own + spare + pool);
    let capacity = room * native * between(rng, 50, 100) / 100 / 512 * 512;
    let rearm = pick(rng, &[1, 1, borrowed + own, (borrowed + own) / 2]).max(1);
    let above = high + between(rng, 1, 12);
    let target = pick(rng, &[0, above, above, 1_000_000]);
    choices(rng, shape, (design, rule), borrowed);
    pairs(rng, shape, design);
    shape.sets.extend([
        format!("slc_cache.mode={mode}"),
        format!("nand.tier.bits={tier_bits}"),
        format!("slc_cache.tier_size={} B", tier * tier_bits * shape.slc),
        format!("slc_cache.static_size={} B", own * shape.slc),
        format!("slc_cache.when_full={past}"),
        format!("slc_cache.rearm={} B", rearm * shape.slc),
        format!("fold.pace={pace}"),
        format!("fold.idle_after={idle}"),
        format!("fold.reserve={} B", reserve * native),
        format!("ftl.system={} B", system * shape.raw),
        format!("gc.reserve={held}"),
        format!("gc.separation={separation}"),
        format!("gc.hot_share={}", pick(rng, &["0.1", "0.3", "0.6"])),
        format!("gc.hot_pool={}", pick(rng, &["0.2", "0.4", "0.6"])),
        format!("fdp.handles={}", fdp.handles),
        format!("fdp.isolation={}", fdp.isolation),
        format!("gc.pace={}", first_often(rng, Pace::NAMES)),
        format!(
            "gc.idle_after={}",
            match target {
                0 => "never",
                _ => pick(rng, &["never", "10 ms", "1 s"]),
            }
        ),
        format!("gc.idle_target={target}"),
        format!("gc.recycler={}", first_often(rng, Recycler::NAMES)),
    ]);
    order(rng, shape);
    shape.sets.extend([
        format!("gc.low={low}"),
        format!("gc.high={high}"),
        format!("drive.capacity={capacity} B"),
    ]);
    capacity > 0
}

/// A design of the cache that the flash allows.
fn design(rng: &mut Rng, shape: &Shape) -> &'static Design {
    if shape.bits == 1 {
        return CacheMode::None.design();
    }
    let by_pages = !shape.one_shot && shape.groups == 1 && rng.chance(20);
    let possible = |design: &&Design| design.lower_pages_first == by_pages;
    let designs: Vec<&Design> = DESIGNS.iter().filter(possible).collect();
    match designs[..] {
        // Nothing is drawn, so that seeds tell the stories that they have told before.
        [only] => only,
        _ => pick(rng, &designs),
    }
}

/// A separation, the usual one twice as often as the others, and the superblocks that it keeps open
/// beside those of any drive. None that needs the host's data undivided by a cache beside one.
fn separation(rng: &mut Rng, mode: &str) -> (&'static str, u64) {
    let of = |word: &str| Separation::named(word).expect("a word");
    let fits = |word: &&&str| mode == "none" || !of(word).divides_pools();
    let usual = |word: &str| if of(word) == Separation::Gc { 2 } else { 1 };
    let words = lifetimes::WORDS.iter().filter(fits);
    let words: Vec<&str> = words.flat_map(|&word| vec![word; usual(word)]).collect();
    let word = pick(rng, &words);
    let (host, collected) = of(word).classes();
    (word, u64::from(host + collected - 2))
}

/// One of the words of a registry, the first one twice as often as the others.
fn first_often(rng: &mut Rng, names: &[&'static str]) -> &'static str {
    pick(rng, &[&names[..1], names].concat())
}

/// An order of collection, the first one twice as often as the others, and values for the keys of
/// all orders.
fn order(rng: &mut Rng, shape: &mut Shape) {
    let order = first_often(rng, NAMES);
    shape.sets.push(format!("gc.policy={order}"));
    for own in ORDERS.iter().flat_map(|order| order.settings) {
        let low = [0, 1, 2, 4, 7, 11].map(|more| (own.min + more).min(own.max));
        let value = pick(rng, &[&low[..], &[own.max]].concat());
        shape.sets.push(format!("{}={value}", own.name));
    }
}

/// The second tier of the cache: its bits a cell, and how many superblocks it may borrow.
fn tier(rng: &mut Rng, shape: &Shape, uncached: bool) -> (u64, u64) {
    if uncached || !shape.one_shot || shape.bits < 3 || rng.chance(50) {
        return (0, 0);
    }
    let most = (shape.superblocks / 3).max(1);
    (between(rng, 2, shape.bits - 1), between(rng, 0, most))
}

/// Where the map is; the answer is whether it is read page by page.
fn map(rng: &mut Rng, shape: &mut Shape) -> bool {
    let ways = ["dram", "dram", "demand", "hmb"];
    let residency = pick(rng, &ways[..if shape.nvme { 4 } else { 3 }]);
    let slots = pick(rng, &[16, 17, 40, 1000]);
    // Its pages do not wait for a second pass.
    let other = if shape.between_passes > 0 {
        "slc"
    } else {
        "native"
    };
    shape.sets.extend([
        format!("map.residency={residency}"),
        format!("map.cache={} B", slots * shape.unit),
        format!("map.hmb={} B", pick(rng, &[16, 60, 2000]) * shape.unit),
        format!("map.hmb_latency={}", pick(rng, &["1 us", "50 us", "5 ms"])),
        format!("map.entry={}", pick(rng, &[4, 8, 64, 64])),
        format!("map.mode={}", pick(rng, &["slc", other])),
        format!("map.journal={}", pick(rng, &["4 KiB", "64 KiB", "1 MiB"])),
        format!("map.write_on_flush={}", rng.chance(40)),
        format!("map.idle_after={}", pick(rng, &["never", "10 ms", "1 s"])),
    ]);
    residency != "dram"
}

/// True if pages of a wordline tear each other, and what has to fit that.
fn pairs(rng: &mut Rng, shape: &mut Shape, design: &Design) {
    let possible = !shape.one_shot && shape.bits > 1 && !design.lower_pages_first;
    if !possible || rng.chance(60) {
        return shape.sets.push("ftl.paired_pages=protected".to_owned());
    }
    shape.between_passes = shape.bits * shape.dies;
    let fits = [
        "ftl.paired_pages=lost",
        "controller.plp=false",
        "map.mode=slc",
    ];
    shape.sets.extend(fits.map(str::to_owned));
}

/// Size, entry and what happens past the cache.
fn choices(rng: &mut Rng, shape: &mut Shape, (design, rule): (&Design, &FullRule), borrowed: u64) {
    let tabled = design.is_sized() && rng.chance(30);
    if tabled {
        let last = between(rng, 0, borrowed) * shape.slc;
        let most = borrowed * shape.slc;
        let knee = between(rng, 30, 100);
        shape.sets.push(format!(
            "slc_cache.size_by_fill=[\"5 %: {most} B\", \"{knee} %: {last} B\"]"
        ));
    }
    let size = if tabled { 0 } else { borrowed * shape.slc };
    if design.caches() {
        let own = rule.keys.iter();
        let own = own.map(|own| format!("{}={}", own.name, pick(rng, own.draws)));
        shape.sets.extend(own);
    }
    let admit = pick(rng, &["all", "all", "small", "random"]);
    let limit = pick(rng, &["512 B", "4 KiB", "64 KiB", "256 KiB", "1 GB"]);
    let low = if design.lends() {
        pick(rng, &[0, 0, 4, 10, 1000])
    } else {
        0
    };
    let path = if shape.parity {
        "controller"
    } else {
        pick(rng, &["copyback", "controller"])
    };
    let check = if path == "copyback" {
        pick(rng, &[0, 1, 3, 1_000_000])
    } else {
        0
    };
    if rng.chance(20) {
        let cycles = between(rng, 1, 6);
        shape.sets.push(format!("nand.slc.endurance={cycles}"));
    }
    let worn = pick(rng, &["keep", "shrink", "close"]);
    shape.sets.push(format!("slc_cache.worn={worn}"));
    let reclaim = pick(rng, &["0", "0", "0.2", "0.5", "0.95", "0.999"]);
    shape.sets.extend([
        format!("slc_cache.size={size} B"),
        format!("slc_cache.admit={admit}"),
        format!("slc_cache.admit_limit={limit}"),
        format!("slc_cache.reclaim={reclaim}"),
        format!("fold.low={low}"),
        format!("fold.high={}", low + between(rng, 0, 4)),
        format!(
            "fold.rate={}",
            pick(rng, &["0", "0", "20 kB/s", "1 MB/s", "100 MB/s"])
        ),
        format!("fold.check_every={check}"),
        format!("fold.check_cycles={}", pick(rng, &[0, 1, 2, 1000])),
        format!("fold.path={path}"),
    ]);
}

/// Keys that the functions above do not draw, by their kind: half of them keep their default.
fn others(rng: &mut Rng, shape: &mut Shape) {
    let drawn = |key: &str, sets: &[String]| {
        let of = |set: &String| set.split_once('=').is_some_and(|(name, _)| name == key);
        sets.iter().any(of)
    };
    if shape.checkpoints {
        // Each copies the whole map: of a large drive they are no more often than some hundred
        // times while it is filled.
        let size = pick(rng, &[64u64, 1 << 10, 4 << 10, 16 << 10, 64 << 10]) << 10;
        let size = size.max(shape.superblocks * shape.raw / 512);
        let journals_trims = rng.chance(70);
        shape.sets.extend([
            format!("ftl.checkpoint={size} B"),
            format!("ftl.trim_journal={journals_trims}"),
        ]);
    } else {
        shape.sets.push("ftl.trim_journal=false".to_owned());
    }
    if !drawn("compression.best_ratio", &shape.sets) {
        shape.sets.push("compression.best_ratio=1".to_owned());
    }
    let gathers = pick(rng, &["0", "0", "20 us", "2 ms"]);
    shape.sets.push(format!("controller.flush_time={gathers}"));
    for key in KEYS.iter().filter(|key| key.default.is_some()) {
        if drawn(key.name, &shape.sets) || rng.chance(50) {
            continue;
        }
        if let Some(value) = value(key, rng) {
            shape.sets.push(format!("{}={value}", key.name));
        }
    }
}

/// A value of a key's kind; none where any value has to fit others.
fn value(key: &Key, rng: &mut Rng) -> Option<String> {
    Some(match key.kind {
        Kind::Flag => rng.chance(50).to_string(),
        Kind::Word(words) => pick(rng, words).to_owned(),
        Kind::Count { max, .. } if rng.chance(10) => max.to_string(),
        Kind::Count { min, max } => between(rng, min.into(), max.min(min + 8).into()).to_string(),
        _ => return None,
    })
}

/// A drive that the spec's checks accept, and the sets that make it of the base. They accept one
/// in twenty or so.
///
/// # Panics
/// Where no drive in two thousand is right.
pub fn drive(rng: &mut Rng) -> (Config, String) {
    drive_with(rng, &[]).expect("one drive in two thousand is right")
}

/// [`drive`], with these sets in the place of what is drawn for their keys.
///
/// # Errors
/// No drive in two thousand is right, as where a set names no key or two contradict each other:
/// what is wrong with the last of them.
pub fn drive_with(rng: &mut Rng, given: &[String]) -> Result<(Config, String), String> {
    let name = |set: &str| set.split('=').next().map(str::to_owned);
    let mut wrong = Vec::new();
    let mut right = |shape: &Shape| {
        let mut sets = shape.sets.clone();
        sets.retain(|set| given.iter().all(|other| name(other) != name(set)));
        sets.extend_from_slice(given);
        match spec::load_text(BASE, &[], &[], &sets, None) {
            Ok(spec) => Some((spec.config, sets.join(" "))),
            Err(errors) => {
                wrong = errors;
                None
            }
        }
    };
    for _ in 0..2000 {
        let mut shape = flash::shape(rng);
        if !policies(rng, &mut shape) {
            continue;
        }
        controller::controller(rng, &mut shape);
        controller::link(rng, &mut shape);
        health::health(rng, &mut shape);
        health::errors(rng, &mut shape);
        health::power(rng, &mut shape);
        let plain = shape.sets.len();
        if shape.packs && rng.chance(60) {
            controller::compression(rng, &mut shape);
            others(rng, &mut shape);
            if let Some(drive) = right(&shape) {
                return Ok(drive);
            }
            shape.sets.truncate(plain);
        }
        others(rng, &mut shape);
        if let Some(drive) = right(&shape) {
            return Ok(drive);
        }
    }
    let wrong: Vec<String> = wrong
        .iter()
        .map(|error| format!("{error} ({})", error.hint))
        .collect();
    Err(wrong.join("\n"))
}
