//! What recorders write: the records of blktrace, and the calls that strace prints.

use std::io::Cursor;

use flashtwin_base::Nanos;
use flashtwin_workload::Direction::{self, Read as R, Trim as T, Write as W};
use flashtwin_workload::trace::{Action, Event, Format, Options, Reader, Shape, survey};

/// (time in ns, file, action, offset, bytes, fua)
type Row = (u64, u32, Action, u64, u64, bool);

fn data(at: u64, file: u32, direction: Direction, offset: u64, bytes: u64) -> Row {
    (at, file, Action::Data(direction), offset, bytes, false)
}

fn flush(at: u64, file: u32) -> Row {
    (at, file, Action::Flush, 0, 0, false)
}

fn read(bytes: &[u8], options: Options, format: &str) -> Result<Vec<Row>, String> {
    let reader = Reader::new(Cursor::new(bytes), options).map_err(|e| e.to_string())?;
    assert_eq!(reader.format(), format);
    let row = |event: Event| {
        let Nanos(at) = event.at;
        (
            at,
            event.file,
            event.action,
            event.offset,
            event.bytes,
            event.fua,
        )
    };
    reader
        .map(|event| event.map(row).map_err(|e| e.to_string()))
        .collect()
}

/// A record of `struct blk_io_trace` in a byte order, and what follows it.
fn record(big: bool, at: u64, sector: u64, bytes: u32, action: u32, following: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    let mut put = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if big {
            bytes.reverse();
        }
        record.extend(bytes);
    };
    put(&0x6561_7407_u32.to_le_bytes());
    put(&1_u32.to_le_bytes());
    put(&at.to_le_bytes());
    put(&sector.to_le_bytes());
    put(&bytes.to_le_bytes());
    put(&action.to_le_bytes());
    put(&697_u32.to_le_bytes());
    put(&(8_u32 << 20 | 1).to_le_bytes());
    put(&0_u32.to_le_bytes());
    put(&0_u16.to_le_bytes());
    put(&(following.len() as u16).to_le_bytes());
    record.extend(following);
    record
}

const ISSUE: u32 = (1 << 6) << 16 | 7;
const QUEUE: u32 = (1 << 4) << 16 | 1;

/// A write, a read, a flush with FUA data, a discard, a flush alone, and what is no request.
fn blktrace(big: bool) -> Vec<u8> {
    let [write, flush, discard, fua, passed, noted] =
        [1, 2, 13, 15, 9, 10].map(|bit| 1 << (16 + bit));
    [
        record(big, 5, 0, 0, noted, b"fio"),
        record(big, 900, 16, 4096, QUEUE | write, b""),
        record(big, 1_000, 16, 4096, ISSUE | write, &[0; 8]),
        record(big, 3_000, 8, 512, ISSUE | 1 << 16 | 1 << 8, &[0; 8]),
        record(big, 2_000, 32, 8192, ISSUE | write | flush | fua, b""),
        record(big, 4_000, 0, 1 << 20, ISSUE | write | discard, b""),
        record(big, 5_000, 0, 0, ISSUE | flush, b""),
        record(big, 6_000, 0, 36, ISSUE | passed, &[0x12; 6]),
        record(big, 7_000, 16, 4096, (1 << 7) << 16 | 8 | write, b""),
    ]
    .concat()
}

#[test]
fn blktrace_is_read_in_both_byte_orders() {
    for big in [false, true] {
        let rows = read(&blktrace(big), Options::default(), "blktrace").unwrap();
        assert_eq!(
            rows,
            [
                data(0, 0, W, 8192, 4096),
                flush(1_000, 0),
                (1_000, 0, Action::Data(W), 16_384, 8192, true),
                data(2_000, 0, R, 4096, 512),
                data(3_000, 0, T, 0, 1 << 20),
                flush(4_000, 0),
            ]
        );
        let queued = Options {
            event: 'Q',
            format: Some(Format::Blktrace),
            ..Options::default()
        };
        let rows = read(&blktrace(big), queued, "blktrace").unwrap();
        assert_eq!(rows, [data(0, 0, W, 8192, 4096)]);
        let reader = Reader::new(Cursor::new(blktrace(big)), Options::default());
        let mut reader = reader.unwrap();
        assert_eq!(reader.by_ref().count(), 6);
        assert_eq!(
            (reader.left_out(), reader.files()),
            (1, vec!["8,1".to_owned()])
        );
    }
}

#[test]
fn a_broken_record_of_blktrace_is_told_by_its_number() {
    let good = blktrace(false);
    let first = 48 + 3;
    let mut other_order = record(false, 1, 0, 512, ISSUE, b"");
    other_order.extend(record(true, 1, 0, 512, ISSUE, b""));
    let mut version = good.clone();
    version[0] = 5;
    let mut later_version = good.clone();
    later_version[first] = 5;
    let far = record(false, 1, u64::MAX / 4, 512, ISSUE, b"");
    for (bytes, message) in [
        (
            &good[..first + 20],
            "line 2: this record has 48 bytes, and 20 of them are there",
        ),
        (
            &good[..50],
            "line 1: this record has 51 bytes, and 50 of them are there",
        ),
        (
            &good[..30],
            "line 1: this record has 48 bytes, and 30 of them are there",
        ),
        (
            &other_order,
            "line 2: no record of blktrace begins here, in the byte order of the first",
        ),
        (
            &version,
            "line 1: records of version 5, and version 7 is known",
        ),
        (&later_version, "line 2: no record of blktrace begins here"),
        (&far, "line 1: its sector is beyond what any drive has"),
    ] {
        let wrong = survey(Cursor::new(bytes), Options::default(), &Shape::default()).unwrap_err();
        assert!(wrong.to_string().starts_with(message), "{wrong}");
    }
    let options = Options {
        format: Some(Format::Blktrace),
        ..Options::default()
    };
    let wrong = read(b"8,0 1 1 0.0 1 D W 0 + 8 [x]\n", options, "blktrace").unwrap_err();
    assert_eq!(wrong, "line 1: this is not a trace of blktrace");
}

fn called(text: &str) -> Result<Vec<Row>, String> {
    read(text.as_bytes(), Options::default(), "strace")
}

const STRACE: &str = r#"strace: Process 700 attached
697 100.000000 openat(AT_FDCWD</d>, "/d/a, \"(b", O_RDWR|O_CREAT, 0644) = 3</d/a, "(b>
697 100.000100 write(3</d/a, "(b>, "\x41), (\"x"..., 4096) = 4096
697 100.000200 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 700
700 100.000300 write(3</d/a, "(b>, ""..., 100 <unfinished ...>
697 100.000400 pread64(3</d/a, "(b>,  <unfinished ...>
700 100.000500 <... write resumed>) = 100
697 100.000600 <... pread64 resumed>""..., 512, 8192) = 512
697 100.000700 lseek(3</d/a, "(b>, -96, SEEK_CUR) = 4100
697 100.000800 writev(3</d/a, "(b>, [{iov_base="", iov_len=6}, {iov_base=")", iov_len=6}], 2) = 12
697 100.000900 fdatasync(3</d/a, "(b>) = 0
697 100.001000 write(1</dev/pts/0>, "done\n", 5) = 5
697 100.001100 write(4<socket:[1]>, "x", 1) = 1
697 100.001150 sendto(5<TCP:[127.0.0.1:1->127.0.0.1:2]>, "x", 1, 0, NULL, 0) = 1
697 100.001200 openat(AT_FDCWD</d>, "log", O_WRONLY|O_APPEND|O_DSYNC) = 5</d/log>
697 100.001300 write(5</d/log>, ""..., 10) = 10
697 100.001400 clone(child_stack=NULL, flags=SIGCHLD) = 800
800 100.001500 write(5</d/log>, ""..., 20) = 20
800 100.001600 fallocate(3</d/a, "(b>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 8192) = 0
800 100.001700 fsync(3</d/a, "(b>) = -1 EIO (Input/output error)
800 100.001800 copy_file_range(3</d/a, "(b>, NULL, 5</d/log>, NULL, 10, 0) = 10
800 100.001900 read(3</d/a, "(b>, "", 512) = 0
800 100.002000 +++ exited with 0 +++
697 100.002100 --- SIGCHLD {si_signo=SIGCHLD} ---
697 100.002200 close(3</d/a, "(b>) = 0
697 100.002300 open("/d/a, \"(b", O_RDONLY) = 3</d/a, "(b>
697 100.002400 read(3</d/a, "(b>, ""..., 512) = 512
697 100.002500 read(3</d/a, "(b>, ""..., 512 <detached ...>
"#;

#[test]
fn strace_tells_what_a_process_asks_of_its_files() {
    let us = |count: u64| (count - 100) * 1000;
    let durable = |at, offset, bytes| (us(at), 1, Action::Data(W), offset, bytes, true);
    let reader = Reader::new(Cursor::new(STRACE), Options::default()).unwrap();
    assert_eq!(reader.format(), "strace");
    assert_eq!(
        called(STRACE).unwrap(),
        [
            data(us(100), 0, W, 0, 4096),
            data(us(300), 0, W, 4096, 100),
            data(us(400), 0, R, 8192, 512),
            data(us(800), 0, W, 4100, 12),
            (us(900), 0, Action::FlushData, 0, 0, false),
            durable(1300, 0, 10),
            durable(1500, 10, 20),
            data(us(1600), 0, T, 4096, 8192),
            data(us(2400), 0, R, 0, 512),
        ]
    );
    let surveyed = survey(Cursor::new(STRACE), Options::default(), &Shape::default()).unwrap();
    assert_eq!(surveyed.left_out, 1);
    let bracketed = STRACE
        .lines()
        .map(|line| match line.split_once(' ') {
            Some((pid, rest)) if pid != "strace:" => format!("[pid   {pid}] {rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect::<String>();
    assert_eq!(called(&bracketed).unwrap(), called(STRACE).unwrap());
    let alone = "100.5 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n";
    assert_eq!(called(alone).unwrap(), [data(0, 0, W, 0, 512)]);
}

#[test]
fn a_broken_line_of_strace_is_told() {
    let good = "1 100.5 fsync(3</d/a>) = 0\n";
    for (line, message) in [
        (
            "1 100.6 pwrite64(3</d/a>, \"\"..., 512, 0",
            "line 2: it ends before its closing bracket",
        ),
        (
            "1 100.6 pwrite64(3</d/a>, \"\"..., 512, 0)",
            "line 2: it ends before its result",
        ),
        (
            "1 100.6 pwrite64(3</d/a>, \"abc",
            "line 2: it ends before its closing quote",
        ),
        (
            "1 100.6 pwrite64(3</d/a>, \"\"..., 512, -1) = 512",
            "line 2: its offset is `-1`",
        ),
        (
            "1 10:11:12.5 fsync(3</d/a>) = 0",
            "line 2: its time in seconds (strace -ttt) is `10:11",
        ),
        ("1 100.6", "line 2: it ends before its call"),
        (
            "1 100.6 what is this(3) = 1",
            "line 2: its call is `what is this`",
        ),
    ] {
        let wrong = called(&format!("{good}{line}\n")).unwrap_err();
        assert!(wrong.starts_with(message), "{wrong}");
    }
}
