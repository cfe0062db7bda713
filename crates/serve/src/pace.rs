//! Real time: when the drive's instants are due on this machine's clock, and how late answers are.
//!
//! Virtual time goes `speed` times as fast as the clock, from the moment at which they were joined.
//! A sleep ends later than it was asked to, by what the kernel's timers and its scheduler take:
//! that overshoot is learnt from each sleep, slept less, and spun instead. Lateness is the clock
//! just before the send minus the instant at which the drive had its answer.

#![allow(
    clippy::disallowed_types,
    reason = "the server answers in real time; the drive is told the time"
)]

use std::time::{Duration, Instant};

use flashtwin_base::{Histogram, Nanos};

/// The least and the most that is spun before an instant, in nanoseconds; the timers of an idle
/// machine overshoot by about the least.
const LEAST_MARGIN: u64 = 10_000;
const MOST_MARGIN: u64 = 60_000;
/// An answer counts as late beyond this share of its own time.
const LATE_SHARE: u64 = 10;

/// A clock that the drive's time hangs on.
#[derive(Debug)]
pub struct Pace {
    origin: Instant,
    /// Where the drive was when the clock was joined to it, in nanoseconds of both.
    drive_ns: u64,
    clock_ns: u64,
    speed: f64,
    timed: bool,
    margin_ns: u64,
}

impl Pace {
    /// Joins the clock to a drive that has come to `now`. Without `timed` requests are answered as
    /// soon as they are simulated, and time passes by itself only while nothing is asked.
    #[must_use]
    pub fn new(now: Nanos, speed: f64, timed: bool) -> Pace {
        Pace {
            origin: Instant::now(),
            drive_ns: now.0,
            clock_ns: 0,
            speed,
            timed,
            margin_ns: LEAST_MARGIN,
        }
    }

    /// True where answers wait for their time.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Nanoseconds of the clock.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Joins the clock to the drive anew, which has come to `now`.
    pub fn join(&mut self, now: Nanos) {
        self.join_at(now, self.clock());
    }

    /// The drive will have come to `now` at an instant of the clock.
    pub fn join_at(&mut self, now: Nanos, clock_ns: u64) {
        (self.drive_ns, self.clock_ns) = (now.0, clock_ns);
    }

    /// The drive's time at an instant of the clock.
    #[must_use]
    pub fn drive_at(&self, clock_ns: u64) -> Nanos {
        let span = clock_ns.saturating_sub(self.clock_ns);
        Nanos(self.drive_ns + (span as f64 * self.speed) as u64)
    }

    /// The clock at an instant of the drive.
    #[must_use]
    pub fn clock_at(&self, drive: Nanos) -> u64 {
        let span = drive.0.saturating_sub(self.drive_ns);
        self.clock_ns + (span as f64 / self.speed).ceil() as u64
    }

    /// How long to sleep for an instant of the clock; none where it is near enough to spin for.
    #[must_use]
    pub fn sleep_until(&self, clock_ns: u64) -> Option<Duration> {
        let left = clock_ns.saturating_sub(self.clock());
        let sleeps = left.checked_sub(self.margin_ns).filter(|&ns| ns > 0)?;
        Some(Duration::from_nanos(sleeps))
    }

    /// A sleep was to end at an instant of the clock, and has ended by itself.
    pub fn woke(&mut self, meant_ns: u64) {
        let over = self.clock().saturating_sub(meant_ns);
        // Up at once and down slowly: what was seen once comes again.
        self.margin_ns = if over > self.margin_ns {
            over
        } else {
            self.margin_ns - (self.margin_ns - over) / 64
        };
        self.margin_ns = self.margin_ns.clamp(LEAST_MARGIN, MOST_MARGIN);
    }
}

/// How late answers were.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    hist: Histogram,
    late: u64,
    answers: u64,
}

impl Lateness {
    /// An answer was due at `due_ns` of the clock, took `took_ns` of it, and is sent at `now_ns`.
    pub fn note(&mut self, due_ns: u64, took_ns: u64, now_ns: u64) {
        let late = now_ns.saturating_sub(due_ns);
        self.hist.record(late);
        self.answers += 1;
        self.late += u64::from(late > took_ns / LATE_SHARE);
    }

    /// How many answers.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Microseconds that `percent` of the answers were late by at most.
    #[must_use]
    pub fn percentile_us(&self, percent: f64) -> Option<f64> {
        let ns = self.hist.percentile(percent)?;
        Some(ns as f64 / 1e3)
    }

    /// The share of answers that took a tenth longer than the drive.
    #[must_use]
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.answers.max(1) as f64
    }
}
