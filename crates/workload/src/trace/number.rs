//! Words and numbers out of the bytes of a line, without copies.

use super::TraceProblem;

/// The words of a line, between blanks.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// A whole number of at most 64 bits.
pub fn whole(word: &[u8], what: &'static str) -> Result<u64, TraceProblem> {
    // As many digits are below 2^64 whatever they are.
    const SURE_DIGITS: usize = 19;
    let mut value = 0_u64;
    for (place, byte) in word.iter().enumerate() {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return Err(not_a_number(word, what));
        }
        value = if place < SURE_DIGITS {
            value * 10 + digit
        } else {
            let larger = value
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(digit));
            match larger {
                Some(larger) => larger,
                // A later byte may be no digit, which is the clearer message.
                None if word[place..].iter().all(u8::is_ascii_digit) => {
                    return Err(TraceProblem::TooLarge(what));
                }
                None => return Err(not_a_number(word, what)),
            }
        };
    }
    if word.is_empty() {
        return Err(not_a_number(word, what));
    }
    Ok(value)
}

fn not_a_number(word: &[u8], what: &'static str) -> TraceProblem {
    TraceProblem::NotANumber {
        what,
        text: shown(word),
    }
}

/// A number with a fraction, in units of so many nanoseconds; digits beyond a nanosecond are cut.
pub fn decimal(word: &[u8], what: &'static str, unit_ns: u64) -> Result<u64, TraceProblem> {
    const MOST_DIGITS: usize = 18;
    let mut parts = word.splitn(2, |&byte| byte == b'.');
    let before = parts.next().unwrap_or_default();
    let after = parts.next().unwrap_or(b"0");
    if after.is_empty() || after.len() > MOST_DIGITS {
        let text = shown(word);
        return Err(TraceProblem::NotANumber { what, text });
    }
    let all_of_it = |problem| match problem {
        TraceProblem::NotANumber { what, .. } => TraceProblem::NotANumber {
            what,
            text: shown(word),
        },
        other => other,
    };
    let digits = whole(after, what).map_err(all_of_it)?;
    // Usual fractions need no numbers of 128 bits, whose division is slow.
    let nanos = match digits.checked_mul(unit_ns) {
        Some(fraction) => fraction / 10_u64.pow(after.len() as u32),
        None => {
            let fraction = u128::from(digits) * u128::from(unit_ns);
            (fraction / 10_u128.pow(after.len() as u32)) as u64
        }
    };
    whole(before, what)
        .map_err(all_of_it)?
        .checked_mul(unit_ns)
        .and_then(|units| units.checked_add(nanos))
        .ok_or(TraceProblem::TooLarge(what))
}

/// A hexadecimal number of at most 32 bits.
pub fn hex(word: &[u8]) -> Option<u32> {
    let is_hex = !word.is_empty() && word.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(word).ok().filter(|_| is_hex)?;
    u32::from_str_radix(text, 16).ok()
}

/// The next word, or an error that says what is missing.
pub fn next<'a>(
    words: &mut impl Iterator<Item = &'a [u8]>,
    what: &'static str,
) -> Result<&'a [u8], TraceProblem> {
    words.next().ok_or(TraceProblem::Missing(what))
}

/// A word for a message, cut where it is long.
pub fn shown(word: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(MOST)]).into_owned();
    if word.len() > MOST {
        text + "…"
    } else {
        text
    }
}

/// Offset and length as they are, refused where no drive could have them.
pub fn range(offset: u64, bytes: u64) -> Result<(u64, u64), TraceProblem> {
    if bytes == 0 {
        return Err(TraceProblem::NoBytes);
    }
    match offset.checked_add(bytes) {
        Some(_) if bytes <= u64::from(u32::MAX) * 512 => Ok((offset, bytes)),
        Some(_) => Err(TraceProblem::TooLarge("length")),
        None => Err(TraceProblem::TooLarge("offset")),
    }
}
