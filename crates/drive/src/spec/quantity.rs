//! Sizes, times and rates: from text to whole bytes and nanoseconds and back, in integer
//! arithmetic.
//!
//! Invariants: no float is touched, so "404.8 us" is 404,800 ns on any machine; a number finer
//! than the base unit is refused and never rounded; `parse(text(x)) == x`. Decimal prefixes are
//! powers of ten, binary ones (KiB) powers of two. A zero needs no unit.

use super::error::Fault;

/// The dimension of a quantity, which says the units that it may be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Bytes.
    Size,
    /// Nanoseconds.
    Time,
    /// Bytes a second.
    ByteRate,
    /// Transfers a second on an 8-bit bus, so bytes a second.
    TransferRate,
    /// Microwatts.
    Power,
    /// Thousandths of a degree Celsius.
    Temperature,
    /// Thousandths of a kelvin for a watt.
    ThermalResistance,
    /// Thousandths of a joule for a kelvin.
    HeatCapacity,
}

impl Dimension {
    /// Accepted units, small to large, with their size in the base unit.
    #[must_use]
    pub const fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Dimension::Size => &[
                ("B", 1),
                ("kB", 1_000),
                ("MB", 1_000_000),
                ("GB", 1_000_000_000),
                ("TB", 1_000_000_000_000),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
                ("TiB", 1 << 40),
            ],
            Dimension::Time => &[
                ("ns", 1),
                ("us", 1_000),
                ("ms", 1_000_000),
                ("s", 1_000_000_000),
                ("min", 60_000_000_000),
                ("h", 3_600_000_000_000),
            ],
            Dimension::ByteRate => &[
                ("B/s", 1),
                ("kB/s", 1_000),
                ("MB/s", 1_000_000),
                ("GB/s", 1_000_000_000),
                ("KiB/s", 1 << 10),
                ("MiB/s", 1 << 20),
                ("GiB/s", 1 << 30),
            ],
            Dimension::TransferRate => &[("T/s", 1), ("MT/s", 1_000_000), ("GT/s", 1_000_000_000)],
            Dimension::Power => &[("uW", 1), ("mW", 1_000), ("W", 1_000_000)],
            Dimension::Temperature => &[("mC", 1), ("C", 1_000)],
            Dimension::ThermalResistance => &[("mK/W", 1), ("K/W", 1_000)],
            Dimension::HeatCapacity => &[("mJ/K", 1), ("J/K", 1_000)],
        }
    }

    /// The word for messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Dimension::Size => "size",
            Dimension::Time => "time",
            Dimension::ByteRate => "rate",
            Dimension::TransferRate => "bus rate",
            Dimension::Power => "power",
            Dimension::Temperature => "temperature",
            Dimension::ThermalResistance => "thermal resistance",
            Dimension::HeatCapacity => "heat capacity",
        }
    }

    /// The unit of the stored integer.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Dimension::Size => "bytes",
            Dimension::Time => "ns",
            Dimension::ByteRate => "bytes/s",
            Dimension::TransferRate => "transfers/s",
            Dimension::Power => "uW",
            Dimension::Temperature => "mC",
            Dimension::ThermalResistance => "mK/W",
            Dimension::HeatCapacity => "mJ/K",
        }
    }

    /// The largest value: more than any drive has, and small enough for sums and products in 64
    /// bits.
    const fn limit(self) -> u128 {
        match self {
            Dimension::Size => 1_000_000_000_000_000_000,
            Dimension::Temperature => 1_000_000,
            Dimension::Power | Dimension::ThermalResistance | Dimension::HeatCapacity => {
                1_000_000_000
            }
            _ => 1_000_000_000_000_000,
        }
    }

    /// The accepted units in a row, for hints and tables.
    #[must_use]
    pub fn accepted(self) -> String {
        self.units()
            .iter()
            .map(|(unit, _)| *unit)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A decimal as written: `digits` times ten to the minus `scale`.
fn decimal(text: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let dangling = whole.is_empty() || (text.contains('.') && fraction.is_empty());
    if dangling || digits.len() > 27 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, fraction.len() as u32))
}

/// A decimal times `multiple`, as a whole number; refused where it is finer than one or over
/// `limit`.
fn exact(text: &str, multiple: u64, limit: u128, base: &str) -> Result<u64, Fault> {
    let not_number = || {
        Fault::new(
            format!("`{text}` is not a number"),
            "write it like 24 or 2.4",
        )
    };
    let (digits, scale) = decimal(text).ok_or_else(not_number)?;
    let (scaled, divisor) = (digits.checked_mul(u128::from(multiple)), 10_u128.pow(scale));
    let scaled = scaled
        .filter(|scaled| scaled / divisor <= limit)
        .ok_or_else(|| {
            Fault::new(
                format!("`{text}` is too large"),
                format!("at most {limit} {base}"),
            )
        })?;
    if scaled % divisor != 0 {
        let hint = format!("write a whole number of {base}");
        return Err(Fault::new(
            format!("`{text}` is finer than one of {base}"),
            hint,
        ));
    }
    Ok((scaled / divisor) as u64)
}

/// A quantity with its unit, in the base unit. `example` shows the form in a hint.
pub(super) fn parse(text: &str, dimension: Dimension, example: &str) -> Result<u64, Fault> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let accepted = format!(
        "a {} is written in {}, for example {example}",
        dimension.noun(),
        dimension.accepted()
    );
    if number.is_empty() {
        return Err(Fault::new(
            format!("`{text}` is not a {}", dimension.noun()),
            accepted,
        ));
    }
    if unit.is_empty() {
        return match exact(number, 1, dimension.limit(), dimension.base()) {
            Ok(0) => Ok(0),
            _ => Err(Fault::new(format!("`{text}` has no unit"), accepted)),
        };
    }
    let unit = if unit == "µs" || unit == "μs" {
        "us"
    } else {
        unit
    };
    match dimension.units().iter().find(|(known, _)| *known == unit) {
        Some((_, multiple)) => exact(number, *multiple, dimension.limit(), dimension.base()),
        None => Err(wrong_unit(text, unit, dimension, &accepted)),
    }
}

fn wrong_unit(text: &str, unit: &str, dimension: Dimension, accepted: &str) -> Fault {
    let message = format!("`{text}`: `{unit}` is not a unit of a {}", dimension.noun());
    let same = dimension
        .units()
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(unit));
    match same {
        Some((known, _)) => Fault::new(message, format!("did you mean `{known}`? {accepted}")),
        None => Fault::new(message, accepted),
    }
}

/// A plain decimal in thousandths.
pub(super) fn parse_milli(text: &str) -> Result<u64, Fault> {
    exact(text, 1000, u128::from(u64::MAX), "thousandths")
}

/// `value / multiple` with at most three decimals; none where that is not exact.
fn decimals(value: u64, multiple: u64) -> Option<String> {
    let milli = u128::from(value) * 1000;
    if milli % u128::from(multiple) != 0 {
        return None;
    }
    let milli = milli / u128::from(multiple);
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// The shortest exact text of a quantity; of equals, the one in the larger unit.
pub fn text(value: u64, dimension: Dimension) -> String {
    if value == 0 {
        return "0".to_owned();
    }
    let units = dimension.units().iter().rev();
    let fitting = units.filter(|(_, multiple)| value >= *multiple);
    let written = fitting
        .filter_map(|(unit, multiple)| Some(format!("{} {unit}", decimals(value, *multiple)?)));
    written
        .min_by_key(String::len)
        .expect("the parser lets through only what has a text")
}

/// Digits up to which an exact size is still easy to read.
const SHORT: usize = 4;

/// A size for a message: exact where that is short, else in a decimal unit, cut off after a tenth.
pub(super) fn human(bytes: u128) -> String {
    let exact = u64::try_from(bytes)
        .ok()
        .map(|bytes| text(bytes, Dimension::Size));
    let digits = |exact: &String| exact.bytes().filter(u8::is_ascii_digit).count();
    if let Some(short) = exact.filter(|exact| digits(exact) <= SHORT) {
        return short;
    }
    let units = Dimension::Size.units()[..5].iter().rev();
    let (unit, multiple) = units
        .clone()
        .find(|(_, m)| bytes >= u128::from(*m))
        .expect("not zero");
    let tenths = bytes * 10 / u128::from(*multiple);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Thousandths as a plain decimal.
pub(super) fn milli_text(milli: u64) -> String {
    decimals(milli, 1000).expect("thousandths are exact")
}
