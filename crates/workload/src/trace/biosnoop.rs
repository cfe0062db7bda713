//! The table that biosnoop prints, of bcc and of libbpf's tools:
//! `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`, the queueing time only with `-Q`.
//!
//! `TIME(s)` is when a request completed. It was handed to the driver `LAT(ms)` before that (the
//! event `D`), and queued `QUE(ms)` before it was handed over (`Q`). A line is taken apart from its
//! end, as the name of a process may have blanks in it.

use flashtwin_base::Nanos;

use super::blkparse::{self, Done};
use super::number::{decimal, range, shown, whole, words};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::SECTOR_BYTES;

/// Requests that were under way when the tool was started began before its time 0.
const BEFORE_START_NS: u64 = 1_000_000_000_000_000;
const MILLISECOND: u64 = 1_000_000;
const HEAD: &[u8] = b"TIME(s)";
/// Columns that stand before the name of a process, and with it.
const BEFORE_NAME: usize = 1;

/// Where the columns that count stand, counted from the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    disk: usize,
    kind: usize,
    sector: usize,
    bytes: usize,
    queued: Option<usize>,
    latency: usize,
    /// All columns behind the name of the process.
    count: usize,
}

const USUAL: Columns = Columns {
    disk: 5,
    kind: 4,
    sector: 3,
    bytes: 2,
    queued: None,
    latency: 1,
    count: 6,
};

/// The columns that the first line names, or those of a tool whose heading is not there.
pub fn columns(line: &[u8]) -> Option<Columns> {
    let fields: Vec<&[u8]> = words(line).collect();
    if fields.first() != Some(&HEAD) {
        return usual(&fields);
    }
    let place = |name: &[u8]| {
        let index = fields.iter().position(|field| *field == name);
        index.map(|index| fields.len() - index)
    };
    Some(Columns {
        disk: place(b"DISK")?,
        kind: place(b"T")?,
        sector: place(b"SECTOR")?,
        bytes: place(b"BYTES")?,
        queued: place(b"QUE(ms)"),
        latency: place(b"LAT(ms)")?,
        count: fields.len().checked_sub(BEFORE_NAME + 1)?,
    })
}

fn usual(fields: &[&[u8]]) -> Option<Columns> {
    let queued = Columns {
        disk: 6,
        kind: 5,
        sector: 4,
        bytes: 3,
        queued: Some(2),
        latency: 1,
        count: 7,
    };
    let fits = |columns: &Columns| {
        let field = |place: usize| fields[fields.len() - place];
        let number = |place| whole(field(place), "").is_ok();
        fields.len() > columns.count + BEFORE_NAME
            && decimal(fields[0], "", 1).is_ok()
            && fields[0].contains(&b'.')
            && number(columns.count)
            && blkparse::done(field(columns.kind)).is_ok()
            && number(columns.sector)
            && number(columns.bytes)
            && decimal(field(columns.latency), "", 1).is_ok()
    };
    [USUAL, queued].into_iter().find(fits)
}

/// Of a file that was said to be such a table, whatever its first line is.
pub fn columns_or_usual(line: &[u8]) -> Columns {
    columns(line).unwrap_or(USUAL)
}

pub fn parse(text: &[u8], columns: &Columns, context: &mut Context) -> Result<Line, TraceProblem> {
    let fields: Vec<&[u8]> = words(text).collect();
    if fields[0] == HEAD {
        return Ok(Line::Nothing);
    }
    if fields.len() < columns.count + BEFORE_NAME {
        return Err(TraceProblem::Missing("latency"));
    }
    let field = |place: usize| fields[fields.len() - place];
    let at = started(fields[0], columns, context.options.event, field)?;
    let kind = field(columns.kind);
    let bytes = whole(field(columns.bytes), "size")?;
    let done = blkparse::done(kind)?;
    context.set_name(field(columns.disk));
    let Some(Done {
        flush,
        direction,
        fua,
    }) = done
    else {
        return Ok(context.leave_out());
    };
    let event = |action, file, (offset, bytes), fua| Event {
        at: Nanos(at),
        file,
        action,
        offset,
        bytes,
        fua,
    };
    let (Some(direction), true) = (direction, bytes > 0) else {
        if !flush {
            return Ok(context.leave_out());
        }
        let file = context.named_file()?;
        return Ok(file.map_or(Line::Nothing, |file| Line::Event {
            flush: false,
            event: event(Action::Flush, file, (0, 0), false),
        }));
    };
    let sector = whole(field(columns.sector), "sector")?;
    let offset = sector.checked_mul(SECTOR_BYTES);
    let place = range(offset.ok_or(TraceProblem::TooLarge("sector"))?, bytes)?;
    let file = context.named_file()?;
    Ok(file.map_or(Line::Nothing, |file| Line::Event {
        flush,
        event: event(Action::Data(direction), file, place, fua),
    }))
}

/// When the request was handed to the driver, or what else counts as its time.
fn started<'a>(
    completed: &[u8],
    columns: &Columns,
    counts: char,
    field: impl Fn(usize) -> &'a [u8],
) -> Result<u64, TraceProblem> {
    let mut at = decimal(completed, "time", 1_000_000_000)?.saturating_add(BEFORE_START_NS);
    let mut back = |place: usize, what| {
        let taken = decimal(field(place), what, MILLISECOND)?;
        at = at.checked_sub(taken).ok_or(TraceProblem::TooLarge(what))?;
        Ok::<(), TraceProblem>(())
    };
    match (counts, columns.queued) {
        ('C', _) => {}
        ('Q', Some(queued)) => {
            back(columns.latency, "latency")?;
            back(queued, "queueing time")?;
        }
        ('Q', None) => return Err(TraceProblem::Missing("queueing time")),
        ('D', _) => back(columns.latency, "latency")?,
        (other, _) => {
            return Err(TraceProblem::NotKnown {
                what: "event",
                text: shown(other.to_string().as_bytes()),
            });
        }
    }
    Ok(at)
}
