//! One program for all tests of the crate.

mod bytes;
mod wire;
