//! What the host sees of windowed greedy, beside the orders that a spec can name: the rate of
//! random writes in the steady state, and the pages programmed in the drive's SMART data.

use std::path::Path;

use flashtwin_base::Nanos;
use flashtwin_drive::{Config, Drive, SnapshotError, snapshot, spec};
use flashtwin_ftl::lifetimes::Inferred;
use flashtwin_ftl::{Chosen, Policies};
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::{RawJob, ReadWrite};
use windowed_greedy::WindowedGreedy;

const SEED: u64 = 7;
const UNIT_BYTES: u64 = 4096;
/// 640 superblocks of 256 units, and 15 % more of them than the host sees.
const UNITS: u64 = 142_000;

/// The design without a cache, made small.
fn config(order: &str) -> Config {
    let design = Path::new(env!("CARGO_MANIFEST_DIR")).join("no-cache.toml");
    let sets = [
        &format!("drive.capacity={} B", UNITS * UNIT_BYTES),
        "nand.channels=2",
        "nand.dies_per_channel=1",
        "nand.blocks_per_plane=640",
        "nand.wordlines_per_block=8",
        "ftl.system=0",
        "controller.write_buffer=256 KiB",
        "smart.family=micron",
        &format!("gc.policy={order}"),
    ];
    let sets = sets.map(str::to_owned);
    let spec = spec::load(&design.display().to_string(), &[], &[], &sets);
    spec.unwrap_or_else(|errors| panic!("{errors:?}")).config
}

fn write<P: Policies>(drive: &mut Drive<P>, job: RawJob) -> Outcome {
    let job = job.check(UNITS * UNIT_BYTES).expect("a job");
    let phase = Phase::new(vec![job], Nanos::from_ms(50)).expect("one job");
    let now = drive.now();
    run(drive, now, &phase, &mut |_| Flow::Continue)
}

/// Random writes of a unit, as many as the drive has.
fn overwrite<P: Policies>(drive: &mut Drive<P>, seed: u64) -> Outcome {
    let mut job = RawJob::new("random", ReadWrite::RandWrite, UNIT_BYTES, 32);
    job.seed = seed;
    write(drive, job)
}

/// Pages programmed for the host, and by the firmware.
fn pages<P: Policies>(drive: &Drive<P>) -> (f64, f64) {
    let smart = drive.smart();
    let table = smart["ata_smart_attributes"]["table"].as_array();
    let raw = |id: u64| {
        let row = table.and_then(|rows| rows.iter().find(|row| row["id"] == id));
        row.and_then(|row| row["raw"]["value"].as_f64())
            .expect("an attribute")
    };
    (raw(247), raw(248))
}

/// What the host sees of a drive in its steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    waf: f64,
    bytes_per_s: f64,
}

fn steady<P: Policies>(mut drive: Drive<P>) -> Seen {
    write(
        &mut drive,
        RawJob::new("fill", ReadWrite::Write, 128 << 10, 8),
    );
    for seed in 1..4 {
        overwrite(&mut drive, seed);
    }
    let (host, own) = pages(&drive);
    let last = overwrite(&mut drive, 4);
    let (host, own) = (pages(&drive).0 - host, pages(&drive).1 - own);
    drive.ftl().check();
    Seen {
        waf: 1.0 + own / host,
        bytes_per_s: last.jobs[0].bytes as f64 / last.jobs[0].duration.as_secs_f64(),
    }
}

fn named(order: &str) -> Seen {
    steady(Drive::new(&config(order), SEED))
}

/// The order beside what a spec without a separation by lifetimes has.
fn chosen(order: WindowedGreedy) -> Chosen<WindowedGreedy> {
    Chosen {
        order,
        lifetimes: Inferred::Alike,
    }
}

fn windowed(window: usize) -> Seen {
    let order = WindowedGreedy { window };
    steady(Drive::with_policies(&config("greedy"), SEED, chosen(order)))
}

#[test]
fn a_window_of_one_is_fifo_to_the_last_byte() {
    assert_eq!(windowed(1), named("fifo"));
}

#[test]
fn a_window_as_long_as_the_drive_is_greedy() {
    let (all, greedy) = (windowed(640), named("greedy"));
    // Greedy has the host pay the price of each victim and keeps a few more superblocks free.
    assert!(
        (all.waf / greedy.waf - 1.0).abs() < 0.02,
        "{all:?}, {greedy:?}"
    );
}

#[test]
fn a_longer_window_copies_less_and_the_host_is_faster_for_it() {
    let seen = [1, 16, 64, 640].map(windowed);
    for pair in seen.windows(2) {
        assert!(pair[0].waf > pair[1].waf, "{seen:?}");
        assert!(pair[0].bytes_per_s < pair[1].bytes_per_s, "{seen:?}");
    }
}

#[test]
fn a_drive_of_another_order_does_not_take_its_snapshot() {
    let config = config("greedy");
    let order = WindowedGreedy { window: 16 };
    let mut drive = Drive::with_policies(&config, SEED, chosen(order));
    write(
        &mut drive,
        RawJob::new("fill", ReadWrite::Write, 128 << 10, 8),
    );
    let hash = "0".repeat(64);
    let identity = snapshot::Identity {
        spec_hash: hash.clone(),
        seed: SEED,
    };
    let mut bytes = Vec::new();
    drive.save(&mut bytes, &identity).expect("it is saved");
    let loaded = Drive::load_with_policies(&config, &hash, chosen(order), &bytes[..]);
    let (mut loaded, _) = loaded.expect("it is loaded");
    let (again, on) = (overwrite(&mut loaded, 9), overwrite(&mut drive, 9));
    assert_eq!(again.series.bytes, on.series.bytes);
    let other = Drive::load(&config, &hash, &bytes[..]);
    assert!(matches!(
        other,
        Err(SnapshotError::Version { what: "state", .. })
    ));
}
