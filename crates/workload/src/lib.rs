//! Who asks for what: typed jobs and the addresses that they generate. Knows nothing of drives.

pub mod fio;
pub mod generate;
mod handles;
mod in_use;
pub mod job;
pub mod trace;

pub use generate::{Ask, Generator};
pub use handles::Handles;
pub use job::{Direction, Job, JobError, Mix, Order, RawJob, ReadWrite, SECTOR_BYTES, Zone};
