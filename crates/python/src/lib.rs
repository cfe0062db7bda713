//! Bindings: convert, release the lock, map errors, decide nothing.
//!
//! One call runs one phase. While it runs the Python lock is released; it is taken back every
//! 65,536 completions to ask the caller's `watch` whether to go on.

mod batch;
mod convert;
mod direct;
mod fio;
mod mechanisms;
mod precondition;
mod repeat;
#[cfg(target_os = "linux")]
mod serve;
mod snapshot;
mod spec;
mod tables;
mod timeline;
mod trace;
mod twin;
mod watched;

use pyo3::prelude::*;

/// How this module was built: what a report of a fault has to say.
const BUILD: &str = if cfg!(debug_assertions) {
    concat!("debug build for ", env!("FLASHTWIN_TARGET"))
} else {
    concat!("release build for ", env!("FLASHTWIN_TARGET"))
};

/// Answers a question of a page, as its core does; question and answer are JSON.
#[pyfunction]
fn play(py: Python<'_>, question: &str) -> String {
    py.detach(|| flashtwin_page::answer(question))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("MODEL", flashtwin_drive::snapshot::MODEL)?;
    module.add("BUILD", BUILD)?;
    module.add("SnapshotError", py.get_type::<snapshot::SnapshotError>())?;
    module.add("SpecError", py.get_type::<spec::SpecError>())?;
    module.add("TableError", py.get_type::<tables::TableError>())?;
    module.add("Stopped", py.get_type::<twin::Stopped>())?;
    module.add("TraceError", py.get_type::<trace::TraceError>())?;
    module.add_class::<spec::Spec>()?;
    module.add_class::<twin::Twin>()?;
    module.add_class::<repeat::Mark>()?;
    module.add_class::<repeat::Stretch>()?;
    module.add_function(wrap_pyfunction!(fio::fio_memory, module)?)?;
    module.add_function(wrap_pyfunction!(batch::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(play, module)?)?;
    module.add_function(wrap_pyfunction!(mechanisms::cache_mechanisms, module)?)?;
    module.add_function(wrap_pyfunction!(spec::load_spec, module)?)?;
    module.add_function(wrap_pyfunction!(spec::parse_spec, module)?)?;
    module.add_function(wrap_pyfunction!(spec::spec_words, module)?)?;
    module.add_function(wrap_pyfunction!(trace::profile_trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace::survey_trace, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(tables::read_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(tables::pack_tables, module)?)?;
    module.add_function(wrap_pyfunction!(tables::unpack_tables, module)?)?;
    #[cfg(target_os = "linux")]
    {
        module.add("ServeError", py.get_type::<serve::ServeError>())?;
        module.add_function(wrap_pyfunction!(serve::serve, module)?)?;
        module.add_function(wrap_pyfunction!(serve::replay, module)?)?;
        module.add_function(wrap_pyfunction!(serve::stored, module)?)?;
    }
    Ok(())
}
