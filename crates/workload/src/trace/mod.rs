//! Recorded requests, read from a file line by line: fio's iologs (versions 2 and 3), the text that
//! blkparse prints, the table of biosnoop, the calls that strace prints, and traces with fixed
//! columns (see [`table`]); or record by record, as blktrace writes them. A record is numbered, and
//! told of, as a line.
//!
//! A trace may be larger than memory: a [`Reader`] holds a line, the names of the files and a
//! bounded window of requests that are put in order, and [`survey`] goes through it once to say
//! what is in it before anything is asked of a drive; [`profile()`] says how it loads one.
//! Invariants: a line is an event, known to be none, or an error with its number; no event is
//! dropped in silence; times never run backwards.

mod biosnoop;
mod blkparse;
mod blktrace;
mod iolog;
mod kind;
mod number;
mod order;
pub mod profile;
mod shape;
mod strace;
mod survey;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use flashtwin_base::Nanos;
use serde::Deserialize;

pub use kind::Format;
pub use shape::{Shape, Skip, Wanted};
pub use survey::{FileSurvey, Survey, profile, survey};

use crate::job::Direction;
use kind::{Kind, Lines};
use order::Order;

/// The longest line that can be one of a trace.
pub const MAX_LINE_BYTES: usize = 64 << 10;
/// Files or devices that one trace may name.
pub const MAX_FILES: usize = 1 << 20;
const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
/// Disks that a message lists where the one that was asked for is not there.
const MOST_LISTED: usize = 16;

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
    /// When, since the earliest event of the trace; iologs of version 2 have such times only after
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
    /// Of blkparse and biosnoop: the action that counts as the request. `D`, handed to the driver,
    /// is what the drive saw; `Q`, queued, is what the programs asked for.
    pub event: char,
    /// This disk alone, by its name or, where a host stands before it, by what follows the dot.
    pub disk: Option<String>,
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
    #[error("this is not {0}")]
    UnknownFormat(&'static str),
    /// Its lines are those of several formats.
    #[error("it can be read as {0}")]
    Ambiguous(String),
    /// The disk that was asked for.
    #[error("the trace has no disk {asked}, but {there}")]
    NoSuchDisk {
        /// As it was asked for.
        asked: String,
        /// Those that are there.
        there: String,
    },
    /// The file is empty.
    #[error("the trace is empty")]
    Empty,
    /// Of blkparse: it has lines of other actions than the one that counts.
    #[error("the trace has no event {asked}, but {there}")]
    NoSuchEvent {
        /// As it was asked for.
        asked: char,
        /// Those that are there.
        there: String,
    },
    /// Other versions of iologs.
    #[error("an iolog of version {0}, and versions 2 and 3 are known")]
    UnknownVersion(String),
    /// Other versions of blktrace.
    #[error("records of version {0}, and version 7 is known")]
    OtherRecords(u32),
    /// A file that was cut.
    #[error("this record has {bytes} bytes, and {there} of them are there")]
    CutRecord {
        /// Up to the end of the file.
        there: u64,
        /// With what follows it.
        bytes: u64,
    },
    /// What stands where a record should begin.
    #[error("no record of blktrace begins here, in the byte order of the first one")]
    NoRecord,
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
    /// Beside the other lines a time that no recording spans: one that was cut off, for example.
    #[error("its time lies {} years from that of line {before}", .apart.0 / YEAR_NS)]
    FarOff {
        /// The line of the request before it.
        before: u64,
        /// Between both.
        apart: Nanos,
    },
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

/// What is known of the lines before the one at hand.
#[derive(Default)]
struct Context {
    options: Options,
    names: BTreeMap<Vec<u8>, u32>,
    /// The file or disk of the line at hand.
    name: Vec<u8>,
    /// Some of the disks that were not asked for.
    others: BTreeSet<Vec<u8>>,
    /// The actions of lines that do not count as requests.
    actions: BTreeSet<u8>,
    /// A line of a request was there.
    began: bool,
    /// Lines that ask for nothing: no bytes, or a kind that moves no data.
    left_out: u64,
    /// Of iologs: the time of the last line, since the first.
    last: Nanos,
    /// Of iologs of version 3: the time of the last line, in microseconds.
    line_us: u64,
    /// Of iologs: a line since the last request has an earlier time than the one before it.
    goes_back: bool,
    /// Of strace.
    processes: strace::Processes,
}

impl Context {
    fn set_name(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
    }

    /// The number of the file or disk whose name was set; none where another one was asked for.
    fn named_file(&mut self) -> Result<Option<u32>, TraceProblem> {
        if let Some(&index) = self.names.get(&self.name) {
            return Ok(Some(index));
        }
        if !self.is_asked_for() {
            if self.others.len() < MOST_LISTED && !self.others.contains(&self.name) {
                self.others.insert(self.name.clone());
            }
            return Ok(None);
        }
        if self.names.len() >= MAX_FILES {
            return Err(TraceProblem::TooManyFiles);
        }
        let index = self.names.len() as u32;
        self.names.insert(self.name.clone(), index);
        Ok(Some(index))
    }

    /// The line at hand asks for nothing.
    fn leave_out(&mut self) -> Line {
        self.left_out += u64::from(self.is_asked_for());
        Line::Nothing
    }

    fn is_asked_for(&self) -> bool {
        let Some(asked) = &self.options.disk else {
            return true;
        };
        let behind_host = self.name.strip_suffix(asked.as_bytes());
        behind_host.is_some_and(|host| host.is_empty() || host.ends_with(b"."))
    }
}

/// Requests whose time is before that of the request before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many there are.
    pub count: u64,
    /// The line of the first one; 0 where there is none.
    pub line: u64,
}

impl Earlier {
    fn add(&mut self, line: u64) {
        self.count += 1;
        if self.count == 1 {
            self.line = line;
        }
    }
}

/// Reads a trace event by event.
pub struct Reader<R> {
    lines: Lines<R>,
    kind: Kind,
    context: Context,
    order: Order,
    /// The line of the event that was given out last.
    line: u64,
    /// The line and the time of the event that was read last.
    before: Option<(u64, Nanos)>,
    earlier: Earlier,
    ended: bool,
    /// An error that comes after the events before it.
    failed: Option<TraceError>,
}

impl<R: BufRead> Reader<R> {
    /// A reader at the first event; the first lines tell the format where the options do not.
    pub fn new(source: R, options: Options) -> Result<Reader<R>, TraceError> {
        let mut lines = Lines::new(source)?;
        let kind = Kind::of(&mut lines, options.format)?;
        // Times of iologs count from their beginning.
        let (order, before) = match kind {
            Kind::Iolog { .. } => (Order::as_they_come(), Some((1, Nanos::ZERO))),
            _ => (Order::by_time(), None),
        };
        Ok(Reader {
            lines,
            kind,
            context: Context {
                options,
                ..Context::default()
            },
            order,
            line: 0,
            before,
            earlier: Earlier::default(),
            ended: false,
            failed: None,
        })
    }

    /// What the file is, as `--trace-format` spells it.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.kind.name()
    }

    /// The number of the line of the event that was read last.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Lines so far that ask for nothing: of no bytes, or of a kind that moves no data.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.context.left_out
    }

    /// Events so far that stood too far behind their place to be put in order.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.order.late()
    }

    /// Requests so far whose time is before that of the request before them.
    #[must_use]
    pub fn earlier(&self) -> Earlier {
        self.earlier
    }

    /// The last line, where the file ends without ending it.
    #[must_use]
    pub fn unended(&self) -> Option<u64> {
        self.lines.unended()
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

    /// Why there is not one event: a disk that is not there, or nothing at all.
    fn nothing(&self) -> TraceProblem {
        let Context {
            options,
            others,
            actions,
            began,
            ..
        } = &self.context;
        match &options.disk {
            Some(asked) if !others.is_empty() => {
                let names = others.iter().map(|name| number::shown(name));
                let mut names: Vec<String> = names.collect();
                if names.len() == MOST_LISTED {
                    names.push("others".into());
                }
                TraceProblem::NoSuchDisk {
                    asked: asked.clone(),
                    there: names.join(", "),
                }
            }
            _ if !began && !actions.is_empty() => {
                let letters = actions.iter().map(|&action| char::from(action).to_string());
                TraceProblem::NoSuchEvent {
                    asked: options.event,
                    there: letters.collect::<Vec<_>>().join(", "),
                }
            }
            _ => TraceProblem::Empty,
        }
    }

    /// Reads lines until as many events are there as may be held back to be put in order.
    fn fill(&mut self) -> Result<(), TraceError> {
        while !self.ended && !self.order.is_full() {
            let Some((number, text)) = self.lines.next()? else {
                self.ended = true;
                break;
            };
            let parsed = self.kind.parse(text, &mut self.context);
            match parsed.map_err(|problem| at(number, problem))? {
                Line::Event { flush, event } => {
                    let before = self.before.replace((number, event.at));
                    let goes_back = std::mem::take(&mut self.context.goes_back);
                    if goes_back || before.is_some_and(|(_, earlier)| event.at < earlier) {
                        self.earlier.add(number);
                    }
                    check_time(event.at, before).map_err(|problem| at(number, problem))?;
                    if flush {
                        self.order.put(number, flush_before(&event));
                    }
                    self.order.put(number, event);
                }
                Line::Nothing => {}
                Line::End => self.ended = true,
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Result<Event, TraceError>> {
        if let Err(error) = self.fill() {
            self.failed = Some(error);
            self.ended = true;
        }
        if let Some((line, event)) = self.order.take() {
            self.line = line;
            return Some(Ok(event));
        }
        self.failed.take().map(Err)
    }
}

/// Refuses a time that is a year or more from the one before it.
fn check_time(now: Nanos, before: Option<(u64, Nanos)>) -> Result<(), TraceProblem> {
    let Some((before, earlier)) = before else {
        return Ok(());
    };
    let apart = Nanos(now.0.abs_diff(earlier.0));
    if apart.0 < YEAR_NS {
        return Ok(());
    }
    Err(TraceProblem::FarOff { before, apart })
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
