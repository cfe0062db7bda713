//! The drive as a block device: real bytes, real clients, real time, and the power cut.
//!
//! [`disk`] is the drive with its bytes, in virtual time; [`store`] has the bytes, [`directory`]
//! and [`journal`] keep them over the end of the server, [`log`] has what was asked and asks it
//! again, [`faults`] is what breaks. [`nbd`] is the protocol without sockets, [`server`] the event
//! loop that joins them and, with [`pace`], the only part that reads a clock.

mod clients;
mod command;
pub mod control;
pub mod directory;
pub mod disk;
pub mod faults;
pub mod journal;
pub mod log;
mod memory;
pub mod nbd;
pub mod pace;
pub mod server;
pub mod sockets;
pub mod store;

pub use clients::{Listener, Socket};
