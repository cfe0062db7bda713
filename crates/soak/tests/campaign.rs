//! Random drives under random hosts, against a model that knows only which units are written.
//!
//! Each seed draws a small drive over all policies (geometry, cache, folding, collection,
//! controller) and a host that mixes reads, writes, trims, flushes, rests and purges at changing
//! depths. Every command has to be answered once and in order of time, nothing may be stuck, and
//! between phases the firmware's invariants hold and the mapped units are those that were written
//! and not trimmed.
//!
//! `CAMPAIGN=FIRST,COUNT cargo test -p flashtwin-soak --test campaign` runs other seeds;
//! `./dev test --full` runs two thousand.

use std::fmt::Write as _;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::{Config, Drive};
use flashtwin_ftl::layout::Mode;

use flashtwin_soak::draw::{self, between, pick};
use flashtwin_soak::patience::Patience;
use flashtwin_soak::traffic::{Mix, Traffic};

/// Seeds of an ordinary run.
const SEEDS: std::ops::Range<u64> = 0..100;
/// Others, on whose drives an assertion failed once.
const MENDED: [u64; 3] = [1516, 3762, 9250];
/// Every so many seeds the whole run is done again and has to give the same answers.
const TWICE: u64 = 8;

/// Says which seed and which drive, should the test fail.
struct Culprit(u64, String);

impl Drop for Culprit {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("campaign seed {}: {}", self.0, self.1);
        }
    }
}

/// What a unit holds, as far as the host can know.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Empty,
    Written,
    /// A write and a trim were under way at once.
    Either,
}

/// A request under way.
struct Sent {
    request: Request,
    at: Nanos,
    /// How long the drive could work until then.
    worked: Nanos,
    in_range: bool,
}

/// The host: what it has sent, and what it knows.
struct Host {
    drive: Drive,
    rng: Rng,
    units: Vec<Unit>,
    traffic: Traffic,
    sent: Vec<Sent>,
    done: Vec<Completion>,
    tag: u32,
    heard: Nanos,
    patience: Patience,
    written: u64,
    purged: bool,
    /// Erases that a used drive has behind it: in SLC mode, natively.
    erased_before: [u64; 2],
    /// The drive has come to its end and refused to be changed.
    refused: bool,
    /// A flush has nothing to do, or does nothing.
    protected: bool,
    /// There are bit errors: a read may be answered unreadable.
    may_lose: bool,
    /// All answers, mixed into one number.
    answers: u64,
}

/// Units that a request leaves changed: all that a write touches, those that a trim covers. The
/// drive may end within its last unit, and so may what covers that.
fn reach(request: &Request, traffic: &Traffic) -> std::ops::Range<u64> {
    let unit = traffic.unit_sectors;
    let (begin, mut end) = (request.lba, request.lba + u64::from(request.sectors));
    if end == traffic.sectors {
        end = end.next_multiple_of(unit);
    }
    match request.op {
        Op::Write if end > begin => begin / unit..end.div_ceil(unit),
        Op::Trim if end > begin => begin.div_ceil(unit)..(end / unit).max(begin.div_ceil(unit)),
        _ => 0..0,
    }
}

impl Host {
    fn new(config: &Config, seed: u64) -> Host {
        let drive = Drive::new(config, 1);
        let before = *drive.counters();
        Host {
            units: vec![Unit::Empty; drive.ftl().logical_units() as usize],
            traffic: Traffic::new(config),
            drive,
            rng: Rng::new(seed, 1),
            sent: Vec::new(),
            done: Vec::new(),
            tag: 0,
            heard: Nanos::ZERO,
            patience: Patience::new(config),
            written: 0,
            purged: false,
            erased_before: [before.slc_erases, before.native_erases],
            refused: false,
            protected: !config.controller.honours_fua(),
            may_lose: config.errors.correctable > 0,
            answers: 0,
        }
    }

    fn submit(&mut self, op: Op, lba: u64, sectors: u32, fua: bool) {
        let mut request = Request::new(self.tag, op, lba, sectors);
        request.fua = fua;
        request.compressible_percent = self.rng.below(101) as u8;
        self.tag += 1;
        let end = lba.checked_add(u64::from(sectors));
        let in_range = end.is_some_and(|end| end <= self.traffic.sectors);
        if in_range {
            let reach = reach(&request, &self.traffic);
            if op == Op::Write {
                self.written += reach.end - reach.start;
            }
            for unit in reach {
                let crossed = self.sent.iter().any(|other| {
                    other.in_range
                        && other.request.op != op
                        && reach_of(other, &self.traffic).contains(&unit)
                });
                self.units[unit as usize] = match op {
                    _ if crossed => Unit::Either,
                    Op::Write => Unit::Written,
                    _ => Unit::Empty,
                };
            }
        }
        let at = self.drive.now();
        self.drive.submit(at, request);
        let worked = self.patience.worked(&self.drive);
        self.sent.push(Sent {
            request,
            at,
            worked,
            in_range,
        });
    }

    /// Lets the next thing happen, and takes what was answered.
    fn step(&mut self) {
        let due = self.drive.next_due().expect("commands are under way");
        assert!(due >= self.drive.now(), "an event in the past");
        self.drive.advance(due, &mut self.done);
        self.hear();
        self.patience.worked(&self.drive);
        for sent in &self.sent {
            let ftl = self.drive.ftl();
            assert!(
                !self.patience.is_over(sent.worked),
                "no answer to {:?}\n{}",
                sent.request,
                ftl.describe()
            );
        }
    }

    fn hear(&mut self) {
        for answer in std::mem::take(&mut self.done) {
            let found = self.sent.iter().position(|s| s.request.tag == answer.tag);
            let sent = self
                .sent
                .swap_remove(found.expect("an answer to what was sent"));
            assert!(answer.at >= self.heard, "answers come in order of time");
            assert!(answer.at >= sent.at && answer.at <= self.drive.now());
            self.heard = answer.at;
            let changes = matches!(sent.request.op, Op::Write | Op::Trim);
            if answer.status == Status::ReadOnly {
                assert!(self.drive.ftl().is_read_only() && changes && sent.in_range);
                // It may have been done in part.
                for unit in reach_of(&sent, &self.traffic) {
                    self.units[unit as usize] = Unit::Either;
                }
                self.refused = true;
            } else {
                let status = if sent.in_range {
                    Status::Ok
                } else {
                    Status::OutOfRange
                };
                let told = answer.status == Status::Unreadable && sent.request.op == Op::Read;
                if !(told && self.may_lose) {
                    assert_eq!(answer.status, status, "{:?}", sent.request);
                }
            }
            self.answers = (self.answers.rotate_left(7) ^ answer.at.0 ^ u64::from(answer.tag))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }

    fn drain(&mut self) {
        while !self.sent.is_empty() {
            self.step();
        }
    }

    fn rest(&mut self, span: Nanos) {
        let to = self.drive.now() + span;
        self.drive.advance(to, &mut self.done);
        assert!(self.drive.now() == to);
        self.hear();
    }

    /// A command of a phase.
    fn command(&mut self, mix: &Mix) {
        let (op, lba, sectors, fua) = self.traffic.command(mix, &mut self.rng);
        self.submit(op, lba, sectors, fua);
    }

    fn phase(&mut self) {
        let mut mix = Mix::drawn(&mut self.rng);
        mix.depth = mix.depth.min(self.drive.queue_depth() as usize);
        for _ in 0..mix.commands {
            while self.sent.len() >= mix.depth {
                self.step();
            }
            self.command(&mix);
        }
        self.drain();
    }

    /// The whole drive or a part of it in order, large blocks.
    fn fill(&mut self, op: Op) {
        let most = self.drive.queue_depth() as usize;
        let (mut at, depth) = (0, pick(&mut self.rng, &[1, 4, 32]).min(most));
        let block = pick(&mut self.rng, &[256, 2048, 96]);
        while at < self.traffic.sectors {
            while self.sent.len() >= depth {
                self.step();
            }
            let sectors = block.min(self.traffic.sectors - at);
            self.submit(op, at, sectors as u32, false);
            at += sectors;
        }
        self.drain();
    }

    fn purge(&mut self) {
        let before = self.drive.now();
        let took = self.drive.purge();
        assert_eq!(before + took, self.drive.now());
        self.units.fill(Unit::Empty);
        self.purged = true;
        assert!(!self.drive.ftl().host_programs_in_flight());
    }

    /// Nothing is outstanding: the firmware has to agree with the model.
    fn verify(&self) {
        let ftl = self.drive.ftl();
        ftl.check();
        for (lpn, unit) in self.units.iter().enumerate() {
            let mapped = ftl.locate(lpn as u32).is_some();
            match unit {
                Unit::Empty => assert!(!mapped, "unit {lpn} is mapped"),
                Unit::Written => assert!(mapped, "unit {lpn} is lost"),
                Unit::Either => {}
            }
        }
        let c = ftl.counters();
        if self.refused {
            assert!(c.host_units <= self.written, "units from the host");
        } else {
            assert_eq!(c.host_units, self.written, "units from the host");
        }
        if !self.purged && ftl.grown_bad_blocks() == 0 {
            let of = |mode| u64::from(ftl.layout().whole_units(mode));
            let [slc, native] = self.erased_before;
            let erased = (c.slc_erases - slc) * of(Mode::Slc)
                + (c.native_erases - native) * of(Mode::Native)
                + c.tier_erases * of(Mode::Tier);
            let used = ftl.superblocks().iter().filter(|b| b.written > 0);
            let most = erased
                + used
                    .map(|b| u64::from(b.written / ftl.layout().ratio))
                    .sum::<u64>();
            let programmed = c.programmed_units() - c.parity_units - c.journal_units;
            let open = 8 * u64::from(ftl.layout().groups) * of(Mode::Native);
            // Refresh closes superblocks that are half written.
            let open = open + if self.may_lose { erased } else { 0 };
            assert!(
                programmed <= most && most <= programmed + open,
                "{programmed} units programmed, {most} given out"
            );
        }
    }

    /// A flush alone: afterwards nothing of the host's is volatile.
    fn flush(&mut self) {
        self.submit(Op::Flush, 0, 0, false);
        self.drain();
        if self.protected {
            return;
        }
        let ftl = self.drive.ftl();
        assert!(!ftl.has_partial() && !ftl.host_programs_in_flight());
        assert!(!ftl.host_data_between_passes());
    }
}

fn reach_of(sent: &Sent, traffic: &Traffic) -> std::ops::Range<u64> {
    reach(&sent.request, traffic)
}

/// One drive's life; the answer stands for all that it answered.
fn life(config: &Config, seed: u64) -> u64 {
    let mut host = Host::new(config, seed);
    for _ in 0..between(&mut host.rng, 3, 10) {
        match host.rng.below(16) {
            0..=7 => host.phase(),
            8..=10 => host.fill(Op::Write),
            11 => host.fill(Op::Read),
            12 => {
                let spans = [1_000_000, 50_000_000, 2_000_000_000, 100_000_000_000];
                let span = pick(&mut host.rng, &spans);
                host.rest(Nanos(span));
            }
            13 => host.flush(),
            14 if host.rng.chance(30) => host.fill(Op::Trim),
            _ => {
                // Purges come at any time after a command: folding may be about to begin.
                let wait = host.rng.below(60_000_000);
                host.phase();
                host.rest(Nanos(wait));
                host.purge();
            }
        }
        host.verify();
    }
    host.answers ^ host.drive.now().0
}

fn seeds() -> Vec<u64> {
    let Ok(text) = std::env::var("CAMPAIGN") else {
        return SEEDS.chain(MENDED).collect();
    };
    let (first, count) = text.split_once(',').unwrap_or((&text, "1"));
    let number = |text: &str| text.parse::<u64>().expect("CAMPAIGN=FIRST,COUNT");
    (number(first)..number(first) + number(count)).collect()
}

#[test]
fn random_drives_under_random_hosts() {
    for seed in seeds() {
        let mut rng = Rng::new(seed, 0);
        let mut culprit = Culprit(seed, String::new());
        let (config, sets) = draw::drive(&mut rng);
        let _ = write!(culprit.1, "{sets}");
        let first = life(&config, seed);
        if seed % TWICE == 0 {
            assert_eq!(first, life(&config, seed), "the same seed, other answers");
        }
    }
}
