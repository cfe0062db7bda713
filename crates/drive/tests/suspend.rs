//! Program and erase suspend against times that can be reckoned by hand.

use crate::common::asks::{Host, UNCACHED, bus, link};
use flashtwin_base::{Device, Nanos, Op};

/// Two dies, each on its own channel; superblocks of 64 granules a die; every write is programmed
/// before it is answered.
const DRIVE: [&str; 8] = [
    "controller.acknowledge=write-through",
    "controller.gather=false",
    "controller.read_ahead_streams=0",
    "nand.wordlines_per_block=64",
    "ftl.system=0",
    "drive.capacity=3 GB",
    "nand.suspend.entry=20 us",
    "nand.suspend.penalty=30 us",
];

const COMMAND: u64 = 6_000;
const ENTRY: u64 = 20_000;
const PENALTY: u64 = 30_000;
const PROGRAM: u64 = 4_300_000;
const ERASE: u64 = 10_000_000;
/// Units of a granule, and its bytes.
const GRANULE: u64 = 48;
const BYTES: u64 = GRANULE * 4096;

/// What a read of one unit keeps its die for: sense and transfer.
fn read() -> u64 {
    45_000 + bus(4096)
}

fn host(sets: &[&str]) -> Host {
    Host::new(&[&UNCACHED, &DRIVE, sets])
}

fn suspensions(host: &mut Host) -> i64 {
    host.drive.restart_xray(Nanos(1));
    let now = host.drive.now();
    host.drive.advance(now + Nanos(1), &mut host.done);
    let columns = flashtwin_drive::xray::COLUMNS;
    let at = columns
        .iter()
        .position(|c| *c == "suspends")
        .expect("a column");
    host.drive.close_xray().columns()[at][0]
}

/// A program on die 0 begins at the answer of this, without its transfers: data of the third
/// granule is taken from the host and then by the die.
fn third_granule(host: &mut Host) -> (u64, u64) {
    let start = host.filled(2, GRANULE);
    host.send(start, 1, Op::Write, 2 * GRANULE, GRANULE);
    (start, start + COMMAND + link(BYTES) + bus(BYTES))
}

#[test]
fn a_read_waits_for_the_program_without_suspend() {
    let mut host = host(&[]);
    let (_, array) = third_granule(&mut host);
    let asked = array + 2_000_000;
    host.send(asked, 2, Op::Read, 0, 1);
    assert_eq!(host.answered(2), array + PROGRAM + read() + link(4096));
    assert_eq!(host.answered(1), array + PROGRAM);
    assert_eq!(suspensions(&mut host), 0);
}

#[test]
fn a_read_suspends_the_program_which_takes_that_much_longer() {
    // The same on a die with a channel to itself and on one that shares it.
    for channels in [
        &["nand.channels=2"][..],
        &["nand.channels=1", "nand.dies_per_channel=2"],
    ] {
        let mut host = host(&[channels, &["nand.suspend.program=true"]].concat());
        let (_, array) = third_granule(&mut host);
        let asked = array + 2_000_000;
        host.send(asked, 2, Op::Read, 0, 1);
        assert_eq!(
            host.answered(2),
            asked + COMMAND + ENTRY + read() + link(4096)
        );
        assert_eq!(host.answered(1), array + PROGRAM + ENTRY + read() + PENALTY);
        assert_eq!(suspensions(&mut host), 1);
    }
}

#[test]
fn each_suspension_costs_again_up_to_the_most_and_then_reads_wait() {
    let mut host = host(&["nand.suspend.program=true", "nand.suspend.most=2"]);
    let (_, array) = third_granule(&mut host);
    for turn in 0..3 {
        host.send(
            array + (turn + 1) * 1_000_000,
            turn as u32 + 10,
            Op::Read,
            turn,
            1,
        );
    }
    let ends = array + PROGRAM + 2 * (ENTRY + read() + PENALTY);
    for turn in 0..2 {
        let asked = array + (turn + 1) * 1_000_000;
        let answer = asked + COMMAND + ENTRY + read() + link(4096);
        assert_eq!(host.answered(turn as u32 + 10), answer, "read {turn}");
    }
    assert_eq!(host.answered(1), ends);
    assert_eq!(host.answered(12), ends + read() + link(4096));
    assert_eq!(suspensions(&mut host), 2);
}

#[test]
fn one_suspension_serves_so_many_reads() {
    let asked = |array: u64| array + 1_000_000;
    for (most, served) in [("nand.suspend.reads=32", 3), ("nand.suspend.reads=2", 2)] {
        let mut host = host(&["nand.suspend.program=true", most]);
        let (_, array) = third_granule(&mut host);
        for turn in 0..3 {
            host.send(asked(array), turn + 10, Op::Read, turn.into(), 1);
        }
        let free = asked(array) + COMMAND + ENTRY;
        let ends = array + PROGRAM + ENTRY + u64::from(served) * read() + PENALTY;
        for turn in 0..3 {
            let sent = if turn < served {
                free + u64::from(turn + 1) * read()
            } else {
                ends + read()
            };
            assert_eq!(
                host.answered(turn + 10),
                sent + link(4096),
                "{most}, read {turn}"
            );
        }
        assert_eq!(host.answered(1), ends, "{most}");
        assert_eq!(suspensions(&mut host), 1);
    }
}

#[test]
fn a_program_that_ends_within_the_entry_time_is_let_be() {
    let mut host = host(&["nand.suspend.program=true"]);
    let (_, array) = third_granule(&mut host);
    let asked = array + PROGRAM - ENTRY - COMMAND;
    host.send(asked, 2, Op::Read, 0, 1);
    assert_eq!(host.answered(2), array + PROGRAM + read() + link(4096));
    assert_eq!(suspensions(&mut host), 0);
}

#[test]
fn a_program_whose_data_is_on_its_way_is_suspended_when_it_begins() {
    let mut host = host(&["nand.suspend.program=true"]);
    let (_, array) = third_granule(&mut host);
    let asked = array - bus(BYTES) / 2 - COMMAND;
    host.send(asked, 2, Op::Read, 0, 1);
    assert_eq!(host.answered(2), array + ENTRY + read() + link(4096));
    assert_eq!(host.answered(1), array + PROGRAM + ENTRY + read() + PENALTY);
}

#[test]
fn the_other_die_works_on() {
    let mut host = host(&["nand.suspend.program=true"]);
    let (_, array) = third_granule(&mut host);
    host.send(array + 1_000_000, 2, Op::Read, GRANULE, 1);
    let asked = array + 1_000_000;
    assert_eq!(host.answered(2), asked + COMMAND + read() + link(4096));
    assert_eq!(host.answered(1), array + PROGRAM);
    assert_eq!(suspensions(&mut host), 0);
}

#[test]
fn an_erase_is_suspended_by_its_own_switch() {
    for (switch, suspends) in [
        ("nand.suspend.erase=true", 1),
        ("nand.suspend.program=true", 0),
    ] {
        let mut host = host(&[switch]);
        let start = host.filled(130, GRANULE);
        let fresh = host.drive.ftl().free_superblocks();
        host.send(start, 1, Op::Trim, 0, 128 * GRANULE);
        let begun = host.answered(1);
        let asked = begun + 1_000_000;
        // The first granule of the second superblock is on die 0.
        host.send(asked, 2, Op::Read, 128 * GRANULE, 1);
        let (sent, ends) = if suspends == 1 {
            let free = asked + COMMAND + ENTRY;
            (free + read(), begun + ERASE + ENTRY + read() + PENALTY)
        } else {
            (begun + ERASE + read(), begun + ERASE)
        };
        assert_eq!(host.answered(2), sent + link(4096), "{switch}");
        host.drive.advance(Nanos(ends - 1), &mut host.done);
        let erased = |host: &Host| host.drive.ftl().free_superblocks() > fresh;
        assert!(
            suspends == 0 || !erased(&host),
            "{switch}: erased too early"
        );
        host.drive
            .advance(Nanos(ends.max(sent + link(4096))), &mut host.done);
        assert!(erased(&host), "{switch}: not erased in time");
        assert_eq!(suspensions(&mut host), suspends);
    }
}
