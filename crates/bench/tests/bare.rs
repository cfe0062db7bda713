//! The bare map against theory and against itself: what the project is measured by has to be right.

use flashtwin_base::rng::Rng;
use flashtwin_bench::bare::{Bare, Shape};
use flashtwin_bench::bare_speed::{fill, overwrite, overwrite_batched};
use proptest::prelude::*;

/// A map with `rho` over-provisioning beyond the superblock that is kept free.
fn shape(rho: f64, units_per_block: u32, user_units: u32) -> Shape {
    let blocks = f64::from(user_units) * (1.0 + rho) / f64::from(units_per_block);
    Shape {
        blocks: blocks.round() as u32 + 1,
        units_per_block,
        user_units,
    }
}

/// Write amplification of uniform random writes after a fill: 8 overwrites to settle, 4 measured.
fn amplification(shape: Shape) -> f64 {
    let mut map = Bare::new(shape);
    let mut rng = Rng::new(1, 0);
    fill(&mut map);
    overwrite(&mut map, &mut rng, 8.0);
    let (host, moved) = (map.host_units(), map.moved_units());
    overwrite(&mut map, &mut rng, 4.0);
    map.check();
    1.0 + (map.moved_units() - moved) as f64 / (map.host_units() - host) as f64
}

/// The FIFO formula, A = 1 / (1 - e^(-alpha/A)), by iteration.
fn fifo(alpha: f64) -> f64 {
    (0..10_000).fold(2.0, |a, _| 0.5 * a + 0.5 / (1.0 - (-alpha / a).exp()))
}

#[test]
fn the_formula_is_the_table_s() {
    for (rho, expected) in [
        (0.07, 7.82),
        (0.125, 4.68),
        (0.145, 4.13),
        (0.28, 2.48),
        (1.0, 1.26),
    ] {
        assert!(
            (fifo(1.0 + rho) - expected).abs() < 0.01,
            "{rho}: {}",
            fifo(1.0 + rho)
        );
    }
}

#[test]
fn greedy_is_the_table_s() {
    greedy_is(&[(0.28, 64, 2.41), (0.145, 256, 4.08)]);
}

#[test]
#[ignore = "for --full"]
fn greedy_is_the_rest_of_the_table() {
    greedy_is(&[(0.07, 64, 7.03), (0.125, 64, 4.40), (0.145, 64, 3.91)]);
    greedy_is(&[(0.07, 256, 7.65), (0.28, 256, 2.47)]);
}

/// Spare flash, units of a block and the amplification that the table has for them.
fn greedy_is(cases: &[(f64, u32, f64)]) {
    for &(rho, units_per_block, expected) in cases {
        let found = amplification(shape(rho, units_per_block, 200_000));
        let error = found / expected - 1.0;
        assert!(
            error.abs() < 0.02,
            "{units_per_block} units, {rho}: {found}, not {expected}"
        );
    }
}

#[test]
fn large_superblocks_come_near_fifo_and_stay_below() {
    let shape = shape(0.145, 4_096, 300_000);
    let (found, bound) = (amplification(shape), fifo(shape.alpha()));
    assert!(
        found < bound * 1.01 && found > bound * 0.96,
        "{found} against {bound}"
    );
}

#[test]
fn sequential_writes_move_nothing() {
    let mut map = Bare::new(shape(0.145, 256, 100_000));
    (0..5).for_each(|_| fill(&mut map));
    map.check();
    assert_eq!((map.host_units(), map.moved_units()), (500_000, 0));
}

#[test]
fn batches_do_what_single_writes_do() {
    let shape = shape(0.145, 256, 64_000);
    let (mut one, mut many) = (Bare::new(shape), Bare::new(shape));
    fill(&mut one);
    fill(&mut many);
    overwrite(&mut one, &mut Rng::new(7, 0), 2.0);
    overwrite_batched(&mut many, &mut Rng::new(7, 0), 2.0);
    assert_eq!(one.host_units(), many.host_units());
    assert_eq!(one.moved_units(), many.moved_units());
}

proptest! {
    /// Whatever is written in whatever portions, every structure agrees with every other.
    #[test]
    fn the_map_stays_whole(
        portions in prop::collection::vec((0u32..500, 1usize..200, any::<bool>()), 1..60),
    ) {
        let mut map = Bare::new(Shape { blocks: 11, units_per_block: 64, user_units: 500 });
        let mut written = 0;
        for (first, length, single) in portions {
            let lpns: Vec<_> = (0..length as u32).map(|n| (first + n * n) % 500).collect();
            if single {
                lpns.iter().for_each(|lpn| map.write(*lpn));
            } else {
                map.write_all(&lpns);
            }
            written += length as u64;
            map.check();
            prop_assert_eq!(map.host_units(), written);
        }
    }
}
