//! Snapshots: whatever the bytes are, loading ends with a drive or an error, and only what was
//! saved is loaded, which agrees with every invariant of the firmware and works on.
//!
//! The bytes are edits of a snapshot that is made here, so that the corpus outlives a change of the
//! state. The first byte chooses: bit 0 edits what was unpacked and seals it anew with right
//! checksums, as a forger would: of such a drive only the loading is tried; bit 1 takes a drive
//! made for power cuts. Each edit is six bytes: a position (32 bits, little end first), what is
//! done there, and with which byte.

use std::sync::OnceLock;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Op, Request, Status};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::spec::{self, Spec};
use flashtwin_drive::{Drive, SnapshotError};

use crate::spec::PARENTS;

/// Bytes of the header, checksum included: magic, three numbers, hash, seed, a flag.
const HEADER_BYTES: usize = 8 + 3 * 4 + 64 + 8 + 1 + 4;
/// Tag and length before a section.
const LEAD_BYTES: usize = 12;
const SUM_BYTES: usize = 4;
/// More edits make nothing new of a snapshot.
const EDITS_MOST: usize = 64;
/// Commands before and after.
const COMMANDS: u32 = 400;

fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| {
        let text = "schema = 1\nid = \"saved\"\nname = \"Saved\"\nextends = \"small\"";
        spec::load_text(text, &PARENTS, &[], &[], None).expect("the small drive is right")
    })
}

/// The snapshot that is edited.
fn original(cuts: bool) -> &'static [u8] {
    static ORIGINALS: [OnceLock<Vec<u8>>; 2] = [OnceLock::new(), OnceLock::new()];
    ORIGINALS[usize::from(cuts)].get_or_init(|| {
        let mut drive = Drive::new(&spec().config, 5);
        if cuts {
            drive.enable_power_cuts();
        }
        for round in 0..4 {
            work(&mut drive, round);
        }
        saved(&mut drive)
    })
}

fn saved(drive: &mut Drive) -> Vec<u8> {
    let identity = Identity {
        spec_hash: spec().hash.clone(),
        seed: 5,
    };
    let mut bytes = Vec::new();
    drive
        .save(&mut bytes, &identity)
        .expect("nothing is outstanding");
    bytes
}

/// Commands of all kinds, one after the other, each of which has to be answered.
fn work(drive: &mut Drive, seed: u64) {
    let mut rng = Rng::new(seed, 3);
    let sectors = drive.capacity_bytes() / 512;
    let mut done: Vec<Completion> = Vec::new();
    for tag in 0..COMMANDS {
        let length = 1 + rng.below(256);
        let lba = rng.below(sectors - length);
        let op = match rng.below(20) {
            0 => Op::Flush,
            1 => Op::Trim,
            2..6 => Op::Read,
            _ => Op::Write,
        };
        let length = if op == Op::Flush { 0 } else { length as u32 };
        drive.submit(drive.now(), Request::new(tag, op, lba, length));
        while done.is_empty() {
            let due = drive.next_due().expect("a command is under way");
            drive.advance(due, &mut done);
        }
        let answer = done.remove(0);
        assert!(
            answer.tag == tag && done.is_empty(),
            "{answer:?} to command {tag}"
        );
        assert_ne!(answer.status, Status::OutOfRange);
    }
}

fn edited(mut bytes: Vec<u8>, edits: &[u8]) -> Vec<u8> {
    for edit in edits.chunks_exact(6).take(EDITS_MOST) {
        let position = u32::from_le_bytes([edit[0], edit[1], edit[2], edit[3]]) as usize;
        let at = position % (bytes.len() + 1);
        match edit[4] % 6 {
            0..=2 if at == bytes.len() => bytes.push(edit[5]),
            0 => bytes[at] ^= edit[5],
            1 => bytes[at] = edit[5],
            2 => bytes[at] = bytes[at].wrapping_add(1),
            3 => bytes.insert(at, edit[5]),
            4 if at < bytes.len() => {
                bytes.remove(at);
            }
            _ => bytes.truncate(bytes.len().saturating_sub(usize::from(edit[5]))),
        }
    }
    bytes
}

/// Header and sections of a snapshot, unpacked.
fn unpacked(file: &[u8]) -> Vec<u8> {
    let (header, packed) = file.split_at(HEADER_BYTES);
    let sections = zstd::stream::decode_all(packed).expect("it was packed");
    [header, &sections].concat()
}

/// The same packed again, with right checksums as far as the lengths lead.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() < HEADER_BYTES {
        return bytes;
    }
    seal(&mut bytes[..HEADER_BYTES]);
    let mut at = HEADER_BYTES;
    while let Some(lead) = bytes.get(at..at + LEAD_BYTES) {
        let length = u64::from_le_bytes(lead[4..].try_into().expect("eight bytes"));
        let body = at + LEAD_BYTES;
        let end = body as u128 + u128::from(length) + SUM_BYTES as u128;
        if end > bytes.len() as u128 {
            break;
        }
        at = end as usize;
        seal(&mut bytes[body..at]);
    }
    let (header, sections) = bytes.split_at(HEADER_BYTES);
    let packed = zstd::stream::encode_all(sections, 1).expect("memory takes it");
    [header, &packed].concat()
}

/// Writes the checksum of what stands before it.
fn seal(part: &mut [u8]) {
    let (body, sum) = part.split_at_mut(part.len() - SUM_BYTES);
    sum.copy_from_slice(&crc32fast::hash(body).to_le_bytes());
}

/// Holds a snapshot with these edits against what must be true of any; the answer is whether it
/// is loaded.
///
/// # Panics
/// Where it is not.
pub fn check(data: &[u8]) -> bool {
    let Some((choice, edits)) = data.split_first() else {
        return false;
    };
    let original = original(choice & 2 != 0);
    let forged = choice & 1 != 0;
    let file = match forged {
        true => sealed(edited(unpacked(original), edits)),
        false => edited(original.to_vec(), edits),
    };
    match Drive::load(&spec().config, &spec().hash, file.as_slice()) {
        Ok(_) if forged => true,
        Ok((mut drive, seed)) => {
            // The frame of the stream has bits that change nothing.
            assert_eq!(seed, 5);
            assert!(saved(&mut drive) == original, "an edit went unseen");
            work(&mut drive, 9);
            drive.ftl().check();
            true
        }
        Err(error) => {
            assert!(file != original, "{error}");
            assert!(
                !matches!(error, SnapshotError::Busy(_) | SnapshotError::Io(_)),
                "{error}"
            );
            false
        }
    }
}
