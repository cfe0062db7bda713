//! Dynamic: free native blocks, which folding gives back.

use super::{Borrows, Design};

pub(super) const DESIGN: Design = Design {
    name: "dynamic",
    takes: "borrowed free ones",
    borrows: Borrows::Sized,
    ..Design::NOTHING
};
