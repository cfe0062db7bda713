//! A map that is read page by page: the drive against a plain map, the pages on flash against the
//! map, and what the cache of pages costs.

use crate::common::{
    Bench, COPYBACK, DIRECT, FOLD_FIRST, SLC, UNIT, caching, part, policy, torture,
};
use flashtwin_ftl::Policy;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::policy::{Borrowed, FoldPath, MapPolicy, Residency, SlcCache, WhenFull};
use flashtwin_nand::Cell;

/// Entries of 64 B make pages of 64 units, so that a small drive has many.
const ENTRY: u32 = 64;

fn paged(slots: u64, mode: Mode) -> MapPolicy {
    MapPolicy {
        residency: Residency::Demand,
        cache_bytes: slots * u64::from(UNIT),
        entry_bytes: ENTRY,
        mode,
        journal_bytes: 64 * 8,
        ..MapPolicy::in_dram()
    }
}

fn with(map: MapPolicy) -> Policy {
    Policy { map, ..policy() }
}

fn cached(map: MapPolicy, when_full: WhenFull, path: FoldPath) -> Policy {
    let caching = caching(when_full, path, 1500);
    Policy {
        cache: SlcCache::Dynamic(Borrowed::Fixed(4 * SLC), caching),
        ..with(map)
    }
}

#[test]
fn no_unit_is_lost_whatever_the_cache_and_the_mode_of_the_pages() {
    for (cell, one_shot) in [(Cell::Tlc, true), (Cell::Qlc, false), (Cell::Slc, true)] {
        for mode in [Mode::Slc, Mode::Native] {
            for slots in [1, 3, 16, 1000] {
                let p = part(cell, one_shot, 48);
                let bench = torture(&p, with(paged(slots, mode)), 0.55, slots);
                let c = bench.ftl.counters();
                assert!(c.gc_units > 0, "{cell:?} never collected");
                let costs = [c.map_units, c.map_misses, c.map_reads].map(|n| n > 0);
                assert_eq!(costs, [slots < 1000; 3], "{cell:?} {mode:?} {slots}");
            }
        }
    }
}

#[test]
fn no_unit_is_lost_with_an_slc_cache_and_folding() {
    for when_full in [DIRECT, FOLD_FIRST, WhenFull::Staged] {
        for path in [FoldPath::Controller, COPYBACK] {
            for (slots, mode) in [(1, Mode::Slc), (4, Mode::Native), (4, Mode::Slc)] {
                let p = part(Cell::Tlc, true, 56);
                let policy = cached(paged(slots, mode), when_full, path);
                let bench = torture(&p, policy, 0.5, 3);
                assert!(
                    bench.ftl.counters().fold_units > 0,
                    "{when_full:?} {path:?}"
                );
            }
        }
    }
}

#[test]
fn the_hosts_memory_serves_what_the_cache_does_not_hold() {
    let map = MapPolicy {
        residency: Residency::HostMemory,
        host_bytes: 1000 * u64::from(UNIT),
        ..paged(2, Mode::Slc)
    };
    let bench = torture(&part(Cell::Tlc, true, 48), with(map), 0.55, 4);
    let c = bench.ftl.counters();
    assert!(c.map_host_hits > 5 * c.map_misses, "{c:?}");
}

/// The share of random reads that find their page is the share of the span that the cache reaches.
#[test]
fn the_hit_rate_is_the_reach_over_the_span() {
    let p = part(Cell::Tlc, true, 80);
    let slots = 16;
    for span_pages in [8u32, 16, 32, 64, 96] {
        let mut bench = Bench::new(&p, with(paged(slots, Mode::Slc)), 64 * 96, 1);
        bench.write(0, 64 * 96);
        bench.drain();
        let (mut hits, rounds) = (0, 4000);
        for round in 0..rounds + 500 {
            let lpn = bench.rng.below(u64::from(span_pages * 64)) as u32;
            let hit = bench.read(lpn);
            hits += u32::from(hit && round >= 500);
        }
        let found = f64::from(hits) / f64::from(rounds);
        let expected = (slots as f64 / f64::from(span_pages)).min(1.0);
        assert!(
            (found - expected).abs() < 0.03,
            "{found} over {span_pages} pages with {slots} slots"
        );
    }
}

/// In order, a page is written once for all its entries; at random over far more than the cache,
/// about once for each unit.
#[test]
fn small_random_writes_cost_a_map_page_each_and_sequential_ones_next_to_nothing() {
    let p = part(Cell::Tlc, true, 120);
    let units = 64 * 128;
    let mut bench = Bench::new(&p, with(paged(4, Mode::Slc)), units, 1);
    bench.write(0, units);
    bench.drain();
    let in_order = bench.ftl.counters().map_units;
    assert!((118..=128).contains(&in_order), "{in_order} of 128 pages");
    bench.checkpoint();
    let before = *bench.ftl.counters();
    for _ in 0..1000 {
        let lpn = bench.rng.below(u64::from(units)) as u32;
        bench.write(lpn, 1);
    }
    bench.checkpoint();
    bench.drain();
    bench.verify();
    let c = bench.ftl.counters();
    let (written, moved) = (
        (c.map_written - before.map_written + before.map_moved - c.map_moved) as f64,
        (c.gc_units - before.gc_units) as f64,
    );
    assert!(moved < 100.0, "{moved} moved");
    assert!((900.0..1300.0).contains(&written), "{written} pages");
}

#[test]
fn a_checkpoint_leaves_nothing_dirty_and_a_trim_of_all_nothing_on_flash() {
    for slots in [1, 8, 200] {
        let p = part(Cell::Tlc, true, 48);
        let mut bench = torture(&p, with(paged(slots, Mode::Slc)), 0.5, 9);
        assert!(bench.ftl.dirty_map_pages().next().is_some());
        bench.checkpoint();
        assert_eq!(bench.ftl.dirty_map_pages().count(), 0);
        bench.verify();
        bench.pad();
        bench.drain();
        bench.trim(0, bench.ftl.logical_units());
        bench.drain();
        bench.verify();
        let host = bench.ftl.logical_units();
        let left =
            (host..bench.ftl.mapped_units()).filter(|&unit| bench.ftl.locate(unit).is_some());
        assert_eq!(left.count(), 0, "map pages of nothing");
    }
}

#[test]
fn map_pages_at_risk_are_written_anew() {
    let p = part(Cell::Tlc, true, 48);
    let mut bench = torture(&p, with(paged(4, Mode::Slc)), 0.5, 6);
    let full = |bench: &Bench| {
        let superblocks = bench.ftl.superblocks().iter().enumerate();
        let holds = superblocks.filter(|(_, b)| b.map && b.state == State::Closed && b.valid > 0);
        holds
            .map(|(at, b)| (at as u32, b.valid))
            .max_by_key(|&(_, valid)| valid)
    };
    let (superblock, valid) = full(&bench).expect("a full superblock");
    let before = bench.ftl.counters().map_moved;
    assert!(bench.refresh(superblock));
    assert!(!bench.refresh(superblock), "noted before");
    bench.idle(false);
    bench.drain();
    bench.checkpoint();
    bench.drain();
    bench.verify();
    assert!(bench.ftl.counters().map_moved >= before + u64::from(valid));
    assert_eq!(bench.ftl.superblocks()[superblock as usize].valid, 0);
}

#[test]
fn a_purge_forgets_the_map() {
    let p = part(Cell::Tlc, true, 48);
    let mut bench = torture(&p, with(paged(4, Mode::Native)), 0.5, 2);
    bench.pad();
    bench.drain();
    bench.ftl.purge();
    bench.ftl.check();
    let superblocks = bench.ftl.superblocks();
    let own = superblocks.iter().filter(|b| b.map).count() as u32;
    assert_eq!(
        bench.ftl.free_superblocks() + own,
        bench.ftl.layout().superblocks
    );
}
