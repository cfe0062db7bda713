//! The block traces of MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`
//! with times in units of 100 ns (Windows file time), offsets and sizes in bytes, and `Read` or
//! `Write`.

use super::number::{range, shown, whole};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::Direction;

const GRAIN_NS: u64 = 100;
const FIELDS: usize = 7;

/// Whether a line has the seven fields, or names them.
pub fn looks_so(text: &[u8]) -> bool {
    let fields: Vec<&[u8]> = split(text).collect();
    let numbers = fields
        .first()
        .is_some_and(|word| word.iter().all(u8::is_ascii_digit));
    fields.len() == FIELDS && (numbers || is_head(text))
}

fn is_head(text: &[u8]) -> bool {
    text.len() >= 9 && text[..9].eq_ignore_ascii_case(b"timestamp")
}

fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

pub fn parse(text: &[u8], context: &mut Context) -> Result<Line, TraceProblem> {
    if context.first.is_none() && is_head(text) {
        return Ok(Line::Nothing);
    }
    let mut fields = split(text);
    let mut next = |what| fields.next().ok_or(TraceProblem::Missing(what));
    let at = whole(next("timestamp")?, "timestamp")?;
    let host = next("host")?;
    let disk = next("disk")?;
    let number = whole(disk, "disk")?;
    let kind = next("type")?;
    let offset = whole(next("offset")?, "offset")?;
    let bytes = whole(next("size")?, "size")?;
    next("response time")?;
    let direction = if kind.eq_ignore_ascii_case(b"read") {
        Direction::Read
    } else if kind.eq_ignore_ascii_case(b"write") {
        Direction::Write
    } else {
        let text = shown(kind);
        return Err(TraceProblem::NotKnown { what: "type", text });
    };
    let other = |only: u32| u64::from(only) != number;
    if context.options.disk.is_some_and(other) {
        return Ok(Line::Nothing);
    }
    let (offset, bytes) = range(offset, bytes)?;
    // A name of one word, as an iolog of the replay has to have.
    let file = context.file(&[host, b".", disk].concat())?;
    let event = Event {
        at: context.since_first(at, GRAIN_NS)?,
        file,
        action: Action::Data(direction),
        offset,
        bytes,
        fua: false,
    };
    Ok(Line::Event {
        flush: false,
        event,
    })
}
