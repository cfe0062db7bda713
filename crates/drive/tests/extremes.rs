//! Values at the ends of what a spec may say: each drive lives a small life, keeps its invariants
//! and never sticks.

use crate::common::asks::{self, UNCACHED, single};
use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;

/// 40 MB on two dies of two planes.
const SMALL: [&str; 15] = [
    "drive.capacity=40 MB",
    "nand.planes=2",
    "nand.wordlines_per_block=8",
    "nand.blocks_per_plane=60",
    "ftl.system=0",
    "controller.write_buffer=384 KiB",
    "controller.read_ahead=64 KiB",
    "slc_cache.size=4 MB",
    "slc_cache.rearm=1 MB",
    "fold.reserve=4 MB",
    "fold.idle_after=1 s",
    "gc.low=6",
    "gc.high=7",
    "fold.pace=1.5",
    "gc.reserve=3",
];

/// Writes, reads, trims, flushes, rests, a purge and cuts.
fn live(d: &mut Drive) {
    d.enable_power_cuts();
    let units = d.capacity_bytes() / 4096;
    let mut rng = Rng::new(1, 2);
    for round in 0..4 {
        for at in (0..units * 8).step_by(256) {
            single(d, Op::Write, at, 256.min(units * 8 - at) as u32);
        }
        for _ in 0..40 {
            let mut done = Vec::new();
            let depth = d.queue_depth().min(8);
            for tag in 0..depth {
                let op = [
                    Op::Write,
                    Op::Write,
                    Op::Write,
                    Op::Read,
                    Op::Trim,
                    Op::Flush,
                ];
                let op = op[rng.below(6) as usize];
                let lba = rng.below(units * 8 - 64);
                let sectors = if op == Op::Flush {
                    0
                } else {
                    1 + rng.below(64) as u32
                };
                d.submit(d.now(), Request::new(tag, op, lba, sectors));
            }
            while done.len() < depth as usize {
                let due = d.next_due().expect("commands are under way");
                d.advance(due, &mut done);
            }
        }
        let to = d.now() + Nanos::from_secs(10);
        d.advance(to, &mut Vec::new());
        d.ftl().check();
        match round {
            0 => {
                d.power_cut(d.now(), &mut Vec::new());
                d.power_on(d.now());
            }
            1 => {
                d.purge();
            }
            2 => {
                d.shut_down();
                d.power_on(d.now() + Nanos(1));
            }
            _ => {}
        }
        d.ftl().check();
        assert!(d.smart().is_object());
    }
}

#[test]
fn every_end_of_every_range_makes_a_drive_that_lives() {
    let table: &[&[&str]] = &[
        &[],
        &["controller.command_time=0", "controller.gather_time=1 ns"],
        &["link.queue_depth=1", "controller.cores=64"],
        &["link.kind=nvme", "link.queues=65535", "link.queue_depth=1"],
        &[
            "controller.read_ahead=4 KiB",
            "controller.read_ahead_streams=256",
        ],
        &["controller.read_ahead=16 TiB"],
        &["controller.trim_gb_time=10 h", "controller.trim_alone=true"],
        &[
            "nand.suspend.program=true",
            "nand.suspend.erase=true",
            "nand.suspend.entry=0",
            "nand.suspend.penalty=0",
            "nand.suspend.most=1000000",
            "nand.suspend.reads=1",
        ],
        &[
            "nand.suspend.program=true",
            "nand.suspend.entry=1 h",
            "nand.suspend.most=1",
        ],
        &[
            "nand.independent_planes=true",
            "nand.suspend.erase=true",
            "nand.cache_program=true",
        ],
        &["fold.rate=1 B/s"],
        &["fold.rate=1000000 GB/s"],
        &["fold.pace=1000"],
        &["fold.low=1", "fold.high=1000000"],
        &[
            "fold.path=copyback",
            "fold.check_every=1",
            "fold.check_cycles=0",
        ],
        &["slc_cache.reclaim=0.999"],
        &["slc_cache.when_full=direct", "fold.rearm_pace=1000"],
        &["slc_cache.when_full=mixed", "slc_cache.direct_share=0.001"],
        &["slc_cache.when_full=mixed", "slc_cache.direct_share=0.999"],
        &["slc_cache.when_full=fold-first", "slc_cache.size=1 MB"],
        &[
            "slc_cache.size=0",
            "slc_cache.size_by_fill=[\"0 %: 0\", \"50 %: 8 MB\", \"100 %: 0\"]",
        ],
        &["slc_cache.mode=whole-drive", "slc_cache.size=0"],
        &["slc_cache.admit=small", "slc_cache.admit_limit=1 B"],
        &[
            "slc_cache.admit=random",
            "slc_cache.admit_limit=1 B",
            "slc_cache.when_full=direct",
        ],
        &["gc.policy=d-choices", "gc.choices=1000"],
        &["gc.policy=random", "gc.pace=stop-the-world"],
        &[
            "gc.idle_after=1 ns",
            "gc.idle_target=1000000",
            "fold.idle_after=1 ns",
        ],
        &["gc.recycler=settled"],
        &["wear.static_threshold=1", "wear.dynamic=least-worn"],
        &["wear.static_threshold=1", "wear.dynamic=none"],
        &[
            "wear.program_failures=1000",
            "wear.failure_growth=0",
            "wear.spares=1000000",
        ],
        &[
            "wear.erase_failures=1000",
            "wear.failure_growth=64",
            "nand.native.endurance=1",
        ],
        &[
            "nand.slc.endurance=1",
            "nand.native.endurance=1",
            "wear.read_only_at=rated-wear",
        ],
        &["wear.weak_percent=2", "wear.bad_percent=1", "wear.spares=8"],
        &[
            "errors.correctable=1",
            "errors.native.fresh=1000",
            "errors.slc.fresh=1000",
            "errors.refresh_at=0.001",
        ],
        &[
            "errors.correctable=4096",
            "errors.page_spread=1",
            "errors.retry_steps=32",
            "errors.retry_gain=1000",
            "errors.soft_gain=1000",
            "errors.refresh_at=50",
            "errors.native.retention=1000",
            "errors.native.wear=1000",
            "errors.wear_power=1000",
            "errors.retention_power=0.001",
            "nand.native.endurance=1",
        ],
        &[
            "thermal.capacity=1 mJ/K",
            "thermal.resistance=1 mK/W",
            "thermal.fan=1000",
        ],
        &[
            "thermal.throttle.start=25.002 C",
            "thermal.throttle.stop=25.001 C",
            "thermal.throttle.speed=0.9",
        ],
        &[
            "power.light.after=1 ns",
            "power.light.entry=1 ms",
            "power.deep.after=1 s",
            "power.deep.exit=1 s",
        ],
        &[
            "ftl.system=20 MB",
            "ftl.checkpoint=1 B",
            "ftl.trim_journal=true",
            "nand.blocks_per_plane=100",
        ],
        &["ftl.superblock_dies=1", "controller.write_buffer=192 KiB"],
        &["ftl.mapping_unit=32 KiB"],
        &[
            "nand.page_size=4 KiB",
            "controller.write_buffer=96 KiB",
            "slc_cache.size=1 MB",
            "slc_cache.rearm=256 KiB",
            "nand.blocks_per_plane=240",
            "fold.reserve=1 MB",
        ],
        &["nand.codeword=1 KiB", "ftl.mapping_unit=32 KiB"],
        &[
            "map.residency=demand",
            "map.cache=64 KiB",
            "map.entry=64",
            "map.journal=4 KiB",
            "map.idle_after=1 ns",
            "map.write_on_flush=true",
            "nand.blocks_per_plane=80",
        ],
        &[
            "map.residency=demand",
            "map.journal=32 GiB",
            "nand.blocks_per_plane=80",
        ],
        &[
            "controller.acknowledge=write-through",
            "controller.gather=false",
            "controller.overlap=false",
        ],
        &["controller.plp=true", "controller.secure_erase=crypto"],
        &[
            "controller.end_to_end=true",
            "controller.read_priority=false",
        ],
        &["nand.tier.bits=2", "slc_cache.tier_size=4 MB"],
        &[
            "slc_cache.mode=hybrid",
            "slc_cache.static_size=2 MB",
            "slc_cache.worn=close",
            "nand.slc.endurance=3",
        ],
    ];
    for sets in table {
        println!("{sets:?}");
        live(&mut asks::drive(&[&SMALL, sets]));
    }
    let uncached: &[&[&str]] = &[
        &[
            "nand.cell=slc",
            "nand.native.tr=45 us",
            "nand.blocks_per_plane=180",
        ],
        &[
            "nand.cell=qlc",
            "nand.native.tr=45 us",
            "nand.native.second_pass=1 ms",
            "nand.native.third_pass=1 ms",
            "nand.native.fourth_pass=1 ms",
            "nand.native.pass_distance=7",
            "controller.write_buffer=8 MiB",
            "nand.wordlines_per_block=200",
        ],
        &[
            "nand.native.second_pass=1 ms",
            "nand.native.pass_distance=0",
        ],
        &[
            "compression.best_ratio=8",
            "controller.write_buffer=800 KiB",
            "nand.wordlines_per_block=16",
            "compression.rate=1 MB/s",
            "controller.gather_time=1 ns",
        ],
        &[
            "gc.separation=oracle",
            "gc.low=7",
            "gc.high=8",
            "gc.hot_share=0.001",
            "gc.hot_pool=0.1",
        ],
        &["gc.separation=hot-cold", "gc.low=7", "gc.high=8"],
        &["gc.separation=none", "gc.pace=stop-the-world"],
        &[
            "slc_cache.mode=lower-pages",
            "nand.native.tprog=[\"1 ms\", \"2 ms\", \"3 ms\"]",
        ],
        &[
            "ftl.paired_pages=lost",
            "nand.native.tprog=[\"1 ms\", \"2 ms\", \"3 ms\"]",
        ],
    ];
    for sets in uncached {
        println!("{sets:?}");
        live(&mut asks::drive(&[&SMALL, &UNCACHED, sets]));
    }
}
