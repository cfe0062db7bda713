//! Values of a key's kind, right ones and ones at the edge, as they are written in TOML.

use flashtwin_base::rng::Rng;
use flashtwin_drive::spec::Dimension;
use flashtwin_drive::spec::keys::{Key, Kind};

/// One of these.
pub(crate) fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// A value for a key: in four of five cases one of its kind.
pub(crate) fn value(key: &Key, rng: &mut Rng) -> String {
    if rng.chance(20) {
        return pick(
            rng,
            &[key.example, "0", "-1", "\"\"", "[]", "1e9", "true", "{}"],
        )
        .to_owned();
    }
    match key.kind {
        Kind::Count { min, max } => {
            let near = min.saturating_add(rng.below(40) as u32);
            pick(rng, &[min, max, near, near, near]).to_string()
        }
        Kind::Quantity {
            dimension, never, ..
        } => match rng.below(10) {
            0 if never => "\"never\"".to_owned(),
            1 => "0".to_owned(),
            _ => format!("\"{}\"", quantity(dimension, rng)),
        },
        Kind::PageTimes => {
            let times: Vec<String> = (0..rng.below(5))
                .map(|_| format!("\"{}\"", quantity(Dimension::Time, rng)))
                .collect();
            match times.as_slice() {
                [one] => one.clone(),
                _ => format!("[{}]", times.join(", ")),
            }
        }
        Kind::Factor => pick(rng, &["0", "0.001", "0.5", "1", "1.5", "100", "999.999"]).to_owned(),
        Kind::SizeByFill => {
            let points: Vec<String> = (0..rng.below(4))
                .map(|_| {
                    format!(
                        "\"{} %: {}\"",
                        rng.below(101),
                        quantity(Dimension::Size, rng)
                    )
                })
                .collect();
            format!("[{}]", points.join(", "))
        }
        Kind::Flag => rng.chance(50).to_string(),
        Kind::Word(words) => format!("\"{}\"", pick(rng, words)),
    }
}

fn quantity(dimension: Dimension, rng: &mut Rng) -> String {
    let (unit, _) = pick(rng, dimension.units());
    let small = rng.below(17);
    let number = pick(
        rng,
        &[small, small, 1 << small, 999_999_999_999, 512 * small],
    );
    match rng.below(8) {
        0 => format!("{number}.5 {unit}"),
        _ => format!("{number} {unit}"),
    }
}
