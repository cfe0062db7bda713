//! The words that every crate shares: time, addresses, requests, the device, randomness, queues,
//! histograms.
//!
//! Nothing here knows flash or firmware. Sizes are bytes unless a name ends in `_units` (mapping
//! units, 4 KiB by default) or `_sectors` (512 bytes); times are [`time::Nanos`].

pub mod device;
pub mod hist;
pub mod memory;
pub mod queue;
pub mod ring;
pub mod rng;
pub mod state;
pub mod time;

pub use device::{Completion, Device, Op, Request, Source, Status};
pub use hist::Histogram;
pub use state::{State, Visitor};
pub use time::Nanos;
