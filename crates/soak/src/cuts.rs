//! The power goes: between any two events, or in the midst of a kind of work that was waited for.

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_ftl::blocks::State;

use crate::draw::pick;
use crate::host::Host;

/// Kinds of work that cuts are aimed at.
pub const AIMS: usize = 14;
/// Their names, in the order of [`crate::Report::amid`].
pub const NAMES: [&str; AIMS] = [
    "slc", "tier", "direct", "fold", "gc", "wear", "refresh", "failure", "map", "pad", "parity",
    "journal", "pass", "erase",
];
/// Events of the background that are waited for after the last answer.
const EVENTS: u64 = 300;
/// Background work that begins later than this is not waited for.
const LATEST: Nanos = Nanos::from_secs(40);

/// A kind of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim(usize);

impl Aim {
    pub(crate) fn drawn(rng: &mut Rng) -> Aim {
        Aim(rng.below(AIMS as u64) as usize)
    }

    /// A number that rises when such work is handed to the flash.
    fn progress(self, drive: &Drive) -> u64 {
        let c = drive.counters();
        let counts = [
            c.slc_units,
            c.tier_units,
            c.direct_units,
            c.fold_units,
            c.gc_units,
            c.wear_units,
            c.refresh_units,
            c.failure_units,
            c.map_units,
            c.pad_units,
            c.parity_units,
            c.journal_units,
            c.second_pass_units,
        ];
        let blocks = drive.ftl().superblocks().iter();
        let erasing = || blocks.filter(|b| b.state == State::Erasing).count() as u64;
        counts.get(self.0).copied().unwrap_or_else(erasing)
    }
}

impl Host<'_> {
    /// Commands at a depth, in whose midst the power goes.
    pub(crate) fn cut_under_commands(&mut self) -> Result<(), String> {
        let mix = self.mix();
        for _ in 0..self.rng.below(mix.commands + 1) {
            while self.sent.len() >= mix.depth {
                self.step()?;
            }
            self.command(&mix);
        }
        for _ in 0..self.rng.below(60) {
            if !self.sent.is_empty() {
                self.step()?;
            }
        }
        self.cut()
    }

    /// Commands, and rest after them, until work of a kind is under way; then the power goes.
    pub(crate) fn cut_in_the_midst(&mut self, aim: Aim) -> Result<(), String> {
        let (mix, begun) = (self.mix(), aim.progress(&self.drive));
        let skipped = self.rng.below(mix.commands + 1);
        for sent in 0..mix.commands {
            while self.sent.len() >= mix.depth {
                self.step()?;
                if sent >= skipped && aim.progress(&self.drive) > begun {
                    return self.cut_amid(aim);
                }
            }
            self.command(&mix);
        }
        let latest = self.drive.now() + LATEST;
        for _ in 0..EVENTS {
            let due = self.drive.next_due();
            if self.sent.is_empty() && due.is_none_or(|due| due > latest) {
                break;
            }
            self.step()?;
            if aim.progress(&self.drive) > begun {
                return self.cut_amid(aim);
            }
        }
        self.cut()
    }

    fn cut_amid(&mut self, aim: Aim) -> Result<(), String> {
        self.report.amid[aim.0] += 1;
        self.cut()
    }

    /// The power goes now or within the next operation, and comes back.
    pub(crate) fn cut(&mut self) -> Result<(), String> {
        let now = self.drive.now();
        let span = pick(&mut self.rng, &[0, 1_000, 100_000, 3_000_000, 50_000_000]);
        let at = now + Nanos(self.rng.below(span + 1));
        self.drive.power_cut(at, &mut self.done);
        self.hear()?;
        self.tally.forgotten(self.sent.len());
        self.sent.clear();
        self.heard = at;
        let off = pick(&mut self.rng, &[0, 1, 10_000_000_000]);
        let off = self.rng.below(off + 1);
        let ready = self.drive.power_on(at + Nanos(off));
        self.mix_in(ready.0);
        self.came_back("power cut")?;
        if self.rng.chance(30) {
            // The next cut may come before the first command.
            return self.cut();
        }
        Ok(())
    }

    /// The drive has started: it holds what was promised.
    pub(crate) fn came_back(&mut self, after: &str) -> Result<(), String> {
        self.cuts += 1;
        self.report.cuts += 1;
        self.drive.ftl().check();
        let (cuts, ftl) = (self.cuts, self.drive.ftl());
        let compared = self.shadow.after_cut(|lpn| ftl.version(lpn));
        self.report.compared += compared.map_err(|what| format!("{what} after {after} {cuts}"))?;
        Ok(())
    }
}
