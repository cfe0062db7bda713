//! The text of blkparse in its default format:
//! `8,0  3  11  0.009507758  697  D  WS 223490 + 8 [process]`: device, CPU, sequence, seconds,
//! process, action, what is done (`R` read, `W` write, `D` discard, an `F` before it for a flush
//! first and after it for FUA, `N` for neither), first sector of 512 bytes, count.
//!
//! Lines of other actions are no requests. The first line that does not begin with a device begins
//! the summary, unless there was no event at all.

use super::number::{next, range, seconds, shown, whole, words};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::{Direction, SECTOR_BYTES};

/// Whether a line begins with `major,minor` and a CPU.
pub fn looks_so(text: &[u8]) -> bool {
    let mut words = words(text);
    let device = words.next().is_some_and(is_device);
    let cpu = words.next();
    device && cpu.is_some_and(|word| word.iter().all(u8::is_ascii_digit))
}

fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|&byte| byte == b',');
    let digits = |part: Option<&[u8]>| {
        part.is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit))
    };
    digits(parts.next()) && digits(parts.next()) && parts.next().is_none()
}

pub fn parse(text: &[u8], context: &mut Context) -> Result<Line, TraceProblem> {
    let mut words = words(text);
    let device = next(&mut words, "device")?;
    if !is_device(device) {
        // CPU0 (sda): / Total (sda): / Throughput …, which stand at the end.
        let summary = [
            &b"CPU"[..],
            b"Total",
            b"Throughput",
            b"Events",
            b"Input",
            b"Skips",
        ];
        if summary.iter().any(|word| device.starts_with(word)) {
            return Ok(Line::End);
        }
        let text = shown(device);
        return Err(TraceProblem::NotKnown {
            what: "device",
            text,
        });
    }
    whole(next(&mut words, "CPU")?, "CPU")?;
    whole(next(&mut words, "sequence number")?, "sequence number")?;
    let at = seconds(next(&mut words, "time")?, "time")?;
    next(&mut words, "process")?;
    let action = next(&mut words, "action")?;
    if action != context.options.event.to_string().as_bytes() {
        return Ok(Line::Nothing);
    }
    let kind = next(&mut words, "kind of request")?;
    let Some(done) = done(kind)? else {
        return Ok(Line::Nothing);
    };
    let file = context.file(device)?;
    let at = context.since_first(at, 1)?;
    let event = |action, offset, bytes, fua| Event {
        at,
        file,
        action,
        offset,
        bytes,
        fua,
    };
    let Some(direction) = done.direction else {
        let event = event(Action::Flush, 0, 0, false);
        return Ok(Line::Event {
            flush: false,
            event,
        });
    };
    let sector = whole(next(&mut words, "sector")?, "sector")?;
    let plus = next(&mut words, "count")?;
    if plus != b"+" {
        let text = shown(plus);
        return Err(TraceProblem::NotKnown {
            what: "sign before the count",
            text,
        });
    }
    let count = whole(next(&mut words, "count")?, "count")?;
    let offset = sector
        .checked_mul(SECTOR_BYTES)
        .ok_or(TraceProblem::TooLarge("sector"))?;
    let bytes = count
        .checked_mul(SECTOR_BYTES)
        .ok_or(TraceProblem::TooLarge("count"))?;
    if bytes == 0 && done.flush {
        let event = event(Action::Flush, 0, 0, false);
        return Ok(Line::Event {
            flush: false,
            event,
        });
    }
    let (offset, bytes) = range(offset, bytes)?;
    let event = event(Action::Data(direction), offset, bytes, done.fua);
    let flush = done.flush;
    Ok(Line::Event { flush, event })
}

struct Done {
    flush: bool,
    direction: Option<Direction>,
    fua: bool,
}

/// What the letters say; none for requests that move nothing.
fn done(kind: &[u8]) -> Result<Option<Done>, TraceProblem> {
    let (flush, rest) = match kind.strip_prefix(b"F") {
        Some(rest) => (true, rest),
        None => (false, kind),
    };
    let direction = match rest.first() {
        Some(b'R') => Some(Direction::Read),
        Some(b'W') => Some(Direction::Write),
        Some(b'D') => Some(Direction::Trim),
        // A flush alone may carry letters of how it was asked for.
        _ if flush => None,
        Some(b'N') => return Ok(None),
        _ => {
            let text = shown(kind);
            return Err(TraceProblem::NotKnown {
                what: "kind of request",
                text,
            });
        }
    };
    let fua = direction == Some(Direction::Write) && rest[1..].contains(&b'F');
    Ok(Some(Done {
        flush,
        direction,
        fua,
    }))
}
