//! Traces for Python: what is in one, before a request of it goes to a drive.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flashtwin_workload::trace::profile::{PLACE_BYTES, Places, Profile, Side, Window};
use flashtwin_workload::trace::{
    Options, Shape, Survey, TraceError as Found, TraceProblem, Wanted, profile, survey,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::watched::Watched;

create_exception!(
    flashtwin._core,
    TraceError,
    PyException,
    "A trace that cannot be replayed: its line, what is wrong, and which kind of wrong that is."
);

const PIECE_BYTES: usize = 1 << 18;

/// Reads a whole trace once and says what is in it.
#[pyfunction]
pub fn survey_trace<'py>(
    py: Python<'py>,
    path: PathBuf,
    options: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let survey = read_through(py, path, options, |source, reading, shape| {
        survey(source, reading, shape)
    })?;
    row(py, &survey)
}

/// Reads a whole trace once and says what is in it and how it loads a drive.
#[pyfunction]
pub fn profile_trace<'py>(
    py: Python<'py>,
    path: PathBuf,
    options: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (survey, profile) = read_through(py, path, options, |source, reading, shape| {
        profile(source, reading, shape)
    })?;
    let result = row(py, &survey)?;
    result.set_item("load", load(py, &profile)?)?;
    Ok(result)
}

type Source<'a> = &'a mut dyn BufRead;

/// Hands a trace to a reader; Ctrl-C ends it.
fn read_through<T: Send>(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
    read: impl FnOnce(Source<'_>, Options, &Shape) -> Result<T, Found> + Send,
) -> PyResult<T> {
    let asked: Wanted =
        serde_json::from_str(options).map_err(|e| PyValueError::new_err(e.to_string()))?;
    if asked.shape.scale == 0 {
        return Err(PyValueError::new_err("offsets are divided by at least 1"));
    }
    let file = File::open(&path)
        .map_err(|e| PyOSError::new_err((e.raw_os_error(), e.to_string(), path.clone())))?;
    let mut watched = Watched::new(file);
    let answer = py.detach(|| {
        let mut source = BufReader::with_capacity(PIECE_BYTES, &mut watched);
        read(&mut source, asked.reading, &asked.shape)
    });
    match watched.raised {
        Some(raised) => Err(raised),
        None => answer.map_err(|error| wrong(&error)),
    }
}

fn wrong(error: &Found) -> PyErr {
    let kind = match error.problem {
        TraceProblem::UnknownFormat(_) => "format",
        TraceProblem::Ambiguous(_) => "ambiguous",
        TraceProblem::NoSuchDisk { .. } => "disk",
        TraceProblem::UnknownVersion(_) => "version",
        TraceProblem::OtherRecords(_) => "records",
        TraceProblem::Empty => "empty",
        TraceProblem::NoSuchEvent { .. } => "event",
        TraceProblem::TooManyFiles => "files",
        TraceProblem::Io(_) => "io",
        _ => "line",
    };
    TraceError::new_err((error.line, error.problem.to_string(), kind))
}

fn row<'py>(py: Python<'py>, found: &Survey) -> PyResult<Bound<'py, PyDict>> {
    let files = PyList::empty(py);
    for file in &found.files {
        let row = PyDict::new(py);
        row.set_item("name", &file.name)?;
        row.set_item("end", file.end)?;
        row.set_item("line", file.line)?;
        row.set_item("longest", file.longest)?;
        files.append(row)?;
    }
    let result = PyDict::new(py);
    result.set_item("format", found.format)?;
    result.set_item("ios", found.ios)?;
    result.set_item("bytes", found.bytes)?;
    result.set_item("flushes", found.flushes)?;
    result.set_item("span_ns", found.span.0)?;
    result.set_item("longest", found.longest)?;
    result.set_item("unaligned", found.unaligned)?;
    result.set_item("left_out", found.left_out)?;
    result.set_item("late", found.late)?;
    result.set_item("earlier", found.earlier.count)?;
    result.set_item("first_earlier", found.earlier.line)?;
    result.set_item("unended", found.unended)?;
    result.set_item("files", files)?;
    Ok(result)
}

fn load<'py>(py: Python<'py>, found: &Profile) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, side) in ["read", "write", "trim"].into_iter().zip(&found.sides) {
        result.set_item(name, side_row(py, side)?)?;
    }
    result.set_item("fua", found.fua)?;
    result.set_item("between_flushes", &found.between_flushes)?;
    let idle = PyDict::new(py);
    idle.set_item("count", found.idle.count)?;
    idle.set_item("total_ns", found.idle.total.0)?;
    idle.set_item("longest_ns", found.idle.longest.0)?;
    result.set_item("idle", idle)?;
    result.set_item("window_ns", found.window.0)?;
    result.set_item("windows", windows(py, &found.windows)?)?;
    result.set_item("places", places(py, &found.places)?)?;
    Ok(result)
}

fn side_row<'py>(py: Python<'py>, side: &Side) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("sizes", &side.sizes)?;
    row.set_item("sequential", side.sequential)?;
    row.set_item("sequential_bytes", side.sequential_bytes)?;
    Ok(row)
}

fn windows<'py>(py: Python<'py>, found: &[Window]) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyDict::new(py);
    for (kind, name) in ["read", "write", "trim"].into_iter().enumerate() {
        let ios: Vec<u64> = found.iter().map(|window| window.ios[kind]).collect();
        let bytes: Vec<u64> = found.iter().map(|window| window.bytes[kind]).collect();
        rows.set_item(format!("{name}_ios"), ios)?;
        rows.set_item(format!("{name}_bytes"), bytes)?;
    }
    let flushes: Vec<u64> = found.iter().map(|window| window.flushes).collect();
    rows.set_item("flushes", flushes)?;
    Ok(rows)
}

fn places<'py>(py: Python<'py>, found: &Places) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("bytes", PLACE_BYTES)?;
    row.set_item("sampled", found.sampled)?;
    row.set_item("touched", found.touched)?;
    row.set_item("written", found.written)?;
    row.set_item("read", found.read)?;
    row.set_item("writes", found.writes)?;
    row.set_item("partial_writes", found.partial_writes)?;
    row.set_item("overwrites", found.overwrites)?;
    row.set_item("reads", found.reads)?;
    row.set_item("reads_of_written", found.reads_of_written)?;
    row.set_item("distances", &found.distances)?;
    row.set_item("hottest", &found.hottest)?;
    row.set_item("not_followed", found.not_followed)?;
    Ok(row)
}
