//! Static: blocks that always serve in SLC mode, the same at every fill.

use super::Design;

pub(super) const DESIGN: Design = Design {
    name: "static",
    takes: "own ones",
    owns: true,
    ..Design::NOTHING
};
