//! The nearest known word to a mistyped one.

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
pub fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let change = usize::from(from[i - 1] != to[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + change);
            let swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if swapped {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Bytes of the longest word that is looked at; no key is half as long.
const LONGEST: usize = 200;

/// True if two words differ in length by at most a number of edits. This is cheap, and is looked at
/// before edits are counted.
fn may_be_near(word: &str, candidate: &str, limit: usize) -> bool {
    let apart = |a: &str, b: &str| a.chars().count().abs_diff(b.chars().count());
    apart(word, candidate) <= limit || apart(last_part(word), last_part(candidate)) < limit
}

/// The candidate that was most likely meant; none where no candidate is near. A dotted key in the
/// wrong section counts as one edit, so that `nand.capacity` finds `drive.capacity`. Of equals the
/// first one wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let limit = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| may_be_near(word, candidate, limit))
        .map(|candidate| {
            let as_written = distance(word, candidate);
            let dotted = word.contains('.') || candidate.contains('.');
            let moved = distance(last_part(word), last_part(candidate)) + 1;
            (
                if dotted {
                    as_written.min(moved)
                } else {
                    as_written
                },
                candidate,
            )
        })
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?" or, where nothing is near, the list of what there is.
pub(super) fn or_list<'a>(
    word: &str,
    what: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(word, candidates.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "{what}: {}",
            candidates.into_iter().collect::<Vec<_>>().join(", ")
        ),
    }
}
