//! The bare page map's figures: fill, random overwrites, write amplification.
//!
//! The figures named `bare_` take one unit at a time, as a drive's firmware gets them; those named
//! `bare_batched_` look units up in batches, which no firmware can that does not know what comes
//! next.

use flashtwin_base::rng::Rng;

use crate::bare::{BATCH, Bare, Shape};
use crate::stopwatch::timed;
use crate::{Figures, ROUNDS, UNIT_BYTES, WARM_UP, WINDOW};

/// A map whose fills and windows of overwrites are measured in turns with those of a drive (A, B,
/// A, B): what else a busy machine does meets both, so that their ratio holds.
pub struct InTurns {
    shape: Shape,
    map: Bare,
    rng: Rng,
    fill_units: f64,
    random: f64,
    /// Units of the host and moved ones before the first window.
    before: (u64, u64),
}

impl InTurns {
    /// A map that is empty.
    #[must_use]
    pub fn new(shape: Shape) -> InTurns {
        InTurns {
            shape,
            map: Bare::new(shape),
            rng: Rng::new(1, 0),
            fill_units: 0.0,
            random: 0.0,
            before: (0, 0),
        }
    }

    /// Fills a fresh map.
    pub fn fill(&mut self) {
        if self.fill_units > 0.0 {
            self.map = Bare::new(self.shape);
        }
        let (seconds, ()) = timed(|| fill(&mut self.map));
        let units = f64::from(self.shape.user_units) / seconds;
        self.fill_units = self.fill_units.max(units);
    }

    /// Brings the map into its steady state.
    pub fn warm_up(&mut self) {
        overwrite_batched(&mut self.map, &mut self.rng, WARM_UP);
        self.before = (self.map.host_units(), self.map.moved_units());
    }

    /// A window of overwrites.
    pub fn overwrite(&mut self) {
        let before = self.map.host_units();
        let (seconds, ()) = timed(|| overwrite(&mut self.map, &mut self.rng, WINDOW));
        let units = (self.map.host_units() - before) as f64;
        self.random = self.random.max(units / seconds);
    }

    /// What was measured, and the same in batches, for which no drive has its like.
    #[must_use]
    pub fn figures(mut self) -> Figures {
        let host = (self.map.host_units() - self.before.0) as f64;
        let waf = 1.0 + (self.map.moved_units() - self.before.1) as f64 / host;
        let (batched_fill_units, _) = best_fill(self.shape, fill_batched);
        let (batched, _) = best_window(&mut self.map, &mut self.rng, overwrite_batched);
        let gb = |units: f64| units * UNIT_BYTES as f64 / 1e9;
        vec![
            ("bare_fill_GB_per_s", gb(self.fill_units)),
            ("bare_random_write_iops", self.random),
            ("bare_waf", waf),
            ("bare_bytes_per_unit", self.map.bytes_per_unit()),
            ("bare_batched_fill_GB_per_s", gb(batched_fill_units)),
            ("bare_batched_random_write_iops", batched),
        ]
    }
}

/// The rate of random writes with 7 % over-provisioning.
#[must_use]
pub fn seven_percent() -> Figures {
    let mut map = Bare::new(Shape::SEVEN_PERCENT);
    fill_batched(&mut map);
    let mut rng = Rng::new(1, 0);
    overwrite_batched(&mut map, &mut rng, WARM_UP);
    let (random, _) = best_window(&mut map, &mut rng, overwrite);
    vec![("bare_random_write_7_iops", random)]
}

/// Units a second of the fastest fill of a fresh map, and the last map.
fn best_fill(shape: Shape, fill: impl Fn(&mut Bare)) -> (f64, Bare) {
    let mut best: f64 = 0.0;
    let mut map = Bare::new(shape);
    for round in 0..ROUNDS {
        if round > 0 {
            map = Bare::new(shape);
        }
        let (seconds, ()) = timed(|| fill(&mut map));
        best = best.max(f64::from(shape.user_units) / seconds);
    }
    (best, map)
}

/// Writes a second of the fastest window, and write amplification over all windows.
fn best_window(
    map: &mut Bare,
    rng: &mut Rng,
    overwrite: impl Fn(&mut Bare, &mut Rng, f64),
) -> (f64, f64) {
    let mut best: f64 = 0.0;
    let (host, moved) = (map.host_units(), map.moved_units());
    for _ in 0..ROUNDS {
        let before = map.host_units();
        let (seconds, ()) = timed(|| overwrite(map, rng, WINDOW));
        best = best.max((map.host_units() - before) as f64 / seconds);
    }
    let host = (map.host_units() - host) as f64;
    (best, 1.0 + (map.moved_units() - moved) as f64 / host)
}

/// Writes every unit once, in order.
pub fn fill(map: &mut Bare) {
    for lpn in 0..map.shape().user_units {
        map.write(lpn);
    }
}

fn fill_batched(map: &mut Bare) {
    let user_units = map.shape().user_units;
    let mut batch = [0; BATCH];
    for first in (0..user_units).step_by(BATCH) {
        let length = BATCH.min((user_units - first) as usize);
        batch
            .iter_mut()
            .zip(first..)
            .for_each(|(lpn, next)| *lpn = next);
        map.write_all(&batch[..length]);
    }
}

/// Overwrites uniformly at random, so many times the user's units.
pub fn overwrite(map: &mut Bare, rng: &mut Rng, share: f64) {
    let user_units = u64::from(map.shape().user_units);
    for _ in 0..(user_units as f64 * share) as u64 {
        map.write(rng.below(user_units) as u32);
    }
}

/// The same in batches, the last one whole.
pub fn overwrite_batched(map: &mut Bare, rng: &mut Rng, share: f64) {
    let user_units = u64::from(map.shape().user_units);
    let mut batch = [0; BATCH];
    for _ in 0..((user_units as f64 * share) as u64).div_ceil(BATCH as u64) {
        batch.fill_with(|| rng.below(user_units) as u32);
        map.write_all(&batch);
    }
}
