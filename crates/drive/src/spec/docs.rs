//! The format as documents: a JSON Schema for editors and the table of the reference page. Both
//! are made from the key table, and a test compares the published files with what is made here.

use serde_json::{Map, Value, json};

use super::keys::{self, HEADER, KEYS, Key, Kind, ORIGINS, SCHEMA};
use super::quantity::Dimension;
use super::value::wanted;

/// A decimal and one of the units.
fn quantity(dimension: Dimension) -> Value {
    let units: Vec<&str> = dimension.units().iter().map(|(unit, _)| *unit).collect();
    let pattern = format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", units.join("|"));
    json!({ "type": "string", "pattern": pattern })
}

/// The name of a dimension among the definitions.
fn definition(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Size => "size",
        Dimension::Time => "time",
        Dimension::ByteRate => "rate",
        Dimension::TransferRate => "bus_rate",
        Dimension::Power => "power",
        Dimension::Temperature => "temperature",
        Dimension::ThermalResistance => "thermal_resistance",
        Dimension::HeatCapacity => "heat_capacity",
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// The bare value of a kind.
fn bare(kind: Kind) -> Value {
    match kind {
        Kind::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Quantity {
            dimension,
            zero: false,
            never: false,
        } => reference(definition(dimension)),
        Kind::Quantity {
            dimension,
            zero,
            never,
        } => {
            let mut forms = vec![reference(definition(dimension))];
            forms.extend(zero.then(|| json!({ "enum": [0, "0"] })));
            forms.extend(never.then(|| json!({ "const": "never" })));
            json!({ "anyOf": forms })
        }
        Kind::PageTimes => reference("page_times"),
        Kind::SizeByFill => json!({ "type": "array", "items": reference("size_at_fill") }),
        Kind::Factor => json!({ "type": "number", "minimum": 0, "maximum": 1000 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
    }
}

/// A default as JSON says it: TOML and JSON write these values alike.
fn json_default(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// A value, bare or with its provenance.
fn value(key: &Key) -> Value {
    let own = json!({ "properties": { "value": bare(key.kind) } });
    let sourced = json!({ "allOf": [reference("sourced"), own] });
    let mut schema = json!({ "description": key.meaning, "anyOf": [bare(key.kind), sourced] });
    if let Some(default) = key.default.and_then(json_default) {
        schema["default"] = default;
    }
    schema
}

/// Definitions that the keys share.
fn definitions() -> Value {
    let dimensions = [
        Dimension::Size,
        Dimension::Time,
        Dimension::ByteRate,
        Dimension::TransferRate,
        Dimension::Power,
        Dimension::Temperature,
        Dimension::ThermalResistance,
        Dimension::HeatCapacity,
    ];
    let mut shared: Map<String, Value> = dimensions
        .iter()
        .map(|d| (definition(*d).to_owned(), quantity(*d)))
        .collect();
    let list = json!({ "type": "array", "items": reference("time"), "minItems": 1, "maxItems": 4 });
    let origins: Vec<&str> = ORIGINS.iter().map(|(word, _)| *word).collect();
    let sourced = json!({
        "type": "object",
        "properties": { "value": true, "origin": reference("origin"), "source": reference("text") },
        "required": ["value"],
        "additionalProperties": false
    });
    shared.insert(
        "page_times".to_owned(),
        json!({ "anyOf": [reference("time"), list] }),
    );
    let units: Vec<&str> = Dimension::Size
        .units()
        .iter()
        .map(|(unit, _)| *unit)
        .collect();
    let number = "[0-9]+(\\.[0-9]+)?";
    let size = format!("(0|{number}\\s*({}))", units.join("|"));
    let pattern = format!("^\\s*{number}\\s*%\\s*:\\s*{size}\\s*$");
    shared.insert(
        "size_at_fill".to_owned(),
        json!({ "type": "string", "pattern": pattern }),
    );
    shared.insert("origin".to_owned(), json!({ "enum": origins }));
    shared.insert(
        "text".to_owned(),
        json!({ "type": "string", "pattern": "\\S" }),
    );
    shared.insert("sourced".to_owned(), sourced);
    shared.insert("profile".to_owned(), profile());
    Value::Object(shared)
}

/// Adds a key to nested section objects; `required` asks for it.
fn place(root: &mut Map<String, Value>, path: &str, leaf: Value, required: bool) {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    if rest.is_empty() {
        root.insert(head.to_owned(), leaf);
        return;
    }
    let section = root.entry(head).or_insert_with(
        || json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    );
    let below = rest.split('.').next().unwrap_or(rest);
    if required {
        let list = section
            .as_object_mut()
            .map(|s| s.entry("required").or_insert(json!([])));
        if let Some(Value::Array(list)) = list
            && !list.iter().any(|name| name == below)
        {
            list.push(json!(below));
        }
    }
    if let Some(Value::Object(properties)) = section.get_mut("properties") {
        place(properties, rest, leaf, required);
    }
}

/// A profile: policy keys in their sections or quoted as one word, each as it is outside.
fn profile() -> Value {
    let mut properties = Map::new();
    properties.insert("description".to_owned(), reference("text"));
    for key in KEYS.iter().filter(|key| key.policy) {
        let same =
            json!({ "$ref": format!("#/properties/{}", key.name.replace('.', "/properties/")) });
        place(&mut properties, key.name, same.clone(), false);
        properties.insert(key.name.to_owned(), same);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn header(name: &str, meaning: &str) -> Value {
    match name {
        "schema" => json!({ "description": meaning, "const": SCHEMA }),
        "origin" => json!({ "description": meaning, "$ref": "#/definitions/origin" }),
        "id" => {
            json!({ "description": meaning, "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$" })
        }
        "firmware" => json!({
            "description": meaning,
            "anyOf": [
                { "$ref": "#/definitions/text" },
                { "type": "object", "additionalProperties": { "$ref": "#/definitions/profile" } }
            ]
        }),
        _ => json!({ "description": meaning, "$ref": "#/definitions/text" }),
    }
}

/// The JSON Schema of the format. What one value says about another is left to `flashtwin check`.
#[must_use]
pub fn json_schema() -> Value {
    let (mut properties, mut complete) = (Map::new(), Map::new());
    for (name, meaning) in HEADER {
        properties.insert((*name).to_owned(), header(name, meaning));
    }
    for key in KEYS.iter() {
        place(&mut properties, key.name, value(key), false);
        if key.default.is_none() {
            place(&mut complete, key.name, json!(true), true);
        }
    }
    let mut sections: Vec<&str> = keys::sections();
    sections.retain(|section| !section.contains('.') && complete.contains_key(*section));
    json!({
        // The draft that editors know, and the address that SchemaStore gives it.
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://json.schemastore.org/flashtwin-drive.json",
        "title": "flashtwin drive spec",
        "description": "A simulated drive. Without `extends` every key that has no default has to \
                        be there.",
        "type": "object",
        "properties": properties,
        "required": ["schema", "id", "name"],
        "additionalProperties": false,
        "if": { "not": { "required": ["extends"] } },
        "then": { "properties": complete, "required": sections },
        "definitions": definitions()
    })
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The tables of the reference page, in Markdown: header keys, keys of the sections, origins.
#[must_use]
pub fn reference_tables() -> String {
    let mut text = String::from("### Above the sections\n\n| key | meaning |\n|---|---|\n");
    for (name, meaning) in HEADER {
        text.push_str(&format!("| `{name}` | {} |\n", cell(meaning)));
    }
    text.push_str(
        "\n### Keys\n\n| key | value | policy | example | default | meaning |\n\
         |---|---|---|---|---|---|\n",
    );
    for key in KEYS.iter() {
        let (form, policy) = (cell(&wanted(key.kind)), if key.policy { "yes" } else { "" });
        let (example, meaning) = (cell(key.example), cell(key.meaning));
        let default = key
            .default
            .map_or(String::new(), |d| format!("`{}`", cell(d)));
        text.push_str(&format!(
            "| `{}` | {form} | {policy} | `{example}` | {default} | {meaning} |\n",
            key.name
        ));
    }
    text.push_str("\n### Origins\n\n| origin | the value is |\n|---|---|\n");
    for (word, meaning) in ORIGINS {
        text.push_str(&format!("| `{word}` | {meaning} |\n"));
    }
    text
}
