//! Fold first: the host waits until a step has been folded; nothing is written direct.

use super::FullRule;

pub(super) const RULE: FullRule = FullRule {
    name: "fold-first",
    data: "held while `fold.step` is folded",
    in_steps: true,
    ..FullRule::STAGES
};
