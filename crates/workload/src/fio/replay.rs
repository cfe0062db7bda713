//! The requests of one of fio's processes out of a trace (`read_iolog`), instead of a pattern.
//!
//! The file is read line by line as the requests are asked for, so that it may be larger than
//! memory. [`crate::trace::survey`] went through it before: what it says of the trace is held
//! against every request, for a file can change in between. A request that does not fit, or a file
//! that cannot be read any more, is an error that names the line; nothing is left out in silence.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use flashtwin_base::Nanos;
use serde::Deserialize;

use super::{FioAsk, Kind, Span, Triple};
use crate::job::{Direction, MAX_BLOCK_BYTES, MAX_TIME_NS, SECTOR_BYTES};
use crate::trace::{Action, Event, Options, Reader, Shape, TraceError};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 18;

/// What happens to a request beyond the end of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// It ends the replay with an error.
    #[default]
    Refuse,
    /// Its offset counts on from the beginning of the file.
    Wrap,
}

/// A trace that a job replays (read_iolog); its files are the job's spans, in the order of first
/// mention.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The file.
    pub path: PathBuf,
    /// How it is read.
    #[serde(default)]
    pub reading: Options,
    /// What is made of its requests.
    #[serde(default)]
    pub shape: Shape,
    /// Percent of the recorded speed; none for as fast as possible.
    #[serde(default = "recorded")]
    pub speed_percent: Option<u32>,
    /// Requests beyond the end.
    #[serde(default)]
    pub fit: Fit,
    /// Which directions it has, as its survey says.
    #[serde(default = "all")]
    pub uses: Triple<bool>,
}

#[expect(clippy::unnecessary_wraps)] // It is the default of an option.
fn recorded() -> Option<u32> {
    Some(100)
}

fn all() -> Triple<bool> {
    [true; 3]
}

/// Why a replay cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{path}{}: {problem}", line_of(*.line))]
pub struct ReplayError {
    /// The file.
    pub path: String,
    /// The line; 0 for the file as a whole.
    pub line: u64,
    /// What is wrong.
    pub problem: ReplayProblem,
}

fn line_of(line: u64) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(", line {line}")
    }
}

/// What can be wrong in the midst of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayProblem {
    /// The file, or a line.
    #[error("{0}")]
    Trace(#[from] crate::trace::TraceProblem),
    /// It has more files than its survey said.
    #[error("a file that was not in the trace when it was looked through")]
    NewFile,
    /// It has other requests than its survey said.
    #[error("a {0}, of which the trace had none when it was looked through")]
    NewDirection(&'static str),
    /// Beyond the end.
    #[error("a request that reaches to byte {end}, and its file has {bytes}")]
    PastEnd {
        /// Where it ends.
        end: u64,
        /// Where the file ends.
        bytes: u64,
    },
    /// Longer than any request may be.
    #[error("a request of {0} bytes, above the limit of {MAX_BLOCK_BYTES}")]
    TooLong(u64),
    /// Later than any time may be.
    #[error("a time of more than ten years")]
    TooLate,
}

/// One request of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Not before this, since the replay began; zero where it goes as fast as possible.
    pub at: Nanos,
    /// What it is.
    pub kind: Kind,
    /// Its place; that of a sync is of no length.
    pub ask: FioAsk,
    /// Acknowledged once it is on flash.
    pub fua: bool,
}

/// A trace that is being replayed.
pub struct Replay {
    trace: Trace,
    spans: Vec<Span>,
    reader: Option<Reader<BufReader<File>>>,
    held: Option<Replayed>,
}

impl Replay {
    /// A replay at its start. The file is opened with the first request.
    #[must_use]
    pub fn new(trace: &Trace, spans: &[Span]) -> Replay {
        Replay {
            trace: trace.clone(),
            spans: spans.to_vec(),
            reader: None,
            held: None,
        }
    }

    /// The next request, which stays the next one until it is taken; none at the end.
    pub fn peek(&mut self) -> Result<Option<Replayed>, ReplayError> {
        if self.held.is_none() {
            self.held = self.read()?;
        }
        Ok(self.held)
    }

    /// The request that was looked at is under way.
    pub fn take(&mut self) {
        self.held.take().expect("a request was looked at");
    }

    fn read(&mut self) -> Result<Option<Replayed>, ReplayError> {
        if self.reader.is_none() {
            let opened = open(&self.trace).map_err(|error| self.wrong(error))?;
            self.reader = Some(opened);
        }
        let reader = self.reader.as_mut().expect("it is open");
        for event in reader.by_ref() {
            match event {
                Err(error) => return Err(self.wrong(error)),
                Ok(event) => {
                    let Some(event) = self.trace.shape.of(event) else {
                        continue;
                    };
                    let line = self.reader.as_ref().map_or(0, Reader::line);
                    let placed = self.placed(&event);
                    return placed
                        .map(Some)
                        .map_err(|problem| self.error(line, problem));
                }
            }
        }
        Ok(None)
    }

    fn wrong(&self, TraceError { line, problem }: TraceError) -> ReplayError {
        self.error(line, problem.into())
    }

    fn error(&self, line: u64, problem: ReplayProblem) -> ReplayError {
        let path = self.trace.path.display().to_string();
        ReplayError {
            path,
            line,
            problem,
        }
    }

    fn placed(&self, event: &Event) -> Result<Replayed, ReplayProblem> {
        let at = self.time(event.at)?;
        let span = self.spans.get(event.file as usize);
        let span = span.ok_or(ReplayProblem::NewFile)?;
        let Action::Data(direction) = event.action else {
            let ask = FioAsk {
                file: event.file,
                direction: Direction::Write,
                offset: 0,
                bytes: 0,
                lba: 0,
            };
            return Ok(Replayed {
                at,
                kind: match event.action {
                    Action::FlushData => Kind::Fdatasync,
                    _ => Kind::Fsync,
                },
                ask,
                fua: false,
            });
        };
        if !self.trace.uses[direction as usize] {
            return Err(ReplayProblem::NewDirection(direction.name()));
        }
        if event.bytes > MAX_BLOCK_BYTES {
            return Err(ReplayProblem::TooLong(event.bytes));
        }
        let offset = self.fitted(event, span)?;
        let ask = FioAsk {
            file: event.file,
            direction,
            offset,
            bytes: event.bytes,
            lba: (span.start + offset) / SECTOR_BYTES,
        };
        Ok(Replayed {
            at,
            kind: Kind::Io(direction),
            ask,
            fua: event.fua,
        })
    }

    /// The offset within the file. One that wraps and would cross the end moves back to end there.
    fn fitted(&self, event: &Event, span: &Span) -> Result<u64, ReplayProblem> {
        let bytes = span.bytes / SECTOR_BYTES * SECTOR_BYTES;
        let end = event.offset.saturating_add(event.bytes);
        if end <= bytes {
            return Ok(event.offset);
        }
        if self.trace.fit == Fit::Refuse || event.bytes > bytes {
            return Err(ReplayProblem::PastEnd { end, bytes });
        }
        Ok((event.offset % bytes).min(bytes - event.bytes))
    }

    fn time(&self, at: Nanos) -> Result<Nanos, ReplayProblem> {
        let Some(percent) = self.trace.speed_percent else {
            return Ok(Nanos::ZERO);
        };
        let scaled = u128::from(at.0) * 100 / u128::from(percent);
        match u64::try_from(scaled) {
            Ok(ns) if ns <= MAX_TIME_NS => Ok(Nanos(ns)),
            _ => Err(ReplayProblem::TooLate),
        }
    }
}

fn open(trace: &Trace) -> Result<Reader<BufReader<File>>, TraceError> {
    let file = File::open(&trace.path).map_err(|error| TraceError {
        line: 0,
        problem: error.into(),
    })?;
    Reader::new(
        BufReader::with_capacity(PIECE_BYTES, file),
        trace.reading.clone(),
    )
}
