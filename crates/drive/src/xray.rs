//! The X-ray: what happened inside, on the host's time axis. It explains and never feeds a finding.

use flashtwin_base::{Nanos, memory};
use flashtwin_ftl::{Ftl, Policies};
use flashtwin_nand::energy::FJ_PER_UJ;

use crate::errors::ErrorCounts;
use crate::flash::Flash;
use crate::power::Power;
use crate::thermal::Thermal;

/// How many columns there are.
const WIDTH: usize = 39;

/// Names of the columns, in the order of [`Xray::columns`]. Bytes, erases, reads and suspensions
/// are cumulative since the drive was built, and so is wear: the mean over all superblocks of
/// cycles used over cycles rated, each mode's for itself, in millionths; energy is in microjoules.
/// Columns from `wear_spread_ppm` on hold the state at the end of the interval. The spread is that
/// between the most and the least worn superblock in use. The power state is 0 active, 1 idle, 2
/// and 3 the low-power states; the temperature is in thousandths of a degree Celsius.
pub const COLUMNS: [&str; WIDTH] = [
    "t_ns",
    "host_bytes",
    "slc_bytes",
    "tier_bytes",
    "direct_bytes",
    "fold_bytes",
    "gc_bytes",
    "wear_bytes",
    "refresh_bytes",
    "failure_bytes",
    "map_bytes",
    "pad_bytes",
    "parity_bytes",
    "second_pass_bytes",
    "journal_bytes",
    "recovery_bytes",
    "saved_bytes",
    "slc_erases",
    "native_erases",
    "tier_erases",
    "map_reads",
    "read_retries",
    "uncorrectable",
    "rebuilt",
    "wear_ppm",
    "energy_uj",
    "suspends",
    "wear_spread_ppm",
    "retired_superblocks",
    "cache_bytes",
    "cache_valid_bytes",
    "cache_limit_bytes",
    "tier_held_bytes",
    "tier_valid_bytes",
    "static_left_ppm",
    "free_superblocks",
    "native_free_bytes",
    "power_state",
    "temperature_mc",
];

/// What the X-ray looks at.
pub(crate) struct Inside<'a, P: Policies> {
    pub(crate) ftl: &'a Ftl<P>,
    pub(crate) host_bytes: u64,
    pub(crate) flash: &'a Flash,
    pub(crate) errors: ErrorCounts,
    pub(crate) power: &'a Power,
    pub(crate) thermal: &'a Thermal,
}

/// Samples of the inside at a fixed interval. Most columns rarely change, so only the values that
/// differ from the sample before are stored.
pub struct Xray {
    every: Nanos,
    next: Nanos,
    start: Nanos,
    /// The last sample, and before the first one zeros.
    last: [u64; WIDTH],
    /// For each sample a bit for each column whose value is another than before.
    changed: Vec<u64>,
    /// Those values, column by column within a sample.
    values: Vec<i64>,
    wear: Wear,
    /// A sample found no memory: there are no more.
    lacks_memory: bool,
}

const _: () = assert!(WIDTH <= 64, "a bit for each column");

/// What takes a look at every superblock, kept until one of them was erased or given up.
#[derive(Clone, Copy, Debug, Default)]
struct Wear {
    /// Erases, and blocks gone bad, at the time of the look.
    seen: Option<(u64, u64)>,
    spread_ppm: u64,
    retired: u64,
    static_left_ppm: u64,
}

impl Wear {
    fn look<P: Policies>(&mut self, ftl: &Ftl<P>) {
        let c = ftl.counters();
        let erases = c.slc_erases + c.native_erases + c.tier_erases;
        let seen = Some((erases, ftl.grown_bad_blocks().into()));
        if self.seen == seen {
            return;
        }
        let (least, most) = ftl.wear_range();
        *self = Wear {
            seen,
            spread_ppm: ((most - least) * 1e6) as u64,
            retired: ftl.retired_superblocks().into(),
            static_left_ppm: (ftl.static_budget() * 1e6) as u64,
        };
    }
}

impl Default for Xray {
    /// Switched off.
    fn default() -> Xray {
        Xray {
            every: Nanos::ZERO,
            next: Nanos::NEVER,
            start: Nanos::ZERO,
            last: [0; WIDTH],
            changed: Vec::new(),
            values: Vec::new(),
            wear: Wear::default(),
            lacks_memory: false,
        }
    }
}

impl Xray {
    /// Starts over at `now`, sampling at the end of every interval; `Nanos::ZERO` switches it off.
    pub fn restart(&mut self, now: Nanos, every: Nanos) {
        self.every = every;
        self.start = now;
        self.next = if every == Nanos::ZERO {
            Nanos::NEVER
        } else {
            now + every
        };
        self.last = [0; WIDTH];
        self.lacks_memory = false;
        self.changed.clear();
        self.values.clear();
    }

    /// When the next sample is due.
    #[must_use]
    pub fn due(&self) -> Nanos {
        self.next
    }

    /// Takes the samples that are due at or before `to`.
    #[cold]
    pub(crate) fn sample<P: Policies>(&mut self, to: Nanos, inside: &Inside<'_, P>) {
        while self.next <= to {
            self.take(self.next, inside);
            self.next += self.every;
            if self.lacks_memory {
                self.next = Nanos::NEVER;
            }
        }
    }

    /// Whether samples are lacking because there was no memory for them.
    #[must_use]
    pub fn lacks_memory(&self) -> bool {
        self.lacks_memory
    }

    /// Bytes that [`Xray::columns`] takes.
    #[must_use]
    pub fn columns_bytes(&self) -> u64 {
        (self.changed.len() * WIDTH * size_of::<i64>()) as u64
    }

    /// Takes a last, shorter interval's sample.
    pub(crate) fn close<P: Policies>(&mut self, now: Nanos, inside: &Inside<'_, P>) {
        if self.every == Nanos::ZERO {
            return;
        }
        self.sample(now, inside);
        if now + self.every > self.next {
            self.take(now, inside);
        }
        self.next = Nanos::NEVER;
    }

    fn take<P: Policies>(&mut self, at: Nanos, inside: &Inside<'_, P>) {
        let ftl = inside.ftl;
        let c = ftl.counters();
        let energy = inside.power.energy_fj(at, inside.flash);
        let celsius = inside.thermal.celsius(at, energy);
        let unit = u64::from(ftl.layout().unit_bytes);
        let (cache_units, cache_valid) = ftl.cache_units();
        let (tier_held, tier_valid) = ftl.tier_units();
        let free = u64::from(ftl.free_superblocks());
        self.wear.look(ftl);
        let row = [
            at.0 - self.start.0,
            inside.host_bytes,
            c.slc_units * unit,
            c.tier_units * unit,
            c.direct_units * unit,
            c.fold_units * unit,
            c.gc_units * unit,
            c.wear_units * unit,
            c.refresh_units * unit,
            c.failure_units * unit,
            c.map_units * unit,
            c.pad_units * unit,
            c.parity_units * unit,
            c.second_pass_units * unit,
            c.journal_units * unit,
            c.recovery_units * unit,
            c.saved_units * unit,
            c.slc_erases,
            c.native_erases,
            c.tier_erases,
            c.map_reads,
            inside.errors.retries,
            inside.errors.uncorrectable,
            inside.errors.rebuilt,
            (ftl.mean_wear() * 1e6) as u64,
            (energy / FJ_PER_UJ) as u64,
            inside.flash.suspensions(),
            self.wear.spread_ppm,
            self.wear.retired,
            cache_units * unit,
            cache_valid * unit,
            ftl.cache_limit_units() * unit,
            tier_held * unit,
            tier_valid * unit,
            self.wear.static_left_ppm,
            free,
            free * ftl.layout().native_bytes(),
            inside.power.state(at) as u64,
            libm::round(celsius * 1e3) as u64,
        ];
        self.keep(&row);
    }

    /// Keeps what is new in a sample.
    pub fn keep(&mut self, row: &[u64; WIDTH]) {
        let mut changed = 0u64;
        for (column, (last, value)) in self.last.iter().zip(row).enumerate() {
            changed |= u64::from(last != value) << column;
        }
        let more = changed.count_ones() as usize;
        if self.values.try_reserve(more).is_err() || !memory::grows(&mut self.changed) {
            self.lacks_memory = true;
            return;
        }
        let mut left = changed;
        while left != 0 {
            self.values.push(row[left.trailing_zeros() as usize] as i64);
            left &= left - 1;
        }
        self.last = *row;
        self.changed.push(changed);
    }

    /// The samples so far, a column for each of [`COLUMNS`].
    #[must_use]
    pub fn columns(&self) -> [Vec<i64>; WIDTH] {
        let samples = self.changed.len();
        let mut columns = std::array::from_fn(|_| Vec::with_capacity(samples));
        let mut values = self.values.iter();
        let mut row = [0; WIDTH];
        for &changed in &self.changed {
            let mut left = changed;
            while left != 0 {
                let value = values.next().expect("a value for each bit");
                row[left.trailing_zeros() as usize] = *value;
                left &= left - 1;
            }
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        columns
    }
}
