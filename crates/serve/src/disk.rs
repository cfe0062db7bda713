//! The drive with its bytes, in virtual time: what a host wrote is what it reads, wherever the
//! firmware has put it, and after a power cut what the flash still has.
//!
//! A request's life: [`Disk::submit`] notes it in the journal and gives it to the drive;
//! [`Disk::advance`] lets time pass, puts the data of whatever was placed into its slots, and hands
//! out what has ended; [`Disk::commit`] ends the journal's batch. Invariant: nothing is told to a
//! client before the commit that follows its end, so that what anybody was told outlives the
//! server, and slots are handed out again only by a commit, so that what the last batch ended with
//! is still there. No clock is read here.

use std::collections::VecDeque;
use std::io;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive};
use flashtwin_ftl::Change;
use flashtwin_ftl::blocks::State;

use crate::directory::{Directory, DirectoryError};
use crate::faults::{Fault, Lost, Worse, lose_where};
use crate::journal::{Journal, Record};
use crate::log::Log;
use crate::store::Store;

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;
/// Writes whose end a cut may shear off.
const RECENT: usize = 256;
/// Bytes of a journal after which it is begun anew as soon as nothing is outstanding, and at which
/// nothing more is taken until then: replaying it takes as long as simulating it did.
const JOURNAL_WANTED: u64 = 1 << 27;
const JOURNAL_MOST: u64 = 1 << 31;
/// Stream of the choice of superblocks that a cut takes.
const LOSSES: u64 = 0x10_55E5;

/// What the host asks for; `data` is what is written, none for zeros.
#[derive(Debug)]
pub struct Ask {
    /// The kind.
    pub op: Op,
    /// First byte; a multiple of a sector.
    pub offset: u64,
    /// Bytes; a multiple of a sector.
    pub length: u64,
    /// On flash before the answer.
    pub fua: bool,
    /// What is written; none for zeros.
    pub data: Option<Vec<u8>>,
}

/// The end of what was asked for.
#[derive(Debug)]
pub struct Answer {
    /// The number that it was submitted under.
    pub tag: u32,
    /// When.
    pub at: Nanos,
    /// How.
    pub status: Status,
    /// What was asked for; of a read that ended well `data` is what was read.
    pub ask: Ask,
}

/// What the host asked for since the server began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By kind: reads, writes, trims, flushes.
    pub requests: [u64; 4],
    /// Bytes, by kind.
    pub bytes: [u64; 4],
    /// Writes with FUA.
    pub fua: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Power cuts.
    pub cuts: u64,
}

/// A drive that bears data.
pub struct Disk {
    drive: Drive,
    store: Store,
    unit: u64,
    /// What is under way, by its tag.
    asks: Vec<Option<Ask>>,
    completions: Vec<Completion>,
    kept: Option<Kept>,
    log: Option<Log>,
    worse: Worse,
    lost: Lost,
    slow: Vec<Fault>,
    recent: VecDeque<Change>,
    /// Something was asked, placed or has ended since the last commit.
    moved: bool,
    counts: Counts,
    dead: bool,
}

struct Kept {
    directory: Directory,
    journal: Journal,
    identity: Identity,
}

impl Disk {
    /// Of a drive, in memory.
    #[must_use]
    pub fn in_memory(mut drive: Drive, packed: bool) -> Disk {
        drive.enable_contents();
        let store = Store::memory(drive.map_unit_bytes() as usize, packed);
        Disk::new(drive, store, None)
    }

    /// Of a drive, in a directory that holds nothing yet.
    ///
    /// # Errors
    /// As the system has it.
    pub fn in_directory(
        mut drive: Drive,
        identity: Identity,
        mut directory: Directory,
    ) -> Result<Disk, DirectoryError> {
        drive.enable_contents();
        let store = Store::file(drive.map_unit_bytes() as usize, directory.bytes()?);
        let journal = directory.keep(&mut drive, &identity, (false, false))?;
        let kept = Kept {
            directory,
            journal,
            identity,
        };
        Ok(Disk::new(drive, store, Some(kept)))
    }

    /// The drive that a directory holds, started anew, and how long it took for its start. `clean`
    /// says that its last use ended in order; otherwise it ended with a power cut.
    ///
    /// # Errors
    /// When the directory is not whole, or the system refuses.
    pub fn resumed(
        config: &Config,
        identity: Identity,
        mut directory: Directory,
        clean: bool,
    ) -> Result<(Disk, Nanos), DirectoryError> {
        let drive = directory.load(config, &identity.spec_hash)?;
        let unit = drive.map_unit_bytes();
        let bytes = directory.bytes()?;
        let of_store = bytes.try_clone().map_err(|error| DirectoryError::Io {
            place: directory.path().to_owned(),
            error,
        })?;
        let mut disk = Disk::new(drive, Store::file(unit as usize, of_store), None);
        let journal = directory.replay(|record| disk.again(record))?;
        let ftl = disk.drive.ftl();
        let slots = (0..ftl.logical_units()).filter_map(|lpn| ftl.slot(lpn));
        let needed = slots
            .max()
            .map_or(0, |last| u64::from(last + 1) * u64::from(unit));
        directory.check_length(&bytes, needed)?;
        directory.begin_use()?;
        let place = directory.path().to_owned();
        disk.kept = Some(Kept {
            directory,
            journal,
            identity,
        });
        let now = disk.drive.now();
        let told = |error| DirectoryError::Io { place, error };
        let start = if clean && disk.drive.is_off() {
            let start = disk.drive.power_on(now);
            disk.drive.advance(now, &mut disk.completions);
            disk.note(Record::Cut {
                at: now,
                off: Nanos::ZERO,
                lost: 0,
                seed: 0,
            });
            disk.commit().map_err(told)?;
            start
        } else {
            disk.lose_power().map_err(told)?
        };
        Ok((disk, start))
    }

    fn new(drive: Drive, store: Store, kept: Option<Kept>) -> Disk {
        let depth = drive.queue_depth() as usize;
        Disk {
            unit: u64::from(drive.map_unit_bytes()),
            asks: (0..depth).map(|_| None).collect(),
            drive,
            store,
            completions: Vec::new(),
            kept,
            log: None,
            worse: Worse::default(),
            lost: Lost::default(),
            slow: Vec::new(),
            recent: VecDeque::new(),
            moved: false,
            counts: Counts::default(),
            dead: false,
        }
    }

    /// From now on the drive is worse than its spec in these ways.
    pub fn set_worse(&mut self, worse: Worse) {
        self.worse = worse;
    }

    /// From now on all that is asked of it stands in a log.
    pub fn set_log(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// The drive.
    #[must_use]
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// What was asked for so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Requests that may be outstanding at once; their tags are below it.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.asks.len()
    }

    /// It did not come back after a cut.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Nothing more may be submitted until nothing is outstanding: the journal is full.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let bytes = self.kept.as_ref().map_or(0, |kept| kept.journal.bytes());
        bytes > JOURNAL_MOST
    }

    /// How its SMART data reads now.
    #[must_use]
    pub fn smart(&self) -> serde_json::Value {
        self.drive.smart()
    }

    /// When something next happens inside.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        if self.completions.is_empty() {
            self.drive.next_due()
        } else {
            Some(self.drive.now())
        }
    }

    /// A tag that nothing is under way with.
    #[must_use]
    pub fn is_free(&self, tag: u32) -> bool {
        self.asks.get(tag as usize).is_some_and(Option::is_none)
    }

    fn note(&mut self, record: Record) {
        self.moved = true;
        if let Some(kept) = &mut self.kept {
            kept.journal.note(record);
        }
    }

    /// Submits a request under a tag that is free, at the time that the drive has reached.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn submit(&mut self, tag: u32, ask: Ask) -> io::Result<()> {
        let (at, kind) = (self.drive.now(), ask.op as usize);
        if let Some(log) = &mut self.log {
            self.moved = true;
            log.asked(at, tag, &ask)?;
        }
        self.counts.requests[kind] += 1;
        self.counts.bytes[kind] += ask.length;
        self.counts.fua += u64::from(ask.op == Op::Write && ask.fua);
        let mut request = Request::new(tag, ask.op, 0, 0);
        if ask.op != Op::Flush {
            request.lba = ask.offset / SECTOR_BYTES;
            request.sectors = (ask.length / SECTOR_BYTES) as u32;
        }
        request.fua = ask.fua && ask.op == Op::Write && !self.worse.fua_ignored;
        if ask.op == Op::Write && self.drive.ftl().compresses() {
            request.compressible_percent = compressible(ask.data.as_deref());
        }
        let place = &mut self.asks[tag as usize];
        assert!(place.is_none(), "tag {tag} is taken");
        *place = Some(ask);
        if request.op == Op::Flush && self.worse.flush_ignored {
            let status = Status::Ok;
            self.completions.push(Completion { tag, at, status });
            return Ok(());
        }
        self.note(Record::Submitted(at, request));
        self.drive.submit(at, request);
        Ok(())
    }

    /// Lets time pass; what ends is appended to `answers`.
    ///
    /// # Errors
    /// When data cannot be written or read: the drive's state in memory is then ahead of what is
    /// stored, and it is of no more use.
    pub fn advance(&mut self, to: Nanos, answers: &mut Vec<Answer>) -> io::Result<()> {
        self.drive.advance(to, &mut self.completions);
        self.place()?;
        self.answer(answers)
    }

    /// Lets time pass until something ends.
    ///
    /// # Errors
    /// As [`Disk::advance`].
    pub fn advance_until_done(&mut self, answers: &mut Vec<Answer>) -> io::Result<()> {
        if self.completions.is_empty() {
            let done = &mut self.completions;
            self.drive.advance_until_done(Nanos::NEVER, done);
        }
        self.place()?;
        self.answer(answers)
    }

    /// Ends the batch: what ended so far may be told. Whoever submits after it advances first, if
    /// only to the same instant.
    ///
    /// # Errors
    /// As [`Disk::advance`].
    pub fn commit(&mut self) -> io::Result<()> {
        if !self.moved {
            return Ok(());
        }
        let now = self.drive.now();
        if let Some(log) = &mut self.log {
            log.reached(now)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.journal.commit(now)?;
        }
        self.moved = false;
        let dropped = self.drive.settle_slots();
        self.store.drop_slots(&dropped);
        Ok(())
    }

    /// Begins the journal anew where it is long; only with nothing outstanding.
    ///
    /// # Errors
    /// As the system has it.
    pub fn tidy(&mut self) -> Result<(), DirectoryError> {
        let long = |kept: &Kept| kept.journal.bytes() > JOURNAL_WANTED;
        if self.kept.as_ref().is_some_and(long) {
            self.keep((false, false))?;
        }
        Ok(())
    }

    fn keep(&mut self, ends: (bool, bool)) -> Result<(), DirectoryError> {
        let Some(kept) = &mut self.kept else {
            return Ok(());
        };
        let (drive, identity) = (&mut self.drive, &kept.identity);
        kept.journal = kept.directory.keep(drive, identity, ends)?;
        // Faults are no part of a snapshot.
        let at = self.drive.now();
        let runs = self.lost.runs().into_iter();
        let lost = runs.map(|(lpn, units)| Fault::Unreadable { lpn, units });
        for fault in self.slow.iter().copied().chain(lost) {
            kept.journal.note(fault.record(at));
            self.moved = true;
        }
        Ok(())
    }

    /// Puts the data of what was placed into its slots.
    fn place(&mut self) -> io::Result<()> {
        let changes = self.drive.take_changes();
        self.moved |= !changes.is_empty();
        let mut rest = &changes[..];
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(0..);
            let together = |(change, n): &(&Change, u32)| {
                change.tag == first.tag
                    && change.lpn == first.lpn + n
                    && change.slot == first.slot + n
                    && self.covers(change)
            };
            let count = run.take_while(together).count().max(1);
            let (now, later) = rest.split_at(count);
            self.put(now)?;
            rest = later;
        }
        for change in &changes {
            self.lost.replaced(change.lpn);
        }
        if self.worse.shorn > 0 {
            self.recent.extend(changes);
            let surplus = self.recent.len().saturating_sub(RECENT);
            self.recent.drain(..surplus);
        }
        Ok(())
    }

    /// A write covers a unit whole.
    fn covers(&self, change: &Change) -> bool {
        let (ask, begin) = (
            ask_of(&self.asks, change),
            u64::from(change.lpn) * self.unit,
        );
        ask.offset <= begin && begin + self.unit <= ask.offset + ask.length
    }

    /// Writes units that follow one another, in slots that do; or one unit of which a part is new.
    fn put(&mut self, run: &[Change]) -> io::Result<()> {
        let (first, count) = (run[0], run.len() as u64);
        let begin = u64::from(first.lpn) * self.unit;
        let ask = ask_of(&self.asks, &first);
        if self.covers(&first) {
            let from = (begin - ask.offset) as usize;
            let bytes = (count * self.unit) as usize;
            return match &ask.data {
                Some(data) => self.store.write(first.slot, &data[from..from + bytes]),
                None => self.store.write(first.slot, &vec![0; bytes]),
            };
        }
        let mut unit = vec![0; self.unit as usize];
        if let Some(before) = first.before {
            self.store.read(before, &mut unit)?;
        }
        let from = begin.max(ask.offset);
        let to = (begin + self.unit).min(ask.offset + ask.length);
        let within = (from - begin) as usize..(to - begin) as usize;
        match &ask.data {
            Some(data) => {
                let source = (from - ask.offset) as usize..(to - ask.offset) as usize;
                unit[within].copy_from_slice(&data[source]);
            }
            None => unit[within].fill(0),
        }
        self.store.write(first.slot, &unit)
    }

    fn answer(&mut self, answers: &mut Vec<Answer>) -> io::Result<()> {
        let mut done = std::mem::take(&mut self.completions);
        for completion in done.drain(..) {
            let Completion {
                tag,
                at,
                mut status,
            } = completion;
            let ask = self.asks[tag as usize].take();
            let mut ask = ask.unwrap_or_else(|| panic!("an answer to nobody: {completion:?}"));
            if ask.op == Op::Read && status == Status::Ok {
                if self.is_lost(&ask) {
                    status = Status::Unreadable;
                    self.drive.note_failed(status);
                } else {
                    ask.data = Some(self.read(ask.offset, ask.length)?);
                }
            }
            // A program may have ended for it, and its end has to last as the answer does.
            self.moved = true;
            self.counts.failed += u64::from(status != Status::Ok);
            answers.push(Answer {
                tag,
                at,
                status,
                ask,
            });
        }
        self.completions = done;
        Ok(())
    }

    /// The units that a range touches.
    fn units(&self, offset: u64, length: u64) -> std::ops::Range<u32> {
        (offset / self.unit) as u32..(offset + length).div_ceil(self.unit) as u32
    }

    fn is_lost(&self, ask: &Ask) -> bool {
        let mut units = self.units(ask.offset, ask.length);
        self.lost.count() > 0
            && units.any(|lpn| self.lost.has(lpn) && self.drive.ftl().locate(lpn).is_some())
    }

    /// What a range holds now.
    ///
    /// # Errors
    /// As the system has it.
    pub fn read(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut out = vec![0; length as usize];
        let unit_bytes = self.unit as usize;
        for lpn in self.units(offset, length) {
            let Some(slot) = self.drive.ftl().slot(lpn) else {
                continue;
            };
            let begin = u64::from(lpn) * self.unit;
            let from = begin.max(offset);
            let to = (begin + self.unit).min(offset + length);
            let out = &mut out[(from - offset) as usize..(to - offset) as usize];
            if out.len() == unit_bytes {
                self.store.read(slot, out)?;
            } else {
                let mut unit = vec![0; unit_bytes];
                self.store.read(slot, &mut unit)?;
                let within = (from - begin) as usize..(to - begin) as usize;
                out.copy_from_slice(&unit[within]);
            }
        }
        Ok(out)
    }

    /// Which parts of a range hold data: lengths, and NBD's flags (1 a hole, 2 zeros); no more
    /// than `most` of them, which may end before the range does.
    #[must_use]
    pub fn allocation(&self, offset: u64, length: u64, most: usize) -> Vec<(u32, u32)> {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for lpn in self.units(offset, length) {
            let ftl = self.drive.ftl();
            let flags = match (ftl.locate(lpn), ftl.slot(lpn)) {
                (None, _) => 3,
                (_, None) => 2,
                _ => 0,
            };
            let begin = u64::from(lpn) * self.unit;
            let bytes = (begin + self.unit).min(offset + length) - begin.max(offset);
            let count = ranges.len();
            match ranges.last_mut() {
                Some((sum, same)) if *same == flags => *sum += bytes as u32,
                _ if count == most => break,
                _ => ranges.push((bytes as u32, flags)),
            }
        }
        ranges
    }

    /// Something breaks now.
    ///
    /// # Errors
    /// When the drive has no such part.
    pub fn break_down(&mut self, fault: Fault) -> Result<(), String> {
        fault.check(&self.drive)?;
        let at = self.drive.now();
        self.note(fault.record(at));
        if let Some(log) = &mut self.log {
            log.broke(at, fault);
        }
        self.broken(fault);
        Ok(())
    }

    fn broken(&mut self, fault: Fault) {
        let (drive, lost) = (&mut self.drive, &mut self.lost);
        match fault {
            Fault::SlowDie { die, milli } => {
                drive.slow_die(die, milli);
                self.slow.push(fault);
            }
            Fault::DeadDie { die } => {
                lose_where(drive, lost, |d, ppn| d.ftl().read_place(ppn).0 == die);
            }
            Fault::DeadBlock { superblock } => {
                let within = |d: &Drive, ppn| d.ftl().layout().superblock_of(ppn) == superblock;
                lose_where(drive, lost, within);
            }
            Fault::Unreadable { lpn, units } => (lpn..lpn + units).for_each(|lpn| lost.lose(lpn)),
            Fault::ReadOnly => drive.end_life(),
            Fault::Ambient { millicelsius } => {
                drive.set_ambient(millicelsius);
                self.slow.push(fault);
            }
        }
    }

    /// The power goes at `at`, for `off`; what was under way is never answered. The answer is how
    /// long the drive takes for its start, of which the drive is not told before: requests may be
    /// submitted at once. `seed` chooses what a drive that is worse than its spec loses.
    ///
    /// # Errors
    /// As [`Disk::advance`].
    pub fn cut(&mut self, at: Nanos, off: Nanos, seed: u32) -> io::Result<Nanos> {
        // Of what is due at this very instant some may have happened already: all of it does, and
        // the journal says so, since a cut comes before what is due with it.
        let now = self.drive.now();
        self.drive.advance(now, &mut self.completions);
        self.place()?;
        self.moved = true;
        self.commit()?;
        let at = at.max(now);
        self.drive.power_cut(at, &mut self.completions);
        self.place()?;
        self.asks.iter_mut().for_each(|ask| *ask = None);
        self.completions.clear();
        let lost = self.worse.superblocks_lost;
        self.note(Record::Cut {
            at,
            off,
            lost,
            seed,
        });
        if let Some(log) = &mut self.log {
            log.cut(at, off, seed);
        }
        let start = self.start(at + off, lost, seed);
        self.shear(seed)?;
        self.counts.cuts += 1;
        self.moved = true;
        self.commit()?;
        self.dead = self.worse.never_back;
        Ok(start)
    }

    /// The server was killed: a cut at the instant of its last batch. What a drive that is worse
    /// than its spec would lose is chosen while it is served.
    ///
    /// # Errors
    /// As [`Disk::advance`].
    pub(crate) fn lose_power(&mut self) -> io::Result<Nanos> {
        let worse = std::mem::take(&mut self.worse);
        let start = self.cut(self.drive.now(), Nanos::ZERO, 0);
        self.worse = worse;
        start
    }

    /// The power comes; before that superblocks are lost.
    fn start(&mut self, at: Nanos, lost: u32, seed: u32) -> Nanos {
        let blocks = self.drive.ftl().superblocks().iter().zip(0u32..);
        let written = blocks.filter(|(b, _)| !matches!(b.state, State::Free | State::Retired));
        let mut written: Vec<u32> = written.map(|(_, superblock)| superblock).collect();
        let mut chance = Rng::new(seed.into(), LOSSES);
        for _ in 0..lost.min(written.len() as u32) {
            let place = chance.below(written.len() as u64) as usize;
            self.drive.lose_superblock(written.swap_remove(place));
        }
        let time = self.drive.power_on(at);
        // A batch ends with all done that is due by then, here as where it is replayed.
        self.drive.advance(at, &mut self.completions);
        time
    }

    /// Of the last writes that are still there, some have their old end.
    fn shear(&mut self, seed: u32) -> io::Result<()> {
        let mut chance = Rng::new(seed.into(), LOSSES + 1);
        let mut recent = std::mem::take(&mut self.recent);
        for _ in 0..self.worse.shorn {
            while let Some(change) = recent.pop_back() {
                if self.drive.ftl().slot(change.lpn) != Some(change.slot) {
                    continue;
                }
                let (mut new, mut old) = (vec![0; self.unit as usize], vec![0; self.unit as usize]);
                self.store.read(change.slot, &mut new)?;
                if let Some(before) = change.before {
                    self.store.read(before, &mut old)?;
                }
                // Three or seven eighths are new, as Zheng and others saw it (FAST'13).
                let kept = new.len() / 8 * if chance.chance(50) { 3 } else { 7 };
                new[kept..].copy_from_slice(&old[kept..]);
                self.store.write(change.slot, &new)?;
                break;
            }
        }
        Ok(())
    }

    /// What the journal says happened after the snapshot happens again. Its bytes are in their
    /// slots already.
    fn again(&mut self, record: Record) {
        match record {
            Record::Submitted(at, request) => {
                self.catch_up(at);
                self.drive.submit(at, request);
            }
            Record::Reached(at) => {
                self.drive.advance(at, &mut self.completions);
                self.drive.settle_slots();
            }
            Record::Cut {
                at,
                off,
                lost,
                seed,
            } => {
                if self.drive.is_off() {
                    self.drive.power_on(at);
                    self.drive.advance(at, &mut self.completions);
                } else {
                    self.drive.power_cut(at, &mut self.completions);
                    self.start(at + off, lost, seed);
                }
            }
            Record::Broke {
                at,
                kind,
                which,
                amount,
            } => {
                self.catch_up(at);
                if let Some(fault) = Fault::of(kind, which, amount) {
                    self.broken(fault);
                }
            }
        }
        self.completions.clear();
        for change in self.drive.take_changes() {
            self.lost.replaced(change.lpn);
        }
    }

    /// Comes to a later instant. What is due at the present one waits, as it did: requests of one
    /// instant are submitted one after the other, before anything comes of them.
    fn catch_up(&mut self, at: Nanos) {
        if at > self.drive.now() {
            self.drive.advance(at, &mut self.completions);
        }
    }

    /// Comes to a later instant and hands out what has ended, as it did before a request that is
    /// replayed.
    pub(crate) fn catch_up_to(&mut self, at: Nanos, answers: &mut Vec<Answer>) -> io::Result<()> {
        self.catch_up(at);
        self.place()?;
        self.answer(answers)
    }

    /// Switches the drive off, as a host does that means to, and stores it; the answer is how long
    /// the drive took. Nothing may be outstanding, unless the drive does not come back.
    ///
    /// # Errors
    /// As the system has it.
    pub fn shut_down(&mut self) -> Result<Nanos, DirectoryError> {
        let time = if self.dead {
            Nanos::ZERO
        } else {
            self.drive.shut_down()
        };
        self.drive.settle_slots();
        if let Some(log) = &mut self.log {
            let ended = log.ended(self.drive.now());
            ended.map_err(|error| DirectoryError::Io {
                place: "the log".into(),
                error,
            })?;
        }
        if let Some(kept) = &self.kept {
            let place = kept.directory.path().join("bytes");
            let told = |error| DirectoryError::Io { place, error };
            self.store.sync().map_err(told)?;
        }
        self.keep((true, self.dead))?;
        if let Some(kept) = &mut self.kept
            && self.moved
        {
            let place = kept.directory.path().to_owned();
            let told = |error| DirectoryError::Io { place, error };
            let committed = kept.journal.commit(self.drive.now());
            committed.and_then(|()| kept.journal.sync()).map_err(told)?;
        }
        Ok(time)
    }
}

/// The command whose data was placed.
fn ask_of<'a>(asks: &'a [Option<Ask>], change: &Change) -> &'a Ask {
    let ask = asks[change.tag as usize].as_ref();
    ask.unwrap_or_else(|| panic!("data was placed of no command: {change:?}"))
}

/// How much smaller a compressing controller could make data, in percent.
fn compressible(data: Option<&[u8]>) -> u8 {
    let Some(data) = data.filter(|data| !data.is_empty()) else {
        return 100;
    };
    let packed = zstd::bulk::compress(data, 1).map_or(data.len(), |packed| packed.len());
    (100 - (100 * packed / data.len()).min(100)) as u8
}
