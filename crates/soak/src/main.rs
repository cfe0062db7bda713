//! `flashtwin-soak [--seed N] [--ops M] [--set KEY=VALUE]…`:
//! random drives with power cuts against a plain map; with `--drives A..B` those drives of the
//! seed, whichever of them fail; with `--cuts M` power cuts of drives with data.

use std::ops::Range;
use std::process::ExitCode;
use std::time::Duration;

use flashtwin_serve::faults::Worse;
use flashtwin_soak::{Report, bytes, soak_drives, soak_watched};

const USAGE: &str = "usage: flashtwin-soak [--seed N] [--ops M] [--set KEY=VALUE]...
       flashtwin-soak --drives A..B [--seed N] [--set KEY=VALUE]...
       flashtwin-soak --cuts M [--seed N]

Random drives under random hosts with power cuts, against a plain map. A seed is a whole story;
defaults: --seed 1 --ops 40000, and the first failure ends it. --drives tells the stories of the
seed's drives A to B - 1 and goes on after a failure, or replays one (--drives 61..62). --set fixes
a value of the spec that is drawn otherwise; --cuts cuts the power of drives with data instead, so
often.
Every ten seconds a line on standard error says how far it is; with --drives each failure is told at
once.";

/// How often a campaign says how far it is.
const EVERY: Duration = Duration::from_secs(10);

/// What the command line asks for.
struct Options {
    seed: u64,
    ops: u64,
    /// Which of the seed's drives, in the place of commands.
    drives: Option<Range<u64>>,
    /// Power cuts of drives with data, in the place of commands.
    cuts: Option<u64>,
    /// Values that are not drawn.
    given: Vec<String>,
}

/// What the command line asks for. Of a wrong argument the error says which one and why.
fn options(args: &[String]) -> Result<Options, String> {
    let (mut seed, mut ops, mut drives, mut cuts) = (1, None, None, None);
    let mut given = Vec::new();
    for pair in args.chunks(2) {
        let name = pair[0].as_str();
        if !["--seed", "--ops", "--drives", "--cuts", "--set"].contains(&name) {
            return Err(format!("there is no option {name}"));
        }
        let value = pair.get(1).ok_or_else(|| format!("{name} needs a value"))?;
        let number = || {
            let number = value.parse();
            number.map_err(|_| format!("{name} {value}: a whole number is needed, say 40000"))
        };
        match name {
            "--seed" => seed = number()?,
            "--ops" => ops = Some(number()?),
            "--cuts" => cuts = Some(number()?),
            "--drives" => drives = Some(range(value)?),
            _ if value.contains('=') => given.push(value.clone()),
            _ => return Err(format!("--set {value}: KEY=VALUE is needed")),
        }
    }
    if cuts.is_some() && (drives.is_some() || !given.is_empty()) {
        return Err("--set and --drives do not belong to --cuts".to_owned());
    }
    if drives.is_some() && ops.is_some() {
        return Err("--ops does not belong to --drives, of which each gets 20,000".to_owned());
    }
    Ok(Options {
        seed,
        ops: ops.unwrap_or(40_000),
        drives,
        cuts,
        given,
    })
}

/// A range of drives, as in `0..500`.
fn range(text: &str) -> Result<Range<u64>, String> {
    let ends = text.split_once("..");
    let ends = ends.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match ends {
        Some((from, to)) if from < to => Ok(from..to),
        _ => Err(format!(
            "--drives {text}: a range is needed that is not empty, say 0..500"
        )),
    }
}

/// The seconds that a campaign of `total` drives or commands still takes, once in [`EVERY`]; none
/// in between and at its end.
#[allow(
    clippy::disallowed_types,
    reason = "it says how long a campaign takes; no drive sees it"
)]
fn left_of(total: u64) -> impl FnMut(u64) -> Option<u128> {
    let began = std::time::Instant::now();
    let mut next = EVERY;
    move |done| {
        let taken = began.elapsed();
        if taken < next || done >= total {
            return None;
        }
        next = taken + EVERY;
        Some(taken.as_millis() * u128::from(total - done) / u128::from(done.max(1)) / 1000)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "-h" || arg == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let asked = match options(&args) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("error: {wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match (asked.cuts, &asked.drives) {
        (Some(cuts), _) => cut(asked.seed, cuts),
        (None, Some(drives)) => each(&asked, drives.clone()),
        (None, None) => soak(&asked),
    }
}

/// Cuts the power of drives with data.
fn cut(seed: u64, cuts: u64) -> ExitCode {
    match bytes::campaign(seed, cuts, Worse::default(), |_| ()) {
        Ok(report) => {
            println!(
                "cuts: {} drives, {} requests, {} power cuts, {} of them killed servers, {} units \
                 compared, {} of them rolled back",
                report.drives,
                report.requests,
                report.cuts,
                report.kills,
                report.compared,
                report.rolled_back
            );
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("drive {}: {}", failure.index, failure.drive);
            eprintln!(
                "cuts: {}   replay: ./dev cuts --seed {seed} --cuts {cuts}",
                failure.what
            );
            ExitCode::from(1)
        }
    }
}

/// Some of a seed's drives, whichever of them fail.
fn each(asked: &Options, drives: Range<u64>) -> ExitCode {
    let (mut failed, total) = (0, drives.end - drives.start);
    let mut left = left_of(total);
    let report = soak_drives(
        asked.seed,
        drives.clone(),
        &asked.given,
        |index, failure| {
            if let Some(failure) = failure {
                failed += 1;
                eprintln!("drive {}: {}", failure.index, failure.drive);
                eprintln!("soak: drive {}: {}", failure.index, failure.what);
            }
            let done = index + 1 - drives.start;
            if let Some(left) = left(done) {
                eprintln!("soak: {done} of {total} drives, {failed} failed; about {left} s left");
            }
        },
    );
    println!(
        "soak: drives {} to {} of seed {}, {failed} of them failed; {} commands, {} power cuts",
        drives.start,
        drives.end - 1,
        asked.seed,
        report.commands,
        report.cuts
    );
    ExitCode::from(u8::from(failed > 0))
}

fn soak(asked: &Options) -> ExitCode {
    let (seed, ops, given) = (asked.seed, asked.ops, &asked.given);
    let mut left = left_of(ops);
    let watch = |report: &Report| {
        if let Some(left) = left(report.commands) {
            eprintln!(
                "soak: {} of {ops} commands, {} drives, no failure; about {left} s left",
                report.commands, report.drives
            );
        }
    };
    match soak_watched(seed, ops, given, watch) {
        Ok(report) => {
            println!(
                "soak: {} drives, {} commands, {} power cuts, {} units compared, answers {:016x}",
                report.drives, report.commands, report.cuts, report.compared, report.answers
            );
            let amid = flashtwin_soak::cuts::NAMES.iter().zip(report.amid);
            let amid: Vec<String> = amid.map(|(name, cuts)| format!("{name} {cuts}")).collect();
            println!(
                "cuts amid: {}; snapshots: {}",
                amid.join(", "),
                report.snapshots
            );
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("drive {}: {}", failure.index, failure.drive);
            let given = given.iter().map(|set| format!(" --set '{set}'"));
            eprintln!(
                "soak: {}   replay: ./dev soak --seed {seed} --ops {ops}{}",
                failure.what,
                given.collect::<String>()
            );
            ExitCode::from(1)
        }
    }
}
