//! Mapping units of 4 to 64 KiB: what a write of less costs, and what crosses the link.

use crate::common::loops::{go, job, rate};
use crate::common::{self, load_with};
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

const COMMAND: u64 = 6_000;

fn drive(unit_kib: u32, sets: &[&str]) -> Drive {
    let unit = format!("ftl.mapping_unit={unit_kib} KiB");
    let sets = [&[unit.as_str()], sets].concat();
    Drive::new(&load_with(common::BASE, &[], &sets).config, 1)
}

/// Sends commands at once; the answer is when each was done, from now on, in their order.
fn send(drive: &mut Drive, commands: &[(Op, u64, u32)]) -> Vec<u64> {
    let start = drive.now();
    for (tag, &(op, lba, sectors)) in commands.iter().enumerate() {
        drive.submit(start, Request::new(tag as u32, op, lba, sectors));
    }
    let mut done: Vec<Completion> = Vec::new();
    while done.len() < commands.len() {
        let due = drive.next_due().expect("commands are under way");
        drive.advance(due, &mut done);
    }
    done.sort_by_key(|c| c.tag);
    done.iter().map(|c| (c.at - start).0).collect()
}

fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> u64 {
    send(drive, &[(op, lba, sectors)])[0]
}

fn link(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 545_000_000
}

fn bus(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 400_000_000
}

/// Each small write programs its whole unit: host bytes over programmed bytes is the share.
#[test]
fn a_small_write_programs_its_unit_whole() {
    for unit in [4u32, 8, 16, 32, 64] {
        let mut d = drive(unit, &["slc_cache.when_full=direct"]);
        let mut fill = job(ReadWrite::Write, 1 << 20, 8);
        fill.size = Some(1 << 28);
        go(&mut d, fill);
        let before = *d.counters();
        let mut small = job(ReadWrite::RandWrite, 4096, 1);
        small.size = Some(1 << 28);
        small.io_bytes = Some(1 << 22);
        let outcome = go(&mut d, small);
        single(&mut d, Op::Flush, 0, 0);
        let c = d.counters();
        let programmed = c.slc_units - before.slc_units;
        assert_eq!(programmed, outcome.jobs[0].bytes / 4096, "{unit} KiB");
        let written = programmed * u64::from(unit) * 1024;
        assert_eq!(written, outcome.jobs[0].bytes * u64::from(unit) / 4);
        d.ftl().check();
    }
}

#[test]
fn a_read_sends_what_was_asked_for() {
    let mut d = drive(16, &[]);
    single(&mut d, Op::Write, 0, 256);
    single(&mut d, Op::Flush, 0, 0);
    let found = single(&mut d, Op::Read, 8, 8);
    assert_eq!(found, COMMAND + 35_000 + bus(4096) + link(4096));
    // The last 4 KiB of one unit and the first 8 KiB of the next, which lie in one row.
    let found = single(&mut d, Op::Read, 24, 24);
    assert_eq!(found, COMMAND + 35_000 + bus(12288) + link(12288));
    // Three sectors touch two codewords.
    let found = single(&mut d, Op::Read, 7, 3);
    assert_eq!(found, COMMAND + 35_000 + bus(8192) + link(1536));
}

#[test]
fn the_codeword_is_the_least_that_a_read_moves() {
    for (codeword, moved) in [
        ("0", 16384),
        ("64 KiB", 16384),
        ("8 KiB", 8192),
        ("1 KiB", 3072),
    ] {
        let codeword = format!("nand.codeword={codeword}");
        let mut d = drive(16, &[&codeword]);
        single(&mut d, Op::Write, 0, 256);
        single(&mut d, Op::Flush, 0, 0);
        // Four sectors from the middle of a KiB on.
        let found = single(&mut d, Op::Read, 9, 4);
        assert_eq!(
            found,
            COMMAND + 35_000 + bus(moved) + link(2048),
            "{codeword}"
        );
    }
    // A unit over several planes too, and with check data of 8 bytes a sector.
    let mut d = drive(64, &["controller.end_to_end=true"]);
    single(&mut d, Op::Write, 0, 128);
    single(&mut d, Op::Flush, 0, 0);
    let found = single(&mut d, Op::Read, 64, 8);
    assert_eq!(found, COMMAND + 35_000 + bus(4096 + 64) + link(4096));
}

#[test]
fn a_write_sends_what_it_brings_however_many_bursts_it_takes() {
    let mut d = drive(4, &[]);
    let sectors = 3 * 256 + 2;
    let found = single(&mut d, Op::Write, 7, sectors);
    let bytes = u64::from(sectors) * 512;
    assert!(
        found.abs_diff(COMMAND + link(bytes)) <= 4,
        "{found} for {bytes} bytes"
    );
}

#[test]
fn a_unit_in_ram_or_on_its_way_is_not_read_again() {
    let mut d = drive(16, &[]);
    single(&mut d, Op::Write, 0, 256);
    single(&mut d, Op::Flush, 0, 0);
    let first = single(&mut d, Op::Write, 0, 8);
    // The sectors that the write brings are not read.
    assert_eq!(first, COMMAND + 35_000 + bus(12288) + link(4096));
    let second = single(&mut d, Op::Write, 8, 8);
    assert_eq!(second, COMMAND + link(4096), "its unit is in the buffer");
    let both = send(&mut d, &[(Op::Write, 64, 8), (Op::Write, 72, 8)]);
    let once = COMMAND + 35_000 + bus(12288);
    assert_eq!(both, [once + link(4096), once + 2 * link(4096)]);
}

#[test]
fn reads_of_parts_of_units_are_a_stream_too() {
    let read = |ahead: bool| {
        let off = ["controller.read_ahead_streams=0", "controller.read_ahead=0"];
        let mut d = drive(16, if ahead { &[] } else { &off });
        let mut write = job(ReadWrite::Write, 1 << 20, 4);
        write.size = Some(1 << 25);
        go(&mut d, write);
        let mut read = job(ReadWrite::Read, 4096, 1);
        read.size = Some(1 << 25);
        rate(&go(&mut d, read))
    };
    let hidden = 4096.0 / (COMMAND + link(4096)) as f64 * 1e9;
    let (with, without) = (read(true), read(false));
    assert!(
        (with / hidden - 1.0).abs() < 0.05,
        "{with} against {hidden}"
    );
    assert!(without < hidden / 3.0, "{without} without read-ahead");
}

#[test]
fn a_unit_may_span_planes() {
    let mut d = drive(64, &[]);
    assert_eq!(d.ftl().layout().row_units, 1, "four planes of 16 KiB");
    single(&mut d, Op::Write, 0, 128);
    single(&mut d, Op::Flush, 0, 0);
    let found = single(&mut d, Op::Read, 0, 128);
    assert_eq!(found, COMMAND + 35_000 + bus(65536) + link(65536));
    d.advance(d.now() + Nanos::from_secs(1), &mut Vec::new());
    d.ftl().check();
}

#[test]
fn a_trim_of_the_whole_drive_takes_its_last_unit_too() {
    // 40 GB are 610,351 units of 64 KiB and more than half of another.
    let mut d = drive(64, &[]);
    let sectors = d.capacity_bytes() / 512;
    assert_ne!(sectors % 128, 0);
    single(
        &mut d,
        Op::Write,
        sectors - sectors % 128,
        (sectors % 128) as u32,
    );
    let last = d.ftl().logical_units() - 1;
    assert!(d.ftl().locate(last).is_some());
    // Of a unit before the end a part is not enough.
    single(&mut d, Op::Write, 0, 128);
    single(&mut d, Op::Trim, 0, 127);
    assert!(d.ftl().locate(0).is_some());
    single(&mut d, Op::Trim, sectors - 128, 128);
    assert!(d.ftl().locate(last).is_none());
}
