//! A twin for Python: one call a step, on the drive's own clock.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use flashtwin_base::memory;
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_drive::snapshot::Identity;
use flashtwin_host::fio::{ENOMEM, FioTotals};
use flashtwin_host::{Flow, Phase, Progress};
use flashtwin_workload::job::{Job, RawJob};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, Answer};
use crate::direct::{self, Asked};
use crate::fio;
use crate::precondition;
use crate::repeat::{Mark, Stretch};
use crate::snapshot;
use crate::spec::Spec;
use crate::timeline::Recording;

create_exception!(
    flashtwin._core,
    Stopped,
    PyException,
    "The caller's watch said stop."
);

const SECTOR_BYTES: u64 = 512;
/// Rests are done in pieces of this length, so that the watch is asked in between.
const REST_PIECE: Nanos = Nanos::from_secs(3600);

/// A simulated drive. `seed` decides every random choice of the workloads run on it.
#[pyclass(module = "flashtwin._core")]
pub struct Twin {
    drive: Held,
    identity: Identity,
    /// Commands of the caller's own that are not answered; a step begins with none.
    outstanding: u32,
    /// Those that are answered and were not handed over.
    done: Vec<Completion>,
    recording: Option<Recording>,
    /// It was stopped among commands that take too long to wait for.
    left_behind: bool,
}

/// A drive, until it is handed over to a server.
struct Held(Option<Drive>);

impl Deref for Held {
    type Target = Drive;

    fn deref(&self) -> &Drive {
        self.0.as_ref().expect("the drive was handed over")
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Drive {
        self.0.as_mut().expect("the drive was handed over")
    }
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

pub fn parse(text: &str, capacity: u64, seed: u64) -> PyResult<Vec<Job>> {
    let wrong = |text: String| PyValueError::new_err(text);
    let raw: Vec<RawJob> = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let job = |raw: RawJob| {
        let job = raw.check(capacity).map_err(|e| wrong(e.to_string()))?;
        Ok(job.seeded(seed))
    };
    raw.into_iter().map(job).collect()
}

impl Twin {
    /// Hands the drive over to a server; it is not there any more afterwards.
    #[cfg(target_os = "linux")]
    pub(crate) fn take(&mut self) -> PyResult<(Drive, Identity)> {
        self.quiet()?;
        let gone = || PyValueError::new_err("the drive was handed over already");
        let drive = self.drive.0.take().ok_or_else(gone)?;
        Ok((drive, self.identity.clone()))
    }

    /// One command; a signal ends the wait for it, and leaves the drive behind.
    fn single(&mut self, op: Op, lba: u64, sectors: u32, watch: &Py<PyAny>) -> Verdict {
        let start = self.drive.now();
        self.drive.submit(start, Request::new(0, op, lba, sectors));
        let mut done = Vec::new();
        while done.is_empty() {
            self.drive.advance_until_done(Nanos::NEVER, &mut done);
            if done.is_empty() {
                match ask(watch, 0, Nanos::ZERO) {
                    Verdict::Go => {}
                    other => {
                        self.left_behind = true;
                        return other;
                    }
                }
            }
        }
        Verdict::Go
    }

    fn pass_to(&mut self, to: Nanos) -> PyResult<()> {
        let before = self.done.len();
        direct::advance(&mut self.drive, to, &mut self.done)
            .inspect_err(|_| self.left_behind = true)?;
        self.outstanding -= (self.done.len() - before) as u32;
        Ok(())
    }

    /// Nothing of the caller's own may be under way where a step begins.
    fn quiet(&self) -> PyResult<()> {
        if self.left_behind {
            return Err(PyValueError::new_err(
                "the drive was stopped in the middle of a command: make it anew",
            ));
        }
        match self.outstanding {
            0 => Ok(()),
            count => Err(PyValueError::new_err(format!(
                "{count} commands are outstanding: advance until they are done"
            ))),
        }
    }

    fn pass(&mut self, span: Nanos, watch: &Py<PyAny>) -> Verdict {
        let start = self.drive.now();
        let end = start + span;
        while self.drive.now() < end {
            let to = end.min(self.drive.now() + REST_PIECE);
            self.drive.advance_some(to, &mut Vec::new());
            if self.drive.xray().lacks_memory() {
                return Verdict::Raised(PyMemoryError::new_err(convert::SAMPLES));
            }
            match ask(watch, 0, to - start) {
                Verdict::Go => {}
                other => return other,
            }
        }
        Verdict::Go
    }
}

/// A table that cannot be had would end the process: it is asked for before.
fn has_room(spec: &Spec) -> PyResult<()> {
    let bytes = spec.inner.config.memory_bytes();
    if memory::has_room(bytes) {
        return Ok(());
    }
    let message = format!("the simulated drive takes {bytes} bytes of memory, which cannot be had");
    Err(PyMemoryError::new_err(message))
}

fn has_tables(phase: &Phase) -> PyResult<()> {
    let needs = phase.needs();
    let bytes = needs.files + needs.slots;
    if memory::has_room(bytes) {
        return Ok(());
    }
    let message = format!("the jobs take {bytes} bytes of memory, which cannot be had");
    Err(PyMemoryError::new_err(message))
}

#[pymethods]
impl Twin {
    #[new]
    fn new(py: Python<'_>, spec: &Spec, seed: u64) -> PyResult<Twin> {
        has_room(spec)?;
        Ok(Twin {
            drive: Held(Some(py.detach(|| Drive::new(&spec.inner.config, seed)))),
            identity: identity(spec, seed),
            outstanding: 0,
            done: Vec::new(),
            recording: None,
            left_behind: false,
        })
    }

    /// The drive of a spec in the state that a file holds.
    #[staticmethod]
    fn load(py: Python<'_>, spec: &Spec, path: PathBuf) -> PyResult<Twin> {
        has_room(spec)?;
        let (drive, seed) = py.detach(|| snapshot::load(spec, &path))?;
        let identity = identity(spec, seed);
        Ok(Twin {
            drive: Held(Some(drive)),
            identity,
            outstanding: 0,
            done: Vec::new(),
            recording: None,
            left_behind: false,
        })
    }

    /// Writes the drive's state into a file.
    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.quiet()?;
        let (drive, identity) = (&mut *self.drive, &self.identity);
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

    fn mark(&self) -> Mark {
        Mark {
            inner: self.drive.mark(),
        }
    }

    fn since(&self, mark: &Mark) -> Stretch {
        Stretch {
            inner: self.drive.since(&mark.inner),
        }
    }

    fn repeats_until_change(&self, stretch: &Stretch, again_bytes: u64) -> u64 {
        self.drive.repeats_until_change(&stretch.inner, again_bytes)
    }

    fn repeat(
        &mut self,
        stretch: &Stretch,
        times: u64,
        timeless_bytes: u64,
        again_bytes: u64,
    ) -> PyResult<u64> {
        self.quiet()?;
        let inner = &stretch.inner;
        Ok(self.drive.repeat(inner, times, timeless_bytes, again_bytes))
    }

    fn run<'py>(
        &mut self,
        py: Python<'py>,
        jobs_json: &str,
        sample_ns: u64,
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
        let jobs = parse(jobs_json, self.drive.capacity_bytes(), self.identity.seed)?;
        let wrong = |text: String| PyValueError::new_err(text);
        let phase = Phase::new(jobs, Nanos(sample_ns)).map_err(|e| wrong(e.to_string()))?;
        has_tables(&phase)?;
        let drive = &mut *self.drive;
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
        self.left_behind |= outcome.left_behind;
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

    /// Runs fio's jobs; what they have counted is there too where the watch ended them. `told` is
    /// called with the rows of each status as it is due; what it raises ends the jobs.
    fn fio<'py>(
        &mut self,
        py: Python<'py>,
        jobs_json: &str,
        watch: Py<PyAny>,
        told: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
        let jobs = parse(jobs_json, self.drive.capacity_bytes(), self.identity.seed)?;
        // Nobody sees a series or an X-ray of it: one sample each.
        let sample = Nanos(u64::MAX / 2);
        let phase = Phase::new(jobs, sample).map_err(|e| PyValueError::new_err(e.to_string()))?;
        has_tables(&phase)?;
        let drive = &mut *self.drive;
        let (outcome, verdict) = py.detach(|| {
            let start = drive.now();
            drive.restart_xray(sample);
            let verdict = RefCell::new(Verdict::Go);
            let mut tick = |progress: Progress| {
                let mut verdict = verdict.borrow_mut();
                if matches!(*verdict, Verdict::Go) {
                    *verdict = ask(&watch, progress.bytes, progress.elapsed);
                }
                match *verdict {
                    Verdict::Go => Flow::Continue,
                    _ => Flow::Stop,
                }
            };
            let mut tell = |jobs: Vec<FioTotals>| {
                let told = Python::attach(|py| told.call1(py, (fio::rows(py, jobs)?,)).map(drop));
                if let Err(raised) = told {
                    *verdict.borrow_mut() = Verdict::Raised(raised);
                }
            };
            let outcome = flashtwin_host::run_telling(drive, start, &phase, &mut tick, &mut tell);
            (outcome, verdict.into_inner())
        });
        self.left_behind |= outcome.left_behind;
        if let Verdict::Raised(raised) = verdict {
            return Err(raised);
        }
        self.drive.close_xray();
        if outcome.lacks_memory {
            return Err(PyMemoryError::new_err(fio::LOGS));
        }
        fio::answer(py, outcome)
    }

    fn rest<'py>(
        &mut self,
        py: Python<'py>,
        ns: u64,
        sample_ns: u64,
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
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

    /// Bytes of a unit of the map.
    #[getter]
    fn map_unit_bytes(&self) -> u32 {
        self.drive.map_unit_bytes()
    }

    /// How many reads of the host met no data since the drive was made or loaded.
    #[getter]
    fn reads_of_nothing(&self) -> u64 {
        self.drive.reads_of_nothing()
    }

    /// See [`Drive::take_waits`]: what waited the longest beyond the bound, until when and how
    /// long in nanoseconds, for what, and how many commands did.
    fn take_waits(&mut self) -> Option<(&'static str, u64, u64, &'static str, u64)> {
        let (wait, count) = self.drive.take_waits()?;
        let op = match wait.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "TRIM",
            Op::Flush => "flush",
        };
        Some((op, wait.until.0, wait.span.0, wait.cause, count))
    }

    /// Writes what jobs would write, one job after another, without time.
    fn lay_out(&mut self, py: Python<'_>, jobs_json: &str, watch: Py<PyAny>) -> PyResult<()> {
        self.quiet()?;
        let jobs = parse(jobs_json, self.drive.capacity_bytes(), self.identity.seed)?;
        precondition::check(&self.drive, &jobs)?;
        self.drive.restart_xray(Nanos::ZERO);
        let verdict = py.detach(|| {
            let mut verdict = Verdict::Go;
            precondition::write(&mut self.drive, &jobs, |bytes| {
                verdict = ask(&watch, bytes, Nanos::ZERO);
                matches!(verdict, Verdict::Go)
            });
            verdict
        });
        verdict.into_result()
    }

    /// As `lay_out`, as a step with an answer.
    fn precondition<'py>(
        &mut self,
        py: Python<'py>,
        jobs_json: &str,
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let start = self.drive.now();
        self.lay_out(py, jobs_json, watch)?;
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
        watch: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
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
            py.check_signals()?;
            let sectors = (end - at).min(1 << 31) as u32;
            py.detach(|| self.single(Op::Trim, at, sectors, &watch))
                .into_result()?;
            at += u64::from(sectors);
        }
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn lived<'py>(&self, py: Python<'py>, larger: u64) -> PyResult<Bound<'py, PyAny>> {
        convert::json(py, &self.drive.lived(larger))
    }

    fn smart<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::json(py, &self.drive.smart())
    }

    /// Writes what goes on in the drive between two moments into a new file, from now on and in
    /// place of another recording; `name` is what the drive is called there.
    fn record(&mut self, path: PathBuf, name: &str, from_ns: u64, to_ns: u64) -> PyResult<()> {
        let recording = Recording::new(&path, name)?;
        let (from, to) = (Nanos(from_ns), Nanos(to_ns));
        self.drive.record(from, to, Box::new(recording.clone()));
        self.recording = Some(recording);
        Ok(())
    }

    /// Ends the recording; the answer is its slices and its bytes, `None` where there was none.
    fn end_recording(&mut self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        drop(self.drive.end_recording());
        let recording = self.recording.take();
        let ended = recording.map(|recording| py.detach(|| recording.end()));
        Ok(ended.transpose()?)
    }

    fn flush<'py>(&mut self, py: Python<'py>, watch: Py<PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
        self.drive.restart_xray(Nanos::ZERO);
        let start = self.drive.now();
        py.detach(|| self.single(Op::Flush, 0, 0, &watch))
            .into_result()?;
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    fn purge<'py>(&mut self, py: Python<'py>, watch: Py<PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
        self.drive.restart_xray(Nanos::ZERO);
        let start = self.drive.now();
        let verdict = py.detach(|| {
            let mut verdict = Verdict::Go;
            let mut go_on = || {
                verdict = ask(&watch, 0, Nanos::ZERO);
                matches!(verdict, Verdict::Go)
            };
            self.left_behind = self.drive.purge_while(&mut go_on).is_none();
            verdict
        });
        verdict.into_result()?;
        let answer = Answer {
            start,
            end: self.drive.now(),
            outcome: None,
        };
        convert::answer(py, answer, self.drive.close_xray())
    }

    #[getter]
    fn queue_depth(&self) -> u32 {
        self.drive.queue_depth()
    }

    #[getter]
    fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Submits a command of the caller's own; its answer comes out of `advance`.
    #[pyo3(signature = (
        at_ns, tag, op, offset, size, fua = false, compressible_percent = 0, placement = 0
    ))]
    #[expect(clippy::too_many_arguments)]
    fn submit(
        &mut self,
        at_ns: u64,
        tag: u32,
        op: u8,
        offset: u64,
        size: u64,
        fua: bool,
        compressible_percent: u8,
        placement: u8,
    ) -> PyResult<()> {
        let asked = Asked {
            op,
            offset,
            size,
            fua,
            compressible_percent,
            placement,
        };
        let request = direct::request(tag, &asked)?;
        let (at, now, depth) = (Nanos(at_ns), self.drive.now(), self.drive.queue_depth());
        if at < now {
            let message = format!("a command at {at_ns} ns, and it is {} ns already", now.0);
            return Err(PyValueError::new_err(message));
        }
        // What happens before the command comes first; its answers wait for the next advance.
        self.pass_to(at)?;
        if self.outstanding >= depth {
            let message = format!("the queue is full: the drive takes {depth} commands at once");
            return Err(PyValueError::new_err(message));
        }
        self.drive.submit(at, request);
        self.outstanding += 1;
        Ok(())
    }

    /// Moves the clock to `to_ns`; what is done by then, since the last answer, is the answer.
    fn advance<'py>(&mut self, py: Python<'py>, to_ns: u64) -> PyResult<Bound<'py, PyDict>> {
        let now = self.drive.now().0;
        if to_ns < now {
            let message = format!("to {to_ns} ns, and it is {now} ns already");
            return Err(PyValueError::new_err(message));
        }
        py.detach(|| self.pass_to(Nanos(to_ns)))?;
        direct::columns(py, &std::mem::take(&mut self.done))
    }

    /// Moves the clock to the next moment at which a command is done; not at all where none is
    /// outstanding or one is done already.
    fn advance_until_done<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.outstanding > 0 && self.done.is_empty() {
            while self.done.is_empty() {
                let (drive, done) = (&mut *self.drive, &mut self.done);
                py.detach(|| drive.advance_until_done(Nanos::NEVER, done));
                if self.done.is_empty() {
                    py.check_signals()
                        .inspect_err(|_| self.left_behind = true)?;
                }
            }
            self.outstanding -= self.done.len() as u32;
        }
        direct::columns(py, &std::mem::take(&mut self.done))
    }

    /// Submits commands at their times, at most `depth` at once, and waits for all of them.
    #[expect(clippy::too_many_arguments)]
    fn play<'py>(
        &mut self,
        py: Python<'py>,
        at_ns: PyReadonlyArray1<'py, u64>,
        op: PyReadonlyArray1<'py, u8>,
        offset: PyReadonlyArray1<'py, u64>,
        size: PyReadonlyArray1<'py, u64>,
        depth: u32,
        fua: bool,
        compressible_percent: u8,
        placement: u8,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.quiet()?;
        let at_ns = at_ns.as_slice()?;
        let (op, offset, size) = (op.as_slice()?, offset.as_slice()?, size.as_slice()?);
        let wrong = |text: &str| PyValueError::new_err(text.to_owned());
        if [op.len(), offset.len(), size.len()] != [at_ns.len(); 3] {
            return Err(wrong("the columns are not equally long"));
        }
        if !at_ns.is_sorted() {
            return Err(wrong("the times do not rise"));
        }
        if depth == 0 || u32::try_from(op.len()).is_err() {
            return Err(wrong(
                "a play has a depth of at least 1 and fewer than 2^32 commands",
            ));
        }
        let requests = (0..op.len())
            .map(|index| {
                let asked = Asked {
                    op: op[index],
                    offset: offset[index],
                    size: size[index],
                    fua: fua && op[index] == 1,
                    compressible_percent,
                    placement,
                };
                direct::request(index as u32, &asked)
            })
            .collect::<PyResult<Vec<Request>>>()?;
        let drive = &mut *self.drive;
        let depth = depth.min(drive.queue_depth());
        let played = py.detach(|| direct::play(drive, at_ns, &requests, depth));
        if played.is_err() {
            self.left_behind = self.drive.outstanding() > 0;
        }
        let played = played?;
        let columns = PyDict::new(py);
        columns.set_item("submitted_ns", played.submitted_ns.into_pyarray(py))?;
        columns.set_item("done_ns", played.done_ns.into_pyarray(py))?;
        columns.set_item("status", played.status.into_pyarray(py))?;
        Ok(columns)
    }
}
