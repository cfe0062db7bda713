//! The text of `strace -f -ttt -y`: what processes ask of their files, before the page cache.
//!
//! `697 1795779262.728173 pwrite64(3</data/a>, "..."..., 4096, 0) = 4096`: the process (or
//! `[pid 697]`; none where there is one only), seconds, the call, its result. A call that another
//! one interrupts stands in two lines (`<unfinished ...>`, `<... pwrite64 resumed>`); it counts
//! from its beginning.
//!
//! `read` and `write` do not say where they begin: that follows from what the trace has of their
//! descriptor before, since it was opened (`openat`, `lseek`, `dup`, `clone`); a descriptor that
//! was open before the trace begins at 0. Descriptors that are no file on a disk (sockets, pipes,
//! terminals, /proc) ask nothing of one. Calls that move data in another way (`io_submit`,
//! `copy_file_range`, `sendfile`) are counted as left out; io_uring and mapped files leave no line.
//!
//! Invariant: memory grows with the descriptors that are open at a time, not with the lines.

use std::collections::BTreeMap;

use flashtwin_base::Nanos;

use super::number::{decimal, range, shown, whole};
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::Direction;

/// What strace says of itself, where its lines go to its standard error.
const ITSELF: &[u8] = b"strace: Process ";
const UNFINISHED: &[u8] = b"<unfinished ...>";
/// The end of a call that was under way when strace let its process go: nobody saw what came of it.
const DETACHED: &[u8] = b"<detached ...>";
/// Descriptors and calls under way that are kept of a trace.
const MOST_KEPT: usize = 1 << 18;
/// Paths that lie on no disk.
const ELSEWHERE: [&[u8]; 5] = [b"/proc/", b"/sys/", b"/memfd:", b"/run/", b"/dev/shm/"];
/// Devices that are no disk.
const NO_DISKS: [&[u8]; 9] = [
    b"null", b"zero", b"full", b"random", b"urandom", b"tty", b"pts/", b"ptmx", b"console",
];

/// Where the next byte of an opened file is asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Opened {
    position: u64,
    appends: bool,
    durable: bool,
}

/// What is known of the processes.
#[derive(Default)]
pub struct Processes {
    /// Which table of descriptors a process or thread has.
    tables: BTreeMap<u64, u64>,
    /// What a descriptor of a table leads to.
    descriptors: BTreeMap<(u64, u64), u64>,
    opened: BTreeMap<u64, Opened>,
    /// The ends of files that are opened to append, by path.
    ends: BTreeMap<Vec<u8>, u64>,
    unfinished: BTreeMap<u64, Vec<u8>>,
    last: u64,
}

impl Processes {
    fn table(&self, process: u64) -> u64 {
        self.tables.get(&process).copied().unwrap_or(process)
    }

    fn opened(&mut self, process: u64, descriptor: u64) -> &mut Opened {
        let key = (self.table(process), descriptor);
        let number = match self.descriptors.get(&key) {
            Some(&number) => number,
            None => self.open(process, descriptor, Opened::default()),
        };
        self.opened.entry(number).or_default()
    }

    fn open(&mut self, process: u64, descriptor: u64, opened: Opened) -> u64 {
        self.last += 1;
        if self.opened.len() >= MOST_KEPT {
            self.forget();
        }
        self.opened.insert(self.last, opened);
        let key = (self.table(process), descriptor);
        self.descriptors.insert(key, self.last);
        self.last
    }

    /// Descriptors of processes that ended without closing them: the oldest half.
    fn forget(&mut self) {
        let before = self.last - MOST_KEPT as u64 / 2;
        self.opened = self.opened.split_off(&before);
        self.descriptors.retain(|_, number| *number >= before);
    }

    fn close(&mut self, process: u64, descriptor: u64) {
        let key = (self.table(process), descriptor);
        let Some(number) = self.descriptors.remove(&key) else {
            return;
        };
        if !self.descriptors.values().any(|other| *other == number) {
            self.opened.remove(&number);
        }
    }

    fn duplicate(&mut self, process: u64, from: u64, to: u64) {
        self.opened(process, from);
        let table = self.table(process);
        let number = self.descriptors[&(table, from)];
        self.descriptors.insert((table, to), number);
    }

    /// A thread has its parent's descriptors; another process has copies, with shared positions.
    fn fork(&mut self, parent: u64, child: u64, shares: bool) {
        let table = self.table(parent);
        if shares {
            self.tables.insert(child, table);
            return;
        }
        let all = (table, 0)..=(table, u64::MAX);
        let copies: Vec<(u64, u64)> = self
            .descriptors
            .range(all)
            .map(|(&(_, descriptor), &number)| (descriptor, number))
            .collect();
        for (descriptor, number) in copies {
            self.descriptors.insert((child, descriptor), number);
        }
    }

    fn end(&mut self, process: u64) {
        self.unfinished.remove(&process);
        if self.tables.remove(&process).is_some() {
            return;
        }
        let all = (process, 0)..=(process, u64::MAX);
        let open: Vec<u64> = self.descriptors.range(all).map(|(key, _)| key.1).collect();
        for descriptor in open {
            self.close(process, descriptor);
        }
    }
}

/// A line taken apart up to its call.
struct Head<'a> {
    process: u64,
    at: &'a [u8],
    rest: &'a [u8],
}

fn head(line: &[u8]) -> Option<Head<'_>> {
    let (mut word, mut rest) = first_word(line)?;
    let mut process = b"0".as_slice();
    if word == b"[pid" {
        let (number, behind) = first_word(rest)?;
        process = number.strip_suffix(b"]")?;
        (word, rest) = first_word(behind)?;
    } else if !word.contains(&b'.') {
        process = word;
        (word, rest) = first_word(rest)?;
    }
    let process = whole(process, "process").ok()?;
    Some(Head {
        process,
        at: word,
        rest: rest.trim_ascii(),
    })
}

fn first_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace)?;
    Some((&text[..end], &text[end..]))
}

/// Whether a line is one of strace's with a time in seconds, or a word of its own.
pub fn looks_so(line: &[u8]) -> bool {
    if line.starts_with(ITSELF) {
        return true;
    }
    head(line).is_some_and(|head| {
        let name_end = head.rest.iter().position(|&byte| byte == b'(');
        let is_call =
            name_end.is_some_and(|end| end > 0 && head.rest[..end].iter().all(is_of_name));
        let is_other = [&b"+++ "[..], b"--- ", b"<... "]
            .iter()
            .any(|mark| head.rest.starts_with(mark));
        head.at.contains(&b'.') && decimal(head.at, "", 1).is_ok() && (is_call || is_other)
    })
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

pub fn parse(text: &[u8], context: &mut Context) -> Result<Line, TraceProblem> {
    if text.starts_with(ITSELF) {
        return Ok(Line::Nothing);
    }
    let head = head(text).ok_or(TraceProblem::Missing("call"))?;
    let at = decimal(head.at, "time in seconds (strace -ttt)", 1_000_000_000)?;
    let rest = head.rest;
    if rest.starts_with(b"+++ ") {
        context.processes.end(head.process);
        return Ok(Line::Nothing);
    }
    if rest.starts_with(b"--- ") || rest.ends_with(DETACHED) {
        return Ok(Line::Nothing);
    }
    if let Some(begun) = rest.strip_suffix(UNFINISHED) {
        let unfinished = &mut context.processes.unfinished;
        if unfinished.len() < MOST_KEPT {
            // Its time goes with it.
            let mut kept = head.at.to_vec();
            kept.push(b' ');
            kept.extend_from_slice(begun);
            unfinished.insert(head.process, kept);
        }
        return Ok(Line::Nothing);
    }
    if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let mark = b" resumed>";
        let end = resumed.windows(mark.len()).position(|part| part == mark);
        let end = end.ok_or(TraceProblem::Missing("end"))?;
        let Some(mut begun) = context.processes.unfinished.remove(&head.process) else {
            // It began before the trace did.
            return Ok(Line::Nothing);
        };
        begun.extend_from_slice(&resumed[end + mark.len()..]);
        let (at, call) = first_word(&begun).ok_or(TraceProblem::Missing("call"))?;
        let at = decimal(at, "time", 1_000_000_000)?;
        return call_of(call.trim_ascii(), head.process, at, context);
    }
    call_of(rest, head.process, at, context)
}

/// A call: its name, its arguments, and what it gave back.
struct Call<'a> {
    name: &'a [u8],
    arguments: Vec<&'a [u8]>,
    result: &'a [u8],
}

fn call_of(
    text: &[u8],
    process: u64,
    at: u64,
    context: &mut Context,
) -> Result<Line, TraceProblem> {
    let open = text.iter().position(|&byte| byte == b'(');
    let open = open.ok_or(TraceProblem::Missing("arguments"))?;
    let (name, rest) = (&text[..open], &text[open + 1..]);
    if !name.iter().all(is_of_name) {
        return Err(TraceProblem::NotKnown {
            what: "call",
            text: shown(name),
        });
    }
    let (arguments, behind) = arguments(rest)?;
    let result = behind.trim_ascii_start().strip_prefix(b"=");
    let result = result.ok_or(TraceProblem::Missing("result"))?.trim_ascii();
    if result.starts_with(b"-1 ") || result.starts_with(b"?") {
        return Ok(Line::Nothing);
    }
    let call = Call {
        name,
        arguments,
        result,
    };
    called(&call, process, at, context)
}

/// The arguments up to the closing bracket, and what stands behind it.
fn arguments(text: &[u8]) -> Result<(Vec<&[u8]>, &[u8]), TraceProblem> {
    let (mut parts, mut begin, mut depth, mut place) = (Vec::new(), 0, 0_u32, 0);
    while place < text.len() {
        match text[place] {
            b'"' => place += quoted(&text[place..])?,
            b'<' => place += path_length(&text[place..]),
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                parts.push(text[begin..place].trim_ascii());
                return Ok((parts, &text[place + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text[begin..place].trim_ascii());
                begin = place + 1;
            }
            _ => {}
        }
        place += 1;
    }
    Err(TraceProblem::Missing("closing bracket"))
}

/// How far the end of a string lies behind its first quote.
fn quoted(text: &[u8]) -> Result<usize, TraceProblem> {
    let mut place = 1;
    while place < text.len() {
        match text[place] {
            b'\\' => place += 1,
            b'"' => return Ok(place),
            _ => {}
        }
        place += 1;
    }
    Err(TraceProblem::Missing("closing quote"))
}

/// How far the end of `<path>` lies behind its first bracket; 0 where that is an operator (`<<`).
/// A `>` of the path itself is written `\76`, but that of a socket's `->` is not.
fn path_length(text: &[u8]) -> usize {
    let ends = |place: &usize| {
        let next = text.get(place + 1);
        text[*place] == b'>'
            && text[place - 1] != b'-'
            && next.is_none_or(|byte| b",)(] |".contains(byte))
    };
    (1..text.len()).find(ends).unwrap_or(0)
}

/// A descriptor as `3</data/a>`: its number, and its path where that is on a disk.
fn descriptor(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let number = whole(&text[..end], "").ok()?;
    let path = text[end..].strip_prefix(b"<")?;
    let path = &path[..path_length(&text[end..]).checked_sub(1)?];
    let elsewhere = ELSEWHERE.iter().any(|begin| path.starts_with(begin))
        || path
            .strip_prefix(b"/dev/")
            .is_some_and(|device| NO_DISKS.iter().any(|name| device.starts_with(name)));
    (path.starts_with(b"/") && !elsewhere).then_some((number, path))
}

fn called(
    call: &Call<'_>,
    process: u64,
    at: u64,
    context: &mut Context,
) -> Result<Line, TraceProblem> {
    let processes = &mut context.processes;
    let argument = |place: usize| call.arguments.get(place).copied().unwrap_or_default();
    let number = |place: usize, what| whole(argument(place), what);
    match call.name {
        b"open" | b"openat" | b"openat2" | b"creat" => {
            open(call, process, processes);
            return Ok(Line::Nothing);
        }
        b"close" => {
            if let Some((closed, _)) = leading_number(argument(0)) {
                processes.close(process, closed);
            }
            return Ok(Line::Nothing);
        }
        b"dup" | b"dup2" | b"dup3" | b"fcntl" | b"fcntl64" => {
            let duplicates =
                !call.name.starts_with(b"fcntl") || argument(1).starts_with(b"F_DUPFD");
            let both = (leading_number(argument(0)), leading_number(call.result));
            if let (true, (Some((from, _)), Some((to, _)))) = (duplicates, both) {
                processes.duplicate(process, from, to);
            }
            return Ok(Line::Nothing);
        }
        b"clone" | b"clone3" | b"fork" | b"vfork" => {
            let shares = call
                .arguments
                .iter()
                .any(|text| contains(text, b"CLONE_FILES"));
            if let Some((child, _)) = leading_number(call.result) {
                processes.fork(process, child, shares);
            }
            return Ok(Line::Nothing);
        }
        b"io_submit" | b"copy_file_range" | b"sendfile" | b"sendfile64" | b"splice" => {
            context.set_name(b"");
            return Ok(context.leave_out());
        }
        _ => {}
    }
    let Some((file, path)) = descriptor(argument(0)) else {
        return Ok(Line::Nothing);
    };
    let result = || leading_number(call.result).map_or(0, |(count, _)| count);
    let (action, offset, bytes) = match call.name {
        b"lseek" | b"_llseek" | b"llseek" => {
            let opened = processes.opened(process, file);
            opened.position = whole(call.result, "position")?;
            return Ok(Line::Nothing);
        }
        b"ftruncate" | b"ftruncate64" => {
            processes.ends.insert(path.to_vec(), number(1, "length")?);
            return Ok(Line::Nothing);
        }
        b"fsync" | b"syncfs" | b"sync_file_range" => (Action::Flush, 0, 0),
        b"fdatasync" => (Action::FlushData, 0, 0),
        b"fallocate" if contains(argument(1), b"PUNCH_HOLE") => {
            let (offset, bytes) = (number(2, "offset")?, number(3, "length")?);
            (Action::Data(Direction::Trim), offset, bytes)
        }
        b"pread64" | b"pread" | b"preadv" | b"preadv2" => (
            Action::Data(Direction::Read),
            number(3, "offset")?,
            result(),
        ),
        b"pwrite64" | b"pwrite" | b"pwritev" | b"pwritev2" => (
            Action::Data(Direction::Write),
            number(3, "offset")?,
            result(),
        ),
        b"read" | b"readv" => {
            let opened = processes.opened(process, file);
            let offset = opened.position;
            opened.position = offset.saturating_add(result());
            (Action::Data(Direction::Read), offset, result())
        }
        b"write" | b"writev" => {
            let offset = processes.write(process, file, path, result());
            (Action::Data(Direction::Write), offset, result())
        }
        _ => return Ok(Line::Nothing),
    };
    let durable = processes.opened(process, file).durable;
    event(path, (action, offset, bytes), at, durable, context)
}

impl Processes {
    /// Where a write of as many bytes begins; the next one begins behind it.
    fn write(&mut self, process: u64, file: u64, path: &[u8], bytes: u64) -> u64 {
        let appends = self.opened(process, file).appends;
        if !appends {
            let opened = self.opened(process, file);
            let offset = opened.position;
            opened.position = offset.saturating_add(bytes);
            return offset;
        }
        let end = self.ends.entry(path.to_vec()).or_default();
        let offset = *end;
        *end = offset.saturating_add(bytes);
        offset
    }
}

fn open(call: &Call<'_>, process: u64, processes: &mut Processes) {
    let Some((number, path)) = descriptor(call.result) else {
        if let Some((number, _)) = leading_number(call.result) {
            processes.open(process, number, Opened::default());
        }
        return;
    };
    let has = |flag: &[u8]| {
        call.arguments
            .iter()
            .skip(1)
            .any(|text| contains(text, flag))
    };
    if call.name == b"creat" || has(b"O_TRUNC") {
        processes.ends.remove(path);
    }
    let opened = Opened {
        position: 0,
        appends: has(b"O_APPEND"),
        durable: has(b"O_SYNC") || has(b"O_DSYNC"),
    };
    processes.open(process, number, opened);
}

fn event(
    path: &[u8],
    (action, offset, bytes): (Action, u64, u64),
    at: u64,
    durable: bool,
    context: &mut Context,
) -> Result<Line, TraceProblem> {
    context.set_name(path);
    let is_data = matches!(action, Action::Data(_));
    if is_data && bytes == 0 {
        // The end of a file was read.
        return Ok(Line::Nothing);
    }
    let (offset, bytes) = if is_data {
        range(offset, bytes)?
    } else {
        (0, 0)
    };
    let Some(file) = context.named_file()? else {
        return Ok(Line::Nothing);
    };
    context.began = true;
    let event = Event {
        at: Nanos(at),
        file,
        action,
        offset,
        bytes,
        fua: durable && action == Action::Data(Direction::Write),
    };
    Ok(Line::Event {
        flush: false,
        event,
    })
}

/// The digits that a text begins with, as a number, and what follows them.
fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    whole(digits, "").ok().map(|number| (number, rest))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}
