//! Write amplification of uniform random writes against the closed forms of the literature.
//!
//! Where there is none (greedy, d-choices) the figures are those of an independent Monte-Carlo page
//! map (ρ, pages a block, A); the FIFO formula A = 1/(1 − e^(−α/A)) bounds greedy from above. ρ counts only the blocks that can hold
//! data in the steady state: open and free ones are taken out of it.

mod common;

use common::{UNIT, part, policy};
use flashtwin_base::rng::Rng;
use flashtwin_ftl::policy::Victim;
use flashtwin_ftl::{Ftl, NandOp, Route};
use flashtwin_nand::Cell;

/// The firmware with dies that end everything at once.
struct Instant {
    ftl: Ftl,
    ops: Vec<NandOp>,
    queue: std::collections::VecDeque<NandOp>,
}

impl Instant {
    fn settle(&mut self) {
        loop {
            self.queue.extend(self.ops.drain(..));
            let Some(op) = self.queue.pop_front() else {
                break;
            };
            self.ftl.finish(op.token, &mut self.ops);
        }
    }

    fn write(&mut self, lpn: u32) {
        while self.ftl.room(Route::Cache) == 0 {
            self.ftl.pump(&mut self.ops);
            assert!(!self.ops.is_empty(), "stuck\n{}", self.ftl.describe());
            self.settle();
        }
        self.ftl.reserve(Route::Cache, 1);
        self.ftl.append_host(Route::Cache, lpn, 1, &mut self.ops);
        self.settle();
    }
}

/// Superblocks that hold no data in the steady state: half of each of the two open ones, and those
/// that collection keeps free.
const IDLE_SUPERBLOCKS: f64 = 2.0 * 0.5 + 2.5;

/// A at over-provisioning `rho` with blocks of `pages` units, in the second half of the overwrites.
fn amplification(victim: Victim, rho: f64, pages: u32) -> f64 {
    let (blocks, overwrites) = match victim {
        // Chance has to be averaged out: victims hold anything from nothing to all.
        Victim::Random => (1600, 12),
        _ if pages > 64 => (400, 8),
        _ => (1000, 8),
    };
    let mut part = part(Cell::Slc, true, blocks);
    part.geometry.channels = 1;
    part.geometry.planes = 1;
    part.geometry.page_bytes = UNIT;
    part.geometry.wordlines_per_block = pages;
    let mut policy = policy();
    policy.gc.victim = victim;
    policy.gc.low_superblocks = 3;
    policy.gc.high_superblocks = 3;
    policy.gc.reserve_superblocks = 2;
    let units = ((f64::from(blocks) - IDLE_SUPERBLOCKS) * f64::from(pages) / (1.0 + rho)) as u32;
    let capacity = u64::from(units) * u64::from(UNIT);
    let ftl = Ftl::new(&part, policy, capacity, u64::from(UNIT) * 4, 1);
    let mut drive = Instant {
        ftl,
        ops: Vec::new(),
        queue: Default::default(),
    };
    (0..units).for_each(|lpn| drive.write(lpn));
    let mut rng = Rng::new(1, 1);
    for _ in 0..u64::from(units) * overwrites / 2 {
        drive.write(rng.below(u64::from(units)) as u32);
    }
    let before = *drive.ftl.counters();
    for _ in 0..u64::from(units) * overwrites / 2 {
        drive.write(rng.below(u64::from(units)) as u32);
    }
    drive.ftl.check();
    let after = drive.ftl.counters();
    let programmed = after.programmed_units() - before.programmed_units();
    programmed as f64 / (after.host_units - before.host_units) as f64
}

/// A of the FIFO policy with large blocks, by iteration.
fn fifo(rho: f64) -> f64 {
    let alpha = 1.0 + rho;
    (0..2000).fold(2.0, |a: f64, _| 1.0 / (1.0 - (-alpha / a).exp()))
}

/// A of victims at random: they hold the same share of valid units as the drive.
fn random(rho: f64) -> f64 {
    (1.0 + rho) / rho
}

fn meets(victim: Victim, (rho, pages, expected): (f64, u32, f64), tolerance: f64) -> f64 {
    let found = amplification(victim, rho, pages);
    assert!(
        (found / expected - 1.0).abs() < tolerance,
        "{victim:?}, rho {rho}, {pages} pages: {found:.3} against {expected:.3}"
    );
    found
}

#[test]
fn greedy_collection_meets_the_published_row() {
    let row = [
        (0.07, 64, 7.03),
        (0.145, 64, 3.91),
        (0.145, 256, 4.08),
        (0.28, 64, 2.41),
        (0.28, 256, 2.47),
        (0.50, 64, 1.68),
    ];
    for point in row {
        let found = meets(Victim::Greedy, point, 0.02);
        assert!(
            found <= fifo(point.0) * 1.01,
            "above FIFO at rho {}",
            point.0
        );
    }
}

#[test]
fn collection_in_order_of_filling_meets_the_formula() {
    for rho in [0.07, 0.145, 0.28] {
        meets(Victim::Fifo, (rho, 64, fifo(rho)), 0.01);
    }
}

#[test]
fn collection_at_random_meets_the_formula() {
    for rho in [0.28, 0.5] {
        meets(Victim::Random, (rho, 64, random(rho)), 0.01);
    }
}

#[test]
fn the_best_of_ten_meets_the_published_row() {
    for point in [(0.145, 64, 4.04), (0.28, 64, 2.47)] {
        meets(Victim::Choices(10), point, 0.02);
    }
}
