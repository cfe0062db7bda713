//! Wear levelling against what it has to reach and what it may cost.

use crate::common::{Bench, part, policy};
use flashtwin_ftl::Policy;
use flashtwin_ftl::blocks::Superblock;
use flashtwin_ftl::policy::{Levelling, Wear};
use flashtwin_nand::Cell;

const BLOCKS: u32 = 40;

fn levelled(dynamic: Levelling, static_threshold: u32) -> Policy {
    Policy {
        wear: Wear {
            dynamic,
            static_threshold,
            ..Wear::default()
        },
        ..policy()
    }
}

/// Writes so much of the flash once, then one part in sixteen of it again and again.
fn skewed(policy: Policy, percent: u32, rounds: u32) -> Bench {
    let p = part(Cell::Mlc, false, BLOCKS);
    let units = BLOCKS * 8 * 2 * 2 * 2 * 2 * percent / 100;
    let mut bench = Bench::new(&p, policy, units, 3);
    bench.write(0, units);
    bench.drain();
    for round in 0..rounds {
        let at = bench.rng.below(u64::from(units / 16 - 4)) as u32;
        bench.write(at, 4);
        if round % 500 == 0 {
            bench.verify();
        }
    }
    bench.drain();
    bench.verify();
    bench
}

fn cycles(bench: &Bench) -> Vec<u32> {
    let used = |b: &Superblock| b.native_cycles;
    bench.ftl.superblocks().iter().map(used).collect()
}

fn spread(bench: &Bench) -> u32 {
    let cycles = cycles(bench);
    cycles.iter().max().unwrap() - cycles.iter().min().unwrap()
}

#[test]
fn the_last_freed_wears_out_and_the_least_worn_does_not() {
    let [none, fifo, least] = [Levelling::None, Levelling::Fifo, Levelling::LeastWorn]
        .map(|dynamic| skewed(levelled(dynamic, 0), 40, 6000));
    let most = |bench: &Bench| *cycles(bench).iter().max().unwrap();
    assert!(most(&none) > 2 * most(&fifo), "{:?}", cycles(&none));
    assert!(most(&least) <= most(&fifo), "{:?}", cycles(&least));
    for bench in [&none, &fifo, &least] {
        assert_eq!(bench.ftl.counters().wear_units, 0);
        let rests = cycles(bench).iter().filter(|&&c| c == 0).count();
        assert!(rests >= 12, "resting data keeps its superblock: {rests}");
    }
}

#[test]
fn static_levelling_bounds_the_spread() {
    for threshold in [4, 10] {
        let bench = skewed(levelled(Levelling::LeastWorn, threshold), 75, 12_000);
        let found = spread(&bench);
        // Twice of it while the host waits; the most worn may go on while the next least worn
        // one waits for its turn.
        assert!(
            found <= 2 * threshold + 3,
            "{threshold}: {:?}",
            cycles(&bench)
        );
        let c = bench.ftl.counters();
        assert!(c.wear_units > 0);
    }
}

#[test]
fn levelling_costs_the_data_of_what_it_moves() {
    for threshold in [4, 8, 16] {
        let bench = skewed(levelled(Levelling::LeastWorn, threshold), 75, 12_000);
        let c = bench.ftl.counters();
        let size = f64::from(bench.ftl.layout().native_units);
        let erases = f64::from(cycles(&bench).iter().sum::<u32>());
        // A superblock that gave up its resting data serves what is hot until it is the threshold
        // ahead, so that a move comes with about so many erases.
        let moves = c.wear_units as f64 / size * f64::from(threshold) / erases;
        assert!(
            (0.4..2.5).contains(&moves),
            "{threshold}: {moves} of what it should cost"
        );
        assert_eq!(c.refresh_units + c.failure_units, 0);
        let open = 4.0 * size;
        let held = bench
            .ftl
            .superblocks()
            .iter()
            .filter(|b| b.written > 0)
            .count() as f64;
        let programmed = c.programmed_units() as f64;
        let most = (erases + held) * size;
        assert!(programmed <= most && most <= programmed + open);
    }
}

#[test]
fn refreshed_data_moves_once_and_is_all_there() {
    let p = part(Cell::Tlc, true, BLOCKS);
    let mut bench = Bench::new(&p, policy(), 2000, 5);
    bench.write(0, 2000);
    bench.pad();
    bench.drain();
    let full = (0..BLOCKS)
        .find(|&s| bench.ftl.superblocks()[s as usize].valid == bench.ftl.layout().native_units)
        .expect("a full superblock");
    assert!(bench.refresh(full));
    assert!(!bench.refresh(full), "twice");
    bench.idle(false);
    bench.drain();
    bench.verify();
    let c = bench.ftl.counters();
    assert_eq!(c.refresh_units, u64::from(bench.ftl.layout().native_units));
    assert_eq!(bench.ftl.superblocks()[full as usize].native_cycles, 1);
    assert_eq!((c.gc_units, c.wear_units), (0, 0));
}
