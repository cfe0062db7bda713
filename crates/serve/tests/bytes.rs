//! A drive in a directory: what outlives the server, and whom the directory is refused to.

use std::fs;
use std::path::{Path, PathBuf};

use flashtwin_base::{Nanos, Op, Status};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive, spec};
use flashtwin_serve::directory::{Directory, DirectoryError};
use flashtwin_serve::disk::{Answer, Ask, Disk};
use flashtwin_serve::faults::Fault;

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
    );
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
    for events in (0..60).step_by(3) {
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
            disk.submit(tag, ask);
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
