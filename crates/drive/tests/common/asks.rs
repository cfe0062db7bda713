//! Single commands to a drive, for tests: how long each took and how it ended.

use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;

use super::{BASE, load_with};

/// No cache: what a host writes goes to native blocks.
pub const UNCACHED: [&str; 6] = [
    "slc_cache.mode=none",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0",
];

/// The base with values set.
pub fn drive(sets: &[&[&str]]) -> Drive {
    Drive::new(&load_with(BASE, &[], &sets.concat()).config, 1)
}

/// Sends a command now and waits for its answer: nanoseconds, and how it ended.
pub fn ask(drive: &mut Drive, request: Request) -> (u64, Status) {
    let start = drive.now();
    drive.submit(start, request);
    let mut done: Vec<Completion> = Vec::new();
    while done.is_empty() {
        let due = drive.next_due().expect("a command is under way");
        drive.advance(due, &mut done);
    }
    ((done[0].at - start).0, done[0].status)
}

/// The same for a command without anything to it.
pub fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> (u64, Status) {
    ask(drive, Request::new(9, op, lba, sectors))
}

/// Nanoseconds of a number of bytes on the link of the base.
pub fn link(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 545_000_000
}

/// The same on one of its channels.
pub fn bus(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 400_000_000
}

/// A host that sends commands at times of its choice and hears of them later; addresses and
/// lengths in units of 4 KiB.
pub struct Host {
    pub drive: Drive,
    pub done: Vec<Completion>,
}

impl Host {
    pub fn new(sets: &[&[&str]]) -> Host {
        Host {
            drive: drive(sets),
            done: Vec::new(),
        }
    }

    /// Submits a command at a time.
    pub fn send(&mut self, at: u64, tag: u32, op: Op, unit: u64, units: u64) {
        self.drive.advance(Nanos(at), &mut self.done);
        let request = Request::new(tag, op, unit * 8, (units * 8) as u32);
        self.drive.submit(Nanos(at), request);
    }

    /// When a command was answered.
    pub fn answered(&mut self, tag: u32) -> u64 {
        loop {
            if let Some(done) = self.done.iter().find(|d| d.tag == tag) {
                return done.at.0;
            }
            let due = self.drive.next_due().expect("a command is under way");
            self.drive.advance(due, &mut self.done);
        }
    }

    /// Writes so many granules of so many units, one after another, and lets the drive come to
    /// rest; the answer is now.
    pub fn filled(&mut self, granules: u64, units: u64) -> u64 {
        for granule in 0..granules {
            let now = self.drive.now().0;
            let tag = 1000 + granule as u32;
            self.send(now, tag, Op::Write, granule * units, units);
            self.answered(tag);
        }
        let now = self.drive.now().0 + 1_000_000;
        self.drive.advance(Nanos(now), &mut self.done);
        now
    }
}
