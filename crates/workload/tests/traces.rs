//! Traces as text: what each line is, and what is said of a line that is none.

use std::io::{BufReader, Cursor, Read};

use flashtwin_base::Nanos;
use flashtwin_workload::Direction::{Read as R, Trim as T, Write as W};
use flashtwin_workload::trace::{Action, Format, Options, Reader, Shape, Skip, survey};
use proptest::prelude::*;

/// (time in ns, file, action, offset, bytes, fua)
type Row = (u64, u32, Action, u64, u64, bool);

fn data(
    at: u64,
    file: u32,
    direction: flashtwin_workload::Direction,
    offset: u64,
    bytes: u64,
) -> Row {
    (at, file, Action::Data(direction), offset, bytes, false)
}

fn flush(at: u64, file: u32) -> Row {
    (at, file, Action::Flush, 0, 0, false)
}

fn read_with(text: &str, options: Options) -> Result<Vec<Row>, String> {
    let reader = Reader::new(Cursor::new(text), options).map_err(|e| e.to_string())?;
    reader
        .map(|event| {
            let e = event.map_err(|e| e.to_string())?;
            Ok((e.at.0, e.file, e.action, e.offset, e.bytes, e.fua))
        })
        .collect()
}

fn read(text: &str) -> Result<Vec<Row>, String> {
    read_with(text, Options::default())
}

#[test]
fn an_iolog_of_version_2_waits_until_a_time_since_the_start() {
    // As fio 3.33 replays it: a wait below the time that has passed waits no more.
    let text = "fio version 2 iolog\n/d/a add\n/d/b add\n/d/a open\n/d/a write 0 4096\n\
                /d/a wait 200000 0\n/d/b read 8192 512\n/d/a wait 100000 0\n/d/a trim 4096 4096\n\
                \n/d/a wait 250000\n/d/a sync 0 0\n/d/b datasync\n/d/a close\n";
    let ms = 1_000_000;
    assert_eq!(
        read(text).unwrap(),
        [
            data(0, 0, W, 0, 4096),
            data(200 * ms, 1, R, 8192, 512),
            data(200 * ms, 0, T, 4096, 4096),
            flush(250 * ms, 0),
            (250 * ms, 1, Action::FlushData, 0, 0, false),
        ]
    );
}

#[test]
fn an_iolog_of_version_3_has_a_time_in_microseconds_before_each_line() {
    let text = "fio version 3 iolog\n25 a.0.0 add\n124 a.0.0 open\n128 a.0.0 read 0 4096\n\
                20155 a.0.0 write 45056 8192\n20100 a.0.0 trim 0 512\n99999 a.0.0 close";
    assert_eq!(
        read(text).unwrap(),
        [
            data(103_000, 0, R, 0, 4096),
            data(20_130_000, 0, W, 45056, 8192),
            data(20_130_000, 0, T, 0, 512),
        ]
    );
    // A line at no time is none to count from, and another process may follow in the same file.
    let text = "fio version 3 iolog\n0 f add\n5000 f read 0 512\n6000 f datasync 0 0\n\
                fio version 3 iolog\n1000 f add\n3000 f read 512 512\n";
    let rows = read(text).unwrap();
    let times: Vec<u64> = rows.iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 1_000_000, 3_000_000]);
    assert_eq!(rows[1].2, Action::FlushData);
}

const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        0     0.000002000     0  m   N cfq697 insert_request
  8,0    3        3     0.000101829   697  D   W 223490 + 8 [kjournald]
  8,16   1        4     0.000301829   697  D  RA 16 + 256 [fio]
  8,0    3        5     0.000501829   697  C   W 223490 + 8 [0]
  8,0    3        6     1.000101829   697  D FWFS 8 + 8 [jbd2]
  8,0    3        7     1.000201829   697  D  DS 0 + 2048 [fstrim]
  8,0    3        8     1.000301829   697  D  FN [kworker]
  8,0    3        9     1.000401829   697  D   N 0 (00 ..) [smartctl]
CPU0 (sda):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB
";

#[test]
fn blkparse_tells_what_the_driver_was_handed() {
    let fua = (1_000_000_000, 0, Action::Data(W), 8 * 512, 4096, true);
    assert_eq!(
        read(BLKPARSE).unwrap(),
        [
            data(0, 0, W, 223_490 * 512, 4096),
            data(200_000, 1, R, 16 * 512, 256 * 512),
            flush(1_000_000_000, 0),
            fua,
            data(1_000_100_000, 0, T, 0, 2048 * 512),
            flush(1_000_200_000, 0),
        ]
    );
    let queued = Options {
        event: 'Q',
        ..Options::default()
    };
    let rows = read_with(BLKPARSE, queued).unwrap();
    assert_eq!(rows, [data(0, 0, W, 223_490 * 512, 4096)]);
}

const MSR: &str = "\
128166372003061629,hm,0,Read,383496192,32768,413
128166372003061630,hm,1,Write,310983680,20480,1106
128166372002869395,hm,0,Write,4096,512,17\r
";

#[test]
fn msr_counts_in_hundreds_of_nanoseconds_and_disks_apart() {
    let rows = [
        data(0, 0, R, 383_496_192, 32768),
        data(100, 1, W, 310_983_680, 20480),
        data(100, 0, W, 4096, 512),
    ];
    assert_eq!(read(MSR).unwrap(), rows);
    let head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(read(&format!("{head}{MSR}")).unwrap(), rows);
    let second = Options {
        disk: Some(1),
        ..Options::default()
    };
    assert_eq!(
        read_with(MSR, second).unwrap(),
        [data(0, 0, W, 310_983_680, 20480)]
    );
}

#[test]
fn a_broken_line_is_named() {
    let v2 = "fio version 2 iolog\n";
    let v3 = "fio version 3 iolog\n";
    let blk = "8,0 1 1 0.0 1 D W 8 + 8 [x]\n";
    let msr = "128166372003061629,hm,0,Read,0,512,4\n";
    let cases = [
        (String::new(), "line 0: the trace is empty"),
        ("\n\n".into(), "line 0: the trace is empty"),
        ("hello\n".into(), "line 1: this is not an iolog"),
        (
            "fio version 1 iolog\n".into(),
            "line 1: an iolog of version 1",
        ),
        (
            format!("{v2}/d/a write 0\n"),
            "line 2: it ends before its length",
        ),
        (format!("{v2}/d/a write x 1\n"), "line 2: its offset is `x`"),
        (
            format!("{v2}/d/a write 0 0\n"),
            "line 2: a request of 0 bytes",
        ),
        (
            format!("{v2}/d/a scribble 0 1\n"),
            "line 2: its action is `scribble`",
        ),
        (format!("{v2}/d/a\n"), "line 2: it ends before its action"),
        (
            format!("{v2}/d/a write 18446744073709551615 512\n"),
            "line 2: its offset is beyond what any drive has",
        ),
        (
            format!("{v2}/d/a write 99999999999999999999 512\n"),
            "line 2: its offset is beyond",
        ),
        (
            format!("{v3}a.0.0 read 0 4096\n"),
            "line 2: its time is `a.0.0`",
        ),
        (
            format!("{v3}1 a wait 5 0\n"),
            "line 2: its action is `wait`",
        ),
        (
            format!("{blk}8,0 1 2 0.1 1 D W 8\n"),
            "line 2: it ends before its count",
        ),
        (
            format!("{blk}8,0 1 2 0.1 1 D Z 8 + 8\n"),
            "line 2: its kind of request is `Z`",
        ),
        (
            format!("{blk}8,0 1 2 0,1 1 D W 8 + 8\n"),
            "line 2: its time is `0,1`",
        ),
        (
            format!("{blk}nonsense\n"),
            "line 2: its device is `nonsense`",
        ),
        (
            format!("{msr}1,hm,0,Erase,0,512,4\n"),
            "line 2: its type is `Erase`",
        ),
        (
            format!("{msr}1,hm,0,Read,0,512\n"),
            "line 2: it ends before its response time",
        ),
        (
            format!("{msr}{}\n", "9".repeat(70_000)),
            "line 2: it is longer than 65536 bytes",
        ),
    ];
    for (text, said) in cases {
        let wrong = read(&text).expect_err(said);
        assert!(wrong.starts_with(said), "{wrong} is not {said}");
    }
    let named = Options {
        format: Some(Format::Msr),
        ..Options::default()
    };
    let wrong = read_with(blk, named).unwrap_err();
    assert!(
        wrong.starts_with("line 1: it ends before its disk"),
        "{wrong}"
    );
}

#[test]
fn a_survey_says_what_is_in_a_trace() {
    let found = survey(Cursor::new(MSR), Options::default(), &Shape::default()).unwrap();
    assert_eq!((found.ios, found.bytes), ([1, 2, 0], [32768, 20992, 0]));
    assert_eq!((found.span, found.longest), (Nanos(100), [32768, 20480, 0]));
    let files: Vec<_> = found
        .files
        .iter()
        .map(|f| (f.name.as_str(), f.end, f.line))
        .collect();
    assert_eq!(
        files,
        [
            ("hm.0", 383_496_192 + 32768, 1),
            ("hm.1", 310_983_680 + 20480, 2)
        ]
    );
    let queued = Options {
        event: 'X',
        ..Options::default()
    };
    let wrong = survey(Cursor::new(BLKPARSE), queued, &Shape::default()).unwrap_err();
    assert_eq!(wrong.to_string(), "line 0: the trace is empty");
    let unaligned = "fio version 2 iolog\na write 1 512\na write 512 100\na write 0 512\n";
    assert_eq!(
        survey(
            Cursor::new(unaligned),
            Options::default(),
            &Shape::default()
        )
        .unwrap()
        .unaligned,
        2
    );
}

#[test]
fn a_survey_is_of_the_requests_in_their_shape() {
    let text = "fio version 2 iolog\na write 8192 4096\na read 100 1000\na sync\na trim 0 512\n";
    let shape = Shape {
        scale: 4,
        align: 1024,
        skip: Skip {
            trim: true,
            sync: true,
            ..Skip::default()
        },
    };
    let found = survey(Cursor::new(text), Options::default(), &shape).unwrap();
    assert_eq!((found.format, found.flushes), ("iolog", 0));
    // The read goes to 25, on the grain 0.
    assert_eq!((found.ios, found.bytes), ([1, 1, 0], [1000, 4096, 0]));
    assert_eq!((found.files[0].end, found.files[0].line), (2048 + 4096, 2));
    assert_eq!(found.unaligned, 1);
    let all = Skip {
        read: true,
        write: true,
        trim: true,
        sync: true,
    };
    let nothing = Shape { skip: all, ..shape };
    let wrong = survey(Cursor::new(text), Options::default(), &nothing).unwrap_err();
    assert_eq!(wrong.to_string(), "line 0: the trace is empty");
}

/// Text without end: what is held of it must not grow.
struct Endless {
    line: Vec<u8>,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        self.left -= 1;
        let many = self.line.len().min(out.len());
        out[..many].copy_from_slice(&self.line[..many]);
        Ok(many)
    }
}

#[test]
fn a_trace_larger_than_its_buffers_is_read_to_its_end() {
    let line = b"128166372003061629,hm,0,Read,383496192,32768,413\n".to_vec();
    let source = Endless {
        line,
        left: 1_000_000,
    };
    let found = survey(
        BufReader::with_capacity(4096, source),
        Options::default(),
        &Shape::default(),
    )
    .unwrap();
    assert_eq!(found.ios, [1_000_000, 0, 0]);
}

proptest! {
    /// Whatever the text is: an answer, no panic, and times that never run backwards.
    #[test]
    fn any_text_has_an_answer(
        lines in prop::collection::vec("[ -~]{0,60}", 0..8),
        head in 0..4_usize,
    ) {
        let heads = ["fio version 2 iolog", "fio version 3 iolog",
                     "8,0 1 1 0.0 1 D W 8 + 8 [x]", "1,hm,0,Read,0,512,4"];
        let text = format!("{}\n{}", heads[head], lines.join("\n"));
        if let Ok(rows) = read(&text) {
            prop_assert!(rows.windows(2).all(|two| two[0].0 <= two[1].0));
        }
    }

    /// What a version 3 iolog says comes back, its times from the first line's on.
    #[test]
    fn an_iolog_comes_back(
        rows in prop::collection::vec(
            (0..1_000_u64, 0..3_u32, 0..1_u64 << 40, 1..1_u64 << 30),
            1..50,
        ),
    ) {
        let mut text = String::from("fio version 3 iolog\n");
        let mut expected = Vec::new();
        let first = 1 + rows[0].0;
        let mut now = 1;
        let mut files: Vec<u32> = Vec::new();
        for (gap, file, offset, bytes) in rows {
            now += gap;
            if !files.contains(&file) {
                files.push(file);
                text += &format!("{now} f{file} add\n");
            }
            let index = files.iter().position(|&one| one == file).unwrap() as u32;
            text += &format!("{now} f{file} write {offset} {bytes}\n");
            expected.push(data((now - first) * 1000, index, W, offset, bytes));
        }
        prop_assert_eq!(read(&text).unwrap(), expected);
    }
}
