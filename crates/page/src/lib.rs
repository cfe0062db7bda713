//! The core for a page: a question as JSON in, an answer as JSON out, nothing asked of a system.
//!
//! A page's Worker calls it as WebAssembly (`exports`), Python as a function: both get the same
//! bytes, as `tests/play` shows in node and Chromium. A question has a drive's spec, the values of
//! it that are changed, and steps; an answer has the columns that a page draws of each step.
//! Invariants: no clock, no file, no thread; a question that cannot be answered gets a sentence.

mod columns;
#[cfg(target_arch = "wasm32")]
mod exports;
mod steps;

use flashtwin_base::{Device, memory};
use flashtwin_drive::{Drive, spec};
use flashtwin_workload::job::RawJob;
use serde::{Deserialize, Serialize};

use crate::columns::Told;
use crate::steps::Step;

/// A drive, what is changed of it, and what is done to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The text of a spec that extends nothing.
    spec: String,
    /// Values of it that are changed, as `--set` takes them.
    #[serde(default)]
    sets: Vec<String>,
    /// Such as "1/176".
    #[serde(default)]
    scale: Option<String>,
    seed: u64,
    /// Length of a sample of the series and of the X-ray.
    sample_ns: u64,
    /// The job that fills the drive, as results have it; its range is that of a step.
    job: RawJob,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Answer {
    capacity_bytes: u64,
    notes: Vec<String>,
    warnings: Vec<String>,
    steps: Vec<Told>,
    /// FNV-1a of every column of every step's series and X-ray, also of those that are not told.
    hash: String,
}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// Answers a question; both are JSON. What is wrong with a question comes as `{"error": …}`.
#[must_use]
pub fn answer(question: &str) -> String {
    match answered(question) {
        Ok(answer) => text(&answer),
        Err(error) => text(&Refusal { error }),
    }
}

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("numbers and words are JSON")
}

fn answered(question: &str) -> Result<Answer, String> {
    let asked: Question = serde_json::from_str(question).map_err(|e| e.to_string())?;
    let checked = spec::load_text(&asked.spec, &[], &[], &asked.sets, asked.scale.as_deref());
    let checked = checked.map_err(|errors| sentences(&errors))?;
    let needed = checked.config.memory_bytes();
    if !memory::has_room(needed) {
        return Err(format!(
            "the drive takes {needed} bytes of memory to simulate"
        ));
    }
    let mut drive = Drive::new(&checked.config, asked.seed);
    let mut digest = columns::Digest::default();
    let mut told = Vec::with_capacity(asked.steps.len());
    for step in &asked.steps {
        let bench = steps::Bench {
            job: &asked.job,
            seed: asked.seed,
            sample_ns: asked.sample_ns,
        };
        told.push(bench.carry_out(&mut drive, step, &mut digest)?);
    }
    Ok(Answer {
        capacity_bytes: drive.capacity_bytes(),
        notes: checked.notes,
        warnings: checked.warnings,
        steps: told,
        hash: digest.text(),
    })
}

/// Mistakes of a spec, each with its hint, without the file that a page does not have.
fn sentences(errors: &[spec::SpecError]) -> String {
    let told =
        |error: &spec::SpecError| format!("{}: {}; {}", error.key, error.message, error.hint);
    let texts = errors.iter().map(told);
    texts.collect::<Vec<_>>().join("\n")
}
