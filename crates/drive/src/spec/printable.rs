//! Text that somebody wrote: what a name may be, and how text is quoted in a message.
//!
//! Invariant: what leaves here prints. No control character, no mark that turns the direction of a
//! line and nothing invisible reaches a terminal or a page, and a message stays short enough to
//! read however long the text is that it quotes.

use super::error::Fault;

/// Characters of a word from which its middle is left out, and what stays at either end.
const WORD_MOST: usize = 120;
const WORD_END: usize = 40;
/// The same for a whole message.
pub const TEXT_MOST: usize = 2000;
const TEXT_END: usize = 900;

/// True if a character shows as itself: a letter, a digit, a sign or a plain blank.
fn prints(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // The standard library knows what prints where it escapes for debugging. A combining mark
    // prints behind a letter.
    let mut buffer = [b'x'; 5];
    let end = 1 + c.encode_utf8(&mut buffer[1..]).len();
    let pair = std::str::from_utf8(&buffer[..end]).expect("a letter and a character");
    pair.escape_debug().nth(1) == Some(c)
}

/// The text for a message: on one line, printable, with the middle left out where it is long.
pub fn shown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(2 * TEXT_MOST));
    for part in text.split_inclusive(' ') {
        for c in middle_out(part, WORD_MOST, WORD_END).chars() {
            if prints(c) {
                plain.push(c);
            } else {
                plain.extend(c.escape_unicode());
            }
        }
    }
    middle_out(&plain, TEXT_MOST, TEXT_END)
}

/// Both ends of a text that has more than `most` characters.
pub(super) fn middle_out(text: &str, most: usize, end: usize) -> String {
    // Bytes are never fewer than characters.
    if text.len() <= most || text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(end).collect();
    let tail: Vec<char> = text.chars().rev().take(end).collect();
    format!("{head}…{}", tail.iter().rev().collect::<String>())
}

/// Refuses text that is too long or does not print; `lines` says whether it may have several.
pub(super) fn check(text: &str, most: usize, lines: bool) -> Result<(), Fault> {
    let count = text.chars().count();
    if count > most {
        let message = format!("this text has {count} characters");
        return Err(Fault::new(message, format!("write at most {most}")));
    }
    let odd = text.chars().find(|c| {
        let of_lines = matches!(c, '\n' | '\r' | '\t');
        !(prints(*c) || lines && of_lines)
    });
    match odd {
        None => Ok(()),
        Some(c) => Err(Fault::new(
            format!("U+{:04X} does not print", u32::from(c)),
            "take the character out of the text",
        )),
    }
}
