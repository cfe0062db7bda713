//! Failing programs and erases, bad and weak blocks: no data is lost, and the books are right.

use crate::common::{self, Bench, COPYBACK, SLC, cache, caching, part, policy};
use flashtwin_ftl::Policy;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::policy::{
    Borrowed, CacheMode, Failures, FoldPath, MapPolicy, Parity, ReadOnlyAt, Residency, Separation,
    Wear, WhenFull,
};
use flashtwin_nand::Cell;

/// Failures in a thousand million programs and erases from the first cycle on.
fn failing(program: u64, erase: u64, spares: u32) -> Wear {
    let each = |at_rated_ppb| Failures {
        at_rated_ppb,
        growth: 0,
    };
    Wear {
        program: each(program),
        erase: each(erase),
        spares,
        ..Wear::default()
    }
}

fn cached(mode: CacheMode, wear: Wear, path: FoldPath) -> Policy {
    let caching = caching(WhenFull::Staged, path, 1500);
    Policy {
        cache: cache(mode, 2 * SLC, Borrowed::Fixed(4 * SLC), caching),
        wear,
        ..policy()
    }
}

/// Collection's data is among the host's, in the same granules.
fn undivided(mut policy: Policy) -> Policy {
    policy.gc.separation = Separation::None;
    policy.wear = failing(10_000_000, 0, 1000);
    policy
}

/// Writes, trims and rests at random until the drive is at its end or the rounds are over.
fn torture(policy: Policy, blocks: u32, share: f64, seed: u64) -> Bench {
    let part = part(Cell::Tlc, true, blocks);
    let raw = part.geometry.raw_bytes() / u64::from(common::UNIT);
    let units = (raw as f64 * share) as u32;
    let mut bench = Bench::new(&part, policy, units, seed);
    for round in 0..900 {
        if bench.ftl.is_read_only() {
            break;
        }
        let at = bench.rng.below(u64::from(units)) as u32;
        let count = (1 + bench.rng.below(60) as u32).min(units - at);
        match bench.rng.below(20) {
            0 => bench.trim(at, count),
            1 => {
                bench.idle(true);
                bench.drain();
                bench.idle(false);
            }
            2 => bench.pad(),
            _ => bench.write(at, count),
        }
        if round % 50 == 0 {
            bench.verify();
        }
    }
    bench.drain();
    bench.verify();
    bench
}

#[test]
fn no_data_is_lost_when_programs_fail() {
    for seed in 1..4 {
        for policy in [
            Policy {
                wear: failing(10_000_000, 0, 1000),
                ..policy()
            },
            cached(
                CacheMode::Hybrid,
                failing(2_000_000, 0, 1000),
                FoldPath::Controller,
            ),
            cached(
                CacheMode::Hybrid,
                failing(2_000_000, 1_000_000, 1000),
                COPYBACK,
            ),
            Policy {
                parity: Parity::Stripe,
                wear: failing(10_000_000, 0, 1000),
                ..policy()
            },
            Policy {
                superblock_dies: 1,
                wear: failing(10_000_000, 500_000, 1000),
                ..policy()
            },
            undivided(policy()),
            undivided(cached(
                CacheMode::Hybrid,
                failing(0, 0, 1000),
                FoldPath::Controller,
            )),
        ] {
            let bench = torture(policy, 56, 0.4, seed);
            let c = bench.ftl.counters();
            assert!(bench.ftl.grown_bad_blocks() > 5, "nothing failed");
            assert!(c.failure_units > 0);
            assert_eq!(bench.ftl.retired_superblocks(), 0, "there were spares");
            assert!(!bench.ftl.is_read_only());
        }
    }
}

#[test]
fn the_drive_ends_readable_and_whole() {
    for seed in 1..4 {
        let wear = failing(3_000_000, 1_000_000, 0);
        let bench = torture(cached(CacheMode::Hybrid, wear, COPYBACK), 56, 0.5, seed);
        assert!(bench.ftl.is_read_only(), "it never came to its end");
        assert!(bench.ftl.retired_superblocks() > 0);
        assert!(bench.ftl.grown_bad_blocks() >= bench.ftl.retired_superblocks());
    }
}

#[test]
fn spares_come_before_retirement() {
    let first = |read_only_at| {
        let wear = Wear {
            read_only_at,
            ..failing(0, 60_000_000, 2)
        };
        let bench = torture(Policy { wear, ..policy() }, 56, 0.4, 2);
        (bench.ftl.is_read_only(), bench.ftl.retired_superblocks())
    };
    // With a spare gone somewhere nothing has been retired yet; without that rule it goes on.
    assert_eq!(first(ReadOnlyAt::SparesGone), (true, 0));
    assert!(first(ReadOnlyAt::ReserveGone).1 > 0);
}

#[test]
fn equal_seeds_have_equal_failures() {
    let run = |seed| {
        let wear = failing(1_500_000, 500_000, 3);
        let bench = torture(
            cached(CacheMode::Hybrid, wear, FoldPath::Controller),
            56,
            0.4,
            seed,
        );
        (*bench.ftl.counters(), bench.ftl.grown_bad_blocks())
    };
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
}

#[test]
fn bad_blocks_use_up_spares_and_then_superblocks() {
    let drive = |bad: u32, weak: u32, spares: u32, mode: CacheMode| {
        let mut policy = cached(mode, Wear::default(), FoldPath::Controller);
        policy.wear.bad_percent_milli = bad;
        policy.wear.weak_percent_milli = weak;
        policy.wear.spares = spares;
        Bench::new(&part(Cell::Tlc, true, 200), policy, 500, 1).ftl
    };
    assert_eq!(drive(0, 0, 3, CacheMode::Hybrid).spare_blocks(), 3);
    let none = drive(2000, 0, 0, CacheMode::Hybrid);
    // 2 % of 200 blocks in the plane of four that has the most.
    assert!((3..=12).contains(&none.retired_superblocks()));
    assert_eq!(none.spare_blocks(), 0);
    let some = drive(2000, 0, 20, CacheMode::Hybrid);
    assert_eq!(some.retired_superblocks(), 0);
    assert!((8..=17).contains(&some.spare_blocks()));
    // Weak ones serve the cache: they are never native, and without a cache of no use.
    let weak = drive(0, 10_000, 0, CacheMode::Dynamic);
    let fixed = weak.superblocks().iter().filter(|b| b.fixed).count();
    assert!((15..=35).contains(&fixed), "{fixed}");
    assert_eq!(weak.retired_superblocks(), 0);
    assert_eq!(weak.free_superblocks() as usize, 200 - fixed);
    let mut policy = policy();
    policy.wear.weak_percent_milli = 10_000;
    let none = Bench::new(&part(Cell::Tlc, true, 200), policy, 500, 1).ftl;
    assert_eq!(none.retired_superblocks() as usize, fixed);
    let retired = |s: &flashtwin_ftl::blocks::Superblock| s.state == State::Retired;
    assert_eq!(
        none.superblocks().iter().filter(|s| retired(s)).count(),
        fixed
    );
}

#[test]
fn blocks_of_the_map_fail_too_and_its_pool_keeps_its_size() {
    let (mut failed, mut replaced) = (0, 0);
    for (mode, one_way) in [(Mode::Slc, true), (Mode::Native, true), (Mode::Slc, false)] {
        for seed in 0..4 {
            let wear = if one_way {
                failing(4_000_000, 0, 1)
            } else {
                failing(0, 3_000_000, 0)
            };
            let mut policy = cached(CacheMode::Hybrid, wear, FoldPath::Controller);
            policy.map = MapPolicy {
                residency: Residency::Demand,
                cache_bytes: 16 * u64::from(common::UNIT),
                entry_bytes: 64,
                mode,
                journal_bytes: 4096,
                ..MapPolicy::in_dram()
            };
            let fresh = Bench::new(&part(Cell::Tlc, true, 80), policy.clone(), 3000, seed);
            let of_map = |bench: &Bench| {
                let all = (0u32..).zip(bench.ftl.superblocks());
                let own = all.filter(|(_, b)| b.map).map(|(index, _)| index);
                own.collect::<Vec<_>>()
            };
            let before = of_map(&fresh);
            let bench = torture(policy, 80, 0.3, seed);
            let after = of_map(&bench);
            let c = bench.ftl.counters();
            assert!(c.map_units > 500, "{} map pages", c.map_units);
            // Lost ones are replaced as soon as the data can do without as many.
            assert!(
                after.len() + 2 >= before.len(),
                "{before:?} became {after:?}"
            );
            replaced += after.iter().filter(|s| !before.contains(s)).count();
            let lost = |s: &&u32| bench.ftl.superblocks()[**s as usize].state == State::Retired;
            failed += before.iter().filter(lost).count();
        }
    }
    assert!(
        failed > 2 && replaced > 2,
        "{failed} failed, {replaced} replaced"
    );
}
