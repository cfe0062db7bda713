//! Mixed: a share goes straight to native blocks, the rest through SLC as it is folded out.

use super::FullRule;

pub(super) const RULE: FullRule = FullRule {
    name: "mixed",
    data: "a share of it straight to native blocks, the rest as with `staged`",
    shares: true,
    ..FullRule::STAGES
};
