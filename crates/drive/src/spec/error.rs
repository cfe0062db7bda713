//! Errors of a spec: each says what is wrong, where, and what to change. They are collected, never
//! thrown one by one.
//!
//! Invariant: an error prints and is short, whatever text it quotes. There are at most
//! [`MOST_TOLD`] errors and one that counts the rest.

use std::collections::BTreeSet;

use super::printable::shown;

/// At most so many errors of one spec are listed; the rest are counted.
pub const MOST_TOLD: usize = 100;

/// One mistake in a spec, a profile name or a `--set`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{}", self.headline())]
pub struct SpecError {
    /// The file as it was opened, or `--set`, `--firmware`.
    pub file: String,
    /// Line in the file, counted from 1; none where nothing in the file stands for the mistake.
    pub line: Option<usize>,
    /// Dotted key; empty where the file as a whole is meant.
    pub key: String,
    /// The fault, without full stop.
    pub message: String,
    /// The change that mends it, without full stop.
    pub hint: String,
    /// How many mistakes this stands for: more than one where it counts those that are not listed.
    pub count: usize,
}

impl SpecError {
    /// An error that counts the mistakes that are not listed.
    pub(super) fn untold(file: &str, count: usize) -> SpecError {
        let text: Vec<char> = count.to_string().chars().collect();
        let grouped: Vec<String> = text
            .rchunks(3)
            .rev()
            .map(|part| part.iter().collect())
            .collect();
        SpecError {
            file: file.to_owned(),
            line: None,
            key: String::new(),
            message: format!("… and {} more", grouped.join(",")),
            hint: "mend these first, then check again".to_owned(),
            count,
        }
    }

    fn headline(&self) -> String {
        let mut text = self.file.clone();
        if let Some(line) = self.line {
            text.push_str(&format!(":{line}"));
        }
        if !self.key.is_empty() {
            text.push_str(&format!(": {}", self.key));
        }
        format!("{text}: {}", self.message)
    }
}

/// A mistake before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub message: String,
    pub hint: String,
}

impl Fault {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// The same mistake with its place.
    pub fn at(self, place: &Place, key: &str) -> SpecError {
        SpecError {
            file: place.file.clone(),
            line: place.line,
            key: shown(key),
            message: shown(&self.message),
            hint: shown(&self.hint),
            count: 1,
        }
    }
}

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: String,
    pub line: Option<usize>,
}

impl Place {
    /// A file as a whole, or an option of the command line.
    pub fn whole(file: &str) -> Place {
        Place {
            file: shown(file),
            line: None,
        }
    }
}

/// Sorts by file, then by line; mistakes without a line come last. A mistake that was found twice
/// is listed once, and those beyond the first [`MOST_TOLD`] are counted.
pub(super) fn in_order(mut errors: Vec<SpecError>) -> Vec<SpecError> {
    errors.sort_by_key(|error| (error.file.clone(), error.line.unwrap_or(usize::MAX)));
    let mut seen = BTreeSet::new();
    let mut shown: Vec<SpecError> = Vec::new();
    let mut untold = 0;
    for error in &errors {
        if error.count > 1 {
            untold += error.count;
        } else if seen.insert(error) {
            if shown.len() < MOST_TOLD {
                shown.push(error.clone());
            } else {
                untold += 1;
            }
        }
    }
    if let Some(file) = shown
        .first()
        .map(|error| error.file.clone())
        .filter(|_| untold > 0)
    {
        shown.push(SpecError::untold(&file, untold));
    }
    shown
}
