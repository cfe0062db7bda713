//! Placement handles as the host sees them: what they save where they tell lifetimes apart, what
//! collection does with their data, and the log of NVMe's flexible data placement.

use crate::common::loops::{go, job};
use crate::common::{self, load_with};
use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// Writers, each of which rewrites one region after another.
const WRITERS: u64 = 8;
/// Bytes of a command.
const BLOCK: u64 = 256 << 10;

/// A drive of 2 GB without a cache: 160 superblocks of 12.6 MB.
fn drive(sets: &[&str]) -> Drive {
    let small = [
        "nand.wordlines_per_block=32",
        "ftl.system=0",
        "drive.capacity=1.6 GB",
        "link.kind=nvme",
        "gc.low=12",
        "gc.high=12",
    ];
    let all = [&small[..], sets].concat();
    Drive::new(&load_with(common::BASE, &["slc-off"], &all).config, 1)
}

/// The host: regions as large as a superblock (a reclaim unit), and writers that take turns block
/// by block, each with a handle of its own.
struct Host {
    drive: Drive,
    rng: Rng,
    region_bytes: u64,
    regions: u64,
    /// Region and the bytes of it that are written, by writer.
    at: Vec<(u64, u64)>,
    turn: u64,
}

impl Host {
    fn new(sets: &[&str]) -> Host {
        let mut drive = drive(sets);
        let layout = drive.ftl().layout();
        let region_bytes = u64::from(layout.native_units) * u64::from(layout.unit_bytes);
        let regions = drive.capacity_bytes() / region_bytes;
        let mut fill = job(ReadWrite::Write, 128 << 10, 32);
        fill.size = Some(regions * region_bytes);
        go(&mut drive, fill);
        Host {
            drive,
            rng: Rng::new(1, 0),
            region_bytes,
            regions,
            at: (0..WRITERS).map(|region| (region, 0)).collect(),
            turn: 0,
        }
    }

    /// The next block of the next writer; a region that is full is followed by any other one that
    /// nobody writes.
    fn next(&mut self) -> Request {
        let writer = self.turn % WRITERS;
        self.turn += 1;
        let (mut region, mut written) = self.at[writer as usize];
        if written == self.region_bytes {
            written = 0;
            while self.at.iter().any(|&(taken, _)| taken == region) {
                region = self.rng.below(self.regions);
            }
        }
        self.at[writer as usize] = (region, written + BLOCK);
        let lba = (region * self.region_bytes + written) / 512;
        let mut request = Request::new(0, Op::Write, lba, (BLOCK / 512) as u32);
        request.placement = writer as u8;
        request
    }

    /// Writes the drive over so many times; bytes programmed for each byte of the host.
    fn amplification(&mut self, times: u64) -> f64 {
        let count = |drive: &Drive| {
            (
                drive.counters().programmed_units(),
                drive.counters().host_units,
            )
        };
        let before = count(&self.drive);
        let mut done = Vec::new();
        for _ in 0..times * self.regions * self.region_bytes / BLOCK {
            let request = self.next();
            self.drive.submit(self.drive.now(), request);
            while done.is_empty() {
                let due = self.drive.next_due().expect("a command is under way");
                self.drive.advance(due, &mut done);
            }
            done.clear();
        }
        self.drive.ftl().check();
        let after = count(&self.drive);
        (after.0 - before.0) as f64 / (after.1 - before.1) as f64
    }
}

/// Write amplification of greedy collection under uniform random writes of blocks that hold `pages`
/// pages each, `data` of them valid of `blocks` that can hold data.
///
/// A page of a block with j valid ones is invalidated at the rate j; in the steady state as many
/// blocks pass each j as are collected, so there are as many with j as 1/j says, down to the
/// victims with m + p valid pages in the mean (Desnoyers, SYSTOR 2012; Bux and Iliadis 2010).
fn greedy(pages: u32, data: f64, blocks: f64) -> f64 {
    let harmonic = |from: u32| (from..=pages).map(|j| 1.0 / f64::from(j)).sum::<f64>();
    for m in (0..pages).rev() {
        for step in (0..1000).rev() {
            let p = f64::from(step) / 1000.0;
            let victims = f64::from(m) + p;
            let held = (1.0 - p) / f64::from(m + 1) + harmonic(m + 2);
            let freed = f64::from(pages) - victims;
            if data * held / freed >= blocks {
                return f64::from(pages) / freed;
            }
        }
    }
    1.0
}

#[test]
fn handles_that_tell_lifetimes_apart_leave_nothing_to_copy() {
    // A superblock of the mixed drive has an eighth of a region of each writer, which are rewritten
    // at random: pages of an eighth, eight to a block. The ends of superblocks cut those that are
    // copied, so that a block has parts of them too: between eight and sixteen to a block.
    let mut mixed = Host::new(&[]);
    // Collection keeps eleven or twelve free; of two open ones half is empty in the mean.
    let blocks = 160.0 - 11.5 - 1.0;
    let bound = |pages: u64| greedy(pages as u32, (mixed.regions * pages) as f64, blocks);
    let (least, most) = (bound(WRITERS), bound(2 * WRITERS));
    assert!(least > 2.5, "{least} is no amplification to be rid of");
    mixed.amplification(4);
    let found = mixed.amplification(8);
    assert!(
        (least..most).contains(&found),
        "{found}, not within {least} and {most}"
    );
    for isolation in ["initial", "persistent"] {
        let isolation = format!("fdp.isolation={isolation}");
        let mut apart = Host::new(&["fdp.handles=8", "gc.low=19", "gc.high=19", &isolation]);
        apart.amplification(1);
        let found = apart.amplification(4);
        assert!(
            found < 1.01,
            "{found} with a handle for each writer, {isolation}"
        );
    }
}

#[test]
fn the_log_of_placement_has_the_bytes_of_host_and_media() {
    let log = |drive: &Drive| {
        let smart = drive.smart();
        [
            "host_bytes_with_metadata_written",
            "media_bytes_with_metadata_written",
            "media_bytes_erased",
        ]
        .map(|name| smart["nvme_fdp_statistics"][name].as_u64().unwrap_or(0))
    };
    let plain = Host::new(&[]);
    assert!(plain.drive.smart().get("nvme_fdp_statistics").is_none());
    let mut host = Host::new(&["fdp.handles=8", "gc.low=19", "gc.high=19"]);
    let before = log(&host.drive);
    let found = host.amplification(2);
    let [written, media, erased] = log(&host.drive);
    let (written, media) = (written - before[0], media - before[1]);
    assert_eq!(written, 2 * host.regions * host.region_bytes);
    assert!((media as f64 / written as f64 - found).abs() < 1e-9);
    // Superblocks that were written anew were erased, but for those open and those free at first.
    let slack = 40 * host.region_bytes;
    assert!(
        erased.abs_diff(media) < slack,
        "{erased} bytes erased for {media} written"
    );
}

#[test]
fn a_handle_that_the_drive_has_not_is_the_first_one() {
    let mut host = Host::new(&["fdp.handles=2", "gc.low=12", "gc.high=12"]);
    let mut other = Host::new(&["fdp.handles=2", "gc.low=12", "gc.high=12"]);
    for _ in 0..500 {
        let request = host.next();
        let mut placed = request;
        // The second handle is the only other one.
        placed.placement = u8::from(request.placement == 1);
        for (host, request) in [(&mut host, request), (&mut other, placed)] {
            let now = host.drive.now();
            host.drive.submit(now, request);
            host.drive
                .advance(now + Nanos::from_ms(20), &mut Vec::new());
        }
    }
    let free = |host: &Host| host.drive.ftl().free_superblocks();
    assert_eq!(host.drive.counters(), other.drive.counters());
    assert_eq!(free(&host), free(&other));
}
