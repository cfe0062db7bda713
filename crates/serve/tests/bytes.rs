//! A drive in a directory: what outlives the server, and whom the directory is refused to.

use std::fs;
use std::path::{Path, PathBuf};

use flashtwin_base::rng::Rng;
use flashtwin_base::{Nanos, Op, Status};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive, spec};
use flashtwin_serve::directory::{Directory, DirectoryError};
use flashtwin_serve::disk::{Answer, Ask, Disk};
use flashtwin_serve::faults::{Fault, Worse};
use flashtwin_serve::log::{self, Log, LogError};
use flashtwin_serve::store::Store;

const BASE: &str = include_str!("../../soak/src/base.toml");
const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A directory that is removed in the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let name = format!("flashtwin-serve-{name}-{}", std::process::id());
        Place(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn config() -> Config {
    let spec = spec::load_text(BASE, &[], &[], &[], Some("1/16"));
    spec.unwrap_or_else(|errors| panic!("{errors:?}")).config
}

fn made(place: &Path) -> Disk {
    let identity = Identity {
        spec_hash: HASH.to_owned(),
        seed: 1,
    };
    let directory = Directory::lock(place).unwrap();
    Disk::in_directory(Drive::new(&config(), 1), identity, directory).unwrap()
}

fn again(place: &Path) -> Disk {
    let directory = Directory::lock(place).unwrap();
    let stored = directory.stored(HASH).unwrap().expect("it holds a drive");
    let (identity, clean) = (stored.identity, stored.clean);
    Disk::resumed(&config(), identity, directory, clean)
        .unwrap()
        .0
}

/// Asks for one thing and waits for its end.
fn ask(disk: &mut Disk, op: Op, offset: u64, data: &[u8], fua: bool) -> Answer {
    disk.submit(
        0,
        Ask {
            op,
            offset,
            length: data.len() as u64,
            fua,
            data: (op == Op::Write).then(|| data.to_vec()),
        },
    )
    .unwrap();
    let mut answers = Vec::new();
    disk.advance_until_done(&mut answers).unwrap();
    disk.commit().unwrap();
    answers.remove(0)
}

fn write(disk: &mut Disk, offset: u64, byte: u8, fua: bool) {
    let answer = ask(disk, Op::Write, offset, &[byte; 4096], fua);
    assert_eq!(answer.status, Status::Ok);
}

fn byte_at(disk: &Disk, offset: u64) -> u8 {
    disk.read(offset, 512).unwrap()[0]
}

#[test]
fn a_killed_server_keeps_what_was_durable() {
    let place = Place::new("killed");
    let mut disk = made(&place.0);
    write(&mut disk, 8192, 1, true);
    write(&mut disk, 1 << 20, 2, false);
    ask(&mut disk, Op::Flush, 0, &[], false);
    write(&mut disk, 1 << 21, 3, false);
    drop(disk);
    let disk = again(&place.0);
    assert_eq!(byte_at(&disk, 8192), 1);
    assert_eq!(byte_at(&disk, 1 << 20), 2);
    // In the buffer of a drive without capacitors.
    assert_eq!(byte_at(&disk, 1 << 21), 0);
    assert_eq!(disk.drive().power_cycles().unsafe_shutdowns, 1);
}

#[test]
fn switched_off_in_order_nothing_is_lost() {
    let place = Place::new("off");
    let mut disk = made(&place.0);
    write(&mut disk, 4096, 7, false);
    disk.shut_down().unwrap();
    drop(disk);
    let mut disk = again(&place.0);
    assert_eq!(byte_at(&disk, 4096), 7);
    assert_eq!(disk.drive().power_cycles().unsafe_shutdowns, 0);
    write(&mut disk, 4096, 8, true);
    drop(disk);
    assert_eq!(byte_at(&again(&place.0), 4096), 8);
}

#[test]
fn faults_outlive_the_server() {
    let place = Place::new("faults");
    let mut disk = made(&place.0);
    write(&mut disk, 0, 1, true);
    disk.break_down(Fault::Unreadable { lpn: 0, units: 1 })
        .unwrap();
    let read = ask(&mut disk, Op::Read, 0, &[0; 512], false);
    assert_eq!(read.status, Status::Unreadable);
    disk.shut_down().unwrap();
    drop(disk);
    let mut disk = again(&place.0);
    let read = ask(&mut disk, Op::Read, 0, &[0; 512], false);
    assert_eq!(read.status, Status::Unreadable);
    write(&mut disk, 0, 2, false);
    let read = ask(&mut disk, Op::Read, 0, &[0; 512], false);
    assert_eq!((read.status, read.ask.data.unwrap()[0]), (Status::Ok, 2));
}

#[test]
fn a_torn_journal_ends_with_its_last_batch() {
    let place = Place::new("torn");
    let mut disk = made(&place.0);
    write(&mut disk, 0, 1, true);
    write(&mut disk, 4096, 2, true);
    drop(disk);
    let journal = place.0.join("journal-0");
    let whole = fs::read(&journal).unwrap();
    for cut in [1, 33, 60] {
        fs::write(&journal, &whole[..whole.len() - cut]).unwrap();
        let disk = again(&place.0);
        assert_eq!(byte_at(&disk, 0), 1);
        drop(disk);
    }
}

/// What has happened by the instant of a cut has happened when it is replayed, and nothing more.
#[test]
fn a_cut_between_two_events_is_replayed() {
    for events in (0..60).step_by(7) {
        let place = Place::new(&format!("events-{events}"));
        let mut disk = made(&place.0);
        for tag in 0..20 {
            let ask = Ask {
                op: Op::Write,
                offset: u64::from(tag) * 65536,
                length: 65536,
                fua: true,
                data: Some(vec![tag as u8 + 1; 65536]),
            };
            disk.submit(tag, ask).unwrap();
        }
        disk.commit().unwrap();
        for _ in 0..events * 5 {
            let due = disk.next_due().unwrap_or(disk.drive().now());
            disk.advance(due, &mut Vec::new()).unwrap();
        }
        disk.cut(disk.drive().now(), Nanos::ZERO, 0).unwrap();
        let found = disk.read(0, 20 * 65536).unwrap();
        drop(disk);
        assert!(
            again(&place.0).read(0, 20 * 65536).unwrap() == found,
            "{events}"
        );
    }
}

#[test]
fn a_directory_is_refused_to_others() {
    let place = Place::new("refused");
    let disk = made(&place.0);
    assert!(matches!(
        Directory::lock(&place.0),
        Err(DirectoryError::Locked(_))
    ));
    drop(disk);
    let stored = |hash: &str| Directory::lock(&place.0).unwrap().stored(hash).map(drop);
    assert!(matches!(
        stored(OTHER),
        Err(DirectoryError::OtherDrive { .. })
    ));
    assert!(stored(HASH).is_ok());
    let header = place.0.join("twin");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, text.replace("boot ", "boot another ")).unwrap();
    assert!(matches!(
        stored(HASH),
        Err(DirectoryError::MachineWentDown(_))
    ));
    fs::write(&header, &text[..text.len() / 2]).unwrap();
    let locked = Directory::lock(&place.0);
    assert!(
        matches!(locked, Err(DirectoryError::Damaged { .. })),
        "{locked:?}"
    );
    fs::remove_file(&header).unwrap();
    assert!(matches!(
        Directory::lock(&place.0),
        Err(DirectoryError::HalfMade(_))
    ));
    fs::write(place.0.join("letter.txt"), "dear").unwrap();
    assert!(matches!(
        Directory::lock(&place.0),
        Err(DirectoryError::Foreign(_))
    ));
}

/// A drive under a seeded load of several requests at once, with cuts in their midst; the answer is
/// what it held after each cut.
fn cut_often(disk: &mut Disk, seed: u64) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(seed, 1);
    let (mut images, mut answers) = (Vec::new(), Vec::new());
    for number in 0..400u32 {
        let tag = number % 16;
        while !disk.is_free(tag) {
            disk.advance_until_done(&mut answers).unwrap();
        }
        let length = 512 * (1 + rng.below(40));
        let op = [Op::Write, Op::Write, Op::Trim, Op::Read][rng.below(4) as usize];
        let ask = Ask {
            op: if rng.chance(5) { Op::Flush } else { op },
            offset: 512 * rng.below(2000),
            length,
            fua: rng.chance(20),
            data: rng.chance(90).then(|| vec![number as u8; length as usize]),
        };
        let ask = match ask.op {
            Op::Flush => Ask {
                offset: 0,
                length: 0,
                data: None,
                ..ask
            },
            Op::Write => ask,
            _ => Ask { data: None, ..ask },
        };
        disk.submit(tag, ask).unwrap();
        if rng.chance(30) {
            let due = disk.next_due().unwrap_or(disk.drive().now());
            disk.advance(due, &mut answers).unwrap();
            disk.commit().unwrap();
        }
        if number == 150 {
            let fault = Fault::SlowDie {
                die: 0,
                milli: 3000,
            };
            disk.break_down(fault).unwrap();
        }
        if number % 100 == 99 {
            let seed = rng.below(1 << 32) as u32;
            disk.cut(disk.drive().now(), Nanos(1000), seed).unwrap();
            images.push(disk.read(0, 2100 * 512).unwrap());
        }
    }
    images
}

#[test]
fn a_log_leads_to_the_same_bytes_after_each_cut() {
    let worse = [
        Worse::default(),
        Worse {
            shorn: 3,
            ..Worse::default()
        },
        Worse {
            superblocks_lost: 1,
            flush_ignored: true,
            fua_ignored: true,
            ..Worse::default()
        },
    ];
    for (seed, worse) in (1..).zip(worse) {
        let place = Place::new(&format!("log-{seed}"));
        fs::create_dir(&place.0).unwrap();
        let log = place.0.join("log");
        let fresh = || {
            let mut disk = Disk::in_memory(Drive::new(&config(), 1), false);
            disk.set_worse(worse);
            disk
        };
        let mut disk = fresh();
        disk.set_log(Log::begin(&log, "{}", true).unwrap());
        let images = cut_often(&mut disk, seed);
        for (image, number) in images.iter().zip(1..) {
            let mut again = fresh();
            let replayed = log::replay(&mut again, &log, Some(number), |_| true).unwrap();
            assert_eq!(replayed.cuts, number);
            assert!(
                &again.read(0, 2100 * 512).unwrap() == image,
                "seed {seed}, cut {number}"
            );
        }
        // A server that is killed leaves a cut at its end.
        drop(disk);
        let mut again = fresh();
        assert_eq!(
            log::replay(&mut again, &log, None, |_| true).unwrap().cuts,
            5
        );
        let fifth = log::replay(&mut fresh(), &log, Some(5), |_| true);
        assert!(matches!(fifth, Err(LogError::NoSuchCut { there: 4, .. })));
    }
}

#[test]
fn a_log_that_is_not_one_is_refused_by_its_line() {
    let place = Place::new("no-log");
    fs::create_dir(&place.0).unwrap();
    let log = place.0.join("log");
    let end = "{\"at_ns\":9,\"reached\":true}\n";
    let asked = |kind: &str, tag: u64, offset: u64, length: u64, more: &str| {
        let range = format!(r#""tag":{tag},"offset":{offset},"length":{length},"fua":false"#);
        format!(r#"{{"at_ns":1,"ask":"{kind}",{range}{more}}}"#)
    };
    let lines = [
        String::new(),
        "null".to_owned(),
        r#"{"at_ns":9}"#.to_owned(),
        r#"{"at_ns":-1,"reached":true}"#.to_owned(),
        r#"{"at_ns":1,"broke":1,"which":9999,"amount":0}"#.to_owned(),
        r#"{"at_ns":1,"broke":77,"which":0,"amount":0}"#.to_owned(),
        asked("read", 4_000_000_000, 0, 512, ""),
        asked("read", 0, 0, 0, ""),
        asked("read", 0, 7, 512, ""),
        asked("read", 0, 0, 2 << 20, ""),
        asked("trim", 0, u64::MAX - 511, 1024, ""),
        asked("write", 0, 0, 512, ""),
        asked("write", 0, 0, 512, r#","sha256":"00""#),
    ];
    for line in lines {
        fs::write(&log, format!("{{}}\n{line}\n{end}")).unwrap();
        let mut disk = Disk::in_memory(Drive::new(&config(), 1), false);
        let replayed = log::replay(&mut disk, &log, None, |_| true);
        assert!(
            matches!(replayed, Err(LogError::Damaged { line: 2, .. })),
            "{line}: {replayed:?}"
        );
    }
    // Torn at its end it is that of a killed server.
    fs::write(&log, format!("{{}}\n{end}{{\"at_ns\":12,\"rea")).unwrap();
    let mut disk = Disk::in_memory(Drive::new(&config(), 1), false);
    let replayed = log::replay(&mut disk, &log, None, |_| true).unwrap();
    assert_eq!((replayed.cuts, replayed.asked), (1, [0; 4]));
    assert!(matches!(
        Log::begin(&log, "{}", false),
        Err(LogError::Io { .. })
    ));
}

/// Units of every alignment, runs over the ends of what is taken from the system at once: what was
/// written is read, and its neighbours are as they were.
#[test]
fn memory_holds_what_was_written_to_it() {
    for unit in [16, 48, 512, 520, 4096] {
        let mut store = Store::memory(unit, false);
        let mut flat = vec![0; 600 * unit];
        store.write(0, &flat).expect("memory takes all");
        let mut chance = Rng::new(unit as u64, 0);
        for _ in 0..200 {
            let first = chance.below(600) as usize;
            let count = 1 + chance.below((600 - first).min(300) as u64) as usize;
            let byte = chance.below(256) as u8;
            let data: Vec<u8> = (0..count * unit).map(|n| byte ^ n as u8).collect();
            store.write(first as u32, &data).expect("memory takes all");
            flat[first * unit..(first + count) * unit].copy_from_slice(&data);
        }
        let mut out = vec![0; unit];
        for (slot, expected) in flat.chunks_exact(unit).enumerate() {
            store.read(slot as u32, &mut out).expect("memory gives all");
            assert_eq!(out, expected, "unit {unit}, slot {slot}");
        }
    }
}
