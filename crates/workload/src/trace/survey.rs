//! What is in a trace, told before a byte of it goes to a drive.

use std::io::BufRead;

use flashtwin_base::Nanos;

use super::profile::{Profile, Profiler};
use super::{Action, Earlier, Event, Options, Reader, Shape, TraceError};
use crate::job::SECTOR_BYTES;

/// A file or device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSurvey {
    /// As the trace has it.
    pub name: String,
    /// Where its furthest request ends, in bytes of whole sectors; 0 where nothing moves data.
    pub end: u64,
    /// The line of that request.
    pub line: u64,
    /// Its longest request, in bytes.
    pub longest: u64,
}

/// A whole trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// What it is, as `--trace-format` spells it.
    pub format: &'static str,
    /// Requests: reads, writes, trims.
    pub ios: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
    /// Flushes.
    pub flushes: u64,
    /// The time of the last request, counted from the first.
    pub span: Nanos,
    /// The longest of them, in bytes.
    pub longest: [u64; 3],
    /// Requests that do not begin and end at whole sectors.
    pub unaligned: u64,
    /// Lines that ask for nothing: of no bytes, or of a kind that moves no data.
    pub left_out: u64,
    /// Requests that stood too far behind their place to be put in order.
    pub late: u64,
    /// Requests whose time is before that of the request before them, and the line of the first.
    pub earlier: Earlier,
    /// The last line, where the file ends without ending it, as one that was cut does.
    pub unended: Option<u64>,
    /// All files, by their numbers.
    pub files: Vec<FileSurvey>,
}

/// Reads a whole trace once; what it says is of the requests in their shape. An error names the
/// first line that is wrong; a trace without a single request is one too.
pub fn survey(source: impl BufRead, options: Options, shape: &Shape) -> Result<Survey, TraceError> {
    read_through(source, options, shape, |_| {})
}

/// Reads a whole trace once and says how it loads a drive too.
pub fn profile(
    source: impl BufRead,
    options: Options,
    shape: &Shape,
) -> Result<(Survey, Profile), TraceError> {
    let mut profiler = Profiler::default();
    let survey = read_through(source, options, shape, |event| profiler.add(event))?;
    Ok((survey, profiler.end()))
}

/// Reads a whole trace and hands on each request in its shape.
fn read_through(
    source: impl BufRead,
    options: Options,
    shape: &Shape,
    mut hear: impl FnMut(&Event),
) -> Result<Survey, TraceError> {
    let mut reader = Reader::new(source, options)?;
    let mut survey = Survey {
        format: reader.format(),
        ios: [0; 3],
        bytes: [0; 3],
        flushes: 0,
        span: Nanos::ZERO,
        longest: [0; 3],
        unaligned: 0,
        left_out: 0,
        late: 0,
        earlier: Earlier::default(),
        unended: None,
        files: Vec::new(),
    };
    let mut ends: Vec<(u64, u64, u64)> = Vec::new();
    while let Some(event) = reader.next() {
        let raw = event?;
        let Some(event) = shape.of(raw) else {
            continue;
        };
        hear(&event);
        survey.span = event.at;
        let Action::Data(direction) = event.action else {
            survey.flushes += 1;
            continue;
        };
        survey.ios[direction as usize] += 1;
        survey.bytes[direction as usize] += event.bytes;
        let longest = &mut survey.longest[direction as usize];
        *longest = event.bytes.max(*longest);
        survey.unaligned += u64::from(!shape.is_whole(&raw));
        let file = event.file as usize;
        if ends.len() <= file {
            ends.resize(file + 1, (0, 0, 0));
        }
        let end = (event.offset + event.bytes).checked_next_multiple_of(SECTOR_BYTES);
        let end = end.unwrap_or(u64::MAX);
        let (furthest, line, longest) = &mut ends[file];
        *longest = event.bytes.max(*longest);
        if end > *furthest {
            (*furthest, *line) = (end, reader.line());
        }
    }
    if survey.ios == [0; 3] && survey.flushes == 0 {
        let problem = reader.nothing();
        return Err(TraceError { line: 0, problem });
    }
    (survey.left_out, survey.late) = (reader.left_out(), reader.late());
    (survey.earlier, survey.unended) = (reader.earlier(), reader.unended());
    let names = reader.files();
    ends.resize(names.len(), (0, 0, 0));
    survey.files = names
        .into_iter()
        .zip(ends)
        .map(|(name, (end, line, longest))| FileSurvey {
            name,
            end,
            line,
            longest,
        })
        .collect();
    Ok(survey)
}
