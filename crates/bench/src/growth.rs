//! How the cost of an I/O grows with the drive: the same die, more of them, 240 GB against 4 TB.
//!
//! State grows with capacity, and what is reached at random is further from the core. The limit is
//! memory, not the algorithm: nothing in an I/O's way depends on the size of the drive.

use flashtwin_base::Device;
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

use crate::stopwatch::timed;
use crate::twin::{NO_CACHE, bx500, fill, run_random};
use crate::{Figures, ROUNDS};

/// What makes 4 TB of the 240 GB drive: four channels of sixteen dies, a little over-provisioning.
const LARGE: &[&str] = &[
    "drive.capacity=4 TB",
    "nand.dies_per_channel=16",
    "nand.blocks_per_plane=500",
];
/// Random requests over which a cost is measured.
const REQUESTS: u64 = 3_000_000;
/// Memory that the large drive takes, in kB: 8.7 bytes a unit, and as much again for comfort.
const NEEDED_KB: u64 = 12 << 20;

/// Seconds an I/O: random writes on a fresh drive, before anything is collected, and random reads
/// of the full one. Best of three.
fn costs(sets: &[&str]) -> (f64, f64) {
    let config = bx500(&[NO_CACHE, sets].concat());
    let (mut write, mut read) = (f64::INFINITY, f64::INFINITY);
    let mut drive = Drive::new(&config, 1);
    for round in 0..ROUNDS {
        let job = |drive: &mut Drive, rw| run_random(drive, rw, REQUESTS, u64::from(round));
        write = write.min(timed(|| job(&mut drive, ReadWrite::RandWrite)).0);
    }
    assert_eq!(
        drive.counters().gc_units,
        0,
        "{} bytes were collected",
        drive.capacity_bytes()
    );
    fill(&mut drive);
    for round in 0..ROUNDS {
        let job = |drive: &mut Drive, rw| run_random(drive, rw, REQUESTS, u64::from(round));
        read = read.min(timed(|| job(&mut drive, ReadWrite::RandRead)).0);
    }
    (write, read)
}

/// How many times the cost of an I/O grows from 240 GB to 4 TB; nothing where memory is short.
#[must_use]
pub fn figures() -> Figures {
    let available = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = available
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    if available.is_some_and(|kb| kb < NEEDED_KB) {
        eprintln!("the 4 TB drive is left out: it wants 12 GiB of free memory");
        return Vec::new();
    }
    let (write, read) = costs(&[]);
    let (write_large, read_large) = costs(LARGE);
    vec![
        ("growth_read", read_large / read),
        ("growth_write", write_large / write),
    ]
}
