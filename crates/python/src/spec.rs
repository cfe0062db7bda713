//! Specs for Python: loading, and all mistakes at once in one exception.

use std::path::PathBuf;

use flashtwin_drive::spec;
use flashtwin_drive::spec::keys::{KEYS, Kind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

create_exception!(
    flashtwin._core,
    SpecError,
    PyException,
    "A spec is wrong; `errors` lists every mistake."
);

/// A checked spec.
#[pyclass(frozen, module = "flashtwin._core")]
pub struct Spec {
    pub(crate) inner: spec::Spec,
}

#[pymethods]
impl Spec {
    #[getter]
    fn id(&self) -> &str {
        &self.inner.id
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.inner.config.capacity_bytes
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.inner.config.memory_bytes()
    }

    /// Bytes of a unit of the map.
    #[getter]
    fn map_unit_bytes(&self) -> u32 {
        self.inner.config.policy.unit_bytes
    }

    /// Why the drive cannot be written without time, in order or at random; `None` where it can.
    fn precondition_refusal(&self, random: bool) -> Option<&'static str> {
        self.inner.config.precondition_refusal(random)
    }

    /// Why nothing that the drive does can be repeated without simulating it.
    fn repeat_refusal(&self) -> Option<&'static str> {
        self.inner.config.repeat_refusal()
    }

    fn scale_within(&self, bytes: u64) -> Option<u64> {
        self.inner.scale_within(bytes)
    }

    /// Divisors of the scales that the flash can have, the largest drive first.
    fn scales(&self) -> Vec<u64> {
        self.inner.scales()
    }

    #[getter]
    fn hash(&self) -> &str {
        &self.inner.hash
    }

    #[getter]
    fn firmware_profiles(&self) -> Vec<String> {
        self.inner.profiles.clone()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings.clone()
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for value in &self.inner.values {
            let row = PyDict::new(py);
            row.set_item("key", value.key)?;
            row.set_item("value", &value.text)?;
            row.set_item("unit", &value.unit)?;
            row.set_item("origin", value.origin)?;
            row.set_item("source", &value.source)?;
            row.set_item("unwritten", value.unwritten)?;
            list.append(row)?;
        }
        Ok(list)
    }

    fn to_toml(&self) -> &str {
        self.inner.to_toml()
    }
}

fn mistakes(py: Python<'_>, errors: &[spec::SpecError]) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let list = PyList::empty(py);
        for error in errors {
            let row = PyDict::new(py);
            row.set_item("file", &error.file)?;
            row.set_item("line", error.line)?;
            row.set_item("key", &error.key)?;
            row.set_item("message", &error.message)?;
            row.set_item("hint", &error.hint)?;
            list.append(row)?;
        }
        let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let raised = SpecError::new_err(text.join("\n"));
        raised.value(py).setattr("errors", list)?;
        let count: usize = errors.iter().map(|error| error.count).sum();
        raised.value(py).setattr("count", count)?;
        Ok(raised)
    };
    build().unwrap_or_else(|failure| failure)
}

/// Loads a drive by catalogue id or path, made smaller by `scale`.
#[pyfunction]
#[pyo3(signature = (target, search, firmware, sets, scale=None))]
pub fn load_spec(
    py: Python<'_>,
    target: &str,
    search: Vec<PathBuf>,
    firmware: Vec<String>,
    sets: Vec<String>,
    scale: Option<&str>,
) -> PyResult<Spec> {
    match spec::load_scaled(target, &search, &firmware, &sets, scale) {
        Ok(inner) => Ok(Spec { inner }),
        Err(errors) => Err(mistakes(py, &errors)),
    }
}

/// The words that a key of a spec may have; none of a key that is no choice of words.
#[pyfunction]
pub fn spec_words(key: &str) -> Vec<&'static str> {
    let key = KEYS.iter().find(|known| known.name == key);
    match key.map(|key| key.kind) {
        Some(Kind::Word(words)) => words.to_vec(),
        _ => Vec::new(),
    }
}

/// Reads a drive from the text of a spec. What it extends is one of `parents`, ids with their
/// texts; no file is opened.
#[pyfunction]
#[pyo3(signature = (text, parents, firmware, sets, scale=None))]
pub fn parse_spec(
    py: Python<'_>,
    text: &str,
    parents: Vec<(String, String)>,
    firmware: Vec<String>,
    sets: Vec<String>,
    scale: Option<&str>,
) -> PyResult<Spec> {
    let known: Vec<(&str, &str)> = parents
        .iter()
        .map(|(id, text)| (id.as_str(), text.as_str()))
        .collect();
    match spec::load_text(text, &known, &firmware, &sets, scale) {
        Ok(inner) => Ok(Spec { inner }),
        Err(errors) => Err(mistakes(py, &errors)),
    }
}
