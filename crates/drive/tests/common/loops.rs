//! The loop around a drive, for tests: a job in one line, and the rate between two points of a
//! fill.

use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::{RawJob, ReadWrite};

/// A job with everything else as it comes.
pub fn job(rw: ReadWrite, block_bytes: u64, depth: u32) -> RawJob {
    RawJob::new("test", rw, block_bytes, depth)
}

/// Runs one job to its end.
pub fn go(drive: &mut Drive, job: RawJob) -> Outcome {
    together(drive, vec![job])
}

/// Runs jobs beside one another to their end.
pub fn together(drive: &mut Drive, jobs: Vec<RawJob>) -> Outcome {
    let right = |job: RawJob| {
        job.check(drive.capacity_bytes())
            .expect("the test's job is right")
    };
    let jobs = jobs.into_iter().map(right).collect();
    let phase = Phase::new(jobs, Nanos::from_ms(50)).expect("a job");
    let start = drive.now();
    run(drive, start, &phase, &mut |_| Flow::Continue)
}

/// Lets time pass.
pub fn rest(drive: &mut Drive, span: Nanos) {
    let to = drive.now() + span;
    drive.advance(to, &mut Vec::new());
}

/// Bytes a second of a job.
pub fn rate(outcome: &Outcome) -> f64 {
    outcome.jobs[0].bytes as f64 / outcome.jobs[0].duration.as_secs_f64()
}

/// Bytes a second between two points of a fill, in bytes written.
pub fn rate_between(outcome: &Outcome, from: f64, to: f64) -> f64 {
    let (mut bytes, mut time, mut at) = (0.0, 0.0, 0.0);
    let series = &outcome.series;
    for (&written, &span) in series.bytes.iter().zip(&series.dt_ns) {
        if at >= from && at + written as f64 <= to {
            bytes += written as f64;
            time += span as f64 / 1e9;
        }
        at += written as f64;
    }
    bytes / time
}

/// Bytes written when the rate falls for good under `level`, looked for past `from`. The last
/// interval ends with the job and says nothing.
pub fn falls_under(outcome: &Outcome, from: f64, level: f64) -> f64 {
    let series = &outcome.series;
    let (mut at, mut fell) = (0.0, None);
    let whole = series.bytes.len() - 1;
    for (&written, &span) in series.bytes.iter().zip(&series.dt_ns).take(whole) {
        let slow = written as f64 / (span as f64 / 1e9) < level;
        if at >= from {
            fell = if slow { fell.or(Some(at)) } else { None };
        }
        at += written as f64;
    }
    fell.expect("the rate falls")
}

/// Where a fill changes from one rate to the other between two points, so that it takes its time.
pub fn breaks_at(outcome: &Outcome, span: (f64, f64), rates: (f64, f64)) -> f64 {
    let time = (span.1 - span.0) / rate_between(outcome, span.0, span.1);
    let (fast, slow) = (1.0 / rates.0, 1.0 / rates.1);
    (span.1 * slow - span.0 * fast - time) / (slow - fast)
}

/// How often the rate comes from below half of a level to above it.
pub fn rises_above(outcome: &Outcome, level: f64) -> usize {
    let series = &outcome.series;
    let rates = series.bytes.iter().zip(&series.dt_ns);
    let (mut above, mut rises) = (true, 0);
    for (&written, &span) in rates {
        let rate = written as f64 / (span as f64 / 1e9);
        if above && rate < level / 2.0 {
            above = false;
        } else if !above && rate > level {
            above = true;
            rises += 1;
        }
    }
    rises
}
