//! Recorded requests, read from a file line by line: fio's iologs (versions 2 and 3), the text that
//! blkparse prints, and the CSV of the MSR-Cambridge traces.
//!
//! A trace may be larger than memory: a [`Reader`] holds one line and the names of the files, and
//! [`survey`] goes through it once to say what is in it before anything is asked of a drive.
//! Invariants: a line is an event, known to be none, or an error with its number; no event is
//! dropped in silence; times never run backwards.

mod blkparse;
mod iolog;
mod msr;
mod number;
mod shape;
mod survey;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use flashtwin_base::Nanos;
use serde::Deserialize;

pub use shape::{Shape, Skip, Wanted};
pub use survey::{FileSurvey, Survey, survey};

use crate::job::Direction;

/// The longest line that can be one of a trace.
pub const MAX_LINE_BYTES: usize = 64 << 10;
/// Files or devices that one trace may name.
pub const MAX_FILES: usize = 1 << 20;

/// The kinds of trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// fio's, version 2 (pauses between requests) or 3 (a time for each).
    Iolog,
    /// What blkparse prints by default.
    Blkparse,
    /// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
    Msr,
}

/// What a request of a trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Moves or deallocates data.
    Data(Direction),
    /// What was acknowledged becomes durable.
    Flush,
    /// The same by fdatasync.
    FlushData,
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, since the first event of the trace; iologs of version 2 have such times only after
    /// their pauses.
    pub at: Nanos,
    /// Its file or device, by the order of first mention.
    pub file: u32,
    /// What it does.
    pub action: Action,
    /// First byte within its file; 0 for a flush.
    pub offset: u64,
    /// How many; 0 for a flush only.
    pub bytes: u64,
    /// A write that is acknowledged once it is on flash.
    pub fua: bool,
}

/// How a trace is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What the file is; told by its first line where this is none.
    pub format: Option<Format>,
    /// Of blkparse: the action that counts as the request. `D`, handed to the driver, is what the
    /// drive saw; `Q`, queued, is what the programs asked for.
    pub event: char,
    /// Of MSR: this disk alone.
    pub disk: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            event: 'D',
            disk: None,
        }
    }
}

/// What is wrong with a trace, and in which line, counted from 1.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// The line; 0 where the file as a whole is meant.
    pub line: u64,
    /// What is wrong.
    pub problem: TraceProblem,
}

/// What can be wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum TraceProblem {
    /// Nothing to go by.
    #[error("this is not an iolog, blkparse output or an MSR trace")]
    UnknownFormat,
    /// The file is empty.
    #[error("the trace is empty")]
    Empty,
    /// Other versions of iologs.
    #[error("an iolog of version {0}, and versions 2 and 3 are known")]
    UnknownVersion(String),
    /// Too few words.
    #[error("it ends before its {0}")]
    Missing(&'static str),
    /// Not a number.
    #[error("its {what} is `{text}`, not a whole number")]
    NotANumber {
        /// Which field.
        what: &'static str,
        /// What stands there.
        text: String,
    },
    /// Not a word that is known.
    #[error("its {what} is `{text}`, which is not known")]
    NotKnown {
        /// Which field.
        what: &'static str,
        /// What stands there.
        text: String,
    },
    /// A request of nothing.
    #[error("a request of 0 bytes")]
    NoBytes,
    /// Beyond 64 bits.
    #[error("its {0} is beyond what any drive has")]
    TooLarge(&'static str),
    /// A line without an end.
    #[error("it is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// Names without end.
    #[error("the trace names more than {MAX_FILES} files")]
    TooManyFiles,
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What a line turned out to be.
enum Line {
    /// A request, and perhaps the flush that goes before it.
    Event { flush: bool, event: Event },
    /// Known to be no request.
    Nothing,
    /// What follows is no trace any more.
    End,
}

/// A line taken apart, with all that is known of the lines before.
struct Context {
    options: Options,
    names: BTreeMap<Vec<u8>, u32>,
    /// The time of the first event, in the format's own count.
    first: Option<u64>,
    last: Nanos,
    /// Of iologs of version 3: the time of the last line, in microseconds.
    line_us: u64,
}

impl Context {
    fn file(&mut self, name: &[u8]) -> Result<u32, TraceProblem> {
        if let Some(&index) = self.names.get(name) {
            return Ok(index);
        }
        if self.names.len() >= MAX_FILES {
            return Err(TraceProblem::TooManyFiles);
        }
        let index = self.names.len() as u32;
        self.names.insert(name.to_vec(), index);
        Ok(index)
    }

    /// A time on the trace's own clock as one since its first event, never before the last.
    fn since_first(&mut self, at: u64, grain_ns: u64) -> Result<Nanos, TraceProblem> {
        let first = *self.first.get_or_insert(at);
        let grains = at.saturating_sub(first);
        let nanos = grains
            .checked_mul(grain_ns)
            .ok_or(TraceProblem::TooLarge("time"))?;
        self.last = self.last.max(Nanos(nanos));
        Ok(self.last)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Iolog { version: u8 },
    Blkparse,
    Msr,
}

/// Reads a trace event by event, a line in memory.
pub struct Reader<R> {
    source: R,
    line: Vec<u8>,
    number: u64,
    kind: Kind,
    context: Context,
    /// The request after a flush that came in the same line.
    held: Option<Event>,
    /// The line at hand was not taken apart so far.
    unread: bool,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader at the first event; the first line tells the format where the options do not.
    pub fn new(mut source: R, options: Options) -> Result<Reader<R>, TraceError> {
        let mut line = Vec::new();
        let mut number = 0;
        while number == 0 || line.iter().all(u8::is_ascii_whitespace) {
            number += 1;
            match read_line(&mut source, &mut line) {
                Ok(true) => {}
                Ok(false) => return Err(at(0, TraceProblem::Empty)),
                Err(problem) => return Err(at(number, problem)),
            }
        }
        let kind = kind_of(&line, options.format).map_err(|problem| at(number, problem))?;
        Ok(Reader {
            source,
            line,
            number,
            kind,
            context: Context {
                options,
                names: BTreeMap::new(),
                first: None,
                last: Nanos::ZERO,
                line_us: 0,
            },
            held: None,
            // The first line of an iolog says what it is; of the others it is an event already.
            unread: !matches!(kind, Kind::Iolog { .. }),
            ended: false,
        })
    }

    /// What the file is: `iolog`, `blkparse` or `msr`.
    #[must_use]
    pub fn format(&self) -> &'static str {
        match self.kind {
            Kind::Iolog { .. } => "iolog",
            Kind::Blkparse => "blkparse",
            Kind::Msr => "msr",
        }
    }

    /// The number of the line that was read last.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.number
    }

    /// The files or devices named so far, by their numbers.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.context.names.len()];
        for (name, &index) in &self.context.names {
            names[index as usize] = String::from_utf8_lossy(name).into_owned();
        }
        names
    }

    fn parsed(&mut self) -> Result<Line, TraceError> {
        let text = self.line.trim_ascii();
        let parsed = match self.kind {
            _ if text.is_empty() => Ok(Line::Nothing),
            // A process that joins the log of another begins with this line, too.
            Kind::Iolog { .. } if text.starts_with(IOLOG) => Ok(Line::Nothing),
            Kind::Iolog { version } => iolog::parse(text, version, &mut self.context),
            Kind::Blkparse => blkparse::parse(text, &mut self.context),
            Kind::Msr => msr::parse(text, &mut self.context),
        };
        parsed.map_err(|problem| at(self.number, problem))
    }

    fn read(&mut self) -> Result<bool, TraceError> {
        self.number += 1;
        read_line(&mut self.source, &mut self.line).map_err(|problem| at(self.number, problem))
    }

    fn step(&mut self) -> Result<Option<Event>, TraceError> {
        while !self.ended {
            if !std::mem::take(&mut self.unread) && !self.read()? {
                break;
            }
            match self.parsed()? {
                Line::Event {
                    flush: false,
                    event,
                } => return Ok(Some(event)),
                Line::Event { flush: true, event } => {
                    self.held = Some(event);
                    return Ok(Some(flush_before(&event)));
                }
                Line::Nothing => {}
                Line::End => break,
            }
        }
        self.ended = true;
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Result<Event, TraceError>> {
        if let Some(event) = self.held.take() {
            return Some(Ok(event));
        }
        let next = self.step();
        if next.is_err() {
            self.ended = true;
        }
        next.transpose()
    }
}

fn flush_before(event: &Event) -> Event {
    Event {
        action: Action::Flush,
        offset: 0,
        bytes: 0,
        fua: false,
        ..*event
    }
}

fn at(line: u64, problem: TraceProblem) -> TraceError {
    TraceError { line, problem }
}

/// The next line without its end; false at the end of the file.
fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, TraceProblem> {
    line.clear();
    let mut limited = source.take(MAX_LINE_BYTES as u64 + 1);
    let read = limited.read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read > MAX_LINE_BYTES {
        return Err(TraceProblem::TooLong);
    }
    Ok(read > 0)
}

/// What the first line of an iolog begins with.
const IOLOG: &[u8] = b"fio version ";

/// What the first line says of the file.
fn kind_of(line: &[u8], asked: Option<Format>) -> Result<Kind, TraceProblem> {
    let text = line.trim_ascii();
    let iolog = text.strip_prefix(IOLOG);
    match asked {
        None if iolog.is_some() => iolog_version(text),
        None if blkparse::looks_so(text) => Ok(Kind::Blkparse),
        None if msr::looks_so(text) => Ok(Kind::Msr),
        None => Err(TraceProblem::UnknownFormat),
        Some(Format::Iolog) => iolog_version(text),
        Some(Format::Blkparse) => Ok(Kind::Blkparse),
        Some(Format::Msr) => Ok(Kind::Msr),
    }
}

fn iolog_version(text: &[u8]) -> Result<Kind, TraceProblem> {
    let mut words = number::words(text);
    let first_words = (words.next(), words.next(), words.next(), words.next());
    match first_words {
        (Some(b"fio"), Some(b"version"), Some(b"2"), Some(b"iolog")) => {
            Ok(Kind::Iolog { version: 2 })
        }
        (Some(b"fio"), Some(b"version"), Some(b"3"), Some(b"iolog")) => {
            Ok(Kind::Iolog { version: 3 })
        }
        (Some(b"fio"), Some(b"version"), Some(other), _) => {
            Err(TraceProblem::UnknownVersion(number::shown(other)))
        }
        _ => Err(TraceProblem::UnknownFormat),
    }
}
