//! Replays of traces against closed forms, on a device with a fixed service time.

use crate::toy::{CAPACITY, START, Toy};
use std::path::PathBuf;

use flashtwin_base::{Nanos, Op};
use flashtwin_host::fio::FioTotals;
use flashtwin_host::{Flow, Phase, run};
use flashtwin_workload::RawJob;

const US: u64 = 1_000;

/// (µs since the start, what, first sector, sectors, FUA)
type Did = (u64, Op, u64, u32, bool);

fn written(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Replays a file; `fields` are the job's, `trace` those of its trace, `fio` others of fio's.
fn replay(toy: &mut Toy, path: &PathBuf, fields: &str, trace: &str, fio: &str) -> FioTotals {
    let path = serde_json::to_string(path).unwrap();
    let json = format!(
        r#"{{"name": "j", "rw": "rw", "block_bytes": 4096, {fields}
            "fio": {{{fio} "trace": {{"path": {path} {trace}}}}}}}"#
    );
    let raw: RawJob = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
    let job = raw.check(CAPACITY).unwrap_or_else(|e| panic!("{e}"));
    let phase = Phase::new(vec![job], Nanos::from_ms(10)).unwrap();
    let mut outcome = run(toy, START, &phase, &mut |_| Flow::Continue);
    outcome.fio.remove(0)
}

fn did(toy: &Toy) -> Vec<Did> {
    let row = |(at, request): &(Nanos, flashtwin_base::Request)| {
        let since = (at.0 - START.0) / US;
        let flashtwin_base::Request {
            op,
            lba,
            sectors,
            fua,
            ..
        } = *request;
        (since, op, lba, sectors, fua)
    };
    toy.submitted.iter().map(row).collect()
}

const PAUSES: &str = "fio version 3 iolog\n1 f add\n1 f write 0 4096\n301 f read 4096 8192\n\
                      501 f write 512 512\n501 f close\n";

#[test]
fn requests_come_at_their_times() {
    let path = written("pauses", PAUSES);
    for (speed, times) in [
        ("", [0, 300, 500]),
        (r#", "speed_percent": 200"#, [0, 150, 250]),
        (r#", "speed_percent": 50"#, [0, 600, 1_000]),
        (r#", "speed_percent": null"#, [0, 10, 20]),
    ] {
        let mut toy = Toy::new(1, 10 * US);
        let totals = replay(&mut toy, &path, "", speed, "");
        let expected = [
            (times[0], Op::Write, 0, 8, false),
            (times[1], Op::Read, 8, 16, false),
            (times[2], Op::Write, 1, 1, false),
        ];
        assert_eq!(did(&toy), expected, "{speed}");
        let [read, write, trim] = &totals.stats.sides;
        assert_eq!((read.ios, read.bytes), (1, 8192));
        assert_eq!((write.ios, write.bytes, trim.ios), (2, 4608, 0));
        assert_eq!(totals.failure, None);
        assert_eq!(totals.ended, Nanos((times[2] + 10) * US));
    }
}

#[test]
fn what_completes_in_a_pause_counts_when_it_completes() {
    let path = written("reaped", PAUSES);
    let mut toy = Toy::new(4, 10 * US);
    let totals = replay(&mut toy, &path, r#""depth": 8,"#, "", "");
    for side in &totals.stats.sides[..2] {
        assert_eq!(
            (side.lat.min(), side.lat.max()),
            (10 * US, 10 * US),
            "not the pause"
        );
    }
}

#[test]
fn a_late_replay_catches_up_at_the_depth_of_the_job() {
    // Ten requests within 9 µs, each of 10 µs, two at once and two outstanding.
    let lines = (0..10).map(|at| format!("{} f read {} 4096\n", at + 1, at * 4096));
    let text: String = std::iter::once("fio version 3 iolog\n".into())
        .chain(lines)
        .collect();
    let path = written("late", &text);
    let mut toy = Toy::new(2, 10 * US);
    replay(&mut toy, &path, r#""depth": 2,"#, "", "");
    assert_eq!(toy.most_outstanding, 2);
    let times: Vec<u64> = did(&toy).iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 1, 10, 11, 20, 21, 30, 31, 40, 41]);
    // A depth that is no bound leaves the times as they are.
    let mut toy = Toy::new(2, 10 * US);
    replay(&mut toy, &path, r#""depth": 32,"#, "", "");
    let times: Vec<u64> = did(&toy).iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn flushes_and_fua_reach_the_device() {
    let text = "8,0 1 1 0.000000000 1 D W 8 + 8 [x]\n8,0 1 2 0.000100000 1 D FF [x]\n\
                8,0 1 3 0.000200000 1 D FWFS 16 + 8 [x]\n8,0 1 4 0.000300000 1 D D 0 + 64 [x]\n\
                CPU0 (8,0):\n";
    let path = written("flushes", text);
    let mut toy = Toy::new(1, 10 * US);
    let totals = replay(&mut toy, &path, r#""depth": 4,"#, "", "");
    assert_eq!(
        did(&toy),
        [
            (0, Op::Write, 8, 8, false),
            (100, Op::Flush, 0, 0, false),
            (200, Op::Flush, 0, 0, false),
            (210, Op::Write, 16, 8, true),
            (300, Op::Trim, 0, 64, false),
        ]
    );
    assert_eq!(totals.stats.syncs_issued, 2);
    assert_eq!(totals.stats.syncs.count, 2);
    assert_eq!(totals.stats.sides[2].bytes, 64 * 512);
}

#[test]
fn files_lie_where_their_spans_are() {
    let text = "fio version 2 iolog\na add\nb add\nb write 4096 4096\na write 0 4096\nb sync\n";
    let path = written("files", text);
    let mut toy = Toy::new(1, 10 * US);
    let spans = r#""spans": [{"start": 65536, "bytes": 4096}, {"start": 131072, "bytes": 8192}],"#;
    replay(&mut toy, &path, "", "", spans);
    let places: Vec<(Op, u64)> = did(&toy).iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(places, [(Op::Write, 264), (Op::Write, 128), (Op::Flush, 0)]);
}

#[test]
fn what_reaches_beyond_the_end_wraps_or_is_an_error() {
    let text = "fio version 2 iolog\nf write 0 4096\nf write 12288 4096\nf write 18432 4096\n\
                f write 14336 4096\n";
    let path = written("beyond", text);
    let span = r#""spans": [{"start": 0, "bytes": 16384}],"#;
    let mut toy = Toy::new(1, 10 * US);
    let totals = replay(&mut toy, &path, "", r#", "fit": "wrap""#, span);
    let places: Vec<u64> = did(&toy).iter().map(|row| row.2).collect();
    // 18432 is 2048 behind the end; 14336 would cross it and moves back.
    assert_eq!(places, [0, 24, 4, 24]);
    assert_eq!(totals.failure, None);
    let mut toy = Toy::new(1, 10 * US);
    let totals = replay(&mut toy, &path, "", "", span);
    let failure = totals.failure.unwrap();
    assert_eq!(failure.code, 5);
    let said = "beyond, line 4: a request that reaches to byte 22528, and its file has 16384";
    assert!(failure.text.ends_with(said), "{}", failure.text);
    assert_eq!(totals.stats.sides[1].ios, 2, "what was done is kept");
}

#[test]
fn offsets_are_divided_and_put_on_a_grain_and_the_drive_gets_whole_sectors() {
    let text = "fio version 2 iolog\nf write 40000 1000\nf read 8192 4096\nf trim 0 512\nf sync\n";
    let path = written("shape", text);
    let shape = r#", "shape": {"scale": 2, "align": 4096, "skip": {"read": true, "sync": true}}"#;
    let mut toy = Toy::new(1, 10 * US);
    replay(&mut toy, &path, "", shape, "");
    // 40000 / 2 = 20000, on a grain of 4096: 16384; 1000 bytes are two sectors.
    assert_eq!(
        did(&toy),
        [(0, Op::Write, 32, 2, false), (10, Op::Trim, 0, 1, false)]
    );
    let mut toy = Toy::new(1, 10 * US);
    let totals = replay(&mut toy, &path, "", "", "");
    // Bytes 40000 to 41000 touch the sectors 78 to 80.
    assert_eq!(did(&toy)[0], (0, Op::Write, 78, 3, false));
    assert_eq!(totals.stats.sides[1].bytes, 1000);
}

#[test]
fn a_file_that_goes_wrong_ends_the_replay_with_its_line() {
    let span = r#""spans": [{"start": 0, "bytes": 65536}],"#;
    for (name, text, said) in [
        (
            "broken",
            "fio version 2 iolog\nf read 0 512\nf read x 512\n",
            "line 3: its offset is `x`, not a whole number",
        ),
        (
            "second",
            "fio version 2 iolog\nf read 0 512\ng read 0 512\n",
            "line 3: a file that was not in the trace when it was looked through",
        ),
        (
            "trims",
            "fio version 2 iolog\nf read 0 512\nf trim 0 512\n",
            "line 3: a trim, of which the trace had none when it was looked through",
        ),
        (
            "long",
            "fio version 2 iolog\nf read 0 512\nf read 0 2199023255040\n",
            "line 3: a request of 2199023255040 bytes, above the limit of 2199023254528",
        ),
        (
            "late-year",
            "fio version 3 iolog\n1 f read 0 512\n999999999999999 f read 0 512\n",
            "line 3: its time lies 31 years from that of line 2",
        ),
    ] {
        let path = written(name, text);
        let mut toy = Toy::new(1, 10 * US);
        let uses = r#", "uses": [true, true, false]"#;
        let totals = replay(&mut toy, &path, "", uses, span);
        let failure = totals.failure.expect(said);
        assert!(failure.text.ends_with(said), "{}", failure.text);
        assert_eq!(totals.stats.sides[0].ios, 1, "what was done is kept");
    }
    let mut toy = Toy::new(1, 10 * US);
    let nowhere = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nowhere");
    let failure = replay(&mut toy, &nowhere, "", "", "").failure.unwrap();
    assert!(failure.text.contains("nowhere: "), "{}", failure.text);
}

#[test]
fn runtime_and_ramp_end_in_the_midst_of_a_pause() {
    let path = written("times", PAUSES);
    let mut toy = Toy::new(1, 10 * US);
    let totals = replay(&mut toy, &path, r#""runtime_ns": 400000,"#, "", "");
    assert_eq!(did(&toy).len(), 2);
    assert_eq!(totals.ended, Nanos(400 * US));
    let mut toy = Toy::new(1, 10 * US);
    let fields = r#""ramp_ns": 100000, "runtime_ns": 300000,"#;
    let totals = replay(&mut toy, &path, fields, "", "");
    assert_eq!(
        did(&toy).len(),
        2,
        "the runtime begins with the end of the ramp"
    );
    assert_eq!(totals.stats.sides[0].ios, 1);
    assert_eq!(totals.stats.sides[1].ios, 0, "the ramp is left out");
    assert_eq!(totals.ended, Nanos(400 * US));
}

#[test]
fn what_a_trace_says_itself_is_refused_beside_it() {
    for (fields, trace, fio, said) in [
        ("", "", r#""loops": 2,"#, "fio.trace excludes fio.loops"),
        (
            "",
            "",
            r#""number_ios": 2,"#,
            "fio.trace excludes fio.number_ios",
        ),
        (
            r#""io_bytes": 4096,"#,
            "",
            "",
            "fio.trace excludes io_bytes",
        ),
        ("", r#", "speed_percent": 0"#, "", "fio.trace is zero"),
        ("", r#", "shape": {"scale": 0}"#, "", "fio.trace is zero"),
        (
            "",
            r#", "shape": {"align": 3}"#,
            "",
            "a grain is a power of two",
        ),
    ] {
        let json = format!(
            r#"{{"name": "j", "rw": "read", "block_bytes": 4096, {fields}
                "fio": {{{fio} "trace": {{"path": "x" {trace}}}}}}}"#
        );
        let raw: RawJob = serde_json::from_str(&json).unwrap();
        let error = raw.check(CAPACITY).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
