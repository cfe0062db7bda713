//! Staged: every byte still passes through SLC, folded out at the pace at which it comes in.

use super::FullRule;

pub(super) const RULE: FullRule = FullRule {
    name: "staged",
    data: "through SLC all the same, while as much is folded out",
    ..FullRule::STAGES
};
