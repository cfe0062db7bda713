//! Random drives for the campaign: geometry, policies and controller, until the spec's checks
//! accept one.

use flashtwin_base::rng::Rng;
use flashtwin_drive::{Config, spec};

pub fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

pub fn between(rng: &mut Rng, low: u64, high: u64) -> u64 {
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
pub fn drawn(base: &str, rng: &mut Rng) -> (Config, String) {
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
