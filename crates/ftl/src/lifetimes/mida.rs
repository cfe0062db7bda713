//! Classes by how often data has been moved, after MiDA (Park, Lee, Kim and Noh, APSys 2021): what
//! has survived more collections is older and will live longer.
//!
//! It keeps nothing: the class of a superblock is the number of times that its data was moved. The
//! number of classes is ours, six with the host's as in [`SepBit`](super::SepBit): each further one
//! keeps a superblock open.

use super::{Filled, Lifetimes, Moved, Registered, Write};

/// Classes of collected data.
const CLASSES: u8 = 5;

/// Divides collected data by how often it has been moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mida;

flashtwin_base::state! { Mida {} }

impl Registered for Mida {
    const NAME: &'static str = "mida";
    const DIVIDES: &'static str = "collected data by how often it has been moved, five classes";

    fn new() -> Mida {
        Mida
    }
}

impl Lifetimes for Mida {
    fn classes(&self) -> (u8, u8) {
        (1, CLASSES)
    }

    fn start(&mut self, _: u32) {}

    fn host(&mut self, write: &Write) -> (u8, u32) {
        (0, write.count)
    }

    fn wrote(&mut self, _: u32, _: u32, _: u64) {}

    fn collected(&mut self, moved: &Moved) -> u8 {
        match moved.from {
            Filled::Host(_) | Filled::Folded => 0,
            Filled::Collected(class) => (class + 1).min(CLASSES - 1),
            Filled::Rested => CLASSES - 1,
        }
    }

    fn victim(&mut self, _: Filled, _: u64) {}
}
