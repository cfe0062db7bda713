//! One value: from TOML to a checked datum of the kind that its key asks for, and back to text.

use toml::de::DeValue;

use super::error::Fault;
use super::key::{Key, Kind};
use super::quantity::{self, Dimension};
use super::{suggest, table};

/// A value in base units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Datum {
    Count(u64),
    Quantity(u64, Dimension),
    Never,
    Times(Vec<u64>),
    Milli(u64),
    /// Shares in thousandths of a percent, and bytes.
    SizeByFill(Vec<(u32, u64)>),
    Flag(bool),
    Word(&'static str),
}

/// A type that a value has where a section is read.
pub(super) trait Form: Sized {
    /// None where the value is of another kind.
    fn of(datum: &Datum) -> Option<Self>;
}

/// A whole number, in base units where the key has a unit.
impl Form for u64 {
    fn of(datum: &Datum) -> Option<u64> {
        match datum {
            Datum::Count(value) | Datum::Quantity(value, _) | Datum::Milli(value) => Some(*value),
            _ => None,
        }
    }
}

/// None of a time is "never".
impl Form for Option<u64> {
    fn of(datum: &Datum) -> Option<Option<u64>> {
        match datum {
            Datum::Never => Some(None),
            _ => u64::of(datum).map(Some),
        }
    }
}

impl Form for &'static str {
    fn of(datum: &Datum) -> Option<&'static str> {
        match datum {
            Datum::Word(word) => Some(word),
            _ => None,
        }
    }
}

impl Form for bool {
    fn of(datum: &Datum) -> Option<bool> {
        match datum {
            Datum::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

/// A value that has several forms.
impl Form for Datum {
    fn of(datum: &Datum) -> Option<Datum> {
        Some(datum.clone())
    }
}

/// Sizes by fill: shares in thousandths of a percent, and bytes.
impl Form for Vec<(u32, u64)> {
    fn of(datum: &Datum) -> Option<Vec<(u32, u64)>> {
        match datum {
            Datum::SizeByFill(points) => Some(points.clone()),
            _ => None,
        }
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Says in words how a value of this kind is written.
pub(super) fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Quantity {
            dimension,
            zero,
            never,
        } => {
            let zero = if zero { ", or 0" } else { "" };
            let never = if never { ", or \"never\"" } else { "" };
            format!(
                "a {} in {}{zero}{never}",
                dimension.noun(),
                dimension.accepted()
            )
        }
        Kind::PageTimes => {
            format!(
                "a time in {}, or a list of times",
                Dimension::Time.accepted()
            )
        }
        Kind::Factor => "a number with at most three decimals".to_owned(),
        Kind::SizeByFill => {
            let units = Dimension::Size.accepted();
            format!("a list of sizes in {units} at shares in %, the shares rising")
        }
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
    }
}

fn wrong_type(key: &Key, value: &DeValue<'_>) -> Fault {
    Fault::new(
        format!(
            "{} where {} is expected",
            type_name(value),
            wanted(key.kind)
        ),
        format!("write it like {}", key.example),
    )
}

/// A number or text as the characters that were typed, so that no decimal passes through a float.
fn typed<'a>(value: &'a DeValue<'_>) -> Option<&'a str> {
    match value {
        DeValue::String(text) => Some(text),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
        DeValue::Float(number) => Some(number.as_str()),
        _ => None,
    }
}

/// Reads a value of the kind that `key` asks for.
pub(super) fn read(key: &Key, value: &DeValue<'_>) -> Result<Datum, Fault> {
    match (key.kind, value) {
        (Kind::Count { min, max }, DeValue::Integer(number)) => {
            read_count(number.as_str(), number.radix(), min, max)
        }
        (
            Kind::Quantity {
                dimension,
                zero,
                never,
            },
            _,
        ) => {
            let text = typed(value).ok_or_else(|| wrong_type(key, value))?;
            read_quantity(key, text, dimension, zero, never)
        }
        (Kind::PageTimes, DeValue::Array(list)) => {
            let times = list.iter().map(|item| {
                let text = typed(item.get_ref()).ok_or_else(|| wrong_type(key, item.get_ref()))?;
                read_time(key, text)
            });
            let times = times.collect::<Result<Vec<u64>, Fault>>()?;
            if times.is_empty() {
                return Err(Fault::new(
                    "an empty list",
                    format!("write it like {}", key.example),
                ));
            }
            Ok(Datum::Times(times))
        }
        (Kind::PageTimes, _) => {
            let text = typed(value).ok_or_else(|| wrong_type(key, value))?;
            Ok(Datum::Quantity(read_time(key, text)?, Dimension::Time))
        }
        (Kind::Factor, DeValue::Integer(_) | DeValue::Float(_)) => {
            let text = typed(value).ok_or_else(|| wrong_type(key, value))?;
            Ok(Datum::Milli(read_factor(text)?))
        }
        (Kind::SizeByFill, DeValue::Array(list)) => {
            let points = list.iter().map(|item| {
                let text = typed(item.get_ref()).ok_or_else(|| wrong_type(key, item.get_ref()))?;
                table::point(text)
            });
            let points = points.collect::<Result<Vec<_>, Fault>>()?;
            Ok(Datum::SizeByFill(table::rising(points)?))
        }
        (Kind::Flag, DeValue::Boolean(flag)) => Ok(Datum::Flag(*flag)),
        (Kind::Word(words), DeValue::String(text)) => read_word(text, words),
        _ => Err(wrong_type(key, value)),
    }
}

/// The default of a key, which is written in code.
pub(super) fn default(key: &Key, text: &str) -> Datum {
    let read = DeValue::parse(text)
        .ok()
        .and_then(|value| read(key, value.get_ref()).ok());
    read.unwrap_or_else(|| {
        panic!(
            "the default of {} is not one of its values: {text}",
            key.name
        )
    })
}

fn read_count(text: &str, radix: u32, min: u32, max: u32) -> Result<Datum, Fault> {
    let number = i128::from_str_radix(text, radix).unwrap_or(if text.starts_with('-') {
        i128::MIN
    } else {
        i128::MAX
    });
    if number < i128::from(min) || number > i128::from(max) {
        let what = if number < i128::from(min) {
            "below"
        } else {
            "above"
        };
        let bound = if number < i128::from(min) { min } else { max };
        let hint = format!("write a whole number from {min} to {max}");
        return Err(Fault::new(format!("{text} is {what} {bound}"), hint));
    }
    Ok(Datum::Count(number as u64))
}

fn read_quantity(
    key: &Key,
    text: &str,
    dimension: Dimension,
    zero: bool,
    never: bool,
) -> Result<Datum, Fault> {
    if never && text == "never" {
        return Ok(Datum::Never);
    }
    let value = quantity::parse(text, dimension, key.example)?;
    if value == 0 && !zero {
        return Err(zero_fault(key, dimension));
    }
    Ok(Datum::Quantity(value, dimension))
}

fn zero_fault(key: &Key, dimension: Dimension) -> Fault {
    Fault::new(
        format!("a {} of zero makes no sense here", dimension.noun()),
        format!("write what it takes, like {}", key.example),
    )
}

fn read_time(key: &Key, text: &str) -> Result<u64, Fault> {
    match quantity::parse(text, Dimension::Time, key.example)? {
        0 => Err(zero_fault(key, Dimension::Time)),
        time => Ok(time),
    }
}

/// The largest factor. A thousand cache bytes for each host byte is more than any drive folds, and
/// products with it fit into 64 bits.
const FACTOR_MAX_MILLI: u64 = 1_000_000;

fn read_factor(text: &str) -> Result<u64, Fault> {
    let milli = quantity::parse_milli(text)?;
    if milli > FACTOR_MAX_MILLI {
        return Err(Fault::new(
            format!("{text} is above 1000"),
            "write a number from 0 to 1000",
        ));
    }
    Ok(milli)
}

fn read_word(text: &str, words: &'static [&'static str]) -> Result<Datum, Fault> {
    match words.iter().find(|word| **word == text) {
        Some(word) => Ok(Datum::Word(word)),
        None => {
            let near = suggest::or_list(text, "it is one of", words.iter().copied());
            Err(Fault::new(
                format!("`{text}` is not one of {}", words.join(", ")),
                near,
            ))
        }
    }
}

impl Datum {
    /// For people, with its unit; a list is joined by commas.
    pub fn text(&self) -> String {
        match self {
            Datum::Count(count) => count.to_string(),
            Datum::Quantity(value, dimension) => quantity::text(*value, *dimension),
            Datum::Never => "never".to_owned(),
            Datum::Times(times) => times
                .iter()
                .map(|t| quantity::text(*t, Dimension::Time))
                .collect::<Vec<_>>()
                .join(", "),
            Datum::Milli(milli) => quantity::milli_text(*milli),
            Datum::SizeByFill(points) if points.is_empty() => "none".to_owned(),
            Datum::SizeByFill(points) => table::text(points),
            Datum::Flag(flag) => flag.to_string(),
            Datum::Word(word) => (*word).to_owned(),
        }
    }

    /// The unit that the text is written in; empty for counts, words and zero.
    pub fn unit(&self) -> String {
        let text = self.text();
        match self {
            Datum::Quantity(..) | Datum::Times(_) => text
                .split_once(' ')
                .map_or("", |(_, unit)| unit.split(',').next().unwrap_or(unit))
                .to_owned(),
            _ => String::new(),
        }
    }

    /// As a TOML value.
    pub fn toml(&self) -> String {
        match self {
            Datum::Count(_) | Datum::Milli(_) | Datum::Flag(_) | Datum::Quantity(0, _) => {
                self.text()
            }
            Datum::Quantity(..) | Datum::Never | Datum::Word(_) => format!("\"{}\"", self.text()),
            Datum::SizeByFill(points) if points.is_empty() => "[]".to_owned(),
            Datum::Times(_) | Datum::SizeByFill(_) => {
                format!("[\"{}\"]", self.text().replace(", ", "\", \""))
            }
        }
    }
}
