//! The drives of the catalogue load, print, load again, and differ where they say they do.

use std::path::PathBuf;

use crate::common::asks::single;
use crate::common::loops::{go, job, rest};
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_drive::config::Acknowledge;
use flashtwin_drive::spec::{self, Spec, keys};
use flashtwin_ftl::policy::{Borrowed, CacheMode};
use flashtwin_nand::error::YEAR;
use flashtwin_workload::ReadWrite;

fn catalogue() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/flashtwin/catalogue/drives")
}

fn load(id: &str, firmware: &[&str]) -> Spec {
    let firmware: Vec<String> = firmware.iter().map(|name| (*name).to_owned()).collect();
    spec::load(id, &[catalogue()], &firmware, &[]).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{id}:\n{}", lines.join("\n"))
    })
}

#[test]
fn every_drive_loads_under_its_own_name_with_a_source_for_each_value() {
    let ids = spec::catalogue(&[catalogue()]);
    assert!(ids.iter().any(|id| id == "bx500-240"), "{ids:?}");
    for id in ids {
        let spec = load(&id, &[]);
        assert_eq!(spec.id, id);
        assert_eq!(spec.values.len(), keys::KEYS.len());
        for value in &spec.values {
            assert!(
                !value.source.is_empty() && !value.origin.is_empty(),
                "{id}: {}",
                value.key
            );
        }
        for profile in &spec.profiles {
            load(&id, &[profile]);
        }
    }
}

#[test]
fn the_reference_drive_has_the_published_layout() {
    let spec = load("bx500-240", &[]);
    let geometry = &spec.config.part.geometry;
    assert_eq!(spec.config.capacity_bytes, 240_000_000_000);
    assert_eq!(geometry.dies(), 4);
    assert_eq!(geometry.raw_bytes(), 274_609_471_488);
    let borrowed = spec.config.policy.cache.borrowed();
    assert_eq!(borrowed, Some(&Borrowed::Fixed(24_000_000_000)));
    assert_eq!(spec.config.part.bus_bytes_per_s, 400_000_000);
    assert_eq!(spec.profiles, ["slc-off"]);
}

#[test]
fn the_drive_without_cache_differs_in_policy_keys_alone() {
    let (on, off) = (load("bx500-240", &[]), load("bx500-240-nocache", &[]));
    let mut differ = Vec::new();
    for (with, without) in on.values.iter().zip(&off.values) {
        if with.text != without.text {
            differ.push(with.key);
        }
    }
    let policy: Vec<&str> = keys::names(true).collect();
    assert!(differ.len() >= 5, "{differ:?}");
    assert!(differ.iter().all(|key| policy.contains(key)), "{differ:?}");
    assert_eq!(on.config.part, off.config.part);
    assert_eq!(on.config.link, off.config.link);
    let cache = &off.config.policy.cache;
    assert_eq!(cache.mode(), CacheMode::WholeDrive);
    let caching = cache.caching().expect("it caches");
    assert_eq!(caching.when_full.rule().name, "direct");
    assert_eq!(caching.fold.idle_after, None);
    assert_eq!(off.config.controller.acknowledge, Acknowledge::WriteThrough);
}

#[test]
fn the_profile_on_the_command_line_is_the_same_drive() {
    let (file, switched) = (
        load("bx500-240-nocache", &[]),
        load("bx500-240", &["slc-off"]),
    );
    assert_eq!(file.hash, switched.hash);
    assert_ne!(file.hash, load("bx500-240", &[]).hash);
    assert_eq!(file.values, switched.values);
}

/// Nanoseconds of a read of what has lain for three years on a drive with so many cycles.
fn read_after_years(cycles: &str) -> u64 {
    let sets = [cycles, "controller.read_ahead_streams=0"].map(str::to_owned);
    let spec = spec::load_scaled("bx500-240", &[catalogue()], &[], &sets, Some("1/64"));
    let mut d = Drive::new(&spec.expect("a drive").config, 1);
    go(&mut d, job(ReadWrite::Write, 1 << 20, 8));
    let later = d.now() + Nanos(YEAR.0 * 3);
    d.advance(later, &mut Vec::new());
    single(&mut d, Op::Read, 0, 8);
    let (time, status) = single(&mut d, Op::Read, 64, 8);
    assert_eq!(status, Status::Ok);
    time
}

#[test]
fn a_worn_drive_of_the_catalogue_reads_old_data_slower_than_a_new_one() {
    let [new, worn] = ["drive.initial_cycles=0", "drive.initial_cycles=1500"].map(read_after_years);
    assert!(worn >= new + 80_000, "{worn} ns, and {new} on a new drive");
}

/// Collection left all room to folding, which folded the cache's own superblocks first: a write
/// waited for seconds at this scale, and for 91 s at full size.
#[test]
#[ignore = "for --full"]
fn a_full_qlc_drive_answers_random_writes_without_silence() {
    let scale = Some("1/32");
    let spec = spec::load_scaled("samsung-860-qvo-1tb", &[catalogue()], &[], &[], scale);
    let mut d = Drive::new(&spec.expect("it is in the catalogue").config, 1);
    go(&mut d, job(ReadWrite::Write, 1 << 20, 8));
    rest(&mut d, Nanos::from_secs(7200));
    let mut random = job(ReadWrite::RandWrite, 4096, 32);
    random.io_bytes = Some(2 << 30);
    let longest = go(&mut d, random).jobs[0].latency_max;
    assert!(longest < Nanos::from_secs(1), "a write waited {longest:?}");
    d.ftl().check();
}
