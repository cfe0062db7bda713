//! Traces with a line a request and fixed columns: MSR Cambridge, SYSTOR '17, Alibaba, Tencent,
//! FIU, SPC, DiskSim, MQSim and vscsiStats. Each is a [`Layout`], which says where a column stands
//! and in which unit; one function reads all of them.
//!
//! Sources: the README of each collection at SNIA IOTTA (MSR, SYSTOR '17, Tencent, FIU), of
//! alibaba/block-traces and of UMass (SPC), DiskSim's manual (ASCII format), MQSim's README, and
//! the heading that `vscsiStats -e` prints.

use flashtwin_base::Nanos;

use super::number::{decimal, hex, range, shown, whole};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::{Direction, SECTOR_BYTES};

/// A column of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Time,
    /// Names the disk; where two do, a dot stands between them, or a comma between two numbers.
    Disk,
    Kind,
    Offset,
    Bytes,
    /// A whole number of which nothing follows.
    Number(&'static str),
    /// A word of which nothing follows.
    Word(&'static str),
}
use Column::{Bytes, Disk, Kind, Number, Offset, Time, Word};

/// What a line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Data(Direction),
    Flush,
    /// Known, and nothing that can be replayed.
    Nothing,
}

/// A format with fixed columns.
#[derive(Debug)]
pub struct Layout {
    /// As `--trace-format` spells it.
    pub name: &'static str,
    /// Its unit of time in words, for a message that compares two formats.
    pub clock: &'static str,
    commas: bool,
    columns: &'static [Column],
    /// The words that lines of headings begin with, in lower case.
    headings: &'static [&'static str],
    kind: fn(&[u8]) -> Option<Asked>,
    /// Of the types that it may have, those that it is known by.
    telling: fn(&[u8]) -> bool,
    /// No time that it is known by is below this one, in its units.
    least_time: u64,
    /// Nanoseconds in a unit of its time.
    tick_ns: u64,
    /// Times may have a fraction.
    fractions: bool,
    /// Bytes in a unit of its offsets, and of its lengths.
    place_bytes: u64,
    length_bytes: u64,
    /// Between the words that name a disk.
    joint: &'static [u8],
}

const USUAL: Layout = Layout {
    name: "",
    clock: "",
    commas: true,
    columns: &[],
    headings: &[],
    kind: letter,
    telling: |_| true,
    least_time: 0,
    tick_ns: 1,
    fractions: false,
    place_bytes: 1,
    length_bytes: 1,
    joint: b".",
};

pub static MSR: Layout = Layout {
    name: "msr",
    clock: "times in units of 100 ns",
    columns: &[Time, Disk, Disk, Kind, Offset, Bytes, Word("response time")],
    headings: &["timestamp,hostname"],
    kind: word,
    // Windows file time.
    tick_ns: 100,
    ..USUAL
};

pub static SYSTOR: Layout = Layout {
    name: "systor",
    clock: "times in seconds",
    columns: &[Time, Word("response"), Kind, Disk, Offset, Bytes],
    headings: &["timestamp,response"],
    kind: letter_or_none,
    tick_ns: 1_000_000_000,
    fractions: true,
    ..USUAL
};

pub static ALIBABA: Layout = Layout {
    name: "alibaba",
    clock: "times in microseconds",
    columns: &[Disk, Kind, Offset, Bytes, Time],
    headings: &["device_id,"],
    tick_ns: 1_000,
    ..USUAL
};

pub static TENCENT: Layout = Layout {
    name: "tencent",
    clock: "times in seconds",
    columns: &[Time, Offset, Bytes, Kind, Disk],
    headings: &["timestamp,offset"],
    kind: zero_reads,
    // Unix time: five other numbers in a row are no such trace.
    least_time: 1_000_000_000,
    tick_ns: 1_000_000_000,
    place_bytes: SECTOR_BYTES,
    length_bytes: SECTOR_BYTES,
    ..USUAL
};

pub static FIU: Layout = Layout {
    name: "fiu",
    clock: "times in nanoseconds",
    commas: false,
    columns: &[
        Time,
        Number("process id"),
        Word("process"),
        Offset,
        Bytes,
        Kind,
        Disk,
        Disk,
    ],
    place_bytes: SECTOR_BYTES,
    length_bytes: SECTOR_BYTES,
    joint: b",",
    ..USUAL
};

pub static SPC: Layout = Layout {
    name: "spc",
    clock: "times in seconds",
    columns: &[Disk, Offset, Bytes, Kind, Time],
    headings: &["asu,"],
    tick_ns: 1_000_000_000,
    fractions: true,
    place_bytes: SECTOR_BYTES,
    ..USUAL
};

pub static DISKSIM: Layout = Layout {
    name: "disksim",
    clock: "times in milliseconds",
    commas: false,
    columns: &[Time, Disk, Offset, Bytes, Kind],
    kind: odd_flags_read,
    tick_ns: 1_000_000,
    fractions: true,
    place_bytes: SECTOR_BYTES,
    length_bytes: SECTOR_BYTES,
    ..USUAL
};

pub static MQSIM: Layout = Layout {
    name: "mqsim",
    clock: "times in nanoseconds",
    commas: false,
    columns: &[Time, Disk, Offset, Bytes, Kind],
    kind: zero_writes,
    place_bytes: SECTOR_BYTES,
    length_bytes: SECTOR_BYTES,
    ..USUAL
};

pub static VSCSI: Layout = Layout {
    name: "vscsi",
    clock: "times in microseconds",
    columns: &[
        Number("serial number"),
        Bytes,
        Number("number of segments"),
        Kind,
        Offset,
        Time,
    ],
    headings: &["vscsi cmd trace", "serial number"],
    kind: scsi,
    // A command by number alone could be any table of six numbers.
    telling: |field| word(field).is_some(),
    tick_ns: 1_000,
    place_bytes: SECTOR_BYTES,
    ..USUAL
};

pub static LAYOUTS: [&Layout; 9] = [
    &MSR, &SYSTOR, &ALIBABA, &TENCENT, &FIU, &SPC, &DISKSIM, &MQSIM, &VSCSI,
];

impl Layout {
    /// True if a line can be one of the format: it names the columns, or each field is what its
    /// column has.
    pub fn fits(&self, line: &[u8]) -> bool {
        if self.is_heading(line) {
            return true;
        }
        let mut fields = self.fields(line);
        self.columns.iter().all(|column| {
            fields
                .next()
                .is_some_and(|field| self.field_fits(*column, field))
        })
    }

    fn field_fits(&self, column: Column, field: &[u8]) -> bool {
        match column {
            Time => {
                let least = self.least_time * self.tick_ns;
                self.time(field).is_ok_and(|time| time >= least)
            }
            Kind => (self.kind)(field).is_some() && (self.telling)(field),
            Offset | Bytes | Number(_) => whole(field, "").is_ok(),
            Disk => (self.commas && !field.is_empty()) || whole(field, "").is_ok(),
            Word(_) => true,
        }
    }

    /// True if a line says what the columns are.
    pub fn is_heading(&self, line: &[u8]) -> bool {
        let line = line.strip_prefix(b"#").unwrap_or(line).trim_ascii_start();
        self.headings.iter().any(|heading| {
            // Words of a heading may be quoted and separated as those of a line.
            let separator = separator(line);
            let bytes = line.iter().filter(|byte| !matches!(byte, b'"' | b' '));
            let mut bytes = bytes.map(|&byte| if byte == separator { b',' } else { byte });
            let mut letters = heading.bytes().filter(|&byte| byte != b' ');
            letters.all(|letter| {
                bytes
                    .next()
                    .is_some_and(|byte| byte.eq_ignore_ascii_case(&letter))
            })
        })
    }

    fn fields<'a>(&self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let commas = self.commas;
        let separator = separator(line);
        let ends = move |byte: &u8| match commas {
            true => *byte == separator,
            false => byte.is_ascii_whitespace(),
        };
        line.split(ends)
            .map(|field| unquoted(field.trim_ascii()))
            .filter(move |field| commas || !field.is_empty())
    }

    fn time(&self, field: &[u8]) -> Result<u64, TraceProblem> {
        if self.fractions {
            return decimal(field, "time", self.tick_ns);
        }
        whole(field, "time")?
            .checked_mul(self.tick_ns)
            .ok_or(TraceProblem::TooLarge("time"))
    }

    pub fn parse(&self, line: &[u8], context: &mut Context) -> Result<Line, TraceProblem> {
        // Programs put comments and headings before the first request.
        if !context.began && (line.starts_with(b"#") || self.is_heading(line)) {
            return Ok(Line::Nothing);
        }
        let row = self.row(line, &mut context.name)?;
        context.began = true;
        let (action, offset, bytes) = match row.asked {
            Asked::Flush => (Action::Flush, 0, 0),
            Asked::Data(direction) if row.bytes > 0 => {
                let (offset, bytes) = range(row.offset, row.bytes)?;
                (Action::Data(direction), offset, bytes)
            }
            Asked::Data(_) | Asked::Nothing => return Ok(context.leave_out()),
        };
        let Some(file) = context.named_file()? else {
            return Ok(Line::Nothing);
        };
        let event = Event {
            at: Nanos(row.at),
            file,
            action,
            offset,
            bytes,
            fua: false,
        };
        Ok(Line::Event {
            flush: false,
            event,
        })
    }

    fn row(&self, line: &[u8], disk: &mut Vec<u8>) -> Result<Row, TraceProblem> {
        disk.clear();
        let mut row = Row {
            at: 0,
            asked: Asked::Nothing,
            offset: 0,
            bytes: 0,
        };
        let mut fields = self.fields(line);
        for &column in self.columns {
            let what = column.name();
            let field = fields.next().ok_or(TraceProblem::Missing(what))?;
            match column {
                Time => row.at = self.time(field)?,
                Disk => {
                    if !disk.is_empty() {
                        disk.extend_from_slice(self.joint);
                    }
                    disk.extend_from_slice(field);
                }
                Kind => {
                    let unknown = || TraceProblem::NotKnown {
                        what,
                        text: shown(field),
                    };
                    row.asked = (self.kind)(field).ok_or_else(unknown)?;
                }
                Offset => row.offset = scaled(field, what, self.place_bytes)?,
                Bytes => row.bytes = scaled(field, what, self.length_bytes)?,
                Number(_) => {
                    whole(field, what)?;
                }
                Word(_) => {}
            }
        }
        if disk.is_empty() {
            disk.extend_from_slice(b"disk");
        }
        Ok(row)
    }
}

/// What separates the fields of a format with commas: programs that store a trace anew may have
/// written semicolons or tabs.
fn separator(line: &[u8]) -> u8 {
    let is_there = |separator: &u8| line.contains(separator);
    [b',', b';', b'\t']
        .into_iter()
        .find(is_there)
        .unwrap_or(b',')
}

fn unquoted(field: &[u8]) -> &[u8] {
    let inside = field
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    inside.map_or(field, <[u8]>::trim_ascii)
}

struct Row {
    at: u64,
    asked: Asked,
    offset: u64,
    bytes: u64,
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Time => "time",
            Disk => "disk",
            Kind => "type",
            Offset => "offset",
            Bytes => "size",
            Number(name) | Word(name) => name,
        }
    }
}

fn scaled(field: &[u8], what: &'static str, unit: u64) -> Result<u64, TraceProblem> {
    whole(field, what)?
        .checked_mul(unit)
        .ok_or(TraceProblem::TooLarge(what))
}

const READ: Option<Asked> = Some(Asked::Data(Direction::Read));
const WRITE: Option<Asked> = Some(Asked::Data(Direction::Write));

fn word(field: &[u8]) -> Option<Asked> {
    match field {
        _ if field.eq_ignore_ascii_case(b"read") => READ,
        _ if field.eq_ignore_ascii_case(b"write") => WRITE,
        _ => None,
    }
}

fn letter(field: &[u8]) -> Option<Asked> {
    match field {
        b"R" | b"r" => READ,
        b"W" | b"w" => WRITE,
        _ => None,
    }
}

/// SYSTOR '17 has requests of no type.
fn letter_or_none(field: &[u8]) -> Option<Asked> {
    if field.is_empty() {
        return Some(Asked::Nothing);
    }
    letter(field)
}

fn zero_reads(field: &[u8]) -> Option<Asked> {
    match field {
        b"0" => READ,
        b"1" => WRITE,
        _ => None,
    }
}

fn zero_writes(field: &[u8]) -> Option<Asked> {
    match field {
        b"0" => WRITE,
        b"1" => READ,
        _ => None,
    }
}

/// DiskSim's flags are hexadecimal; the lowest bit (`B_READ`) says that it reads.
fn odd_flags_read(field: &[u8]) -> Option<Asked> {
    hex(field).and_then(|flags| if flags & 1 == 1 { READ } else { WRITE })
}

/// vscsiStats writes reads and writes as words and other commands as what they are; by number they
/// are SCSI's operation codes.
fn scsi(field: &[u8]) -> Option<Asked> {
    if let Some(known) = word(field) {
        return Some(known);
    }
    let number = match field.strip_prefix(b"0x") {
        Some(digits) => hex(digits),
        None => whole(field, "").ok().and_then(|code| code.try_into().ok()),
    };
    match number {
        Some(0x08 | 0x28 | 0x88 | 0xa8) => READ,
        Some(0x0a | 0x2a | 0x8a | 0xaa) => WRITE,
        Some(0x35 | 0x91) => Some(Asked::Flush),
        Some(0..=0xff) => Some(Asked::Nothing),
        Some(_) => None,
        None => {
            let is_word = field.first().is_some_and(u8::is_ascii_alphabetic);
            is_word.then_some(Asked::Nothing)
        }
    }
}
