//! Lower pages first: nothing is written in SLC mode and nothing folded. Host data takes the lower
//! pages of all blocks, which are the fast ones, and their upper pages when no other block is free.
//! For parts that program page by page.

use super::Design;

pub(super) const DESIGN: Design = Design {
    name: "lower-pages",
    takes: "none, but the lower pages of all blocks first, on parts that program page by page",
    lower_pages_first: true,
    ..Design::NOTHING
};
