//! `flashtwin-bench [--json]`: prints the figures of this machine.

use std::process::ExitCode;

use flashtwin_bench::bare::Shape;
use flashtwin_bench::bare_speed::{self, InTurns};
use flashtwin_bench::{growth, replay, twin};

const USAGE: &str = "usage: flashtwin-bench [--json]
       flashtwin-bench --profile FILE.svg

Simulated I/O a second of the BX500 at full size beside the bare page map of the same size, each
figure the best of three, the two in turns, on one core. It takes a few minutes. With --profile, a
flame graph of a fill, random writes and random reads instead.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let json = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--json"] => true,
        #[cfg(feature = "profile")]
        ["--profile", path] => return profile(std::path::Path::new(path)),
        ["-h" | "--help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("error: unknown arguments: {}\n{USAGE}", args.join(" "));
            return ExitCode::from(2);
        }
    };
    eprintln!("measuring the simulated drive and the bare page map, in turns");
    let mut bare = InTurns::new(Shape::BX500);
    let drive = twin::figures(&mut bare);
    let mut figures = bare.figures();
    figures.extend(drive);
    eprintln!("measuring 7 % over-provisioning and preconditioning");
    figures.extend(bare_speed::seven_percent());
    figures.extend(twin::more_figures());
    eprintln!("measuring a replay beside its load, in turns");
    figures.extend(replay::figures());
    eprintln!("measuring growth to 4 TB");
    figures.extend(growth::figures());
    if json {
        let object: serde_json::Map<_, _> = figures
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        println!("{}", serde_json::Value::Object(object));
    } else {
        for (name, value) in figures {
            println!("{name:32} {value:>16.3}");
        }
    }
    ExitCode::SUCCESS
}

/// Writes the flame graph and says where.
#[cfg(feature = "profile")]
fn profile(path: &std::path::Path) -> ExitCode {
    match flashtwin_bench::profile::write(path) {
        Ok(()) => {
            eprintln!("wrote {}", path.display());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(3)
        }
    }
}
