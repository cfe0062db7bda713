//! Results as Python sees them: dictionaries of numpy arrays.

use flashtwin_base::{Nanos, memory};
use flashtwin_drive::xray::{COLUMNS, Xray};
use flashtwin_host::{Outcome, Series};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};
use serde_json::Value;

use crate::fio;

/// What to say where what is kept of a step found no memory.
pub const SAMPLES: &str = "the samples of a step take more than can be had";

/// What a step comes to, before it crosses over.
pub struct Answer {
    pub start: Nanos,
    pub end: Nanos,
    pub outcome: Option<Outcome>,
}

/// The dictionary that every call on a twin answers with.
pub fn answer<'py>(
    py: Python<'py>,
    mut answer: Answer,
    xray: &Xray,
) -> PyResult<Bound<'py, PyDict>> {
    let cut = answer.outcome.as_ref().is_some_and(|o| o.lacks_memory);
    if cut || xray.lacks_memory() || !memory::has_room(xray.columns_bytes()) {
        return Err(PyMemoryError::new_err(SAMPLES));
    }
    let result = PyDict::new(py);
    result.set_item("start_ns", answer.start.0)?;
    result.set_item("duration_ns", (answer.end - answer.start).0)?;
    result.set_item("jobs", jobs(py, answer.outcome.as_ref())?)?;
    result.set_item("hist", histograms(py, answer.outcome.as_ref())?)?;
    let counted = answer.outcome.as_mut().map(|o| std::mem::take(&mut o.fio));
    result.set_item("fio", fio::rows(py, counted.unwrap_or_default())?)?;
    let seen = answer.outcome.map(|o| o.series).unwrap_or_default();
    result.set_item("series", series(py, seen)?)?;
    let columns = PyDict::new(py);
    for (name, column) in COLUMNS.iter().zip(xray.columns()) {
        columns.set_item(name, PyArray1::from_vec(py, column))?;
    }
    result.set_item("xray", columns)?;
    Ok(result)
}

/// A JSON value as Python's own: objects become dictionaries, lists lists.
pub fn json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => {
            if let Some(whole) = number.as_u64() {
                whole.into_pyobject(py)?.into_any()
            } else if let Some(whole) = number.as_i64() {
                whole.into_pyobject(py)?.into_any()
            } else {
                number.as_f64().into_pyobject(py)?.into_any()
            }
        }
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(json(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(items) => {
            let object = PyDict::new(py);
            for (name, item) in items {
                object.set_item(name, json(py, item)?)?;
            }
            object.into_any()
        }
    })
}

/// A series as a dictionary of its columns.
pub fn series<'py>(py: Python<'py>, series: Series) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in series.into_columns() {
        columns.set_item(name, column.into_pyarray(py))?;
    }
    Ok(columns)
}

fn histograms<'py>(py: Python<'py>, outcome: Option<&Outcome>) -> PyResult<Bound<'py, PyDict>> {
    let hist = PyDict::new(py);
    for (direction, counts) in outcome.map(|o| o.hist.as_slice()).unwrap_or_default() {
        hist.set_item(direction.name(), PyArray1::from_slice(py, counts.counts()))?;
    }
    Ok(hist)
}

fn jobs<'py>(py: Python<'py>, outcome: Option<&Outcome>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for job in outcome.map(|o| o.jobs.as_slice()).unwrap_or_default() {
        let row = PyDict::new(py);
        row.set_item("name", &job.name)?;
        row.set_item("ios", job.ios)?;
        row.set_item("bytes", job.bytes)?;
        row.set_item("duration_ns", job.duration.0)?;
        row.set_item("latency_mean_ns", job.latency_mean_ns)?;
        row.set_item("latency_min_ns", job.latency_min.0)?;
        row.set_item("latency_max_ns", job.latency_max.0)?;
        row.set_item("mean_depth", job.mean_depth)?;
        row.set_item("errors", job.errors.total())?;
        list.append(row)?;
    }
    Ok(list)
}
