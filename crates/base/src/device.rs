//! What a host says to a drive and hears from it. `drive` and `host` meet only here.

use crate::Nanos;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Deallocate sectors.
    Trim,
    /// Make all acknowledged writes durable.
    Flush,
}

/// One command. Addresses and lengths are in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The host's own number for it, handed back with the completion.
    pub tag: u32,
    /// What it asks for.
    pub op: Op,
    /// First sector.
    pub lba: u64,
    /// How many sectors; 0 for a flush.
    pub sectors: u32,
    /// A write that counts as done only when it is on flash (force unit access).
    pub fua: bool,
    /// How much smaller a compressing controller could make the data, in percent (fio's
    /// `buffer_compress_percentage`): 0 random, 100 nothing but zeros.
    pub compressible_percent: u8,
}

impl Request {
    /// A plain request: no FUA, data that cannot be compressed.
    #[must_use]
    pub const fn new(tag: u32, op: Op, lba: u64, sectors: u32) -> Request {
        Request {
            tag,
            op,
            lba,
            sectors,
            fua: false,
            compressible_percent: 0,
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok,
    /// Past the end of the drive; nothing was done.
    OutOfRange,
    /// A read of data that the ECC could not put right.
    Unreadable,
    /// A write to a drive at its end of life: it can only be read.
    ReadOnly,
    /// End-to-end protection found data that is not what was sent.
    Corrupt,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request's tag.
    pub tag: u32,
    /// When the host sees it.
    pub at: Nanos,
    /// How it ended.
    pub status: Status,
}

/// Anything that answers requests in virtual time.
pub trait Device {
    /// Commands that may be outstanding at once. The host keeps to it.
    fn queue_depth(&self) -> u32;

    /// Bytes that the host can address.
    fn capacity_bytes(&self) -> u64;

    /// Takes a request at `now`, which never lies before an earlier `now` or `advance`.
    /// The answer comes out of [`Device::advance`], never at once.
    fn submit(&mut self, now: Nanos, request: Request);

    /// When something next happens inside; `None` when nothing is under way.
    fn next_due(&self) -> Option<Nanos>;

    /// Lets everything happen that is due at or before `to`, in order; appends completions by time.
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>);

    /// Lets happen what is due at or before `limit`, up to the first moment that completes
    /// anything: what completes then is appended, and the answer is that moment. Where nothing
    /// completes, the answer is `limit`.
    #[inline]
    fn advance_until_done(&mut self, limit: Nanos, done: &mut Vec<Completion>) -> Nanos {
        while let Some(due) = self.next_due().filter(|due| *due <= limit) {
            self.advance(due, done);
            if !done.is_empty() {
                return due;
            }
        }
        limit
    }
}
