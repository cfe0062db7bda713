//! What is wrong with a spec, where, and what to change. Errors are collected, never thrown one by
//! one.

/// One mistake in a spec, a profile name or a `--set`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.headline())]
pub struct SpecError {
    /// The file as it was opened, or `--set`, `--firmware`.
    pub file: String,
    /// Line in the file, counted from 1; none where nothing in the file stands for the mistake.
    pub line: Option<usize>,
    /// Dotted key; empty where the file as a whole is meant.
    pub key: String,
    /// What is wrong, without full stop.
    pub message: String,
    /// What to change, without full stop.
    pub hint: String,
}

impl SpecError {
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
            key: key.to_owned(),
            message: self.message,
            hint: self.hint,
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
    pub fn whole(file: impl Into<String>) -> Place {
        Place {
            file: file.into(),
            line: None,
        }
    }
}

/// By file, then by line (none last); a mistake that two paths found is told once.
pub(super) fn in_order(mut errors: Vec<SpecError>) -> Vec<SpecError> {
    errors.sort_by_key(|error| (error.file.clone(), error.line.unwrap_or(usize::MAX)));
    let mut told: Vec<SpecError> = Vec::new();
    for error in errors {
        if !told.contains(&error) {
            told.push(error);
        }
    }
    told
}
