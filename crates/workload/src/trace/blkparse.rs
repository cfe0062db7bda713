//! The text of blkparse in its default format:
//! `8,0  3  11  0.009507758  697  D  WS 223490 + 8 [process]`: device, CPU, sequence, seconds,
//! process, action, what is done (`R` read, `W` write, `D` discard, an `F` before it for a flush
//! first and after it for FUA, `N` for neither), first sector of 512 bytes, count.
//! A request of no bytes has no count, and perhaps no sector: `FWS [process]` where it is queued,
//! `WS 1008 [0]` where it completes. Such a write is a flush; others ask for nothing.
//!
//! Lines of other actions are no requests. The first line that does not begin with a device begins
//! the summary, unless there was no event at all.

use flashtwin_base::Nanos;

use super::number::{decimal, next, range, shown, whole, words};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::{Direction, SECTOR_BYTES};

/// True if a line begins with `major,minor` and a CPU.
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
    let at = decimal(next(&mut words, "time")?, "time", 1_000_000_000)?;
    next(&mut words, "process")?;
    let action = next(&mut words, "action")?;
    let counts = context.options.event;
    if !matches!(action, [letter] if char::from(*letter) == counts) {
        if let [letter @ b'A'..=b'Z'] = action {
            context.actions.insert(*letter);
        }
        return Ok(Line::Nothing);
    }
    context.began = true;
    let kind = next(&mut words, "kind of request")?;
    let Some(done) = done(kind)? else {
        return Ok(Line::Nothing);
    };
    context.set_name(device);
    let place = match done.direction {
        Some(_) => place(&mut words)?,
        None => None,
    };
    let (action, (offset, bytes)) = match (done.direction, place) {
        (Some(direction), Some((offset, bytes))) => {
            (Action::Data(direction), range(offset, bytes)?)
        }
        (None | Some(Direction::Write), None) => (Action::Flush, (0, 0)),
        _ if done.flush => (Action::Flush, (0, 0)),
        _ => return Ok(context.leave_out()),
    };
    let Some(file) = context.named_file()? else {
        return Ok(Line::Nothing);
    };
    let is_data = matches!(action, Action::Data(_));
    let event = Event {
        at: Nanos(at),
        file,
        action,
        offset,
        bytes,
        fua: done.fua && is_data,
    };
    Ok(Line::Event {
        flush: done.flush && is_data,
        event,
    })
}

/// Offset and length of a request; none of one that has no bytes.
fn place<'a>(
    words: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Option<(u64, u64)>, TraceProblem> {
    // A process, or an error, in brackets follows at once where there is no sector or no count.
    let in_brackets = |word: &[u8]| word.starts_with(b"[");
    let first = next(words, "sector")?;
    if in_brackets(first) {
        return Ok(None);
    }
    let sector = whole(first, "sector")?;
    let plus = next(words, "count")?;
    if in_brackets(plus) {
        return Ok(None);
    }
    if plus != b"+" {
        let text = shown(plus);
        return Err(TraceProblem::NotKnown {
            what: "sign before the count",
            text,
        });
    }
    let count = whole(next(words, "count")?, "count")?;
    let bytes_of = |sectors: u64, what| {
        let bytes = sectors.checked_mul(SECTOR_BYTES);
        bytes.ok_or(TraceProblem::TooLarge(what))
    };
    let (offset, bytes) = (bytes_of(sector, "sector")?, bytes_of(count, "count")?);
    Ok((bytes > 0).then_some((offset, bytes)))
}

/// What the letters of a request say.
pub struct Done {
    pub flush: bool,
    pub direction: Option<Direction>,
    pub fua: bool,
}

/// What the letters say; none for requests that move nothing.
pub fn done(kind: &[u8]) -> Result<Option<Done>, TraceProblem> {
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
