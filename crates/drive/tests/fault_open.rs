//! Power cuts while superblocks of every stream are half full, and around a second tier of the
//! cache: what a flush has answered for stays, and the drive goes on in all its streams.

use crate::common::{BASE, load_with};
use std::collections::BTreeMap;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;
use flashtwin_ftl::Counters;
use flashtwin_ftl::blocks::{Pool, State};

/// 1.2 GB of TLC in superblocks of 6 MiB, 2 MiB in SLC mode, and a cache of 40 MB.
const SMALL: [&str; 8] = [
    "nand.wordlines_per_block=16",
    "nand.blocks_per_plane=200",
    "ftl.system=0",
    "drive.capacity=600 MB",
    "slc_cache.size=40 MB",
    "slc_cache.rearm=8 MB",
    "fold.idle_after=1 s",
    "fold.reserve=20 MB",
];
const UNCACHED: [&str; 6] = [
    "slc_cache.mode=none",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0",
];
const TIER: [&str; 4] = [
    "nand.tier.bits=2",
    "nand.tier.tprog=2 ms",
    "slc_cache.tier_size=60 MB",
    "slc_cache.when_full=direct",
];
/// Units of the part of the drive that is written.
const SPAN: u64 = 120_000;

struct Rig {
    d: Drive,
    rng: Rng,
    /// Version of each unit that was ever written, as the last flush has left it.
    kept: BTreeMap<u32, u64>,
    /// Units written since.
    since: Vec<u32>,
    next: u64,
}

impl Rig {
    fn new(sets: &[&str]) -> Rig {
        let sets = [&SMALL[..], sets].concat();
        let mut d = Drive::new(&load_with(BASE, &[], &sets).config, 1);
        d.enable_power_cuts();
        Rig {
            d,
            rng: Rng::new(7, 0),
            kept: BTreeMap::new(),
            since: Vec::new(),
            next: 0,
        }
    }

    fn ask(&mut self, op: Op, unit: u64, units: u64) {
        let mut done = Vec::<Completion>::new();
        let request = Request::new(1, op, unit * 8, (units * 8) as u32);
        self.d.submit(self.d.now(), request);
        while done.is_empty() {
            let due = self.d.next_due().expect("a command is outstanding");
            self.d.advance(due, &mut done);
        }
        assert_eq!(done[0].status, Status::Ok);
    }

    /// Writes runs of 256 units one after another, and single units anywhere between: what
    /// collection finds valid.
    fn write(&mut self, runs: u64) {
        for _ in 0..runs {
            let at = self.next % (SPAN - 256);
            self.next = at + 256;
            let single = [(); 6].map(|()| (self.rng.below(SPAN), 1));
            for (unit, units) in std::iter::once((at, 256)).chain(single) {
                self.ask(Op::Write, unit, units);
                self.since.extend((unit..unit + units).map(|u| u as u32));
            }
        }
    }

    fn rest(&mut self, span: Nanos) {
        let to = self.d.now() + span;
        self.d.advance(to, &mut Vec::new());
    }

    fn flush(&mut self) {
        self.ask(Op::Flush, 0, 0);
        for unit in self.since.drain(..) {
            let version = self.d.ftl().version(unit).expect("it was written");
            self.kept.insert(unit, version);
        }
    }

    /// The power goes within three milliseconds and comes back.
    fn cut(&mut self) {
        let at = self.d.now() + Nanos(self.rng.below(3_000_000));
        self.d.power_cut(at, &mut Vec::new());
        self.d.power_on(at + Nanos::from_secs(1));
        self.d.ftl().check();
        for (&unit, &version) in &self.kept {
            let found = self.d.ftl().version(unit);
            assert!(
                found >= Some(version),
                "unit {unit}: {found:?}, not {version}"
            );
        }
        // Data that was not flushed may have come through in part.
        self.since
            .retain(|&unit| self.d.ftl().version(unit).is_some());
    }

    /// Superblocks of a pool that are open and hold something, but less than they could.
    fn half_full(&self, pool: Pool) -> usize {
        let ftl = self.d.ftl();
        let blocks = ftl.superblocks().iter();
        let part = |valid, mode| valid > 0 && valid < ftl.layout().units(mode);
        blocks
            .filter(|b| b.state == State::Open && b.pool == pool && part(b.valid, b.mode))
            .count()
    }
}

/// A stream: its name, the drive, how many superblocks of its pool are to be half full, and what
/// it has programmed.
type Case<'a> = (&'a str, Vec<&'a str>, Pool, usize, fn(&Counters) -> u64);

#[test]
fn half_full_superblocks_of_every_stream() {
    let uncached = |more: &[&'static str]| [&UNCACHED[..], more].concat();
    let hot_cold = ["gc.separation=oracle", "gc.low=7", "gc.high=8"];
    let cases: [Case<'_>; 7] = [
        ("cache", vec![], Pool::Cache, 1, |c| c.slc_units),
        ("tier", TIER.to_vec(), Pool::Tier, 1, |c| c.tier_units),
        ("direct", uncached(&[]), Pool::Data, 1, |c| c.direct_units),
        ("fold", vec![], Pool::Data, 1, |c| c.fold_units),
        ("gc", uncached(&[]), Pool::Data, 2, |c| c.gc_units),
        ("hot, cold", uncached(&hot_cold), Pool::Data, 3, |c| {
            c.gc_units
        }),
        (
            "map",
            uncached(&["map.residency=demand", "map.cache=64 KiB"]),
            Pool::Map,
            1,
            |c| c.map_units,
        ),
    ];
    for (name, sets, pool, count, programmed) in cases {
        let collects = name == "gc" || name == "hot, cold";
        let small = ["drive.capacity=512 MB", "nand.blocks_per_plane=100"];
        let sets = if collects {
            [&sets[..], &small].concat()
        } else {
            sets
        };
        let mut rig = Rig::new(&sets);
        for round in 0..4 {
            let before = programmed(rig.d.counters());
            let busy =
                |rig: &Rig| rig.half_full(pool) >= count && programmed(rig.d.counters()) > before;
            let mut tries = 0;
            rig.write(5);
            rig.flush();
            while !busy(&rig) {
                rig.write(3);
                tries += 1;
                assert!(tries < 2_000, "{name}, round {round}: nothing is half full");
            }
            rig.cut();
        }
    }
}

#[test]
fn a_second_tier_through_power_cuts() {
    let mut rig = Rig::new(&TIER);
    // Into the first tier, the second, past both, and in the middle of folding the two.
    for (runs, idle) in [
        (20, 0),
        (30, 0),
        (40, 0),
        (20, 0),
        (1, 1_050),
        (1, 1_500),
        (60, 1_100),
    ] {
        rig.write(runs);
        rig.flush();
        rig.write(2);
        rig.rest(Nanos::from_ms(idle));
        rig.cut();
    }
    let c = *rig.d.counters();
    assert!(c.slc_units > 0 && c.tier_units > 0 && c.direct_units > 0 && c.fold_units > 0);
    assert!(c.recovery_units > 0, "what was open is written back");
    // Once it has rested, both tiers are empty and take as much as those of a new drive.
    rig.ask(Op::Read, 0, 1);
    rig.rest(Nanos::from_secs(600));
    assert_eq!(rig.d.ftl().cache_units().1 + rig.d.ftl().tier_units().1, 0);
    let before = *rig.d.counters();
    let mut new = Rig::new(&TIER);
    for rig in [&mut rig, &mut new] {
        rig.write(110);
    }
    let (old, new) = (rig.d.counters(), new.d.counters());
    let superblock = rig
        .d
        .ftl()
        .layout()
        .units(flashtwin_ftl::layout::Mode::Tier);
    for (old, new) in [
        (old.slc_units - before.slc_units, new.slc_units),
        (old.tier_units - before.tier_units, new.tier_units),
    ] {
        assert!(
            old.abs_diff(new) <= u64::from(superblock),
            "{old} units, and new {new}"
        );
    }
}
