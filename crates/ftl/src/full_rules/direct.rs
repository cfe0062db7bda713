//! Direct: the cache is passed by until enough of it can be opened again.

use super::FullRule;

pub(super) const RULE: FullRule = FullRule {
    name: "direct",
    data: "straight to native blocks",
    bypasses: true,
    ..FullRule::STAGES
};
