//! What is set aside for data on its way to a stream: units, and a superblock where it needs one.
//!
//! 1. `reserve`: so many units will come; `reserve_superblock`: they need one of their own.
//! 2. `commit`: they are there. With the last of them nothing is set aside any more.
//! 3. `cancel`: the superblock has been taken, or is not needed.

use crate::streams::{STREAMS, Stream};

/// What is set aside and has not come yet, by stream.
pub(crate) struct Reservations {
    /// Units on their way.
    coming: [u32; STREAMS],
    /// They need a superblock, which is set aside for the host.
    promised: [bool; STREAMS],
    /// Units on their way to any stream.
    units: u32,
    /// Superblocks that are set aside for any.
    superblocks: u32,
}

flashtwin_base::state! { Reservations {
    kept: coming, promised, units, superblocks;
} }

impl Reservations {
    pub(crate) fn new() -> Reservations {
        Reservations {
            coming: [0; STREAMS],
            promised: [false; STREAMS],
            units: 0,
            superblocks: 0,
        }
    }

    /// Units on their way.
    #[inline]
    pub(crate) fn units(&self) -> u32 {
        self.units
    }

    /// Superblocks that are set aside.
    #[inline]
    pub(crate) fn superblocks(&self) -> u32 {
        self.superblocks
    }

    /// How many streams data is on its way to.
    pub(crate) fn streams(&self) -> u32 {
        self.coming.iter().filter(|&&units| units > 0).count() as u32
    }

    /// Units on their way to a stream.
    #[inline]
    pub(crate) fn coming_to(&self, stream: Stream) -> u32 {
        self.coming[stream.index()]
    }

    /// Superblocks that are set aside for a stream.
    #[inline]
    pub(crate) fn promised_to(&self, stream: Stream) -> u32 {
        u32::from(self.promised[stream.index()])
    }

    /// Data is on its way to a stream.
    #[inline]
    pub(crate) fn reserve(&mut self, stream: Stream, units: u32) {
        self.coming[stream.index()] += units;
        self.units += units;
    }

    /// Data has arrived: with the last of it nothing is set aside any more.
    #[inline]
    pub(crate) fn commit(&mut self, stream: Stream, units: u32) {
        self.coming[stream.index()] -= units;
        self.units -= units;
        if self.coming[stream.index()] == 0 {
            self.cancel(stream);
        }
    }

    /// A superblock is set aside for it.
    #[inline]
    pub(crate) fn reserve_superblock(&mut self, stream: Stream) {
        let promised = &mut self.promised[stream.index()];
        self.superblocks += u32::from(!*promised);
        *promised = true;
    }

    /// What was promised to a stream has been taken, or is not needed.
    #[inline]
    pub(crate) fn cancel(&mut self, stream: Stream) {
        let promised = &mut self.promised[stream.index()];
        self.superblocks -= u32::from(*promised);
        *promised = false;
    }
}
