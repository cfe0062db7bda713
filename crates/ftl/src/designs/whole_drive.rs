//! Whole drive: every free block may be borrowed.

use super::{Borrows, Design};

pub(super) const DESIGN: Design = Design {
    name: "whole-drive",
    takes: "any free one",
    borrows: Borrows::All,
    ..Design::NOTHING
};
