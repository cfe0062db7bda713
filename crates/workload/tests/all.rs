//! The tests of this crate in one binary: linked once, and all of them share its threads.

mod addresses;
mod fio_stream;
mod jobs;
mod recorded;
mod traces;
