//! How much a drive has done since its host could last look up.
//!
//! A host looks up at completions: whether somebody wants it to stop, how far it is. A drive that
//! takes an hour for a command, or rests for years, completes nothing for long and has much to do
//! meanwhile: events, samples of the X-ray, ticks of the temperature. So the loops of the engine
//! leave off between two moments when much has happened without a completion, and their callers
//! call them again. Nothing that happens depends on it.

use flashtwin_base::Nanos;

/// Events without a completion after which a loop leaves off.
const QUIET: u64 = 1 << 16;
/// Events after which it does so in any case: about a second of a processor.
const MOST: u64 = 1 << 22;
/// Events that take as long as a look at the inside of the drive.
const LOOK: u64 = 16;

/// The count; where a loop left off, `has_left_off` until the next one begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    taken: u64,
    due: u64,
    latest: u64,
    /// When the inside was looked at last.
    looked: Nanos,
    has_left_off: bool,
}

impl Turns {
    pub(crate) const fn new() -> Turns {
        Turns {
            taken: 0,
            due: QUIET,
            latest: MOST,
            looked: Nanos::ZERO,
            has_left_off: false,
        }
    }

    /// A loop begins.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.has_left_off = false;
    }

    /// An event happens.
    #[inline(always)]
    pub(crate) fn take(&mut self) {
        self.taken += 1;
    }

    /// The inside of the drive is looked at.
    pub(crate) fn look(&mut self, at: Nanos) {
        self.taken += LOOK;
        self.looked = at;
    }

    /// Commands have completed.
    #[inline(always)]
    pub(crate) fn completed(&mut self) {
        self.due = (self.taken + QUIET).min(self.latest);
    }

    /// When the inside was looked at last.
    pub(crate) fn looked(&self) -> Nanos {
        self.looked
    }

    /// Whether the last loop left off.
    #[inline(always)]
    pub(crate) fn have_left_off(&self) -> bool {
        self.has_left_off
    }

    /// Whether a loop is to leave off.
    #[inline(always)]
    pub(crate) fn are_due(&self) -> bool {
        self.taken >= self.due
    }

    /// A loop leaves off; the next time is counted from here.
    #[cold]
    pub(crate) fn leave_off(&mut self) {
        self.due = self.taken + QUIET;
        self.latest = self.taken + MOST;
        self.has_left_off = true;
    }
}
