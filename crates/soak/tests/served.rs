//! A drive that draws its host does what one does that is given each request and asked for what has
//! completed: for random drives and jobs, all that is seen and all that is kept is the same.
//!
//! `SERVED=FIRST,COUNT cargo test -p flashtwin-soak --test soak served` draws others.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Request};
use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Config, Drive};
use flashtwin_host::{Flow, Outcome, Phase, Progress, run};
use flashtwin_soak::draw::{self, between, pick};
use flashtwin_workload::{RawJob, ReadWrite};

/// A drive behind the calls of a [`Device`] that only takes and answers.
struct Given<'a>(&'a mut Drive);

impl Device for Given<'_> {
    fn queue_depth(&self) -> u32 {
        self.0.queue_depth()
    }

    fn capacity_bytes(&self) -> u64 {
        self.0.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        self.0.submit(now, request);
    }

    fn next_due(&self) -> Option<Nanos> {
        self.0.next_due()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        self.0.advance(to, done);
    }
}

/// A job of any kind; most are of small random writes, which have a way of their own.
fn job(rng: &mut Rng, capacity: u64) -> RawJob {
    use ReadWrite::{RandRead, RandRw, RandTrimWrite, RandWrite, Read, Rw, Trim, Write};
    let kinds = [
        RandWrite,
        RandWrite,
        RandWrite,
        Write,
        Read,
        RandRead,
        RandRw,
        Rw,
        Trim,
        RandTrimWrite,
    ];
    let blocks = [
        4096,
        4096,
        4096,
        512,
        2048,
        16_384,
        12_288,
        131_072,
        1 << 20,
    ];
    let block_bytes = pick(rng, &blocks).min(capacity / 8 / 512 * 512);
    let mut job = RawJob::new("drawn", pick(rng, &kinds), block_bytes, 1);
    job.depth = pick(rng, &[1, 2, 8, 32, 100]);
    job.threads = pick(rng, &[1, 1, 3]);
    job.io_bytes = Some(block_bytes * between(rng, 1, 1 + (4 << 20) / block_bytes));
    job.seed = rng.below(1 << 40);
    job.sync = rng.chance(10);
    job.compress_percent = rng.below(101) as u32;
    if rng.chance(20) {
        job.host_ns = between(rng, 1, 20_000);
    }
    if rng.chance(20) {
        job.think_ns = between(rng, 1, 200_000);
    }
    if rng.chance(20) {
        job.rate_bytes_s = Some(between(rng, 1 << 20, 1 << 28));
    }
    job
}

fn phases(rng: &mut Rng, capacity: u64) -> Vec<Phase> {
    let jobs = |rng: &mut Rng| {
        let count = pick(rng, &[1, 1, 2]);
        let drawn = (0..count).map(|_| job(rng, capacity).check(capacity));
        drawn.collect::<Result<Vec<_>, _>>()
    };
    let sample = Nanos(between(rng, 100_000, 50_000_000));
    let phase = |rng: &mut Rng| jobs(rng).ok().map(|jobs| Phase::new(jobs, sample));
    (0..4).filter_map(|_| phase(rng)?.ok()).collect()
}

/// All that is seen of the phases, and the drive as it is stored.
fn life(
    drive: &mut Drive,
    phases: &[Phase],
    stops: u64,
    mut once: impl FnMut(&mut Drive, &Phase, &mut dyn FnMut(Progress) -> Flow) -> Outcome,
) -> (Vec<Outcome>, Vec<Vec<i64>>, Vec<u8>) {
    let mut ticks = 0;
    let mut tick = |_: Progress| {
        ticks += 1;
        if ticks == stops {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    drive.restart_xray(Nanos::from_ms(3));
    let outcomes = phases.iter().map(|phase| once(drive, phase, &mut tick));
    let outcomes = outcomes.collect();
    let columns = drive.close_xray().columns().to_vec();
    let identity = Identity {
        spec_hash: "0".repeat(64),
        seed: 1,
    };
    let mut bytes = Vec::new();
    drive.save(&mut bytes, &identity).expect("it is idle");
    (outcomes, columns, bytes)
}

fn is_the_same(seed: u64) -> u64 {
    let mut rng = Rng::new(seed, 5);
    let (config, sets) = draw::drive(&mut rng);
    let phases = phases(&mut rng, config.capacity_bytes);
    let stops = rng.below(4);
    let cuts = seed % 3 == 1;
    lives_alike(&config, &sets, &phases, (seed, stops, cuts))
}

/// Lives both ways on a drive; the answer is how many requests there were.
fn lives_alike(
    config: &Config,
    sets: &str,
    phases: &[Phase],
    (seed, stops, cuts): (u64, u64, bool),
) -> u64 {
    let new = || {
        let mut drive = Drive::new(config, seed);
        if cuts {
            drive.enable_power_cuts();
        }
        drive
    };
    let drawn = life(&mut new(), phases, stops, |drive, phase, tick| {
        run(drive, drive.now(), phase, &mut |progress| tick(progress))
    });
    let given = life(&mut new(), phases, stops, |drive, phase, tick| {
        let now = drive.now();
        run(&mut Given(drive), now, phase, &mut |progress| {
            tick(progress)
        })
    });
    assert_eq!(drawn.0, given.0, "seed {seed}: {sets}");
    assert!(drawn.1 == given.1, "seed {seed}: the X-ray of {sets}");
    assert!(drawn.2 == given.2, "seed {seed}: the state of {sets}");
    drawn
        .0
        .iter()
        .flat_map(|o| &o.jobs)
        .map(|job| job.ios)
        .sum()
}

#[test]
fn a_drive_that_draws_its_host_does_what_one_does_that_is_given_each_request() {
    let asked = std::env::var("SERVED").ok();
    let numbers = asked.as_deref().map(|text| {
        let mut parts = text.split(',').map(|part| part.parse().expect("a number"));
        (parts.next().expect("the first"), parts.next().unwrap_or(1))
    });
    let (first, count) = numbers.unwrap_or((1, 40));
    let requests: u64 = (first..first + count).map(is_the_same).sum();
    assert!(
        requests > 100 * count,
        "{requests} requests of {count} drives"
    );
}

/// A drive that has nothing to do but to take what the host writes, so that the loop of
/// `drive::filling` serves it, with all that this loop itself handles drawn.
fn plain_drive(rng: &mut Rng) -> (Config, String) {
    let wordlines = pick(rng, &[8, 32]);
    let granule = 192 << 10;
    let buffer = pick(
        rng,
        &[granule, granule + 4096, 704 << 10, 1_000_000 / 4096 * 4096],
    );
    let times = ["0", "2 us", "138 us"];
    let sets = [
        "slc_cache.mode=none".to_owned(),
        "drive.capacity=640 MB".to_owned(),
        "ftl.system=8 MB".to_owned(),
        format!("nand.wordlines_per_block={wordlines}"),
        format!("nand.blocks_per_plane={}", 4096 / wordlines),
        format!("nand.dies_per_channel={}", pick(rng, &[1, 1, 2])),
        format!("nand.cache_program={}", rng.chance(30)),
        format!("controller.write_buffer={buffer} B"),
        format!("controller.gather={}", rng.chance(70)),
        format!("controller.cores={}", pick(rng, &[1, 1, 2, 5])),
        format!("controller.command_time={}", pick(rng, &["0", "4 us"])),
        format!("controller.program_time={}", pick(rng, &times)),
        format!("controller.read_time={}", pick(rng, &times)),
        format!("controller.kib_time={}", pick(rng, &["0", "200 ns"])),
        format!(
            "controller.data_rate={}",
            pick(rng, &["0", "0", "600 MB/s"])
        ),
        format!("link.frame_time={}", pick(rng, &["0", "1 us"])),
    ];
    let refs: Vec<&str> = sets.iter().map(String::as_str).collect();
    (draw::load(&refs), sets.join(" "))
}

/// Mostly whole writes in order, a part of the drive each, with a few other jobs beside them.
fn filling_phases(rng: &mut Rng, capacity: u64) -> Vec<Phase> {
    let filling = |rng: &mut Rng| {
        let block = pick(
            rng,
            &[8192, 65_536, 131_072, 131_072, 1 << 20, 3 << 19, 1_000_448],
        );
        let mut job = RawJob::new("fills", ReadWrite::Write, block, pick(rng, &[1, 2, 8, 32]));
        job.threads = pick(rng, &[1, 1, 2]);
        job.offset = capacity / 8 * rng.below(6) / 4096 * 4096;
        job.io_bytes = Some(block * between(rng, 1, capacity / 8 / block));
        job.sync = rng.chance(10);
        job
    };
    let sample = Nanos(between(rng, 100_000, 20_000_000));
    let phase = |rng: &mut Rng| {
        let mut jobs = vec![filling(rng).check(capacity).expect("a right job")];
        if rng.chance(30) {
            jobs.push(job(rng, capacity).check(capacity).ok()?);
        }
        Phase::new(jobs, sample).ok()
    };
    (0..3).filter_map(|_| phase(rng)).collect()
}

#[test]
fn a_drive_that_is_only_filled_does_the_same_in_its_loop() {
    let mut requests = 0;
    for seed in 1..=24 {
        let mut rng = Rng::new(seed, 6);
        let (config, sets) = plain_drive(&mut rng);
        assert!(Drive::new(&config, seed).ftl().only_fills(), "{sets}");
        let phases = filling_phases(&mut rng, config.capacity_bytes);
        let stops = rng.below(4);
        requests += lives_alike(&config, &sets, &phases, (seed, stops, false));
    }
    assert!(requests > 10_000, "{requests} requests");
}
