//! The plain map: for each logical unit the versions that it may hold.
//!
//! The drive stamps each change of its map with a number that grows; the shadow keeps the numbers
//! of each unit in a list. One of them is the floor: the last change that the drive has promised
//! to keep. After a cut a unit may hold its floor or anything later, never something older, and
//! never something that was not written to it.

use flashtwin_ftl::Placement;

/// One change of a unit.
#[derive(Clone, Copy, Debug)]
struct Change {
    stamp: u64,
    trimmed: bool,
}

/// What one logical unit may hold.
#[derive(Clone, Debug, Default)]
struct Unit {
    changes: Vec<Change>,
    floor: u64,
}

/// A change that was acknowledged, for the next flush.
#[derive(Clone, Copy, Debug)]
struct Acknowledged(Placement);

/// All units.
pub struct Shadow {
    units: Vec<Unit>,
    /// Placements of commands that are under way, by their tags.
    open: Vec<Placement>,
    acknowledged: Vec<Acknowledged>,
    promised: usize,
    trims_last: bool,
}

impl Shadow {
    /// A drive without data. Trims are kept like writes if `trims_last`; otherwise what was
    /// trimmed may come back in any version.
    #[must_use]
    pub fn new(units: u32, trims_last: bool) -> Shadow {
        Shadow {
            units: vec![Unit::default(); units as usize],
            open: Vec::new(),
            acknowledged: Vec::new(),
            promised: 0,
            trims_last,
        }
    }

    /// The drive has changed its map.
    pub fn changed(&mut self, placements: &[Placement]) {
        for p in placements {
            let change = Change {
                stamp: p.stamp,
                trimmed: p.trimmed,
            };
            for unit in &mut self.units[p.lpn as usize..(p.lpn + p.units) as usize] {
                unit.changes.push(change);
                if p.trimmed && !self.trims_last {
                    unit.floor = 0;
                }
            }
        }
        self.open.extend_from_slice(placements);
    }

    /// A command is done; `durable` says that it promises to keep what it did.
    pub fn acknowledged(&mut self, tag: u32, durable: bool) {
        let mut open = std::mem::take(&mut self.open);
        open.retain(|p| {
            if p.tag == tag && durable {
                self.promise(p);
            } else if p.tag == tag {
                self.acknowledged.push(Acknowledged(*p));
            }
            p.tag != tag
        });
        self.open = open;
    }

    fn promise(&mut self, p: &Placement) {
        if p.trimmed && !self.trims_last {
            return;
        }
        for unit in &mut self.units[p.lpn as usize..(p.lpn + p.units) as usize] {
            let trimmed_since = unit.changes.iter().any(|c| c.trimmed && c.stamp > p.stamp);
            if self.trims_last || !trimmed_since {
                unit.floor = unit.floor.max(p.stamp);
            }
        }
    }

    /// How many changes a flush that is sent now covers.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.promised + self.acknowledged.len()
    }

    /// A flush that covered so many changes is done.
    pub fn flushed(&mut self, covered: usize) {
        let count = covered.saturating_sub(self.promised);
        let acknowledged: Vec<Acknowledged> = self.acknowledged.drain(..count).collect();
        self.promised += count;
        acknowledged
            .iter()
            .for_each(|Acknowledged(p)| self.promise(p));
    }

    /// Nothing is left, and nothing may come back.
    pub fn purged(&mut self) {
        self.units.fill(Unit::default());
        self.forget_commands();
    }

    fn forget_commands(&mut self) {
        self.open.clear();
        self.promised += self.acknowledged.len();
        self.acknowledged.clear();
    }

    /// The drive is at rest: each unit holds its last change.
    ///
    /// # Errors
    /// The first unit that holds something else.
    pub fn at_rest(&self, found: impl Fn(u32) -> Option<u64>) -> Result<u64, String> {
        for (lpn, unit) in self.units.iter().enumerate() {
            let last = unit.changes.last().filter(|c| !c.trimmed);
            let found = found(lpn as u32);
            if found != last.map(|c| c.stamp) {
                return Err(format!(
                    "Lpn({lpn}) holds version {found:?} of {:?}",
                    unit.changes
                ));
            }
        }
        Ok(self.units.len() as u64)
    }

    /// The drive has come up after a cut: each unit holds its floor or a later change, which is
    /// then what it keeps.
    ///
    /// # Errors
    /// The first unit that holds something older, something foreign, or nothing.
    pub fn after_cut(&mut self, found: impl Fn(u32) -> Option<u64>) -> Result<u64, String> {
        self.forget_commands();
        for (lpn, unit) in self.units.iter_mut().enumerate() {
            let found = found(lpn as u32);
            unit.accept(found)
                .map_err(|what| format!("{what} Lpn({lpn})"))?;
            if self.trims_last || found.is_none() {
                unit.settle(found);
            }
        }
        Ok(self.units.len() as u64)
    }
}

impl Unit {
    /// True if a unit may hold this after a cut; what is wrong with it otherwise.
    fn accept(&mut self, found: Option<u64>) -> Result<(), &'static str> {
        let Some(stamp) = found else {
            let floor = self.changes.iter().find(|c| c.stamp == self.floor);
            let nothing = floor.is_none_or(|c| c.trimmed);
            let trimmed = self
                .changes
                .iter()
                .any(|c| c.trimmed && c.stamp > self.floor);
            return if nothing || trimmed {
                Ok(())
            } else {
                Err("lost")
            };
        };
        if !self.changes.iter().any(|c| c.stamp == stamp && !c.trimmed) {
            return Err("garbage in");
        }
        if stamp < self.floor {
            return Err("an old version in");
        }
        // It was read back: nothing older may follow, but for what an unkept trim lets through.
        self.changes.retain(|c| c.stamp <= stamp);
        self.floor = stamp;
        Ok(())
    }

    /// What was found is all that there is.
    fn settle(&mut self, found: Option<u64>) {
        match found {
            Some(stamp) => self.changes.retain(|c| c.stamp == stamp),
            None => *self = Unit::default(),
        }
    }
}
