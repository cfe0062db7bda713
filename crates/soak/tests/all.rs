//! The tests of this crate in one binary: linked once, and all of them share its threads.

mod bytes;
mod campaign;
mod campaigns;
mod fingerprints;
mod keys;
mod patience;
mod properties;
mod served;
mod shadow;
mod snapshot;
