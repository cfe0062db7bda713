//! Reads meet bit errors, rows are rebuilt from their stripes, and old data is refreshed (see
//! [`crate::errors`] and [`crate::rebuild`]).

use flashtwin_ftl::{NandOp, Policies, Token};

use super::Drive;
use crate::errors::ErrorCounts;

impl<P: Policies> Drive<P> {
    /// What bit errors have cost so far.
    #[must_use]
    pub fn error_counts(&self) -> ErrorCounts {
        self.errors.counts()
    }

    /// A read of the row that a physical unit lies in: the steps that it takes, and whether its
    /// data can be had, if need be from the rest of its stripe.
    fn grade_read(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        let layout = self.ftl.layout();
        let row = (layout.superblock_of(ppn), layout.row_of(ppn), op.die);
        let (steps, readable) = self.errors.grade(row, &self.ftl, &mut self.clock);
        op.retries = steps;
        readable || self.rebuild(op, ppn)
    }

    /// The steps of a row read for logical units, which may turn out to be lost.
    #[cold]
    pub(super) fn grade_units(&mut self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
        if !self.grade_read(op, ppn) {
            self.lose(lpn..lpn + units);
        }
    }

    /// A read of the firmware's own, one of those that are about to be issued. What it cannot read
    /// of the host's is lost for good, wherever it is moved. Pages of the map are kept so that they
    /// can be made anew (drives have a second copy of them, or the spare areas of what they point
    /// to): one that cannot be read costs the whole ladder, and its superblock is refreshed.
    pub(super) fn grade_own(&mut self, index: usize) {
        let token = self.ops[index].token;
        let Some(first) = self.ftl.source_of_read(token) else {
            return;
        };
        // The read may become that of a rebuild.
        let mut op = self.ops[index];
        let readable = self.grade_read(&mut op, first);
        self.ops[index] = op;
        if readable {
            return;
        }
        match token {
            Token::FoldRead(_) | Token::GcRead(_) => {
                let lost = self.ftl.units_of_row(first);
                self.lose(lost);
            }
            // The check finds what the fold will meet.
            Token::FoldCheck(_) => {}
            _ => {
                let superblock = self.ftl.layout().superblock_of(first);
                self.errors.refresh_old(superblock, &mut self.clock);
            }
        }
    }

    /// The units of a row are lost: writes of them, once understood, make them readable again.
    #[cold]
    fn lose(&mut self, units: impl IntoIterator<Item = u32>) {
        self.take_back_all();
        self.errors.lose(units);
    }

    /// The read of a row is going to fail: the rest of its stripe will be read, where it has
    /// parity. The answer is whether that brings its data back.
    #[cold]
    fn rebuild(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        if !self.errors.have_rebuilds() {
            return false;
        }
        let Some(mates) = self.ftl.stripe_mates(ppn) else {
            return false;
        };
        let place = self.ftl.wordline_at(ppn);
        let superblock = place.0;
        let (mut reads, mut readable) = (Vec::with_capacity(mates.len()), true);
        for mate in mates {
            let row = (superblock, mate.row, mate.die);
            let (retries, had) = self.errors.grade(row, &self.ftl, &mut self.clock);
            readable &= had;
            reads.push(NandOp {
                die: mate.die,
                class: mate.class,
                retries,
                pace: self.paces.of(mate.class, mate.die, place, &self.ftl),
                ..*op
            });
        }
        let refresh = readable.then_some(superblock);
        op.token = Token::Rebuild(self.rebuilds.begin(op.token, reads, refresh));
        self.errors.note_rebuild(readable);
        readable
    }

    /// A read for a rebuild has come back. The failed read sends those of the other rows, and the
    /// last of these ends the operation that asked for the row.
    #[cold]
    pub(super) fn rebuild_read(&mut self, place: u32, op: NandOp) {
        for mut read in self.rebuilds.read(place) {
            read.token = op.token;
            self.send_to_flash(read);
        }
        if let Some((token, refresh)) = self.rebuilds.end(place) {
            if let Some(superblock) = refresh {
                self.errors.refresh_soon(superblock, &mut self.clock);
            }
            self.operation_ended(NandOp { token, ..op });
        }
    }

    /// Superblocks whose data is at risk by now are refreshed; the next one sets the timer.
    pub(super) fn refresh_timer(&mut self) {
        if self.ftl.is_read_only() || !self.errors.take_timer(self.clock.now()) {
            return;
        }
        if self.background.is_purging() {
            // The purge erases what would have been refreshed.
            return;
        }
        let now = self.clock.now();
        let (any, next) = self.errors.refresh_due(now, &mut self.ftl, &mut self.ops);
        if any {
            self.ftl.pump(&mut self.ops);
            self.issue();
        }
        self.errors.set_timer(next, &mut self.clock);
    }
}
