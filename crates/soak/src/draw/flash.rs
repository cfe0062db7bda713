//! The flash of a drive, and what the other draws have to know of it.

use flashtwin_base::rng::Rng;

use super::{between, pick};

/// Flash that is drawn, and what follows from it.
pub(super) struct Shape {
    pub(super) bits: u64,
    pub(super) superblocks: u64,
    /// Bytes of data in a superblock in SLC mode.
    pub(super) slc: u64,
    /// Bytes of all cells of a superblock.
    pub(super) raw: u64,
    /// Bytes of one native program.
    pub(super) granule: u64,
    /// Bytes of a mapping unit.
    pub(super) unit: u64,
    pub(super) parity: bool,
    /// Granules that wait between two passes at most.
    pub(super) between_passes: u64,
    /// Groups of dies that superblocks are cut from.
    pub(super) groups: u64,
    /// All pages of a wordline are programmed at once.
    pub(super) one_shot: bool,
    pub(super) dies: u64,
    /// Compressed units can be packed: rows and superblocks are large enough.
    pub(super) packs: bool,
    /// An NVMe link, which has a way to the host's memory.
    pub(super) nvme: bool,
    /// The map goes to the system area from time to time.
    pub(super) checkpoints: bool,
    pub(super) sets: Vec<String>,
}

/// A mapping unit of whole pages, or one that whole pages have a number of.
fn unit(rng: &mut Rng, page: u64, planes: u64) -> u64 {
    loop {
        let unit = pick(rng, &[4u64, 4, 4, 8, 16, 32, 64]) << 10;
        let spans = unit.is_multiple_of(page) && (page * planes).is_multiple_of(unit);
        if page.is_multiple_of(unit) || spans {
            return unit;
        }
    }
}

/// Passes of a wordline, and wordlines between two of them, so that a superblock in SLC mode holds
/// more than what waits for them: `most` wordlines of all dies.
fn passes(rng: &mut Rng, most: u64) -> (u64, u64) {
    if most < 2 || rng.chance(60) {
        return (1, rng.below(4));
    }
    let passes = between(rng, 2, 4);
    (passes, rng.below((most - 2) / (passes - 1) + 1))
}

/// Times of the flash that nothing else has to fit.
fn timing(rng: &mut Rng) -> Vec<String> {
    let read = ["\"35 us\"", "\"35 us\"", "[\"1 us\"]", "\"2 ms\""];
    let program = ["\"404.8 us\"", "\"404.8 us\"", "\"10 us\"", "\"15 ms\""];
    let erase = ["5 ms", "10 ms", "10 ms", "100 us", "60 ms"];
    vec![
        format!("nand.bus_rate={} MT/s", pick(rng, &[400, 400, 33, 3200])),
        format!("nand.slc.tr={}", pick(rng, &read)),
        format!("nand.slc.tprog={}", pick(rng, &program)),
        format!("nand.slc.tbers={}", pick(rng, &erase)),
        format!("nand.native.tbers={}", pick(rng, &erase)),
        format!("nand.tier.tr=\"{}\"", pick(rng, &["50 us", "1 us", "2 ms"])),
        format!("nand.tier.tprog={}", pick(rng, &["1 ms", "20 us", "15 ms"])),
        format!("nand.tier.tbers={}", pick(rng, &erase)),
        format!(
            "nand.variation.block={}",
            pick(rng, &["0", "0", "0.03", "0.2"])
        ),
        format!("nand.variation.layer={}", pick(rng, &["0", "0.08", "0.2"])),
        format!(
            "nand.variation.program_wear={}",
            pick(rng, &["0", "0.1", "0.5"])
        ),
        format!(
            "nand.variation.erase_wear={}",
            pick(rng, &["0", "1.5", "20"])
        ),
    ]
}

/// Geometry, cells, timing, superblocks.
pub(super) fn shape(rng: &mut Rng) -> Shape {
    let cell = pick(rng, &["mlc", "tlc", "tlc", "qlc", "slc"]);
    let bits = match cell {
        "slc" => 1,
        "mlc" => 2,
        "tlc" => 3,
        _ => 4,
    };
    let channels = pick(rng, &[1u64, 1, 1, 2, 2, 2, 3, 3, 3, 7]);
    let per_channel = pick(rng, &[1, 1, 1, 2, 2, 2, 3]);
    let planes = pick(rng, &[1u64, 1, 1, 2, 2, 4, 4, 3, 16]);
    let wordlines = pick(rng, &[2u64, 4, 5, 8, 16, 16]);
    let page = pick(rng, &[4u64, 4, 8, 8, 16, 16, 64]) << 10;
    let superblocks = between(rng, 12, 48);
    let one_shot = rng.chance(60);
    let unit = unit(rng, page, planes);
    let dies = channels * per_channel;
    let most = wordlines.saturating_sub(1) / bits as u64;
    let (passes, distance) = passes(rng, if one_shot { most } else { 0 });
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
    let longer = pick(rng, &["3 ms", "3 ms", "20 us"]);
    let pass = |number| if number <= passes { longer } else { "0" };
    let mut sets = timing(rng);
    sets.extend([
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
        format!("nand.native.second_pass={}", pass(2)),
        format!("nand.native.third_pass={}", pass(3)),
        format!("nand.native.fourth_pass={}", pass(4)),
        format!("nand.independent_planes={}", rng.chance(40)),
        format!(
            "nand.codeword={}",
            pick(rng, &["0", "1 KiB", "4 KiB", "16 KiB"])
        ),
        format!("nand.native.pass_distance={distance}"),
        format!("nand.native.pass_transfer={}", rng.chance(50)),
        format!("ftl.mapping_unit={unit} B"),
        format!("ftl.superblock_dies={}", group.unwrap_or(0)),
        format!("ftl.parity={}", if parity { "stripe" } else { "none" }),
    ]);
    Shape {
        bits: bits as u64,
        superblocks,
        slc: (dies / groups - u64::from(parity)) * planes * wordlines * page,
        raw: dies / groups * planes * wordlines * page * bits as u64,
        parity,
        groups,
        between_passes: if passes > 1 {
            ((passes - 1) * distance + 1) * dies
        } else {
            0
        },
        granule: planes * page * if one_shot { bits as u64 } else { 1 },
        unit,
        one_shot,
        dies,
        packs: planes * page >= 4 * unit && wordlines >= 8,
        nvme: rng.chance(50),
        checkpoints: rng.chance(50),
        sets,
    }
}
