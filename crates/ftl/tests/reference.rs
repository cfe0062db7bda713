//! The firmware against a plain map, under every policy, with random writes, trims and idle times.

use crate::common::{
    Bench, COPYBACK, DIRECT, FOLD_FIRST, SLC, cache, caching, part, policy, torture, torture_with,
};
use flashtwin_base::Nanos;
use flashtwin_ftl::Policy;
use flashtwin_ftl::policy::{
    Admit, Borrowed, CacheMode, Caching, FoldPath, Pace, Parity, Separation, SizeAt, SlcCache,
    WhenFull,
};
use flashtwin_nand::{Cell, LaterPasses};

fn caching_of(when_full: WhenFull, path: FoldPath) -> Caching {
    let staged = matches!(when_full, WhenFull::Staged | WhenFull::Mixed { .. });
    caching(when_full, path, if staged { 1500 } else { 500 })
}

fn cached(mode: CacheMode, when_full: WhenFull, path: FoldPath, superblocks: u64) -> Policy {
    let bytes = superblocks * SLC;
    let caching = caching_of(when_full, path);
    Policy {
        cache: cache(mode, bytes, Borrowed::Fixed(bytes), caching),
        ..policy()
    }
}

#[test]
fn without_cache_one_shot_and_page_by_page() {
    for (cell, one_shot) in [
        (Cell::Slc, true),
        (Cell::Mlc, false),
        (Cell::Tlc, true),
        (Cell::Qlc, false),
    ] {
        let bench = torture(&part(cell, one_shot, 40), policy(), 0.75, 11);
        let c = bench.ftl.counters();
        assert!(c.gc_units > 0, "{cell:?} never collected");
        assert_eq!((c.slc_units, c.fold_units), (0, 0));
    }
}

#[test]
fn every_cache_with_every_way_when_full() {
    let mut seed = 0;
    for mode in [
        CacheMode::Static,
        CacheMode::Dynamic,
        CacheMode::Hybrid,
        CacheMode::WholeDrive,
    ] {
        for when_full in [DIRECT, FOLD_FIRST, WhenFull::Staged] {
            for path in [FoldPath::Controller, COPYBACK] {
                seed += 1;
                let p = part(Cell::Tlc, true, 48);
                let bench = torture(&p, cached(mode, when_full, path, 4), 0.6, seed);
                let c = bench.ftl.counters();
                let what = format!("{mode:?} {when_full:?} {path:?}");
                assert!(c.slc_units > 0 && c.fold_units > 0, "{what}: cache unused");
                if when_full != DIRECT {
                    assert_eq!(c.direct_units, 0, "{what} wrote direct");
                }
            }
        }
    }
}

#[test]
fn parity_loses_nothing_and_takes_a_share_of_every_stripe() {
    for (cell, one_shot) in [(Cell::Tlc, true), (Cell::Qlc, false), (Cell::Slc, true)] {
        for channels in [2, 4] {
            for when_full in [DIRECT, FOLD_FIRST, WhenFull::Staged] {
                let mut p = part(cell, one_shot, 48);
                p.geometry.channels = channels;
                let mut policy = policy();
                if cell != Cell::Slc {
                    policy = cached(CacheMode::Dynamic, when_full, COPYBACK, 4);
                }
                policy.parity = Parity::Stripe;
                let share = 0.6 * f64::from(channels - 1) / f64::from(channels);
                let bench = torture(&p, policy, share, 9);
                let c = bench.ftl.counters();
                let data = c.programmed_units() - c.parity_units;
                let most = data / u64::from(channels - 1);
                let few = 6 * u64::from(bench.ftl.layout().native_granule);
                assert!(c.parity_units <= most && most <= c.parity_units + few);
            }
        }
    }
}

#[test]
fn superblocks_of_some_dies_lose_nothing() {
    for (channels, dies) in [(2, 1), (4, 1), (4, 2)] {
        for mode in [
            CacheMode::None,
            CacheMode::Static,
            CacheMode::Dynamic,
            CacheMode::WholeDrive,
        ] {
            for when_full in [DIRECT, FOLD_FIRST, WhenFull::Staged] {
                let mut p = part(Cell::Tlc, true, 24);
                p.geometry.channels = channels;
                // The buffer has to fit into a superblock.
                p.geometry.wordlines_per_block = 16;
                let mut policy = policy();
                if mode != CacheMode::None {
                    policy = cached(mode, when_full, COPYBACK, 6);
                } else if when_full != DIRECT {
                    continue;
                }
                policy.superblock_dies = dies;
                for parity in [Parity::None, Parity::Stripe] {
                    policy.parity = parity;
                    if dies > 1 || parity == Parity::None {
                        let share = if parity == Parity::Stripe { 0.25 } else { 0.5 };
                        torture(&p, policy.clone(), share, 17);
                    }
                }
            }
        }
    }
}

#[test]
fn every_choice_of_the_cache_keeps_every_unit() {
    let table = |points: &[(u32, u64)]| {
        let at = |&(fill_milli_percent, superblocks): &(u32, u64)| SizeAt {
            fill_milli_percent,
            bytes: superblocks * 8 * 2 * 2 * 8192,
        };
        points.iter().map(at).collect::<Vec<_>>()
    };
    let modes = [CacheMode::Static, CacheMode::Dynamic, CacheMode::Hybrid];
    let rules = [
        DIRECT,
        FOLD_FIRST,
        WhenFull::Staged,
        WhenFull::Mixed { direct_milli: 400 },
    ];
    for mode in modes {
        for (at, when_full) in rules.into_iter().enumerate() {
            for seed in 0..6 {
                let p = part(Cell::Tlc, seed % 2 == 0, 48);
                let mut caching = caching_of(when_full, FoldPath::Controller);
                if seed % 3 > 0 {
                    caching.admit = Admit::Small(4096);
                }
                caching.reclaim_milli = [0, 300, 900][seed as usize / 2];
                if let WhenFull::Direct { refill_milli, .. } = &mut caching.when_full {
                    *refill_milli = [0, 700, 2000][at.max(seed as usize % 3)];
                }
                let borrowed = match seed > 2 {
                    true => Borrowed::ByFill(table(&[(10_000, 7), (60_000, 4), (95_000, 0)])),
                    false => Borrowed::Fixed(4 * SLC),
                };
                let policy = Policy {
                    cache: cache(mode, 4 * SLC, borrowed, caching),
                    ..policy()
                };
                let bench = torture(&p, policy, 0.6, seed);
                let c = bench.ftl.counters();
                assert!(c.slc_units > 0, "{mode:?} {when_full:?}: cache unused");
            }
        }
    }
}

#[test]
fn several_passes_lose_nothing_and_every_granule_gets_all() {
    for (cell, passes, distance, dies, parity) in [
        (Cell::Qlc, 2, 1, 0, Parity::None),
        (Cell::Qlc, 2, 0, 0, Parity::Stripe),
        (Cell::Tlc, 2, 3, 1, Parity::None),
        (Cell::Qlc, 2, 2, 2, Parity::Stripe),
        (Cell::Tlc, 3, 1, 0, Parity::None),
        (Cell::Qlc, 4, 1, 1, Parity::None),
        (Cell::Tlc, 3, 0, 2, Parity::Stripe),
    ] {
        for mode in [CacheMode::None, CacheMode::Dynamic] {
            for path in [FoldPath::Controller, COPYBACK] {
                if (mode, path) == (CacheMode::None, COPYBACK) {
                    continue; // nothing is folded
                }
                let mut p = part(cell, true, 32);
                p.geometry.channels = if dies == 2 { 4 } else { 2 };
                p.geometry.wordlines_per_block = 64;
                let none = Nanos::ZERO;
                let time = |pass: u32| if pass <= passes { p.native.erase } else { none };
                let later = LaterPasses {
                    times: [time(2), time(3), time(4)],
                    distance_wordlines: distance,
                    transfers: true,
                };
                p.later_passes = Some(later);
                let mut policy = policy();
                if mode != CacheMode::None {
                    policy = cached(mode, DIRECT, path, 32);
                }
                policy.superblock_dies = dies;
                policy.parity = parity;
                let granule = 4 * cell.bits();
                let buffer = (later.wordlines() * p.geometry.dies() + 1) * granule;
                let share = if parity == Parity::None { 0.5 } else { 0.25 };
                let mut bench = torture_with(&p, policy, share, 23, buffer);
                bench.pad_through();
                bench.drain();
                bench.verify();
                assert!(!bench.ftl.host_data_between_passes());
                let c = bench.ftl.counters();
                assert!(c.second_pass_units > 0);
                if mode == CacheMode::None {
                    // Padding behind the last data waits for its own second pass.
                    let lanes = 2 * bench.ftl.layout().groups * bench.ftl.layout().group_dies;
                    let more = u64::from(passes - 1);
                    let waiting = u64::from(later.wordlines() * lanes * granule) * more;
                    let all = c.programmed_units() * more;
                    assert!(c.second_pass_units <= all && all <= c.second_pass_units + waiting);
                }
            }
        }
    }
}

#[test]
fn trim_of_everything_gives_every_superblock_back() {
    let p = part(Cell::Tlc, true, 48);
    let policy = cached(CacheMode::Dynamic, DIRECT, FoldPath::Controller, 4);
    let mut bench = torture(&p, policy, 0.6, 5);
    bench.pad();
    bench.drain();
    bench.trim(0, bench.ftl.logical_units());
    bench.drain();
    bench.verify();
    // Two are erased at once that nobody needs, the others in idle time.
    let (open, all) = (4, bench.ftl.layout().superblocks);
    assert!(bench.ftl.free_superblocks() < all / 2);
    bench.idle(true);
    bench.drain();
    bench.verify();
    assert!(bench.ftl.free_superblocks() + open >= all);
}

#[test]
fn overwritten_cache_is_erased_and_not_folded() {
    let p = part(Cell::Tlc, true, 48);
    let policy = cached(CacheMode::Dynamic, DIRECT, FoldPath::Controller, 4);
    let mut bench = Bench::new(&p, policy, 2000, 3);
    let slc = bench.ftl.layout().slc_units;
    for _ in 0..50 {
        bench.write(0, slc / 2);
    }
    bench.drain();
    bench.verify();
    let c = bench.ftl.counters();
    assert_eq!(
        (c.fold_units, c.direct_units),
        (0, 0),
        "a small file stays in the cache"
    );
    assert!(c.slc_erases > 20);
}

#[test]
fn lower_pages_of_all_blocks_come_first() {
    for (cell, parity) in [
        (Cell::Mlc, Parity::None),
        (Cell::Tlc, Parity::None),
        (Cell::Mlc, Parity::Stripe),
    ] {
        let mut p = part(cell, false, 40);
        p.geometry.channels = 4;
        let mut policy = policy();
        policy.cache = SlcCache::LowerPages;
        policy.parity = parity;
        let bench = torture(&p, policy.clone(), 0.55, 3);
        let c = bench.ftl.counters();
        assert_eq!((c.slc_units, c.fold_units), (0, 0));
        assert!(c.gc_units > 0, "{cell:?} never collected");
        // A first fill up to the reserve takes lower pages alone.
        let units = bench.ftl.logical_units();
        let mut bench = Bench::new(&p, policy.clone(), units, 4);
        let lower = bench.ftl.layout().slc_units * (40 - policy.gc.reserve_superblocks);
        bench.write(0, lower.min(units));
        for lpn in 0..lower.min(units) {
            let ppn = bench.ftl.locate(lpn).expect("written");
            let (_, offset) = bench.ftl.layout().split(ppn);
            assert!(
                offset < bench.ftl.layout().slc_units,
                "unit {lpn} at {offset}"
            );
        }
    }
}

#[test]
fn collected_data_among_the_hosts_is_not_padded_row_by_row_for_power_cuts() {
    let mut policy = policy();
    policy.gc.pace = Pace::StopTheWorld;
    policy.gc.separation = Separation::None;
    let units = 40 * 8 * 2 * 2 * 2 * 3 / 2;
    let mut bench = Bench::new(&part(Cell::Tlc, true, 40), policy, units, 6);
    bench.ftl.enable_power_cuts();
    bench.write(0, units);
    for _ in 0..2 * units {
        let lpn = bench.rng.below(u64::from(units)) as u32;
        bench.write(lpn, 1);
        let c = bench.ftl.counters();
        // A granule for each victim that the host waited for, and one in each of two streams.
        let granule = u64::from(bench.ftl.layout().native_granule);
        let most = (c.gc_victims + 2) * granule;
        assert!(
            c.pad_units <= most,
            "{} padded, {most} at most",
            c.pad_units
        );
    }
    assert!(bench.ftl.counters().gc_victims > 20);
    bench.drain();
    bench.verify();
}
