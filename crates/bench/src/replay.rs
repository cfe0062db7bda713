//! How fast a trace is replayed, beside the load that it has when that is generated: random writes
//! of a unit over the whole drive, as the text of a table. The trace is read twice, as a replay
//! does it: once to be looked through, then line by line.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use flashtwin_base::rng::Rng;
use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_host::{Flow, Phase, run};
use flashtwin_workload::RawJob;
use flashtwin_workload::trace::{Options, Shape, survey};

use crate::stopwatch::timed;
use crate::twin::{NO_CACHE, bx500, fill};
use crate::{Figures, ROUNDS, UNIT_BYTES};

const REQUESTS: u64 = 1_000_000;
/// Units of 100 ns since 1601, as these tables have them.
const BEGIN: u64 = 128_166_372_003_061_629;

/// Requests a second of both, in turns, the best of each; and their ratio.
///
/// # Panics
/// When the folder for temporary files cannot be written to.
#[must_use]
pub fn figures() -> Figures {
    let path = std::env::temp_dir().join(format!("flashtwin-bench-{}.csv", std::process::id()));
    let mut drive = Drive::new(&bx500(NO_CACHE), 1);
    fill(&mut drive);
    write_trace(&path, drive.capacity_bytes()).expect("a trace fits into the temporary folder");
    let trace = format!(
        r#"{{"path": {:?}, "speed_percent": null}}"#,
        path.display().to_string()
    );
    let (mut generated, mut replayed) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let seconds = timed(|| put(&mut drive, "randwrite", "{}")).0;
        generated = generated.min(seconds);
        let seconds = timed(|| {
            look_through(&path);
            put(&mut drive, "write", &format!(r#"{{"trace": {trace}}}"#));
        });
        replayed = replayed.min(seconds.0);
    }
    std::fs::remove_file(&path).expect("it was written");
    let rate = |seconds: f64| REQUESTS as f64 / seconds;
    vec![
        ("generated_iops", rate(generated)),
        ("replay_iops", rate(replayed)),
        ("replay_of_generated", generated / replayed),
    ]
}

fn write_trace(path: &Path, capacity: u64) -> io::Result<()> {
    let (mut rng, mut file) = (Rng::new(1, 0), BufWriter::new(File::create(path)?));
    for number in 0..REQUESTS {
        let offset = rng.below(capacity / UNIT_BYTES) * UNIT_BYTES;
        let at = BEGIN + 100 * number;
        writeln!(file, "{at},h,0,Write,{offset},{UNIT_BYTES},9")?;
    }
    file.flush()
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
