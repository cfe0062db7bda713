//! Programming in two passes against times and counts that can be reckoned by hand.

use crate::common;
use crate::common::asks::{self, UNCACHED, link};
use crate::common::loops::{go, job, rate, rest};
use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// Two dies, each on its own channel; superblocks of 64 wordlines.
const DRIVE: [&str; 7] = [
    "controller.read_ahead_streams=0",
    "controller.gather_time=5 s",
    "nand.wordlines_per_block=64",
    "nand.blocks_per_plane=1000",
    "ftl.system=0",
    "drive.capacity=20 GB",
    "nand.native.second_pass=5 ms",
];

const COMMAND: u64 = 6_000;
const FIRST: u64 = 4_300_000;
const SECOND: u64 = 5_000_000;
/// Units of a granule.
const GRANULE: u64 = 48;

fn bus(granules: u64) -> u64 {
    granules * (196_608 * 1_000_000_000 / 400_000_000)
}

fn drive(sets: &[&str]) -> Drive {
    asks::drive(&[&UNCACHED, &DRIVE, sets])
}

fn send(drive: &mut Drive, op: Op, unit: u64, units: u64) {
    let now = drive.now();
    drive.submit(
        now,
        Request::new(op as u32, op, unit * 8, (units * 8) as u32),
    );
}

/// When the command of this kind is answered.
fn answered(drive: &mut Drive, op: Op) -> u64 {
    let mut done: Vec<Completion> = Vec::new();
    loop {
        let due = drive.next_due().expect("a command is under way");
        drive.advance(due, &mut done);
        if let Some(answer) = done.iter().find(|d| d.tag == op as u32) {
            return answer.at.0;
        }
    }
}

/// Writes four granules, two stripes, and flushes; the answer is when the flush is answered, on
/// the second die, which has had its first granule whole after three bursts.
fn flushed(drive: &mut Drive) -> u64 {
    send(drive, Op::Write, 0, 4 * GRANULE);
    answered(drive, Op::Write);
    send(drive, Op::Flush, 0, 0);
    answered(drive, Op::Flush) - (COMMAND + 3 * link(128 << 10))
}

#[test]
fn the_second_pass_comes_a_wordline_later_and_padding_takes_its_place_at_a_flush() {
    let mut d = drive(&[]);
    // On each die: first, first, second of the first wordline, padding, second of the second.
    assert_eq!(flushed(&mut d), bus(4) + 3 * FIRST + 2 * SECOND);
    let c = d.counters();
    assert_eq!((c.direct_units, c.pad_units), (4 * GRANULE, 2 * GRANULE));
    assert_eq!(
        c.second_pass_units,
        4 * GRANULE,
        "padding waits for its own"
    );
    d.ftl().check();
}

#[test]
fn a_third_and_a_fourth_pass_follow_at_the_same_distance() {
    // Of wordlines 0 to 3, two of them padding: passes 1 of 0, 1 of 1, 2 of 0, 1 of 2, 2 of 1,
    // 3 of 0, 1 of 3, 2 of 2, 3 of 1; padding takes no data.
    let mut d = drive(&["nand.native.third_pass=7 ms"]);
    let later = 3 * SECOND + 2 * 7_000_000;
    assert_eq!(flushed(&mut d), bus(6) + 4 * FIRST + later);
    let c = d.counters();
    assert_eq!((c.direct_units, c.pad_units), (4 * GRANULE, 4 * GRANULE));
    d.ftl().check();
    // A fourth: of 0 and 1 all four, of padding 2 three... each die ends with the last of 1.
    let four = [
        "nand.native.third_pass=7 ms",
        "nand.native.fourth_pass=1 ms",
    ];
    let mut d = drive(&[&four[..], &["controller.write_buffer=2 MiB"]].concat());
    let later = 4 * SECOND + 3 * 7_000_000 + 2 * 1_000_000;
    assert_eq!(flushed(&mut d), bus(8) + 5 * FIRST + later);
    assert_eq!(d.counters().pad_units, 6 * GRANULE);
    // Without distance each wordline gets all of them at once.
    let near = ["nand.native.pass_distance=0", "nand.native.third_pass=7 ms"];
    let mut d = drive(&near);
    assert_eq!(
        flushed(&mut d),
        bus(6) + 2 * FIRST + 2 * SECOND + 2 * 7_000_000
    );
    assert_eq!(d.counters().second_pass_units, 8 * GRANULE);
}

#[test]
fn the_buffer_holds_the_data_of_all_passes() {
    // (passes - 1) · distance + 1 granules of each of two dies, and one that is being filled.
    let bytes = |granules: u64| format!("controller.write_buffer={} B", granules * GRANULE * 4096);
    let three = "nand.native.third_pass=7 ms";
    let load = |sets: &[&str]| {
        let sets = UNCACHED.iter().chain(&DRIVE).chain(sets);
        let sets: Vec<String> = sets.map(|s| (*s).to_owned()).collect();
        let path = common::write("base", common::BASE);
        flashtwin_drive::spec::load(&path, &[], &[], &sets).is_ok()
    };
    for (distance, least) in [("0", 3), ("1", 7), ("2", 11)] {
        let distance = format!("nand.native.pass_distance={distance}");
        assert!(load(&[three, &distance, &bytes(least)]));
        assert!(!load(&[three, &distance, &bytes(least - 1)]));
        // So much is enough to go on with.
        let mut d = drive(&[three, &distance, &bytes(least)]);
        let mut fill = job(ReadWrite::Write, 128 << 10, 4);
        fill.io_bytes = Some(200 << 20);
        go(&mut d, fill);
        d.ftl().check();
    }
    assert!(!load(&["nand.native.second_pass=0", three]));
}

#[test]
fn without_distance_the_passes_follow_each_other() {
    let mut d = drive(&["nand.native.pass_distance=0"]);
    assert_eq!(flushed(&mut d), bus(4) + 2 * FIRST + 2 * SECOND);
    let c = d.counters();
    assert_eq!((c.pad_units, c.second_pass_units), (0, 4 * GRANULE));
}

#[test]
fn a_die_that_keeps_the_data_takes_it_once() {
    let mut d = drive(&["nand.native.pass_transfer=false"]);
    assert_eq!(flushed(&mut d), bus(2) + 3 * FIRST + 2 * SECOND);
}

#[test]
fn until_its_second_pass_data_is_read_from_the_buffer() {
    let mut d = drive(&[]);
    send(&mut d, Op::Write, 0, 2 * GRANULE);
    answered(&mut d, Op::Write);
    rest(&mut d, Nanos::from_secs(1));
    assert!(d.ftl().host_data_between_passes());
    assert_eq!(d.counters().second_pass_units, 0);
    let asked = d.now().0;
    send(&mut d, Op::Read, 0, 1);
    assert_eq!(answered(&mut d, Op::Read) - asked, COMMAND + link(4096));
    // The wordline behind it brings its second pass.
    send(&mut d, Op::Write, 2 * GRANULE, 2 * GRANULE);
    answered(&mut d, Op::Write);
    rest(&mut d, Nanos::from_secs(1));
    assert_eq!(d.counters().second_pass_units, 2 * GRANULE);
    let asked = d.now().0;
    send(&mut d, Op::Read, 0, 1);
    let sense = 45_000 + 4096 * 1_000_000_000 / 400_000_000;
    assert_eq!(
        answered(&mut d, Op::Read) - asked,
        COMMAND + sense + link(4096)
    );
}

#[test]
fn the_end_of_a_superblock_waits_for_nothing() {
    let mut d = drive(&[
        "nand.native.pass_distance=3",
        "controller.write_buffer=3 MiB",
    ]);
    let mut write = job(ReadWrite::Write, 128 << 10, 4);
    write.io_bytes = Some(128 * GRANULE * 4096);
    go(&mut d, write);
    rest(&mut d, Nanos::from_secs(1));
    let c = d.counters();
    assert_eq!((c.direct_units, c.pad_units), (128 * GRANULE, 0));
    assert_eq!(c.second_pass_units, 128 * GRANULE);
    assert!(!d.ftl().host_data_between_passes());
    d.ftl().check();
}

#[test]
fn both_passes_and_both_transfers_take_their_time_in_a_fill() {
    for (sets, transfers) in [(&[][..], 2), (&["nand.native.pass_transfer=false"], 1)] {
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.io_bytes = Some(1 << 30);
        let found = rate(&go(&mut drive(sets), write));
        let expected = 2.0 * 196_608.0 / ((bus(transfers) + FIRST + SECOND) as f64 / 1e9);
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found} against {expected}"
        );
    }
}

#[test]
fn folding_in_the_die_takes_both_passes_and_senses_twice() {
    let folded = |path: &str| {
        let cache = [
            "slc_cache.mode=dynamic",
            "slc_cache.size=2 GB",
            "slc_cache.when_full=staged",
            "fold.idle_after=1 s",
            "fold.pace=1",
            path,
        ];
        let mut d = drive(&cache);
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.io_bytes = Some(1 << 30);
        go(&mut d, write);
        rest(&mut d, Nanos::from_secs(6));
        d.ftl().check();
        d.counters().fold_units as f64 * 4096.0 / 5.0
    };
    let copyback = 2.0 * 196_608.0 / ((6 * 35_000 + FIRST + SECOND) as f64 / 1e9);
    let controller = 2.0 * 196_608.0 / ((bus(2) + FIRST + SECOND) as f64 / 1e9);
    for (path, most) in [("copyback", copyback), ("controller", controller)] {
        let found = folded(&format!("fold.path={path}"));
        assert!(
            found < most * 1.02 && found > most * 0.8,
            "{path}: {found} against {most}"
        );
    }
}

/// How long a flush takes that comes after two writes and before a third. Each write is 32 KiB at
/// random below `units`; each command comes up to `gap` after the one before. Six seconds later all
/// four are answered.
fn flush_between_writes(d: &mut Drive, rng: &mut Rng, units: u64, gap: Nanos) -> Nanos {
    let mut done: Vec<Completion> = Vec::new();
    let mut asked = Nanos(0);
    for op in [Op::Write, Op::Write, Op::Flush, Op::Write] {
        if op == Op::Flush {
            asked = d.now();
        }
        send(d, op, rng.below(units), 8);
        let next = d.now() + Nanos(rng.below(gap.0));
        d.advance(next, &mut done);
    }
    let end = d.now() + Nanos::from_secs(6);
    d.advance(end, &mut done);
    assert_eq!(done.len(), 4, "{done:?}");
    let flush = done.iter().find(|answer| answer.tag == Op::Flush as u32);
    flush.expect("the flush is answered").at - asked
}

/// Collection begins a granule, the host flushes, and what it writes then goes into that granule. A
/// flush waited for all granules begun before it: for this data, for its second pass, and so for
/// the wordline behind it, which a host that waits for its flush does not write.
#[test]
fn a_flush_waits_for_no_data_that_came_after_it() {
    let mut d = drive(&[
        "nand.planes=1",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=40",
        "drive.capacity=48 MiB",
        "controller.write_buffer=256 KiB",
        "controller.gather=false",
        "gc.separation=none",
    ]);
    let mut rng = Rng::new(1, 0);
    for turn in 1..=1000 {
        let waited = flush_between_writes(&mut d, &mut rng, 12_000, Nanos(8_000_000));
        assert!(waited < Nanos::from_secs(1), "{waited:?} in turn {turn}");
    }
}

/// Without later passes it waited for the granule to be full, or for `controller.gather_time`.
#[test]
fn a_flush_waits_for_no_granule_that_gathers_data_that_came_after_it() {
    let mut d = drive(&[
        "nand.native.second_pass=0",
        "nand.wordlines_per_block=16",
        "nand.blocks_per_plane=40",
        "drive.capacity=192 MiB",
        "controller.write_buffer=768 KiB",
        "gc.separation=none",
    ]);
    let mut rng = Rng::new(1, 0);
    for turn in 1..=500 {
        let waited = flush_between_writes(&mut d, &mut rng, 48_000, Nanos(1_000_000));
        assert!(waited < Nanos(100_000_000), "{waited:?} in turn {turn}");
    }
}

/// Superblocks of which three quarters are padding once what was written last has all its passes.
const SMALL: [&str; 17] = [
    "nand.cell=slc",
    "nand.native.tr=[\"45 us\"]",
    "nand.native.tprog=4 ms",
    "nand.native.third_pass=5 ms",
    "nand.native.pass_distance=6",
    "nand.dies_per_channel=2",
    "nand.planes=1",
    "nand.page_size=8 KiB",
    "nand.wordlines_per_block=16",
    "nand.blocks_per_plane=11",
    "drive.capacity=1 MiB",
    "controller.write_buffer=448 KiB",
    "controller.acknowledge=write-through",
    "controller.native_programs=1",
    "gc.reserve=4",
    "gc.low=6",
    "gc.high=8",
];

/// With one program at a time, one superblock after the other became ready to be collected.
/// Collection padded the copies of each as long as the next was not, so that it used up what it
/// freed, and a host with five writes outstanding got no answer.
#[test]
fn padding_uses_up_less_than_collection_frees() {
    for seed in 0..10 {
        let mut d = drive(&SMALL);
        let mut rng = Rng::new(seed, 0);
        let mut done: Vec<Completion> = Vec::new();
        for sent in 1..=200 {
            let units = if rng.chance(30) { 1 + rng.below(60) } else { 1 };
            send(&mut d, Op::Write, rng.below(256 - units), units);
            let late = d.now() + Nanos::from_secs(120);
            while done.len() + 5 < sent {
                let next = d.next_due().expect("writes are under way");
                assert!(next < late, "seed {seed}: {} answers", done.len());
                d.advance(next, &mut done);
            }
        }
    }
}
