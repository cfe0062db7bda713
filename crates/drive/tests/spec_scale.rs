//! `--scale`: a smaller drive with the same ratios, or a refusal that says what can be had.

use crate::common::loops;
use std::path::{Path, PathBuf};

use flashtwin_drive::spec::{self, Spec, SpecError};
use flashtwin_drive::{Config, Drive, spec::keys};
use flashtwin_ftl::policy::Borrowed;
use flashtwin_workload::{RawJob, ReadWrite};

fn catalogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/flashtwin/catalogue/drives")
}

fn scaled(sets: &[&str], scale: &str) -> Result<Spec, Vec<SpecError>> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    spec::load_scaled("bx500-240", &[catalogue()], &[], &sets, Some(scale))
}

fn refusal(sets: &[&str], scale: &str) -> SpecError {
    let mut errors = scaled(sets, scale).expect_err("this scale cannot be had");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn wordlines_are_divided_first_and_sizes_with_them() {
    let (whole, small) = (scaled(&[], "1").unwrap(), scaled(&[], "1/16").unwrap());
    let (a, b) = (&whole.config, &small.config);
    assert_eq!(b.capacity_bytes * 16, a.capacity_bytes);
    assert_eq!(b.part.geometry.wordlines_per_block, 704 / 16);
    assert_eq!(b.part.geometry.blocks_per_plane, 496);
    let sixteenth = |small: u64, whole: u64| (whole - small * 16) < 16 * 512;
    let borrowed = |config: &Config| match config.policy.cache.borrowed() {
        Some(Borrowed::Fixed(bytes)) => *bytes,
        other => panic!("{other:?}"),
    };
    assert!(sixteenth(borrowed(b), borrowed(a)));
    let reserve = |config: &Config| config.policy.cache.caching().unwrap().fold.reserve_bytes;
    assert!(sixteenth(reserve(b), reserve(a)));
    assert_eq!(b.controller, a.controller);
    assert_eq!(b.part.native.program, a.part.native.program);
    assert_eq!(b.part.native.erase.0 * 16, a.part.native.erase.0);
    let changed = small.values.iter().filter(|value| value.origin == "user");
    assert!(
        changed
            .clone()
            .all(|value| value.source.ends_with("(--scale)"))
    );
    // Wordlines, the erase of fewer of them, and what is a share of the flash and not nothing.
    let divided = |name: &str| {
        let key = keys::KEYS.iter().find(|key| key.name == name).unwrap();
        key.scaled || name.ends_with(".tbers") || name == "nand.wordlines_per_block"
    };
    let something = |text: &str| !matches!(text, "" | "0" | "none" | "[]");
    let expected = whole
        .values
        .iter()
        .filter(|value| divided(value.key) && something(&value.text));
    let names: Vec<&str> = changed.map(|value| value.key).collect();
    assert_eq!(names, expected.map(|value| value.key).collect::<Vec<_>>());
}

#[test]
fn blocks_follow_and_never_below_five_hundred() {
    let sets = ["nand.blocks_per_plane=2048", "drive.capacity=960 GB"];
    let small = scaled(&sets, "1/256").unwrap();
    let g = &small.config.part.geometry;
    assert_eq!(
        (g.wordlines_per_block, g.blocks_per_plane),
        (704 / 64, 2048 / 4)
    );
}

#[test]
fn a_scale_that_cannot_be_had_names_the_nearest() {
    let error = refusal(&[], "1/256");
    assert_eq!(error.file, "--scale");
    assert!(
        error
            .message
            .contains("704 wordlines a block (at least 4 stay)"),
        "{error}"
    );
    assert!(error.message.contains("496 blocks"), "{error}");
    assert_eq!(error.hint, "try --scale 1/176; the smallest is 1/176");
    assert!(refusal(&[], "1/7").hint.starts_with("try --scale 1/4;"));
    for text in ["16", "1/0", "1/x", "0.5", ""] {
        assert_eq!(
            refusal(&[], text).hint,
            "write it like --scale 1/16",
            "{text}"
        );
    }
}

#[test]
fn every_share_of_the_flash_is_marked() {
    let marked: Vec<&str> = keys::KEYS
        .iter()
        .filter(|key| key.scaled)
        .map(|key| key.name)
        .collect();
    for name in [
        "drive.capacity",
        "ftl.system",
        "slc_cache.size",
        "fold.reserve",
    ] {
        assert!(marked.contains(&name), "{name}");
    }
    assert!(!marked.contains(&"nand.page_size") && !marked.contains(&"controller.write_buffer"));
}

#[test]
fn the_shape_of_a_fill_stays() {
    let time = |scale: &str| {
        let config = scaled(&[], scale).unwrap().config;
        let mut drive = Drive::new(&config, 1);
        let job = RawJob::new("fill", ReadWrite::Write, 128 << 10, 32);
        let outcome = loops::go(&mut drive, job);
        (outcome.end - outcome.start).0 as f64 / config.capacity_bytes as f64
    };
    let (large, small) = (time("1/8"), time("1/32"));
    assert!(
        (small / large - 1.0).abs() < 0.02,
        "{large} and {small} ns a byte"
    );
}
