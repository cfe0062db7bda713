//! The tests of this crate in one binary: linked once, and all of them share its threads.

mod closed_loop;
mod fio;
mod fio_gates;
mod fio_soak;
mod fio_trace;
mod toy;
