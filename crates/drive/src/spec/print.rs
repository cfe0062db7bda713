//! A resolved drive as text: canonical TOML that can be loaded again, and the hash of its values.
//!
//! Invariant: the hash covers keys and values alone. Names, descriptions, origins and sources
//! change nothing in the drive, so two specs of the same drive have the same hash. A value that
//! equals the format's default is left out of the hash: a new key with a default does not change
//! the hashes of the drives that do not use it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::document::Profile;
use super::keys::{self, KEYS, SCHEMA};
use super::value;
use super::values::{Entry, Values};

/// A TOML string on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\U{:08X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn sourced(entry: &Entry) -> String {
    format!(
        "{{ value = {}, origin = {}, source = {} }}",
        entry.datum.toml(),
        quoted(entry.origin),
        quoted(&entry.source)
    )
}

/// Everything that is known of a drive, in the order of the key table.
pub(super) fn to_toml(
    header: &[(&str, &str)],
    values: &Values,
    profiles: &BTreeMap<String, Profile>,
) -> String {
    let mut text = format!("schema = {SCHEMA}\n");
    for (name, value) in header.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{name} = {}\n", quoted(value)));
    }
    let mut section = "";
    for (position, entry) in values.iter() {
        let name = KEYS[position].name;
        if keys::section_of(name) != section {
            section = keys::section_of(name);
            text.push_str(&format!("\n[{section}]\n"));
        }
        text.push_str(&format!(
            "{} = {}\n",
            &name[section.len() + 1..],
            sourced(entry)
        ));
    }
    for (name, profile) in profiles {
        text.push_str(&format!("\n[firmware.{}]\n", quoted(name)));
        if !profile.description.is_empty() {
            text.push_str(&format!("description = {}\n", quoted(&profile.description)));
        }
        for (position, entry) in profile.values.iter() {
            text.push_str(&format!("{} = {}\n", KEYS[position].name, sourced(entry)));
        }
    }
    text
}

/// SHA-256 over the schema and `key = value` lines in canonical form, in hexadecimal.
pub(super) fn hash(values: &Values) -> String {
    let mut digest = Sha256::new();
    digest.update(format!("schema = {SCHEMA}\n"));
    for (position, entry) in values.iter() {
        let default = KEYS[position]
            .default
            .map(|text| value::default(&KEYS[position], text));
        if default.as_ref() == Some(&entry.datum) {
            continue;
        }
        digest.update(format!(
            "{} = {}\n",
            KEYS[position].name,
            entry.datum.toml()
        ));
    }
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
