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
    /// Of a write: the placement handle that its data belongs to (NVMe's flexible data placement);
    /// 0 is the first one, which all have.
    pub placement: u8,
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
            placement: 0,
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

/// A host that a device draws its requests from, see [`Device::serve`].
pub trait Source {
    /// When the host next does something that no completion brings about.
    fn due(&self) -> Nanos;

    /// A request has ended; the answer is the one that the host begins in its place at once.
    fn completed(&mut self, now: Nanos, completion: Completion) -> Option<Request>;

    /// What else the host asks for, once it knows of all that ended at `now`: one request a call.
    fn next(&mut self, now: Nanos) -> Option<Request>;

    /// True if nothing of this host is outstanding.
    fn is_idle(&self) -> bool;

    /// True if [`Source::foretold`] tells of most requests.
    fn foretells(&self) -> bool {
        false
    }

    /// First sectors of requests that may come later, each told once. A device may have ready what
    /// it will need for them; what it answers does not depend on it.
    fn foretold(&mut self) -> Option<&[u64]> {
        None
    }
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

    /// As [`Device::advance`], but it may leave off where much has happened on the way
    /// ([`Device::has_left_off`]); the answer is how far time has come.
    #[inline]
    fn advance_some(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.advance(to, done);
        to
    }

    /// As [`Device::advance`]. Where the device leaves off on the way, `goes_on` is asked with the
    /// time that it has reached; if it says no, the device stays there and the answer is false.
    fn advance_while(
        &mut self,
        to: Nanos,
        done: &mut Vec<Completion>,
        goes_on: &mut dyn FnMut(Nanos) -> bool,
    ) -> bool {
        loop {
            let reached = self.advance_some(to, done);
            if !self.has_left_off() {
                return true;
            }
            if !goes_on(reached) {
                return false;
            }
        }
    }

    /// True if the last call of [`Device::advance_some`], [`Device::advance_until_done`] or
    /// [`Device::serve`] returned before its end. A device may do so between two moments when much
    /// has happened without a completion; the host looks up and calls it again.
    #[inline]
    fn has_left_off(&self) -> bool {
        false
    }

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

    /// Serves a host: tells it what ends and draws the requests that follow from that, until the
    /// host has something to do of its own, or nothing of it is outstanding any more. The answer is
    /// how far time has come. A device that draws its host spares both the way through
    /// [`Device::submit`] and [`Device::advance_until_done`]; what happens is the same.
    fn serve<S: Source>(&mut self, source: &mut S) -> Nanos
    where
        Self: Sized,
    {
        let mut done = Vec::new();
        loop {
            let now = self.advance_until_done(source.due(), &mut done);
            if done.is_empty() {
                return now;
            }
            for completion in done.drain(..) {
                if let Some(request) = source.completed(now, completion) {
                    self.submit(now, request);
                }
            }
            while let Some(request) = source.next(now) {
                self.submit(now, request);
            }
            if source.is_idle() || source.due() <= now {
                return now;
            }
        }
    }
}
