//! Hybrid: own blocks first, borrowed ones after them.

use super::{Borrows, Design};

pub(super) const DESIGN: Design = Design {
    name: "hybrid",
    takes: "own then borrowed",
    owns: true,
    borrows: Borrows::Sized,
    ..Design::NOTHING
};
