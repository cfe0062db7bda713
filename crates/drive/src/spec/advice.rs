//! What a spec may say and hardly anybody wants: no mistake, and worth a warning.

use super::check::gc::pacing;
use super::value::Values;

/// A sentence for each.
pub(super) fn warnings(values: &Values) -> Vec<String> {
    collection_without_a_spare(values).into_iter().collect()
}

/// Where collection ends at the free superblock that it begins below, one above the reserve, it
/// stops as soon as that one is free, and the next victim's copies take it again. A host that then
/// needs a superblock waits for the rest of that victim. An end that lies higher keeps collection
/// going, and a second superblock above the reserve is there for the host. Collected data that
/// shares the host's superblocks takes none of its own: there no such rule was measured.
fn collection_without_a_spare(values: &Values) -> Option<String> {
    let [low, high, reserve] = ["gc.low", "gc.high", "gc.reserve"].map(|key| values.number(key));
    let (low, most) = (low?, reserve? + 1);
    let paced = !pacing(values)?.stops_host && values.word("gc.separation")? != "none";
    if !paced || low != most || high? != most {
        return None;
    }
    Some(format!(
        "gc.low and gc.high are both {low}, one above gc.reserve: on a full drive a write may wait \
         for the rest of a superblock's collection; write gc.high = {} or more",
        most + 1
    ))
}
