//! Reads that go first beside a writer: what a bound on overtaking leaves to each, as the host sees
//! it.

use crate::common::asks::{UNCACHED, bus, drive};
use crate::common::loops::{go, job, rate, together};
use flashtwin_drive::Drive;
use flashtwin_host::Outcome;
use flashtwin_workload::{Direction, ReadWrite};

const QUEUES: [&str; 4] = [
    "link.kind=nvme",
    "link.queue_depth=1024",
    "link.rate=3500 MB/s",
    "controller.command_time=1 us",
];
/// A mean read of 4 KiB, and a granule of 192 KiB: its transfer and tPROG.
const READ: u64 = 60_000;
const PROGRAM: u64 = 4_300_000;
const GRANULE: u64 = 192 << 10;
/// Two hundred turns and more of a die; what the buffer takes at once is a fiftieth of it.
const SPAN: u64 = 3_000_000_000;

fn filled(sets: &[&str]) -> Drive {
    let mut d = drive(&[&UNCACHED, &QUEUES, sets]);
    let mut write = job(ReadWrite::Write, 1 << 20, 8);
    write.size = Some(2 << 30);
    go(&mut d, write);
    d
}

/// A writer of 128 KiB at depth one beside random reads at a depth.
fn beside(d: &mut Drive, reads: u32) -> Outcome {
    let mut reader = job(ReadWrite::RandRead, 4096, reads);
    reader.size = Some(2 << 30);
    reader.runtime_ns = Some(SPAN);
    let mut writer = job(ReadWrite::Write, 128 << 10, 1);
    (writer.offset, writer.size) = (4 << 30, Some(4 << 30));
    writer.runtime_ns = Some(SPAN);
    together(d, vec![reader, writer])
}

fn writer_rate(outcome: &Outcome) -> f64 {
    outcome.jobs[1].bytes as f64 / outcome.jobs[1].duration.as_secs_f64()
}

fn percentile(outcome: &Outcome, direction: Direction, percent: f64) -> f64 {
    let hist = outcome.hist.iter().find(|(found, _)| *found == direction);
    hist.and_then(|(_, hist)| hist.percentile(percent))
        .expect("some") as f64
}

/// With n reads for each program a die gets through a granule in n reads and a program. The buffer
/// holds eight granules, four for each die, and one more is being programmed.
#[test]
fn a_writer_beside_a_flood_of_reads_has_its_share_and_a_bound_on_its_wait() {
    for reads_first in [4_u64, 64] {
        let set = format!("controller.reads_first={reads_first}");
        let outcome = beside(&mut filled(&[&set]), 512);
        let turn = reads_first * (READ + bus(4096)) + bus(GRANULE) + PROGRAM;
        let expected = 2.0 * GRANULE as f64 / (turn as f64 / 1e9);
        let found = writer_rate(&outcome);
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found} with {reads_first}, {expected} expected"
        );
        let waits = percentile(&outcome, Direction::Write, 99.9);
        assert!(waits < 5.0 * turn as f64, "a write waits {waits} ns");
        let reads = rate(&outcome) / 4096.0;
        let share = 2.0 * reads_first as f64 / (turn as f64 / 1e9);
        assert!(reads > 0.95 * share, "{reads} reads a second of {share}");
    }
}

#[test]
fn without_a_bound_the_flood_leaves_a_writer_next_to_nothing() {
    let free = beside(&mut filled(&["controller.reads_first=1000000"]), 512);
    let bound = beside(&mut filled(&[]), 512);
    let found = (writer_rate(&free), writer_rate(&bound));
    assert!(found.0 < 0.2 * found.1, "{found:?}");
}

/// Few reads at a time do not come to the bound: a read waits for the program that runs, and no
/// other.
#[test]
fn a_few_reads_are_as_quick_as_without_a_bound() {
    let reads = |reads_first: &str| {
        let set = format!("controller.reads_first={reads_first}");
        let outcome = beside(&mut filled(&[&set]), 2);
        percentile(&outcome, Direction::Read, 99.0)
    };
    let (bound, free) = (reads("64"), reads("1000000"));
    assert!(bound <= 1.05 * free, "{bound} with a bound, {free} without");
    assert!(bound < (PROGRAM + bus(GRANULE)) as f64 * 1.2, "{bound}");
}

/// Planes that read for themselves keep to the bound too: n reads take no longer than one after
/// another.
#[test]
fn the_bound_holds_where_planes_read_alone() {
    let writer = |reads_first: u64| {
        let set = format!("controller.reads_first={reads_first}");
        let sets = ["nand.independent_planes=true", &set];
        writer_rate(&beside(&mut filled(&sets), 512))
    };
    let turn = 64 * (READ + bus(4096)) + bus(GRANULE) + PROGRAM;
    let least = 2.0 * GRANULE as f64 / (turn as f64 / 1e9);
    let (bound, free) = (writer(64), writer(1_000_000));
    assert!(bound > 0.95 * least, "{bound}, {least} at the least");
    assert!(
        free < 0.2 * bound,
        "{free} without a bound, {bound} with it"
    );
}
