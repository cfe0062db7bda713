//! A client's request on its way through the drive: the parts that it is given as, and their ends.

use flashtwin_base::{Nanos, Op, Status};

use crate::disk::Ask;
use crate::nbd::wire::Errno;
use crate::nbd::{Request, Verb};

/// Bytes of the largest command that the drive is given; longer ones are several, as a host's
/// block layer makes them.
const PART_BYTES: u64 = 1 << 20;

/// A request under way, in parts.
pub(crate) struct Command {
    pub(crate) client: u64,
    pub(crate) request: Request,
    /// Bytes that were given to the drive.
    pub(crate) given: u64,
    pub(crate) parts: u32,
    pub(crate) failure: Option<Errno>,
    /// What was read.
    pub(crate) data: Vec<u8>,
    /// A flush is to follow: of a TRIM with FUA, which the drive has no command for.
    pub(crate) flushes: bool,
    pub(crate) began: Nanos,
    pub(crate) bytes: usize,
}

/// A part that the drive has.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) command: usize,
    pub(crate) offset: u64,
}

impl Command {
    /// The part that the drive is given next, and true where others follow it.
    pub(crate) fn next_part(&mut self) -> (Ask, bool) {
        let (verb, length) = (self.request.verb, u64::from(self.request.length));
        let op = match verb {
            Verb::Read => Op::Read,
            Verb::Write | Verb::WriteZeroes => Op::Write,
            Verb::Trim => Op::Trim,
            Verb::Flush | Verb::Status => Op::Flush,
        };
        if op == Op::Flush {
            self.given = length.max(1);
            let ask = Ask {
                op,
                offset: 0,
                length: 0,
                fua: false,
                data: None,
            };
            return (ask, false);
        }
        let left = length - self.given;
        let bytes = if op == Op::Trim {
            left
        } else {
            left.min(PART_BYTES)
        };
        let whole = bytes == length;
        let from = self.given as usize;
        let data = (verb == Verb::Write).then(|| {
            if whole {
                std::mem::take(&mut self.data)
            } else {
                self.data[from..from + bytes as usize].to_vec()
            }
        });
        let ask = Ask {
            op,
            offset: self.request.offset + self.given,
            length: bytes,
            fua: self.request.fua,
            data,
        };
        self.given += bytes;
        (ask, self.given < length)
    }

    /// A part has ended.
    pub(crate) fn ended(&mut self, status: Status, offset: u64, ask: Ask) {
        self.parts -= 1;
        let failure = match status {
            Status::Ok => None,
            Status::OutOfRange => Some(Errno::NoSpace),
            Status::Unreadable | Status::Corrupt => Some(Errno::Io),
            Status::ReadOnly => Some(Errno::NotPermitted),
        };
        self.failure = self.failure.or(failure);
        let Some(data) = ask.data else {
            return;
        };
        if self.request.verb == Verb::Write {
            self.data = data;
        } else if self.request.verb == Verb::Read {
            if data.len() == self.request.length as usize {
                self.data = data;
            } else {
                let from = (offset - self.request.offset) as usize;
                self.data.resize(self.request.length as usize, 0);
                self.data[from..from + data.len()].copy_from_slice(&data);
            }
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.parts == 0 && self.given >= u64::from(self.request.length)
    }
}
