//! Rebuilding a row from its stripe. Where the code cannot correct a row after all steps of the
//! retry ladder, its data is the exclusive-or of the same rows of the stripe's other granules,
//! parity among them.
//!
//! The failed read ends first and takes as long as all its steps. Then the other rows are read on
//! their dies: as many units of each, each with the retry steps that its own errors need. Like a
//! host's read they go before other work. When the last of them has come, whoever asked for the row
//! has its data, and the superblock is refreshed. Where one of them cannot be read either, the data
//! is lost; the attempt takes as long.

use flashtwin_ftl::{NandOp, Policies, Token};

use crate::engine::Drive;

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
    fn add(&mut self, rebuild: Rebuild) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.all[place as usize] = rebuild;
            return place;
        }
        self.all.push(rebuild);
        self.all.len() as u32 - 1
    }
}

impl<P: Policies> Drive<P> {
    /// The read of a row is going to fail: the rest of its stripe will be read, where it has
    /// parity. The answer is whether that brings its data back.
    pub(crate) fn rebuild(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        let Some(mates) = self.ftl.stripe_mates(ppn) else {
            return false;
        };
        let place = self.ftl.wordline_at(ppn);
        let superblock = place.0;
        let (mut reads, mut readable) = (Vec::with_capacity(mates.len()), true);
        for mate in mates {
            let (retries, had) = self.grade(superblock, mate.row, mate.die);
            readable &= had;
            reads.push(NandOp {
                die: mate.die,
                class: mate.class,
                retries,
                pace: self.pace(mate.class, mate.die, place),
                ..*op
            });
        }
        let token = op.token;
        let place = self.rebuilds.add(Rebuild {
            token,
            reads,
            pending: 1,
            refresh: readable.then_some(superblock),
        });
        op.token = Token::Rebuild(place);
        self.errors.counts.rebuilt += u64::from(readable);
        readable
    }

    /// A read for a rebuild has come back. The failed read sends those of the other rows, and the
    /// last of these ends the operation that asked for the row.
    #[cold]
    pub(crate) fn rebuild_read(&mut self, place: u32, op: NandOp) {
        let rebuild = &mut self.rebuilds.all[place as usize];
        rebuild.pending -= 1;
        let reads = std::mem::take(&mut rebuild.reads);
        rebuild.pending += reads.len() as u32;
        for mut read in reads {
            read.token = op.token;
            self.send_to_flash(read);
        }
        let rebuild = &mut self.rebuilds.all[place as usize];
        if rebuild.pending == 0 {
            // A vacant place does not keep the number of an answered command, which is no part of
            // the drive's state.
            let token = std::mem::replace(&mut rebuild.token, Token::Host(0));
            let refresh = rebuild.refresh;
            self.rebuilds.vacant.push(place);
            if let Some(superblock) = refresh {
                self.refresh_soon(superblock);
            }
            self.operation_ended(NandOp { token, ..op });
        }
    }
}
