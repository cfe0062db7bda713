//! Rebuilding a row from its stripe. Where the code cannot correct a row after all steps of the
//! retry ladder, its data is the exclusive-or of the same rows of the stripe's other granules,
//! parity among them.
//!
//! The failed read ends first and takes as long as all its steps. Then the other rows are read on
//! their dies: as many units of each, each with the retry steps that its own errors need. Like a
//! host's read they go before other work. When the last of them has come, whoever asked for the row
//! has its data, and the superblock is refreshed. Where one of them cannot be read either, the data
//! is lost; the attempt takes as long.

use flashtwin_ftl::{NandOp, Token};

/// A row that is being rebuilt.
#[derive(serde::Serialize, serde::Deserialize)]
struct Rebuild {
    /// Who asked for the row.
    token: Token,
    /// The reads of the other rows, until they are issued.
    reads: Vec<NandOp>,
    /// Reads that have not come back, the failed one among them; 0 where the place is vacant.
    pending: u32,
    /// The superblock to be refreshed once the data is rebuilt.
    refresh: Option<u32>,
}

/// The rows that are being rebuilt.
#[derive(Default)]
pub(crate) struct Rebuilds {
    all: Vec<Rebuild>,
    vacant: Vec<u32>,
}

flashtwin_base::state! { Rebuilds {
    kept: all, vacant;
} }

impl Rebuilds {
    /// The read of a row will fail that is for `token`, and then these will be read. The answer is
    /// the rebuild's place; `refresh` is the superblock to be refreshed once the data is rebuilt.
    pub(crate) fn begin(&mut self, token: Token, reads: Vec<NandOp>, refresh: Option<u32>) -> u32 {
        let rebuild = Rebuild {
            token,
            reads,
            pending: 1,
            refresh,
        };
        if let Some(place) = self.vacant.pop() {
            self.all[place as usize] = rebuild;
            return place;
        }
        self.all.push(rebuild);
        self.all.len() as u32 - 1
    }

    /// A read of a rebuild has come back; the answer is the reads that it sends, once the failed
    /// one has.
    pub(crate) fn read(&mut self, place: u32) -> Vec<NandOp> {
        let rebuild = &mut self.all[place as usize];
        let reads = std::mem::take(&mut rebuild.reads);
        rebuild.pending += reads.len() as u32;
        rebuild.pending -= 1;
        reads
    }

    /// Ends a rebuild all of whose reads have come back: who asked for the row, and the superblock
    /// to be refreshed.
    pub(crate) fn end(&mut self, place: u32) -> Option<(Token, Option<u32>)> {
        let rebuild = &mut self.all[place as usize];
        if rebuild.pending > 0 {
            return None;
        }
        // A vacant place does not keep the number of an answered command, which is no part of the
        // drive's state.
        let token = std::mem::replace(&mut rebuild.token, Token::Host(0));
        let refresh = rebuild.refresh;
        self.vacant.push(place);
        Some((token, refresh))
    }
}
