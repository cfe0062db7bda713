//! Host link, firmware cores, TRIM's cost, FUA, secure erase and end-to-end protection against
//! times that can be reckoned by hand.

use crate::common::loops::{go, job, rate, rest};
use crate::common::{self, BASE, load_with};
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::{RawJob, ReadWrite};

const COMMAND: u64 = 6_000;

fn drive(sets: &[&str]) -> Drive {
    Drive::new(&load_with(BASE, &[], sets).config, 1)
}

fn link(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 545_000_000
}

/// Submits requests at the drive's present time; the answers by tag.
fn ask(drive: &mut Drive, requests: &[Request]) -> Vec<(u64, Status)> {
    let start = drive.now();
    for &request in requests {
        drive.submit(start, request);
    }
    let mut done: Vec<Completion> = Vec::new();
    while done.len() < requests.len() {
        let due = drive.next_due().expect("commands are under way");
        drive.advance(due, &mut done);
    }
    let of = |tag: u32| done.iter().find(|c| c.tag == tag).expect("an answer");
    let answer = |r: &Request| ((of(r.tag).at - start).0, of(r.tag).status);
    requests.iter().map(answer).collect()
}

fn one(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> u64 {
    let (time, status) = ask(drive, &[Request::new(9, op, lba, sectors)])[0];
    assert_eq!(status, Status::Ok);
    time
}

fn together(drive: &mut Drive, jobs: Vec<RawJob>) -> Outcome {
    let capacity = drive.capacity_bytes();
    let jobs = jobs.into_iter();
    let jobs = jobs.map(|job| job.check(capacity).expect("the test's job is right"));
    let phase = Phase::new(jobs.collect(), Nanos::from_ms(50)).expect("jobs");
    let start = drive.now();
    run(drive, start, &phase, &mut |_| Flow::Continue)
}

#[test]
fn latencies_of_the_link_stand_beside_the_work() {
    let sets = ["link.submit_time=2 us", "link.complete_time=3 us"];
    let mut d = drive(&sets);
    let around = COMMAND + 5_000;
    assert_eq!(one(&mut d, Op::Write, 0, 8), around + link(4096));
    assert_eq!(one(&mut d, Op::Read, 0, 8), around + link(4096));
    assert_eq!(one(&mut d, Op::Trim, 0, 8), around);
    // Eight at once: they overlap in the latencies and queue for the firmware and for the link.
    let reads: Vec<Request> = (0..8).map(|i| Request::new(i, Op::Read, 80, 8)).collect();
    let times = ask(&mut d, &reads);
    let last = 2_000 + COMMAND + 8 * link(4096).max(COMMAND) + 3_000;
    assert_eq!(times[7].0, last, "{times:?}");
}

#[test]
fn frames_take_the_link_once_a_command() {
    let mut d = drive(&["link.frame_time=1500 ns"]);
    assert_eq!(one(&mut d, Op::Write, 0, 8), COMMAND + link(4096) + 1_500);
    // 1 MiB comes in 8 bursts, each a whole number of nanoseconds.
    let burst = link(128 << 10);
    assert_eq!(one(&mut d, Op::Write, 0, 2048), COMMAND + 8 * burst + 1_500);
    assert_eq!(one(&mut d, Op::Trim, 0, 8), COMMAND);
}

#[test]
fn a_sata_drive_asks_for_each_8_kib_that_is_written() {
    let mut d = drive(&["link.kind=sata", "link.activate_time=1 us"]);
    let alone = |bytes: u64| COMMAND + link(bytes);
    assert_eq!(one(&mut d, Op::Write, 0, 8), alone(4096) + 1_000);
    assert_eq!(one(&mut d, Op::Write, 0, 24), alone(12_288) + 2_000);
    assert_eq!(one(&mut d, Op::Write, 0, 256), alone(128 << 10) + 16_000);
    assert_eq!(one(&mut d, Op::Read, 0, 8), alone(4096));
    let mut d = drive(&["link.kind=nvme", "link.activate_time=1 us"]);
    assert_eq!(one(&mut d, Op::Write, 0, 24), alone(12_288));
}

/// Flash so fast that the link is what is measured.
const FAST: [&str; 4] = [
    "nand.slc.tprog=20 us",
    "nand.native.tprog=60 us",
    "nand.bus_rate=8 GT/s",
    "controller.command_time=1 us",
];

/// Bytes a second of a writer and of a reader of what was never written, side by side and alone.
fn both_ways(kind: &str) -> (f64, f64, f64) {
    let sets = [&FAST[..], &[kind, "link.rate=500 MB/s"]].concat();
    let of = |rw, at: u64| {
        let mut job = job(rw, 128 << 10, 8);
        (job.offset, job.size) = (at << 30, Some(1 << 30));
        job.runtime_ns = Some(500_000_000);
        job
    };
    let (write, read) = (of(ReadWrite::Write, 0), of(ReadWrite::Read, 20));
    let alone = rate(&go(&mut drive(&sets), write.clone()));
    let outcome = together(&mut drive(&sets), vec![write, read]);
    let of = |i: usize| outcome.jobs[i].bytes as f64 / outcome.jobs[i].duration.as_secs_f64();
    (alone, of(0), of(1))
}

#[test]
fn half_duplex_shares_the_rate_and_full_duplex_has_it_twice() {
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    let (alone, write, read) = both_ways("link.kind=sata");
    assert!(near(alone, 500e6), "{alone}");
    assert!(near(write + read, 500e6), "{write} and {read}");
    // In the order in which data is ready: eight reads are, beside the one burst of a write.
    assert!(
        (read / write / 8.0 - 1.0).abs() < 0.05,
        "{write} and {read}"
    );
    let (alone, write, read) = both_ways("link.kind=nvme");
    assert!(near(alone, 500e6), "{alone}");
    assert!(near(write, 500e6) && near(read, 500e6), "{write}, {read}");
}

#[test]
fn the_raw_link_decides_where_no_rate_is_given() {
    let timed = |sets: &[&str]| {
        let sets = [sets, &["link.rate=0"]].concat();
        one(&mut drive(&sets), Op::Read, 0, 2048) - COMMAND
    };
    let nanos = |rate: u64| (1u64 << 20) * 1_000_000_000 / rate;
    assert_eq!(timed(&[]), nanos(591_270_611));
    assert_eq!(timed(&["link.sata_rate=3 Gb/s"]), nanos(295_635_305));
    let nvme = ["link.kind=nvme", "link.pcie_generation=4"];
    assert_eq!(timed(&nvme), nanos(7_201_758_241));
    let lanes = [&nvme[..], &["link.pcie_lanes=1"]].concat();
    assert_eq!(timed(&lanes), nanos(1_800_439_560));
}

/// A job of 4 KiB reads of what was never written.
fn empty_reads(depth: u32, threads: u32) -> RawJob {
    let mut reads = job(ReadWrite::RandRead, 4096, depth);
    (reads.threads, reads.io_bytes) = (threads, Some(200_000 * 4096));
    reads
}

#[test]
fn nvme_keeps_more_than_32_commands_and_its_cores_share_them() {
    let sets = |queues: &str, cores: &str| {
        let queues = format!("link.queues={queues}");
        let cores = format!("controller.cores={cores}");
        let fixed = ["link.kind=nvme", "link.rate=0", "link.queue_depth=64"];
        let own = [queues.as_str(), cores.as_str()];
        drive(&[&fixed[..], &own].concat())
    };
    let mut d = sets("4", "1");
    assert_eq!(d.queue_depth(), 256);
    let outcome = go(&mut d, empty_reads(64, 4));
    let (iops, latency) = (rate(&outcome) / 4096.0, outcome.jobs[0].latency_mean_ns);
    assert!((iops / (1e9 / 6e3) - 1.0).abs() < 0.001, "{iops}");
    assert!((latency / (256.0 * 6e3) - 1.0).abs() < 0.01, "{latency}");
    for cores in [2u32, 4] {
        let found = rate(&go(&mut sets("4", &cores.to_string()), empty_reads(64, 4))) / 4096.0;
        let expected = f64::from(cores) * 1e9 / 6e3;
        assert!(
            (found / expected - 1.0).abs() < 0.001,
            "{found} of {expected}"
        );
    }
    // One queue of 64 holds the other requests back in the host.
    let mut narrow = sets("1", "1");
    let outcome = go(&mut narrow, empty_reads(64, 4));
    assert!((outcome.jobs[0].mean_depth / 256.0 - 1.0).abs() < 0.01);
}

#[test]
fn littles_law_holds_on_every_link() {
    for sets in [
        &["link.frame_time=1 us", "link.submit_time=1 us"][..],
        &["link.kind=nvme", "link.queues=4", "controller.cores=3"],
        &["link.kind=nvme", "link.complete_time=4 us", "link.rate=0"],
    ] {
        let mut d = drive(sets);
        let mut fill = job(ReadWrite::Write, 128 << 10, 8);
        fill.size = Some(1 << 28);
        go(&mut d, fill);
        let mut mix = job(ReadWrite::RandRw, 4096, 24);
        (mix.size, mix.io_bytes) = (Some(1 << 28), Some(1 << 28));
        let outcome = go(&mut d, mix);
        let job = &outcome.jobs[0];
        let iops = job.ios as f64 / job.duration.as_secs_f64();
        let depth = iops * job.latency_mean_ns / 1e9;
        let error = (depth / job.mean_depth - 1.0).abs();
        assert!(error < 0.001, "{depth} against {}", job.mean_depth);
        assert!((job.mean_depth / 24.0 - 1.0).abs() < 0.001);
    }
}

const TRIM: [&str; 2] = ["controller.trim_time=40 us", "controller.trim_gb_time=5 ms"];

#[test]
fn a_trim_takes_its_time_and_its_core() {
    let mut d = drive(&TRIM);
    // 2^30 bytes are 1.073741824 GB.
    let time = COMMAND + 40_000 + 5_368_709;
    assert_eq!(one(&mut d, Op::Trim, 0, 1 << 21), time);
    let requests = [
        Request::new(0, Op::Trim, 0, 1 << 21),
        Request::new(1, Op::Read, 0, 8),
    ];
    let read = COMMAND + link(4096);
    let behind = ask(&mut d, &requests);
    assert_eq!((behind[0].0, behind[1].0), (time, time + read));
    let two = [&TRIM[..], &["controller.cores=2"]].concat();
    let beside = ask(&mut drive(&two), &requests);
    assert_eq!((beside[0].0, beside[1].0), (time, read));
}

#[test]
fn a_trim_alone_drains_the_queue_and_holds_what_follows() {
    let sets = [
        &TRIM[..],
        &["controller.trim_alone=true", "controller.cores=4"],
    ]
    .concat();
    let mut d = drive(&sets);
    let requests = [
        Request::new(0, Op::Read, 0, 2048),
        Request::new(1, Op::Trim, 0, 8),
        Request::new(2, Op::Read, 0, 8),
        Request::new(3, Op::Trim, 8, 8),
        Request::new(4, Op::Write, 8, 8),
    ];
    let times = ask(&mut d, &requests);
    let read = COMMAND + link(1 << 20);
    let trim = 40_000 + 20; // 4096 B at 5 ms a GB.
    assert_eq!(times[0].0, read);
    assert_eq!(times[1].0, read + trim);
    assert_eq!(times[2].0, read + trim + link(4096));
    assert_eq!(times[3].0, times[2].0 + trim);
    assert_eq!(times[4].0, times[3].0 + link(4096));
    assert!(d.ftl().locate(1).is_some() && d.ftl().locate(0).is_none());
    d.ftl().check();
}

#[test]
fn fua_waits_for_the_flash_and_other_writes_do_not() {
    let mut d = drive(&[]);
    let plain = COMMAND + link(4096);
    assert_eq!(one(&mut d, Op::Write, 0, 8), plain);
    let mut fua = Request::new(1, Op::Write, 8, 8);
    fua.fua = true;
    let bus = 16_384 * 1_000_000_000 / 400_000_000;
    assert_eq!(ask(&mut d, &[fua])[0].0, plain + bus + 404_800);
    let c = d.counters();
    assert_eq!((c.slc_units, c.pad_units), (2, 14), "both lie in one row");
    assert_eq!(one(&mut d, Op::Write, 16, 8), plain);
    // The job option does the same to each write.
    let mut sync = job(ReadWrite::Write, 4096, 1);
    (sync.sync, sync.io_bytes) = (true, Some(64 * 4096));
    let outcome = go(&mut d, sync);
    assert_eq!(outcome.jobs[0].latency_min.0, plain + bus + 404_800);
    d.ftl().check();
}

#[test]
fn fua_is_durable_where_the_controller_takes_turns() {
    let mut d = drive(&["controller.overlap=false"]);
    let mut requests: Vec<Request> = (0..4)
        .map(|i| Request::new(i, Op::Write, 8 * u64::from(i), 8))
        .collect();
    requests[1].fua = true;
    let times = ask(&mut d, &requests);
    assert!(times[1].0 > 404_800, "{times:?}");
    assert!(!d.ftl().has_partial() || d.ftl().next_sequence() > 1);
    d.ftl().check();
}

#[test]
fn a_crypto_erase_takes_a_command_and_the_blocks_are_erased_later() {
    let fill = || {
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.io_bytes = Some(30 << 30);
        write
    };
    let sets = ["controller.secure_erase=crypto"];
    let mut d = drive(&sets);
    go(&mut d, fill());
    rest(&mut d, Nanos::from_secs(2));
    let erased = |d: &Drive| d.counters().slc_erases + d.counters().native_erases;
    let before = erased(&d);
    let took = d.purge();
    assert!(
        took < Nanos::from_ms(60),
        "{took:?}: the open programs and a command"
    );
    assert_eq!((0..1000).filter_map(|lpn| d.ftl().locate(lpn)).count(), 0);
    d.ftl().check();
    let free = d.ftl().free_superblocks();
    assert!(free < 40, "{free} superblocks are free at once");
    // A second fill finds what it needs.
    let again = go(&mut d, fill());
    assert_eq!(again.jobs[0].errors.total(), 0);
    assert!(erased(&d) > before);
    d.ftl().check();
    // Idle time erases all of it.
    d.purge();
    rest(&mut d, Nanos::from_secs(60));
    assert_eq!(d.ftl().free_superblocks(), d.ftl().layout().superblocks);
    let total = erased(&d);
    rest(&mut d, Nanos::from_secs(60));
    assert_eq!(erased(&d), total, "nothing is erased twice");
    d.ftl().check();
}

#[test]
fn a_crypto_erased_drive_without_idle_work_erases_on_demand_alone() {
    let off = [
        "slc_cache.mode=none",
        "slc_cache.size=0",
        "slc_cache.when_full=direct",
        "fold.idle_after=never",
        "fold.reserve=0",
        "fold.pace=0",
        "controller.secure_erase=crypto",
    ];
    let mut d = drive(&off);
    let mut write = job(ReadWrite::Write, 128 << 10, 32);
    write.io_bytes = Some(39 << 30);
    write.size = Some(37 << 30);
    let first = go(&mut d, write.clone());
    let before = d.ftl().free_superblocks();
    d.purge();
    rest(&mut d, Nanos::from_secs(100));
    let free = d.ftl().free_superblocks();
    assert_eq!(free, before.max(6 + 2), "`gc.high` and two more");
    let again = go(&mut d, write);
    let ratio = rate(&again) / rate(&first);
    let erase = 2.0 * 65536.0 * 3.0 * 704.0 / 45.6e6; // A superblock's fill at 45.6 MB/s.
    let expected = 1.0 / (1.0 + 10e-3 / erase);
    assert!((ratio / expected - 1.0).abs() < 0.01, "{ratio}, {expected}");
    d.ftl().check();
}

#[test]
fn damage_is_told_with_protection_and_passes_without() {
    let reads = |sets: &[&str]| {
        let mut d = drive(sets);
        d.inject_corruption(50);
        let mut reads = empty_reads(8, 1);
        reads.io_bytes = Some(20_000 * 4096);
        let outcome = go(&mut d, reads);
        (d.damage(), outcome.jobs[0].errors, outcome.jobs[0].ios)
    };
    let (damage, errors, ios) = reads(&["controller.end_to_end=true"]);
    assert!((300..500).contains(&damage.caught), "{damage:?}");
    assert_eq!(damage.silent, 0);
    assert_eq!(
        (errors.corrupt, errors.total()),
        (damage.caught, damage.caught)
    );
    assert_eq!(ios + errors.total(), 20_000);
    let (damage, errors, ios) = reads(&[]);
    assert!((300..500).contains(&damage.silent), "{damage:?}");
    assert_eq!((damage.caught, errors.total(), ios), (0, 0, 20_000));
}

#[test]
fn check_data_takes_channel_time_and_no_link_time() {
    let timed = |sets: &[&str]| {
        let mut d = drive(sets);
        one(&mut d, Op::Write, 0, 48 * 8);
        one(&mut d, Op::Flush, 0, 0);
        one(&mut d, Op::Read, 0, 128)
    };
    let bus = |bytes: u64| bytes * 1_000_000_000 / 400_000_000;
    let with = timed(&["controller.end_to_end=true"]);
    let without = timed(&[]);
    assert_eq!(without, COMMAND + 35_000 + bus(65_536) + link(65_536));
    assert_eq!(with - without, bus(128 * 8));
}

#[test]
fn read_ahead_has_streams_and_they_are_bounded() {
    // Two interleaved streams: with one stream's memory neither is ever recognised.
    let read = |streams: &str| {
        let streams = format!("controller.read_ahead_streams={streams}");
        let mut d = drive(&[&streams]);
        let mut write = job(ReadWrite::Write, 1 << 20, 4);
        write.size = Some(1 << 28);
        go(&mut d, write);
        let start = d.now();
        for i in 0..256u64 {
            one(&mut d, Op::Read, i * 128, 128);
            one(&mut d, Op::Read, (1 << 18) + i * 128, 128);
        }
        (d.now() - start).0 as f64
    };
    let alone = |sense: f64| COMMAND as f64 + link(65536) as f64 + sense;
    let bus = 65_536.0 / 0.4;
    let one = read("1") / 512.0;
    let expected = alone(35e3 + bus);
    assert!((one / expected - 1.0).abs() < 0.05, "{one} of {expected}");
    let two = read("2") / 512.0;
    let expected = alone(0.0);
    // Three reads of each stream pass before it is recognised, and its first chunks are late.
    assert!((two / expected - 1.0).abs() < 0.08, "{two} of {expected}");
}

#[test]
fn links_that_do_not_exist_are_refused() {
    let table = [
        (&["link.queues=2"][..], "link.queues", "SATA has one"),
        (&["link.rate=700 MB/s"], "link.rate", "the line carries"),
        (
            &["link.kind=nvme", "link.queues=4096", "link.queue_depth=32"],
            "link.queue_depth",
            "above 65535",
        ),
        (&["link.pcie_lanes=3"], "link.pcie_lanes", "has 3 lanes"),
        (
            &["link.max_payload=300 B"],
            "link.max_payload",
            "power of two",
        ),
    ];
    for (sets, key, message) in table {
        let owned: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        let base = common::write("base", BASE);
        let told = flashtwin_drive::spec::load(&base, &[], &[], &owned).unwrap_err();
        assert_eq!((told.len(), told[0].key.as_str()), (1, key));
        assert!(told[0].message.contains(message), "{}", told[0].message);
    }
}
