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
pub(crate) struct Rebuild {
    /// Who asked for the row.
    pub(crate) token: Token,
    /// The reads of the other rows, until they are issued.
    pub(crate) reads: Vec<NandOp>,
    /// Reads that have not come back, the failed one among them; 0 where the place is vacant.
    pub(crate) pending: u32,
    /// The superblock to be refreshed once the data is rebuilt.
    pub(crate) refresh: Option<u32>,
}

/// The rows that are being rebuilt.
#[derive(Default)]
pub(crate) struct Rebuilds {
    pub(crate) all: Vec<Rebuild>,
    pub(crate) vacant: Vec<u32>,
}

flashtwin_base::state! { Rebuilds {
    kept: all, vacant;
} }

impl Rebuilds {
    pub(crate) fn add(&mut self, rebuild: Rebuild) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.all[place as usize] = rebuild;
            return place;
        }
        self.all.push(rebuild);
        self.all.len() as u32 - 1
    }
}
