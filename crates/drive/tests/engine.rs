//! The engine against times that can be reckoned by hand.

use crate::common::asks::{self, UNCACHED, bus, link};
use crate::common::loops::{go, job, rate, rest};
use flashtwin_base::{Device, Nanos, Op, Status};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// The base without idle folding, and with no reads that overtake, unless a test says otherwise.
fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[sets])
}

const WRITE_THROUGH: [&str; 2] = [
    "controller.acknowledge=write-through",
    "controller.gather=false",
];

/// Sends one command and waits for its answer; the answer is how long it took.
fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> (Nanos, Status) {
    let (time, status) = asks::single(drive, op, lba, sectors);
    (Nanos(time), status)
}

const COMMAND: u64 = 6_000;

#[test]
fn a_buffered_write_takes_the_command_and_the_link() {
    let mut d = drive(&[]);
    let (time, status) = single(&mut d, Op::Write, 0, 8);
    assert_eq!((time.0, status), (COMMAND + link(4096), Status::Ok));
}

#[test]
fn a_write_through_of_one_unit_programs_a_padded_wordline() {
    let mut d = drive(&WRITE_THROUGH);
    let (time, _) = single(&mut d, Op::Write, 0, 8);
    assert_eq!(time.0, COMMAND + link(4096) + bus(16384) + 404_800);
    let c = d.counters();
    assert_eq!(
        (c.slc_units, c.pad_units),
        (1, 15),
        "a wordline of a die holds 16 units"
    );
}

#[test]
fn a_read_takes_sense_bus_and_link_and_in_slc_less_than_natively() {
    for (sets, sense) in [(&[][..], 35_000), (&UNCACHED[..], 45_000)] {
        let mut d = drive(sets);
        single(&mut d, Op::Write, 0, 48 * 8);
        single(&mut d, Op::Flush, 0, 0);
        let (time, _) = single(&mut d, Op::Read, 0, 8);
        assert_eq!(time.0, COMMAND + sense + bus(4096) + link(4096));
    }
}

#[test]
fn page_types_have_their_own_read_times() {
    let mut d = drive(&UNCACHED);
    single(&mut d, Op::Write, 0, 48 * 8);
    single(&mut d, Op::Flush, 0, 0);
    for (page, sense) in [(0u64, 45_000), (1, 60_000), (2, 75_000)] {
        let (time, _) = single(&mut d, Op::Read, page * 16 * 8, 8);
        assert_eq!(
            time.0,
            COMMAND + sense + bus(4096) + link(4096),
            "page type {page}"
        );
    }
}

#[test]
fn what_was_never_written_or_is_trimmed_is_answered_without_flash() {
    let mut d = drive(&[]);
    let nothing = COMMAND + link(4096);
    assert_eq!(single(&mut d, Op::Read, 80, 8).0.0, nothing);
    single(&mut d, Op::Write, 80, 8);
    single(&mut d, Op::Flush, 0, 0);
    assert!(single(&mut d, Op::Read, 80, 8).0.0 > nothing + 35_000);
    assert_eq!(single(&mut d, Op::Trim, 80, 8).0.0, COMMAND);
    assert_eq!(single(&mut d, Op::Read, 80, 8).0.0, nothing);
    d.ftl().check();
}

#[test]
fn a_partial_trim_keeps_the_units_that_it_only_touches() {
    let mut d = drive(&[]);
    single(&mut d, Op::Write, 0, 24);
    single(&mut d, Op::Trim, 4, 16);
    let mapped = [0, 1, 2].map(|lpn| d.ftl().locate(lpn).is_some());
    assert_eq!(mapped, [true, false, true]);
}

#[test]
fn data_in_the_buffer_is_read_from_ram() {
    let mut d = drive(&[]);
    single(&mut d, Op::Write, 0, 8);
    assert_eq!(single(&mut d, Op::Read, 0, 8).0.0, COMMAND + link(4096));
}

#[test]
fn half_a_unit_reads_the_other_half_first() {
    let mut d = drive(&[]);
    single(&mut d, Op::Write, 0, 16);
    single(&mut d, Op::Flush, 0, 0);
    let (time, _) = single(&mut d, Op::Write, 1, 2);
    assert_eq!(time.0, COMMAND + 35_000 + bus(4096) + link(1024));
    let fresh = single(&mut d, Op::Write, 801, 2).0.0;
    assert_eq!(fresh, COMMAND + link(1024), "nothing was there to read");
}

#[test]
fn a_flush_waits_for_the_programs() {
    let mut d = drive(&[]);
    single(&mut d, Op::Write, 0, 8);
    assert_eq!(d.counters().slc_units, 0, "it waits to be gathered");
    let (time, _) = single(&mut d, Op::Flush, 0, 0);
    assert_eq!(time.0, COMMAND + bus(16384) + 404_800);
    assert_eq!(
        single(&mut d, Op::Flush, 0, 0).0.0,
        COMMAND,
        "nothing is left to flush"
    );
}

#[test]
fn small_writes_wait_for_a_wordline_or_for_the_gather_time() {
    let mut d = drive(&[]);
    for unit in 0..16 {
        assert_eq!(d.counters().slc_units, 0, "after {unit} units");
        single(&mut d, Op::Write, unit * 8, 8);
    }
    assert_eq!((d.counters().slc_units, d.counters().pad_units), (16, 0));
    single(&mut d, Op::Write, 800, 8);
    rest(&mut d, Nanos::from_ms(99));
    assert_eq!(d.counters().pad_units, 0);
    rest(&mut d, Nanos::from_ms(2));
    assert_eq!((d.counters().slc_units, d.counters().pad_units), (17, 15));
}

#[test]
fn past_the_end_is_refused_and_harmless() {
    let mut d = drive(&[]);
    let last = d.capacity_bytes() / 512;
    assert_eq!(single(&mut d, Op::Write, last - 1, 8).1, Status::OutOfRange);
    assert_eq!(single(&mut d, Op::Read, last, 8).1, Status::OutOfRange);
    assert_eq!(d.counters().host_units, 0);
    d.ftl().check();
}

#[test]
fn in_turns_link_and_program_add_up_and_overlapped_they_do_not() {
    let sets = [&WRITE_THROUGH[..], &["controller.overlap=false"]].concat();
    let turns = rate_of_writes(&sets);
    let overlapped = rate_of_writes(&WRITE_THROUGH);
    let slc = 2.0 * 65536.0 / 568_640e-9;
    let expected = 1.0 / (1.0 / 545e6 + 1.0 / slc);
    assert!(
        (turns / expected - 1.0).abs() < 0.02,
        "{turns} against {expected}"
    );
    assert!(
        (overlapped / slc - 1.0).abs() < 0.02,
        "{overlapped} against {slc}"
    );
}

fn rate_of_writes(sets: &[&str]) -> f64 {
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(1 << 30);
    rate(&go(&mut drive(sets), write))
}

#[test]
fn cache_program_hides_the_transfer() {
    let serial = rate_of_writes(&UNCACHED);
    let hidden = rate_of_writes(&[&UNCACHED[..], &["nand.cache_program=true"]].concat());
    let granule = 2.0 * 196_608.0;
    let expected = granule / (4.3e-3 + 196_608.0 / 400e6);
    assert!(
        (serial / expected - 1.0).abs() < 0.02,
        "{serial} against {expected}"
    );
    let expected = granule / 4.3e-3;
    assert!(
        (hidden / expected - 1.0).abs() < 0.02,
        "{hidden} against {expected}"
    );
}

#[test]
fn page_by_page_programs_take_the_sum_of_their_pages() {
    let sets = [r#"nand.native.tprog=["0.8 ms", "2.2 ms", "5.7 ms"]"#];
    let found = rate_of_writes(&[&UNCACHED[..], &sets].concat());
    let wordline = 0.8e-3 + 2.2e-3 + 5.7e-3 + 196_608.0 / 400e6;
    let expected = 2.0 * 196_608.0 / wordline;
    assert!(
        (found / expected - 1.0).abs() < 0.02,
        "{found} against {expected}"
    );
}

#[test]
fn dies_that_share_a_channel_share_its_time() {
    let sets = [
        "nand.channels=1",
        "nand.dies_per_channel=2",
        "nand.native.tprog=10 us",
    ];
    let found = rate_of_writes(&[&UNCACHED[..], &sets, &["nand.cache_program=true"]].concat());
    assert!(
        (found / 400e6 - 1.0).abs() < 0.03,
        "{found} on a bus of 400 MB/s"
    );
}

#[test]
fn parity_costs_a_program_a_stripe_and_waits_for_nobody() {
    let parity = ["ftl.parity=stripe", "drive.capacity=15 GB"];
    let sets = [&UNCACHED[..], &parity].concat();
    let mut d = drive(&sets);
    single(&mut d, Op::Write, 0, 48 * 8);
    let (time, _) = single(&mut d, Op::Flush, 0, 0);
    assert!(time.0 <= COMMAND + bus(196_608) + 4_300_000, "{time:?}");
    rest(&mut d, Nanos::from_ms(10));
    let c = d.counters();
    assert_eq!((c.direct_units, c.parity_units, c.pad_units), (48, 48, 0));
    // Data of the second stripe is on the die that holds the first one's parity.
    let die = |lpn| d.ftl().read_place(d.ftl().locate(lpn).expect("written")).0;
    assert_eq!(die(0), 1);
    single(&mut d, Op::Write, 48 * 8, 48 * 8);
    let die = |lpn| d.ftl().read_place(d.ftl().locate(lpn).expect("written")).0;
    assert_eq!(die(48), 0);
    d.ftl().check();
    let expected = 196_608.0 / (4.3e-3 + 196_608.0 / 400e6);
    let found = rate_of_writes(&sets);
    assert!(
        (found / expected - 1.0).abs() < 0.02,
        "{found} against {expected}"
    );
}

#[test]
fn superblocks_of_fewer_dies_keep_all_dies_busy_and_are_smaller() {
    let sets = |dies| {
        let shape = ["nand.channels=4", "nand.dies_per_channel=1"];
        [&UNCACHED[..], &shape, &[dies]].concat()
    };
    let whole = rate_of_writes(&sets("ftl.superblock_dies=0"));
    for (dies, superblocks) in [
        ("ftl.superblock_dies=1", 4),
        ("ftl.superblock_dies=2", 2),
        ("ftl.superblock_dies=4", 1),
    ] {
        let found = rate_of_writes(&sets(dies));
        assert!(
            (found / whole - 1.0).abs() < 0.01,
            "{found} against {whole}"
        );
        let d = drive(&sets(dies));
        let l = d.ftl().layout();
        assert_eq!(
            160 * superblocks - l.superblocks,
            system(l.native_bytes()),
            "{dies}"
        );
    }
    // A write of four granules is on four dies, whichever way.
    for dies in ["ftl.superblock_dies=0", "ftl.superblock_dies=1"] {
        let mut d = drive(&sets(dies));
        single(&mut d, Op::Write, 0, 4 * 48 * 8);
        let (time, _) = single(&mut d, Op::Flush, 0, 0);
        assert!(time.0 < 2 * 4_300_000, "{time:?}");
    }
}

/// Superblocks that 500 MB of system take.
fn system(superblock: u64) -> u32 {
    500_000_000_u64.div_ceil(superblock) as u32
}

#[test]
fn read_ahead_hides_the_sense_of_a_sequential_stream_at_depth_one() {
    let read = |sets: &[&str]| {
        let mut d = drive(sets);
        let mut write = job(ReadWrite::Write, 1 << 20, 4);
        write.size = Some(1 << 28);
        go(&mut d, write);
        let mut read = job(ReadWrite::Read, 64 << 10, 1);
        read.size = Some(1 << 28);
        let outcome = go(&mut d, read);
        assert_eq!(outcome.jobs[0].bytes, 1 << 28);
        rate(&outcome)
    };
    let with = read(&[]);
    let without = read(&["controller.read_ahead_streams=0", "controller.read_ahead=0"]);
    let alone = 65536.0 / (COMMAND as f64 + link(65536) as f64 + 35e3 + bus(65536) as f64) * 1e9;
    assert!(
        (without / alone - 1.0).abs() < 0.05,
        "{without} against {alone}"
    );
    // Less than the usual chunk: only what the link is slower by than the die is hidden.
    let little = read(&["controller.read_ahead=64 KiB"]);
    assert!(little > 1.8 * without && little < with, "{little}");
    let hidden = 65536.0 / (COMMAND as f64 + link(65536) as f64) * 1e9;
    assert!(
        (with / hidden - 1.0).abs() < 0.05,
        "{with} against {hidden}"
    );
}

#[test]
fn a_write_drops_what_was_read_ahead() {
    let mut d = drive(&[]);
    let mut write = job(ReadWrite::Write, 1 << 20, 4);
    write.size = Some(1 << 24);
    go(&mut d, write);
    for at in 0..4 {
        single(&mut d, Op::Read, at * 128, 128);
    }
    rest(&mut d, Nanos::from_ms(5));
    let ahead = single(&mut d, Op::Read, 4 * 128, 128).0;
    single(&mut d, Op::Write, 5 * 128, 8);
    rest(&mut d, Nanos::from_secs(1));
    let after = single(&mut d, Op::Read, 5 * 128, 128).0;
    assert!(
        after > ahead + Nanos::from_us(35),
        "{after:?} after {ahead:?}"
    );
}

#[test]
fn idle_time_folds_the_cache_and_the_reads_become_native() {
    let mut d = drive(&[]);
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.size = Some(1 << 30);
    go(&mut d, write);
    rest(&mut d, Nanos::from_secs(29));
    assert_eq!(d.counters().fold_units, 0, "not before its time");
    rest(&mut d, Nanos::from_secs(60));
    assert!(d.counters().fold_units > (1 << 18) * 9 / 10);
    assert!(single(&mut d, Op::Read, 0, 8).0.0 >= COMMAND + 45_000);
    d.ftl().check();
}

#[test]
fn copyback_folds_without_the_channel_and_so_faster() {
    let folded_in_10_s = |path: &str| {
        let mut d = drive(&[path]);
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.size = Some(3 << 30);
        go(&mut d, write);
        rest(&mut d, Nanos::from_secs(40));
        d.ftl().check();
        d.counters().fold_units as f64
    };
    let ratio = folded_in_10_s("fold.path=copyback") / folded_in_10_s("fold.path=controller");
    let bus = 2.0 * bus(196_608) as f64;
    let senses = 3.0 * 35e3;
    let expected = (senses + 4.3e6 + bus) / (senses + 4.3e6);
    assert!(
        (ratio / expected - 1.0).abs() < 0.03,
        "{ratio} against {expected}"
    );
}

#[test]
fn reads_overtake_programs_where_the_controller_lets_them() {
    let slowest = |priority: &str| {
        let mut d = drive(&[&UNCACHED[..], &[priority]].concat());
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.size = Some(1 << 28);
        go(&mut d, write);
        let mut mix = job(ReadWrite::RandRw, 4096, 32);
        mix.size = Some(1 << 28);
        mix.io_bytes = Some(1 << 26);
        let outcome = go(&mut d, mix);
        let reads = &outcome
            .hist
            .iter()
            .find(|(d, _)| d.name() == "read")
            .expect("reads")
            .1;
        reads.percentile(99.0).expect("some")
    };
    let first = slowest("controller.read_priority=true");
    let queued = slowest("controller.read_priority=false");
    assert!(first < queued, "{first} with priority, {queued} without");
}

#[test]
fn a_purge_gives_back_the_fresh_drive_and_keeps_its_wear() {
    let mut d = drive(&[]);
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(4 << 30);
    let fresh = go(&mut d, write.clone());
    let programmed = d.counters().programmed_units();
    let free = d.ftl().layout().superblocks;
    assert!(d.purge() > Nanos::from_ms(100));
    assert_eq!(d.ftl().free_superblocks(), free);
    assert!(d.counters().slc_erases > 0 && d.counters().programmed_units() >= programmed);
    let again = go(&mut d, write);
    assert_eq!(fresh.jobs[0].duration, again.jobs[0].duration);
    d.ftl().check();
}

#[test]
fn the_same_workload_gives_the_same_answer() {
    let run = || {
        let mut d = drive(&[]);
        let mut mix = job(ReadWrite::RandRw, 4096, 8);
        mix.threads = 3;
        mix.io_bytes = Some(1 << 26);
        (go(&mut d, mix), *d.counters())
    };
    assert_eq!(run(), run());
}
