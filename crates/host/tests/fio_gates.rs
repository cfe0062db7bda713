//! When fio's processes begin that wait for others, against times reckoned by hand.

use crate::toy::{CAPACITY, START, Toy};
use flashtwin_base::Nanos;
use flashtwin_host::{Flow, Phase, PhaseError, run};
use flashtwin_workload::{Job, RawJob};

/// A job of so many reads, one after another, of a microsecond each.
fn job(reads: u64, fio: &str) -> Job {
    let size = reads * 4096;
    let json = format!(
        r#"{{"name": "j", "rw": "read", "block_bytes": 4096, "size": {size}, "fio": {{{fio}}}}}"#
    );
    let raw: RawJob = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
    raw.check(CAPACITY).unwrap()
}

/// When each began and ended, in microseconds.
fn times(jobs: Vec<Job>) -> Vec<(u64, u64)> {
    let phase = Phase::new(jobs, Nanos::from_ms(10)).unwrap();
    // Room for all, so that none waits for the device.
    let outcome = run(&mut Toy::new(16, 1_000), START, &phase, &mut |_| {
        Flow::Continue
    });
    let us = |time: Nanos| time.0 / 1_000;
    let rows = outcome.fio.iter();
    rows.map(|row| (us(row.started), us(row.ended))).collect()
}

const WALL: &str = r#""gate": {"stonewall": true}"#;

#[test]
fn a_job_waits_for_the_one_that_it_names() {
    let jobs = vec![
        job(10, ""),
        job(50, ""),
        job(5, r#""gate": {"waits_for": [0]}"#),
        job(5, r#""gate": {"waits_for": [1, 2]}"#),
    ];
    assert_eq!(times(jobs), [(0, 10), (0, 50), (10, 15), (50, 55)]);
}

#[test]
fn a_wall_holds_what_stands_behind_it() {
    let jobs = vec![
        job(10, ""),
        job(20, ""),
        job(5, WALL),
        job(8, ""),
        job(1, WALL),
    ];
    let expected = [(0, 10), (0, 20), (20, 25), (20, 28), (28, 29)];
    assert_eq!(times(jobs), expected);
}

#[test]
fn a_late_job_is_passed_over() {
    let late = |us: u64, gate: &str| format!(r#""start_ns": {}{gate}"#, us * 1_000);
    let walled = format!(", {WALL}");
    let jobs = vec![
        job(10, ""),
        job(10, &late(40, "")),
        job(35, WALL),
        job(5, &late(30, &walled)),
        job(5, ""),
    ];
    // The wall falls at 10, as the late job does not run yet; the walled late one has to wait for
    // both of those, and the last begins beside the wall.
    let expected = [(0, 10), (40, 50), (10, 45), (50, 55), (10, 15)];
    assert_eq!(times(jobs), expected);
}

#[test]
fn who_is_ended_before_it_began_never_does() {
    let ends = |what: &str| {
        let first = format!(r#""ends": {{"all": true, "what": "{what}"}}"#);
        times(vec![job(10, &first), job(90, ""), job(5, WALL)])
    };
    // What runs ends; what waits begins, or does not.
    assert_eq!(ends("stonewall"), [(0, 10), (0, 10), (10, 15)]);
    assert_eq!(ends("group"), [(0, 10), (0, 10), (10, 10)]);
    assert_eq!(ends("all"), [(0, 10), (0, 10), (10, 10)]);
}

#[test]
fn nobody_waits_for_who_stands_behind() {
    let jobs = vec![job(1, r#""gate": {"waits_for": [1]}"#), job(1, "")];
    let refused = Phase::new(jobs, Nanos(1));
    assert_eq!(refused, Err(PhaseError::WaitsAhead(0)));
}
