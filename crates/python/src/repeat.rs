//! The work of a twin in a stretch, to be repeated: see `flashtwin_drive::repeat`.

use flashtwin_drive::repeat;
use pyo3::prelude::*;

/// The work that a drive had done at a moment.
#[pyclass(module = "flashtwin._core", frozen)]
pub struct Mark {
    pub inner: repeat::Mark,
}

/// The work of a drive in a time.
#[pyclass(module = "flashtwin._core", frozen)]
pub struct Stretch {
    pub inner: repeat::Stretch,
}

#[pymethods]
impl Stretch {
    /// This one and another.
    fn plus(&self, other: &Stretch) -> Stretch {
        let mut inner = self.inner.clone();
        inner.add(&other.inner, 1);
        Stretch { inner }
    }

    /// Bytes that the host wrote in it.
    #[getter]
    fn written_bytes(&self) -> u64 {
        self.inner.written_bytes()
    }

    /// How long it took.
    #[getter]
    fn time_ns(&self) -> u64 {
        self.inner.time().0
    }
}
