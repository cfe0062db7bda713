//! How fast a trace is replayed, beside the load that it has when that is generated: random writes
//! of a unit over the whole drive, as fio, blkparse and the MSR collection write them down. A trace
//! is read twice, as a replay does it: once to be looked through, then line by line.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_host::{Flow, Phase, run};
use flashtwin_workload::RawJob;
use flashtwin_workload::job::SECTOR_BYTES;
use flashtwin_workload::trace::{Options, Shape, survey};

use crate::stopwatch::timed;
use crate::twin::{NO_CACHE, bx500, fill};
use crate::{Figures, ROUNDS, UNIT_BYTES};

const REQUESTS: u64 = 1_000_000;
/// Units of 100 ns since 1601, as these tables have them.
const BEGIN: u64 = 128_166_372_003_061_629;

/// A text that says the same requests: what stands before them, a line, and the figure of its rate
/// as a share of that of the generated load.
struct Text {
    figure: &'static str,
    before: &'static str,
    line: fn(number: u64, offset: u64) -> String,
}

const TEXTS: [Text; 3] = [
    Text {
        figure: "replay_of_generated_iolog",
        before: "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n",
        line: |_, offset| format!("/dev/sda write {offset} {UNIT_BYTES}"),
    },
    Text {
        figure: "replay_of_generated_blkparse",
        before: "",
        line: |number, offset| {
            let (seconds, ns) = (number / 10_000_000, number % 10_000_000 * 100);
            let (sector, sectors) = (offset / SECTOR_BYTES, UNIT_BYTES / SECTOR_BYTES);
            format!(
                "  8,0    1 {number:8} {seconds:5}.{ns:09}  4711  D  WS {sector} + {sectors} [fio]"
            )
        },
    },
    Text {
        figure: "replay_of_generated_msr",
        before: "",
        line: |number, offset| format!("{},h,0,Write,{offset},{UNIT_BYTES},9", BEGIN + number),
    },
];

/// Requests a second of the generated load, and what share of it each text reaches; in turns, the
/// best of each.
///
/// # Panics
/// When the folder for temporary files cannot be written to.
#[must_use]
pub fn figures() -> Figures {
    let mut drive = Drive::new(&bx500(NO_CACHE), 1);
    fill(&mut drive);
    let paths = TEXTS.map(|text| {
        let name = format!("flashtwin-bench-{}-{}", std::process::id(), text.figure);
        let path = std::env::temp_dir().join(name);
        let written = write_trace(&path, &text, drive.capacity_bytes());
        written.expect("a trace fits into the temporary folder");
        path
    });
    let mut generated = f64::INFINITY;
    let mut replayed = [f64::INFINITY; TEXTS.len()];
    for _ in 0..ROUNDS {
        let seconds = timed(|| put(&mut drive, "randwrite", "{}")).0;
        generated = generated.min(seconds);
        for (path, least) in paths.iter().zip(&mut replayed) {
            *least = least.min(timed(|| replay(&mut drive, path)).0);
        }
    }
    for path in paths {
        std::fs::remove_file(path).expect("it was written");
    }
    let shares = TEXTS.iter().zip(replayed);
    let shares = shares.map(|(text, seconds)| (text.figure, generated / seconds));
    std::iter::once(("generated_iops", REQUESTS as f64 / generated))
        .chain(shares)
        .collect()
}

fn write_trace(path: &Path, text: &Text, capacity: u64) -> io::Result<()> {
    let (mut rng, mut file) = (Rng::new(1, 0), BufWriter::new(File::create(path)?));
    file.write_all(text.before.as_bytes())?;
    for number in 0..REQUESTS {
        let offset = rng.below(capacity / UNIT_BYTES) * UNIT_BYTES;
        writeln!(file, "{}", (text.line)(number, offset))?;
    }
    file.flush()
}

fn replay(drive: &mut Drive, path: &Path) {
    look_through(path);
    let path = path.display().to_string();
    let trace = format!(r#"{{"path": {path:?}, "speed_percent": null}}"#);
    put(drive, "write", &format!(r#"{{"trace": {trace}}}"#));
}

fn look_through(path: &Path) {
    let file = File::open(path).expect("it was written");
    let source = BufReader::with_capacity(1 << 18, file);
    let found = survey(source, Options::default(), &Shape::default());
    assert_eq!(found.expect("it is a trace").ios, [0, REQUESTS, 0]);
}

/// One of fio's processes at a depth of 32, which generates the requests or replays them.
fn put(drive: &mut Drive, rw: &str, fio: &str) {
    let bytes = if rw == "randwrite" {
        format!(r#""io_bytes": {},"#, REQUESTS * UNIT_BYTES)
    } else {
        String::new()
    };
    let json = format!(
        r#"{{"name": "bench", "rw": "{rw}", "block_bytes": {UNIT_BYTES}, "depth": 32, {bytes}
            "fio": {fio}}}"#
    );
    let raw: RawJob = serde_json::from_str(&json).expect("the bench's own jobs are right");
    let job = raw.check(drive.capacity_bytes()).expect("and fit");
    let phase = Phase::new(vec![job], Nanos::from_ms(10)).expect("one job and an interval");
    let now = drive.now();
    run(drive, now, &phase, &mut |_| Flow::Continue);
}
