//! One client: its bytes become requests, its replies bytes.
//!
//! Stages: [`Stage::Flags`], then [`Stage::Options`] until the client has chosen the export, then
//! [`Stage::Requests`]; [`Stage::Data`] while the data of a write comes, [`Stage::Skipped`] while
//! what was refused is read past; [`Stage::Ended`] after the last reply, for good. Invariant: what
//! a client has in memory here is at most [`Connection::HELD`] beside the data of the one request
//! that is coming in, whose length the export bounds; a request with data is taken up only when
//! its caller grants room for it.

use std::io::IoSliceMut;

use super::handshake::{self, ALLOCATION_ID, Export};
use super::wire::{self, Errno, Form, command, number, reply};

/// Longest option; a name has 4 KiB at most.
const OPTION_DATA: usize = 1 << 16;
/// Bytes that are asked of a socket at once.
const PIECE: usize = 1 << 16;
/// Data of this length and more is read to where it belongs, and the next request's with it.
const LARGE: usize = 1 << 14;
/// Bytes of data that are kept for later writes.
const SPARE: usize = 4 << 20;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Make durable what was answered.
    Flush,
    /// Deallocate.
    Trim,
    /// Write zeros.
    WriteZeroes,
    /// Which ranges are mapped.
    Status,
}

/// A request that is well formed and within the drive.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub verb: Verb,
    /// The client's own number for it.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// On flash before the answer.
    pub fua: bool,
    /// Of a status: one range is enough.
    pub one: bool,
    /// What is written.
    pub data: Vec<u8>,
}

/// Where a client is.
#[derive(Debug)]
pub(super) enum Stage {
    Flags,
    Options,
    /// An option that was too long is read past.
    LongOption {
        option: u32,
        left: usize,
    },
    Requests,
    /// A write, and how many bytes of its data have come.
    Data(Request, usize),
    /// The data of a write that was refused is read past.
    Skipped {
        cookie: u64,
        errno: Errno,
        left: usize,
    },
    Ended,
}

/// How far the bytes at hand lead.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// A request has come in.
    Request(Request),
    /// The next request needs room for these bytes, those that it writes or reads: call again once
    /// there is room, and grant it.
    Room(usize),
    /// More bytes have to come.
    Starved,
    /// The client is done, or broke the protocol; what is in the output is still to be sent.
    Ended,
}

/// A client.
#[derive(Debug)]
pub struct Connection {
    pub(super) stage: Stage,
    /// Bytes as they came, of which those from `taken` to `came` are not taken up yet.
    input: Box<[u8]>,
    taken: usize,
    came: usize,
    /// The last request had large data, so that the next one's is not to come with its header.
    is_large: bool,
    pub(super) output: Vec<u8>,
    pub(super) form: Form,
    pub(super) no_zeroes: bool,
    pub(super) allocation: bool,
    /// Data of earlier writes, whose memory is used again.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

impl Default for Connection {
    fn default() -> Connection {
        Connection::new()
    }
}

impl Connection {
    /// Most bytes of the client's that wait here.
    pub const HELD: usize = 2 * PIECE;

    /// A client that has just connected.
    #[must_use]
    pub fn new() -> Connection {
        Connection {
            stage: Stage::Flags,
            // Memory that no byte was written to is not there yet.
            input: vec![0; Connection::HELD].into_boxed_slice(),
            taken: 0,
            came: 0,
            is_large: false,
            output: handshake::greeting(),
            form: Form::default(),
            no_zeroes: false,
            allocation: false,
            spare: Vec::new(),
            spare_bytes: 0,
        }
    }

    /// Gives back the data of a write, for the next one.
    pub fn recycle(&mut self, data: Vec<u8>) {
        if data.len() >= PIECE && self.spare_bytes + data.len() <= SPARE {
            self.spare_bytes += data.len();
            self.spare.push(data);
        }
    }

    /// Memory for the data of a write, which the client overwrites.
    fn room_for(&mut self, bytes: usize) -> Vec<u8> {
        let mut data = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= data.len();
        data.resize(bytes, 0);
        data
    }

    /// How replies are written.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Bytes to be sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// How many bytes are to be sent.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.output.len()
    }

    /// Bytes of the data of a write that is coming in, all of it.
    #[must_use]
    pub fn coming(&self) -> usize {
        match &self.stage {
            Stage::Data(request, _) => request.length as usize,
            _ => 0,
        }
    }

    /// Nothing of the client's is taken up any more.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended)
    }

    /// Has `read` put the client's next bytes where they belong; it answers how many came. The
    /// answer is that number, and true where they filled all the room, so that more may be there.
    /// Not while [`Progress::Room`] waits for an answer.
    pub fn fill<E>(
        &mut self,
        read: impl FnOnce(&mut [IoSliceMut<'_>]) -> Result<usize, E>,
    ) -> Result<(usize, bool), E> {
        if self.taken == self.came {
            (self.taken, self.came) = (0, 0);
        } else if self.input.len() - self.came < PIECE {
            self.input.copy_within(self.taken..self.came, 0);
            (self.taken, self.came) = (0, self.came - self.taken);
        }
        let room = match self.is_large && self.came == 0 {
            true => &mut self.input[..wire::REQUEST_BYTES],
            false => &mut self.input[self.came..],
        };
        let room_bytes = room.len();
        let (count, missing) = match &mut self.stage {
            Stage::Data(request, came) if self.came == 0 => {
                let data = &mut request.data[*came..];
                let missing = data.len();
                let count = read(&mut [IoSliceMut::new(data), IoSliceMut::new(room)])?;
                *came += count.min(missing);
                (count, missing)
            }
            _ => (read(&mut [IoSliceMut::new(room)])?, 0),
        };
        self.came += count.saturating_sub(missing);
        Ok((count, count == missing + room_bytes))
    }

    fn rest(&self) -> &[u8] {
        &self.input[self.taken..self.came]
    }

    /// Takes up what has come, until a request is there, or more has to come. `room` is how many
    /// bytes the next request may hold.
    pub fn next(&mut self, export: &Export, room: usize) -> Progress {
        loop {
            match &mut self.stage {
                Stage::Flags => {
                    if self.rest().len() < 4 {
                        return Progress::Starved;
                    }
                    let flags = number::<4>(self.rest(), 0);
                    self.taken += 4;
                    let [newstyle, no_zeroes] =
                        [wire::FIXED_NEWSTYLE, wire::NO_ZEROES].map(u64::from);
                    self.no_zeroes = flags & no_zeroes != 0;
                    let known = flags & newstyle != 0 && flags & !(newstyle | no_zeroes) == 0;
                    self.stage = if known { Stage::Options } else { Stage::Ended };
                }
                Stage::Options => {
                    if !self.take_option(export) {
                        return Progress::Starved;
                    }
                }
                Stage::LongOption { .. } | Stage::Skipped { .. } => {
                    if !self.skip() {
                        return Progress::Starved;
                    }
                }
                Stage::Requests => match self.take_request(export, room) {
                    Some(progress) => return progress,
                    None => continue,
                },
                Stage::Data(request, came) => {
                    let missing = request.data.len() - *came;
                    let rest = &self.input[self.taken..self.came];
                    let here = missing.min(rest.len());
                    request.data[*came..*came + here].copy_from_slice(&rest[..here]);
                    *came += here;
                    self.taken += here;
                    if here < missing {
                        return Progress::Starved;
                    }
                    let stage = std::mem::replace(&mut self.stage, Stage::Requests);
                    if let Stage::Data(request, _) = stage {
                        return Progress::Request(request);
                    }
                }
                Stage::Ended => return Progress::Ended,
            }
        }
    }

    /// Takes up an option; false where more has to come.
    fn take_option(&mut self, export: &Export) -> bool {
        let rest = self.rest();
        if rest.len() < wire::OPTION_BYTES {
            return false;
        }
        if number::<8>(rest, 0) != wire::OPTION_MAGIC {
            self.stage = Stage::Ended;
            return true;
        }
        let option = number::<4>(rest, 8) as u32;
        let length = number::<4>(rest, 12) as usize;
        if length > OPTION_DATA {
            self.taken += wire::OPTION_BYTES;
            let left = length;
            self.stage = Stage::LongOption { option, left };
            return true;
        }
        let end = wire::OPTION_BYTES + length;
        if rest.len() < end {
            return false;
        }
        let data = rest[wire::OPTION_BYTES..end].to_vec();
        self.taken += end;
        self.answer_option(export, option, &data);
        true
    }

    /// Reads past what was refused; false where more has to come.
    fn skip(&mut self) -> bool {
        let here = self.came - self.taken;
        let (Stage::LongOption { left, .. } | Stage::Skipped { left, .. }) = &mut self.stage else {
            return true;
        };
        let past = here.min(*left);
        *left -= past;
        self.taken += past;
        if *left > 0 {
            return false;
        }
        match self.stage {
            Stage::LongOption { option, .. } => {
                self.refuse(option, reply::TOO_BIG);
                self.stage = Stage::Options;
            }
            Stage::Skipped { cookie, errno, .. } => {
                self.form.answer(&mut self.output, cookie, Some(errno));
                self.stage = Stage::Requests;
            }
            _ => {}
        }
        true
    }

    /// Takes up a request; none where it was answered here, and the next one may be looked at.
    fn take_request(&mut self, export: &Export, room: usize) -> Option<Progress> {
        let rest = self.rest();
        if rest.len() < wire::REQUEST_BYTES {
            return Some(Progress::Starved);
        }
        if number::<4>(rest, 0) != u64::from(wire::REQUEST_MAGIC) {
            self.stage = Stage::Ended;
            return Some(Progress::Ended);
        }
        let (flags, kind) = (number::<2>(rest, 4) as u16, number::<2>(rest, 6) as u16);
        let (cookie, offset) = (number::<8>(rest, 8), number::<8>(rest, 16));
        let length = number::<4>(rest, 24) as u32;
        if kind == command::DISCONNECT {
            self.stage = Stage::Ended;
            return Some(Progress::Ended);
        }
        let sends = kind == command::WRITE;
        let verb = match self.checked(export, (flags, kind), offset, length) {
            Ok(verb) => verb,
            Err(errno) => {
                self.taken += wire::REQUEST_BYTES;
                self.is_large = false;
                let left = if sends { length as usize } else { 0 };
                self.stage = Stage::Skipped {
                    cookie,
                    errno,
                    left,
                };
                return None;
            }
        };
        let holds = match verb {
            Verb::Read | Verb::Write => length as usize,
            _ => 0,
        };
        if holds > room {
            return Some(Progress::Room(holds));
        }
        self.taken += wire::REQUEST_BYTES;
        let mut request = Request {
            verb,
            cookie,
            offset: if verb == Verb::Flush { 0 } else { offset },
            length: if verb == Verb::Flush { 0 } else { length },
            fua: flags & command::FLAG_FUA != 0,
            one: flags & command::FLAG_REQ_ONE != 0,
            data: Vec::new(),
        };
        self.is_large = sends && holds >= LARGE;
        if sends {
            request.data = self.room_for(holds);
            self.stage = Stage::Data(request, 0);
            return None;
        }
        Some(Progress::Request(request))
    }

    /// What a request asks for, or why it is refused.
    fn checked(
        &self,
        export: &Export,
        (flags, kind): (u16, u16),
        offset: u64,
        length: u32,
    ) -> Result<Verb, Errno> {
        let (verb, known) = match kind {
            command::READ => (Verb::Read, command::FLAG_DF),
            command::WRITE => (Verb::Write, 0),
            command::FLUSH => (Verb::Flush, 0),
            command::TRIM => (Verb::Trim, 0),
            command::WRITE_ZEROES => (Verb::WriteZeroes, command::FLAG_NO_HOLE),
            command::BLOCK_STATUS if self.allocation => (Verb::Status, command::FLAG_REQ_ONE),
            _ => return Err(Errno::Invalid),
        };
        // FUA is allowed with every command, and means nothing to those that write nothing.
        if flags & !(known | command::FLAG_FUA) != 0 {
            return Err(Errno::Invalid);
        }
        if verb == Verb::Flush {
            return Ok(verb);
        }
        let writes = matches!(verb, Verb::Write | Verb::WriteZeroes | Verb::Trim);
        if writes && export.read_only {
            return Err(Errno::NotPermitted);
        }
        let end = offset.checked_add(u64::from(length));
        if end.is_none_or(|end| end > export.size) {
            let sized = matches!(verb, Verb::Write | Verb::WriteZeroes);
            return Err(if sized {
                Errno::NoSpace
            } else {
                Errno::Invalid
            });
        }
        let least = u64::from(export.least_bytes);
        let aligned = offset.is_multiple_of(least) && u64::from(length).is_multiple_of(least);
        let moves = matches!(verb, Verb::Read | Verb::Write);
        if length == 0 || !aligned || (moves && length > export.most_bytes) {
            return Err(Errno::Invalid);
        }
        Ok(verb)
    }

    /// Answers a status with the ranges, cut to what was asked for.
    pub fn answer_status(&mut self, request: &Request, mut ranges: Vec<(u32, u32)>) {
        ranges.truncate(if request.one { 1 } else { usize::MAX });
        let (form, cookie) = (self.form, request.cookie);
        form.status(&mut self.output, cookie, ALLOCATION_ID, &ranges);
    }
}
