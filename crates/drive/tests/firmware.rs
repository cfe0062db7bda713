//! What the controller's own limits do to what a host sees: the time that its cores take for each
//! flash operation, and the bytes that error correction and memory pass.

use crate::common::loops::{go, job, rate, rate_between, rest, together};
use crate::common::{BASE, load_with};
use flashtwin_base::Nanos;
use flashtwin_drive::Drive;
use flashtwin_workload::{RawJob, ReadWrite};

const MB: f64 = 1e6;
/// Bytes of a program of the cache on one die of the base.
const SLC_PROGRAM: f64 = 65536.0;

/// A quarter of the base, so quick on both sides that only the controller is left to limit it.
const FAST: [&str; 6] = [
    "nand.slc.tprog=20 us",
    "nand.native.tprog=60 us",
    "nand.bus_rate=8 GT/s",
    "link.kind=nvme",
    "link.rate=3 GB/s",
    "controller.command_time=1 us",
];

fn drive(sets: &[&str]) -> Drive {
    let sets = [&FAST[..], sets].concat();
    Drive::new(&load_with(BASE, &[], &sets).config, 1)
}

fn near(what: &str, found: f64, expected: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off < 0.02, "{what}: {found}, not {expected}");
}

/// The first GiB written in order: all of it fits the cache.
fn first_gib(rw: ReadWrite) -> RawJob {
    let mut job = job(rw, 128 << 10, 32);
    job.size = Some(1 << 30);
    job
}

#[test]
fn data_in_both_directions_shares_the_controllers_rate() {
    let mut d = drive(&["controller.data_rate=300 MB/s"]);
    let write = rate(&go(&mut d, first_gib(ReadWrite::Write)));
    near("written", write, 300.0 * MB);
    rest(&mut d, Nanos::from_secs(1));
    let read = rate(&go(&mut d, first_gib(ReadWrite::Read)));
    near("read", read, 300.0 * MB);
}

/// Past the cache of a staged drive each host byte is programmed, read to be folded and programmed
/// again: the controller passes it three times.
#[test]
fn folding_takes_its_part_of_the_controllers_rate() {
    let fill = go(
        &mut drive(&["controller.data_rate=300 MB/s"]),
        job(ReadWrite::Write, 1 << 20, 8),
    );
    near("in the cache", rate_between(&fill, 1e8, 3.9e9), 300.0 * MB);
    near("past it", rate_between(&fill, 6e9, 30e9), 100.0 * MB);
}

#[test]
fn each_program_takes_a_core() {
    let written = |sets: &[&str]| {
        let sets = [sets, &["controller.program_time=300 us"]].concat();
        rate(&go(&mut drive(&sets), first_gib(ReadWrite::Write)))
    };
    // Commands of 128 KiB take 1 us of the same core for each two programs.
    let alone = SLC_PROGRAM / 300.5e-6;
    near("one core", written(&[]), alone);
    near("two cores", written(&["controller.cores=2"]), 2.0 * alone);
}

/// Written straight into TLC, three page rows at once: bytes cost what they cost in SLC.
#[test]
fn each_page_row_of_a_program_takes_its_time() {
    let sets = [&FAST[..], &["controller.program_time=300 us"]].concat();
    let config = load_with(BASE, &["slc-off"], &sets).config;
    let direct = rate(&go(
        &mut Drive::new(&config, 1),
        first_gib(ReadWrite::Write),
    ));
    near("straight", direct, SLC_PROGRAM / 300.5e-6);
}

#[test]
fn each_read_takes_a_core_beside_its_command() {
    let reads = |sets: &[&str]| {
        let mut d = drive(sets);
        go(&mut d, first_gib(ReadWrite::Write));
        rest(&mut d, Nanos::from_secs(1));
        let mut job = job(ReadWrite::RandRead, 4096, 32);
        (job.size, job.io_bytes) = (Some(1 << 30), Some(20_000 * 4096));
        rate(&go(&mut d, job)) / 4096.0
    };
    let found = reads(&["controller.read_time=49 us"]);
    near("reads a second", found, 1e6 / 50.0);
    let found = reads(&["controller.kib_time=6 us", "controller.read_time=25 us"]);
    near("with the bytes", found, 1e6 / 50.0);
}

/// A host byte past the cache costs the core 1 KiB time as it is programmed, another as it is read
/// and a third as it is programmed again, and its unit is moved once.
#[test]
fn moving_data_takes_a_core_from_the_host() {
    let past = |sets: &[&str]| {
        let mut write = job(ReadWrite::Write, 1 << 20, 8);
        write.size = Some(14 << 30);
        rate_between(&go(&mut drive(sets), write), 6e9, 15e9)
    };
    let kib = past(&["controller.kib_time=2 us"]);
    near("by the byte", kib, 1024.0 / 6e-6);
    let moved = past(&["controller.move_time=40 us"]);
    near("by the unit", moved, 4096.0 / 40e-6);
}

/// Folding has many operations waiting for the core; a read that somebody waits for goes before
/// them where the firmware lets reads go first.
#[test]
fn a_read_does_not_wait_for_all_that_folding_wants() {
    let slowest = |priority: &str| {
        let priority = format!("controller.read_priority={priority}");
        let sets = [
            priority.as_str(),
            "controller.read_time=200 us",
            "fold.idle_after=100 ms",
        ];
        let mut d = drive(&sets);
        go(&mut d, first_gib(ReadWrite::Write));
        rest(&mut d, Nanos::from_ms(150));
        let mut job = job(ReadWrite::RandRead, 4096, 1);
        (job.size, job.io_bytes) = (Some(1 << 30), Some(4 * 4096));
        go(&mut d, job).jobs[0].latency_max.0
    };
    let (first, last) = (slowest("true"), slowest("false"));
    assert!(first < last / 2, "{first:?} and {last:?}");
}

/// A core that is the limit takes a program after as many reads as may go first.
#[test]
fn a_writer_beside_a_flood_of_reads_has_its_share_of_a_core() {
    let writer = |reads_first: u64| {
        let first = format!("controller.reads_first={reads_first}");
        let sets = [
            first.as_str(),
            "link.queue_depth=1024",
            "controller.read_time=49 us",
            "controller.program_time=300 us",
        ];
        let mut d = drive(&sets);
        go(&mut d, first_gib(ReadWrite::Write));
        rest(&mut d, Nanos::from_secs(1));
        let mut reader = job(ReadWrite::RandRead, 4096, 512);
        let mut writer = job(ReadWrite::Write, 128 << 10, 4);
        (reader.size, writer.offset) = (Some(1 << 30), 1 << 30);
        (reader.runtime_ns, writer.runtime_ns) = (Some(4_000_000_000), Some(4_000_000_000));
        let outcome = together(&mut d, vec![reader, writer]);
        outcome.jobs[1].bytes as f64 / outcome.jobs[1].duration.as_secs_f64()
    };
    for reads_first in [4_u64, 32] {
        // A read takes its command and 49 us, a program 300 us, and half of a command.
        let turn = reads_first as f64 * 50e-6 + 300.5e-6;
        near("beside the reads", writer(reads_first), SLC_PROGRAM / turn);
    }
    let free = writer(1_000_000);
    assert!(
        free < 0.2 * SLC_PROGRAM / (32.0 * 50e-6 + 300.5e-6),
        "{free}"
    );
}
