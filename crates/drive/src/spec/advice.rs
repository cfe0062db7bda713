//! Warnings: values that are allowed, and that slow a drive down for a reason that is easy to miss.

use super::check::gc::pacing;
use super::value::Values;
use crate::spec::keys::Gc;

/// A sentence for each.
pub(super) fn warnings(values: &Values) -> Vec<String> {
    collection_without_a_spare(values).into_iter().collect()
}

/// Warns where `gc.low` and `gc.high` are equal and one above the reserve. Collection then stops as
/// soon as one superblock above the reserve is free, and the copies of the next victim take that
/// one. A host that needs a superblock meanwhile waits until the victim is emptied. With a higher
/// `gc.high` collection frees a second one, which the host can have. With `gc.separation = "none"`
/// copies go into the host's superblocks, and no such wait was measured.
fn collection_without_a_spare(values: &Values) -> Option<String> {
    let [low, high, reserve] = [Gc::low, Gc::high, Gc::reserve].map(|key| values.of(key));
    let (low, most) = (low?, reserve? + 1);
    let paced = !pacing(values)?.stops_host && values.of(Gc::separation)? != "none";
    if !paced || low != most || high? != most {
        return None;
    }
    Some(format!(
        "gc.low and gc.high are both {low}, one above gc.reserve: on a full drive a write may wait \
         for the rest of a superblock's collection; write gc.high = {} or more",
        most + 1
    ))
}
