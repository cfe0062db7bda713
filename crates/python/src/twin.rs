//! A twin for Python: one call a step, on the drive's own clock.

use std::path::PathBuf;

use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_drive::snapshot::Identity;
use flashtwin_host::fio::ENOMEM;
use flashtwin_host::{Flow, Phase, Progress};
use flashtwin_workload::job::{Job, RawJob};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, Answer};
use crate::snapshot;
use crate::spec::Spec;

create_exception!(_core, Stopped, PyException, "The caller's watch said stop.");

const SECTOR_BYTES: u64 = 512;
/// Rests are done in pieces of this length, so that the watch is asked in between.
const REST_PIECE: Nanos = Nanos::from_secs(3600);

/// A simulated drive. `seed` decides every random choice of the workloads run on it.
#[pyclass(module = "flashtwin._core")]
pub struct Twin {
    drive: Drive,
    identity: Identity,
}

/// What a watch answered last: it may stop the run or raise.
enum Verdict {
    Go,
    Stop,
    Raised(PyErr),
}

fn ask(watch: &Py<PyAny>, bytes: u64, elapsed: Nanos) -> Verdict {
    Python::attach(|py| {
        let answer = py.check_signals().and_then(|()| {
            watch
                .call1(py, (bytes, elapsed.0))
                .and_then(|go| go.extract::<bool>(py))
        });
        match answer {
            Ok(true) => Verdict::Go,
            Ok(false) => Verdict::Stop,
            Err(raised) => Verdict::Raised(raised),
        }
    })
}

impl Verdict {
    fn into_result(self) -> PyResult<()> {
        match self {
            Verdict::Go => Ok(()),
            Verdict::Stop => Err(Stopped::new_err("the watch said stop")),
            Verdict::Raised(raised) => Err(raised),
        }
    }
}

fn identity(spec: &Spec, seed: u64) -> Identity {
    Identity {
        spec_hash: spec.inner.hash.clone(),
        seed,
    }
}

fn parse(text: &str, capacity: u64, seed: u64) -> PyResult<Vec<Job>> {
    let wrong = |text: String| PyValueError::new_err(text);
    let raw: Vec<RawJob> = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let job = |raw: RawJob| {
        let mut job = raw.check(capacity).map_err(|e| wrong(e.to_string()))?;
        // The twin's seed and the job's choose one stream together; equal pairs, equal streams.
        job.seed ^= seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Ok(job)
    };
    raw.into_iter().map(job).collect()
}

impl Twin {
    /// Submits one command and waits for its end.
    fn single(&mut self, op: Op, lba: u64, sectors: u32) -> Answer {
        let start = self.drive.now();
        self.drive.submit(start, Request::new(0, op, lba, sectors));
        let mut done = Vec::new();
        while done.is_empty() {
            let due = self.drive.next_due().unwrap_or(Nanos::NEVER);
            self.drive.advance(due, &mut done);
        }
        Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        }
    }

    fn pass(&mut self, span: Nanos, watch: &Py<PyAny>) -> Verdict {
        let start = self.drive.now();
        let end = start + span;
        while self.drive.now() < end {
            let to = end.min(self.drive.now() + REST_PIECE);
            self.drive.advance(to, &mut Vec::new());
            match ask(watch, 0, to - start) {
                Verdict::Go => {}
                other => return other,
            }
        }
        Verdict::Go
    }
}

#[pymethods]
impl Twin {
    #[new]
    fn new(spec: &Spec, seed: u64) -> Twin {
        Twin {
            drive: Drive::new(&spec.inner.config, seed),
            identity: identity(spec, seed),
        }
    }

    /// The drive of a spec in the state that a file holds.
    #[staticmethod]
    fn load(py: Python<'_>, spec: &Spec, path: PathBuf) -> PyResult<Twin> {
        let (drive, seed) = py.detach(|| snapshot::load(spec, &path))?;
        let identity = identity(spec, seed);
        Ok(Twin { drive, identity })
    }

    /// Writes the drive's state into a file.
    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (drive, identity) = (&mut self.drive, &self.identity);
        py.detach(|| snapshot::save(drive, identity, &path))
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.identity.seed
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.drive.capacity_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.drive.now().0
    }

    fn run<'py>(
        &mut self,
        py: Python<'py>,
        jobs_json: &str,
        sample_ns: u64,
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let jobs = parse(jobs_json, self.drive.capacity_bytes(), self.identity.seed)?;
        let wrong = |text: String| PyValueError::new_err(text);
        let phase = Phase::new(jobs, Nanos(sample_ns)).map_err(|e| wrong(e.to_string()))?;
        let drive = &mut self.drive;
        let (outcome, verdict) = py.detach(|| {
            let start = drive.now();
            drive.restart_xray(Nanos(sample_ns));
            let mut verdict = Verdict::Go;
            let mut tick = |progress: Progress| {
                verdict = ask(&watch, progress.bytes, progress.elapsed);
                if matches!(verdict, Verdict::Go) {
                    Flow::Continue
                } else {
                    Flow::Stop
                }
            };
            let outcome = flashtwin_host::run(drive, start, &phase, &mut tick);
            (outcome, verdict)
        });
        verdict.into_result()?;
        let failures = outcome.fio.iter().filter_map(|job| job.failure.as_ref());
        if let Some(failure) = failures.into_iter().find(|f| f.code == ENOMEM) {
            return Err(wrong(failure.text.clone()));
        }
        let answer = Answer {
            start: outcome.start,
            end: outcome.end,
            outcome: Some(outcome),
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn rest<'py>(
        &mut self,
        py: Python<'py>,
        ns: u64,
        sample_ns: u64,
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let start = self.drive.now();
        self.drive.restart_xray(Nanos(sample_ns));
        py.detach(|| self.pass(Nanos(ns), &watch)).into_result()?;
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn trim<'py>(
        &mut self,
        py: Python<'py>,
        offset: u64,
        size: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        if offset
            .checked_add(size)
            .is_none_or(|end| end > self.drive.capacity_bytes())
        {
            return Err(PyValueError::new_err("the range ends past the drive"));
        }
        self.drive.restart_xray(Nanos::ZERO);
        // One command takes 32 bits of sectors: long ranges are several.
        let start = self.drive.now();
        let mut at = offset.div_ceil(SECTOR_BYTES);
        let end = (offset + size) / SECTOR_BYTES;
        while at < end {
            let sectors = (end - at).min(1 << 31) as u32;
            self.single(Op::Trim, at, sectors);
            at += u64::from(sectors);
        }
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn smart<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::json(py, &self.drive.smart())
    }

    fn flush<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.drive.restart_xray(Nanos::ZERO);
        let answer = self.single(Op::Flush, 0, 0);
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn purge<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.drive.restart_xray(Nanos::ZERO);
        let start = self.drive.now();
        self.drive.purge();
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }
}
