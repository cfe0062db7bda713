//! What else goes on in a drive that has been written all over: one file each, and a line in the
//! registry below.

/// A recycler as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycling {
    /// Its word in a spec.
    pub name: &'static str,
    /// What it does, as the end of a sentence.
    pub does: &'static str,
    /// Once no superblock is left that was never written, a unit is copied for each that the host
    /// writes.
    pub accompanies: bool,
}

crate::registry::registry! {
    /// What else goes on in a drive that has been written all over.
    Recycler: Recycling by recycling, constants RECYCLING, all in RECYCLINGS {
        none::None,
        settled::Settled,
    }
}
