//! One drive's life under a random host: phases of commands, fills, rests, purges, power cuts.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::config::Acknowledge;
use flashtwin_drive::{Config, Drive};

use crate::Report;
use crate::draw::{between, pick};
use crate::shadow::Shadow;
use crate::traffic::{Mix, Traffic};

/// A command that is not answered after so long in a busy drive counts as stuck.
const PATIENCE: Nanos = Nanos::from_secs(600);

/// A request under way.
struct Sent {
    request: Request,
    at: Nanos,
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
    /// There are bit errors: a read may be answered unreadable.
    may_lose: bool,
}

struct Host<'a> {
    drive: Drive,
    rng: Rng,
    shadow: Shadow,
    meaning: Meaning,
    traffic: Traffic,
    sent: Vec<Sent>,
    done: Vec<Completion>,
    tag: u32,
    heard: Nanos,
    cycles: Vec<u32>,
    cuts: u64,
    left: u64,
    report: &'a mut Report,
}

impl Host<'_> {
    fn submit(&mut self, op: Op, lba: u64, sectors: u32, fua: bool) {
        let mut request = Request::new(self.tag, op, lba, sectors);
        request.fua = fua;
        request.compressible_percent = self.rng.below(101) as u8;
        self.tag += 1;
        self.left = self.left.saturating_sub(1);
        self.report.commands += 1;
        let end = lba.checked_add(u64::from(sectors));
        let in_range = end.is_some_and(|end| end <= self.traffic.sectors);
        let at = self.drive.now();
        self.sent.push(Sent {
            request,
            at,
            in_range,
            covers: self.shadow.covered(),
        });
        self.drive.submit(at, request);
    }

    /// Lets the next thing happen, and takes what was answered.
    fn step(&mut self) -> Result<(), String> {
        let Some(due) = self.drive.next_due() else {
            return Err("commands are under way and nothing is due".to_owned());
        };
        self.drive.advance(due, &mut self.done);
        self.hear()?;
        let now = self.drive.now();
        match self.sent.iter().find(|sent| now > sent.at + PATIENCE) {
            Some(late) => Err(format!(
                "no answer to {:?}\n{}",
                late.request,
                self.drive.ftl().describe()
            )),
            None => Ok(()),
        }
    }

    fn hear(&mut self) -> Result<(), String> {
        self.shadow.changed(&self.drive.take_placements());
        for answer in std::mem::take(&mut self.done) {
            let found = self.sent.iter().position(|s| s.request.tag == answer.tag);
            let Some(found) = found else {
                return Err(format!("an answer to nobody: {answer:?}"));
            };
            let sent = self.sent.swap_remove(found);
            if answer.at < self.heard || answer.at < sent.at || answer.at > self.drive.now() {
                return Err(format!("{answer:?} comes at a wrong time"));
            }
            self.heard = answer.at;
            let expected = if sent.in_range {
                Status::Ok
            } else {
                Status::OutOfRange
            };
            if answer.status == Status::ReadOnly && sent.request.op != Op::Read {
                // Its end of life: nothing more is promised.
                self.left = 0;
                continue;
            }
            // Drives with bit errors lose data that rested too long; it is told, not hidden.
            let told = answer.status == Status::Unreadable && sent.request.op == Op::Read;
            let told = told && self.meaning.may_lose;
            if answer.status != expected && !told {
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
                let durable = sent.request.fua || self.meaning.write_durable;
                self.shadow.acknowledged(tag, durable);
            }
            Op::Trim => self.shadow.acknowledged(tag, self.meaning.trim_durable),
            Op::Flush => self.shadow.flushed(sent.covers),
            Op::Read => {}
        }
    }

    fn mix_in(&mut self, value: u64) {
        let answers = &mut self.report.answers;
        *answers = (answers.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn drain(&mut self) -> Result<(), String> {
        while !self.sent.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    fn rest(&mut self, span: Nanos) -> Result<(), String> {
        let to = self.drive.now() + span;
        self.drive.advance(to, &mut self.done);
        self.hear()
    }

    /// A command of a phase.
    fn command(&mut self, mix: &Mix) {
        let (op, lba, sectors, fua) = self.traffic.command(mix, &mut self.rng);
        self.submit(op, lba, sectors, fua);
    }

    /// Commands at a depth; the answer is whether a cut came in their midst.
    fn phase(&mut self, cut_percent: u32) -> Result<(), String> {
        let mix = Mix::drawn(&mut self.rng);
        let cut = self.rng.chance(cut_percent);
        let commands = if cut {
            self.rng.below(mix.commands + 1)
        } else {
            mix.commands
        };
        for _ in 0..commands.min(self.left) {
            while self.sent.len() >= mix.depth {
                self.step()?;
            }
            self.command(&mix);
        }
        if !cut {
            return self.drain();
        }
        for _ in 0..self.rng.below(60) {
            if !self.sent.is_empty() {
                self.step()?;
            }
        }
        self.cut()
    }

    /// The whole drive in order, large blocks.
    fn fill(&mut self, op: Op) -> Result<(), String> {
        let (mut at, depth) = (0, pick(&mut self.rng, &[1, 4, 32]));
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

    /// The power goes now or within the next operation, and comes back.
    fn cut(&mut self) -> Result<(), String> {
        let now = self.drive.now();
        let span = pick(&mut self.rng, &[0, 1_000, 100_000, 3_000_000, 50_000_000]);
        let at = now + Nanos(self.rng.below(span + 1));
        self.drive.power_cut(at, &mut self.done);
        self.hear()?;
        self.sent.clear();
        self.heard = at;
        let off = self.rng.below(10_000_000_000);
        let ready = self.drive.power_on(at + Nanos(off));
        self.cuts += 1;
        self.report.cuts += 1;
        self.mix_in(ready.0);
        self.drive.ftl().check();
        let (cuts, ftl) = (self.cuts, self.drive.ftl());
        let compared = self.shadow.after_cut(|lpn| ftl.version(lpn));
        self.report.compared +=
            compared.map_err(|what| format!("{what} after power cut {cuts}"))?;
        if self.rng.chance(30) {
            // The next cut may come before the first command.
            return self.cut();
        }
        Ok(())
    }

    /// Nothing is outstanding: the firmware has to agree with the plain map.
    fn verify(&mut self) -> Result<(), String> {
        let ftl = self.drive.ftl();
        ftl.check();
        self.report.compared += self.shadow.at_rest(|lpn| ftl.version(lpn))?;
        for (index, block) in ftl.superblocks().iter().enumerate() {
            let cycles = block.slc_cycles + block.native_cycles + block.tier_cycles;
            if cycles < self.cycles[index] {
                return Err(format!("the wear of superblock {index} decreased"));
            }
            self.cycles[index] = cycles;
        }
        Ok(())
    }

    /// Something that a host may do.
    fn episode(&mut self) -> Result<(), String> {
        match self.rng.below(20) {
            0..=9 => self.phase(50)?,
            10..=11 => self.fill(Op::Write)?,
            12 => self.fill(Op::Read)?,
            13 | 14 => {
                let spans = [1_000_000, 50_000_000, 2_000_000_000, 100_000_000_000];
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
                self.drive.power_on(self.drive.now());
                self.cuts += 1;
                let (cuts, ftl) = (self.cuts, self.drive.ftl());
                let compared = self.shadow.after_cut(|lpn| ftl.version(lpn));
                compared.map_err(|what| format!("{what} after orderly shutdown {cuts}"))?;
            }
            _ => {
                // Purges come at any time after a command: folding may be about to begin.
                let wait = self.rng.below(60_000_000);
                self.phase(0)?;
                self.rest(Nanos(wait))?;
                self.drive.purge();
                self.shadow.purged();
            }
        }
        self.verify()
    }
}

/// One drive's life, of at most `left` commands or a few fills more.
///
/// # Errors
/// The first unit that does not hold what it may.
pub fn life(config: &Config, mut rng: Rng, left: u64, report: &mut Report) -> Result<(), String> {
    let mut drive = Drive::new(config, 1);
    drive.enable_power_cuts();
    let protected = config.controller.power_loss_protection;
    let through = config.controller.acknowledge == Acknowledge::WriteThrough;
    let meaning = Meaning {
        write_durable: protected || through,
        trim_durable: protected,
        may_lose: config.errors.correctable > 0,
    };
    let kept = protected || config.policy.durability.trim_journal;
    let episodes = between(&mut rng, 3, 12);
    let mut host = Host {
        shadow: Shadow::new(drive.ftl().logical_units(), kept),
        cycles: vec![0; drive.ftl().superblocks().len()],
        traffic: Traffic::new(config),
        drive,
        rng,
        meaning,
        sent: Vec::new(),
        done: Vec::new(),
        tag: 0,
        heard: Nanos::ZERO,
        cuts: 0,
        left,
        report,
    };
    for _ in 0..episodes {
        if host.left == 0 {
            break;
        }
        host.episode()?;
    }
    let end = host.drive.now().0;
    host.mix_in(end);
    Ok(())
}
