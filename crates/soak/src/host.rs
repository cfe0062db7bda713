//! One drive's life under a random host: phases of commands, fills, rests, purges, power cuts.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::config::{Acknowledge, Flushing};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive};

use crate::Report;
use crate::cuts::Aim;
use crate::draw::{between, pick};
use crate::laws::{self, Laws, Tally};
use crate::patience::Patience;
use crate::shadow::Shadow;
use crate::traffic::{Mix, Traffic};

/// Episodes of a drive that has come to its end of life.
const AFTERLIFE: u64 = 4;
/// The seed of the drive's own chance.
const SEED: u64 = 1;
/// Thirty days in nanoseconds.
const MONTH: u64 = 30 * 86_400 * 1_000_000_000;
/// The first piece of a rest.
const REST_PIECE: Nanos = Nanos::from_secs(1);
/// Stands for a spec's hash in snapshots.
const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A request under way.
pub(crate) struct Sent {
    request: Request,
    at: Nanos,
    /// How long the drive could work until then.
    worked: Nanos,
    in_range: bool,
    /// A flush: how many changes it covers.
    covers: usize,
}

/// What an acknowledgement means on this drive.
#[derive(Clone, Copy)]
struct Meaning {
    /// Of any write.
    write_durable: bool,
    /// Of any trim.
    trim_durable: bool,
    /// Of a write with FUA, and of all that a flush covers.
    flush_durable: bool,
    /// There are bit errors: a read may be answered unreadable.
    may_lose: bool,
    /// Reads are damaged on their way, and that is found out.
    may_damage: bool,
}

pub(crate) struct Host<'a> {
    pub(crate) drive: Drive,
    pub(crate) rng: Rng,
    pub(crate) shadow: Shadow,
    config: &'a Config,
    meaning: Meaning,
    traffic: Traffic,
    pub(crate) sent: Vec<Sent>,
    pub(crate) done: Vec<Completion>,
    tag: u32,
    pub(crate) heard: Nanos,
    patience: Patience,
    pub(crate) laws: Laws,
    pub(crate) tally: Tally,
    pub(crate) cuts: u64,
    left: u64,
    /// The drive can only be read.
    ended: bool,
    /// Snapshots are loaded, and not only written.
    loads: bool,
    pub(crate) report: &'a mut Report,
}

impl Host<'_> {
    fn submit(&mut self, op: Op, lba: u64, sectors: u32, fua: bool) {
        let mut request = Request::new(self.tag, op, lba, sectors);
        request.fua = fua;
        request.compressible_percent = self.rng.below(101) as u8;
        // One handle for a part of the drive; the last ones no drive has, and they are the first.
        request.placement = (lba / (self.traffic.sectors / 10 + 1)).min(9) as u8;
        self.tag += 1;
        self.left = self.left.saturating_sub(1);
        self.report.commands += 1;
        let end = lba.checked_add(u64::from(sectors));
        let in_range = end.is_some_and(|end| end <= self.traffic.sectors);
        let at = self.drive.now();
        let changes = matches!(op, Op::Write | Op::Trim);
        if in_range && !(changes && self.drive.ftl().is_read_only()) {
            self.tally.sent(op, u64::from(sectors) * 512);
        }
        let worked = self.patience.worked(&self.drive);
        self.sent.push(Sent {
            request,
            at,
            worked,
            in_range,
            covers: self.shadow.covered(),
        });
        self.drive.submit(at, request);
    }

    /// Lets the next thing happen, and takes what was answered.
    pub(crate) fn step(&mut self) -> Result<(), String> {
        let Some(due) = self.drive.next_due() else {
            return Err("commands are under way and nothing is due".to_owned());
        };
        self.drive.advance(due, &mut self.done);
        self.hear()?;
        self.patience.worked(&self.drive);
        let bound = flashtwin_drive::waits::excusable(self.config).unwrap_or(Nanos::NEVER);
        let wait = self.drive.take_waits().map(|(wait, _)| wait);
        if let Some(wait) = wait.filter(|wait| wait.span > bound) {
            return Err(format!("{wait:?}\n{}", self.drive.ftl().describe()));
        }
        let late = |sent: &&Sent| self.patience.is_over(sent.worked);
        match self.sent.iter().find(late) {
            Some(late) => Err(format!(
                "no answer to {:?}\n{}",
                late.request,
                self.drive.ftl().describe()
            )),
            None => Ok(()),
        }
    }

    pub(crate) fn hear(&mut self) -> Result<(), String> {
        self.shadow.changed(&self.drive.take_placements());
        for answer in std::mem::take(&mut self.done) {
            let place = self.sent.iter().position(|s| s.request.tag == answer.tag);
            let Some(place) = place else {
                return Err(format!("an answer to nobody: {answer:?}"));
            };
            let sent = self.sent.swap_remove(place);
            if answer.at < self.heard || answer.at < sent.at || answer.at > self.drive.now() {
                return Err(format!("{answer:?} comes at a wrong time"));
            }
            self.heard = answer.at;
            self.tally.answered(answer.status);
            let expected = if sent.in_range {
                Status::Ok
            } else {
                Status::OutOfRange
            };
            if answer.status == Status::ReadOnly && sent.request.op != Op::Read {
                // Its end of life: what was promised stays, and nothing more is.
                self.ended = true;
                continue;
            }
            // Drives with bit errors lose data that rested too long; it is told, not hidden.
            let failed_honestly =
                answer.status == Status::Unreadable && sent.request.op == Op::Read;
            let failed_honestly = failed_honestly && self.meaning.may_lose;
            let failed_honestly =
                failed_honestly || answer.status == Status::Corrupt && self.meaning.may_damage;
            if answer.status != expected && !failed_honestly {
                return Err(format!("{:?} ends as {:?}", sent.request, answer.status));
            }
            self.mix_in(answer.at.0 ^ u64::from(answer.tag));
            self.acknowledge(&sent);
        }
        Ok(())
    }

    fn acknowledge(&mut self, sent: &Sent) {
        let tag = sent.request.tag;
        match sent.request.op {
            Op::Write => {
                let forced = sent.request.fua && self.meaning.flush_durable;
                let durable = forced || self.meaning.write_durable;
                self.shadow.acknowledged(tag, durable);
            }
            Op::Trim => self.shadow.acknowledged(tag, self.meaning.trim_durable),
            Op::Flush if self.meaning.flush_durable => self.shadow.flushed(sent.covers),
            Op::Flush | Op::Read => {}
        }
    }

    pub(crate) fn mix_in(&mut self, value: u64) {
        let answers = &mut self.report.answers;
        *answers = (answers.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn drain(&mut self) -> Result<(), String> {
        while !self.sent.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    /// Leaves the drive alone, in pieces of which each is twice as long as the one before, so that
    /// work without an end is found before a month of it.
    fn rest(&mut self, span: Nanos) -> Result<(), String> {
        let before = *self.drive.counters();
        let (to, mut piece) = (self.drive.now() + span, REST_PIECE);
        while self.drive.now() < to {
            let until = to.min(self.drive.now() + piece);
            self.drive.advance(until, &mut self.done);
            let since = self.drive.counters().since(&before);
            laws::collection_ends(&self.drive, since.gc_victims, since.refresh_units)?;
            piece = piece + piece;
        }
        self.hear()
    }

    /// A command of a phase.
    pub(crate) fn command(&mut self, mix: &Mix) {
        let (op, lba, sectors, fua) = self.traffic.command(mix, &mut self.rng);
        self.submit(op, lba, sectors, fua);
    }

    /// What a phase is made of, no more at once than the drive takes.
    pub(crate) fn mix(&mut self) -> Mix {
        let mut mix = Mix::drawn(&mut self.rng);
        mix.depth = mix.depth.min(self.drive.queue_depth() as usize);
        mix.commands = mix.commands.min(self.left);
        mix
    }

    /// Commands at a depth, until all is answered.
    fn phase(&mut self) -> Result<(), String> {
        let mix = self.mix();
        for _ in 0..mix.commands {
            while self.sent.len() >= mix.depth {
                self.step()?;
            }
            self.command(&mix);
        }
        self.drain()
    }

    /// The whole drive in order, large blocks.
    fn fill(&mut self, op: Op) -> Result<(), String> {
        let most = self.drive.queue_depth() as usize;
        let (mut at, depth) = (0, pick(&mut self.rng, &[1, 4, 32]).min(most));
        let block = pick(&mut self.rng, &[256, 2048, 96]);
        while at < self.traffic.sectors {
            while self.sent.len() >= depth {
                self.step()?;
            }
            let sectors = block.min(self.traffic.sectors - at);
            self.submit(op, at, sectors as u32, false);
            at += sectors;
        }
        self.drain()
    }

    /// Nothing is outstanding: the firmware has to agree with the plain map, and all adds up.
    fn verify(&mut self) -> Result<(), String> {
        let ftl = self.drive.ftl();
        ftl.check();
        self.report.compared += self.shadow.at_rest(|lpn| ftl.version(lpn))?;
        self.laws.look(&self.drive, &self.tally)
    }

    fn saved(&mut self) -> Result<Vec<u8>, String> {
        let identity = Identity {
            spec_hash: HASH.to_owned(),
            seed: SEED,
        };
        let mut bytes = Vec::new();
        let saved = self.drive.save(&mut bytes, &identity);
        saved.map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Writes a snapshot; where they are loaded, what was loaded goes on in the drive's place.
    fn keep(&mut self) -> Result<(), String> {
        let bytes = self.saved()?;
        self.report.snapshots += 1;
        if !self.loads {
            return Ok(());
        }
        let loaded = Drive::load(self.config, HASH, &bytes[..]);
        self.drive = loaded.map_err(|error| error.to_string())?.0;
        if self.saved()? == bytes {
            Ok(())
        } else {
            Err("what was loaded is saved as something else".to_owned())
        }
    }

    /// Something that a host may do.
    fn episode(&mut self) -> Result<(), String> {
        match self.rng.below(26) {
            0..=4 => self.phase()?,
            5..=7 => self.cut_under_commands()?,
            8 | 9 | 22..=25 => {
                let aim = Aim::drawn(&mut self.rng);
                self.cut_in_the_midst(aim)?;
            }
            10..=11 => self.fill(Op::Write)?,
            12 => self.fill(Op::Read)?,
            13 | 14 => {
                let spans = [1_000_000, 50_000_000, 2_000_000_000, 100_000_000_000, MONTH];
                let span = pick(&mut self.rng, &spans);
                self.rest(Nanos(span))?;
            }
            15 => {
                self.submit(Op::Flush, 0, 0, false);
                self.drain()?;
            }
            16 if self.rng.chance(30) => self.fill(Op::Trim)?,
            17 => self.cut()?,
            18 => {
                self.drive.shut_down();
                self.shadow.flushed(self.shadow.covered());
                let off = pick(&mut self.rng, &[0, 0, 5_000_000_000]);
                self.drive.power_on(self.drive.now() + Nanos(off));
                self.came_back("orderly shutdown")?;
                if self.rng.chance(30) {
                    self.cut()?;
                }
            }
            19 | 20 => self.keep()?,
            _ => {
                // Purges come at any time after a command: folding may be about to begin.
                let wait = self.rng.below(60_000_000);
                self.phase()?;
                self.rest(Nanos(wait))?;
                self.drive.purge();
                self.shadow.purged();
                self.laws.purged();
                if self.rng.chance(40) {
                    self.cut()?;
                }
            }
        }
        self.verify()
    }
}

/// One drive's life, of at most `left` commands or a few fills more. Snapshots are taken of it on
/// the way; if `loads`, what is loaded from them lives on, to the same answers.
///
/// # Errors
/// The first unit that does not hold what it may.
pub fn life(
    config: &Config,
    mut rng: Rng,
    left: u64,
    loads: bool,
    report: &mut Report,
) -> Result<(), String> {
    let mut drive = Drive::new(config, SEED);
    drive.enable_power_cuts();
    let damages = rng.chance(10);
    if damages {
        drive.inject_corruption(30);
    }
    let protected = config.controller.power_loss_protection;
    let through = config.controller.acknowledge == Acknowledge::WriteThrough;
    let meaning = Meaning {
        write_durable: protected || through,
        trim_durable: protected,
        flush_durable: protected || config.controller.flush.how != Flushing::Ignored,
        may_lose: config.errors.correctable > 0,
        may_damage: damages && config.controller.end_to_end,
    };
    let trims_survive = protected || config.policy.durability.trim_journal;
    // Most lives are short, so that there are many drives; in long ones flash wears.
    let episodes = match rng.chance(25) {
        true => between(&mut rng, 20, 60),
        false => between(&mut rng, 3, 12),
    };
    let mut host = Host {
        shadow: Shadow::new(drive.ftl().logical_units(), trims_survive),
        traffic: Traffic::new(config),
        laws: Laws::new(config),
        tally: Tally::default(),
        patience: Patience::new(config),
        config,
        drive,
        rng,
        meaning,
        sent: Vec::new(),
        done: Vec::new(),
        tag: 0,
        heard: Nanos::ZERO,
        cuts: 0,
        left,
        ended: false,
        loads,
        report,
    };
    let (mut lived, mut after) = (0, 0);
    while lived < episodes && host.left > 0 && after < AFTERLIFE {
        host.episode()?;
        lived += 1;
        after += u64::from(host.ended);
    }
    let end = host.drive.now().0;
    host.mix_in(end);
    for word in host.saved()?.chunks(8) {
        let word = word
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
        host.mix_in(word);
    }
    Ok(())
}
