//! Turns what the TOML reader says of broken text into a message and a hint.

use super::error::Fault;

/// Parts of the reader's messages, what we say where one has it, and what to do about it. The
/// first that fits counts.
const TOLD: [(&str, &str, &str); 26] = [
    ("duplicate key", "duplicate key", "keep one of the two"),
    ("recur", "nested too deep", "write a list of words at most"),
    ("extra `=`", "two `=` in a row", "write key = value"),
    ("extra assignment", "two `=` in a row", "write key = value"),
    ("extra comma", "a comma too many", "take one comma out"),
    (
        "missing comma",
        "a comma is missing",
        "values of a list have commas between them",
    ),
    ("missing assignment", "`=` is missing", "write key = value"),
    (
        "missing value",
        "a key without a value",
        "write key = value",
    ),
    (
        "key with no value",
        "a key without a value",
        "write key = value",
    ),
    ("missing key", "a value without a key", "write key = value"),
    (
        "keys cannot be multi-line",
        "a key of several lines",
        "write the key on one line",
    ),
    (
        "unquoted key",
        "this is not a key",
        "a key has letters, digits, `-` and `_`, with dots between",
    ),
    (
        "cannot extend",
        "a key inside a value that is not a section",
        "give the value once, or write a section",
    ),
    (
        "string values must be quoted",
        "this is not a value",
        "text stands in quotes, values of a list have commas between them",
    ),
    (
        "opening quote",
        "a quote is missing",
        "text begins and ends with \"",
    ),
    (
        "unclosed array table",
        "a `]]` is missing",
        "a section is written [name]",
    ),
    ("unclosed array", "a `]` is missing", "close the list"),
    (
        "unclosed inline table",
        "a `}` is missing",
        "close the table, on its line",
    ),
    (
        "unclosed table",
        "a `]` is missing",
        "a section is written [name]",
    ),
    (
        "inline table",
        "this is not a table",
        "write { value = ..., origin = \"...\", source = \"...\" }",
    ),
    (
        "carriage return",
        "a carriage return inside a line",
        "lines end with a line feed",
    ),
    (
        "comment",
        "a comment with a character that does not print",
        "take the character out",
    ),
    (
        "escape",
        "a `\\` that begins no character",
        "write `\\\\` for a backslash",
    ),
    (
        "unicode",
        "no character has this code",
        "write \\u and four digits from 0 to f",
    ),
    (
        "leading zero",
        "a number that begins with 0",
        "leave the first 0 out",
    ),
    (
        "radix",
        "a number of another base that is not one",
        "write plain digits",
    ),
];

/// The mistake in our words.
pub(super) fn fault(message: &str) -> Fault {
    // The reader goes on with a list of what may stand there, in words of the TOML grammar.
    let message = message.split(", expected").next().unwrap_or(message);
    let reworded = TOLD.iter().find(|(part, _, _)| message.contains(part));
    let (message, hint) = reworded.map_or(
        ("this is not TOML", "a line is `[section]` or `key = value`"),
        |(_, message, hint)| (*message, *hint),
    );
    let hint = format!("mend the TOML here: {hint}; what follows could not be read");
    Fault::new(message, hint)
}
