//! Planes that read for themselves, against rates and times that can be reckoned by hand.

use crate::common::asks::{self, UNCACHED};
use crate::common::loops::{go, job, rate, rest};
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// One die of four planes, SLC-like reads of one time, a fast link, a firmware that costs nothing.
const DRIVE: [&str; 12] = [
    "nand.channels=1",
    "nand.native.tr=60 us",
    "nand.bus_rate=1600 MT/s",
    "controller.read_ahead_streams=0",
    "controller.command_time=0",
    "link.kind=nvme",
    "link.pcie_generation=4",
    "link.pcie_lanes=4",
    "link.rate=6000 MB/s",
    "ftl.system=0",
    "drive.capacity=8 GB",
    "gc.reserve=3",
];
const SENSE: f64 = 60_000.0;
/// 4 KiB at 1600 MB/s.
const SEND: f64 = 2_560.0;

fn drive(sets: &[&str]) -> Drive {
    let mut d = asks::drive(&[&UNCACHED, &DRIVE, sets]);
    let mut fill = job(ReadWrite::Write, 1 << 20, 4);
    fill.size = Some(1 << 30);
    go(&mut d, fill);
    rest(&mut d, Nanos::from_secs(1));
    d
}

fn random(d: &mut Drive, depth: u32) -> f64 {
    let mut read = job(ReadWrite::RandRead, 4096, depth);
    read.size = Some(1 << 30);
    read.io_bytes = Some(40_000 * 4096);
    rate(&go(d, read)) / 4096.0
}

#[test]
fn a_die_reads_at_random_as_often_as_it_has_planes() {
    let one = 1e9 / (SENSE + SEND);
    let together = random(&mut drive(&[]), 32);
    assert!((together / one - 1.0).abs() < 0.01, "{together} of {one}");
    for planes in [1u32, 2, 4] {
        let sets = [
            format!("nand.planes={planes}"),
            "nand.independent_planes=true".to_owned(),
            format!("drive.capacity={} GB", 2 * planes),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut d = drive(&sets);
        // At depth 1 nothing goes on beside a read.
        let alone = random(&mut d, 1);
        assert!((alone / one - 1.0).abs() < 0.02, "{alone} of {one}");
        // With 32 waiting hardly a plane is idle: their number times that of one, less at most
        // what a closed network of as many exponential servers loses, (P - 1) / (N + P - 1).
        let found = random(&mut d, 32);
        let most = f64::from(planes) * one;
        let least = most * 32.0 / f64::from(31 + planes);
        assert!(
            found <= most * 1.001 && found > least * 0.99,
            "{found} of {most}, {planes}"
        );
        d.ftl().check();
    }
    // Where the channel is slower than the planes it decides.
    let mut d = drive(&["nand.independent_planes=true", "nand.bus_rate=100 MT/s"]);
    let bus = 1e9 / 40_960.0;
    let found = random(&mut d, 32);
    assert!((found / bus - 1.0).abs() < 0.02, "{found} of {bus}");
}

/// When each of these reads, sent at once, is done.
fn times(d: &mut Drive, units: &[u64]) -> Vec<u64> {
    let start = d.now();
    for (tag, unit) in (0..).zip(units) {
        d.submit(start, Request::new(tag, Op::Read, unit * 8, 8));
    }
    let mut done: Vec<Completion> = Vec::new();
    while done.len() < units.len() {
        let due = d.next_due().expect("reads are under way");
        d.advance(due, &mut done);
    }
    done.sort_by_key(|c| c.tag);
    done.iter().map(|c| (c.at - start).0).collect()
}

#[test]
fn reads_of_other_planes_overtake_and_share_the_channel() {
    let mut d = drive(&["nand.independent_planes=true"]);
    let (sense, send, link) = (
        SENSE as u64,
        SEND as u64,
        4096 * 1_000_000_000 / 6_000_000_000,
    );
    // Units 0 and 1 are on one page, 4 on the next plane: a row is four pages of four units.
    let found = times(&mut d, &[0, 1, 4]);
    let first = sense + send + link;
    assert_eq!(found, [first, first + sense + send, first + send]);
    // Together they wait for each other.
    let mut d = drive(&[]);
    let found = times(&mut d, &[0, 1, 4]);
    assert_eq!(
        found,
        [first, first + sense + send, first + 2 * (sense + send)]
    );
}

#[test]
fn a_read_of_all_planes_has_its_turn() {
    let mut d = drive(&["nand.independent_planes=true"]);
    // A row, among reads of single units that come as fast as they are served.
    let start = d.now();
    let mut done: Vec<Completion> = Vec::new();
    for tag in 0..8 {
        d.submit(
            start,
            Request::new(tag, Op::Read, u64::from(tag) * 4 * 8, 8),
        );
    }
    d.submit(start, Request::new(100, Op::Read, 160 * 8, 16 * 8));
    let (mut next, mut passed) = (8, 0);
    loop {
        let due = d.next_due().expect("reads are under way");
        d.advance(due, &mut done);
        for answer in std::mem::take(&mut done) {
            if answer.tag == 100 {
                assert!(passed < 100, "{passed} reads went before it");
                return;
            }
            passed += 1;
            let unit = u64::from(next % 40) * 4;
            d.submit(
                d.now(),
                Request::new(next % 40 + 200, Op::Read, unit * 8, 8),
            );
            next += 1;
        }
    }
}

#[test]
fn reads_of_single_planes_suspend_programs_and_draw_less() {
    let sets = [
        "nand.independent_planes=true",
        "nand.suspend.program=true",
        "nand.suspend.entry=20 us",
        "nand.suspend.penalty=10 us",
        "nand.suspend.reads=8",
        "nand.suspend.most=4",
    ];
    let mut d = drive(&sets);
    let start = d.now();
    d.submit(start, Request::new(50, Op::Write, 1 << 20, 48 * 8));
    let to = start + Nanos::from_ms(1);
    d.advance(to, &mut Vec::new());
    let found = times(&mut d, &[0, 4, 8]);
    let (sense, send) = (SENSE as u64, SEND as u64);
    let link = 4096 * 1_000_000_000 / 6_000_000_000;
    let first = 20_000 + sense + send + link;
    assert_eq!(found, [first, first + send, first + 2 * send]);
    rest(&mut d, Nanos::from_secs(1));
    d.ftl().check();
    // 10,000 reads of one plane of four: a quarter of the energy of sensing.
    let sensing = |sets: &[&str]| {
        let joules = |power: &str| {
            let power = format!("power.flash_read={power}");
            let mut d = drive(&[sets, &[power.as_str()]].concat());
            random(&mut d, 1);
            d.energy_fj() as f64
        };
        joules("100 mW") - joules("0")
    };
    let together = sensing(&[]);
    let alone = sensing(&["nand.independent_planes=true"]);
    assert!(
        (alone / together - 0.25).abs() < 0.01,
        "{alone} of {together}"
    );
}
