//! What a random host sends: commands of any length and place, a few of them out of range.

use flashtwin_base::Op;
use flashtwin_base::rng::Rng;
use flashtwin_drive::Config;

use crate::draw::{between, pick};

/// What a phase is made of; what is nothing else is a write.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// How many.
    pub commands: u64,
    /// Commands under way at once.
    pub depth: usize,
    /// Flushes in a hundred commands.
    pub flushes: u32,
    /// Trims in a hundred.
    pub trims: u32,
    /// Reads in a hundred.
    pub reads: u32,
    /// Writes in a hundred that are to be durable when acknowledged.
    pub fua: u32,
    /// Commands in a hundred that go on where the last one ended.
    pub sequential: u32,
    /// Share of the drive that random addresses come from, in a hundred.
    pub span: u64,
    /// Units of an ordinary command.
    pub block: u64,
}

impl Mix {
    /// Any of them.
    #[must_use]
    pub fn drawn(rng: &mut Rng) -> Mix {
        Mix {
            commands: between(rng, 20, 250),
            depth: pick(rng, &[1, 1, 2, 5, 16, 32, 32]),
            flushes: pick(rng, &[0, 0, 2, 10]),
            trims: pick(rng, &[0, 0, 5, 20]),
            reads: pick(rng, &[0, 0, 10, 40]),
            fua: pick(rng, &[0, 0, 5, 50]),
            sequential: pick(rng, &[0, 50, 95]),
            span: pick(rng, &[5, 30, 100, 100]),
            block: pick(rng, &[1, 1, 4, 32]),
        }
    }
}

/// Where commands go on one drive.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Sectors of a mapping unit.
    pub unit_sectors: u64,
    /// Sectors of the drive.
    pub sectors: u64,
    /// Where a sequential stream goes on.
    next: u64,
}

impl Traffic {
    /// For a drive.
    #[must_use]
    pub fn new(config: &Config) -> Traffic {
        Traffic {
            unit_sectors: u64::from(config.policy.unit_bytes) / 512,
            sectors: config.capacity_bytes / 512,
            next: 0,
        }
    }

    /// The next command of a phase: operation, address, sectors, FUA.
    pub fn command(&mut self, mix: &Mix, rng: &mut Rng) -> (Op, u64, u32, bool) {
        let roll = rng.below(100) as u32;
        if roll < mix.flushes {
            return (Op::Flush, 0, 0, false);
        }
        let (lba, sectors) = self.place(mix, rng);
        let op = match roll - mix.flushes {
            r if r < mix.trims => Op::Trim,
            r if r < mix.trims + mix.reads => Op::Read,
            _ => Op::Write,
        };
        let fua = op == Op::Write && rng.chance(mix.fua);
        (op, lba, sectors as u32, fua)
    }

    /// Address and sectors: mostly whole units within the drive.
    fn place(&mut self, mix: &Mix, rng: &mut Rng) -> (u64, u64) {
        let unit = self.unit_sectors;
        let sectors = match rng.below(10) {
            0 => between(rng, 1, 300),
            1 => unit * between(rng, 1, 512),
            2 => 1,
            _ => unit * mix.block,
        };
        let sectors = sectors.min(self.sectors);
        let sequential = rng.chance(mix.sequential);
        let mut lba = if sequential {
            self.next
        } else {
            rng.below((self.sectors * mix.span / 100).max(1))
        };
        if rng.chance(80) {
            lba = lba / unit * unit;
        }
        if rng.below(2000) == 0 {
            lba = u64::MAX - rng.below(1 << 12);
        } else if lba + sectors > self.sectors && !rng.chance(2) {
            let last = self.sectors - sectors;
            lba = if sequential { 0 } else { last };
        }
        self.next = lba.saturating_add(sectors) % self.sectors;
        (lba, sectors)
    }
}
