//! The kind of trace that a file is: named, or told by its first lines.

use std::collections::VecDeque;
use std::io::{BufRead, Chain, Cursor, Read as _};

use memchr::memchr2;
use serde::Deserialize;

use super::biosnoop::{self, Columns};
use super::table::{self, LAYOUTS, Layout};
use super::{
    Context, Line, MAX_LINE_BYTES, TraceError, TraceProblem, at, blkparse, blktrace, iolog, number,
    strace,
};

/// Lines that are looked at to tell a format from another one.
const TELLING: usize = 64;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The first words of an iolog.
const IOLOG: &[u8] = b"fio version ";

/// The kinds of trace; `table` says what the columns of most are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// fio's, version 2 (pauses between requests) or 3 (a time for each).
    Iolog,
    /// What blkparse prints by default.
    Blkparse,
    /// What blktrace writes, and blkparse with `-d`.
    Blktrace,
    /// The table of biosnoop.
    Biosnoop,
    /// What `strace -f -ttt -y` prints.
    Strace,
    /// MSR Cambridge.
    Msr,
    /// SYSTOR '17.
    Systor,
    /// Alibaba's block traces.
    Alibaba,
    /// Tencent's cloud block storage.
    Tencent,
    /// FIU: IODedup, SRCMap.
    Fiu,
    /// UMass: Financial, WebSearch.
    Spc,
    /// DiskSim, ASCII.
    Disksim,
    /// MQSim.
    Mqsim,
    /// VMware's vscsiStats, as text.
    Vscsi,
}

/// What a file is, and what is known of its columns.
#[derive(Clone, Copy)]
pub enum Kind {
    Iolog { version: u8 },
    Blkparse,
    Blktrace(blktrace::ByteOrder),
    Biosnoop(Columns),
    Strace,
    Table(&'static Layout),
}

impl Kind {
    /// What the options or the first lines say of a file.
    pub fn of(lines: &mut Lines<impl BufRead>, asked: Option<Format>) -> Result<Kind, TraceError> {
        if matches!(asked, None | Some(Format::Blktrace)) {
            let order = blktrace::byte_order(&lines.head).map_err(|problem| at(1, problem))?;
            if let Some(order) = order {
                lines.records = Some(order);
                return Ok(Kind::Blktrace(order));
            }
        }
        let (number, first) = lines.first()?;
        let text = first.trim_ascii().to_vec();
        let kind = match asked {
            Some(format) => Kind::named(format, &text),
            None if text.starts_with(IOLOG) => iolog_version(&text),
            None => Kind::told(&text, lines),
        };
        kind.map_err(|problem| at(number, problem))
    }

    fn named(format: Format, first: &[u8]) -> Result<Kind, TraceProblem> {
        Ok(Kind::Table(match format {
            Format::Iolog => return iolog_version(first),
            Format::Blkparse => return Ok(Kind::Blkparse),
            Format::Blktrace => return Err(TraceProblem::UnknownFormat("a trace of blktrace")),
            Format::Strace => return Ok(Kind::Strace),
            Format::Biosnoop => return Ok(Kind::Biosnoop(biosnoop::columns_or_usual(first))),
            Format::Msr => &table::MSR,
            Format::Systor => &table::SYSTOR,
            Format::Alibaba => &table::ALIBABA,
            Format::Tencent => &table::TENCENT,
            Format::Fiu => &table::FIU,
            Format::Spc => &table::SPC,
            Format::Disksim => &table::DISKSIM,
            Format::Mqsim => &table::MQSIM,
            Format::Vscsi => &table::VSCSI,
        }))
    }

    /// The only format whose lines the first ones can be.
    fn told(first: &[u8], lines: &mut Lines<impl BufRead>) -> Result<Kind, TraceProblem> {
        if blkparse::looks_so(first) {
            return Ok(Kind::Blkparse);
        }
        if strace::looks_so(first) {
            return Ok(Kind::Strace);
        }
        if let Some(columns) = biosnoop::columns(first) {
            return Ok(Kind::Biosnoop(columns));
        }
        let mut open: Vec<&'static Layout> = LAYOUTS.into_iter().collect();
        open.retain(|layout| layout.fits(first));
        if open.is_empty() && first.starts_with(b"#") {
            open = LAYOUTS.into_iter().collect();
        }
        for place in 0..TELLING {
            if open.len() < 2 {
                break;
            }
            let Some(line) = lines.ahead(place)? else {
                break;
            };
            let line = line.trim_ascii();
            // A line of none of them is a comment or is broken, and tells nothing.
            if open.iter().any(|layout| layout.fits(line)) {
                open.retain(|layout| layout.fits(line));
            }
        }
        match open[..] {
            [layout] => Ok(Kind::Table(layout)),
            // A line of none of them, or comments alone.
            _ if open.is_empty() || open.len() == LAYOUTS.len() => Err(
                TraceProblem::UnknownFormat("a trace of a kind that is known"),
            ),
            _ => {
                let readings = open.iter().map(|layout| {
                    let Layout { name, clock, .. } = layout;
                    format!("{name} ({clock})")
                });
                let readings: Vec<String> = readings.collect();
                Err(TraceProblem::Ambiguous(readings.join(" or as ")))
            }
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Kind::Iolog { .. } => "iolog",
            Kind::Blkparse => "blkparse",
            Kind::Blktrace(_) => "blktrace",
            Kind::Strace => "strace",
            Kind::Biosnoop(_) => "biosnoop",
            Kind::Table(layout) => layout.name,
        }
    }

    /// A line, or a record of blktrace.
    pub fn parse(&self, line: &[u8], context: &mut Context) -> Result<Line, TraceProblem> {
        let text = line.trim_ascii();
        match self {
            Kind::Blktrace(order) => blktrace::parse(line, *order, context),
            _ if text.is_empty() => Ok(Line::Nothing),
            // The first line says what the file is. A process that joins the log of another begins
            // with this line, too.
            Kind::Iolog { .. } if text.starts_with(IOLOG) => Ok(Line::Nothing),
            Kind::Iolog { version } => iolog::parse(text, *version, context),
            Kind::Blkparse => blkparse::parse(text, context),
            Kind::Strace => strace::parse(text, context),
            Kind::Biosnoop(columns) => biosnoop::parse(text, columns, context),
            Kind::Table(layout) => layout.parse(text, context),
        }
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
        _ => Err(TraceProblem::UnknownFormat("an iolog")),
    }
}

/// The lines of a file, some of which may be looked at ahead, or its records.
///
/// A line that lies in the source's buffer as a whole is given out where it lies, and the source
/// goes on behind it when the next one is asked for.
pub struct Lines<R> {
    source: Chain<Cursor<Vec<u8>>, R>,
    /// The bytes that the file begins with, which are read with its first line.
    head: Vec<u8>,
    /// The file has records instead, in this byte order.
    records: Option<blktrace::ByteOrder>,
    line: Vec<u8>,
    /// Bytes of the buffer that the line at hand takes, with its end; 0 where it was copied.
    lent: usize,
    number: u64,
    ahead: VecDeque<Vec<u8>>,
    /// The last line of the file, where nothing ends it.
    unended: Option<u64>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(mut source: R) -> Result<Lines<R>, TraceError> {
        let mut head = Vec::new();
        let first = source.by_ref().take(blktrace::HEAD_BYTES as u64);
        let read = { first }.read_to_end(&mut head);
        read.map_err(|error| at(1, error.into()))?;
        Ok(Lines {
            source: Cursor::new(head.clone()).chain(source),
            head,
            records: None,
            line: Vec::new(),
            lent: 0,
            number: 0,
            ahead: VecDeque::new(),
            unended: None,
        })
    }

    /// The next line and its number, counted from 1; none at the end of the file.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, TraceError> {
        self.number += 1;
        let number = self.number;
        if let Some(line) = self.ahead.pop_front() {
            self.line = line;
            return Ok(Some((number, &self.line)));
        }
        let failed = |problem| at(number, problem);
        if let Some(order) = self.records {
            let is_there = blktrace::read(&mut self.source, order, &mut self.line);
            return Ok(is_there.map_err(failed)?.then_some((number, &self.line)));
        }
        self.source.consume(std::mem::take(&mut self.lent));
        let lent = line_within(
            self.source
                .fill_buf()
                .map_err(|error| at(number, error.into()))?,
        );
        if let Some((length, with_end)) = lent.filter(|(length, _)| *length <= MAX_LINE_BYTES) {
            self.lent = with_end;
            let piece = self
                .source
                .fill_buf()
                .map_err(|error| at(number, error.into()))?;
            return Ok(Some((number, &piece[..length])));
        }
        let read = read_line(&mut self.source, &mut self.line).map_err(failed)?;
        self.unended = self.unended.or((read == Read::Unended).then_some(number));
        Ok((read != Read::Nothing).then_some((number, &self.line)))
    }

    /// The number of the last line, where the file ends without ending it.
    pub fn unended(&self) -> Option<u64> {
        self.unended
    }

    /// The first line that is not empty, which is still the next one then.
    fn first(&mut self) -> Result<(u64, &[u8]), TraceError> {
        loop {
            let mut line = Vec::new();
            let number = self.number + 1;
            match read_line(&mut self.source, &mut line) {
                Ok(Read::Whole) => {}
                Ok(Read::Unended) => self.unended = Some(number),
                Ok(Read::Nothing) => return Err(at(0, TraceProblem::Empty)),
                Err(problem) => return Err(at(number, problem)),
            }
            // Programs of Windows put a mark of their encoding first.
            if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                self.ahead.push_back(line);
                return Ok((number, &self.ahead[0]));
            }
            self.number = number;
        }
    }

    /// A line behind the next one; none behind the end.
    fn ahead(&mut self, place: usize) -> Result<Option<&[u8]>, TraceProblem> {
        while self.ahead.len() <= place {
            let mut line = Vec::new();
            match read_line(&mut self.source, &mut line)? {
                Read::Whole => {}
                Read::Unended => self.unended = Some(self.number + self.ahead.len() as u64 + 1),
                Read::Nothing => return Ok(None),
            }
            self.ahead.push_back(line);
        }
        Ok(Some(&self.ahead[place]))
    }
}

/// The bytes of the line that a piece begins with, without and with its end; none where the piece
/// may end within it.
fn line_within(piece: &[u8]) -> Option<(usize, usize)> {
    let end = memchr2(b'\n', b'\r', piece)?;
    if piece[end] == b'\n' {
        return Some((end, end + 1));
    }
    let next = piece.get(end + 1)?;
    Some((end, end + 1 + usize::from(*next == b'\n')))
}

/// What a source had to give: a line, one that the file ends within, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    Unended,
    Nothing,
}

/// The next line without its end, which is LF, CR or both.
fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Read, TraceProblem> {
    line.clear();
    loop {
        let piece = source.fill_buf()?;
        if piece.is_empty() {
            return Ok(if line.is_empty() {
                Read::Nothing
            } else {
                Read::Unended
            });
        }
        let end = memchr2(b'\n', b'\r', piece);
        let length = end.unwrap_or(piece.len());
        if line.len() + length > MAX_LINE_BYTES {
            return Err(TraceProblem::TooLong);
        }
        line.extend_from_slice(&piece[..length]);
        let is_return = end.is_some_and(|end| piece[end] == b'\r');
        source.consume(length + usize::from(end.is_some()));
        if is_return && source.fill_buf()?.first() == Some(&b'\n') {
            source.consume(1);
        }
        if end.is_some() {
            return Ok(Read::Whole);
        }
    }
}
