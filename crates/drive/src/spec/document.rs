//! Reads one spec file: its text becomes a document and the list of its mistakes. No other file is
//! opened.
//!
//! A key may be written in its section, dotted, or quoted ("slc_cache.mode"): what counts is the
//! path. A mistake in one value never hides another; only broken TOML syntax ends the reading.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::{Fault, MOST_TOLD, Place, SpecError};
use super::keys::{self, HEADER, KEYS, ORIGINS, SCHEMA};
use super::value;
use super::values::{Entry, Values};
use super::{printable, suggest, syntax};

/// Characters that an id, a name, a description and the source of a value may have.
const MOST_ID: usize = 64;
const MOST_NAME: usize = 200;
const MOST_DESCRIPTION: usize = 4000;
pub(super) const MOST_SOURCE: usize = 2000;
/// Firmware profiles of one file; each of them is checked as a drive of its own.
const MOST_PROFILES: usize = 64;

/// A text and the line that it stands in.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub text: String,
    pub line: Option<usize>,
}

/// A named set of policy values.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub description: String,
    pub values: Values,
}

/// A file as read.
#[derive(Debug)]
pub(super) struct Document {
    pub file: String,
    pub header: BTreeMap<&'static str, Located>,
    pub values: Values,
    pub profiles: BTreeMap<String, Profile>,
    /// Keys whose value was refused, and keys that a mistyped name probably meant. They are not
    /// reported as missing as well.
    pub attempted: BTreeSet<usize>,
    /// Line of each section's header.
    pub sections: BTreeMap<String, usize>,
}

impl Document {
    /// A text of the header; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.header.get(name).map_or("", |located| &located.text)
    }
}

/// Where values are being read: the file itself or one of its profiles.
#[derive(Clone, Copy)]
struct Scope<'a> {
    profile: Option<&'a str>,
}

impl Scope<'_> {
    /// The path as it stands in the file.
    fn full(self, path: &str) -> String {
        self.profile
            .map_or_else(|| path.to_owned(), |name| format!("firmware.{name}.{path}"))
    }
}

type Pair<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(ends.map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte, counted from 1.
    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|begin| *begin <= offset)
    }
}

struct Reader {
    lines: Lines,
    document: Document,
    /// The first [`MOST_TOLD`] mistakes. The others are counted.
    errors: Vec<SpecError>,
    untold: usize,
    /// How many values have no origin (no source), neither their own nor the file's.
    lacks: BTreeMap<&'static str, usize>,
}

/// Reads a file; an error alone where its syntax is broken.
pub(super) fn read(file: &str, text: &str) -> Result<(Document, Vec<SpecError>), SpecError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| broken(file, &lines, &error))?;
    let document = Document {
        file: file.to_owned(),
        header: BTreeMap::new(),
        values: Values::new(),
        profiles: BTreeMap::new(),
        attempted: BTreeSet::new(),
        sections: BTreeMap::new(),
    };
    let mut reader = Reader {
        lines,
        document,
        errors: Vec::new(),
        untold: 0,
        lacks: BTreeMap::new(),
    };
    reader.file(table.get_ref());
    if reader.untold > 0 {
        reader.errors.push(SpecError::untold(file, reader.untold));
    }
    Ok((reader.document, reader.errors))
}

fn broken(file: &str, lines: &Lines, error: &toml::de::Error) -> SpecError {
    let place = Place {
        file: file.to_owned(),
        line: error.span().map(|span| lines.at(span.start)),
    };
    syntax::fault(error.message()).at(&place, "")
}

/// The pairs of a table in the order in which they stand in the file.
fn in_file_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Pair<'a, 'i>> {
    let mut pairs: Vec<Pair<'a, 'i>> = table.iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    pairs
}

impl Reader {
    fn place(&self, offset: usize) -> Place {
        Place {
            file: self.document.file.clone(),
            line: Some(self.lines.at(offset)),
        }
    }

    /// Counts a mistake instead of wording it, once [`MOST_TOLD`] have been worded.
    fn is_full(&mut self) -> bool {
        let full = self.errors.len() >= MOST_TOLD;
        self.untold += usize::from(full);
        full
    }

    fn fault(&mut self, offset: usize, key: &str, fault: Fault) {
        if self.is_full() {
            return;
        }
        let error = fault.at(&self.place(offset), key);
        self.errors.push(error);
    }

    fn file(&mut self, table: &DeTable<'_>) {
        self.header(table);
        let sections = in_file_order(table).into_iter().filter(|(key, _)| {
            let name: &str = key.get_ref();
            HEADER.iter().all(|(header, _)| *header != name)
        });
        let mut values = Values::new();
        for pair in sections {
            self.item(Scope { profile: None }, "", pair, &mut values);
        }
        self.document.values = values;
        let mut lacks = std::mem::take(&mut self.lacks);
        // A key with a wrong value has been reported already.
        lacks.retain(|name, _| !table.contains_key(*name));
        for (name, count) in lacks {
            let message = format!("missing, and {count} values do not name their own");
            let hint =
                format!("write `{name} = \"...\"` above the first section, or in each value");
            let place = Place::whole(&self.document.file);
            self.errors.push(Fault::new(message, hint).at(&place, name));
        }
    }

    fn header(&mut self, table: &DeTable<'_>) {
        for (key, value) in in_file_order(table) {
            let name: &str = key.get_ref();
            let Some((name, _)) = HEADER.iter().find(|(header, _)| *header == name) else {
                continue;
            };
            let offset = key.span().start;
            match (*name, value.get_ref()) {
                ("schema", _) => self.schema(offset, value.get_ref()),
                ("firmware", DeValue::Table(_)) => {}
                (_, DeValue::String(text)) if text.trim().is_empty() => {
                    let hint = "write a text, or leave the key out";
                    self.fault(offset, name, Fault::new("an empty text", hint));
                }
                (_, DeValue::String(text)) => self.header_text(offset, name, text),
                _ => {
                    let fault = Fault::new("this is not text", format!("write {name} = \"...\""));
                    self.fault(offset, name, fault);
                }
            }
        }
        for name in ["schema", "id", "name"] {
            if !table.contains_key(name) {
                let example = if name == "schema" { "1" } else { "\"...\"" };
                let hint = format!("write `{name} = {example}` above the first section");
                let place = Place::whole(&self.document.file);
                self.errors
                    .push(Fault::new("missing", hint).at(&place, name));
            }
        }
        // Profiles come last: their values need the file's default origin and source.
        if let Some((_, profiles)) = table.get_key_value("firmware")
            && let DeValue::Table(profiles) = profiles.get_ref()
        {
            self.profiles(profiles);
        }
    }

    fn schema(&mut self, offset: usize, value: &DeValue<'_>) {
        let number = value
            .as_integer()
            .and_then(|number| number.as_str().parse::<u64>().ok());
        if number != Some(SCHEMA) {
            let fault = Fault::new(
                "not a schema that is known",
                format!("write schema = {SCHEMA}"),
            );
            self.fault(offset, "schema", fault);
        }
    }

    fn header_text(&mut self, offset: usize, name: &'static str, text: &str) {
        let line = Some(self.lines.at(offset));
        let most = match name {
            "name" => MOST_NAME,
            "description" => MOST_DESCRIPTION,
            _ => MOST_SOURCE,
        };
        if let Err(fault) = printable::check(text, most, matches!(name, "description" | "source")) {
            return self.fault(offset, name, fault);
        }
        if name == "id" && !is_id(text) {
            let hint = format!(
                "at most {MOST_ID} lower-case letters and digits, then also `-`, `_` and `.`"
            );
            self.fault(
                offset,
                name,
                Fault::new(format!("`{text}` cannot be an id"), hint),
            );
        }
        if name == "origin"
            && let Err(fault) = origin(text)
        {
            self.fault(offset, name, fault);
        }
        self.document.header.insert(
            name,
            Located {
                text: text.to_owned(),
                line,
            },
        );
    }

    fn profiles(&mut self, profiles: &DeTable<'_>) {
        for (number, (key, value)) in in_file_order(profiles).into_iter().enumerate() {
            let (name, offset) = (key.get_ref().to_string(), key.span().start);
            if let Err(fault) = self.profile_name(&name, number) {
                self.fault(offset, &format!("firmware.{name}"), fault);
                continue;
            }
            let DeValue::Table(table) = value.get_ref() else {
                let hint = format!("a profile is a table of policy keys: [firmware.{name}]");
                self.fault(
                    offset,
                    &format!("firmware.{name}"),
                    Fault::new("not a table", hint),
                );
                continue;
            };
            let mut profile = Profile {
                description: String::new(),
                values: Values::new(),
            };
            for pair in in_file_order(table) {
                let (key, value) = pair;
                match (key.get_ref().as_ref(), value.get_ref()) {
                    ("description", DeValue::String(text)) => {
                        match printable::check(text, MOST_DESCRIPTION, true) {
                            Ok(()) => profile.description = text.to_string(),
                            Err(fault) => self.fault(
                                key.span().start,
                                &format!("firmware.{name}.description"),
                                fault,
                            ),
                        }
                    }
                    _ => self.item(
                        Scope {
                            profile: Some(&name),
                        },
                        "",
                        pair,
                        &mut profile.values,
                    ),
                }
            }
            self.document.profiles.insert(name, profile);
        }
    }

    fn profile_name(&self, name: &str, number: usize) -> Result<(), Fault> {
        if number >= MOST_PROFILES {
            let message = format!("more than {MOST_PROFILES} profiles");
            return Err(Fault::new(
                message,
                "write a spec that extends this one for the others",
            ));
        }
        printable::check(name, MOST_ID, false)
    }

    /// A key of the table, a section, or a mistake.
    fn item(&mut self, scope: Scope<'_>, prefix: &str, pair: Pair<'_, '_>, into: &mut Values) {
        let (key, value) = pair;
        let offset = key.span().start;
        let path = match prefix {
            "" => key.get_ref().to_string(),
            _ => format!("{prefix}.{}", key.get_ref()),
        };
        match (keys::position(&path), value.get_ref()) {
            (Some(position), _) => self.value(scope, position, pair, into),
            (None, DeValue::Table(table)) if keys::is_section(&path) => {
                if scope.profile.is_none() {
                    let line = self.lines.at(offset);
                    self.document.sections.insert(path.clone(), line);
                }
                for pair in in_file_order(table) {
                    self.item(scope, &path, pair, into);
                }
            }
            (None, _) if keys::is_section(&path) => {
                let fault = Fault::new("a section, not a value", format!("write it as [{path}]"));
                self.fault(offset, &scope.full(&path), fault);
            }
            (None, found) => self.unknown(scope, &path, offset, found),
        }
    }

    fn unknown(&mut self, scope: Scope<'_>, path: &str, offset: usize, found: &DeValue<'_>) {
        if self.is_full() {
            return;
        }
        let (near, what, hint) = if matches!(found, DeValue::Table(_)) {
            let sections = keys::sections();
            let hint = suggest::or_list(path, "the sections are", sections.iter().copied());
            (suggest::nearest(path, sections), "unknown section", hint)
        } else {
            let policy_only = scope.profile.is_some();
            let near = suggest::nearest(path, keys::names(policy_only));
            (near, "unknown key", unknown_hint(path, policy_only))
        };
        if let (Some(near), None) = (near, scope.profile) {
            // One rename mends both the unknown key and the missing one.
            let meant = (0..KEYS.len()).filter(|at| {
                let name = KEYS[*at].name;
                name == near
                    || name
                        .strip_prefix(near)
                        .is_some_and(|rest| rest.starts_with('.'))
            });
            self.document.attempted.extend(meant);
        }
        self.fault(offset, &scope.full(path), Fault::new(what, hint));
    }

    fn value(
        &mut self,
        scope: Scope<'_>,
        position: usize,
        (key, value): Pair<'_, '_>,
        into: &mut Values,
    ) {
        let (known, offset) = (&KEYS[position], key.span().start);
        let full = scope.full(known.name);
        if scope.profile.is_some() && !known.policy {
            let hint = format!("a profile may change {} alone", policy_summary());
            let fault = Fault::new(
                "not a policy key",
                format!("{hint}; other flash is another drive"),
            );
            return self.fault(offset, &full, fault);
        }
        if into.has(position) {
            let hint = "keep one of the two, in its section or dotted";
            return self.fault(offset, &full, Fault::new("given twice", hint));
        }
        if scope.profile.is_none() {
            self.document.attempted.insert(position);
        }
        let (bare, origin, source) = self.provenance(&full, offset, value.get_ref());
        match bare.map(|bare| value::read(known, bare)) {
            Some(Ok(datum)) => {
                let place = self.place(offset);
                into.put(
                    position,
                    Entry {
                        datum,
                        origin,
                        source,
                        place,
                    },
                );
            }
            Some(Err(fault)) => self.fault(offset, &full, fault),
            None => {}
        }
    }

    /// Takes `{ value, origin, source }` apart. What is missing comes from the file's defaults.
    fn provenance<'v, 'i>(
        &mut self,
        full: &str,
        offset: usize,
        value: &'v DeValue<'i>,
    ) -> (Option<&'v DeValue<'i>>, &'static str, String) {
        let empty = DeTable::new();
        let (bare, table) = match value {
            DeValue::Table(table) => {
                self.fields(full, offset, table);
                (table.get("value").map(Spanned::get_ref), table)
            }
            bare => (Some(bare), &empty),
        };
        let own = |name: &str| table.get(name).map(|field| field.get_ref().as_str());
        let (own_origin, own_source) = (own("origin"), own("source"));
        let origin_text = self.default_or(full, offset, "origin", own_origin);
        let source = self.default_or(full, offset, "source", own_source);
        let word = match origin(&origin_text) {
            Ok(word) => word,
            Err(fault) => {
                if own_origin.flatten().is_some() {
                    self.fault(offset, full, fault);
                }
                ""
            }
        };
        (bare, word, source)
    }

    /// Checks that a value's table has a value and no keys but value, origin and source.
    fn fields(&mut self, full: &str, offset: usize, table: &DeTable<'_>) {
        if !table.contains_key("value") {
            let hint = "write { value = ..., origin = \"...\", source = \"...\" }";
            self.fault(offset, full, Fault::new("a table without `value`", hint));
        }
        for (field, _) in in_file_order(table) {
            let field: &str = field.get_ref();
            let fields = ["value", "origin", "source"];
            if !fields.contains(&field) && !self.is_full() {
                let hint = suggest::or_list(field, "a value has", fields);
                self.fault(
                    offset,
                    full,
                    Fault::new(format!("unknown field `{field}`"), hint),
                );
            }
        }
    }

    /// The value's own text, or the file's. A file without a default is told once, not at each
    /// value.
    fn default_or(
        &mut self,
        full: &str,
        offset: usize,
        name: &'static str,
        own: Option<Option<&str>>,
    ) -> String {
        match own {
            Some(Some(text)) if !text.trim().is_empty() => {
                if let Err(fault) = printable::check(text, MOST_SOURCE, true) {
                    self.fault(offset, full, fault);
                    return String::new();
                }
                return text.to_owned();
            }
            Some(_) => {
                let fault = Fault::new(
                    format!("`{name}` is not a text"),
                    "say where the value is from",
                );
                self.fault(offset, full, fault);
                return String::new();
            }
            None => {}
        }
        if let Some(default) = self.document.header.get(name) {
            return default.text.clone();
        }
        *self.lacks.entry(name).or_insert(0) += 1;
        String::new()
    }
}

/// Names the key that an unknown one was probably meant to be, or those of its section.
pub(super) fn unknown_hint(path: &str, policy_only: bool) -> String {
    if let Some(near) = suggest::nearest(path, keys::names(policy_only)) {
        return format!("did you mean `{near}`?");
    }
    let section = keys::section_of(path);
    let here: Vec<&str> = keys::names(policy_only)
        .filter(|name| keys::section_of(name) == section)
        .collect();
    match here.is_empty() {
        true if policy_only => format!("a profile may change {}", policy_summary()),
        true => format!("the sections are: {}", keys::sections().join(", ")),
        false => format!("there are: {}", here.join(", ")),
    }
}

/// The policy keys in short: whole sections with a star, single keys by name.
fn policy_summary() -> String {
    let mut parts: Vec<String> = Vec::new();
    for section in keys::sections() {
        let inside = || {
            KEYS.iter()
                .filter(|key| keys::section_of(key.name) == section)
        };
        if inside().all(|key| key.policy) {
            parts.push(format!("{section}.*"));
        } else {
            parts.extend(
                inside()
                    .filter(|key| key.policy)
                    .map(|key| key.name.to_owned()),
            );
        }
    }
    parts.join(", ")
}

fn origin(text: &str) -> Result<&'static str, Fault> {
    let words = ORIGINS.iter().map(|(word, _)| *word);
    words.clone().find(|word| *word == text).ok_or_else(|| {
        let hint = suggest::or_list(text, "an origin is one of", words);
        Fault::new(format!("`{text}` is not an origin"), hint)
    })
}

fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= MOST_ID
        && text.starts_with(plain)
        && text.chars().all(|c| plain(c) || "-_.".contains(c))
}
