//! The tests of this crate in one binary: linked once, and all of them share its threads.

mod common;
mod compression;
mod health;
mod layout;
mod orders;
mod paged_map;
mod parity;
mod reference;
mod theory;
mod wear;
