//! A table of sizes over the fill of a drive: `["0 %: 140 GB", "75 %: 12 GB"]`.
//!
//! Shares are whole thousandths of a percent from 0 to 100, and rise from point to point.

use super::error::Fault;
use super::quantity::{self, Dimension};

const EXAMPLE: &str = "\"75 %: 12 GB\"";

/// One point: a share in thousandths of a percent, and bytes.
pub(super) fn point(text: &str) -> Result<(u32, u64), Fault> {
    let form = || {
        let message = format!("`{text}` is not a share and a size");
        Fault::new(message, format!("write it like {EXAMPLE}"))
    };
    let (share, size) = text.split_once(':').ok_or_else(form)?;
    let share = share.trim().strip_suffix('%').ok_or_else(form)?.trim();
    let milli = quantity::parse_milli(share)?;
    if milli > 100_000 {
        let hint = "shares are of the capacity: write 0 to 100 %";
        return Err(Fault::new(format!("{share} % is above 100 %"), hint));
    }
    let bytes = quantity::parse(size, Dimension::Size, EXAMPLE)?;
    Ok((milli as u32, bytes))
}

/// All points of a table in rising order.
pub(super) fn rising(points: Vec<(u32, u64)>) -> Result<Vec<(u32, u64)>, Fault> {
    if let Some(pair) = points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        let message = format!("{} after {}", share(pair[1].0), share(pair[0].0));
        return Err(Fault::new(message, "write the points in rising order"));
    }
    Ok(points)
}

fn share(milli: u32) -> String {
    format!("{} %", quantity::milli_text(u64::from(milli)))
}

/// The points as they are written, joined by commas.
pub(super) fn text(points: &[(u32, u64)]) -> String {
    let point = |(milli, bytes): &(u32, u64)| {
        format!(
            "{}: {}",
            share(*milli),
            quantity::text(*bytes, Dimension::Size)
        )
    };
    points.iter().map(point).collect::<Vec<_>>().join(", ")
}
