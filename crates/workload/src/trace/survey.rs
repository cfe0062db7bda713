//! What is in a trace, told before a byte of it goes to a drive.

use std::io::BufRead;

use flashtwin_base::Nanos;

use super::{Action, Options, Reader, TraceError, TraceProblem};

/// A file or device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSurvey {
    /// As the trace has it.
    pub name: String,
    /// Where its last request ends, in bytes; 0 where nothing moves data in it.
    pub end: u64,
    /// The line of that request.
    pub line: u64,
}

/// A whole trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Requests: reads, writes, trims.
    pub ios: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
    /// Flushes.
    pub flushes: u64,
    /// The time of the last request, counted from the first.
    pub span: Nanos,
    /// The longest request.
    pub longest: u64,
    /// Requests that do not begin and end at whole sectors.
    pub unaligned: u64,
    /// All files, by their numbers.
    pub files: Vec<FileSurvey>,
}

/// Reads a whole trace once. An error names the first line that is wrong; a trace without a single
/// request is one too.
pub fn survey(source: impl BufRead, options: Options) -> Result<Survey, TraceError> {
    let mut reader = Reader::new(source, options)?;
    let mut found = Survey {
        ios: [0; 3],
        bytes: [0; 3],
        flushes: 0,
        span: Nanos::ZERO,
        longest: 0,
        unaligned: 0,
        files: Vec::new(),
    };
    let mut ends: Vec<(u64, u64)> = Vec::new();
    while let Some(event) = reader.next() {
        let event = event?;
        found.span = event.at;
        let Action::Data(direction) = event.action else {
            found.flushes += 1;
            continue;
        };
        found.ios[direction as usize] += 1;
        found.bytes[direction as usize] += event.bytes;
        found.longest = found.longest.max(event.bytes);
        let whole = (event.offset | event.bytes).is_multiple_of(crate::SECTOR_BYTES);
        found.unaligned += u64::from(!whole);
        let file = event.file as usize;
        if ends.len() <= file {
            ends.resize(file + 1, (0, 0));
        }
        let end = event.offset + event.bytes;
        if end > ends[file].0 {
            ends[file] = (end, reader.line());
        }
    }
    if found.ios == [0; 3] && found.flushes == 0 {
        let problem = TraceProblem::Empty;
        return Err(TraceError { line: 0, problem });
    }
    let names = reader.files();
    ends.resize(names.len(), (0, 0));
    found.files = names
        .into_iter()
        .zip(ends)
        .map(|(name, (end, line))| FileSurvey { name, end, line })
        .collect();
    Ok(found)
}
