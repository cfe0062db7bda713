//! Power cuts on whole drives: what each kind of acknowledgement is worth, and what a start costs.

use crate::common::asks::UNCACHED;
use crate::common::{BASE, load_with};
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;

fn drive(sets: &[&str]) -> Drive {
    let mut drive = Drive::new(&load_with(BASE, &[], sets).config, 1);
    drive.enable_power_cuts();
    drive
}

/// Sends one command and waits for its answer; the answer is the time it took.
fn ask(drive: &mut Drive, op: Op, lba: u64, sectors: u32, fua: bool) -> Nanos {
    let (begun, mut done) = (drive.now(), Vec::<Completion>::new());
    let mut request = Request::new(1, op, lba, sectors);
    request.fua = fua;
    drive.submit(begun, request);
    while done.is_empty() {
        let due = drive.next_due().expect("a command is outstanding");
        drive.advance(due, &mut done);
    }
    assert_eq!(done[0].status, Status::Ok);
    done[0].at - begun
}

/// Cuts the power now and switches it on again; the answer is the time of the start.
fn cut(drive: &mut Drive) -> Nanos {
    let now = drive.now();
    drive.power_cut(now, &mut Vec::new());
    let ready = drive.power_on(now + Nanos::from_secs(1));
    drive.ftl().check();
    ready
}

fn is_there(drive: &Drive, lpn: u32) -> bool {
    drive.ftl().version(lpn).is_some()
}

/// A sixteenth of the base: a start reads less.
const SMALL: [&str; 7] = [
    "nand.wordlines_per_block=44",
    "drive.capacity=2500001792 B",
    "ftl.system=30 MB",
    "slc_cache.size=250 MB",
    "slc_cache.rearm=25 MB",
    "fold.reserve=125 MB",
    "controller.write_buffer=768 KiB",
];

#[test]
fn what_an_acknowledged_write_is_worth() {
    let through = "controller.acknowledge=write-through";
    for (sets, fua, flush, kept) in [
        (&[][..], false, false, false),
        (&[][..], true, false, true),
        (&[][..], false, true, true),
        (
            &[through, "controller.gather=false"][..],
            false,
            false,
            true,
        ),
        (&["controller.plp=true"][..], false, false, true),
        (&["controller.flush=group"][..], true, false, true),
        (
            &["controller.flush=group", "controller.fua=flush"][..],
            true,
            false,
            true,
        ),
        (&["controller.flush=group"][..], false, true, true),
        (
            &["controller.flush=group", "ftl.pad_pages=true"][..],
            false,
            true,
            true,
        ),
        (&["controller.flush=ignore"][..], true, true, false),
    ] {
        let mut d = drive(&[&SMALL[..], sets].concat());
        ask(&mut d, Op::Write, 80, 8, fua);
        if flush {
            ask(&mut d, Op::Flush, 0, 0, false);
        }
        cut(&mut d);
        assert_eq!(is_there(&d, 10), kept, "{sets:?} fua {fua} flush {flush}");
        assert_eq!(d.counters().lost_units, u64::from(!kept));
    }
}

#[test]
fn fua_waits_for_its_program_and_protection_waits_for_nothing() {
    // An SLC program takes 404.8 us; a plain write or a protected flush is answered before.
    let program = Nanos(404_800);
    let mut d = drive(&[]);
    assert!(ask(&mut d, Op::Write, 0, 8, false) < program);
    assert!(ask(&mut d, Op::Write, 8, 8, true) > program);
    assert_eq!(d.counters().pad_units, 14, "a row of 16 units holds two");
    let mut d = drive(&["controller.plp=true"]);
    assert!(ask(&mut d, Op::Write, 0, 8, true) < program);
    assert!(ask(&mut d, Op::Flush, 0, 0, false) < program);
    assert_eq!(d.counters().pad_units, 0);
}

#[test]
fn journaled_trims_stay_and_others_come_back() {
    let journal = ["ftl.trim_journal=true", "ftl.checkpoint=8 GB"];
    for (sets, flush, back) in [
        (&[][..], true, true),
        (&journal[..], true, false),
        (&journal[..], false, true),
        (&["controller.plp=true"][..], false, false),
    ] {
        let mut d = drive(sets);
        // The neighbour keeps the superblock from being erased.
        ask(&mut d, Op::Write, 0, 16, true);
        ask(&mut d, Op::Trim, 0, 8, false);
        if flush {
            ask(&mut d, Op::Flush, 0, 0, false);
        }
        assert!(!is_there(&d, 0));
        cut(&mut d);
        assert_eq!(is_there(&d, 0), back, "{sets:?} flush {flush}");
        assert!(is_there(&d, 1));
    }
}

#[test]
fn a_checkpoint_makes_the_start_short() {
    let fill = |sets: &[&str]| {
        let mut d = drive(sets);
        for block in 0..8_000 {
            ask(&mut d, Op::Write, block * 2048, 2048, false);
        }
        ask(&mut d, Op::Flush, 0, 0, false);
        let journal = d.counters().journal_units;
        let ready = cut(&mut d);
        assert!((0..8_000u32).all(|block| is_there(&d, block * 256)));
        (ready, journal)
    };
    let (whole, _) = fill(&[]);
    let (short, journal) = fill(&["ftl.checkpoint=2 GB"]);
    // Both write back what was open, which takes seconds; the reads of all the rest are saved.
    assert!(short + Nanos::from_secs(2) < whole, "{short:?}, {whole:?}");
    // 8.39 GB are four checkpoints of 9.77 M entries of 4 bytes, in rows of 16 units.
    let each = (9_765_625u64 * 4).div_ceil(65_536) * 16;
    assert_eq!(journal, 8_000 * (1 << 20) / 2_000_000_000 * each);
}

#[test]
fn checkpoints_are_no_rarer_than_units() {
    // A hundred bytes are less than a unit: each write begins one where none is under way.
    let mut d = drive(&["ftl.checkpoint=100 B"]);
    ask(&mut d, Op::Write, 0, 8, true);
    let to = d.now() + Nanos::from_secs(1);
    d.advance(to, &mut Vec::new());
    assert_eq!(d.counters().journal_units, 597 * 16, "9,765,625 entries");
}

#[test]
fn cycles_and_unsafe_shutdowns_are_counted() {
    let mut d = drive(&[]);
    ask(&mut d, Op::Write, 0, 8, false);
    d.shut_down();
    d.power_on(d.now());
    assert!(is_there(&d, 0), "an orderly shutdown keeps everything");
    cut(&mut d);
    let cycles = d.power_cycles();
    assert_eq!((cycles.on, cycles.unsafe_shutdowns), (3, 1));
}

#[test]
fn a_purge_outlives_the_power() {
    for kind in ["block", "crypto"] {
        let mut d = drive(&[&format!("controller.secure_erase={kind}")]);
        ask(&mut d, Op::Write, 0, 64, true);
        d.purge();
        cut(&mut d);
        assert!((0..8).all(|lpn| !is_there(&d, lpn)), "{kind}");
    }
}

/// One die of superblocks of 384 units, worn so far that one in ten programs fails.
const FAILING: [&str; 14] = [
    "nand.channels=1",
    "nand.planes=1",
    "nand.wordlines_per_block=32",
    "nand.blocks_per_plane=64",
    "nand.native.endurance=1",
    "drive.capacity=16 MiB",
    "drive.initial_cycles=100",
    "ftl.system=6 MiB",
    "ftl.trim_journal=true",
    "ftl.checkpoint=16 MB",
    "controller.write_buffer=480 KiB",
    "wear.program_failures=1000",
    "wear.failure_growth=1",
    "wear.spares=8",
];

/// A host writes units three times, with other data between, and flushes after the second time.
/// Then it trims them while the last programs are under way. Some of these fail, and what is
/// trimmed is not programmed again: so the trims in RAM are all that is left of that data. The
/// firmware erased what it had replaced nevertheless, and a cut that took the trims brought the
/// first version back.
#[test]
fn trims_amid_failed_programs_bring_no_older_version_back() {
    let units = 600;
    let sets = [&UNCACHED[..], &FAILING].concat();
    let config = load_with(BASE, &[], &sets).config;
    let version = |d: &Drive, unit| d.ftl().version(unit).unwrap_or(u64::MAX);
    let write = |d: &mut Drive, unit: u64| ask(d, Op::Write, unit * 8, 8, false);
    for seed in 1..40 {
        let mut d = Drive::new(&config, seed);
        d.enable_power_cuts();
        for unit in 0..units {
            write(&mut d, unit);
            write(&mut d, 1000 + unit);
        }
        for unit in 0..units {
            write(&mut d, unit);
        }
        ask(&mut d, Op::Flush, 0, 0, false);
        let promised: Vec<u64> = (0..units as u32).map(|unit| version(&d, unit)).collect();
        // In an order that leaves something valid in every superblock until the end.
        for unit in 0..units {
            write(&mut d, unit * 7 % units);
            write(&mut d, 2000 + unit);
        }
        ask(&mut d, Op::Trim, 0, units as u32 * 8, false);
        let until = d.now() + Nanos::from_ms(60);
        d.advance(until, &mut Vec::new());
        cut(&mut d);
        for (unit, &promised) in (0..).zip(&promised) {
            let found = version(&d, unit);
            assert!(
                found >= promised,
                "seed {seed}: unit {unit} came back as {found}, {promised} was promised"
            );
        }
    }
}

/// A host sends a flush behind data that fills a superblock, writes the end of that data again, and
/// one unit more. Where the program of that end fails, none of it is programmed again, and the
/// flush waits for all that may have replaced it. It waited for the last unit as well, whose
/// granule nobody programmed before it was full.
#[test]
fn a_flush_amid_failed_programs_waits_for_no_more_data() {
    let rare = ["drive.initial_cycles=30", "controller.gather_time=1 h"];
    let config = load_with(BASE, &[], &[&UNCACHED[..], &FAILING, &rare].concat()).config;
    for seed in 0..300 {
        let mut d = Drive::new(&config, seed);
        d.enable_power_cuts();
        let write = |tag, unit: u64, units: u32| Request::new(tag, Op::Write, unit * 8, units * 8);
        let flush = Request::new(2, Op::Flush, 0, 0);
        ask(&mut d, Op::Write, 0, 384 * 8, false);
        let now = d.now();
        for request in [flush, write(3, 372, 12), write(4, 500, 1)] {
            d.submit(now, request);
        }
        let mut done = Vec::<Completion>::new();
        d.advance(Nanos::from_secs(2), &mut done);
        let flushed = done.iter().any(|answer| answer.tag == 2);
        assert!(flushed, "seed {seed}: the flush is not answered");
    }
}
