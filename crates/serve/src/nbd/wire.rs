//! The numbers of the NBD protocol, as its specification (`doc/proto.md` of the NBD project) has
//! them, and the replies as bytes. All are big-endian on the wire.

/// The server's first words: `NBDMAGIC`, then `IHAVEOPT`.
pub const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Also before each option.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454F_5054;
/// Before each answer to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Before each request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Before a simple reply.
pub const SIMPLE_MAGIC: u32 = 0x6744_6698;
/// Before a chunk of a structured reply.
pub const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Bytes of a request without its data.
pub const REQUEST_BYTES: usize = 28;
/// Bytes of an option without its data.
pub const OPTION_BYTES: usize = 16;

/// Flags of the handshake, both ways: new style, and no zeros after an old answer.
pub const FIXED_NEWSTYLE: u16 = 1;
/// See [`FIXED_NEWSTYLE`].
pub const NO_ZEROES: u16 = 2;

/// Options.
pub mod option {
    /// The export by its name, without an answer.
    pub const EXPORT_NAME: u32 = 1;
    /// The client ends.
    pub const ABORT: u32 = 2;
    /// Names of the exports.
    pub const LIST: u32 = 3;
    /// What is known of an export.
    pub const INFO: u32 = 6;
    /// The same, and begin.
    pub const GO: u32 = 7;
    /// Replies may be structured.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// Which metadata there is.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Which metadata is wanted.
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Answers to options.
pub mod reply {
    /// Done.
    pub const ACK: u32 = 1;
    /// An export's name.
    pub const SERVER: u32 = 2;
    /// A fact of an export.
    pub const INFO: u32 = 3;
    /// A kind of metadata.
    pub const META_CONTEXT: u32 = 4;
    /// The option is not known.
    pub const UNSUPPORTED: u32 = 0x8000_0001;
    /// The option is not well formed.
    pub const INVALID: u32 = 0x8000_0003;
    /// No such export.
    pub const UNKNOWN: u32 = 0x8000_0006;
    /// The option is too long.
    pub const TOO_BIG: u32 = 0x8000_0009;
}

/// Facts of an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Its name.
    pub const NAME: u16 = 1;
    /// What it is.
    pub const DESCRIPTION: u16 = 2;
    /// Least, preferred and largest size of a request.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub mod export {
    /// Always.
    pub const HAS_FLAGS: u16 = 1;
    /// Nothing can be written.
    pub const READ_ONLY: u16 = 1 << 1;
    /// Flush is known.
    pub const FLUSH: u16 = 1 << 2;
    /// FUA is known.
    pub const FUA: u16 = 1 << 3;
    /// TRIM is known.
    pub const TRIM: u16 = 1 << 5;
    /// Write-zeroes is known.
    pub const WRITE_ZEROES: u16 = 1 << 6;
    /// Replies of one piece can be had.
    pub const DF: u16 = 1 << 7;
    /// A flush on one connection covers what others were told.
    pub const MULTI_CONN: u16 = 1 << 8;
}

/// Commands.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write.
    pub const WRITE: u16 = 1;
    /// The client ends; no answer.
    pub const DISCONNECT: u16 = 2;
    /// Make durable what was answered.
    pub const FLUSH: u16 = 3;
    /// Deallocate.
    pub const TRIM: u16 = 4;
    /// Write zeros.
    pub const WRITE_ZEROES: u16 = 6;
    /// Which ranges are mapped.
    pub const BLOCK_STATUS: u16 = 7;
    /// Flag: on flash before the answer.
    pub const FLAG_FUA: u16 = 1;
    /// Flag of write-zeroes: no hole may come of it.
    pub const FLAG_NO_HOLE: u16 = 1 << 1;
    /// Flag of a read: one piece.
    pub const FLAG_DF: u16 = 1 << 2;
    /// Flag of a block status: one range is enough.
    pub const FLAG_REQ_ONE: u16 = 1 << 3;
}

/// The errors that a reply may bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The drive can only be read.
    NotPermitted = 1,
    /// The drive could not do it.
    Io = 5,
    /// The request makes no sense.
    Invalid = 22,
    /// Past the end of the drive.
    NoSpace = 28,
    /// The drive is going away.
    Shutdown = 108,
}

/// Types of chunks.
mod chunk {
    pub const NONE: u16 = 0;
    pub const DATA: u16 = 1;
    pub const STATUS: u16 = 5;
    pub const ERROR: u16 = 0x8001;
    pub const DONE: u16 = 1;
}

/// How the client wants its replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// In chunks.
    pub structured: bool,
}

fn chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, bytes: usize) {
    out.extend_from_slice(&CHUNK_MAGIC.to_be_bytes());
    out.extend_from_slice(&chunk::DONE.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&(bytes as u32).to_be_bytes());
}

fn simple(out: &mut Vec<u8>, error: u32, cookie: u64) {
    out.extend_from_slice(&SIMPLE_MAGIC.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

impl Form {
    /// A request that returns nothing is done, or failed.
    pub fn answer(self, out: &mut Vec<u8>, cookie: u64, failure: Option<Errno>) {
        match failure {
            Some(errno) => self.failed(out, cookie, errno),
            None if self.structured => chunk(out, chunk::NONE, cookie, 0),
            None => simple(out, 0, cookie),
        }
    }

    fn failed(self, out: &mut Vec<u8>, cookie: u64, errno: Errno) {
        if self.structured {
            chunk(out, chunk::ERROR, cookie, 6);
            out.extend_from_slice(&(errno as u32).to_be_bytes());
            // No text follows.
            out.extend_from_slice(&0u16.to_be_bytes());
        } else {
            simple(out, errno as u32, cookie);
        }
    }

    /// What was read at an offset.
    pub fn data(self, out: &mut Vec<u8>, cookie: u64, offset: u64, data: &[u8]) {
        if self.structured {
            chunk(out, chunk::DATA, cookie, 8 + data.len());
            out.extend_from_slice(&offset.to_be_bytes());
        } else {
            simple(out, 0, cookie);
        }
        out.extend_from_slice(data);
    }

    /// Which ranges are mapped: lengths, and the flags of `base:allocation`.
    pub fn status(self, out: &mut Vec<u8>, cookie: u64, context: u32, ranges: &[(u32, u32)]) {
        chunk(out, chunk::STATUS, cookie, 4 + 8 * ranges.len());
        out.extend_from_slice(&context.to_be_bytes());
        for (length, flags) in ranges {
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&flags.to_be_bytes());
        }
    }
}

/// An answer to an option.
pub fn option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}

/// The number at a place of a message whose length is known.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N]
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}
