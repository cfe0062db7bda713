//! Buffer, suspension and read-ahead; the link, the firmware's times, compression.

use flashtwin_base::rng::Rng;

use super::flash::Shape;
use super::{between, pick};

/// What waits in RAM, and who goes first.
pub(super) fn controller(rng: &mut Rng, shape: &mut Shape) {
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
    let gathers = !through && rng.chance(60);
    let ahead = pick(rng, &["64 KiB", "128 KiB", "512 KiB", "0", "8 MiB"]);
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
        format!("controller.gather={gathers}"),
        format!(
            "controller.gather_time={}",
            pick(
                rng,
                &["1 ms", "100 ms", "5 s", "0"][..if gathers { 3 } else { 4 }]
            )
        ),
        format!("controller.coalesce={}", rng.chance(40)),
        format!("controller.overlap={}", rng.chance(60)),
        format!("controller.read_priority={priority}"),
        format!(
            "controller.reads_first={}",
            pick(rng, &[1, 4, 32, 1_000_000])
        ),
        format!("nand.suspend.program={}", priority && rng.chance(50)),
        format!("nand.suspend.erase={}", priority && rng.chance(50)),
        format!("nand.suspend.entry={}", pick(rng, &["0", "20 us", "5 ms"])),
        format!("nand.suspend.penalty={}", pick(rng, &["0", "50 us"])),
        format!("nand.suspend.most={}", pick(rng, &[1, 2, 8, 1_000_000])),
        format!("nand.suspend.reads={}", pick(rng, &[1, 4, 32, 1_000_000])),
        format!(
            "controller.read_ahead_streams={}",
            match ahead {
                "0" => 0,
                _ => pick(rng, &[0, 1, 2, 4, 256]),
            }
        ),
        format!("controller.read_ahead={ahead}"),
    ]);
}

/// The link, the firmware's time for commands, and how a purge is done.
pub(super) fn link(rng: &mut Rng, shape: &mut Shape) {
    let kind = if shape.nvme { "nvme" } else { "sata" };
    let (queues, depth) = match shape.nvme {
        true => pick(rng, &[(1, 64), (1, 64), (8, 64), (1, 3), (1, 65_535)]),
        false => (1, pick(rng, &[32, 32, 32, 1, 7])),
    };
    // A rate that was measured is not above what the line carries.
    let rate = pick(rng, &["0", "200 MB/s", "545 MB/s", "10 MB/s"]);
    let measured = rate != "0";
    let sata = match measured {
        true => "6 Gb/s",
        false => pick(rng, &["1.5 Gb/s", "3 Gb/s", "6 Gb/s"]),
    };
    let generation = between(rng, if measured { 3 } else { 1 }, 5);
    let time = |rng: &mut Rng| pick(rng, &["0", "0", "700 ns", "20 us"]);
    shape.sets.extend([
        format!("link.kind={kind}"),
        format!("link.rate={rate}"),
        format!("link.sata_rate={sata}"),
        format!("link.pcie_generation={generation}"),
        format!("link.pcie_lanes={}", pick(rng, &[1, 2, 4, 8, 16])),
        format!(
            "link.max_payload={}",
            pick(rng, &["128 B", "256 B", "4 KiB"])
        ),
        format!("link.queues={queues}"),
        format!("link.queue_depth={depth}"),
        format!("link.submit_time={}", time(rng)),
        format!("link.complete_time={}", time(rng)),
        format!("link.frame_time={}", time(rng)),
        format!("link.activate_time={}", pick(rng, &["0", "1 us"])),
        format!(
            "controller.command_time={}",
            pick(rng, &["6 us", "6 us", "0", "300 us"])
        ),
        format!("controller.cores={}", pick(rng, &[1, 1, 2, 5, 64])),
        format!(
            "controller.data_rate={}",
            pick(rng, &["0", "0", "600 MB/s", "20 MB/s"])
        ),
        format!("controller.read_time={}", time(rng)),
        format!("controller.program_time={}", time(rng)),
        format!("controller.kib_time={}", time(rng)),
        format!("controller.move_time={}", time(rng)),
        format!("controller.trim_time={}", time(rng)),
        format!(
            "controller.trim_gb_time={}",
            pick(rng, &["0", "5 ms", "300 ms"])
        ),
        format!("controller.trim_alone={}", rng.chance(30)),
        format!("controller.end_to_end={}", rng.chance(30)),
        // These go by the depth, so that seeds tell the stories that they have told before.
        format!("controller.longest_wait={} s", 2 + depth % 2),
        format!(
            "controller.native_programs={}",
            [0, 0, 2, 1][depth as usize % 4]
        ),
        format!(
            "controller.idle_share={}",
            ["0", "0.05", "0.5"][depth as usize % 3]
        ),
        format!(
            "controller.idle_window={}",
            ["10 ms", "1 s"][depth as usize % 2]
        ),
        format!(
            "controller.secure_erase={}",
            pick(rng, &["block", "crypto"])
        ),
    ]);
}

/// Compression, and what it asks for; refused where rows or superblocks are too small.
pub(super) fn compression(rng: &mut Rng, shape: &mut Shape) {
    let ratio = pick(rng, &[2, 2, 3, 8]);
    let buffer = ratio * shape.granule * between(rng, 1, 2);
    shape.sets.extend([
        format!("compression.best_ratio={ratio}"),
        format!("compression.rate={}", pick(rng, &["0", "80 MB/s"])),
        format!("controller.write_buffer={buffer} B"),
        "gc.separation=gc".to_owned(),
        "map.residency=dram".to_owned(),
        "ftl.paired_pages=protected".to_owned(),
        "nand.native.second_pass=0".to_owned(),
        "nand.native.third_pass=0".to_owned(),
        "nand.native.fourth_pass=0".to_owned(),
    ]);
}
