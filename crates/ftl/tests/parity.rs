//! The rows that rebuild another of their stripe, against the layout as it is written down.

use crate::common::{Bench, part, policy};
use std::collections::BTreeSet;

use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::policy::Parity;
use flashtwin_nand::Cell;

#[test]
fn a_row_is_rebuilt_from_one_row_of_each_other_die() {
    for (cell, one_shot) in [(Cell::Tlc, true), (Cell::Qlc, false)] {
        let mut p = part(cell, one_shot, 24);
        p.geometry.channels = 4;
        let mut policy = policy();
        policy.parity = Parity::Stripe;
        let mut bench = Bench::new(&p, policy, 2000, 1);
        let layout = bench.ftl.layout().clone();
        // A whole superblock, then a stripe and a granule of the next one.
        let granule = layout.native_granule;
        let units = layout.native_units + 4 * granule;
        bench.write(0, units);
        bench.drain();
        let mut parity_rows = BTreeSet::new();
        for lpn in 0..units {
            let ppn = bench.ftl.locate(lpn).expect("written");
            let mates = bench.ftl.stripe_mates(ppn).expect("there is parity");
            let (superblock, offset) = layout.split(ppn);
            let (own, page) = layout.place(Mode::Native, superblock, offset);
            let dies: BTreeSet<u32> = mates.iter().map(|m| m.die.into()).collect();
            assert_eq!(dies.len(), mates.len(), "unit {lpn}: {mates:?}");
            assert!(!dies.contains(&own), "unit {lpn} is read from its own die");
            // The last stripe has one granule, and its parity is in RAM.
            let whole = lpn < layout.native_units + 3 * granule;
            assert_eq!(mates.len(), if whole { 3 } else { 0 }, "unit {lpn}");
            let (stripe, _) = layout.stripe_of(Mode::Native, offset);
            for mate in &mates {
                assert_eq!(u32::from(mate.class), 1 + page, "another page type");
                let first = mate.row * layout.row_units;
                if first >= layout.physical_units() {
                    parity_rows.insert((mate.row, stripe, superblock, offset % granule));
                    continue;
                }
                let (of, at) = layout.split(first);
                assert_eq!(
                    (of, layout.stripe_of(Mode::Native, at).0),
                    (superblock, stripe)
                );
            }
        }
        // Parity rows have numbers of their own.
        let numbers: BTreeSet<u32> = parity_rows.iter().map(|p| p.0).collect();
        let stripes = units / (3 * granule) * (granule / layout.row_units);
        assert_eq!(numbers.len() as u32, stripes);
    }
}

#[test]
fn a_superblock_that_is_given_up_early_ends_without_parity() {
    let mut p = part(Cell::Tlc, true, 24);
    p.geometry.channels = 4;
    let mut policy = policy();
    policy.parity = Parity::Stripe;
    let mut bench = Bench::new(&p, policy, 2000, 1);
    let granule = bench.ftl.layout().native_granule;
    bench.write(0, 4 * granule);
    bench.drain();
    let ppn = |bench: &Bench, lpn| bench.ftl.locate(lpn).expect("written");
    let superblock = bench.ftl.layout().superblock_of(ppn(&bench, 0));
    assert!(bench.ftl.stripe_mates(ppn(&bench, 3 * granule)).is_some());
    // It is closed where it is, and its data will be moved.
    assert!(bench.refresh(superblock));
    assert!(bench.ftl.stripe_mates(ppn(&bench, 0)).is_some());
    assert_eq!(bench.ftl.stripe_mates(ppn(&bench, 3 * granule)), None);
    bench.write(4 * granule, 20 * granule);
    bench.drain();
    bench.verify();
    assert!(
        bench.ftl.stripe_mates(ppn(&bench, 3 * granule)).is_some(),
        "moved"
    );
}
