//! Serving for Python: one call that ends when its watch says so.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use flashtwin_base::Nanos;
use flashtwin_drive::snapshot::Identity;
use flashtwin_serve::directory::{Directory, DirectoryError};
use flashtwin_serve::disk::Disk;
use flashtwin_serve::faults::Worse;
use flashtwin_serve::log::{self, Log, LogError};
use flashtwin_serve::nbd::Export;
use flashtwin_serve::server::{Cuts, Options, Report, Server};
use flashtwin_serve::{Listener, Socket, sockets};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::convert;
use crate::spec::Spec;
use crate::twin::Twin;

create_exception!(
    flashtwin._core,
    ServeError,
    PyException,
    "The drive cannot be served; `args` are a message and the kind of the failure."
);

/// Requests smaller than a sector are none; larger ones than this are several.
const LEAST_BYTES: u32 = 512;
const MOST_BYTES: u32 = 32 << 20;

fn refused(error: &DirectoryError) -> PyErr {
    let kind = match error {
        DirectoryError::Locked(_) => "locked",
        DirectoryError::Foreign(_) => "foreign",
        DirectoryError::HalfMade(_) => "half-made",
        DirectoryError::OtherDrive { .. } => "other-drive",
        DirectoryError::Damaged { .. } => "damaged",
        DirectoryError::MachineWentDown(_) => "machine-went-down",
        DirectoryError::Dead(_) => "dead",
        DirectoryError::Io { .. } => "system",
    };
    ServeError::new_err((error.to_string(), kind))
}

fn unlogged(error: &LogError) -> PyErr {
    let kind = match error {
        LogError::Damaged { .. } => "damaged-log",
        LogError::NoSuchCut { .. } => "no-such-cut",
        LogError::Interrupted => "interrupted",
        LogError::Io { error, .. } if error.kind() == std::io::ErrorKind::AlreadyExists => {
            "log-there"
        }
        LogError::Io { .. } => "system",
    };
    ServeError::new_err((error.to_string(), kind))
}

fn system(place: impl std::fmt::Display, error: &std::io::Error) -> PyErr {
    ServeError::new_err((format!("{place}: {error}"), "system"))
}

/// What is asked for, as JSON.
struct Asked(Value);

impl Asked {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    fn real(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    fn worse(&self) -> Worse {
        Worse {
            flush_ignored: self.is("flush_ignored"),
            fua_ignored: self.is("fua_ignored"),
            superblocks_lost: self.whole("superblocks_lost").unwrap_or(0) as u32,
            shorn: self.whole("shorn").unwrap_or(0) as u32,
            never_back: self.is("never_back"),
        }
    }

    fn options(&self) -> Options {
        Options {
            speed: self.real("speed").unwrap_or(1.0),
            timed: !self.is("untimed"),
            cuts: Cuts {
                at: self.whole("cut_at"),
                off: Nanos::ZERO,
                chance: self.real("cut_chance").unwrap_or(0.0),
                seed: self.whole("cut_seed").unwrap_or(1),
            },
        }
    }

    fn address(&self, name: &str) -> PyResult<Option<SocketAddr>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let address = text.parse();
        let wrong = |_| PyValueError::new_err(format!("{text} is no address"));
        address.map(Some).map_err(wrong)
    }
}

/// The seed of the drive that a directory holds, none where it holds no drive yet; an error where
/// what it holds cannot be served.
#[pyfunction]
pub fn stored(py: Python<'_>, spec: &Spec, path: PathBuf) -> PyResult<Option<u64>> {
    py.detach(|| {
        let directory = Directory::lock(&path).map_err(|error| refused(&error))?;
        let there = directory.stored(&spec.inner.hash);
        let there = there.map_err(|error| refused(&error))?;
        Ok(there.map(|stored| stored.identity.seed))
    })
}

/// The drive with its bytes, and how long it took for its start.
fn disk(
    spec: &Spec,
    twin: Option<PyRefMut<'_, Twin>>,
    data: Option<&Path>,
    packed: bool,
) -> PyResult<(Disk, Option<Nanos>)> {
    let directory = data.map(Directory::lock).transpose();
    let directory = directory.map_err(|error| refused(&error))?;
    if let Some(directory) = directory {
        let there = directory.stored(&spec.inner.hash);
        if let Some(stored) = there.map_err(|error| refused(&error))? {
            let resumed =
                Disk::resumed(&spec.inner.config, stored.identity, directory, stored.clean);
            let (disk, start) = resumed.map_err(|error| refused(&error))?;
            return Ok((disk, Some(start)));
        }
        let (drive, identity) = handed_over(spec, twin)?;
        let made = Disk::in_directory(drive, identity, directory);
        return Ok((made.map_err(|error| refused(&error))?, None));
    }
    let (drive, _) = handed_over(spec, twin)?;
    Ok((Disk::in_memory(drive, packed), None))
}

fn handed_over(
    spec: &Spec,
    twin: Option<PyRefMut<'_, Twin>>,
) -> PyResult<(flashtwin_drive::Drive, Identity)> {
    let mut twin = twin.ok_or_else(|| PyValueError::new_err("there is no drive to serve"))?;
    let (drive, identity) = twin.take()?;
    if identity.spec_hash != spec.inner.hash {
        return Err(PyValueError::new_err("the drive is another spec's"));
    }
    Ok((drive, identity))
}

/// Binds what is asked for; the answer has the addresses.
fn listeners(asked: &Asked) -> PyResult<(Vec<Listener>, Value)> {
    let (mut all, mut places) = (Vec::new(), json!({}));
    for (name, kind) in [("socket", Socket::Nbd), ("control", Socket::Control)] {
        if let Some(path) = asked.path(name) {
            let bound = sockets::unix(&path, kind);
            all.push(bound.map_err(|error| system(path.display(), &error))?);
            places[name] = json!(path);
        }
    }
    for (name, kind) in [("tcp", Socket::Nbd), ("metrics", Socket::Metrics)] {
        if let Some(address) = asked.address(name)? {
            let bound = sockets::tcp(address, kind);
            let (listener, address) = bound.map_err(|error| system(address, &error))?;
            all.push(listener);
            places[name] = json!(address.to_string());
        }
    }
    Ok((all, places))
}

fn told(report: &Report, state: Value) -> Value {
    let lateness = &report.lateness;
    json!({
        "state": state,
        "answers": lateness.answers(),
        "lateness_us_p50": lateness.percentile_us(50.0),
        "lateness_us_p99": lateness.percentile_us(99.0),
        "late_share": lateness.late_share(),
        "connections": report.connections,
    })
}

/// The log that is to be written.
fn begun_log(asked: &Asked) -> PyResult<Option<Log>> {
    let Some(path) = asked.path("log") else {
        return Ok(None);
    };
    let header = asked.0.get("log_header").cloned().unwrap_or_default();
    let log = Log::begin(&path, &header.to_string(), asked.is("log_bytes"));
    log.map(Some).map_err(|error| unlogged(&error))
}

/// Asks a drive again for what a log tells of, until the cut of a number, or to its end, and writes
/// what it holds then into an empty file. `worse` is as for [`serve`]. The answer says what came
/// of it.
#[pyfunction]
#[pyo3(signature = (spec, twin, path, worse_json, until_cut, image, watch))]
#[expect(clippy::too_many_arguments)]
pub fn replay<'py>(
    py: Python<'py>,
    spec: &Spec,
    twin: PyRefMut<'py, Twin>,
    path: PathBuf,
    worse_json: &str,
    until_cut: Option<u64>,
    image: Option<PathBuf>,
    watch: Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let worse: Value = serde_json::from_str(worse_json)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (drive, _) = handed_over(spec, Some(twin))?;
    let ended = py.detach(|| -> PyResult<Value> {
        let mut disk = Disk::in_memory(drive, false);
        disk.set_worse(Asked(worse).worse());
        let mut raised = None;
        let replayed = log::replay(&mut disk, &path, until_cut, |now| {
            let answer = Python::attach(|py| -> PyResult<bool> {
                py.check_signals()?;
                watch.call1(py, (now.as_secs_f64(),))?.extract(py)
            });
            answer.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let replayed = replayed.map_err(|error| unlogged(&error))?;
        let written = image
            .map(|image| log::write_image(&disk, &image))
            .transpose();
        let [reads, writes, trims, flushes] = replayed.asked;
        Ok(json!({
            "reads": reads,
            "writes": writes,
            "trims": trims,
            "flushes": flushes,
            "answered": replayed.answered,
            "broken_off": replayed.broken_off,
            "cuts": replayed.cuts,
            "clock_s": replayed.at.as_secs_f64(),
            "start_s": replayed.start.as_secs_f64(),
            "comes_back": !disk.is_dead(),
            "held_bytes": written.map_err(|error| unlogged(&error))?,
        }))
    })?;
    convert::json(py, &ended)
}

/// Serves a drive. `ready` is called with the addresses once clients may connect, then `watch` ten
/// times a second with what goes on, until it answers false. What either raises ends the server.
#[pyfunction]
pub fn serve<'py>(
    py: Python<'py>,
    spec: &Spec,
    twin: Option<PyRefMut<'py, Twin>>,
    asked_json: &str,
    ready: Py<PyAny>,
    watch: Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let asked: Value = serde_json::from_str(asked_json)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let asked = Asked(asked);
    let data = asked.path("data");
    let (mut disk, start) = disk(spec, twin, data.as_deref(), asked.is("packed"))?;
    disk.set_worse(asked.worse());
    if let Some(log) = begun_log(&asked)? {
        disk.set_log(log);
    }
    let (listeners, mut places) = listeners(&asked)?;
    places["start_s"] = json!(start.map(Nanos::as_secs_f64));
    ready.call1(py, (convert::json(py, &places)?,))?;
    let config = &spec.inner.config;
    let export = Export {
        name: asked.text("name").unwrap_or(&spec.inner.id).to_owned(),
        description: format!("{}, simulated by flashtwin", spec.inner.name),
        size: config.capacity_bytes / u64::from(LEAST_BYTES) * u64::from(LEAST_BYTES),
        least_bytes: LEAST_BYTES,
        preferred_bytes: config.policy.unit_bytes.max(LEAST_BYTES),
        most_bytes: MOST_BYTES,
        read_only: false,
        challenge: None,
    };
    let mut server = Server::new(disk, export, asked.options(), listeners);
    server.note_start(start.unwrap_or(Nanos::ZERO));
    let wide = asked.is("told");
    let ended = py.detach(|| -> PyResult<Value> {
        let mut raised = None;
        let served = server.run(|server| {
            let answer = Python::attach(|py| -> PyResult<bool> {
                py.check_signals()?;
                let state = if wide { server.state() } else { Value::Null };
                watch.call1(py, (convert::json(py, &state)?,))?.extract(py)
            });
            answer.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        });
        let place = || data.clone().unwrap_or_default();
        served.map_err(|error| system(place().display(), &error))?;
        let state = server.state();
        let ended = server.end();
        let (mut disk, report) = ended.map_err(|error| system(place().display(), &error))?;
        let stopped = disk.shut_down();
        stopped.map_err(|error| refused(&error))?;
        match raised {
            Some(error) => Err(error),
            None => Ok(told(&report, state)),
        }
    })?;
    convert::json(py, &ended)
}
