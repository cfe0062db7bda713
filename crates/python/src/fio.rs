//! What fio counts of a job, for Python: plain numbers, lists and dictionaries.
//!
//! Arrays are made of logs alone, so that who asks for none does not wait for numpy.

use flashtwin_base::{Histogram, Nanos};
use flashtwin_host::fio::{Averages, FioTotals, Moments, Requests, Side, Stats, SteadyTotals};
use flashtwin_host::{Needs, Outcome, Phase};
use flashtwin_workload::Direction;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};

use crate::twin;

/// All that a phase of fio's comes to.
pub fn answer(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("start_ns", outcome.start.0)?;
    answer.set_item("duration_ns", (outcome.end - outcome.start).0)?;
    answer.set_item("stopped", outcome.stopped)?;
    answer.set_item("rows", rows(py, outcome.fio)?)?;
    Ok(answer)
}

/// What to say where what is kept of the jobs found no memory.
pub const LOGS: &str = "what the jobs keep for their logs takes more than can be had";

/// Bytes of memory that jobs take which run side by side: files, slots and logs.
#[pyfunction]
pub fn fio_memory(jobs_json: &str, capacity_bytes: u64) -> PyResult<(u64, u64, u64)> {
    let jobs = twin::parse(jobs_json, capacity_bytes, 0)?;
    let sample = Nanos(u64::MAX / 2);
    let phase = Phase::new(jobs, sample).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let Needs { files, slots, logs } = phase.needs();
    Ok((files, slots, logs))
}

/// A dictionary for each job, in order.
pub fn rows<'py>(py: Python<'py>, jobs: Vec<FioTotals>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for job in jobs {
        list.append(row(py, job)?)?;
    }
    Ok(list)
}

fn row(py: Python<'_>, job: FioTotals) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", &job.name)?;
    let failure = job.failure.map(|failure| (failure.code, failure.text));
    row.set_item("failure", failure)?;
    row.set_item("started_ns", job.started.0)?;
    row.set_item("measured_ns", job.measured.0)?;
    row.set_item("ended_ns", job.ended.0)?;
    row.set_item("depth_found", job.depth_found)?;
    row.set_item("ended_all", job.ended_all)?;
    counted(&row, &job.stats)?;
    row.set_item("steady", job.steady.map(|s| steady(py, s)).transpose()?)?;
    let requests = job.requests.map(|requests| columns(py, requests));
    row.set_item("requests", requests.transpose()?)?;
    let averages = job.averages.map(|averages| windows(py, averages));
    row.set_item("averages", averages.transpose()?)?;
    Ok(row)
}

fn counted(row: &Bound<'_, PyDict>, stats: &Stats) -> PyResult<()> {
    let py = row.py();
    for (direction, counted) in Direction::ALL.into_iter().zip(&stats.sides) {
        row.set_item(direction.name(), side(py, counted)?)?;
    }
    let sync = PyDict::new(py);
    sync.set_item("issued", stats.syncs_issued)?;
    sync.set_item("datasyncs", stats.datasyncs_issued)?;
    sync.set_item("lat", moments(py, &stats.syncs)?)?;
    sync.set_item("lat_hist", histogram(py, &stats.sync_hist)?)?;
    row.set_item("sync", sync)?;
    row.set_item("depths", stats.depths.to_vec())?;
    row.set_item("submits", stats.submits.to_vec())?;
    row.set_item("completes", stats.completes.to_vec())?;
    row.set_item("latency_ns", stats.latency_ns.to_vec())?;
    row.set_item("latency_us", stats.latency_us.to_vec())?;
    row.set_item("latency_ms", stats.latency_ms.to_vec())
}

fn side<'py>(py: Python<'py>, side: &Side) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("ios", side.ios)?;
    row.set_item("bytes", side.bytes)?;
    row.set_item("issued", side.issued)?;
    row.set_item("errors", side.errors)?;
    row.set_item("runtime_ns", side.runtime.0)?;
    for (name, of) in [
        ("slat", &side.slat),
        ("clat", &side.clat),
        ("lat", &side.lat),
        ("bw", &side.bw),
        ("iops", &side.iops),
    ] {
        row.set_item(name, moments(py, of)?)?;
    }
    row.set_item("slat_hist", histogram(py, &side.slat_hist)?)?;
    row.set_item("clat_hist", histogram(py, &side.clat_hist)?)?;
    row.set_item("lat_hist", histogram(py, &side.lat_hist)?)?;
    Ok(row)
}

fn moments<'py>(py: Python<'py>, moments: &Moments) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("count", moments.count)?;
    row.set_item("min", moments.min())?;
    row.set_item("max", moments.max())?;
    row.set_item("mean", moments.mean())?;
    row.set_item("stddev", moments.deviation())?;
    Ok(row)
}

/// The buckets that hold anything, with their counts.
fn histogram<'py>(py: Python<'py>, hist: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let used = hist.counts().iter().enumerate();
    let used: Vec<_> = used.filter(|(_, count)| **count > 0).collect();
    used.into_py_dict(py)
}

fn steady(py: Python<'_>, totals: SteadyTotals) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("attained", totals.attained)?;
    row.set_item("criterion", totals.criterion)?;
    row.set_item("deviation", totals.deviation)?;
    row.set_item("slope", totals.slope)?;
    row.set_item("bw", totals.bw)?;
    row.set_item("iops", totals.iops)?;
    Ok(row)
}

fn columns(py: Python<'_>, requests: Requests) -> PyResult<Bound<'_, PyDict>> {
    [
        ("start_ns", requests.start_ns.into_pyarray(py).into_any()),
        ("issue_ns", requests.issue_ns.into_pyarray(py).into_any()),
        (
            "complete_ns",
            requests.complete_ns.into_pyarray(py).into_any(),
        ),
        ("number", requests.number.into_pyarray(py).into_any()),
        ("offset", requests.offset.into_pyarray(py).into_any()),
        ("bytes", requests.bytes.into_pyarray(py).into_any()),
        ("file", requests.file.into_pyarray(py).into_any()),
        ("direction", requests.direction.into_pyarray(py).into_any()),
    ]
    .into_py_dict(py)
}

fn windows(py: Python<'_>, averages: Averages) -> PyResult<Bound<'_, PyDict>> {
    [
        ("end_ns", averages.end_ns.into_pyarray(py).into_any()),
        ("dt_ns", averages.dt_ns.into_pyarray(py).into_any()),
        ("direction", averages.direction.into_pyarray(py).into_any()),
        ("ios", averages.ios.into_pyarray(py).into_any()),
        ("bytes", averages.bytes.into_pyarray(py).into_any()),
        ("slat_ns", averages.slat_ns.into_pyarray(py).into_any()),
        ("clat_ns", averages.clat_ns.into_pyarray(py).into_any()),
        ("lat_ns", averages.lat_ns.into_pyarray(py).into_any()),
    ]
    .into_py_dict(py)
}
