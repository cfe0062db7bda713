//! What a spec resolves to and what its drive then does, as two numbers for each of many drives:
//! a change of how specs are read or of how the firmware is arranged leaves them as they are.
//!
//! `golden/fingerprints.zst` has a line a drive: how it is made, the fingerprint of its resolved
//! text with all notes, or of the errors, and that of a short run. Where results change on purpose
//! (`drive::snapshot::MODEL`) or a key is new, `FLASHTWIN_BLESS=1` writes it again, for the drives
//! that it has. `FINGERPRINTS=FILE` compares another file, and with `FLASHTWIN_BLESS=DRIVES` makes
//! it, of that number of drawn drives: a file that was made before a change and is compared after
//! it proves that the change left the drives as they were.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::spec::keys::{KEYS, Kind};
use flashtwin_drive::spec::{self, Spec, SpecError};
use flashtwin_drive::{Config, Drive};
use flashtwin_soak::draw;

const CATALOGUE: &str = "../../python/flashtwin/catalogue/drives";
const DESIGNS: &str = "../drive/tests/designs";
/// Memory of a drive of the catalogue that is run.
const MOST_BYTES: u64 = 24 << 20;
/// Commands of a fill; a large drive is filled in larger ones.
const FILL_COMMANDS: u64 = 800;
/// Time of a drive after which a command of a run counts as never answered.
const LONGEST_LIFE: Nanos = Nanos::from_secs(4 * 3600);

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn mixed(sum: u64, value: u64) -> u64 {
    (sum.rotate_left(7) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn of_text(sum: u64, text: &str) -> u64 {
    text.bytes()
        .fold(sum, |sum, byte| mixed(sum, u64::from(byte)))
}

/// A host of one drive, and the sum of all that it sees.
struct Host {
    drive: Drive,
    rng: Rng,
    done: Vec<Completion>,
    sent: u64,
    answered: u64,
    sum: u64,
}

impl Host {
    fn hear(&mut self) {
        for answer in std::mem::take(&mut self.done) {
            self.answered += 1;
            for value in [answer.tag.into(), answer.at.0, answer.status as u64] {
                self.sum = mixed(self.sum, value);
            }
        }
    }

    fn wait_for(&mut self, under_way: u64) {
        while self.sent - self.answered > under_way {
            let due = self.drive.next_due().expect("commands are under way");
            assert!(due < LONGEST_LIFE, "commands are not answered");
            self.drive.advance(due, &mut self.done);
            self.hear();
        }
    }

    fn send(&mut self, op: Op, lba: u64, sectors: u64) {
        let depth = self.drive.queue_depth().min(8);
        self.wait_for(u64::from(depth) - 1);
        let mut request = Request::new(self.sent as u32, op, lba, sectors as u32);
        request.compressible_percent = (self.sent % 101) as u8;
        request.placement = (self.sent % 3) as u8;
        self.drive.submit(self.drive.now(), request);
        self.sent += 1;
    }

    fn rest(&mut self, span: Nanos) {
        self.wait_for(0);
        let until = self.drive.now() + span;
        self.drive.advance(until, &mut self.done);
        self.hear();
    }

    fn scattered(&mut self, op: Op, commands: u64) {
        let slots = self.drive.capacity_bytes() / 4096;
        for _ in 0..commands {
            let (at, span) = (self.rng.below(slots), self.rng.below(4) + 1);
            let op = if self.rng.chance(15) { Op::Read } else { op };
            self.send(op, at * 8, (span * 8).min((slots - at) * 8));
        }
    }
}

/// The sum of a run, or of the first line of the panic that it ends with.
fn run(config: &Config) -> u64 {
    match std::panic::catch_unwind(|| lived(config)) {
        Ok(sum) => sum,
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map_or("", |text| text);
            of_text(3, message.lines().next().unwrap_or(message))
        }
    }
}

/// A fill, random writes, a rest, trims, a power cut amid writes, and what is there after it.
fn lived(config: &Config) -> u64 {
    let mut drive = Drive::new(config, 1);
    drive.enable_power_cuts();
    let mut host = Host {
        drive,
        rng: Rng::new(1, 35),
        done: Vec::new(),
        sent: 0,
        answered: 0,
        sum: 0,
    };
    let sectors = host.drive.capacity_bytes() / 512;
    let block = (sectors / FILL_COMMANDS / 8 * 8).max(256);
    for lba in (0..sectors).step_by(block as usize) {
        host.send(Op::Write, lba, block.min(sectors - lba));
    }
    host.scattered(Op::Write, 500);
    host.rest(Nanos::from_secs(40));
    host.scattered(Op::Trim, 60);
    host.scattered(Op::Write, 300);
    host.send(Op::Flush, 0, 0);
    host.scattered(Op::Write, 40);
    let cut = host.drive.now() + Nanos(300_000);
    host.drive.power_cut(cut, &mut host.done);
    host.hear();
    host.answered = host.sent;
    let on = host.drive.power_on(host.drive.now() + Nanos::from_secs(1));
    host.sum = mixed(host.sum, on.0);
    host.scattered(Op::Write, 60);
    host.wait_for(0);
    let ftl = host.drive.ftl();
    let places = (0..ftl.logical_units()).map(|lpn| ftl.locate(lpn).map_or(0, u64::from));
    let causes = host.drive.counters().by_cause().map(|(_, units)| units);
    let sum = places.chain(causes).fold(host.sum, mixed);
    // Of the counters this one alone: how the others are written for a maker's tools may change.
    of_text(
        sum,
        &host.drive.smart()["flashtwin"]["energy"]["energy_uj"].to_string(),
    )
}

/// How a drive is made.
#[derive(Clone)]
enum Made {
    /// The soak's base with these values.
    Drawn(Vec<String>),
    /// A drive of a folder, with a firmware profile or none and sets; whether it is run.
    Stored(String, String, Vec<String>, bool),
}

/// The text of a drive's resolved spec, or of what is wrong with it.
fn told(loaded: &Result<Spec, Vec<SpecError>>) -> u64 {
    match loaded {
        Ok(spec) => [&spec.to_toml().to_owned(), &spec.hash]
            .into_iter()
            .chain(&spec.notes)
            .chain(&spec.warnings)
            .fold(1, |sum, text| of_text(sum, text)),
        Err(errors) => errors.iter().fold(2, |sum, error| {
            of_text(of_text(sum, &error.to_string()), &error.hint)
        }),
    }
}

impl Made {
    /// The fingerprints of its spec and of a run, which is 0 where there is none.
    fn fingerprints(&self) -> (u64, u64) {
        match self {
            Made::Drawn(sets) => {
                let base = include_str!("../src/base.toml");
                let loaded = spec::load_text(base, &[], &[], sets, None);
                (told(&loaded), loaded.map_or(0, |spec| run(&spec.config)))
            }
            Made::Stored(id, firmware, sets, runs) => {
                let firmware: Vec<String> = Some(firmware.clone())
                    .filter(|name| !name.is_empty())
                    .into_iter()
                    .collect();
                let folders = [at(CATALOGUE), at(DESIGNS)];
                let loaded = spec::load(id, &folders, &firmware, sets);
                let sum = told(&loaded);
                let scale = loaded.ok().and_then(|spec| spec.scale_within(MOST_BYTES));
                let Some(scale) = scale.filter(|_| *runs) else {
                    return (sum, 0);
                };
                let scale = format!("1/{scale}");
                let loaded = spec::load_scaled(id, &folders, &firmware, sets, Some(&scale));
                let of_scaled = mixed(sum, told(&loaded));
                (of_scaled, loaded.map_or(0, |spec| run(&spec.config)))
            }
        }
    }

    fn line(&self) -> String {
        match self {
            Made::Drawn(sets) => format!("drawn|{}", sets.join(" ")),
            Made::Stored(id, firmware, sets, runs) => {
                format!("stored {id} {firmware} {runs}|{}", sets.join(" "))
            }
        }
    }

    fn read(line: &str) -> Made {
        let (how, sets) = line.split_once('|').expect("a bar before the values");
        let sets = draw::values(sets);
        match *how.split(' ').collect::<Vec<_>>() {
            [_, id, firmware, runs] => {
                Made::Stored(id.to_owned(), firmware.to_owned(), sets, runs == "true")
            }
            _ => Made::Drawn(sets),
        }
    }
}

/// Each drive of both folders with each of its profiles, which are run, and with each word and
/// each flag of the format that a profile may change, which are resolved alone.
fn stored() -> Vec<Made> {
    let folders = [at(CATALOGUE), at(DESIGNS)];
    let mut made = Vec::new();
    for id in spec::catalogue(&folders) {
        let spec = spec::load(&id, &folders, &[], &[]);
        let of = |firmware: &str, sets: &[String], runs| {
            Made::Stored(id.clone(), firmware.to_owned(), sets.to_vec(), runs)
        };
        made.push(of("", &[], true));
        let profiles = spec.map_or(Vec::new(), |spec| spec.profiles);
        made.extend(profiles.iter().map(|name| of(name, &[], true)));
        for key in KEYS.iter() {
            let words: &[&str] = match key.kind {
                Kind::Word(words) => words,
                Kind::Flag => &["true", "false"],
                _ => continue,
            };
            let set = |word: &&str| vec![format!("{}={word}", key.name)];
            made.extend(words.iter().map(|word| of("", &set(word), false)));
        }
    }
    made
}

fn drawn(drives: u64) -> Vec<Made> {
    let draw = |seed| {
        let (_, line) = draw::drive(&mut Rng::new(seed, 0));
        Made::Drawn(draw::values(&line))
    };
    (0..drives).map(draw).collect()
}

/// The fingerprints of all, in their order, made on all cores.
fn fingerprints(all: &[Made]) -> Vec<(u64, u64)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = BTreeMap::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(made) = all.get(at) else {
                return mine;
            };
            mine.insert(at, made.fingerprints());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let sums: BTreeMap<usize, (u64, u64)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("no drive panics"))
            .collect()
    });
    sums.into_values().collect()
}

fn written(all: &[Made]) -> String {
    let mut text = String::new();
    for (made, (spec, run)) in all.iter().zip(fingerprints(all)) {
        writeln!(text, "{spec:016x} {run:016x} {}", made.line()).expect("a string takes all");
    }
    text
}

fn stored_text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = zstd::decode_all(&bytes[..]).expect("it was packed by zstd");
    String::from_utf8(text).expect("it is text")
}

#[test]
fn specs_and_runs_are_as_they_were() {
    let asked = std::env::var("FINGERPRINTS").ok();
    let golden = at("tests/golden/fingerprints.zst");
    let path = asked.map_or(golden, PathBuf::from);
    let before = if path.exists() {
        stored_text(&path)
    } else {
        String::new()
    };
    let mut all: Vec<Made> = before.lines().map(|line| Made::read(&line[34..])).collect();
    let blessed = std::env::var("FLASHTWIN_BLESS").ok();
    if all.is_empty() {
        let drives = blessed.as_ref().map(|text| text.parse().expect("a number"));
        all = stored();
        all.extend(drawn(drives.expect("FLASHTWIN_BLESS says how many drives")));
    }
    let now = written(&all);
    if blessed.is_some() {
        let packed = zstd::encode_all(now.as_bytes(), 19).expect("it is in memory");
        std::fs::write(&path, packed).expect("it can be written");
        return;
    }
    let other: Vec<&str> = now
        .lines()
        .zip(before.lines())
        .filter_map(|(now, before)| (now != before).then_some(now))
        .collect();
    assert!(
        other.is_empty(),
        "{} of {} drives are others than before, the first of them\n{}",
        other.len(),
        all.len(),
        other[0]
    );
}

/// Nine superblocks of this drive are retired, all native ones are full of valid data and one is
/// free: only folding a borrowed superblock into that one makes room for the host.
#[test]
fn folding_takes_the_last_superblock_without_a_victim() {
    let (config, _) = draw::drive(&mut Rng::new(417, 0));
    lived(&config);
}
