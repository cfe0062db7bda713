//! `flashtwin-soak [--seed N] [--ops M]`: random drives with power cuts against a plain map.

use std::process::ExitCode;

const USAGE: &str = "usage: flashtwin-soak [--seed N] [--ops M]

Random drives under random hosts with power cuts, against a plain map. A seed is a whole story;
defaults: --seed 1 --ops 40000.";

/// The two numbers of the command line.
fn options(args: &[String]) -> Option<(u64, u64)> {
    let (mut seed, mut ops) = (1, 40_000);
    for pair in args.chunks(2) {
        let value = pair.get(1)?.parse().ok()?;
        match pair[0].as_str() {
            "--seed" => seed = value,
            "--ops" => ops = value,
            _ => return None,
        }
    }
    Some((seed, ops))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "-h" || arg == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some((seed, ops)) = options(&args) else {
        eprintln!("error: unknown arguments: {}\n{USAGE}", args.join(" "));
        return ExitCode::from(2);
    };
    match flashtwin_soak::soak(seed, ops) {
        Ok(report) => {
            println!(
                "soak: {} drives, {} commands, {} power cuts, {} units compared, answers {:016x}",
                report.drives, report.commands, report.cuts, report.compared, report.answers
            );
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("drive {}: {}", failure.index, failure.drive);
            eprintln!(
                "soak: {}   replay: ./dev soak --seed {seed} --ops {ops}",
                failure.what
            );
            ExitCode::from(1)
        }
    }
}
