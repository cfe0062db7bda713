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
    // The last line is the earliest request.
    let rows = [
        data(0, 0, W, 4096, 512),
        data(19_223_400, 0, R, 383_496_192, 32768),
        data(19_223_500, 1, W, 310_983_680, 20480),
    ];
    assert_eq!(read(MSR).unwrap(), rows);
    let head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(read(&format!("{head}{MSR}")).unwrap(), rows);
    let second = Options {
        disk: Some("1".into()),
        ..Options::default()
    };
    assert_eq!(
        read_with(MSR, second).unwrap(),
        [data(0, 0, W, 310_983_680, 20480)]
    );
}

#[test]
fn blkparse_prints_requests_of_no_bytes_without_a_count() {
    let text = "\
  8,0    1        1     0.000000000   697  Q   W 1000 + 8 [app]
  8,0    1        2     0.000010000   697  D   W 1000 + 8 [app]
  8,0    1        3     0.000100000     0  C   W 1000 + 8 [0]
  8,0    1        4     0.000200000   697  Q FWS [journal]
  8,0    1        5     0.000300000   697  D  FN [journal]
  8,0    1        6     0.000400000     0  C  WS 1008 [0]
  8,0    1        7     0.000450000   697  Q   R 8 [app]
  8,0    1        8     0.000450000   697  D   R 8 + 0 [app]
  8,0    1        9     0.000450000     0  C   R 8 [0]
";
    for (letter, first) in [('Q', 0), ('D', 10_000), ('C', 100_000)] {
        let options = Options {
            event: letter,
            ..Options::default()
        };
        let rows = read_with(text, options.clone()).unwrap();
        let flushed = rows[1].0;
        assert_eq!(rows, [data(0, 0, W, 512_000, 4096), flush(flushed, 0)]);
        assert!(flushed <= 300_000 && first + flushed >= 200_000);
        let found = survey(Cursor::new(text), options, &Shape::default()).unwrap();
        assert_eq!(found.left_out, 1);
    }
}

/// Format, a small trace of it, and its requests.
fn samples() -> Vec<(&'static str, &'static str, Vec<Row>)> {
    let ms = 1_000_000;
    vec![
        (
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             1700000000.100000000,0.000800000,R,0,8990560256,131072\n\
             1700000000.200000000,,W,3,8990692352,4096\n\
             1700000000.300000000,0.000100000,,1,8192,16384\n",
            vec![
                data(0, 0, R, 8_990_560_256, 131_072),
                data(100 * ms, 1, W, 8_990_692_352, 4096),
            ],
        ),
        (
            "alibaba",
            "0,R,1048576,4096,1700000000000001\n3,W,8192,12288,1700000000000500\n",
            vec![
                data(0, 0, R, 1 << 20, 4096),
                data(499_000, 1, W, 8192, 12288),
            ],
        ),
        (
            "tencent",
            "1538323200,1000,16,0,2313\n1538323202,8,4,1,7\n",
            vec![
                data(0, 0, R, 512_000, 8192),
                data(2000 * ms, 1, W, 4096, 2048),
            ],
        ),
        (
            "fiu",
            "89968195792462 20782 gzip 2000 8 R 6 0 56f11b711d91a065a2b6458eca924523\n\
             89968195892462 20783 gzip 8 16 W 6 1 56f11b711d91a065a2b6458eca924523\n",
            vec![
                data(0, 0, R, 1_024_000, 4096),
                data(100_000, 1, W, 4096, 8192),
            ],
        ),
        (
            "spc",
            "0,1000,8192,W,0.551706\n1,8,512,r,0.554041\n",
            vec![
                data(0, 0, W, 512_000, 8192),
                data(2_335_000, 1, R, 4096, 512),
            ],
        ),
        (
            "disksim",
            "0 0 2048 16 0\n2.5 0 4096 8 1\n1.25 0 8 1 41\n",
            vec![
                data(0, 0, W, 1 << 20, 8192),
                data(1_250_000, 0, R, 4096, 512),
                data(2_500_000, 0, R, 1 << 21, 4096),
            ],
        ),
        (
            "vscsi",
            "#Vscsi Cmd Trace. (Trace Format Version 1)\n\
             #Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (us)\n\
             2147483692,4096,1,write,1000,2756778716647\n\
             2147483769,512,1,read,8,2756778716947\n\
             2147483770,0,0,0x35,0,2756778716950\n\
             2147483771,36,1,0x12,0,2756778716951\n",
            vec![
                data(0, 0, W, 512_000, 4096),
                data(300_000, 0, R, 4096, 512),
                flush(303_000, 0),
            ],
        ),
        (
            "biosnoop",
            "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)\n\
             0.000000    my app         1950    nvme0n1   W 1000       4096      0.75\n\
             0.000100    app            1950    sda       R 8          8192      0.95\n\
             0.000900    app            1950    sda       FF 0         0         0.10\n",
            vec![
                data(0, 1, R, 4096, 8192),
                data(100_000, 0, W, 512_000, 4096),
                flush(1_650_000, 1),
            ],
        ),
        (
            "biosnoop",
            "0.001000 app 1950 sda R 8 8192 0.500 0.250\n\
             0.001500 app 1950 sda WS 16 512 0.500 0.250\n",
            vec![data(0, 0, R, 4096, 8192), data(500_000, 0, W, 8192, 512)],
        ),
    ]
}

#[test]
fn formats_are_known_by_their_lines() {
    for (format, text, rows) in samples() {
        for text in [
            text.to_owned(),
            text.replace('\n', "\r\n"),
            text.replace('\n', "\r"),
            format!("\u{feff}{text}"),
        ] {
            let reader = Reader::new(Cursor::new(&text), Options::default());
            assert_eq!(reader.unwrap().format(), format);
            assert_eq!(read(&text).unwrap(), rows, "{format}");
        }
    }
}

#[test]
fn a_table_may_have_other_separators_and_quotes() {
    let heading = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let row = "128166372003061629,hm,0,Read,512,4096,4\n";
    let plain = read(&[heading, row].concat()).unwrap();
    for separator in [";", "\t", ", "] {
        let text = [heading, row].concat().replace(',', separator);
        assert_eq!(read(&text).unwrap(), plain, "{separator:?}");
        let words = text
            .trim_end()
            .replace(separator, &format!("\"{separator}\""));
        let quoted = format!("\"{}\"\n", words.replace('\n', "\"\n\""));
        assert_eq!(read(&quoted).unwrap(), plain, "{quoted}");
    }
}

#[test]
fn lines_of_other_actions_alone_are_told_as_such() {
    let text = "8,0 3 1 0.0 697 Q W 8 + 8 [x]\n8,0 3 2 0.1 697 G W 8 + 8 [x]\n";
    let wrong = survey(Cursor::new(text), Options::default(), &Shape::default()).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "line 0: the trace has no event D, but G, Q"
    );
}

#[test]
fn two_readings_are_refused_by_name_and_told_apart_by_it() {
    let text = "1000 0 2048 16 0\n2000 1 4096 8 1\n";
    let wrong = read(text).unwrap_err();
    let both = "line 1: it can be read as disksim (times in milliseconds) or as mqsim (times in \
                nanoseconds)";
    assert_eq!(wrong, both);
    for (format, tick) in [(Format::Disksim, 1_000_000), (Format::Mqsim, 1)] {
        let options = Options {
            format: Some(format),
            ..Options::default()
        };
        let rows = [
            data(0, 0, W, 1 << 20, 8192),
            data(1000 * tick, 1, R, 1 << 21, 4096),
        ];
        assert_eq!(read_with(text, options).unwrap(), rows);
    }
    for table in [
        "1,2,3,4,5,6\n",
        "1,2,3,0,5\n",
        "# a comment\n# and no more\n",
    ] {
        let wrong = read(table).unwrap_err();
        assert!(wrong.starts_with("line 1: this is not a trace"), "{wrong}");
    }
}

#[test]
fn biosnoop_counts_what_the_event_says() {
    let text = "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n\
                1.0 app 1 sda W 0 512 4.000 1.000\n1.010 app 1 sda R 8 512 0.000 3.000\n";
    for (event, gap) in [('C', 10_000_000), ('D', 8_000_000), ('Q', 12_000_000)] {
        let options = Options {
            event,
            ..Options::default()
        };
        let rows = [data(0, 0, W, 0, 512), data(gap, 0, R, 4096, 512)];
        assert_eq!(read_with(text, options).unwrap(), rows);
    }
    let queued = Options {
        event: 'Q',
        ..Options::default()
    };
    let wrong = read_with(&text.replace("QUE(ms)", "").replace("4.000 ", ""), queued).unwrap_err();
    assert_eq!(wrong, "line 2: it ends before its queueing time");
}

#[test]
fn a_disk_that_is_not_there_is_refused_with_those_that_are() {
    for (_, text, rows) in samples() {
        let disk = |name: &str| Options {
            disk: Some(name.into()),
            ..Options::default()
        };
        let reader = Reader::new(Cursor::new(text), Options::default()).unwrap();
        let mut names = reader;
        names.by_ref().for_each(drop);
        let names = names.files();
        let own = read_with(text, disk(&names[0])).unwrap();
        let count = rows.iter().filter(|row| row.1 == 0).count();
        assert_eq!(own.len(), count);
        let wrong = survey(Cursor::new(text), disk("none"), &Shape::default()).unwrap_err();
        let told = wrong.to_string();
        assert!(
            told.starts_with("line 0: the trace has no disk none, but "),
            "{told}"
        );
        assert!(names.iter().all(|name| told.contains(name)), "{told}");
    }
}

#[test]
fn lines_of_columns_are_refused_by_number() {
    let cases = [
        ("alibaba", "5,R,0", "line 3: it ends before its size"),
        (
            "alibaba",
            "5,X,0,512,1",
            "line 3: its type is `X`, which is not known",
        ),
        (
            "tencent",
            "1538323200,-8,4,1,7",
            "line 3: its offset is `-8`",
        ),
        (
            "tencent",
            "1538323200,36028797018963968,4,1,7",
            "line 3: its offset is beyond",
        ),
        (
            "alibaba",
            "5,R,0,512,17000000",
            "line 3: its time lies 53 years from that of line 2",
        ),
        (
            "tencent",
            "153832320,8,4,1,7",
            "line 3: its time lies 43 years from that of line 2",
        ),
        ("fiu", "1 2 sh 0 8 R", "line 3: it ends before its disk"),
        ("spc", "0,0,512,W,1e3", "line 3: its time is `1e3`"),
        ("disksim", "1.5 0 0 8 g", "line 4: its type is `g`"),
        (
            "biosnoop",
            "1.5 sh 4 sda W 0 512",
            "line 5: its kind of request is `sda`",
        ),
        (
            "biosnoop",
            "1.5 sh 4 sda Z 0 512 1.0",
            "line 5: its kind of request is `Z`",
        ),
    ];
    for (format, line, told) in cases {
        let (_, text, rows) = samples().into_iter().find(|row| row.0 == format).unwrap();
        let broken = format!("{text}{line}\n{text}");
        let mut events = Reader::new(Cursor::new(&broken), Options::default()).unwrap();
        // What stands before the line is there.
        assert_eq!(
            events.by_ref().take_while(Result::is_ok).count(),
            rows.len(),
            "{line}"
        );
        let wrong = read(&broken).unwrap_err();
        assert!(wrong.starts_with(told), "{wrong} is not {told}");
    }
}

#[test]
fn requests_out_of_order_are_sorted_as_far_as_memory_allows() {
    let line = |us: u64| format!("0,W,0,512,{}\n", 1_700_000_000_000_000 + us);
    let mut text: String = (0..40_000).map(|count| line(1000 + (count ^ 7))).collect();
    text += &line(3);
    let found = survey(Cursor::new(&text), Options::default(), &Shape::default()).unwrap();
    assert_eq!((found.ios[1], found.late), (40_001, 1));
    let rows = read(&text).unwrap();
    let times: Vec<u64> = rows.iter().map(|row| row.0 / 1000).collect();
    assert!(times.is_sorted() && times[..5] == [0, 1, 2, 3, 4]);
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
        ("hello\n".into(), "line 1: this is not a trace of a kind"),
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
            format!("{msr}\r\r12816637200306162,hm,0,Read,0,512,4\r{msr}"),
            "line 4: its time lies 364 years from that of line 1",
        ),
        (
            format!("{v2}/d/a wait 99999999999999 0\n/d/a read 0 512\n"),
            "line 3: its time lies 3 years",
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
    assert_eq!(
        (found.span, found.longest),
        (Nanos(19_223_500), [32768, 20480, 0])
    );
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
    let told = wrong.to_string();
    assert!(
        told.starts_with("line 0: the trace has no event X, but "),
        "{told}"
    );
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
        head in 0..13_usize,
        cut in 0..200_usize,
    ) {
        let samples = samples();
        let heads = ["fio version 2 iolog", "fio version 3 iolog",
                     "8,0 1 1 0.0 1 D W 8 + 8 [x]", "1,hm,0,Read,0,512,4"];
        let head = *heads.get(head).unwrap_or_else(|| &samples[head - 4].1);
        let head = &head[..cut.min(head.len())];
        let text = format!("{head}\n{}", lines.join("\n"));
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
