//! Snapshots: what is loaded goes on exactly as what was saved, for drives of all kinds, saved at
//! moments when the background is at work; and what is not a snapshot of the drive is refused.
//!
//! `SNAPSHOTS=FIRST,COUNT cargo test -p flashtwin-soak --test snapshot` draws other drives.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive, SnapshotError};

use flashtwin_soak::draw::{self, between, pick};

/// Stands for a spec's hash.
const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const SEED: u64 = 77;

fn saved(drive: &mut Drive) -> Vec<u8> {
    let identity = Identity {
        spec_hash: HASH.to_owned(),
        seed: SEED,
    };
    let mut bytes = Vec::new();
    drive.save(&mut bytes, &identity).expect("it is idle");
    bytes
}

fn loaded(config: &Config, bytes: &[u8]) -> Drive {
    let (drive, seed) = Drive::load(config, HASH, bytes).expect("it was saved");
    assert_eq!(seed, SEED);
    drive
}

fn step(drive: &mut Drive, under_way: &mut usize, answers: &mut Vec<Completion>) {
    let due = drive.next_due().expect("commands are under way");
    let before = answers.len();
    drive.advance(due, answers);
    *under_way -= answers.len() - before;
}

/// A mix of everything, at a depth that is drawn, until all of it is answered.
fn work(drive: &mut Drive, rng: &mut Rng, commands: u64) -> Vec<Completion> {
    let sectors = drive.capacity_bytes() / 512;
    let (mut answers, mut under_way, mut next) = (Vec::new(), 0, 0);
    let depth = pick(rng, &[1, 4, 32]).min(drive.queue_depth() as usize);
    let (trims, flushes) = (rng.below(8), rng.below(4));
    for tag in 0..commands {
        while under_way >= depth {
            step(drive, &mut under_way, &mut answers);
        }
        let length = pick(rng, &[8, 8, 64, 256, 3]).min(sectors);
        let lba = match rng.below(2) {
            0 => next % (sectors - length + 1),
            _ => rng.below(sectors - length + 1),
        };
        next = lba + length;
        let op = match rng.below(100) {
            n if n < trims => Op::Trim,
            n if n < trims + flushes => Op::Flush,
            n if n < 40 => Op::Read,
            _ => Op::Write,
        };
        let mut request = Request::new(tag as u32, op, lba, length as u32);
        request.compressible_percent = rng.below(101) as u8;
        request.fua = op == Op::Write && rng.chance(3);
        drive.submit(drive.now(), request);
        under_way += 1;
    }
    while under_way > 0 {
        step(drive, &mut under_way, &mut answers);
    }
    answers
}

/// What the host and the X-ray see of a later part of a drive's life.
fn later(drive: &mut Drive, seed: u64) -> (Vec<Completion>, Vec<Vec<i64>>, String) {
    let mut rng = Rng::new(seed, 9);
    drive.restart_xray(Nanos::from_ms(5));
    let mut answers = work(drive, &mut rng, 300);
    let rest = drive.now() + Nanos::from_ms(between(&mut rng, 1, 20_000));
    drive.advance(rest, &mut answers);
    if rng.chance(20) {
        drive.purge();
    }
    answers.extend(work(drive, &mut rng, 200));
    let columns = drive.close_xray().columns().to_vec();
    (answers, columns, drive.smart().to_string())
}

/// The early part: work, rests, and an end at once after the last answer.
fn earlier(drive: &mut Drive, seed: u64) {
    let mut rng = Rng::new(seed, 8);
    if seed % 4 == 1 {
        drive.enable_power_cuts();
    }
    for _ in 0..between(&mut rng, 1, 4) {
        let commands = between(&mut rng, 20, 600);
        work(drive, &mut rng, commands);
        if rng.chance(50) {
            let rest = drive.now() + Nanos(between(&mut rng, 0, 3_000_000_000));
            drive.advance(rest, &mut Vec::new());
        }
    }
}

fn goes_on(config: &Config, seed: u64) -> bool {
    let mut drive = Drive::new(config, SEED);
    earlier(&mut drive, seed);
    let busy = drive.next_due().is_some();
    let bytes = saved(&mut drive);
    let mut copy = loaded(config, &bytes);
    assert!(saved(&mut copy) == bytes, "saving what was loaded");
    // One that was never saved says whether saving changes anything.
    let mut other = Drive::new(config, SEED);
    earlier(&mut other, seed);
    let expected = later(&mut other, seed);
    for drive in [&mut drive, &mut copy] {
        assert!(later(drive, seed) == expected, "what follows");
        drive.ftl().check();
        assert_eq!(drive.counters(), other.counters());
        assert_eq!(drive.totals(), other.totals());
        assert!(saved(drive) == saved(&mut other), "the state in the end");
    }
    busy
}

struct Culprit(u64, String);

impl Drop for Culprit {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("snapshot seed {}: {}", self.0, self.1);
        }
    }
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("SNAPSHOTS") else {
        return 0..25;
    };
    let (first, count) = text.split_once(',').expect("FIRST,COUNT");
    let first: u64 = first.parse().expect("a number");
    first..first + count.parse::<u64>().expect("a number")
}

#[test]
fn drives_of_all_kinds_go_on_as_if_nothing_had_happened() {
    let mut busy = 0;
    for seed in seeds() {
        let (config, text) = draw::drive(&mut Rng::new(seed, 0));
        let _culprit = Culprit(seed, text);
        busy += u64::from(goes_on(&config, seed));
    }
    assert!(busy > seeds().count() as u64 / 4, "background under way");
}

#[test]
fn granules_with_several_passes_to_come_go_on() {
    // More passes wait for the dies than granules do.
    let sets = draw::values(include_str!("mended/seed-952.txt"));
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    goes_on(&draw::load(&sets), 952);
}

/// The base drive at a sixteenth of its size.
const SMALL: [&str; 7] = [
    "nand.wordlines_per_block=44",
    "drive.capacity=2.4 GB",
    "ftl.system=20 MB",
    "slc_cache.size=240 MB",
    "slc_cache.rearm=24 MB",
    "fold.reserve=120 MB",
    "nand.suspend.program=true",
];

/// A drive with mechanisms that the drawn ones do not have, after `earlier` has shown that they
/// are at work.
fn small_goes_on(sets: &[&str], seed: u64, at_work: impl Fn(&Drive) -> bool) {
    let sets = [&SMALL[..], sets].concat();
    let config = draw::load(&sets);
    let mut drive = Drive::new(&config, SEED);
    earlier(&mut drive, seed);
    assert!(at_work(&drive), "{sets:?}");
    goes_on(&config, seed);
}

#[test]
fn retries_and_refresh_go_on() {
    let sets = [
        "errors.correctable=10",
        "errors.native.fresh=25",
        "errors.slc.fresh=12",
        "errors.native.disturb=40",
        "errors.refresh_at=0.5",
    ];
    small_goes_on(&sets, 1, |d| d.error_counts().retries > 0);
}

#[test]
fn throttling_goes_on() {
    let sets = [
        "thermal.resistance=25 K/W",
        "thermal.capacity=0.05 J/K",
        "thermal.throttle.start=40 C",
        "thermal.throttle.stop=35 C",
        "thermal.throttle.speed=0.02",
        "power.active=4 W",
        "power.idle=3 W",
    ];
    small_goes_on(&sets, 2, |d| d.thermal_times().begun[0] > 0);
}

#[test]
fn low_power_states_go_on() {
    let sets = ["power.light.after=2 ms", "power.light.exit=1 ms"];
    small_goes_on(&sets, 4, |d| d.state_times().light > 0);
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let config = draw::load(&[]);
    let mut drive = Drive::new(&config, SEED);
    let bytes = saved(&mut drive);
    let load = |hash: &str, bytes: &[u8]| Drive::load(&config, hash, bytes).map(|_| ());
    let other = HASH.replace('0', "f");
    assert!(matches!(
        load(&other, &bytes),
        Err(SnapshotError::OtherSpec { found, wanted }) if found == HASH && wanted == other
    ));
    assert!(matches!(load(HASH, b""), Err(SnapshotError::NotASnapshot)));
    let text = b"schema = 1, and more of a text that is longer than a header has to be".repeat(9);
    assert!(matches!(
        load(HASH, &text),
        Err(SnapshotError::NotASnapshot)
    ));
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        bytes
    };
    for (at, name) in [(8, "format"), (12, "model")] {
        let found = load(HASH, &with(at, 99));
        assert!(
            matches!(found, Err(SnapshotError::Version { what, found: 99, .. }) if what == name)
        );
    }
    // The seed stands behind the hash, and the header has its own checksum.
    assert!(matches!(
        load(HASH, &with(84, 1)),
        Err(SnapshotError::Damaged(_))
    ));
}

#[test]
fn not_under_commands() {
    let config = draw::load(&[]);
    let mut drive = Drive::new(&config, SEED);
    drive.submit(Nanos::ZERO, Request::new(0, Op::Write, 0, 8));
    let identity = Identity {
        spec_hash: HASH.to_owned(),
        seed: SEED,
    };
    let refused = drive.save(Vec::new(), &identity);
    assert!(matches!(refused, Err(SnapshotError::Busy(1))));
}

/// A small drive with something in it, and its snapshot.
fn small(seed: u64) -> (Config, Vec<u8>) {
    let (config, _) = draw::drive(&mut Rng::new(seed, 0));
    let mut drive = Drive::new(&config, SEED);
    earlier(&mut drive, seed);
    let bytes = saved(&mut drive);
    (config, bytes)
}

#[test]
fn every_cut_is_found() {
    let (config, bytes) = small(6);
    for length in (0..bytes.len()).step_by(17) {
        let found = Drive::load(&config, HASH, &bytes[..length]);
        assert!(found.is_err(), "{length} of {} bytes", bytes.len());
    }
    let longer = [&bytes[..], b"more"].concat();
    assert!(Drive::load(&config, HASH, &longer[..]).is_err());
}

/// A checksum of 32 bits misses one change in 2^32: of 400 flips none goes unseen that changes what
/// is stored. Some bits of a packed stream stand for nothing, and how many hangs on the drive: a
/// flip of one unpacks to the same, and then the drive has to be the same.
#[test]
fn every_flipped_bit_that_stands_for_something_is_found() {
    for seed in [5, 6] {
        let (config, bytes) = small(seed);
        let stored = zstd::decode_all(&bytes[HEADER..]).expect("it was packed");
        let mut rng = Rng::new(1, seed);
        for _ in 0..200 {
            let mut flipped = bytes.clone();
            let at = rng.below(bytes.len() as u64) as usize;
            flipped[at] ^= 1 << rng.below(8);
            let unpacked = zstd::decode_all(&flipped[HEADER..]);
            let is_idle = at >= HEADER && unpacked.is_ok_and(|unpacked| unpacked == stored);
            match Drive::load(&config, HASH, &flipped[..]) {
                Ok((mut drive, _)) => {
                    assert!(is_idle, "seed {seed}: the flip of byte {at} goes unseen");
                    assert!(saved(&mut drive) == bytes, "seed {seed}: byte {at}");
                }
                Err(why) => assert!(!is_idle, "seed {seed}: byte {at}: {why}"),
            }
        }
    }
}

/// The sections of a snapshot: where each one's contents lie in its unpacked stream.
fn sections(stream: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < stream.len() {
        let length = u64::from_le_bytes(stream[at + 4..at + 12].try_into().expect("8 bytes"));
        let end = at + 12 + length as usize;
        found.push(at + 12..end);
        at = end + 4;
    }
    found
}

/// Bytes of the header and its checksum, see `snapshot::write`.
const HEADER: usize = 8 + 3 * 4 + 64 + 8 + 1 + 4;

#[test]
fn contents_with_forged_checksums_are_loaded_or_refused() {
    let mut rng = Rng::new(3, 3);
    let (mut refused, mut taken) = (0, 0);
    for seed in [5, 9, 13, 22] {
        let (config, _) = draw::drive(&mut Rng::new(seed, 0));
        let mut drive = Drive::new(&config, SEED);
        earlier(&mut drive, seed);
        let bytes = saved(&mut drive);
        let stream = zstd::decode_all(&bytes[HEADER..]).expect("it was packed");
        // The fuzzed target `snapshot` makes up more of them.
        for _ in 0..50 {
            let mut stream = stream.clone();
            let all = sections(&stream);
            // All that is small holds most of what can be wrong.
            let section = pick(&mut rng, &[0, 0, 0, 0, 0, all.len() - 2, 1]);
            let place = all[section].clone();
            for _ in 0..between(&mut rng, 1, 3) {
                let at = place.start + rng.below(place.len() as u64) as usize;
                stream[at] = pick(
                    &mut rng,
                    &[0, 1, 0xff, 0x80, stream[at] ^ 4, stream[at] ^ 1],
                );
            }
            let sum = crc32fast::hash(&stream[place.clone()]).to_le_bytes();
            stream[place.end..place.end + 4].copy_from_slice(&sum);
            let packed = zstd::encode_all(&stream[..], -7).expect("it packs");
            let whole = [&bytes[..HEADER], &packed].concat();
            match Drive::load(&config, HASH, &whole[..]) {
                Ok(_) => taken += 1,
                Err(SnapshotError::Impossible(_)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(refused > 0 && taken > 0, "{refused} refused, {taken} taken");
}
