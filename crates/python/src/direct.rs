//! A drive without a host around it: commands in at the caller's times, completions out.
//!
//! The caller is the host: it says when each command comes, keeps the queue within the drive's
//! depth, and moves the clock. What a host must not do is refused here with a `ValueError` before
//! the drive hears of it; the drive's own assertions are for our mistakes.

use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;
use flashtwin_host::PATIENCE;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const SECTOR_BYTES: u64 = 512;
/// How many commands are played between two looks for a Ctrl-C.
const LOOK_EVERY: usize = 65_536;

/// A command as Python says it: bytes, and the operation by its number in `OPS`.
pub struct Asked {
    pub op: u8,
    pub offset: u64,
    pub size: u64,
    pub fua: bool,
    pub compressible_percent: u8,
    pub placement: u8,
}

/// Operations by number: read, write, trim, flush.
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

fn wrong(text: String) -> PyErr {
    PyValueError::new_err(text)
}

/// The drive's command for it, or what a host may not ask.
pub fn request(tag: u32, asked: &Asked) -> PyResult<Request> {
    let op = *OPS
        .get(usize::from(asked.op))
        .ok_or_else(|| wrong(format!("there is no operation {}", asked.op)))?;
    if !(asked.offset | asked.size).is_multiple_of(SECTOR_BYTES) {
        let (offset, size) = (asked.offset, asked.size);
        let message = format!("offset {offset} and size {size} are not multiples of 512 bytes");
        return Err(wrong(message));
    }
    if (asked.size == 0) != (op == Op::Flush) {
        return Err(wrong(format!("{op:?} with a size of {} bytes", asked.size)));
    }
    if asked.compressible_percent > 100 {
        let percent = asked.compressible_percent;
        return Err(wrong(format!("data cannot be compressed by {percent} %")));
    }
    let sectors = u32::try_from(asked.size / SECTOR_BYTES)
        .map_err(|_| wrong(format!("{} bytes are more than one command", asked.size)))?;
    Ok(Request {
        fua: asked.fua,
        compressible_percent: asked.compressible_percent,
        placement: asked.placement,
        ..Request::new(tag, op, asked.offset / SECTOR_BYTES, sectors)
    })
}

/// Completions as columns: `tag`, `done_ns`, `status` (0 done, then as in [`status`]).
pub fn columns<'py>(py: Python<'py>, done: &[Completion]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let tags: Vec<i64> = done.iter().map(|one| i64::from(one.tag)).collect();
    let times: Vec<i64> = done.iter().map(|one| one.at.0 as i64).collect();
    let ends: Vec<u8> = done.iter().map(|one| status(one.status)).collect();
    columns.set_item("tag", tags.into_pyarray(py))?;
    columns.set_item("done_ns", times.into_pyarray(py))?;
    columns.set_item("status", ends.into_pyarray(py))?;
    Ok(columns)
}

/// How a command ended, as a number.
const fn status(status: Status) -> u8 {
    match status {
        Status::Ok => 0,
        Status::OutOfRange => 1,
        Status::Unreadable => 2,
        Status::ReadOnly => 3,
        Status::Corrupt => 4,
    }
}

/// When each command of a play was submitted and done, and how it ended.
pub struct Played {
    pub submitted_ns: Vec<i64>,
    pub done_ns: Vec<i64>,
    pub status: Vec<u8>,
}

impl Played {
    fn note(&mut self, done: &mut Vec<Completion>) -> u32 {
        for one in done.iter() {
            self.done_ns[one.tag as usize] = one.at.0 as i64;
            self.status[one.tag as usize] = status(one.status);
        }
        let count = done.len() as u32;
        done.clear();
        count
    }
}

/// Submits commands at their times, a command later where `depth` of them are outstanding, and
/// waits for all of them. `at_ns` rises, tags are the positions.
pub fn play(
    drive: &mut Drive,
    at_ns: &[u64],
    requests: &[Request],
    depth: u32,
) -> PyResult<Played> {
    let mut played = Played {
        submitted_ns: vec![0; requests.len()],
        done_ns: vec![0; requests.len()],
        status: vec![0; requests.len()],
    };
    let (mut done, mut outstanding) = (Vec::new(), 0);
    for (index, (at, request)) in at_ns.iter().zip(requests).enumerate() {
        if index % LOOK_EVERY == LOOK_EVERY - 1
            && let Err(raised) = check_signals()
        {
            drain(drive, outstanding);
            return Err(raised);
        }
        let at = Nanos(*at).max(drive.now());
        advance(drive, at, &mut done)?;
        outstanding -= played.note(&mut done);
        while outstanding >= depth {
            drive.advance_until_done(Nanos::NEVER, &mut done);
            if drive.has_left_off() {
                check_signals()?;
            }
            outstanding -= played.note(&mut done);
        }
        let now = drive.now().max(at);
        played.submitted_ns[index] = now.0 as i64;
        drive.submit(now, *request);
        outstanding += 1;
    }
    while outstanding > 0 {
        drive.advance_until_done(Nanos::NEVER, &mut done);
        if drive.has_left_off() {
            check_signals()?;
        }
        outstanding -= played.note(&mut done);
    }
    Ok(played)
}

/// Lets a drive go on until `to`; a signal ends that where the drive leaves off.
pub fn advance(drive: &mut Drive, to: Nanos, done: &mut Vec<Completion>) -> PyResult<()> {
    let mut heard = Ok(());
    drive.advance_while(to, done, &mut |_| {
        heard = check_signals();
        heard.is_ok()
    });
    heard
}

fn check_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Waits for what is outstanding, so that the drive can go on after a play that was stopped; not
/// for long.
fn drain(drive: &mut Drive, mut outstanding: u32) {
    let (mut done, mut left_off) = (Vec::new(), 0);
    while outstanding > 0 && left_off < PATIENCE {
        drive.advance_until_done(Nanos::NEVER, &mut done);
        left_off += u32::from(drive.has_left_off());
        outstanding -= done.len() as u32;
        done.clear();
    }
}
