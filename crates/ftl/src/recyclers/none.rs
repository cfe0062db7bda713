//! None: data is copied when space is wanted.

use super::Recycling;

pub(super) const RECYCLING: Recycling = Recycling {
    name: "none",
    does: "nothing is copied but for space",
    accompanies: false,
};
