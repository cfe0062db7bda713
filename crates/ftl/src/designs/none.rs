//! No cache: host data goes to native blocks.

use super::Design;

pub(super) const DESIGN: Design = Design {
    name: "none",
    takes: "nowhere",
    ..Design::NOTHING
};
