//! Where units lie: every page row of a superblock's blocks holds one row of data or of parity.

use crate::common::{UNIT, part, policy};
use std::collections::BTreeSet;

use flashtwin_ftl::layout::{Divider, Layout, Mode};
use flashtwin_ftl::policy::Parity;
use flashtwin_nand::{Cell, Part};
use proptest::prelude::*;

/// A part and how its superblocks are cut: (part, parity, dies of a superblock).
fn cuts() -> impl Strategy<Value = (Part, bool, u32)> {
    let cell = prop_oneof![
        Just(Cell::Slc),
        Just(Cell::Mlc),
        Just(Cell::Tlc),
        Just(Cell::Qlc)
    ];
    let shape = (1..5u32, 1..5u32, 1..5u32, 2..12u32, 1..4u32);
    (cell, any::<bool>(), any::<bool>(), 0..8usize, shape).prop_map(
        |(cell, one_shot, parity, cut, (channels, per_channel, planes, wordlines, pages))| {
            let mut part = part(cell, one_shot, 10);
            part.geometry.channels = channels;
            part.geometry.dies_per_channel = per_channel;
            part.geometry.planes = planes;
            part.geometry.wordlines_per_block = wordlines;
            part.geometry.page_bytes = UNIT * pages;
            let dies = channels * per_channel;
            let least = if parity { 2 } else { 1 };
            let fits: Vec<u32> = (least..=dies).filter(|d| dies.is_multiple_of(*d)).collect();
            match fits.get(cut % fits.len().max(1)) {
                Some(&group) => (part, parity, group),
                None => (part, false, 0),
            }
        },
    )
}

fn layout(part: &Part, parity: bool, dies: u32) -> Layout {
    let mut policy = policy();
    policy.superblock_dies = dies;
    if parity {
        policy.parity = Parity::Stripe;
    }
    Layout::new(part, &policy)
}

/// Page rows of a superblock in a mode as (die, wordline, page type): those of data in the order of
/// their offsets, then those of parity.
fn rows(l: &Layout, mode: Mode, superblock: u32) -> (Vec<[u32; 3]>, Vec<[u32; 3]>) {
    let data = (0..l.units(mode)).step_by(l.row_units as usize);
    let data = data.map(|offset| {
        let (die, page) = l.place(mode, superblock, offset);
        let stripe = l.stripe_of(mode, offset).0;
        [die, l.wordline(mode, stripe), page]
    });
    let stripes = l.units(mode) / l.granule(mode) / l.stripe_granules();
    let parity = (0..if l.parity { stripes } else { 0 }).flat_map(|stripe| {
        let (die, first) = l.parity_place(mode, superblock, stripe);
        let rows = l.granule(mode) / l.row_units;
        (0..rows).map(move |row| [die, l.wordline(mode, stripe), first + row])
    });
    (data.collect(), parity.collect())
}

proptest! {
    #[test]
    fn data_and_parity_fill_the_blocks_and_never_meet((part, parity, dies) in cuts()) {
        let l = layout(&part, parity, dies);
        let g = &part.geometry;
        for superblock in 0..l.superblocks.min(2 * l.groups) {
            for mode in [Mode::Slc, Mode::Native] {
                let bits = if mode == Mode::Slc { 1 } else { g.cell.bits() };
                let (data, spare) = rows(&l, mode, superblock);
                let taken: BTreeSet<[u32; 3]> = data.iter().chain(&spare).copied().collect();
                prop_assert_eq!(taken.len(), data.len() + spare.len(), "two on one row");
                let all: BTreeSet<[u32; 3]> = l
                    .dies_of(superblock)
                    .flat_map(|die| (0..g.wordlines_per_block).map(move |w| (die, w)))
                    .flat_map(|(die, w)| (0..bits).map(move |page| [die, w, page]))
                    .collect();
                prop_assert_eq!(taken, all);
            }
        }
    }

    #[test]
    fn each_die_is_programmed_wordline_by_wordline((part, parity, dies) in cuts()) {
        let l = layout(&part, parity, dies);
        for mode in [Mode::Slc, Mode::Native] {
            let data = rows(&l, mode, 0).0;
            for die in l.dies_of(0) {
                let own: Vec<_> = data.iter().filter(|r| r[0] == die).collect();
                prop_assert!(own.is_sorted_by_key(|r| (r[1], r[2])));
            }
        }
    }

    #[test]
    fn parity_takes_its_share_and_is_spread_evenly((part, parity, dies) in cuts()) {
        let l = layout(&part, parity, dies);
        let raw = part.geometry.raw_bytes();
        let data = u64::from(l.physical_units()) * u64::from(UNIT);
        prop_assert_eq!(data * u64::from(l.group_dies), raw * u64::from(l.stripe_granules()));
        if l.parity {
            let spare = rows(&l, Mode::Slc, 0).1;
            let of = |die| spare.iter().filter(|r| r[0] == die).count();
            let counts: Vec<usize> = l.dies_of(0).map(of).collect();
            let (least, most) = (counts.iter().min(), counts.iter().max());
            prop_assert!(most.unwrap() - least.unwrap() <= 1, "{:?}", counts);
        }
    }

    #[test]
    fn the_groups_take_turns_and_every_die_has_its_share((part, parity, dies) in cuts()) {
        let l = layout(&part, parity, dies);
        prop_assert_eq!(l.superblocks, part.geometry.blocks_per_plane * l.groups);
        let mut blocks = vec![0; l.dies as usize];
        for superblock in 0..l.superblocks {
            l.dies_of(superblock).for_each(|die| blocks[die as usize] += 1);
        }
        prop_assert!(blocks.iter().all(|&count| count == part.geometry.blocks_per_plane));
    }

    #[test]
    fn division_is_exact(divisor in 1..=u32::MAX, value: u32) {
        prop_assert_eq!(Divider::new(divisor).split(value), (value / divisor, value % divisor));
    }
}
