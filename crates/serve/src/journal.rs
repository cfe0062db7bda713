//! The journal of a data directory: what was asked of the drive, and when.
//!
//! A drive's state follows from its last snapshot and from the requests since, to the nanosecond,
//! so these are all that has to be written down: no table of the flash is. Records are appended in
//! batches. A batch ends with [`Record::Reached`], which says that all bytes placed until that
//! instant are in their slots, and only then is anything of it answered; what stands after the last
//! whole batch was never heard of by anybody, and is cut off. A killed server therefore leaves the
//! drive as it was at the end of its last batch, and starting it again is a power cut then.

use std::fs::File;
use std::io::{self, Read, Write};

use flashtwin_base::{Nanos, Op, Request};

/// Bytes of a record; its last four are its checksum.
pub const RECORD_BYTES: usize = 32;

/// What happened to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A request was submitted.
    Submitted(Nanos, Request),
    /// The end of a batch, and the instant that the drive had reached then.
    Reached(Nanos),
    /// The power went for a while, and superblocks were lost that a seed chose.
    Cut {
        /// When.
        at: Nanos,
        /// For how long.
        off: Nanos,
        /// Superblocks that come up empty.
        lost: u32,
        /// Chooses them.
        seed: u32,
    },
    /// Something in the drive broke, see [`crate::faults`].
    Broke {
        /// When.
        at: Nanos,
        /// The kind's number.
        kind: u8,
        /// Which one, or how many.
        which: u64,
        /// How much.
        amount: u32,
    },
}

fn op_of(kind: u8) -> Option<Op> {
    [Op::Read, Op::Write, Op::Trim, Op::Flush]
        .get(usize::from(kind))
        .copied()
}

fn kind_of(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    }
}

const REACHED: u8 = 8;
const CUT: u8 = 9;
const BROKE: u8 = 10;

impl Record {
    /// The record as it is stored.
    #[must_use]
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let (at, wide, narrow, tag, small) = match *self {
            Record::Submitted(at, r) => {
                let small = [
                    kind_of(r.op),
                    u8::from(r.fua),
                    r.compressible_percent,
                    r.placement,
                ];
                (at, r.lba, r.sectors, r.tag, small)
            }
            Record::Reached(at) => (at, 0, 0, 0, [REACHED, 0, 0, 0]),
            Record::Cut {
                at,
                off,
                lost,
                seed,
            } => (at, off.0, lost, seed, [CUT, 0, 0, 0]),
            Record::Broke {
                at,
                kind,
                which,
                amount,
            } => (at, which, amount, 0, [BROKE, kind, 0, 0]),
        };
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&at.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&wide.to_le_bytes());
        bytes[16..20].copy_from_slice(&narrow.to_le_bytes());
        bytes[20..24].copy_from_slice(&tag.to_le_bytes());
        bytes[24..28].copy_from_slice(&small);
        let sum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The record that was stored; none where the bytes are not one.
    #[must_use]
    pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Record> {
        let number = |from: usize, to: usize| {
            let digits = bytes[from..to].iter().rev();
            digits.fold(0u64, |number, &byte| number << 8 | u64::from(byte))
        };
        if number(28, 32) as u32 != crc32fast::hash(&bytes[..28]) {
            return None;
        }
        let (at, wide) = (Nanos(number(0, 8)), number(8, 16));
        let (narrow, tag) = (number(16, 20) as u32, number(20, 24) as u32);
        Some(match bytes[24] {
            REACHED => Record::Reached(at),
            CUT => Record::Cut {
                at,
                off: Nanos(wide),
                lost: narrow,
                seed: tag,
            },
            BROKE => Record::Broke {
                at,
                kind: bytes[25],
                which: wide,
                amount: narrow,
            },
            kind => {
                let mut request = Request::new(tag, op_of(kind)?, wide, narrow);
                request.fua = bytes[25] != 0;
                request.compressible_percent = bytes[26];
                request.placement = bytes[27];
                Record::Submitted(at, request)
            }
        })
    }
}

/// Reads the whole batches of a journal, in their order, and answers how many bytes they take.
///
/// # Errors
/// As the system has it, or as `each` says.
pub fn replay<E: From<io::Error>>(
    mut input: impl Read,
    mut each: impl FnMut(Record) -> Result<(), E>,
) -> Result<u64, E> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let mut piece = [0; RECORD_BYTES];
    loop {
        match input.read_exact(&mut piece) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(bytes),
            Err(error) => return Err(error.into()),
        }
        let Some(record) = Record::decode(&piece) else {
            return Ok(bytes);
        };
        batch.push(record);
        if matches!(record, Record::Reached(_)) {
            bytes += (batch.len() * RECORD_BYTES) as u64;
            batch.drain(..).try_for_each(&mut each)?;
        }
    }
}

/// A journal that is written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    batch: Vec<u8>,
    bytes: u64,
}

impl Journal {
    /// Goes on at the end of a file, which holds `bytes` bytes.
    #[must_use]
    pub fn new(file: File, bytes: u64) -> Journal {
        let batch = Vec::new();
        Journal { file, batch, bytes }
    }

    /// Bytes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A record of the batch that is being made.
    pub fn note(&mut self, record: Record) {
        self.batch.extend_from_slice(&record.encode());
    }

    /// True where the batch has records.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Ends the batch.
    ///
    /// # Errors
    /// As the system has it: the batch then counts as not written.
    pub fn commit(&mut self, at: Nanos) -> io::Result<()> {
        self.note(Record::Reached(at));
        self.file.write_all(&self.batch)?;
        self.bytes += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    /// Has the system bring to its disk all that was written.
    ///
    /// # Errors
    /// As the system has it.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
