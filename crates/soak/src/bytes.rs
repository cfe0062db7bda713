//! Power cuts of drives that bear data, against a plain list of what each unit held.
//!
//! Every sector that is written bears its own address and a number that grows, so that what is read
//! back says which write it is of and for which address. The list keeps for each mapping unit what
//! it held after each write, and which of these the drive has promised to keep: after a cut a unit
//! holds that or something later, whole. A quarter of the drives lie in a directory, and their
//! server is killed instead: what is in memory is dropped, and the directory is opened again.
//! Drives that are made worse than their specs have to fail the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flashtwin_base::rng::Rng;
use flashtwin_base::{Nanos, Op, Status};
use flashtwin_drive::config::{Acknowledge, Flushing};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive};
use flashtwin_serve::directory::Directory;
use flashtwin_serve::disk::{Answer, Ask, Disk, SECTOR_BYTES};
use flashtwin_serve::faults::Worse;

use crate::Failure;
use crate::draw::{self, between, pick};
use crate::traffic::{Mix, Traffic};

/// Sectors of the longest request.
const MOST_SECTORS: u64 = 512;
/// The seed of the drives' own chance.
const SEED: u64 = 1;
/// Stands for a spec's hash.
const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// Words of a sector that are looked at: its address and the number of its write.
const WORD: usize = 8;

/// Directories that were made so far.
static DIRECTORIES: AtomicU64 = AtomicU64::new(0);

/// What a campaign has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Drives that were drawn.
    pub drives: u64,
    /// Requests.
    pub requests: u64,
    /// Power cuts, killed servers among them.
    pub cuts: u64,
    /// Servers that were killed.
    pub kills: u64,
    /// Units that were compared after cuts.
    pub compared: u64,
    /// Among them those that had lost what nobody had promised.
    pub rolled_back: u64,
}

/// What a unit held: the number of each sector's write; 0 is zeros.
type Content = Vec<u64>;

/// What one unit may hold.
#[derive(Clone, Debug)]
struct Unit {
    /// What it held, in order.
    contents: Vec<Content>,
    /// The first that it may be found with.
    floor: usize,
}

/// A change under way or acknowledged: a unit, and which of its contents.
type Place = (u32, usize);

struct Sent {
    ask: (Op, u64, u64, bool),
    changes: Vec<Place>,
    /// Of a flush: how many acknowledged changes it covers.
    covers: usize,
}

struct Host<'a> {
    disk: Option<Disk>,
    config: &'a Config,
    rng: Rng,
    traffic: Traffic,
    units: BTreeMap<u32, Unit>,
    sent: Vec<Option<Sent>>,
    acknowledged: Vec<Place>,
    promised: usize,
    written: u64,
    ended: bool,
    place: Option<PathBuf>,
    worse: Worse,
    report: &'a mut Report,
}

impl Host<'_> {
    fn disk(&mut self) -> &mut Disk {
        self.disk.as_mut().expect("a drive is served")
    }

    fn unit_bytes(&self) -> u64 {
        u64::from(self.config.policy.unit_bytes)
    }

    fn sectors(&self) -> usize {
        (self.unit_bytes() / SECTOR_BYTES) as usize
    }

    fn unit(&mut self, lpn: u32) -> &mut Unit {
        let zeros = vec![0; self.sectors()];
        self.units.entry(lpn).or_insert_with(|| Unit {
            contents: vec![zeros],
            floor: 0,
        })
    }

    fn touched(&self, offset: u64, length: u64) -> std::ops::Range<u32> {
        let unit = self.unit_bytes();
        (offset / unit) as u32..(offset + length).div_ceil(unit) as u32
    }

    fn is_durable(&self, op: Op, fua: bool) -> bool {
        let protected = self.config.controller.power_loss_protection;
        let through = self.config.controller.acknowledge == Acknowledge::WriteThrough;
        match op {
            Op::Write => protected || through || (fua && self.keeps_flushed()),
            _ => protected,
        }
    }

    /// A flush or FUA promises what it covers.
    fn keeps_flushed(&self) -> bool {
        let controller = &self.config.controller;
        controller.power_loss_protection || controller.flush.how != Flushing::Ignored
    }

    fn trims_last(&self) -> bool {
        self.config.controller.power_loss_protection || self.config.policy.durability.trim_journal
    }

    /// True if a change under way touches the units.
    fn is_busy(&self, units: &std::ops::Range<u32>) -> bool {
        let under_way = self.sent.iter().flatten().flat_map(|s| &s.changes);
        under_way.into_iter().any(|(lpn, _)| units.contains(lpn))
    }

    /// Sends a request if a tag is free and no other change of its units is under way.
    fn command(&mut self, mix: &Mix) {
        let (op, lba, sectors, fua) = self.traffic.command(mix, &mut self.rng);
        let sectors = u64::from(sectors).min(MOST_SECTORS);
        let (offset, length) = (lba.saturating_mul(SECTOR_BYTES), sectors * SECTOR_BYTES);
        let end = offset.saturating_add(length);
        let Some(tag) = self.sent.iter().position(Option::is_none) else {
            return;
        };
        if end > self.config.capacity_bytes || (op != Op::Flush && sectors == 0) {
            return;
        }
        let units = self.touched(offset, length);
        let mut sent = Sent {
            ask: (op, offset, length, fua),
            changes: Vec::new(),
            covers: self.promised + self.acknowledged.len(),
        };
        let mut data = None;
        if matches!(op, Op::Write | Op::Trim) {
            if self.is_busy(&units) {
                return;
            }
            self.written += 1;
            let number = if op == Op::Write && !self.rng.chance(5) {
                data = Some(pattern(lba, sectors, self.written));
                self.written
            } else {
                0
            };
            sent.changes = self.change(op, (lba, sectors), number);
        }
        self.report.requests += 1;
        self.sent[tag] = Some(sent);
        let ask = Ask {
            op,
            offset,
            length,
            fua,
            data,
        };
        let submitted = self.disk().submit(tag as u32, ask);
        submitted.unwrap_or_else(|error| panic!("there is no log: {error}"));
    }

    /// What the units of a write or trim hold after it.
    fn change(&mut self, op: Op, (lba, sectors): (u64, u64), number: u64) -> Vec<Place> {
        let per_unit = self.sectors() as u64;
        let trims_last = self.trims_last();
        let mut changes = Vec::new();
        for lpn in self.touched(lba * SECTOR_BYTES, sectors * SECTOR_BYTES) {
            let begin = u64::from(lpn) * per_unit;
            let (from, to) = (begin.max(lba), (begin + per_unit).min(lba + sectors));
            // The drive's last unit may be cut short by its end.
            let last = self.config.capacity_bytes / SECTOR_BYTES;
            let whole = from == begin && to == (begin + per_unit).min(last);
            if op == Op::Trim && !whole {
                continue;
            }
            let unit = self.unit(lpn);
            let mut content = unit.contents.last().expect("it holds something").clone();
            content[(from - begin) as usize..(to - begin) as usize].fill(number);
            unit.contents.push(content);
            if op == Op::Trim && !trims_last {
                unit.floor = 0;
            }
            changes.push((lpn, unit.contents.len() - 1));
        }
        changes
    }

    fn promise(&mut self, (lpn, index): Place) {
        let unit = self.unit(lpn);
        unit.floor = unit.floor.max(index);
    }

    /// Lets the next thing happen.
    fn step(&mut self) -> Result<(), String> {
        let Some(due) = self.disk().next_due() else {
            return Ok(());
        };
        let mut answers = Vec::new();
        let moved = self.disk().advance(due, &mut answers);
        moved
            .and_then(|()| self.disk().commit())
            .map_err(|error| error.to_string())?;
        answers.into_iter().try_for_each(|answer| self.hear(answer))
    }

    fn hear(&mut self, answer: Answer) -> Result<(), String> {
        let sent = self.sent[answer.tag as usize].take();
        let sent = sent.ok_or_else(|| format!("an answer to nobody: {answer:?}"))?;
        let (op, offset, length, fua) = sent.ask;
        match answer.status {
            Status::Ok => {}
            Status::ReadOnly => {
                self.ended = true;
                return Ok(());
            }
            Status::Unreadable if self.config.errors.correctable > 0 && op == Op::Read => {
                return Ok(());
            }
            other => return Err(format!("{op:?} at {offset} ends as {other:?}")),
        }
        match op {
            // At its end of life the drive keeps what it has of writes that it refused.
            Op::Read if self.disk().drive().ftl().is_read_only() => {}
            Op::Read => self.compare_read(offset, length, answer.ask.data.as_deref())?,
            Op::Flush if !self.keeps_flushed() => {}
            Op::Flush => {
                let count = sent.covers.saturating_sub(self.promised);
                let covered: Vec<Place> = self.acknowledged.drain(..count).collect();
                self.promised += count;
                let keeps_trims = self.trims_last();
                covered
                    .into_iter()
                    .filter(|place| keeps_trims || !self.trimmed_since(*place))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|place| self.promise(place));
            }
            _ => {
                let durable = self.is_durable(op, fua);
                for place in sent.changes {
                    if durable && (op == Op::Write || self.trims_last()) {
                        self.promise(place);
                    } else {
                        self.acknowledged.push(place);
                    }
                }
            }
        }
        Ok(())
    }

    /// True if a unit was trimmed at or after a change of it: without a journal of trims nothing is
    /// promised of what was before.
    fn trimmed_since(&self, (lpn, index): Place) -> bool {
        let unit = &self.units[&lpn];
        let later = &unit.contents[index..];
        later.iter().any(|c| c.iter().all(|&number| number == 0))
    }

    fn numbers(&self, offset: u64, data: &[u8]) -> Result<Vec<u64>, String> {
        let sectors = data.chunks_exact(SECTOR_BYTES as usize);
        let first = offset / SECTOR_BYTES;
        let numbers = sectors
            .zip(first..)
            .map(|(sector, lba)| number_of(sector, lba));
        numbers.collect()
    }

    /// A read finds what was written last, or what is being written.
    fn compare_read(
        &mut self,
        offset: u64,
        length: u64,
        data: Option<&[u8]>,
    ) -> Result<(), String> {
        let data = data.ok_or("a read without data")?;
        let numbers = self.numbers(offset, data)?;
        let per_unit = self.sectors() as u64;
        let first = offset / SECTOR_BYTES;
        for lpn in self.touched(offset, length) {
            let busy = self.is_busy(&(lpn..lpn + 1));
            let unit = self.unit(lpn).clone();
            let begin = u64::from(lpn) * per_unit;
            let (from, to) = (
                begin.max(first),
                (begin + per_unit).min(first + length / SECTOR_BYTES),
            );
            let there = &numbers[(from - first) as usize..(to - first) as usize];
            let within = (from - begin) as usize..(to - begin) as usize;
            let latest = unit.contents.len() - 1;
            let oldest = latest - usize::from(busy && latest > 0);
            if !(unit.contents[oldest..])
                .iter()
                .any(|c| c[within.clone()] == *there)
            {
                return Err(format!("Lpn({lpn}) reads as {there:?}"));
            }
        }
        Ok(())
    }

    /// The drive has come back: every unit that was ever written holds what it may.
    fn compare_all(&mut self) -> Result<(), String> {
        self.sent.iter_mut().for_each(|sent| *sent = None);
        self.promised += self.acknowledged.len();
        self.acknowledged.clear();
        let (unit_bytes, trims_last) = (self.unit_bytes(), self.trims_last());
        self.disk().drive().ftl().check();
        let capacity = self.config.capacity_bytes;
        for (lpn, mut unit) in std::mem::take(&mut self.units) {
            let offset = u64::from(lpn) * unit_bytes;
            let length = unit_bytes.min(capacity - offset);
            let data = self.disk().read(offset, length);
            let mut there = self.numbers(offset, &data.map_err(|error| error.to_string())?)?;
            there.resize(self.sectors(), 0);
            let latest = unit.contents.len() - 1;
            let Some(index) = unit.contents.iter().rposition(|c| *c == there) else {
                let held = unit.contents.iter().map(|c| brief(c)).collect::<Vec<_>>();
                return Err(format!(
                    "Lpn({lpn}) holds {}, and held {held:?}, {} promised",
                    brief(&there),
                    unit.floor
                ));
            };
            if index < unit.floor {
                return Err(format!(
                    "Lpn({lpn}) is as after change {index}, and {} was promised",
                    unit.floor
                ));
            }
            self.report.compared += 1;
            self.report.rolled_back += u64::from(index < latest);
            unit.contents.truncate(index + 1);
            // What has no place on the flash has no older version there that could come back.
            let nowhere = self.disk().drive().ftl().locate(lpn).is_none();
            if trims_last || nowhere {
                unit.contents.drain(..index);
            }
            unit.floor = unit.contents.len() - 1;
            self.units.insert(lpn, unit);
        }
        Ok(())
    }

    /// The power goes now or soon.
    fn cut(&mut self) -> Result<(), String> {
        let span = pick(&mut self.rng, &[0, 1_000, 100_000, 3_000_000, 50_000_000]);
        let at = self.disk().drive().now() + Nanos(self.rng.below(span + 1));
        let off = Nanos(pick(&mut self.rng, &[0, 1_000_000_000]));
        let seed = self.rng.below(1 << 32) as u32;
        let cut = self.disk().cut(at, off, seed);
        cut.map_err(|error| error.to_string())?;
        self.report.cuts += 1;
        self.compare_all()
    }

    /// The server is killed, and started again on its directory.
    fn kill(&mut self, place: &Path) -> Result<(), String> {
        drop(self.disk.take());
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let directory = Directory::lock(place).map_err(|error| told(&error))?;
        let stored = directory.stored(HASH).map_err(|error| told(&error))?;
        let stored = stored.ok_or("the directory is empty")?;
        let resumed = Disk::resumed(self.config, stored.identity, directory, stored.clean);
        let (mut disk, _) = resumed.map_err(|error| told(&error))?;
        disk.set_worse(self.worse);
        self.disk = Some(disk);
        self.report.cuts += 1;
        self.report.kills += 1;
        self.compare_all()
    }

    /// Requests at a depth, in whose midst the power goes.
    fn episode(&mut self) -> Result<(), String> {
        let mut mix = Mix::drawn(&mut self.rng);
        mix.depth = mix.depth.min(self.sent.len());
        for _ in 0..self.rng.below(mix.commands + 1) {
            while self.sent.iter().flatten().count() >= mix.depth {
                self.step()?;
            }
            self.command(&mix);
        }
        for _ in 0..self.rng.below(60) {
            self.step()?;
        }
        let place = self.place.clone();
        match place {
            Some(place) if self.rng.chance(70) => self.kill(&place),
            _ => self.cut(),
        }
    }
}

/// The numbers of a unit's sectors, runs of one number together.
fn brief(content: &[u64]) -> String {
    let runs = content.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| format!("{}*{}", run[0], run.len()));
    runs.collect::<Vec<_>>().join(" ")
}

/// Sectors that bear their address and the number of their write.
fn pattern(lba: u64, sectors: u64, number: u64) -> Vec<u8> {
    let mut data = vec![0; (sectors * SECTOR_BYTES) as usize];
    for (sector, lba) in data.chunks_exact_mut(SECTOR_BYTES as usize).zip(lba..) {
        for (at, word) in sector.chunks_exact_mut(WORD).enumerate() {
            let value = if at % 2 == 0 { lba } else { number };
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    data
}

/// The number that a sector bears; 0 for zeros.
fn number_of(sector: &[u8], lba: u64) -> Result<u64, String> {
    if sector.iter().all(|&byte| byte == 0) {
        return Ok(0);
    }
    let mut number = [0; WORD];
    number.copy_from_slice(&sector[WORD..2 * WORD]);
    let number = u64::from_le_bytes(number);
    if sector == pattern(lba, 1, number) {
        Ok(number)
    } else {
        Err(format!(
            "sector {lba} is torn or another's: {:?}",
            &sector[..2 * WORD]
        ))
    }
}

/// Cuts the power of drives that the seed draws `cuts` times; all of them are `worse` than their
/// specs. `watch` hears after each drive.
///
/// # Errors
/// The first unit that does not hold what it may.
pub fn campaign(
    seed: u64,
    cuts: u64,
    worse: Worse,
    mut watch: impl FnMut(&Report),
) -> Result<Report, Failure> {
    let mut report = Report::default();
    while report.cuts < cuts {
        let index = report.drives;
        let mut rng = Rng::new(seed, index << 8 | 0xB7);
        let drawn = draw::drive_with(&mut rng, &[]);
        let (config, drive) = drawn.map_err(|what| Failure {
            what,
            drive: String::new(),
            index,
        })?;
        report.drives += 1;
        let left = cuts - report.cuts;
        life(&config, rng, index, left, worse, &mut report).map_err(|what| Failure {
            what: format!("{what} after power cut {}", report.cuts),
            drive,
            index,
        })?;
        watch(&report);
    }
    Ok(report)
}

fn life(
    config: &Config,
    mut rng: Rng,
    index: u64,
    left: u64,
    worse: Worse,
    report: &mut Report,
) -> Result<(), String> {
    let drive = Drive::new(config, SEED);
    let depth = flashtwin_base::Device::queue_depth(&drive) as usize;
    // Campaigns of one process may go side by side.
    let number = DIRECTORIES.fetch_add(1, Ordering::Relaxed);
    let name = format!("flashtwin-bytes-{}-{number}", std::process::id());
    let place = (index % 4 == 3).then(|| std::env::temp_dir().join(name));
    let mut disk = match &place {
        None => Disk::in_memory(drive, rng.chance(20)),
        Some(place) => {
            let directory = Directory::lock(place).map_err(|error| error.to_string())?;
            let identity = Identity {
                spec_hash: HASH.to_owned(),
                seed: SEED,
            };
            let made = Disk::in_directory(drive, identity, directory);
            made.map_err(|error| error.to_string())?
        }
    };
    disk.set_worse(worse);
    let episodes = between(&mut rng, 4, 20).min(left);
    let mut host = Host {
        disk: Some(disk),
        config,
        rng,
        traffic: Traffic::new(config),
        units: BTreeMap::new(),
        sent: (0..depth).map(|_| None).collect(),
        acknowledged: Vec::new(),
        promised: 0,
        written: 0,
        ended: false,
        place: place.clone(),
        worse,
        report,
    };
    let mut lived = Ok(());
    for _ in 0..episodes {
        lived = host.episode();
        if lived.is_err() || host.ended {
            break;
        }
    }
    drop(host);
    if let Some(place) = place {
        std::fs::remove_dir_all(place).map_err(|error| error.to_string())?;
    }
    lived
}
