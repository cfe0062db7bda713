//! Properties of garbage collection on pairs of small drives without a cache, the map in DRAM:
//! what may never make it copy more, which cells are programmed how, and what adds up.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::orders::NAMES;
use flashtwin_soak::draw;

/// 64 superblocks of 192 units: 12,288 units of 4 KiB.
const SMALL: [&str; 16] = [
    "nand.channels=1",
    "nand.planes=1",
    "nand.wordlines_per_block=16",
    "nand.blocks_per_plane=64",
    "ftl.system=0",
    "slc_cache.mode=none",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "slc_cache.rearm=256 KiB",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0",
    "gc.separation=gc",
    "controller.write_buffer=192 KiB",
    "controller.read_ahead_streams=0",
    "link.rate=0",
];
const UNITS: u64 = 64 * 192;
/// Two runs of so many writes differ by so much for no reason but chance.
const SAMPLING: f64 = 0.03;

/// A drive that offers so many units, with further values.
fn small(units: u64, seed: u64, sets: &[&str]) -> Drive {
    let capacity = format!("drive.capacity={} B", units * 4096);
    let sets = [&SMALL[..], &[&capacity], sets].concat();
    Drive::new(&draw::load(&sets), seed)
}

/// One command after another, eight at a time.
fn send(drive: &mut Drive, commands: impl Iterator<Item = (Op, u64, u32)>) {
    let (mut done, mut sent) = (Vec::new(), 0);
    for (op, unit, units) in commands {
        let request = Request::new(sent as u32, op, unit * 8, units * 8);
        drive.submit(drive.now(), request);
        sent += 1;
        while sent >= done.len() + 8 {
            drive.advance(drive.next_due().expect("commands are under way"), &mut done);
        }
    }
    while done.len() < sent {
        drive.advance(drive.next_due().expect("commands are under way"), &mut done);
    }
}

fn fill(drive: &mut Drive, units: u64) {
    send(drive, (0..units / 32).map(|at| (Op::Write, at * 32, 32)));
}

fn random(drive: &mut Drive, units: u64, writes: u64, seed: u64) {
    let mut rng = Rng::new(seed, 3);
    send(drive, (0..writes).map(|_| (Op::Write, rng.below(units), 1)));
}

/// Units that collection copies in a number of random writes.
fn copies(drive: &mut Drive, units: u64, writes: u64, seed: u64) -> f64 {
    let before = drive.counters().gc_units;
    random(drive, units, writes, seed);
    (drive.counters().gc_units - before) as f64
}

#[test]
fn a_trim_never_raises_the_copies_of_what_follows() {
    let units = UNITS * 80 / 100 / 32 * 32;
    for policy in NAMES {
        for seed in [1, 2] {
            let [kept, trimmed] = [0, 3].map(|tenths| {
                let mut drive = small(units, seed, &[&format!("gc.policy={policy}")]);
                fill(&mut drive, units);
                random(&mut drive, units, units, seed);
                let mut rng = Rng::new(seed, 4);
                let some = (0..units / 8).filter(|_| rng.below(10) < tenths);
                send(&mut drive, some.map(|at| (Op::Trim, at * 8, 8)));
                copies(&mut drive, units, units, seed + 10)
            });
            assert!(
                kept > 1000.0 && trimmed <= kept * (1.0 + SAMPLING),
                "{policy}, seed {seed}: {trimmed} copies after trims, {kept} without"
            );
        }
    }
}

#[test]
fn more_over_provisioning_never_raises_copies() {
    for policy in NAMES {
        for seed in [1, 2] {
            let mut last = f64::INFINITY;
            for percent in [84, 76, 66] {
                let units = UNITS * percent / 100 / 32 * 32;
                let mut drive = small(units, seed, &[&format!("gc.policy={policy}")]);
                fill(&mut drive, units);
                random(&mut drive, units, units, seed);
                let found = copies(&mut drive, units, UNITS, seed + 10);
                assert!(
                    found <= last * (1.0 + SAMPLING),
                    "{policy}, seed {seed}: {found} copies at {percent} %, {last} before"
                );
                last = found;
            }
        }
    }
}

#[test]
fn without_a_cache_only_blocks_of_the_map_are_in_slc_mode() {
    let units = UNITS * 60 / 100 / 32 * 32;
    for (residency, mode, some) in [
        ("dram", "slc", false),
        ("demand", "native", false),
        ("demand", "slc", true),
    ] {
        let sets = [
            format!("map.residency={residency}"),
            format!("map.mode={mode}"),
            "map.cache=64 KiB".to_owned(),
            "map.entry=64".to_owned(),
        ];
        let mut drive = small(units, 1, &sets.each_ref().map(String::as_str));
        fill(&mut drive, units);
        random(&mut drive, units, units / 2, 1);
        let counters = drive.counters();
        assert_eq!(counters.slc_mode_units > 0, some, "{residency}, {mode}");
        assert!(!some || counters.slc_mode_units >= counters.map_units);
        for block in drive.ftl().superblocks().iter().filter(|b| b.written > 0) {
            assert!(block.mode == Mode::Native || block.map, "{residency}");
        }
    }
}

#[test]
fn wear_never_decreases_and_pages_add_up() {
    let units = UNITS * 80 / 100 / 32 * 32;
    for policy in NAMES {
        let mut drive = small(units, 1, &[&format!("gc.policy={policy}")]);
        fill(&mut drive, units);
        let mut cycles = vec![0; drive.ftl().superblocks().len()];
        for part in 0..8 {
            random(&mut drive, units, units / 8, part);
            send(&mut drive, std::iter::once((Op::Flush, 0, 0)));
            let rest = drive.now() + Nanos::from_secs(1);
            drive.advance(rest, &mut Vec::new());
            let ftl = drive.ftl();
            let blocks = ftl.superblocks();
            for (block, cycles) in blocks.iter().zip(&mut cycles) {
                assert!(block.native_cycles >= *cycles, "wear decreases");
                *cycles = block.native_cycles;
            }
            // Each counted in its own way: what is mapped, what was programmed and neither mapped
            // nor erased, what was never given out since its erase.
            let valid = (0..units as u32).filter(|&lpn| ftl.locate(lpn).is_some());
            let valid = valid.count() as u64;
            let counters = ftl.counters();
            let erased = counters.native_erases * u64::from(ftl.layout().whole_units(Mode::Native));
            let invalid = counters.programmed_units() - erased - valid;
            let written: u64 = blocks.iter().map(|b| u64::from(b.written)).sum();
            // What an open superblock has left is neither programmed nor counted as free.
            let open = blocks.iter().filter(|b| b.state == State::Open).count() as u64 * 192;
            let sum = (UNITS - written) + valid + invalid;
            assert!(sum <= UNITS && sum + open >= UNITS, "{policy}: {sum} units");
        }
    }
}
