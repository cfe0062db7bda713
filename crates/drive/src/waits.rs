//! How long the drive keeps a command of the host waiting for its own work.
//!
//! A queue makes its last command wait however quick the drive is, so that the time from a command
//! to its answer says little. Measured is the time in which the drive gives the host nothing: for
//! writes, how long no data of the first that waits is sent for; for a flush and a write that has
//! to be on flash, the time beyond the programs of what the buffer can hold, and where such
//! commands go in groups, from when the writes queued before their group have been placed; for a
//! read, the time beyond an operation of its die before each read of the queue, and beyond the time
//! in which the data of all of them crosses the link. `controller.longest_wait` bounds
//! all three, beyond what the work that may be under way takes by the spec. A longer wait changes
//! nothing in the drive. It is kept with its time and cause, for a test to fail by and a user to be
//! told of. Not judged are commands behind a TRIM that is alone, while the drive is throttled, and
//! at its start: these wait by the spec.

use flashtwin_base::{Nanos, Op};
use flashtwin_ftl::orders::VictimOrder;
use flashtwin_ftl::{Ftl, Policies};
use flashtwin_nand::{ModeTiming, Pace, Program};

use crate::config::Config;

/// A command that waited for longer than the spec allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The operation that the host asked for.
    pub op: Op,
    /// When it had waited.
    pub until: Nanos,
    /// How long, without what the spec's own times ask.
    pub span: Nanos,
    /// The work that it waited for.
    pub cause: &'static str,
}

/// The time that flash and controller take for work by a spec, whoever asks for it.
pub(crate) struct Times<'a> {
    config: &'a Config,
}

/// Granules a die that a mover may have under way, and movers.
const UNDER_WAY: u64 = 2 * 2;

impl Times<'_> {
    pub(crate) fn of(config: &Config) -> Times<'_> {
        Times { config }
    }

    /// Bytes of a native program of a die.
    fn granule(&self) -> u64 {
        let geometry = &self.config.part.geometry;
        u64::from(geometry.planes) * u64::from(geometry.page_bytes) * self.bits()
    }

    fn bits(&self) -> u64 {
        u64::from(self.config.part.geometry.cell.bits())
    }

    /// The longest that a die is busy with one operation, retries and later passes with it.
    fn operation(&self) -> Nanos {
        let part = &self.config.part;
        let tier = part.tier.as_ref().map(|tier| &tier.timing);
        let modes = [Some(&part.native), Some(&part.slc), tier];
        let own = modes.into_iter().flatten().map(longest);
        let passes = part
            .later_passes
            .map_or(Nanos::ZERO, |passes| passes.time());
        let retries = self.config.errors.ladder().into_iter().max();
        own.max().unwrap_or(Nanos::ZERO) + passes + retries.unwrap_or(Nanos::ZERO)
    }

    /// The time that a core takes to read and program a native granule.
    fn core(&self) -> Nanos {
        let (times, granule) = (&self.config.controller.operations, self.granule());
        let units = granule / u64::from(self.config.policy.unit_bytes);
        let pages = self.bits() * (times.read.0 + times.program.0);
        Nanos(pages + 2 * granule.div_ceil(1024) * times.kib.0 + units * times.moved.0)
    }

    /// The time that reading and programming some bytes takes of all that dies share.
    fn shared(&self, bytes: u64) -> Nanos {
        let (c, part) = (&self.config.controller, &self.config.part);
        let channels = u64::from(part.geometry.channels) * part.bus_bytes_per_s;
        let slowest = match c.data_bytes_per_s {
            0 => channels,
            most => most.min(channels),
        };
        let core = bytes.div_ceil(self.granule()) * self.core().0 / u64::from(c.cores);
        let path = u128::from(2 * bytes) * 1_000_000_000 / u128::from(slowest.max(1));
        Nanos(core.max(path as u64))
    }

    /// Dies that program natively at once.
    fn programming(&self) -> u64 {
        let dies = u64::from(self.config.part.geometry.dies());
        match self.config.controller.native_programs {
            0 => dies,
            most => dies.min(most.into()),
        }
    }

    /// Programs of what the write buffer can hold.
    fn programs(&self) -> u64 {
        self.config.controller.buffer_bytes.div_ceil(self.granule()) + 1
    }

    /// The time until all is done that the host and both movers may have under way.
    fn turn(&self) -> Nanos {
        let part = &self.config.part;
        let dies = u64::from(part.geometry.dies());
        let passes = part
            .later_passes
            .map_or(0, |passes| u64::from(passes.wordlines()));
        let granules = self.programs() + (UNDER_WAY + passes) * dies;
        let each = self.operation().0 * (1 + self.bits());
        let flash = granules.div_ceil(self.programming()) * each;
        self.shared(granules * self.granule()) + Nanos(flash)
    }

    /// How long a superblock takes of which a share, in thousandths, is moved before it is erased.
    pub(crate) fn emptied(&self, moved_milli: u64) -> Nanos {
        let part = &self.config.part;
        let wordline = longest(&part.native).0 + self.bits() * read_of(&part.native).0;
        let rows = u64::from(part.geometry.wordlines_per_block) * u64::from(part.geometry.dies());
        let flash = rows.div_ceil(self.programming()) * wordline;
        let work = flash.max(self.shared(part.geometry.superblock_bytes()).0);
        Nanos(work / 1000 * moved_milli) + part.native.erase
    }
}

/// The longest program or erase of a mode.
fn longest(mode: &ModeTiming) -> Nanos {
    let program = match &mode.program {
        Program::OneShot(time) => *time,
        Program::PageByPage(times) => Nanos(times.iter().map(|time| time.0).sum()),
    };
    program.max(mode.erase).max(read_of(mode))
}

fn read_of(mode: &ModeTiming) -> Nanos {
    mode.read.iter().copied().max().unwrap_or(Nanos::ZERO)
}

/// The bound, and what was beyond it.
pub(crate) struct Waits {
    most: Nanos,
    /// The time until all is done that the host and both movers may have under way.
    turn: Nanos,
    /// The time that a die and a core take for a granule.
    operation: Nanos,
    /// The slowest operation so far beside the part's mean.
    slowest: Pace,
    /// Programs of what the buffer can hold.
    programs: u64,
    /// Since when no data of the first write is sent for; never while some is.
    held_since: Nanos,
    cause: &'static str,
    /// Until when the drive is slower by the spec: throttled, or at its start.
    excused_until: Nanos,
    longest: Option<Wait>,
    count: u64,
}

impl Waits {
    pub(crate) fn new(config: &Config) -> Waits {
        let times = Times::of(config);
        Waits {
            most: config.controller.longest_wait,
            turn: times.turn(),
            operation: times.operation() + times.core() + times.shared(times.granule()),
            slowest: Pace::MEAN,
            programs: times.programs(),
            held_since: Nanos::NEVER,
            cause: "",
            excused_until: Nanos::ZERO,
            longest: None,
            count: 0,
        }
    }

    /// The first write that waits has no place yet.
    #[inline(always)]
    pub(crate) fn hold<P: Policies>(&mut self, now: Nanos, ftl: &Ftl<P>) {
        if self.held_since == Nanos::NEVER {
            self.held_since = now;
        } else if now - self.held_since > self.most {
            self.cause = ftl.what_holds_host();
        }
    }

    /// Data of the first write is sent for.
    #[inline(always)]
    pub(crate) fn release(&mut self, now: Nanos) {
        if self.held_since == Nanos::NEVER {
            return;
        }
        let since = std::mem::replace(&mut self.held_since, Nanos::NEVER);
        if now - since > self.most {
            self.held_long(since, now);
        }
    }

    /// The host's own programs may have filled the buffer and have to make room in it.
    #[cold]
    fn held_long(&mut self, since: Nanos, now: Nanos) {
        let own = self.own(0);
        self.note(Op::Write, (since, now), own, self.cause);
    }

    /// The most time, by the spec, that all under way and then some operations of the command take
    /// one after another.
    fn own(&self, operations: u64) -> Nanos {
        let all = self.operation.0.saturating_mul(operations);
        Nanos(self.slowest.of(all.saturating_add(self.turn.0)))
    }

    /// An operation takes its time at a pace.
    pub(crate) fn note_pace(&mut self, pace: Pace) {
        self.slowest = self.slowest.max(pace);
    }

    /// True if a command that began to wait at a moment, or never, has waited for long.
    #[inline(always)]
    pub(crate) fn is_long(&self, now: Nanos, began: Nanos) -> bool {
        now.0.saturating_sub(began.0) > self.most.0
    }

    #[cold]
    fn note(&mut self, op: Op, span: (Nanos, Nanos), own: Nanos, cause: &'static str) {
        let (since, until) = span;
        let beyond = Nanos((until - since).0.saturating_sub(own.0));
        if beyond <= self.most || since < self.excused_until {
            return;
        }
        self.count += 1;
        if self.longest.is_none_or(|longest| beyond > longest.span) {
            self.longest = Some(Wait {
                op,
                until,
                span: beyond,
                cause,
            });
        }
    }

    /// A read, a flush or a write that waits for its programs is answered after a long time. It
    /// may take its programs and those of what the buffer can hold, or, of a read, the `reads`
    /// before it. What else is queued may cross the link first, which takes `crosses`: reads are
    /// answered one after another, and a write shares its programs with the writes behind it.
    pub(crate) fn ended_late(
        &mut self,
        (op, units): (Op, u32),
        (reads, crosses): (u64, Nanos),
        span: (Nanos, Nanos),
        cause: &'static str,
    ) {
        let own = match op {
            Op::Read => self.own(reads) + crosses,
            Op::Write => self.own(self.programs + u64::from(units)) + crosses,
            _ => self.own(self.programs + u64::from(units)),
        };
        self.note(op, span, own, cause);
    }

    /// The longest wait since the last call, and how many there were.
    pub(crate) fn take(&mut self) -> Option<(Wait, u64)> {
        let count = std::mem::take(&mut self.count);
        self.longest.take().map(|longest| (longest, count))
    }

    /// A step of throttling holds at a moment: what is under way then is slower.
    pub(crate) fn throttled(&mut self, at: Nanos, speed_milli: u64) {
        let done = at + Nanos(self.turn.0 * 1000 / speed_milli.max(1));
        self.excused_until = self.excused_until.max(done);
    }

    /// Dies or cores rest for what they did while the drive was throttled, until a moment, and what
    /// waits for them takes its turn then.
    pub(crate) fn rests(&mut self, until: Nanos) {
        self.excused_until = self.excused_until.max(until + self.turn);
    }

    /// The drive starts, and looks at commands from a moment on.
    pub(crate) fn starts(&mut self, ready: Nanos) {
        self.excused_until = ready;
    }

    /// Commands are gone with the power.
    pub(crate) fn power_lost(&mut self) {
        self.held_since = Nanos::NEVER;
    }
}

/// A warning foretells a mean, as a rule. Drives with 3 % of spare flash and a staged cache that
/// has own blocks waited up to twice as long.
const FORETOLD_TIMES: u64 = 3;

/// More reads than that in front of each operation of collection are as good as without end: of
/// 50 us each they take a tenth of a second, and hundreds of operations free a superblock.
const READS_FIRST_MOST: u32 = 2000;

/// The longest wait that a drive of this config may have. To what the spec bounds come superblocks
/// full of valid data, which a host may have to wait for that has run out of superblocks: one, and
/// as many as the order of collection may take in a row. Where a warning about the spec foretells
/// longer waits it is [`FORETOLD_TIMES`] of those. All of it is as many times longer as retries
/// make a superblock slower to empty, which neither counts. None where collection stops the host
/// until it has freed several, and where any number of reads may go before what a write waits for:
/// because the spec lets them, or because rows that cannot be read are rebuilt, each from a whole
/// stripe.
#[must_use]
pub fn excusable(config: &Config) -> Option<Nanos> {
    let c = &config.controller;
    let overtaken = c.read_priority && c.reads_first > READS_FIRST_MOST;
    if overtaken || config.errors.rebuild || config.policy.gc.pace.pacing().stops_host {
        return None;
    }
    let times = Times::of(config);
    let retries = config.errors.ladder().into_iter().max();
    let rows = u64::from(config.part.geometry.wordlines_per_block) * times.bits();
    let ladder = Nanos(rows * retries.unwrap_or(Nanos::ZERO).0);
    let emptied = times.emptied(1000);
    let victims = 1 + u64::from(config.policy.gc.victim.most_full_in_turn());
    let most = c.longest_wait + times.turn() + Nanos(emptied.0.saturating_mul(victims));
    let foretold = Nanos(c.foretold_wait.0.saturating_mul(FORETOLD_TIMES));
    let slower = 1 + ladder.0.div_ceil(emptied.0.max(1));
    Some(Nanos(most.max(foretold).0.saturating_mul(slower)))
}
