//! The whole simulation as a battery runs it: the BX500 at full size, through the host's loop, with
//! series, histograms and X-ray every 10 ms.
//!
//! The figures without a prefix are of the geometry without SLC cache and with all of its map in
//! RAM: what they can be held against is the bare page map. Those named `cached_` are of the drive
//! with the catalogue's cache, its map in RAM as well.

use std::path::{Path, PathBuf};

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos};
use flashtwin_drive::precondition::Span;
use flashtwin_drive::xray::COLUMNS;
use flashtwin_drive::{Config, Drive, spec};
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::{RawJob, ReadWrite};

use crate::bare_speed::InTurns;
use crate::null::Null;
use crate::stopwatch::timed;
use crate::{Figures, ROUNDS, UNIT_BYTES, WARM_UP, WINDOW};

/// The interval of series and X-ray.
const SAMPLE: Nanos = Nanos::from_ms(10);
/// Requests over which reads and the host's loop are measured.
const READS: u64 = 4_000_000;
/// Bytes of a write of a fill.
const FILL_BYTES: u64 = 1 << 20;

/// The bare map is in RAM, and so is that of what is held against it.
const MAP_IN_RAM: &str = "map.residency=dram";

/// What turns the catalogue's drive into its geometry without SLC cache.
pub const NO_CACHE: &[&str] = &[
    MAP_IN_RAM,
    "slc_cache.mode=none",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0",
    "gc.low=4",
    "gc.high=5",
];

/// What makes it a drive with 7 % over-provisioning.
pub const SEVEN_PERCENT: &[&str] = &["drive.capacity=256648216576 B"];

/// The drive that is measured, with values set over the catalogue's.
///
/// # Panics
/// When the catalogue of this checkout does not hold it: the bench is of no use elsewhere.
#[must_use]
pub fn bx500(sets: &[&str]) -> Config {
    let catalogue = Path::new(env!("CARGO_MANIFEST_DIR"));
    let catalogue = catalogue.join("../../python/flashtwin/catalogue/drives");
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    match spec::load("bx500-240", &[PathBuf::from(&catalogue)], &[], &sets) {
        Ok(spec) => spec.config,
        Err(errors) => panic!(
            "bx500-240 of {} does not load: {errors:?}",
            catalogue.display()
        ),
    }
}

/// What one drive comes to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speed {
    /// Gigabytes a second of a sequential fill.
    pub fill_gb_per_s: f64,
    /// The same in commands of 128 KiB, measured once.
    pub fill_128k_gb_per_s: f64,
    /// Seconds of it.
    pub fill_seconds: f64,
    /// 4 KiB writes a second in the steady state.
    pub random_write_iops: f64,
    /// Bytes programmed a host byte meanwhile.
    pub random_write_waf: f64,
    /// What theory says of it, at the over-provisioning that is left beside free and open
    /// superblocks.
    pub random_write_waf_theory: f64,
    /// 4 KiB reads a second.
    pub random_read_iops: f64,
    /// Bytes of state a mapping unit.
    pub bytes_per_unit: f64,
}

/// Measures a drive: three fills of fresh ones, then random writes and reads on the last, in turns
/// with the fills and windows of a bare map where there is one.
#[must_use]
pub fn measure(config: &Config, mut beside: Option<&mut InTurns>) -> Speed {
    let mut speed = Speed {
        fill_seconds: f64::INFINITY,
        ..Speed::default()
    };
    let mut drive = Drive::new(config, 1);
    for round in 0..ROUNDS {
        if round > 0 {
            drive = Drive::new(config, 1);
        }
        let (seconds, _) = timed(|| fill(&mut drive));
        speed.fill_seconds = speed.fill_seconds.min(seconds);
        if let Some(bare) = &mut beside {
            bare.fill();
        }
    }
    speed.fill_gb_per_s = config.capacity_bytes as f64 / speed.fill_seconds / 1e9;
    let mut small = Drive::new(config, 1);
    let (seconds, _) = timed(|| fill_128k(&mut small));
    speed.fill_128k_gb_per_s = config.capacity_bytes as f64 / seconds / 1e9;
    drop(small);
    let mut seed = 0;
    let mut random = |drive: &mut Drive, rw, ios: u64| {
        seed += 1;
        let (seconds, ()) = timed(|| run_random(drive, rw, ios, seed));
        ios as f64 / seconds
    };
    let units = config.capacity_bytes as f64 / UNIT_BYTES as f64;
    random(&mut drive, ReadWrite::RandWrite, (units * WARM_UP) as u64);
    if let Some(bare) = &mut beside {
        bare.warm_up();
    }
    let before = drive.counters().programmed_units();
    let window = (units * WINDOW) as u64;
    for _ in 0..ROUNDS {
        if let Some(bare) = &mut beside {
            bare.overwrite();
        }
        let iops = random(&mut drive, ReadWrite::RandWrite, window);
        speed.random_write_iops = speed.random_write_iops.max(iops);
    }
    speed.random_write_waf =
        (drive.counters().programmed_units() - before) as f64 / (u64::from(ROUNDS) * window) as f64;
    speed.random_write_waf_theory = theory(&mut drive);
    for _ in 0..ROUNDS {
        let iops = random(&mut drive, ReadWrite::RandRead, READS);
        speed.random_read_iops = speed.random_read_iops.max(iops);
    }
    speed.bytes_per_unit = drive.bytes_per_unit();
    speed
}

/// The rate of random writes with 7 % over-provisioning, and of preparing a drive without time:
/// a fill, and overwrites in the steady state of the drive with 14.5 %.
#[must_use]
pub fn more_figures() -> Figures {
    let tight = bx500(&[NO_CACHE, SEVEN_PERCENT].concat());
    let units = tight.capacity_bytes as f64 / UNIT_BYTES as f64;
    let mut drive = Drive::new(&tight, 1);
    prepare(&mut drive, WARM_UP, 1);
    let (mut random, window) = (0.0f64, (units * WINDOW) as u64);
    for round in 0..ROUNDS {
        let run = || run_random(&mut drive, ReadWrite::RandWrite, window, u64::from(round));
        random = random.max(window as f64 / timed(run).0);
    }
    drop(drive);
    let (fill, overwrite) = preparing(&bx500(NO_CACHE));
    vec![
        ("random_write_7_iops", random),
        ("precondition_GB_per_s", fill),
        ("precondition_random_iops", overwrite),
    ]
}

/// Gigabytes a second of a fill without time, and random overwrites a second.
fn preparing(config: &Config) -> (f64, f64) {
    let mut drive = Drive::new(config, 1);
    let mut seconds = f64::INFINITY;
    for round in 0..ROUNDS {
        if round > 0 {
            drive = Drive::new(config, 1);
        }
        seconds = seconds.min(timed(|| prepare(&mut drive, 0.0, 1)).0);
    }
    overwrite_untimed(&mut drive, WARM_UP, 2);
    let mut best = 0.0f64;
    for round in 0..ROUNDS {
        let (seconds, writes) =
            timed(|| overwrite_untimed(&mut drive, WINDOW, 3 + u64::from(round)));
        best = best.max(writes as f64 / seconds);
    }
    (config.capacity_bytes as f64 / seconds / 1e9, best)
}

/// Fills a drive without time, and overwrites a share of its units.
fn prepare(drive: &mut Drive, share: f64, seed: u64) {
    const SECTORS: u64 = FILL_BYTES / 512;
    let sectors = drive.capacity_bytes() / UNIT_BYTES * (UNIT_BYTES / 512);
    let blocks = (0..sectors.div_ceil(SECTORS)).map(|at| at * SECTORS);
    let fill = blocks.map(|at| span(at, SECTORS.min(sectors - at)));
    drive.precondition(fill, |_| true);
    overwrite_untimed(drive, share, seed);
}

fn span(lba: u64, sectors: u64) -> Span {
    Span {
        lba,
        sectors: sectors as u32,
        handle: 0,
    }
}

/// Overwrites units at random without time, so many times a share of them; the answer is how many.
fn overwrite_untimed(drive: &mut Drive, share: f64, seed: u64) -> u64 {
    let units = drive.capacity_bytes() / UNIT_BYTES;
    let (writes, mut rng) = ((units as f64 * share) as u64, Rng::new(seed, 0));
    let unit_sectors = UNIT_BYTES / 512;
    let spans = (0..writes).map(|_| span(rng.below(units) * unit_sectors, unit_sectors));
    drive.precondition(spans, |_| true);
    writes
}

/// Write amplification in the steady state: A = 1/(1 - exp(-alpha/A)), to which greedy collection
/// tends for blocks as large as superblocks are. alpha leaves out what holds no data: the free
/// superblocks of the last run, in the mean, and half of each open one.
fn theory(drive: &mut Drive) -> f64 {
    const OPEN: f64 = 2.0;
    let at = COLUMNS
        .iter()
        .position(|name| *name == "free_superblocks")
        .expect("a column of the X-ray");
    let free = &drive.close_xray().columns()[at];
    let free = free.iter().sum::<i64>() as f64 / free.len().max(1) as f64;
    let layout = drive.ftl().layout();
    let used = f64::from(layout.superblocks) - free - OPEN / 2.0;
    let alpha = used * f64::from(layout.native_units) / f64::from(drive.ftl().logical_units());
    (0..2000).fold(2.0, |a: f64, _| 1.0 / (1.0 - (-alpha / a).exp()))
}

/// Writes the whole drive once, as batteries prepare one: 1 MiB at a depth of 8.
pub fn fill(drive: &mut Drive) -> Outcome {
    run_job(drive, RawJob::new("bench", ReadWrite::Write, FILL_BYTES, 8))
}

/// The same in the smaller commands of the fill battery: 128 KiB at a depth of 32.
pub fn fill_128k(drive: &mut Drive) -> Outcome {
    run_job(drive, job(ReadWrite::Write, 128 << 10))
}

/// A job over the whole drive at a depth of 32, one pass.
fn job(rw: ReadWrite, block_bytes: u64) -> RawJob {
    RawJob::new("bench", rw, block_bytes, 32)
}

fn phase_of(job: RawJob, capacity_bytes: u64) -> Phase {
    let job = job
        .check(capacity_bytes)
        .expect("the bench's own jobs are right");
    Phase::new(vec![job], SAMPLE).expect("one job and an interval")
}

fn run_job(drive: &mut Drive, job: RawJob) -> Outcome {
    let phase = phase_of(job, drive.capacity_bytes());
    let now = drive.now();
    drive.restart_xray(SAMPLE);
    let outcome = run(drive, now, &phase, &mut |_| Flow::Continue);
    drive.close_xray();
    outcome
}

/// Nanoseconds that the host's loop takes for a request, on a device that does nothing.
#[must_use]
pub fn host_loop_ns() -> f64 {
    let capacity = bx500(&[]).capacity_bytes;
    let job = RawJob {
        io_bytes: Some(READS * UNIT_BYTES),
        ..job(ReadWrite::RandRead, UNIT_BYTES)
    };
    let phase = phase_of(job, capacity);
    let once = |_| {
        let mut device = Null::new(capacity, Nanos::from_us(100), 32);
        timed(|| run(&mut device, Nanos::ZERO, &phase, &mut |_| Flow::Continue)).0
    };
    (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min) * 1e9 / READS as f64
}

/// So many random requests of a unit over the whole drive, at a depth of 32.
pub fn run_random(drive: &mut Drive, rw: ReadWrite, requests: u64, seed: u64) {
    let job = RawJob {
        io_bytes: Some(requests * UNIT_BYTES),
        seed,
        ..job(rw, UNIT_BYTES)
    };
    run_job(drive, job);
}

/// The measured parts once each, for a profiler.
pub fn once_through(config: &Config) {
    let mut drive = Drive::new(config, 1);
    fill(&mut drive);
    let units = config.capacity_bytes / UNIT_BYTES;
    run_random(&mut drive, ReadWrite::RandWrite, units, 1);
    run_random(&mut drive, ReadWrite::RandRead, READS, 2);
}

/// The figures of the geometry without SLC cache, in turns with a bare map, then of the drive as it
/// is.
#[must_use]
pub fn figures(bare: &mut InTurns) -> Figures {
    let plain = measure(&bx500(NO_CACHE), Some(bare));
    let cached = measure(&bx500(&[MAP_IN_RAM]), None);
    vec![
        ("fill_GB_per_s", plain.fill_gb_per_s),
        ("fill_240GB_s", plain.fill_seconds),
        ("fill_128k_GB_per_s", plain.fill_128k_gb_per_s),
        ("random_write_iops", plain.random_write_iops),
        ("random_write_waf", plain.random_write_waf),
        ("random_write_waf_theory", plain.random_write_waf_theory),
        ("random_read_iops", plain.random_read_iops),
        ("bytes_per_unit", plain.bytes_per_unit),
        ("cached_fill_GB_per_s", cached.fill_gb_per_s),
        ("cached_fill_240GB_s", cached.fill_seconds),
        ("cached_random_write_iops", cached.random_write_iops),
        ("cached_random_write_waf", cached.random_write_waf),
        ("cached_random_read_iops", cached.random_read_iops),
        ("host_loop_ns", host_loop_ns()),
    ]
}
