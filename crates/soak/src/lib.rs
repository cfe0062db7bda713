//! Seeded campaigns against whole drives: random specs over all policies, random hosts with
//! trims, flushes, FUA, purges and rests, and power cuts at any instant.
//!
//! A plain map knows for each unit which versions it may hold; after every cut and between phases
//! the drive is held against it and against every invariant of the firmware. A seed is a whole
//! story: the same seed and number of operations give the same drives, commands and cuts.

pub mod bytes;
pub mod cuts;
pub mod draw;
pub mod host;
pub mod laws;
pub mod patience;
pub mod shadow;
pub mod traffic;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flashtwin_base::rng::Rng;
use flashtwin_drive::Config;

/// What a campaign has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Drives that were drawn.
    pub drives: u64,
    /// Commands that were sent.
    pub commands: u64,
    /// Power cuts.
    pub cuts: u64,
    /// Those that came in the midst of a kind of work that was waited for, see [`cuts::NAMES`].
    pub amid: [u64; cuts::AIMS],
    /// Snapshots that were written.
    pub snapshots: u64,
    /// Units compared with the plain map.
    pub compared: u64,
    /// All answers and versions, mixed into one number: equal for equal seeds.
    pub answers: u64,
}

/// A campaign that failed: what was found, in a line, and the drive that it was found on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// As in "lost Lpn(81204) after power cut 3".
    pub what: String,
    /// The values that make the drive of the base.
    pub drive: String,
    /// Which of the seed's drives it was.
    pub index: u64,
}

/// Sends `ops` commands to drives that the seed draws, with the `given` sets in the place of what
/// it draws for their keys.
///
/// # Errors
/// The first unit that does not hold what it may, or the first assertion that fails; no drive has
/// what is given.
pub fn soak(seed: u64, ops: u64, given: &[String]) -> Result<Report, Failure> {
    soak_watched(seed, ops, given, |_| ())
}

/// [`soak`], and after each drive `watch` is shown what the campaign has seen so far.
///
/// # Errors
/// As [`soak`].
pub fn soak_watched(
    seed: u64,
    ops: u64,
    given: &[String],
    mut watch: impl FnMut(&Report),
) -> Result<Report, Failure> {
    let mut report = Report::default();
    while report.commands < ops {
        let left = ops - report.commands;
        story((seed, report.drives), left, given, &mut report)?;
        watch(&report);
    }
    Ok(report)
}

/// Most commands that each of a range of drives gets.
const OPS_OF_ONE: u64 = 20_000;

/// Tells the stories of some of the drives that a seed draws, each of at most 20,000 commands or a
/// few fills more. One that fails ends none of the others; `ended` hears of each drive that has
/// ended, and of its failure.
pub fn soak_drives(
    seed: u64,
    drives: Range<u64>,
    given: &[String],
    mut ended: impl FnMut(u64, Option<Failure>),
) -> Report {
    let mut report = Report::default();
    for index in drives {
        let story = story((seed, index), OPS_OF_ONE, given, &mut report);
        ended(index, story.err());
    }
    report
}

/// Sends at most `left` commands, or a few fills more, to one of the drives that the seed draws:
/// `(seed, index)` says which.
///
/// # Errors
/// As [`soak`].
pub fn story(
    (seed, index): (u64, u64),
    left: u64,
    given: &[String],
    report: &mut Report,
) -> Result<(), Failure> {
    let mut rng = Rng::new(seed, index << 8);
    let (config, drive) = draw::drive_with(&mut rng, given).map_err(|wrong| {
        let what = format!("of two thousand drives none is right with what is given: {wrong}");
        let drive = given.join(" ");
        Failure { what, drive, index }
    })?;
    report.drives += 1;
    let life = AssertUnwindSafe(|| lives(&config, rng, left, index.is_multiple_of(4), report));
    let what = match catch_unwind(life) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(what)) => what,
        Err(panic) => told(panic.as_ref()),
    };
    Err(Failure { what, drive, index })
}

/// One drive's life, and where it is to be lived twice, once more with every snapshot loaded: the
/// answers, and the state in the end, are the same.
fn lives(
    config: &Config,
    rng: Rng,
    left: u64,
    twice: bool,
    report: &mut Report,
) -> Result<(), String> {
    let (mut first, mut second) = (*report, *report);
    let began = report.snapshots;
    let lived = host::life(config, rng.clone(), left, false, &mut first);
    *report = first;
    lived?;
    if twice && first.snapshots > began {
        host::life(config, rng, left, true, &mut second)?;
        if first != second {
            return Err("what was loaded from snapshots lives another life".to_owned());
        }
    }
    Ok(())
}

/// The message of a panic.
fn told(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without words")
        .to_owned()
}
