//! The reference drive's fills, from the catalogue's spec: whatever is added to the firmware, its
//! published outcomes stay.

use crate::common::loops::{breaks_at, falls_under, go, job, rate_between};
use std::path::PathBuf;

use flashtwin_drive::{Drive, spec};
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

const GB: f64 = 1e9;
const MB: f64 = 1e6;

fn fill(firmware: &[&str]) -> Outcome {
    let catalogue = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let catalogue = catalogue.join("../../python/flashtwin/catalogue/drives");
    let firmware: Vec<String> = firmware.iter().map(|name| (*name).to_owned()).collect();
    let spec = spec::load("bx500-240", &[catalogue], &firmware, &[]).expect("the catalogue loads");
    go(
        &mut Drive::new(&spec.config, 1),
        job(ReadWrite::Write, 1 << 20, 8),
    )
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    println!("{what}: {found}");
    assert!(
        (found / expected - 1.0).abs() < tolerance,
        "{what}: {found}, not {expected}"
    );
}

#[test]
#[ignore = "for --full"]
fn cache_on() {
    let outcome = fill(&[]);
    near(
        "cache",
        falls_under(&outcome, GB, 300.0 * MB),
        24.0 * GB,
        0.01,
    );
    let cached = rate_between(&outcome, GB, 23.0 * GB);
    near("in the cache", cached, 473.6 * MB, 0.005);
    let staged = rate_between(&outcome, 30.0 * GB, 185.0 * GB);
    near("staged", staged, 111.2 * MB, 0.005);
    let folding = rate_between(&outcome, 200.0 * GB, 240.0 * GB);
    near("folding", folding, 81.5 * MB, 0.005);
    let onset = breaks_at(&outcome, (30.0 * GB, 240.0 * GB), (staged, folding));
    near("folding begins", onset, 190.0 * GB, 0.005);
}

#[test]
#[ignore = "for --full"]
fn cache_off() {
    let outcome = fill(&["slc-off"]);
    let first = rate_between(&outcome, GB, 85.0 * GB);
    near("first plateau", first, 230.4 * MB, 0.005);
    let after = rate_between(&outcome, 92.0 * GB, 239.0 * GB);
    near("after it", after, 104.5 * MB, 0.005);
    let end = breaks_at(&outcome, (GB, 239.0 * GB), (first, after));
    near("its end", end, 89.0 * GB, 0.005);
}
