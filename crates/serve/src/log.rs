//! The log of a drive: what was asked of it since it was made, as lines of JSON, and what it bore.
//!
//! The first line is its caller's and says which drive it is. Then comes a line for each request
//! that the drive was given, each fault and each cut, with the drive's own time; the last line of a
//! batch says how far the drive had come, and what stands after it was never answered. The bytes
//! that were written stand in a file beside it, in their order. The drive that was made the same
//! way is asked the same at the same instants by [`replay`], which leads to the same data at each
//! cut, to the byte: nothing in a drive depends on a clock.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use flashtwin_base::{Device, Nanos, Op};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::disk::{Answer, Ask, Disk, SECTOR_BYTES};
use crate::faults::Fault;

/// Longest line but the first.
const LINE_BYTES: u64 = 4096;
/// Longest first line, which may hold a spec.
pub const HEADER_BYTES: u64 = 1 << 20;
/// Bytes of the longest request that moves data.
const MOST_BYTES: u64 = 1 << 20;
/// Bytes of a digest that are kept.
const DIGEST_BYTES: usize = 16;
/// Batches after which the watch is asked.
const WATCHED: u64 = 1024;
/// Bytes of an image that are read at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Why a log cannot be written or replayed.
#[derive(Debug, Error)]
pub enum LogError {
    /// The system refused.
    #[error("{place}: {error}")]
    Io {
        /// The file.
        place: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A line is not what a server writes.
    #[error("line {line} of {place} {why}")]
    Damaged {
        /// The log.
        place: PathBuf,
        /// Which line, from 1 on.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// It ends before the cut.
    #[error("{place} tells of {there} power cuts, and none has the number {asked}")]
    NoSuchCut {
        /// The log.
        place: PathBuf,
        /// How many it tells of.
        there: u64,
        /// Which was asked for.
        asked: u64,
    },
    /// The watch had enough.
    #[error("the replay was interrupted")]
    Interrupted,
}

fn io_at(place: &Path) -> impl Fn(io::Error) -> LogError {
    move |error| LogError::Io {
        place: place.to_owned(),
        error,
    }
}

/// The file with the bytes that a log's drive was given.
#[must_use]
pub fn bytes_beside(log: &Path) -> PathBuf {
    let mut name = OsString::from(log);
    name.push(".bytes");
    name.into()
}

/// A log that is written.
#[derive(Debug)]
pub struct Log {
    lines: File,
    bytes: Option<BufWriter<File>>,
    batch: String,
}

impl Log {
    /// Begins a log, with a first line that its caller understands. `with_bytes` keeps what is
    /// written too.
    ///
    /// # Errors
    /// As the system has it; a file that is there already is left alone.
    pub fn begin(path: &Path, header: &str, with_bytes: bool) -> Result<Log, LogError> {
        let made = |path: &Path| {
            let mut options = OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600).open(path);
            file.map_err(io_at(path))
        };
        let mut lines = made(path)?;
        let bytes = with_bytes.then(|| made(&bytes_beside(path))).transpose()?;
        writeln!(lines, "{header}").map_err(io_at(path))?;
        Ok(Log {
            lines,
            bytes: bytes.map(|file| BufWriter::with_capacity(1 << 20, file)),
            batch: String::new(),
        })
    }

    /// The drive is asked for something.
    pub(crate) fn asked(&mut self, at: Nanos, tag: u32, ask: &Ask) -> io::Result<()> {
        let kind = match (ask.op, &ask.data) {
            (Op::Write, None) => "zeroes",
            (Op::Write, Some(_)) => "write",
            (Op::Read, _) => "read",
            (Op::Trim, _) => "trim",
            (Op::Flush, _) => "flush",
        };
        let _ = write!(
            self.batch,
            r#"{{"at_ns":{},"ask":"{kind}","tag":{tag},"offset":{},"length":{},"fua":{}"#,
            at.0, ask.offset, ask.length, ask.fua
        );
        if let (Op::Write, Some(data)) = (ask.op, &ask.data) {
            let _ = write!(self.batch, r#","sha256":"{}""#, digest(data));
            if let Some(bytes) = &mut self.bytes {
                bytes.write_all(data)?;
            }
        }
        self.batch.push_str("}\n");
        Ok(())
    }

    /// Something in the drive breaks.
    pub(crate) fn broke(&mut self, at: Nanos, fault: Fault) {
        let (kind, which, amount) = fault.numbers();
        let _ = writeln!(
            self.batch,
            r#"{{"at_ns":{},"broke":{kind},"which":{which},"amount":{amount}}}"#,
            at.0
        );
    }

    /// The power goes.
    pub(crate) fn cut(&mut self, at: Nanos, off: Nanos, seed: u32) {
        let (at, off) = (at.0, off.0);
        let _ = writeln!(
            self.batch,
            r#"{{"at_ns":{at},"cut":true,"off_ns":{off},"seed":{seed}}}"#
        );
    }

    /// The batch ends. It is in the system's hands before anything of it is answered.
    pub(crate) fn reached(&mut self, at: Nanos) -> io::Result<()> {
        if let Some(bytes) = &mut self.bytes {
            bytes.flush()?;
        }
        let _ = writeln!(self.batch, r#"{{"at_ns":{},"reached":true}}"#, at.0);
        self.lines.write_all(self.batch.as_bytes())?;
        self.batch.clear();
        Ok(())
    }

    /// The drive is no longer served, and was not cut.
    pub(crate) fn ended(&mut self, at: Nanos) -> io::Result<()> {
        let _ = writeln!(self.batch, r#"{{"at_ns":{},"ended":true}}"#, at.0);
        self.reached(at)
    }
}

fn digest(data: &[u8]) -> String {
    let mut text = String::with_capacity(2 * DIGEST_BYTES);
    for byte in &Sha256::digest(data)[..DIGEST_BYTES] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A line of a log but the first.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Asked {
        tag: u32,
        op: Op,
        offset: u64,
        length: u64,
        fua: bool,
        /// Of what was written; zeros have none.
        sha256: Option<String>,
    },
    Broke(Fault),
    Cut {
        off: Nanos,
        seed: u32,
    },
    Reached,
    Ended,
}

impl Line {
    /// The instant of a line and what happened then; none where it is not as [`Log`] writes it.
    fn parse(text: &str) -> Option<(Nanos, Line)> {
        let value: Value = serde_json::from_str(text).ok()?;
        let whole = |name: &str| value.get(name).and_then(Value::as_u64);
        let narrow = |name: &str| whole(name).and_then(|number| u32::try_from(number).ok());
        let is = |name: &str| value.get(name).and_then(Value::as_bool);
        let line = if let Some(kind) = value.get("ask").and_then(Value::as_str) {
            let (op, bears) = match kind {
                "read" => (Op::Read, false),
                "write" => (Op::Write, true),
                "zeroes" => (Op::Write, false),
                "trim" => (Op::Trim, false),
                "flush" => (Op::Flush, false),
                _ => return None,
            };
            let sha256 = value.get("sha256").and_then(Value::as_str);
            if sha256.is_some() != bears {
                return None;
            }
            Line::Asked {
                tag: narrow("tag")?,
                op,
                offset: whole("offset")?,
                length: whole("length")?,
                fua: is("fua")?,
                sha256: sha256.map(str::to_owned),
            }
        } else if let Some(kind) = whole("broke") {
            let (kind, amount) = (u8::try_from(kind).ok()?, narrow("amount")?);
            Line::Broke(Fault::of(kind, whole("which")?, amount)?)
        } else if is("cut").is_some() {
            Line::Cut {
                off: Nanos(whole("off_ns")?),
                seed: narrow("seed")?,
            }
        } else if is("reached").is_some() {
            Line::Reached
        } else {
            is("ended")?;
            Line::Ended
        };
        Some((Nanos(whole("at_ns")?), line))
    }
}

/// What a replay came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Requests, by kind: reads, writes, trims, flushes.
    pub asked: [u64; 4],
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that were under way at the last cut.
    pub broken_off: u64,
    /// Power cuts.
    pub cuts: u64,
    /// When it ended, by the drive's time.
    pub at: Nanos,
    /// How long the drive took for its last start.
    pub start: Nanos,
}

/// Asks a drive, made as the log's was, for all that the log tells of, up to the cut of a number,
/// or else to the log's end. Where the log ends as a killed server leaves it, a cut follows. The
/// `watch` is asked from time to time, until it answers false.
///
/// # Errors
/// When the log is not what a server wrote, or ends before the cut.
pub fn replay(
    disk: &mut Disk,
    log: &Path,
    until_cut: Option<u64>,
    mut watch: impl FnMut(Nanos) -> bool,
) -> Result<Replayed, LogError> {
    let mut reader = Reader::open(log)?;
    let mut player = Player {
        disk,
        answers: Vec::new(),
        replayed: Replayed::default(),
    };
    let mut has_ended = false;
    let mut batches = 0;
    while let Some(batch) = reader.batch()? {
        for (number, at, line, data) in batch {
            has_ended |= line == Line::Ended;
            player.play(at, line, data).map_err(|why| match why {
                Wrong::Line(why) => reader.damaged(number, why),
                Wrong::System(error) => io_at(log)(error),
            })?;
            if until_cut.is_some_and(|cut| player.replayed.cuts == cut) {
                return Ok(player.end());
            }
        }
        batches += 1;
        if batches % WATCHED == 0 && !watch(player.disk.drive().now()) {
            return Err(LogError::Interrupted);
        }
    }
    if let Some(asked) = until_cut {
        return Err(LogError::NoSuchCut {
            place: log.to_owned(),
            there: player.replayed.cuts,
            asked,
        });
    }
    if !has_ended && !player.disk.is_dead() {
        player.lose_power().map_err(io_at(log))?;
    }
    Ok(player.end())
}

enum Wrong {
    Line(&'static str),
    System(io::Error),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Wrong {
        Wrong::System(error)
    }
}

struct Player<'a> {
    disk: &'a mut Disk,
    answers: Vec<Answer>,
    replayed: Replayed,
}

impl Player<'_> {
    fn play(&mut self, at: Nanos, line: Line, data: Option<Vec<u8>>) -> Result<(), Wrong> {
        if at < self.disk.drive().now() {
            return Err(Wrong::Line("lies before the line before it"));
        }
        if self.disk.is_dead() {
            return match line {
                Line::Reached | Line::Ended => Ok(()),
                _ => Err(Wrong::Line("asks a drive that does not come back")),
            };
        }
        match line {
            Line::Asked {
                tag,
                op,
                offset,
                length,
                fua,
                ..
            } => {
                let ask = Ask {
                    op,
                    offset,
                    length,
                    fua,
                    data,
                };
                self.ask(at, tag, ask)
            }
            Line::Broke(fault) => {
                self.catch_up(at)?;
                let broken = self.disk.break_down(fault);
                broken.map_err(|_| Wrong::Line("breaks what the drive does not have"))
            }
            Line::Cut { off, seed } => {
                self.catch_up(at)?;
                self.replayed.broken_off = self.under_way();
                self.replayed.start = self.disk.cut(at, off, seed)?;
                self.replayed.cuts += 1;
                Ok(())
            }
            Line::Reached | Line::Ended => {
                self.disk.advance(at, &mut self.answers)?;
                self.hear();
                Ok(self.disk.commit()?)
            }
        }
    }

    fn ask(&mut self, at: Nanos, tag: u32, ask: Ask) -> Result<(), Wrong> {
        let capacity = self.disk.drive().capacity_bytes();
        let end = ask.offset.checked_add(ask.length);
        let within = end.is_some_and(|end| end <= capacity);
        let sectors = ask.offset.is_multiple_of(SECTOR_BYTES)
            && ask.length.is_multiple_of(SECTOR_BYTES)
            && ((ask.length == 0) == (ask.op == Op::Flush));
        let short = ask.op == Op::Trim || ask.length <= MOST_BYTES;
        if !(within && sectors && short) {
            return Err(Wrong::Line("asks for what the drive does not have"));
        }
        self.catch_up(at)?;
        if !self.disk.is_free(tag) {
            return Err(Wrong::Line("takes a tag that is taken or is none"));
        }
        self.replayed.asked[ask.op as usize] += 1;
        Ok(self.disk.submit(tag, ask)?)
    }

    /// Comes to a later instant, and takes what was answered by then. What is due at the present
    /// instant waits, as it did.
    fn catch_up(&mut self, at: Nanos) -> io::Result<()> {
        self.disk.catch_up_to(at, &mut self.answers)?;
        self.hear();
        Ok(())
    }

    fn hear(&mut self) {
        self.replayed.answered += self.answers.len() as u64;
        self.answers.clear();
    }

    fn under_way(&self) -> u64 {
        let tags = 0..self.disk.depth() as u32;
        tags.filter(|&tag| !self.disk.is_free(tag)).count() as u64
    }

    /// As a server that was killed leaves the drive.
    fn lose_power(&mut self) -> io::Result<()> {
        self.replayed.broken_off = self.under_way();
        self.replayed.start = self.disk.lose_power()?;
        self.replayed.cuts += 1;
        Ok(())
    }

    fn end(mut self) -> Replayed {
        self.replayed.at = self.disk.drive().now();
        self.replayed
    }
}

type Entry = (u64, Nanos, Line, Option<Vec<u8>>);

struct Reader {
    place: PathBuf,
    lines: BufReader<File>,
    number: u64,
    bytes: Option<BufReader<File>>,
}

impl Reader {
    fn open(place: &Path) -> Result<Reader, LogError> {
        let lines = BufReader::new(File::open(place).map_err(io_at(place))?);
        let beside = bytes_beside(place);
        let bytes = match File::open(&beside) {
            Ok(file) => Some(BufReader::with_capacity(1 << 20, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_at(&beside)(error)),
        };
        let place = place.to_owned();
        let mut reader = Reader {
            place,
            lines,
            number: 0,
            bytes,
        };
        reader.line(HEADER_BYTES)?;
        Ok(reader)
    }

    fn damaged(&self, line: u64, why: impl Into<String>) -> LogError {
        LogError::Damaged {
            place: self.place.clone(),
            line,
            why: why.into(),
        }
    }

    /// The next whole line; none at the end, and where the last line is cut off.
    fn line(&mut self, most: u64) -> Result<Option<String>, LogError> {
        let mut text = Vec::new();
        let mut limited = (&mut self.lines).take(most);
        let read = limited.read_until(b'\n', &mut text);
        read.map_err(io_at(&self.place))?;
        self.number += 1;
        if text.pop() != Some(b'\n') {
            let whole = (text.len() as u64) < most.saturating_sub(1);
            let too_long = self.damaged(self.number, "is too long");
            return if whole { Ok(None) } else { Err(too_long) };
        }
        let wrong = |_| self.damaged(self.number, "is not UTF-8");
        String::from_utf8(text).map(Some).map_err(wrong)
    }

    /// The lines of the next batch; none where no whole one follows.
    fn batch(&mut self) -> Result<Option<Vec<Entry>>, LogError> {
        let mut batch = Vec::new();
        while let Some(text) = self.line(LINE_BYTES)? {
            let number = self.number;
            let Some((at, line)) = Line::parse(&text) else {
                return Err(self.damaged(number, "is none of a drive's log"));
            };
            let data = match &line {
                Line::Asked {
                    length,
                    sha256: Some(sha256),
                    ..
                } => Some(self.data(*length, sha256)?),
                _ => None,
            };
            let ends = line == Line::Reached;
            batch.push((number, at, line, data));
            if ends {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn data(&mut self, length: u64, sha256: &str) -> Result<Vec<u8>, LogError> {
        let place = bytes_beside(&self.place);
        let Some(bytes) = self.bytes.as_mut().filter(|_| length <= MOST_BYTES) else {
            return Err(self.damaged(self.number, "writes bytes that were not kept"));
        };
        let mut data = vec![0; length as usize];
        bytes.read_exact(&mut data).map_err(io_at(&place))?;
        if digest(&data) != sha256 {
            return Err(self.damaged(self.number, "has the hash of other bytes"));
        }
        Ok(data)
    }
}

/// Writes what a drive holds into an empty file, which has holes where the drive holds nothing; the
/// answer is how many bytes it holds.
///
/// # Errors
/// As the system has it.
pub fn write_image(disk: &Disk, image: &Path) -> Result<u64, LogError> {
    let written = || -> io::Result<u64> {
        let file = OpenOptions::new().write(true).open(image)?;
        let (capacity, mut held) = (disk.drive().capacity_bytes(), 0);
        file.set_len(capacity)?;
        let mut at = 0;
        while at < capacity {
            let length = PIECE_BYTES.min(capacity - at);
            for (bytes, flags) in disk.allocation(at, length, usize::MAX) {
                if flags == 0 {
                    file.write_all_at(&disk.read(at, bytes.into())?, at)?;
                    held += u64::from(bytes);
                }
                at += u64::from(bytes);
            }
        }
        Ok(held)
    };
    written().map_err(io_at(image))
}
