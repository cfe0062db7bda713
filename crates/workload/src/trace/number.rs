//! Words and numbers out of the bytes of a line, without copies.

use super::TraceProblem;

/// The words of a line, between blanks.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let from_word = &rest[begin..];
        let end = from_word.iter().position(u8::is_ascii_whitespace);
        let (word, behind) = from_word.split_at(end.unwrap_or(from_word.len()));
        rest = behind;
        Some(word)
    })
}

/// A whole number of at most 64 bits.
pub fn whole(word: &[u8], what: &'static str) -> Result<u64, TraceProblem> {
    // As many digits are below 2^64 whatever they are.
    const SURE_DIGITS: usize = 19;
    let (sure, others) = word.split_at(word.len().min(SURE_DIGITS));
    let (eights, few) = sure.as_chunks();
    let mut value = 0_u64;
    for eight in eights {
        let digits = eight_digits(*eight).ok_or_else(|| not_a_number(word, what))?;
        value = value * 100_000_000 + digits;
    }
    for byte in few {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(not_a_number(word, what));
        }
        value = value * 10 + u64::from(digit);
    }
    if !others.iter().all(u8::is_ascii_digit) {
        return Err(not_a_number(word, what));
    }
    for byte in others {
        let tens = value.checked_mul(10);
        let larger = tens.and_then(|tens| tens.checked_add(u64::from(byte - b'0')));
        value = larger.ok_or(TraceProblem::TooLarge(what))?;
    }
    if word.is_empty() {
        return Err(not_a_number(word, what));
    }
    Ok(value)
}

/// Eight digits as a number, in three multiplications that work on neighbours; none where a byte is
/// no digit.
fn eight_digits(digits: [u8; 8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const EACH_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    let values = u64::from_le_bytes(digits) ^ (EACH * u64::from(b'0'));
    // Adding this carries into the upper bit of a byte of ten or more.
    let no_digits = (values.wrapping_add(EACH * 0x76) | values) & (EACH * 0x80);
    if no_digits != 0 {
        return None;
    }
    // The first digit is the lowest byte: each even byte becomes a number of two digits.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let first_and_third = (pairs & EACH_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let second_and_fourth = ((pairs >> 16) & EACH_FOURTH).wrapping_mul(1 + (10_000 << 32));
    Some(first_and_third.wrapping_add(second_and_fourth) >> 32)
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
    let dot = word.iter().position(|&byte| byte == b'.');
    let (before, after) = dot.map_or((word, &b"0"[..]), |dot| (&word[..dot], &word[dot + 1..]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_read_as_they_stand() {
        for digits in 1..=20 {
            for number in [
                u64::MAX,
                9_999_999_999_999_999_999,
                1_234_567_890_123_456_789,
                10,
                0,
            ] {
                let text = format!("{number:020}");
                let word = &text.as_bytes()[20 - digits..];
                let expected = std::str::from_utf8(word).unwrap().parse().unwrap();
                assert_eq!(whole(word, "n").unwrap(), expected, "{text}");
            }
        }
        let larger = whole(b"18446744073709551616", "n");
        assert!(matches!(larger, Err(TraceProblem::TooLarge("n"))));
    }

    #[test]
    fn a_byte_that_is_no_digit_is_seen_at_every_place() {
        for length in 1..=24 {
            for place in 0..length {
                for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                    let mut word = vec![b'9'; length];
                    word[place] = byte;
                    let read = whole(&word, "n");
                    assert!(
                        matches!(read, Err(TraceProblem::NotANumber { .. })),
                        "{word:?}"
                    );
                }
            }
        }
    }
}
