//! Sequential runs of writes: how many bytes lie in a row before a command, as a firmware sees it
//! that keeps random writes in the cache and lets long runs pass it.
//!
//! A few runs are followed at once; a command that continues none of them begins one in the place
//! of the run that has waited longest.

/// Runs that are followed at once: as many as a firmware usually tells apart.
pub const RUNS: usize = 8;

/// One run.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Run {
    /// Sector at which the next command of the run begins.
    next: u64,
    /// Bytes so far.
    bytes: u64,
    /// When it was last continued, counted in commands.
    used: u64,
}

/// The runs that are followed.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Runs {
    all: [Run; RUNS],
    clock: u64,
}

impl Default for Runs {
    /// None yet.
    fn default() -> Runs {
        let none = Run {
            next: u64::MAX,
            bytes: 0,
            used: 0,
        };
        Runs {
            all: [none; RUNS],
            clock: 0,
        }
    }
}

impl Runs {
    /// Notes a write; the answer is the length of the run that it continues, itself included.
    pub fn note(&mut self, lba: u64, sectors: u64, bytes: u64) -> u64 {
        self.clock += 1;
        let at = self.all.iter().position(|run| run.next == lba);
        let oldest = || (0..RUNS).min_by_key(|&i| self.all[i].used).unwrap_or(0);
        let known = at.is_some();
        let run = &mut self.all[at.unwrap_or_else(oldest)];
        *run = Run {
            next: lba + sectors,
            bytes: if known { run.bytes + bytes } else { bytes },
            used: self.clock,
        };
        run.bytes
    }
}
