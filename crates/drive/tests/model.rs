//! The version of the model: what was simulated under one version is that of no other.
//!
//! Snapshots and the store of preconditioned drives go by `MODEL` (see `snapshot`). Nobody can see
//! from a change of the code whether results change with it, so a few fixed runs are told apart by
//! the hash of their results, which stand in `golden/model.txt` beside the version they were made
//! with. Where they differ the version has to be raised, and then they may be blessed.

use crate::common::loops::{go, job, rest};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flashtwin_base::{Device, Nanos};
use flashtwin_drive::snapshot::MODEL;
use flashtwin_drive::{Drive, spec};
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;
use sha2::{Digest, Sha256};

/// Drives that between them have every way of the cache, with and without a map in DRAM,
/// bit errors, wear levelling and failing blocks: id, scale, what is set. None is of the
/// catalogue, whose drives may be mended without another model.
const RUNS: [Run; 10] = [
    ("reference", Some("1/64"), &[]),
    ("reference-nocache", Some("1/64"), &[]),
    ("rearmed", None, &["fold.low=20", "fold.high=24"]),
    ("two-tiers", None, &["map.residency=demand"]),
    ("lower-pages", None, &["gc.policy=cost-benefit"]),
    ("quarter", None, &["nand.native.second_pass=4 ms"]),
    (
        "hybrid",
        None,
        &["slc_cache.reclaim=0.5", "wear.static_threshold=2"],
    ),
    (
        "static",
        None,
        &["gc.low=6", "gc.high=8", "gc.separation=hot-cold"],
    ),
    (
        "third",
        None,
        &[
            "errors.correctable=72",
            "errors.refresh_at=0.8",
            "wear.spares=8",
            "wear.bad_percent=1",
            "wear.program_failures=900",
            "nand.suspend.program=true",
        ],
    ),
    ("rearmed", None, &["fold.rate=20 MB/s"]),
];
type Run = (&'static str, Option<&'static str>, &'static [&'static str]);
const DESIGNS: &str = "tests/designs";

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Writes most of the drive in order, overwrites it at random, lets it rest, reads and writes a
/// mix, trims, and writes on: what came back, and what was counted.
fn hash_of(id: &str, scale: Option<&str>, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let spec = spec::load_scaled(id, &[at(DESIGNS)], &[], &sets, scale)
        .unwrap_or_else(|errors| panic!("{id}: {errors:?}"));
    let mut drive = Drive::new(&spec.config, 7);
    let capacity = drive.capacity_bytes();
    // The rate of folding in the background is felt in long rests.
    let folds_slowly = sets.iter().any(|set| set.starts_with("fold.rate="));
    let rests = Nanos::from_secs(if folds_slowly { 600 } else { 2 });
    let mut sum = Sha256::new();
    let mut play = |rw: ReadWrite, block_bytes: u64, share: u64, bytes: u64| {
        let mut wanted = job(rw, block_bytes, 32);
        wanted.size = Some(capacity / 100 * share / block_bytes * block_bytes);
        wanted.io_bytes = Some(bytes / block_bytes * block_bytes);
        let outcome = go(&mut drive, wanted);
        told(&mut sum, &outcome);
        rest(&mut drive, rests);
        sum.update(drive.now().0.to_le_bytes());
    };
    play(ReadWrite::Write, 128 << 10, 92, capacity / 100 * 92);
    play(ReadWrite::RandWrite, 4096, 92, 96 << 20);
    play(ReadWrite::RandRw, 16384, 50, 64 << 20);
    play(ReadWrite::RandTrim, 65536, 92, 64 << 20);
    play(ReadWrite::Write, 128 << 10, 30, capacity / 5);
    play(ReadWrite::Read, 128 << 10, 10, capacity / 50);
    // Data that rests is moved where only a part is overwritten for long.
    let levels = sets.iter().any(|set| set.starts_with("wear.static_"));
    if levels {
        play(ReadWrite::RandWrite, 128 << 10, 10, 2 * capacity);
    }
    for (_, units) in drive.counters().by_cause() {
        sum.update(units.to_le_bytes());
    }
    sum.update(drive.smart()["flashtwin"]["energy"]["energy_uj"].to_string());
    drive.ftl().check();
    sum.finalize()[..8]
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a string takes all");
            hex
        })
}

fn told(sum: &mut Sha256, outcome: &Outcome) {
    let series = &outcome.series;
    for column in [
        &series.dt_ns,
        &series.ios,
        &series.bytes,
        &series.lat_sum_ns,
    ] {
        for value in column {
            sum.update(value.to_le_bytes());
        }
    }
    for job in &outcome.jobs {
        sum.update(job.duration.0.to_le_bytes());
        sum.update(job.latency_max.0.to_le_bytes());
    }
}

#[test]
fn other_results_are_another_model() {
    let mut runs = String::new();
    for (id, scale, sets) in RUNS {
        writeln!(runs, "{id} {}", hash_of(id, scale, sets)).expect("a string takes all");
    }
    let place = at("tests/golden/model.txt");
    let golden = std::fs::read_to_string(&place).unwrap_or_default();
    let (known, before) = golden.split_once('\n').unwrap_or(("model 0", ""));
    let known: u32 = known
        .strip_prefix("model ")
        .and_then(|number| number.parse().ok())
        .expect("the first line names the model");
    assert!(
        before == runs || MODEL > known,
        "results are not those of model {known}; where that is meant, raise MODEL in \
         crates/drive/src/snapshot/mod.rs to {} and run this test with FLASHTWIN_BLESS=1\nwere:\n\
         {before}are:\n{runs}",
        known + 1
    );
    if std::env::var_os("FLASHTWIN_BLESS").is_some() {
        std::fs::write(&place, format!("model {MODEL}\n{runs}")).expect("golden can be written");
    } else {
        assert!(
            before == runs && MODEL == known,
            "model {MODEL} is new: run this test with FLASHTWIN_BLESS=1 and commit {}",
            place.display()
        );
    }
}
