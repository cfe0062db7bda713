//! When a request may start: rates, thinking, and the minima below which a job fails.
//!
//! A rate says when the next request of its direction is due; a job that fell behind catches up. A
//! rate in requests is one of as many of the smallest blocks: with several sizes fewer are made.
//! fio counts microseconds here, we nanoseconds, so that fast rates are what was asked for.

use flashtwin_base::Nanos;
use flashtwin_base::rng::Rng;
use flashtwin_workload::fio::{Counted, Fio, Think, Triple};
use flashtwin_workload::{Direction, Job, Mix};

/// fio does not look at minima in the first two seconds.
const SETTLES: Nanos = Nanos(2_000_000_000);

/// What a rate says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Now, in this direction.
    Go(Direction),
    /// Not before this time since the epoch, and then in this direction.
    Wait(Nanos, Direction),
}

/// The rates of a job; times are since its epoch.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    bytes_s: Triple<u64>,
    /// Mean time between two Poisson arrivals: each counts alike, whatever its size.
    each: Triple<Option<f64>>,
    poisson: Option<Rng>,
    ignore_think: bool,
    /// Percent of the other direction, where a job has two.
    other: Triple<u32>,
    least: Triple<u64>,
    next: Triple<Nanos>,
    issued: Triple<u64>,
    last: Triple<f64>,
}

impl Pacer {
    /// The rates of a job that has any.
    pub fn new(job: &Job, fio: &Fio, index: u32) -> Option<Pacer> {
        let pace = &fio.pace;
        if !pace.limits() {
            return None;
        }
        let blocks = fio.blocks.as_ref().expect("a checked job has its blocks");
        let least = [0, 1, 2].map(|i: usize| blocks[i].least);
        let bytes_s = [0, 1, 2].map(|i: usize| pace.bytes_s[i].max(pace.iops[i] * least[i]));
        let each = [0, 1, 2].map(|i: usize| {
            let rate = bytes_s[i] as f64 / least[i] as f64;
            (pace.poisson && bytes_s[i] > 0).then_some(1e9 / rate)
        });
        let other = match job.mix {
            Mix::Reads(percent) => [100 - percent, percent, 0],
            _ => [0; 3],
        };
        let stream = u64::from(index) << 32 | 16;
        Some(Pacer {
            bytes_s,
            each,
            poisson: pace.poisson.then(|| Rng::new(job.seed, stream)),
            ignore_think: pace.ignore_think,
            other,
            least,
            next: [Nanos::ZERO; 3],
            issued: [0; 3],
            last: [0.0; 3],
        })
    }

    /// The measured time begins: what was issued before does not count.
    pub fn restart(&mut self) {
        self.next = [Nanos::ZERO; 3];
        self.issued = [0; 3];
        self.last = [0.0; 3];
    }

    /// True if a request may start, and in which direction.
    pub fn turn(&self, now: Nanos, wanted: Direction) -> Turn {
        let due = self.next[wanted as usize];
        if due <= now {
            return Turn::Go(wanted);
        }
        if self.other[wanted as usize] == 0 {
            return Turn::Wait(due, wanted);
        }
        let other = match wanted {
            Direction::Read => Direction::Write,
            _ => Direction::Read,
        };
        let its_due = self.next[other as usize];
        if its_due <= now {
            Turn::Go(other)
        } else if due <= its_due {
            Turn::Wait(due, wanted)
        } else {
            Turn::Wait(its_due, other)
        }
    }

    /// A request was issued.
    pub fn issued(&mut self, direction: Direction, bytes: u64) {
        let i = direction as usize;
        self.issued[i] += bytes;
        if self.bytes_s[i] == 0 {
            return;
        }
        if let Some(mean) = self.each[i] {
            let step = match &mut self.poisson {
                Some(rng) => mean * exponential(rng),
                None => mean,
            };
            self.last[i] += step;
            self.next[i] = Nanos(self.last[i] as u64);
        } else {
            let ns = u128::from(self.issued[i]) * 1_000_000_000 / u128::from(self.bytes_s[i]);
            self.next[i] = Nanos(u64::try_from(ns).unwrap_or(u64::MAX));
        }
    }

    /// The job thought for so long; where the rate does not count that, it is caught up with.
    pub fn thought(&mut self, direction: Direction, time: Nanos) {
        let i = direction as usize;
        if !self.ignore_think || self.bytes_s[i] == 0 {
            return;
        }
        let missed = u128::from(self.bytes_s[i]) * u128::from(time.0) / 1_000_000_000;
        let block = self.least[i];
        let takes = u128::from(block) * 1_000_000_000 / u128::from(self.bytes_s[i]);
        let over = if takes <= u128::from(time.0) {
            block
        } else {
            0
        };
        self.issued[i] += (missed as u64).saturating_sub(over);
        self.last[i] += time.0 as f64;
    }
}

/// A random time with a mean of 1.
fn exponential(rng: &mut Rng) -> f64 {
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -libm::log(uniform)
}

/// When a job thinks.
#[derive(Clone, Debug)]
pub(crate) struct Thinking {
    pub think: Think,
    last_count: u64,
    last_time: Nanos,
}

impl Thinking {
    pub fn new(think: Think, epoch: Nanos) -> Thinking {
        Thinking {
            think,
            last_count: 0,
            last_time: epoch,
        }
    }

    /// True if the job pauses now, after these numbers of requests issued and completed.
    pub fn is_due(&mut self, now: Nanos, issued: u64, completed: u64) -> bool {
        let Think {
            blocks,
            count,
            iotime_ns,
            ..
        } = self.think;
        let counted = match count {
            Counted::Complete => completed,
            Counted::Issue => issued,
        };
        let by_time = iotime_ns > 0 && (now - self.last_time).0 >= iotime_ns;
        let by_count = blocks.is_some_and(|blocks| counted >= self.last_count + blocks);
        if by_time || by_count {
            self.last_count = counted;
        }
        by_time || by_count
    }

    /// The pause is over.
    pub fn over(&mut self, now: Nanos) {
        self.last_time = now;
    }
}

/// The rates below which a job fails.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    bytes_s: Triple<u64>,
    iops: Triple<u64>,
    cycle: u64,
    seen: Triple<(u64, u64)>,
    looked: Triple<Nanos>,
}

impl Minimum {
    pub fn new(fio: &Fio, epoch: Nanos) -> Option<Minimum> {
        let pace = &fio.pace;
        pace.demands().then_some(Minimum {
            bytes_s: pace.min_bytes_s,
            iops: pace.min_iops,
            cycle: pace.cycle_ns,
            seen: [(0, 0); 3],
            looked: [epoch; 3],
        })
    }

    /// What a job that has done so many bytes and requests falls short of, if anything; `start` is
    /// that of its pass.
    pub fn missed(
        &mut self,
        now: Nanos,
        start: Nanos,
        bytes: [u64; 3],
        ios: [u64; 3],
    ) -> Option<String> {
        if now < start + SETTLES {
            return None;
        }
        for i in 0..3 {
            if bytes[i] == 0 || (self.bytes_s[i] == 0 && self.iops[i] == 0) {
                continue;
            }
            let (old_bytes, old_ios) = self.seen[i];
            if old_bytes > 0 || old_ios > 0 {
                let spent = (now - self.looked[i]).0;
                if spent < self.cycle || spent == 0 {
                    continue;
                }
                let a_second = |amount: u64| super::stats::per_second(amount, spent);
                let (rate, least, unit) = if self.bytes_s[i] > 0 {
                    (a_second(bytes[i] - old_bytes), self.bytes_s[i], "B/s")
                } else {
                    (a_second(ios[i] - old_ios), self.iops[i], " IOPS")
                };
                if rate < least {
                    return Some(format!("{rate}{unit}, below the minimum of {least}{unit}"));
                }
            }
            self.seen[i] = (bytes[i], ios[i]);
            self.looked[i] = now;
        }
        None
    }

    /// The measured time begins.
    pub fn restart(&mut self, epoch: Nanos) {
        self.seen = [(0, 0); 3];
        self.looked = [epoch; 3];
    }
}
