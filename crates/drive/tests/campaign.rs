//! Random drives under random hosts, against a model that knows only which units are written.
//!
//! Each seed draws a small drive over all policies (geometry, cache, folding, collection,
//! controller) and a host that mixes reads, writes, trims, flushes, rests and purges at changing
//! depths. Every command has to be answered once and in order of time, nothing may be stuck, and
//! between phases the firmware's invariants hold and the mapped units are those that were written
//! and not trimmed.
//!
//! `CAMPAIGN=FIRST,COUNT cargo test -p flashtwin-drive --test campaign` runs other seeds.

mod common;

use std::fmt::Write as _;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::{Config, Drive, spec};
use flashtwin_ftl::layout::Mode;

/// Seeds of an ordinary run.
const SEEDS: std::ops::Range<u64> = 0..700;
/// Every so many seeds the whole run is done again and has to give the same answers.
const TWICE: u64 = 8;
/// A command that is not answered after so long in a busy drive counts as stuck.
const PATIENCE: Nanos = Nanos::from_secs(600);

/// Says which seed and which drive, should the test fail.
struct Culprit(u64, String);

impl Drop for Culprit {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("campaign seed {}: {}", self.0, self.1);
        }
    }
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

fn between(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

/// Flash that is drawn, and what follows from it.
struct Shape {
    bits: u64,
    superblocks: u64,
    /// Bytes of data in a superblock in SLC mode.
    slc: u64,
    /// Bytes of one native program.
    granule: u64,
    /// Bytes of a mapping unit.
    unit: u64,
    parity: bool,
    /// Granules that wait between two passes at most.
    between_passes: u64,
    /// Groups of dies that superblocks are cut from.
    groups: u64,
    /// All pages of a wordline are programmed at once.
    one_shot: bool,
    sets: Vec<String>,
}

fn shape(rng: &mut Rng) -> Shape {
    let cell = pick(rng, &["mlc", "tlc", "tlc", "qlc", "slc"]);
    let bits = match cell {
        "slc" => 1,
        "mlc" => 2,
        "tlc" => 3,
        _ => 4,
    };
    let channels = between(rng, 1, 3);
    let per_channel = between(rng, 1, 2);
    let planes = pick(rng, &[1, 1, 2, 4]);
    let wordlines = pick(rng, &[2, 4, 5, 8, 16]);
    let page = pick(rng, &[4u64, 8, 16]) << 10;
    let superblocks = between(rng, 12, 48);
    let one_shot = rng.chance(60);
    let unit = pick(rng, &[4u64, 4, 4, 8, 16, 32, 64]) << 10;
    let two = one_shot && rng.chance(30);
    let distance = rng.below(wordlines.min(4));
    let dies = channels * per_channel;
    let group = match rng.below(3) {
        0 => (1..=dies)
            .filter(|d| dies.is_multiple_of(*d))
            .nth(rng.below(2) as usize),
        _ => None,
    };
    let groups = group.map_or(1, |group| dies / group);
    let parity = dies / groups > 1 && rng.chance(40);
    let blocks = superblocks.div_ceil(groups).max(8);
    let superblocks = blocks * groups;
    let list = |texts: &[&str]| format!("[{}]", texts[..bits].join(","));
    let reads = list(&["\"45 us\"", "\"60 us\"", "\"75 us\"", "\"90 us\""]);
    let programs = list(&["\"500 us\"", "\"1 ms\"", "\"2 ms\"", "\"3 ms\""]);
    let sets = vec![
        format!("nand.cell={cell}"),
        format!("nand.channels={channels}"),
        format!("nand.dies_per_channel={per_channel}"),
        format!("nand.planes={planes}"),
        format!("nand.wordlines_per_block={wordlines}"),
        format!("nand.page_size={page} B"),
        format!("nand.blocks_per_plane={blocks}"),
        format!("nand.native.tr={reads}"),
        format!(
            "nand.native.tprog={}",
            if one_shot { "\"4 ms\"" } else { &programs }
        ),
        format!("nand.cache_program={}", rng.chance(50)),
        format!("nand.native.second_pass={}", if two { "3 ms" } else { "0" }),
        format!("nand.native.pass_distance={distance}"),
        format!("nand.native.pass_transfer={}", rng.chance(50)),
        format!("ftl.mapping_unit={unit} B"),
        format!("ftl.superblock_dies={}", group.unwrap_or(0)),
        format!("ftl.parity={}", if parity { "stripe" } else { "none" }),
    ];
    Shape {
        bits: bits as u64,
        superblocks,
        slc: (dies / groups - u64::from(parity)) * planes * wordlines * page,
        parity,
        groups,
        between_passes: if two { (distance + 1) * dies } else { 0 },
        granule: planes * page * if one_shot { bits as u64 } else { 1 },
        unit,
        one_shot,
        sets,
    }
}

/// Cache, folding, collection and what is left for the host.
fn policies(rng: &mut Rng, shape: &mut Shape) {
    let native = shape.slc * shape.bits;
    let mode = if shape.bits == 1 {
        "none"
    } else if !shape.one_shot && shape.groups == 1 && rng.chance(20) {
        "lower-pages"
    } else {
        pick(rng, &["none", "static", "dynamic", "hybrid", "whole-drive"])
    };
    let uncached = matches!(mode, "none" | "lower-pages");
    let system = between(rng, 0, 2);
    let most = (shape.superblocks / 3).max(1);
    let part = |rng: &mut Rng, asked: bool| if asked { between(rng, 1, most) } else { 0 };
    let borrowed = part(rng, matches!(mode, "dynamic" | "hybrid"));
    let own = part(rng, matches!(mode, "static" | "hybrid"));
    let borrows = !uncached && mode != "static";
    let rule = if uncached {
        "direct"
    } else {
        pick(rng, &["direct", "fold-first", "staged", "mixed"])
    };
    let pace = match (mode, rule) {
        (_, "staged" | "mixed") => pick(rng, &["1", "1.5", "3"]),
        ("none" | "lower-pages", _) | ("static", "direct") => "0",
        ("static", _) => pick(rng, &["0", "0.5", "1.5"]),
        _ => pick(rng, &["0.1", "0.5", "1", "2"]),
    };
    let idle = match (mode, rule) {
        ("none" | "lower-pages", _) => "never",
        ("static", "direct") => pick(rng, &["10 ms", "1 s", "30 s"]),
        _ => pick(rng, &["never", "10 ms", "1 s", "30 s"]),
    };
    let reserve = if borrows { between(rng, 0, 6) } else { 0 };
    // One is too few: collection cannot erase what it emptied before its last granule is full, and
    // folding leaves the last free superblock to it.
    let held = pick(rng, &[2, 2, 3, 4]);
    let kinds = ["none", "gc", "gc", "hot-cold", "oracle"];
    let separation = pick(rng, &kinds[..if mode == "none" { 5 } else { 4 }]);
    let extra = match separation {
        "hot-cold" => 1,
        "oracle" => 2,
        _ => 0,
    };
    let low = held + between(rng, 1, 3) + if extra > 0 { 1 + extra } else { 0 };
    let high = low + between(rng, 0, 3);
    // Each mover's open superblock may have room that the host cannot use, and one may be in erase.
    let movers = if uncached { 1 } else { 2 };
    let paged = map(rng, shape);
    let pool = if paged { between(rng, 4, 8) } else { 0 };
    let lanes = (shape.groups - 1) * (2 * movers + extra) + extra;
    let spare = lanes + high.max(held + 2 + movers);
    let room = shape
        .superblocks
        .saturating_sub(system + own + spare + pool);
    let capacity = room * native * between(rng, 50, 100) / 100 / 512 * 512;
    let rearm = pick(rng, &[1, 1, borrowed + own, (borrowed + own) / 2]).max(1);
    choices(rng, shape, (mode, rule), borrowed);
    shape.sets.extend([
        format!("slc_cache.mode={mode}"),
        format!("slc_cache.static_size={} B", own * shape.slc),
        format!("slc_cache.when_full={rule}"),
        format!("slc_cache.rearm={} B", rearm * shape.slc),
        format!("fold.pace={pace}"),
        format!("fold.idle_after={idle}"),
        format!("fold.reserve={} B", reserve * native),
        format!("ftl.system={} B", system * native),
        format!("gc.reserve={held}"),
        format!("gc.separation={separation}"),
        format!("gc.hot_share={}", pick(rng, &["0.1", "0.3", "0.6"])),
        format!("gc.hot_pool={}", pick(rng, &["0.2", "0.4", "0.6"])),
        format!(
            "gc.pace={}",
            pick(rng, &["paced", "paced", "stop-the-world"])
        ),
        format!(
            "gc.idle_after={}",
            pick(rng, &["never", "never", "10 ms", "1 s"])
        ),
        format!("gc.idle_target={}", high + between(rng, 1, 12)),
        format!("gc.recycler={}", pick(rng, &["none", "none", "settled"])),
        format!(
            "gc.policy={}",
            pick(
                rng,
                &["greedy", "cost-benefit", "fifo", "d-choices", "random"]
            )
        ),
        format!("gc.choices={}", between(rng, 1, 12)),
        format!("gc.low={low}"),
        format!("gc.high={high}"),
        format!("drive.capacity={capacity} B"),
    ]);
}

/// Where the map is; the answer is whether it is read page by page.
fn map(rng: &mut Rng, shape: &mut Shape) -> bool {
    let residency = pick(rng, &["dram", "dram", "demand", "hmb"]);
    let slots = pick(rng, &[16, 17, 40, 1000]);
    shape.sets.extend([
        format!("map.residency={residency}"),
        format!("map.cache={} B", slots * shape.unit),
        format!("map.hmb={} B", pick(rng, &[16, 60, 2000]) * shape.unit),
        format!("map.hmb_latency={}", pick(rng, &["1 us", "50 us"])),
        format!("map.entry={}", pick(rng, &[4, 8, 64, 64])),
        format!("map.mode={}", pick(rng, &["slc", "native"])),
        format!("map.journal={}", pick(rng, &["4 KiB", "64 KiB"])),
        format!("map.write_on_flush={}", rng.chance(40)),
    ]);
    residency != "dram"
}

/// Size, entry and what happens past the cache.
fn choices(rng: &mut Rng, shape: &mut Shape, (mode, rule): (&str, &str), borrowed: u64) {
    let tabled = matches!(mode, "dynamic" | "hybrid") && rng.chance(30);
    if tabled {
        let last = between(rng, 0, borrowed) * shape.slc;
        let most = borrowed * shape.slc;
        let knee = between(rng, 30, 100);
        shape.sets.push(format!(
            "slc_cache.size_by_fill=[\"5 %: {most} B\", \"{knee} %: {last} B\"]"
        ));
    }
    let size = if tabled { 0 } else { borrowed * shape.slc };
    let refill = if rule == "direct" && !matches!(mode, "none" | "lower-pages") {
        pick(rng, &["0", "0.2", "1", "3"])
    } else {
        "0"
    };
    let share = pick(rng, &["0.1", "0.5", "0.9"]);
    let admit = pick(rng, &["all", "all", "small", "random"]);
    let limit = pick(rng, &["4 KiB", "64 KiB", "256 KiB"]);
    let low = if matches!(mode, "none" | "static" | "lower-pages") {
        0
    } else {
        pick(rng, &[0, 0, 4, 10])
    };
    let path = if shape.parity {
        "controller"
    } else {
        pick(rng, &["copyback", "controller"])
    };
    let check = if path == "copyback" {
        pick(rng, &[0, 1, 3])
    } else {
        0
    };
    if rng.chance(20) {
        let cycles = between(rng, 1, 6);
        shape.sets.push(format!("nand.slc.endurance={cycles}"));
    }
    let worn = pick(rng, &["keep", "shrink", "close"]);
    shape.sets.push(format!("slc_cache.worn={worn}"));
    let reclaim = pick(rng, &["0", "0", "0.2", "0.5", "0.95"]);
    shape.sets.extend([
        format!("slc_cache.size={size} B"),
        format!("slc_cache.direct_share={share}"),
        format!("slc_cache.admit={admit}"),
        format!("slc_cache.admit_limit={limit}"),
        format!("slc_cache.reclaim={reclaim}"),
        format!("fold.rearm_pace={refill}"),
        format!("fold.low={low}"),
        format!("fold.high={}", low + between(rng, 0, 4)),
        format!("fold.rate={}", pick(rng, &["0", "0", "1 MB/s", "100 MB/s"])),
        format!("fold.check_every={check}"),
        format!("fold.check_cycles={}", pick(rng, &[0, 1, 2, 1000])),
        format!("fold.path={path}"),
    ]);
}

fn controller(rng: &mut Rng, shape: &mut Shape) {
    let unit = shape.unit;
    let most = (shape.slc - 1).max(shape.granule) / unit * unit;
    let buffer = match rng.below(3) {
        0 => shape.granule,
        1 => shape.granule + unit * between(rng, 0, shape.granule / unit),
        _ => most.min(1 << 20),
    };
    let waiting = match shape.between_passes {
        0 => 0,
        granules => (granules + 1) * shape.granule,
    };
    let buffer = buffer.max(waiting);
    let through = rng.chance(40);
    let priority = rng.chance(50);
    shape.sets.extend([
        format!("controller.write_buffer={} B", buffer.min(most)),
        format!(
            "controller.acknowledge={}",
            if through {
                "write-through"
            } else {
                "write-back"
            }
        ),
        format!("controller.gather={}", !through && rng.chance(60)),
        format!(
            "controller.gather_time={}",
            pick(rng, &["1 ms", "100 ms", "5 s"])
        ),
        format!("controller.overlap={}", rng.chance(60)),
        format!("controller.read_priority={priority}"),
        format!("nand.suspend.program={}", priority && rng.chance(50)),
        format!("nand.suspend.erase={}", priority && rng.chance(50)),
        format!("nand.suspend.entry={}", pick(rng, &["0", "20 us", "5 ms"])),
        format!("nand.suspend.penalty={}", pick(rng, &["0", "50 us"])),
        format!("nand.suspend.most={}", pick(rng, &[1, 2, 8])),
        format!("nand.suspend.reads={}", pick(rng, &[1, 4, 32])),
        format!("controller.read_ahead_streams={}", pick(rng, &[0, 1, 2, 4])),
        format!(
            "controller.read_ahead={}",
            pick(rng, &["64 KiB", "128 KiB", "512 KiB"])
        ),
    ]);
}

/// How superblocks wear.
fn health(rng: &mut Rng, shape: &mut Shape) {
    shape.sets.extend([
        format!(
            "wear.dynamic={}",
            pick(rng, &["none", "fifo", "least-worn"])
        ),
        format!("wear.static_threshold={}", pick(rng, &[0, 0, 1, 3, 10])),
    ]);
    if rng.chance(60) {
        return;
    }
    shape.sets.extend([
        format!("nand.slc.endurance={}", pick(rng, &[40_000, 100, 10])),
        format!("nand.native.endurance={}", pick(rng, &[1500, 20, 3])),
        format!("wear.spares={}", pick(rng, &[0, 0, 1, 4])),
        format!("wear.bad_percent={}", pick(rng, &["0", "0", "1", "3"])),
        format!("wear.weak_percent={}", pick(rng, &["0", "0", "2"])),
        format!("wear.program_failures={}", pick(rng, &["0", "100", "1000"])),
        format!("wear.erase_failures={}", pick(rng, &["0", "100", "1000"])),
        format!("wear.failure_growth={}", pick(rng, &[0, 1, 3, 8])),
        format!(
            "wear.read_only_at={}",
            pick(rng, &["reserve-gone", "spares-gone", "rated-wear"])
        ),
    ]);
}

/// The link, the firmware's time for commands, and how a purge is done.
fn link(rng: &mut Rng, shape: &mut Shape) {
    let kind = pick(rng, &["sata", "sata", "nvme"]);
    let depth = if kind == "nvme" { 64 } else { 32 };
    let time = |rng: &mut Rng| pick(rng, &["0", "0", "700 ns", "20 us"]);
    shape.sets.extend([
        format!("link.kind={kind}"),
        format!("link.rate={}", pick(rng, &["0", "200 MB/s", "545 MB/s"])),
        format!("link.queue_depth={depth}"),
        format!("link.submit_time={}", time(rng)),
        format!("link.complete_time={}", time(rng)),
        format!("link.frame_time={}", time(rng)),
        format!("controller.cores={}", pick(rng, &[1, 1, 2, 5])),
        format!("controller.trim_time={}", time(rng)),
        format!(
            "controller.trim_gb_time={}",
            pick(rng, &["0", "5 ms", "300 ms"])
        ),
        format!("controller.trim_alone={}", rng.chance(30)),
        format!("controller.end_to_end={}", rng.chance(30)),
        format!(
            "controller.secure_erase={}",
            pick(rng, &["block", "crypto"])
        ),
    ]);
}

/// Compression, and what it asks for; refused where rows or superblocks are too small.
fn compression(rng: &mut Rng, shape: &mut Shape) {
    let ratio = pick(rng, &[2, 2, 3, 8]);
    let buffer = ratio * shape.granule * between(rng, 1, 2);
    shape.sets.extend([
        format!("compression.best_ratio={ratio}"),
        format!("compression.rate={}", pick(rng, &["0", "80 MB/s"])),
        format!("controller.write_buffer={buffer} B"),
        "map.residency=dram".to_owned(),
        "nand.native.second_pass=0".to_owned(),
    ]);
}

/// A drive that the spec's checks accept, and the sets that make it of the base.
fn drawn(base: &str, rng: &mut Rng) -> (Config, String) {
    for _ in 0..200 {
        let mut shape = shape(rng);
        policies(rng, &mut shape);
        controller(rng, &mut shape);
        health(rng, &mut shape);
        link(rng, &mut shape);
        let plain = shape.sets.len();
        if rng.chance(40) {
            compression(rng, &mut shape);
            if let Ok(spec) = spec::load(base, &[], &[], &shape.sets) {
                return (spec.config, shape.sets.join(" "));
            }
            shape.sets.truncate(plain);
        }
        if let Ok(spec) = spec::load(base, &[], &[], &shape.sets) {
            return (spec.config, shape.sets.join(" "));
        }
    }
    panic!("no drive in two hundred is right");
}

/// What a unit holds, as far as the host can know.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Empty,
    Written,
    /// A write and a trim were under way at once.
    Either,
}

/// A request under way.
struct Sent {
    request: Request,
    at: Nanos,
    in_range: bool,
}

/// The host: what it has sent, and what it knows.
struct Host {
    drive: Drive,
    rng: Rng,
    units: Vec<Unit>,
    unit_sectors: u64,
    sectors: u64,
    sent: Vec<Sent>,
    done: Vec<Completion>,
    tag: u32,
    next: u64,
    heard: Nanos,
    written: u64,
    purged: bool,
    /// The drive has come to its end and refused to be changed.
    refused: bool,
    /// All answers, mixed into one number.
    answers: u64,
}

/// Units that a request leaves changed: all that a write touches, those that a trim covers.
fn reach(request: &Request, unit: u64) -> std::ops::Range<u64> {
    let (begin, end) = (request.lba, request.lba + u64::from(request.sectors));
    match request.op {
        Op::Write if end > begin => begin / unit..end.div_ceil(unit),
        Op::Trim if end > begin => begin.div_ceil(unit)..(end / unit).max(begin.div_ceil(unit)),
        _ => 0..0,
    }
}

impl Host {
    fn new(config: &Config, seed: u64) -> Host {
        let drive = Drive::new(config, 1);
        let sectors = config.capacity_bytes / 512;
        Host {
            units: vec![Unit::Empty; drive.ftl().logical_units() as usize],
            unit_sectors: u64::from(config.policy.unit_bytes) / 512,
            drive,
            rng: Rng::new(seed, 1),
            sectors,
            sent: Vec::new(),
            done: Vec::new(),
            tag: 0,
            next: 0,
            heard: Nanos::ZERO,
            written: 0,
            purged: false,
            refused: false,
            answers: 0,
        }
    }

    fn submit(&mut self, op: Op, lba: u64, sectors: u32) {
        let mut request = Request::new(self.tag, op, lba, sectors);
        request.fua = op == Op::Write && self.rng.chance(5);
        request.compressible_percent = self.rng.below(101) as u8;
        self.tag += 1;
        let end = lba.checked_add(u64::from(sectors));
        let in_range = end.is_some_and(|end| end <= self.sectors);
        if in_range {
            let reach = reach(&request, self.unit_sectors);
            if op == Op::Write {
                self.written += reach.end - reach.start;
            }
            for unit in reach {
                let crossed = self.sent.iter().any(|other| {
                    other.in_range
                        && other.request.op != op
                        && reach_of(other, self.unit_sectors).contains(&unit)
                });
                self.units[unit as usize] = match op {
                    _ if crossed => Unit::Either,
                    Op::Write => Unit::Written,
                    _ => Unit::Empty,
                };
            }
        }
        let at = self.drive.now();
        self.drive.submit(at, request);
        self.sent.push(Sent {
            request,
            at,
            in_range,
        });
    }

    /// Lets the next thing happen, and takes what was answered.
    fn step(&mut self) {
        let due = self.drive.next_due().expect("commands are under way");
        assert!(due >= self.drive.now(), "an event in the past");
        self.drive.advance(due, &mut self.done);
        self.hear();
        let now = self.drive.now();
        for sent in &self.sent {
            let ftl = self.drive.ftl();
            assert!(
                now < sent.at + PATIENCE,
                "no answer to {:?}\n{}",
                sent.request,
                ftl.describe()
            );
        }
    }

    fn hear(&mut self) {
        for answer in std::mem::take(&mut self.done) {
            let found = self.sent.iter().position(|s| s.request.tag == answer.tag);
            let sent = self
                .sent
                .swap_remove(found.expect("an answer to what was sent"));
            assert!(answer.at >= self.heard, "answers come in order of time");
            assert!(answer.at >= sent.at && answer.at <= self.drive.now());
            self.heard = answer.at;
            let changes = matches!(sent.request.op, Op::Write | Op::Trim);
            if answer.status == Status::ReadOnly {
                assert!(self.drive.ftl().is_read_only() && changes && sent.in_range);
                // It may have been done in part.
                for unit in reach_of(&sent, self.unit_sectors) {
                    self.units[unit as usize] = Unit::Either;
                }
                self.refused = true;
            } else {
                let status = if sent.in_range {
                    Status::Ok
                } else {
                    Status::OutOfRange
                };
                assert_eq!(answer.status, status, "{:?}", sent.request);
            }
            self.answers = (self.answers.rotate_left(7) ^ answer.at.0 ^ u64::from(answer.tag))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }

    fn drain(&mut self) {
        while !self.sent.is_empty() {
            self.step();
        }
    }

    fn rest(&mut self, span: Nanos) {
        let to = self.drive.now() + span;
        self.drive.advance(to, &mut self.done);
        assert!(self.drive.now() == to);
        self.hear();
    }

    /// A command of a phase in which so many in a hundred are what `mix` says.
    fn command(&mut self, mix: &Mix) {
        let roll = self.rng.below(100) as u32;
        if roll < mix.flushes {
            return self.submit(Op::Flush, 0, 0);
        }
        let unit = self.unit_sectors;
        let mut sectors = match self.rng.below(10) {
            0 => between(&mut self.rng, 1, 300),
            1 => unit * between(&mut self.rng, 1, 512),
            2 => 1,
            _ => unit * mix.block,
        };
        let sequential = self.rng.chance(mix.sequential);
        let mut lba = if sequential {
            self.next
        } else {
            self.rng.below((self.sectors * mix.span / 100).max(1))
        };
        if self.rng.chance(80) {
            lba = lba / unit * unit;
        }
        sectors = sectors.min(self.sectors);
        if self.rng.below(2000) == 0 {
            lba = u64::MAX - self.rng.below(1 << 12);
        } else if lba + sectors > self.sectors && !self.rng.chance(2) {
            lba = if sequential {
                0
            } else {
                self.sectors - sectors
            };
        }
        self.next = lba.saturating_add(sectors) % self.sectors;
        let op = match roll - mix.flushes {
            r if r < mix.trims => Op::Trim,
            r if r < mix.trims + mix.reads => Op::Read,
            _ => Op::Write,
        };
        self.submit(op, lba, sectors as u32);
    }

    fn phase(&mut self) {
        let mix = Mix::drawn(&mut self.rng);
        for _ in 0..mix.commands {
            while self.sent.len() >= mix.depth {
                self.step();
            }
            self.command(&mix);
        }
        self.drain();
    }

    /// The whole drive or a part of it in order, large blocks.
    fn fill(&mut self, op: Op) {
        let (mut at, depth) = (0, pick(&mut self.rng, &[1, 4, 32]));
        let block = pick(&mut self.rng, &[256, 2048, 96]);
        while at < self.sectors {
            while self.sent.len() >= depth {
                self.step();
            }
            let sectors = block.min(self.sectors - at);
            self.submit(op, at, sectors as u32);
            at += sectors;
        }
        self.drain();
    }

    fn purge(&mut self) {
        let before = self.drive.now();
        let took = self.drive.purge();
        assert_eq!(before + took, self.drive.now());
        self.units.fill(Unit::Empty);
        self.purged = true;
        assert!(!self.drive.ftl().host_programs_in_flight());
    }

    /// Nothing is outstanding: the firmware has to agree with the model.
    fn verify(&self) {
        let ftl = self.drive.ftl();
        ftl.check();
        for (lpn, unit) in self.units.iter().enumerate() {
            let mapped = ftl.locate(lpn as u32).is_some();
            match unit {
                Unit::Empty => assert!(!mapped, "unit {lpn} is mapped"),
                Unit::Written => assert!(mapped, "unit {lpn} is lost"),
                Unit::Either => {}
            }
        }
        let c = ftl.counters();
        if self.refused {
            assert!(c.host_units <= self.written, "units from the host");
        } else {
            assert_eq!(c.host_units, self.written, "units from the host");
        }
        if !self.purged && ftl.grown_bad_blocks() == 0 {
            let of = |mode| u64::from(ftl.layout.whole_units(mode));
            let erased = c.slc_erases * of(Mode::Slc) + c.native_erases * of(Mode::Native);
            let used = ftl.superblocks().iter().filter(|b| b.written > 0);
            let most = erased
                + used
                    .map(|b| u64::from(b.written / ftl.layout.ratio))
                    .sum::<u64>();
            let programmed = c.programmed_units() - c.parity_units;
            let open = 7 * u64::from(ftl.layout.groups) * of(Mode::Native);
            assert!(
                programmed <= most && most <= programmed + open,
                "{programmed} units programmed, {most} given out"
            );
        }
    }

    /// A flush alone: afterwards nothing of the host's is volatile.
    fn flush(&mut self) {
        self.submit(Op::Flush, 0, 0);
        self.drain();
        let ftl = self.drive.ftl();
        assert!(!ftl.has_partial() && !ftl.host_programs_in_flight());
        assert!(!ftl.host_data_between_passes());
    }
}

fn reach_of(sent: &Sent, unit: u64) -> std::ops::Range<u64> {
    reach(&sent.request, unit)
}

/// What a phase is made of.
struct Mix {
    commands: u64,
    depth: usize,
    /// Commands in a hundred that are these; the others are writes.
    flushes: u32,
    trims: u32,
    reads: u32,
    sequential: u32,
    /// Share of the drive that random addresses come from, in a hundred.
    span: u64,
    /// Units of an ordinary command.
    block: u64,
}

impl Mix {
    fn drawn(rng: &mut Rng) -> Mix {
        Mix {
            commands: between(rng, 20, 250),
            depth: pick(rng, &[1, 1, 2, 5, 16, 32, 32]),
            flushes: pick(rng, &[0, 0, 2, 10]),
            trims: pick(rng, &[0, 0, 5, 20]),
            reads: pick(rng, &[0, 10, 40, 70]),
            sequential: pick(rng, &[0, 50, 95]),
            span: pick(rng, &[5, 30, 100, 100]),
            block: pick(rng, &[1, 1, 4, 32]),
        }
    }
}

/// One drive's life; the answer stands for all that it answered.
fn life(config: &Config, seed: u64) -> u64 {
    let mut host = Host::new(config, seed);
    for _ in 0..between(&mut host.rng, 3, 10) {
        match host.rng.below(16) {
            0..=7 => host.phase(),
            8..=10 => host.fill(Op::Write),
            11 => host.fill(Op::Read),
            12 => {
                let spans = [1_000_000, 50_000_000, 2_000_000_000, 100_000_000_000];
                let span = pick(&mut host.rng, &spans);
                host.rest(Nanos(span));
            }
            13 => host.flush(),
            14 if host.rng.chance(30) => host.fill(Op::Trim),
            _ => {
                // Purges come at any time after a command: folding may be about to begin.
                let wait = host.rng.below(60_000_000);
                host.phase();
                host.rest(Nanos(wait));
                host.purge();
            }
        }
        host.verify();
    }
    host.answers ^ host.drive.now().0
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("CAMPAIGN") else {
        return SEEDS;
    };
    let (first, count) = text.split_once(',').unwrap_or((&text, "1"));
    let number = |text: &str| text.parse::<u64>().expect("CAMPAIGN=FIRST,COUNT");
    number(first)..number(first) + number(count)
}

#[test]
fn random_drives_under_random_hosts() {
    let base = common::write("base", common::BASE);
    for seed in seeds() {
        let mut rng = Rng::new(seed, 0);
        let mut culprit = Culprit(seed, String::new());
        let (config, sets) = drawn(&base, &mut rng);
        let _ = write!(culprit.1, "{sets}");
        let first = life(&config, seed);
        if seed % TWICE == 0 {
            assert_eq!(first, life(&config, seed), "the same seed, other answers");
        }
    }
}
