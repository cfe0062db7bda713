//! Dies that share a channel, against times that can be reckoned by hand.

use crate::common::asks::{Host, UNCACHED, bus, link};
use crate::common::loops::{go, job, rate_between};
use crate::common::{self, load_with};
use flashtwin_base::Op;
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// Two dies; every write is programmed before it is answered.
const DRIVE: [&str; 6] = [
    "controller.acknowledge=write-through",
    "controller.gather=false",
    "controller.read_ahead_streams=0",
    "ftl.system=0",
    "drive.capacity=20 GB",
    // A granule is one burst of the link.
    "nand.planes=2",
];

const SHARED: [&str; 2] = ["nand.channels=1", "nand.dies_per_channel=2"];
const APART: [&str; 2] = ["nand.channels=2", "nand.dies_per_channel=1"];

const COMMAND: u64 = 6_000;
const PROGRAM: u64 = 4_300_000;
const SENSE: u64 = 45_000;
/// Units of a granule, and its bytes.
const GRANULE: u64 = 24;
const BYTES: u64 = GRANULE * 4096;

fn host(channels: &[&str], sets: &[&str]) -> Host {
    Host::new(&[&UNCACHED, &DRIVE, channels, sets])
}

#[test]
fn programs_take_their_data_one_after_another_and_program_together() {
    for (channels, wait) in [(&SHARED, true), (&APART, false)] {
        let mut host = host(channels, &[]);
        host.send(0, 1, Op::Write, 0, GRANULE);
        host.send(0, 2, Op::Write, GRANULE, GRANULE);
        let first = COMMAND + link(BYTES) + bus(BYTES);
        let second = if wait {
            first
        } else {
            COMMAND + 2 * link(BYTES)
        } + bus(BYTES);
        assert_eq!(host.answered(1), first + PROGRAM);
        assert_eq!(host.answered(2), second + PROGRAM);
    }
}

#[test]
fn reads_of_two_dies_sense_together_and_send_one_after_another() {
    let pages = GRANULE / 3;
    for (channels, wait) in [(&SHARED, true), (&APART, false)] {
        let mut host = host(channels, &[]);
        let start = host.filled(2, GRANULE);
        host.send(start, 1, Op::Read, 0, pages);
        host.send(start, 2, Op::Read, GRANULE, pages);
        let (bytes, seen) = (pages * 4096, start + COMMAND);
        let first = seen + SENSE + bus(bytes);
        assert_eq!(host.answered(1), first + link(bytes));
        let second = if wait { first } else { seen + COMMAND + SENSE } + bus(bytes);
        let out = (first + link(bytes)).max(second);
        assert_eq!(host.answered(2), out + link(bytes));
    }
}

#[test]
fn a_read_waits_for_the_transfer_that_is_crossing_its_channel() {
    for (channels, wait) in [(&SHARED, true), (&APART, false)] {
        let mut host = host(channels, &[]);
        let start = host.filled(2, GRANULE);
        // A third granule for die 0; a read from die 1 senses while its data crosses.
        host.send(start, 1, Op::Write, 2 * GRANULE, GRANULE);
        let begins = start + COMMAND + link(BYTES);
        host.send(begins, 2, Op::Read, GRANULE, 1);
        let crossed = begins + bus(BYTES);
        let sensed = begins + COMMAND + SENSE;
        assert!(sensed < crossed);
        let sent = if wait { crossed } else { sensed } + bus(4096);
        assert_eq!(host.answered(2), sent + link(4096));
        assert_eq!(host.answered(1), crossed + PROGRAM);
    }
}

#[test]
fn each_page_type_of_qlc_takes_its_time() {
    let times = "nand.native.tr=50 us, 70 us, 110 us, 190 us";
    let mut host = host(&APART, &["nand.cell=qlc", times]);
    let row = GRANULE / 3;
    host.send(0, 1, Op::Write, 0, 4 * row);
    host.answered(1);
    for (page, sense) in [50_000, 70_000, 110_000, 190_000].into_iter().enumerate() {
        let now = host.drive.now().0;
        let tag = 10 + page as u32;
        host.send(now, tag, Op::Read, page as u64 * row, 1);
        assert_eq!(
            host.answered(tag) - now,
            COMMAND + sense + bus(4096) + link(4096)
        );
    }
}

#[test]
fn native_programs_beyond_their_limit_wait_for_others_to_end() {
    let mut host = host(&APART, &["controller.native_programs=1"]);
    host.send(0, 1, Op::Write, 0, GRANULE);
    host.send(0, 2, Op::Write, GRANULE, GRANULE);
    let first = COMMAND + link(BYTES) + bus(BYTES) + PROGRAM;
    assert_eq!(host.answered(1), first);
    assert_eq!(host.answered(2), first + bus(BYTES) + PROGRAM);
}

/// Rates of a fill in the cache and past it.
fn rates(sets: &[&str]) -> [f64; 2] {
    let small = [
        "slc_cache.size=200 MB",
        "slc_cache.when_full=direct",
        "slc_cache.rearm=100 MB",
        "fold.reserve=0",
    ];
    let mut drive = Drive::new(
        &load_with(common::BASE, &[], &[&small, sets].concat()).config,
        1,
    );
    let mut fill = job(ReadWrite::Write, 1 << 20, 8);
    fill.io_bytes = Some(400 << 20);
    let outcome = go(&mut drive, fill);
    [(0.0, 150e6), (220e6, 400e6)].map(|(from, to)| rate_between(&outcome, from, to))
}

/// A budget of power bounds what is programmed with all bits a cell, and not the cache.
#[test]
fn a_limit_on_native_programs_slows_writes_past_the_cache_alone() {
    let [in_cache, past] = rates(&[]);
    let [limited_in_cache, limited_past] = rates(&["controller.native_programs=1"]);
    assert!((limited_in_cache / in_cache - 1.0).abs() < 0.01);
    let share = limited_past / past;
    assert!((0.45..0.55).contains(&share), "{share} of two dies");
}
