//! The binary traces of blktrace, version 7: records of 48 bytes (`struct blk_io_trace` of Linux's
//! `blktrace_api.h`), each followed by as many bytes of its own as its last field says. A machine
//! writes them in its own byte order; the first record tells which one that is.
//!
//! Invariants: a file ends between two records or it is refused; every record begins with the mark
//! and the version of the first one.

use std::io::{self, BufRead, Read};

use flashtwin_base::Nanos;

use super::number::range;
use super::{Action, Context, Event, Line, TraceProblem};
use crate::job::{Direction, SECTOR_BYTES};

/// Bytes of a record without what follows it.
pub const RECORD_BYTES: usize = 48;
/// Bytes of the field that every record begins with.
pub const HEAD_BYTES: usize = 4;
const MAGIC: u32 = 0x0065_6174;
const VERSION: u32 = 7;

// Where the fields lie that count.
const TIME: usize = 8;
const SECTOR: usize = 16;
const BYTES: usize = 24;
const ACTION: usize = 28;
const DEVICE: usize = 36;
const FOLLOWING: usize = 46;

// Kinds of requests, in the upper half of an action (`enum blktrace_cat`).
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const PASSED_THROUGH: u32 = 1 << 9;
const NOTIFICATION: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;
/// In the lower half: an identifier of its control group follows the record.
const CONTROL_GROUP: u32 = 1 << 8;
/// blkparse's letters of the actions from 1 on (`enum blktrace_act`).
const LETTERS: &[u8] = b"QMFGSRDCPUTIXBA";

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn bytes<const N: usize>(self, record: &[u8], place: usize) -> [u8; N] {
        let mut bytes: [u8; N] = record[place..place + N].try_into().expect("a whole field");
        if self == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    fn half(self, record: &[u8], place: usize) -> u16 {
        u16::from_le_bytes(self.bytes(record, place))
    }

    fn word(self, record: &[u8], place: usize) -> u32 {
        u32::from_le_bytes(self.bytes(record, place))
    }

    fn long(self, record: &[u8], place: usize) -> u64 {
        u64::from_le_bytes(self.bytes(record, place))
    }
}

/// The order that a file's first bytes are in, where they are those of such a trace.
pub fn byte_order(head: &[u8]) -> Result<Option<ByteOrder>, TraceProblem> {
    if head.len() < HEAD_BYTES {
        return Ok(None);
    }
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let first = order.word(head, 0);
        if first >> 8 == MAGIC {
            let version = first & 0xff;
            return if version == VERSION {
                Ok(Some(order))
            } else {
                Err(TraceProblem::OtherRecords(version))
            };
        }
    }
    Ok(None)
}

/// Reads the next record and passes what follows it; false at the end of the file.
pub fn read(
    source: &mut impl BufRead,
    order: ByteOrder,
    record: &mut Vec<u8>,
) -> Result<bool, TraceProblem> {
    record.clear();
    let there = source
        .by_ref()
        .take(RECORD_BYTES as u64)
        .read_to_end(record)?;
    if there == 0 {
        return Ok(false);
    }
    if there < RECORD_BYTES {
        return Err(TraceProblem::CutRecord {
            there: there as u64,
            bytes: RECORD_BYTES as u64,
        });
    }
    if order.word(record, 0) != (MAGIC << 8) | VERSION {
        return Err(TraceProblem::NoRecord);
    }
    let following = u64::from(order.half(record, FOLLOWING));
    let passed = io::copy(&mut source.by_ref().take(following), &mut io::sink())?;
    if passed < following {
        return Err(TraceProblem::CutRecord {
            there: RECORD_BYTES as u64 + passed,
            bytes: RECORD_BYTES as u64 + following,
        });
    }
    Ok(true)
}

pub fn parse(record: &[u8], order: ByteOrder, context: &mut Context) -> Result<Line, TraceProblem> {
    let action = order.word(record, ACTION);
    let (kind, act) = (action >> 16, action & 0xffff & !CONTROL_GROUP);
    let letter = (act as usize)
        .checked_sub(1)
        .and_then(|place| LETTERS.get(place));
    let (Some(&letter), 0) = (letter, kind & NOTIFICATION) else {
        return Ok(Line::Nothing);
    };
    if char::from(letter) != context.options.event {
        context.actions.insert(letter);
        return Ok(Line::Nothing);
    }
    context.began = true;
    let device = order.word(record, DEVICE);
    context.set_name(format!("{},{}", device >> 20, device & 0xf_ffff).as_bytes());
    let bytes = u64::from(order.word(record, BYTES));
    if kind & PASSED_THROUGH != 0 {
        // The bytes of such a command need not be those of a place on the disk.
        return Ok(context.leave_out());
    }
    let (flush, is_write) = (kind & FLUSH != 0, kind & WRITE != 0);
    let (action, (offset, bytes)) = if bytes > 0 {
        let direction = match (kind & DISCARD != 0, is_write) {
            (true, _) => Direction::Trim,
            (false, true) => Direction::Write,
            (false, false) => Direction::Read,
        };
        let offset = order.long(record, SECTOR).checked_mul(SECTOR_BYTES);
        let offset = offset.ok_or(TraceProblem::TooLarge("sector"))?;
        (Action::Data(direction), range(offset, bytes)?)
    } else if flush || is_write {
        (Action::Flush, (0, 0))
    } else {
        return Ok(context.leave_out());
    };
    let Some(file) = context.named_file()? else {
        return Ok(Line::Nothing);
    };
    let event = Event {
        at: Nanos(order.long(record, TIME)),
        file,
        action,
        offset,
        bytes,
        fua: kind & FUA != 0 && action == Action::Data(Direction::Write),
    };
    Ok(Line::Event {
        flush: flush && bytes > 0,
        event,
    })
}
