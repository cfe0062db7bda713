//! Whether a state that was read can be: the firmware's own look at itself
//! ([`flashtwin_ftl::Ftl::audit`]), and the same for the parts of the drive. A snapshot of ours
//! passes; what was made up is refused before it can do harm.

use flashtwin_base::Nanos;
use flashtwin_ftl::{NandOp, Policies, Token};

use crate::engine::{Drive, READ_AHEAD};
use crate::event::Event;

/// What a look at a part finds: nothing, or what cannot be.
pub(crate) type Checked = Result<(), String>;

/// Times, bytes and counts of a drive's life stay below this: 73 years, an exabyte.
pub(crate) const LIFETIME: u64 = 1 << 61;

/// Leaves a look with a message where a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($said:tt)+) => {
        if !$holds {
            return Err(format!($($said)+));
        }
    };
}
pub(crate) use ensure;

impl<P: Policies> Drive<P> {
    /// What of a loaded state no drive could have come to with no command outstanding. Costs a
    /// pass over all tables.
    pub(super) fn audit(&self) -> Checked {
        ensure!(self.now.0 < LIFETIME, "it is {} ns", self.now.0);
        ensure!(self.engine_free.0 < LIFETIME, "the engine is never free");
        self.ftl.audit()?;
        self.totals.audit()?;
        self.runs.audit()?;
        self.link.audit()?;
        self.cores.audit()?;
        self.read_ahead.audit(self.ftl.logical_units())?;
        self.background.audit(self.now)?;
        self.errors.audit(self.now, self.ftl.logical_units())?;
        let all = (self.ftl.layout.dies, self.ftl.layout.superblocks);
        self.rebuilds.audit(all, |token| self.knows(token))?;
        self.flash.audit(|token| self.knows(token))?;
        self.audit_events()?;
        self.power.audit(self.now)?;
        self.thermal.audit(self.now, self.energy_fj())
    }

    /// Whether an operation can be for this; host commands are none.
    fn knows(&self, token: Token) -> bool {
        match token {
            Token::Host(chunk) => chunk >= READ_AHEAD && self.read_ahead.awaits(chunk - READ_AHEAD),
            Token::Rebuild(place) => self.rebuilds.awaits(place),
            token => self.ftl.knows(token),
        }
    }

    fn audit_events(&self) -> Checked {
        ensure!(self.events.is_sound(), "events out of order");
        let dies = self.flash.dies.len();
        let (mut fetched, mut prepared) = (0, 0);
        for (at, event) in self.events.iter() {
            let known = match event {
                Event::Sensed(die)
                | Event::RegisterFree(die)
                | Event::Done(die)
                | Event::Rested(die)
                | Event::Suspended(die) => usize::from(die) < dies,
                Event::PlaneSensed(die, plane) | Event::PlaneDone(die, plane) => {
                    usize::from(die) < dies && u32::from(plane) < self.flash.independent
                }
                Event::MapFetched(slot) => {
                    fetched += 1;
                    slot < self.ftl.map_slots()
                }
                Event::Prepared => {
                    prepared += 1;
                    true
                }
                Event::GatherTimer
                | Event::IdleTimer
                | Event::RefreshTimer
                | Event::FoldTimer
                | Event::Release => true,
                Event::Command(_)
                | Event::Arrived
                | Event::Answer(_)
                | Event::Seen(_)
                | Event::Trimmed(_) => false,
            };
            let later = at >= self.now && (at.0 < LIFETIME || at == Nanos::NEVER);
            ensure!(known && later, "{event:?} at {}", at.0);
        }
        let possible = |op: &NandOp| self.flash.could_do(op) && self.knows(op.token);
        self.firmware.audit(prepared, possible)?;
        self.lookups.audit(fetched)
    }
}
