//! `flashtwin-soak [--seed N] [--ops M] [--set KEY=VALUE]…`:
//! random drives with power cuts against a plain map; with `--cuts M` those of drives with data.

use std::process::ExitCode;
use std::time::Duration;

use flashtwin_serve::faults::Worse;
use flashtwin_soak::{Report, bytes, soak_watched};

const USAGE: &str = "usage: flashtwin-soak [--seed N] [--ops M] [--set KEY=VALUE]...
       flashtwin-soak --cuts M [--seed N]

Random drives under random hosts with power cuts, against a plain map. A seed is a whole story;
defaults: --seed 1 --ops 40000. --set fixes a value of the spec that is drawn otherwise; --cuts cuts
the power of drives with data instead, so often.
Every ten seconds a line on standard error says how far it is.";

/// How often a campaign says how far it is.
const EVERY: Duration = Duration::from_secs(10);

/// What the command line asks for.
struct Options {
    seed: u64,
    ops: u64,
    /// Power cuts of drives with data, in the place of commands.
    cuts: Option<u64>,
    /// Values that are not drawn.
    given: Vec<String>,
}

/// What the command line asks for. Of a wrong argument the error says which one and why.
fn options(args: &[String]) -> Result<Options, String> {
    let (mut seed, mut ops, mut cuts, mut given) = (1, 40_000, None, Vec::new());
    for pair in args.chunks(2) {
        let name = pair[0].as_str();
        if !["--seed", "--ops", "--cuts", "--set"].contains(&name) {
            return Err(format!("there is no option {name}"));
        }
        let value = pair.get(1).ok_or_else(|| format!("{name} needs a value"))?;
        let number = || {
            let number = value.parse();
            number.map_err(|_| format!("{name} {value}: a whole number is needed, say 40000"))
        };
        match name {
            "--seed" => seed = number()?,
            "--ops" => ops = number()?,
            "--cuts" => cuts = Some(number()?),
            _ if value.contains('=') => given.push(value.clone()),
            _ => return Err(format!("--set {value}: KEY=VALUE is needed")),
        }
    }
    if cuts.is_some() && !given.is_empty() {
        return Err("--set does not belong to --cuts".to_owned());
    }
    Ok(Options {
        seed,
        ops,
        cuts,
        given,
    })
}

/// Says on standard error, once in [`EVERY`], how far a campaign of `ops` commands is, so that one
/// that is stopped has said what it did.
#[allow(
    clippy::disallowed_types,
    reason = "it says how long a campaign takes; no drive sees it"
)]
fn progress(ops: u64) -> impl FnMut(&Report) {
    let began = std::time::Instant::now();
    let mut next = EVERY;
    move |report| {
        let taken = began.elapsed();
        if taken < next || report.commands >= ops {
            return;
        }
        next = taken + EVERY;
        let (done, open) = (report.commands.max(1), ops - report.commands);
        let left = taken.as_millis() * u128::from(open) / u128::from(done) / 1000;
        eprintln!(
            "soak: {} of {ops} commands, {} drives, no failure; about {left} s left",
            report.commands, report.drives
        );
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
    match asked.cuts {
        Some(cuts) => cut(asked.seed, cuts),
        None => soak(&asked),
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

fn soak(asked: &Options) -> ExitCode {
    let (seed, ops, given) = (asked.seed, asked.ops, &asked.given);
    match soak_watched(seed, ops, given, progress(ops)) {
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
