//! Many small drives simulated on all cores in one call: what the host sees of each plan's steps.
//!
//! Inference asks for thousands of them. Invariants: answers come in the order of the plans and do
//! not depend on how many threads there are; Python's lock is released while drives are simulated.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use flashtwin_base::{Device, Nanos, Op, Request, memory};
use flashtwin_drive::Drive;
use flashtwin_drive::spec::Spec as Checked;
use flashtwin_host::{Flow, Phase, Progress, Series};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert;
use crate::spec::Spec;
use crate::twin;

const SECTOR_BYTES: u64 = 512;
/// Between two looks for a Ctrl-C of a thread that has no plan left.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Sectors of the longest command.
const MOST_SECTORS: u64 = 1 << 31;

/// A step as Python says it: jobs as JSON, a rest in nanoseconds, or none for TRIM of everything.
type RawStep = Option<(String, u64)>;
/// A spec, the twin's seed, and the steps; jobs come with the length of a sample, and a rest is an
/// empty text with its length.
type RawPlan = (Py<Spec>, u64, Vec<RawStep>);

enum Step {
    Jobs(Box<Phase>),
    Rest(Nanos),
    Trim,
}

struct Plan<'a> {
    spec: &'a Checked,
    seed: u64,
    steps: Vec<Step>,
}

/// What the host saw of a step.
#[derive(Default)]
struct Seen {
    duration: Nanos,
    series: Series,
    lacks_memory: bool,
}

/// Simulates each plan on a drive of its own, as it came from the factory. An answer a plan: a list
/// with `duration_ns` and `series` of each step.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    plans: Vec<RawPlan>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let checked = plans
        .iter()
        .map(plan)
        .collect::<PyResult<Vec<Plan<'_>>>>()?;
    let threads = threads.clamp(1, checked.len().max(1));
    let largest = checked
        .iter()
        .map(|plan| plan.spec.config.memory_bytes())
        .max();
    if !memory::has_room(largest.unwrap_or(0).saturating_mul(threads as u64)) {
        let message =
            format!("{threads} simulated drives at once take more memory than can be had");
        return Err(PyMemoryError::new_err(message));
    }
    let answers = py.detach(|| all(&checked, threads))?;
    let list = PyList::empty(py);
    for steps in answers {
        let rows = PyList::empty(py);
        for seen in steps {
            if seen.lacks_memory {
                return Err(PyMemoryError::new_err(convert::SAMPLES));
            }
            let row = PyDict::new(py);
            row.set_item("duration_ns", seen.duration.0)?;
            row.set_item("series", convert::series(py, seen.series)?)?;
            rows.append(row)?;
        }
        list.append(rows)?;
    }
    Ok(list)
}

fn plan(raw: &RawPlan) -> PyResult<Plan<'_>> {
    let (spec, seed, steps) = raw;
    let spec = &spec.get().inner;
    let step = |raw: &RawStep| {
        Ok(match raw {
            None => Step::Trim,
            Some((jobs, ns)) if jobs.is_empty() => Step::Rest(Nanos(*ns)),
            Some((jobs, ns)) => {
                let jobs = twin::parse(jobs, spec.config.capacity_bytes, *seed)?;
                let phase = Phase::new(jobs, Nanos(*ns));
                Step::Jobs(Box::new(
                    phase.map_err(|e| PyValueError::new_err(e.to_string()))?,
                ))
            }
        })
    };
    Ok(Plan {
        spec,
        seed: *seed,
        steps: steps.iter().map(step).collect::<PyResult<Vec<Step>>>()?,
    })
}

/// The answers of all plans. Each thread takes the next plan; the caller's looks for a Ctrl-C.
fn all(plans: &[Plan<'_>], threads: usize) -> PyResult<Vec<Vec<Seen>>> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (caller, heard) = (thread::current().id(), Mutex::new(None));
    let slots: Vec<Mutex<Vec<Seen>>> = plans.iter().map(|_| Mutex::default()).collect();
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let plan = plans.get(index).filter(|_| !stop.load(Ordering::Relaxed))?;
        let mut goes_on = || {
            if !stop.load(Ordering::Relaxed) && thread::current().id() == caller {
                let mut heard = heard.lock().expect("no thread panics with it");
                *heard = Python::attach(|py| py.check_signals()).err();
                stop.fetch_or(heard.is_some(), Ordering::Relaxed);
            }
            !stop.load(Ordering::Relaxed)
        };
        let seen = play(plan, &mut goes_on);
        *slots[index].lock().expect("no thread panics with it") = seen;
        Some(())
    };
    let look = || {
        Python::attach(|py| py.check_signals()).inspect_err(|_| stop.store(true, Ordering::Relaxed))
    };
    let raised = thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|_| scope.spawn(|| while take().is_some() {}))
            .collect();
        while take().is_some() {
            if let Some(raised) = heard.lock().expect("no thread panics with it").take() {
                return Err(raised);
            }
            look()?;
        }
        while !others.iter().all(ScopedJoinHandle::is_finished) {
            thread::park_timeout(LOOK_EVERY);
            look()?;
        }
        Ok(())
    });
    raised?;
    let answers = slots
        .into_iter()
        .map(|slot| slot.into_inner().expect("no thread panicked"));
    Ok(answers.collect())
}

/// The steps of a plan; `goes_on` is asked now and then, and after it has said no the answer is of
/// no use.
fn play(plan: &Plan<'_>, goes_on: &mut dyn FnMut() -> bool) -> Vec<Seen> {
    let mut drive = Drive::new(&plan.spec.config, plan.seed);
    drive.restart_xray(Nanos::ZERO);
    let mut seen = Vec::new();
    for step in &plan.steps {
        seen.push(play_step(&mut drive, step, goes_on));
        if !goes_on() {
            break;
        }
    }
    seen
}

fn play_step(drive: &mut Drive, step: &Step, goes_on: &mut dyn FnMut() -> bool) -> Seen {
    let start = drive.now();
    match step {
        Step::Jobs(phase) => {
            let mut tick = |_: Progress| {
                if goes_on() {
                    Flow::Continue
                } else {
                    Flow::Stop
                }
            };
            let outcome = flashtwin_host::run(drive, start, phase, &mut tick);
            Seen {
                duration: outcome.end - outcome.start,
                lacks_memory: outcome.lacks_memory,
                series: outcome.series,
            }
        }
        Step::Rest(span) => {
            drive.advance_while(start + *span, &mut Vec::new(), &mut |_| goes_on());
            Seen {
                duration: *span,
                ..Seen::default()
            }
        }
        Step::Trim => {
            trim_all(drive, goes_on);
            Seen {
                duration: drive.now() - start,
                ..Seen::default()
            }
        }
    }
}

fn trim_all(drive: &mut Drive, goes_on: &mut dyn FnMut() -> bool) {
    let end = drive.capacity_bytes() / SECTOR_BYTES;
    let (mut at, mut done) = (0, Vec::new());
    while at < end {
        let sectors = (end - at).min(MOST_SECTORS);
        drive.submit(drive.now(), Request::new(0, Op::Trim, at, sectors as u32));
        while done.is_empty() {
            drive.advance_until_done(Nanos::NEVER, &mut done);
            if drive.has_left_off() && !goes_on() {
                return;
            }
        }
        done.clear();
        at += sectors;
    }
}
