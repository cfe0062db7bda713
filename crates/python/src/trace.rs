//! Traces for Python: what is in one, before a request of it goes to a drive.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use flashtwin_workload::trace::{Survey, TraceError as Found, TraceProblem, Wanted, survey};
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
    let asked: Wanted =
        serde_json::from_str(options).map_err(|e| PyValueError::new_err(e.to_string()))?;
    if asked.shape.scale == 0 {
        return Err(PyValueError::new_err("offsets are divided by at least 1"));
    }
    let file = File::open(&path)
        .map_err(|e| PyOSError::new_err((e.raw_os_error(), e.to_string(), path.clone())))?;
    let mut watched = Watched::new(file);
    let surveyed = py.detach(|| {
        let source = BufReader::with_capacity(PIECE_BYTES, &mut watched);
        survey(source, asked.reading, &asked.shape)
    });
    if let Some(raised) = watched.raised {
        return Err(raised);
    }
    row(py, &surveyed.map_err(|error| wrong(&error))?)
}

fn wrong(error: &Found) -> PyErr {
    let kind = match error.problem {
        TraceProblem::UnknownFormat(_) => "format",
        TraceProblem::Ambiguous(_) => "ambiguous",
        TraceProblem::NoSuchDisk { .. } => "disk",
        TraceProblem::UnknownVersion(_) => "version",
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
    result.set_item("files", files)?;
    Ok(result)
}
