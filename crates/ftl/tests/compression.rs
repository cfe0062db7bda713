//! Compression against the plain map, against a drive without it, and against its closed forms.

use crate::common::{Bench, COPYBACK, DIRECT, FOLD_FIRST, SLC, cache, caching, part, policy};
use flashtwin_ftl::Policy;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::orders::{CostBenefit, DChoices, Fifo, Greedy, Random};
use flashtwin_ftl::policy::{Borrowed, CacheMode, FoldPath, Parity, Victim, WhenFull};
use flashtwin_nand::part::Cell;

fn packed(ratio: u32, mut policy: Policy) -> Policy {
    policy.compression_ratio = ratio;
    policy
}

fn cached(mode: CacheMode, when_full: WhenFull, path: FoldPath) -> Policy {
    let caching = caching(when_full, path, 1500);
    Policy {
        cache: cache(mode, 6 * SLC, Borrowed::Fixed(6 * SLC), caching),
        ..policy()
    }
}

/// Random writes, trims, pads and steps; how compressible each write is decides `percent`.
fn torture(
    policy: Policy,
    cell: Cell,
    fill: f64,
    seed: u64,
    mut percent: impl FnMut(u64) -> u8,
) -> Bench {
    let p = part(cell, cell != Cell::Qlc, 56);
    let superblock = u64::from(p.geometry.wordlines_per_block) * 2 * 4;
    let raw = 56 * superblock * u64::from(cell.bits());
    let capacity = (raw as f64 * fill) as u32;
    let mut bench = Bench::new(&p, policy, capacity, seed);
    for round in 0..700u64 {
        let at = bench.rng.below(u64::from(capacity) - 40) as u32;
        let count = 1 + bench.rng.below(40) as u32;
        match bench.rng.below(40) {
            0 => bench.trim(at, count),
            1 => bench.pad(),
            2 => bench.idle(true),
            3 => bench.idle(false),
            4..=9 if bench.is_busy() => bench.step(),
            _ => {
                let roll = bench.rng.below(1 << 20);
                bench.ftl.incoming_data(percent(roll));
                bench.write(at, count);
            }
        }
        if round % 100 == 0 {
            bench.verify();
        }
    }
    bench.drain();
    bench.verify();
    bench
}

#[test]
fn data_of_any_compressibility_is_kept() {
    let any = |roll: u64| (roll % 101) as u8;
    for ratio in [2, 3, 8] {
        for seed in 1..3 {
            torture(packed(ratio, policy()), Cell::Mlc, 0.7, seed, any);
            torture(packed(ratio, policy()), Cell::Qlc, 0.7, seed, any);
            for mode in [CacheMode::Static, CacheMode::Dynamic, CacheMode::WholeDrive] {
                for when_full in [DIRECT, FOLD_FIRST, WhenFull::Staged] {
                    let policy = packed(ratio, cached(mode, when_full, COPYBACK));
                    let bench = torture(policy, Cell::Tlc, 0.55, seed, any);
                    let c = bench.ftl.counters();
                    assert!(c.saved_units > 0 && c.slc_units > 0, "{mode:?}");
                }
            }
        }
    }
}

#[test]
fn parity_and_superblocks_of_some_dies_are_packed_too() {
    let any = |roll: u64| (roll % 101) as u8;
    for seed in 1..6 {
        let mut raise = packed(2, policy());
        raise.parity = Parity::Stripe;
        let bench = torture(raise, Cell::Mlc, 0.35, seed, any);
        assert!(bench.ftl.counters().parity_units > 0);
        let mut narrow = packed(2, policy());
        narrow.superblock_dies = 1;
        (narrow.gc.low_superblocks, narrow.gc.high_superblocks) = (7, 9);
        torture(narrow, Cell::Mlc, 0.5, seed, any);
    }
}

#[test]
fn every_way_to_choose_a_victim_ends() {
    for victim in [
        Victim::Greedy(Greedy),
        Victim::CostBenefit(CostBenefit),
        Victim::Fifo(Fifo),
        Victim::from(DChoices { choices: 4 }),
        Victim::Random(Random),
    ] {
        let mut policy = packed(2, policy());
        policy.gc.victim = victim;
        let bench = torture(policy, Cell::Mlc, 0.78, 3, |roll| {
            [0, 13, 26, 100][roll as usize % 4]
        });
        assert!(bench.ftl.counters().gc_units > 0, "{victim:?}");
    }
}

/// What cannot be compressed lies as on a drive that does not compress: all counts are the same.
#[test]
fn incompressible_data_is_stored_as_without_compression() {
    let policies = [
        policy(),
        cached(CacheMode::Static, WhenFull::Staged, FoldPath::Controller),
        cached(CacheMode::Dynamic, FOLD_FIRST, FoldPath::Controller),
    ];
    for policy in policies {
        let run = |ratio| {
            *torture(packed(ratio, policy.clone()), Cell::Tlc, 0.6, 5, |_| 0)
                .ftl
                .counters()
        };
        let without = run(1);
        assert!(without.gc_units > 0 || without.fold_units > 0);
        assert_eq!(run(2), without);
        assert_eq!(run(4), without);
    }
}

/// A sequential fill programs exactly what is left of the data: the ratio in grains of an eighth,
/// and what rows of 4 units round up to.
#[test]
fn a_fill_programs_what_is_left_of_it() {
    for (percent, ratio, per_row) in [
        (0, 2, 4),
        (20, 2, 4),
        (38, 2, 6),
        (50, 2, 8),
        (80, 2, 8),
        (80, 4, 16),
    ] {
        let p = part(Cell::Mlc, true, 40);
        let capacity = 1536;
        let mut bench = Bench::new(&p, packed(ratio, policy()), capacity, 1);
        bench.ftl.incoming_data(percent);
        bench.write(0, capacity);
        bench.pad();
        bench.drain();
        bench.verify();
        let c = bench.ftl.counters();
        assert_eq!(c.direct_units, u64::from(capacity));
        let rows = u64::from(capacity / per_row);
        let granules = rows.div_ceil(2);
        assert_eq!(c.programmed_units(), granules * 8, "{percent} % at {ratio}");
    }
}

/// Compressible data leaves the drive more room to work in, so that collection copies less; below
/// one is possible. The mean over what a drive with so much spare room would do is in theory.md;
/// here the order is what must hold.
#[test]
fn spare_room_grows_with_what_is_saved() {
    let amplification = |percent: u8| {
        let bench = torture(packed(2, policy()), Cell::Mlc, 0.8, 9, |_| percent);
        let c = bench.ftl.counters();
        c.programmed_units() as f64 / c.host_units as f64
    };
    let (none, some, half) = (amplification(0), amplification(26), amplification(50));
    assert!(none > 1.1 && half < 0.7, "{none} {some} {half}");
    assert!(none > some && some > half, "{none} {some} {half}");
}

#[test]
fn tables_stay_within_sixteen_bytes_a_unit() {
    let p = part(Cell::Mlc, true, 1000);
    let raw = 1000 * 8 * 2 * 4 * 2;
    let bench = Bench::new(&p, packed(2, policy()), raw * 93 / 100, 1);
    let each = bench.ftl.table_bytes() as f64 / f64::from(bench.ftl.logical_units());
    // A part with blocks as large as real ones has next to nothing for superblocks.
    let superblocks = bench.ftl.superblocks().len() * size_of_val(&bench.ftl.superblocks()[0]);
    let own = superblocks as f64 / f64::from(bench.ftl.logical_units());
    assert!(
        each - own < 16.0,
        "{each} bytes a unit, {own} of them superblocks"
    );
    assert_eq!(
        bench.ftl.layout().whole_units(Mode::Native) * 2,
        bench.ftl.layout().native_units
    );
}
