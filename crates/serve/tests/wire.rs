//! A connection without sockets: what comes in, what goes out.

use std::io::Read;

use flashtwin_serve::nbd::wire::{self, command, number, option, reply};
use flashtwin_serve::nbd::{Connection, Export, Progress, Request, Verb};

fn export() -> Export {
    Export {
        name: "drive".to_owned(),
        description: "a drive".to_owned(),
        size: 1 << 20,
        least_bytes: 512,
        preferred_bytes: 4096,
        most_bytes: 1 << 18,
        read_only: false,
        challenge: None,
    }
}

fn feed(connection: &mut Connection, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        connection.fill(|room| bytes.read_vectored(room)).unwrap();
        if bytes.is_empty() {
            return;
        }
        assert_eq!(connection.next(&export(), 0), Progress::Starved);
    }
}

fn wish(option: u32, data: &[u8]) -> Vec<u8> {
    let mut out = wire::OPTION_MAGIC.to_be_bytes().to_vec();
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
    out
}

fn go() -> Vec<u8> {
    wish(option::GO, &[0, 0, 0, 0, 0, 0])
}

fn asked(flags: u16, kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut out = wire::REQUEST_MAGIC.to_be_bytes().to_vec();
    out.extend_from_slice(&flags.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&7u64.to_be_bytes());
    out.extend_from_slice(&offset.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
    out
}

/// A client that has chosen the export, with these options before.
fn connected(options: &[Vec<u8>]) -> Connection {
    let mut connection = Connection::new();
    let flags = 3u32.to_be_bytes().to_vec();
    let bytes = [&[flags], options, &[go()]].concat().concat();
    feed(&mut connection, &bytes);
    assert_eq!(connection.next(&export(), usize::MAX), Progress::Starved);
    connection.output().clear();
    connection
}

fn structured() -> Connection {
    connected(&[wish(option::STRUCTURED_REPLY, &[])])
}

/// The answers to options in what was sent: option and kind.
fn answers(mut bytes: &[u8]) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(number::<8>(bytes, 0), wire::OPTION_REPLY_MAGIC);
        let length = number::<4>(bytes, 16) as usize;
        all.push((number::<4>(bytes, 8) as u32, number::<4>(bytes, 12) as u32));
        bytes = &bytes[20 + length..];
    }
    all
}

/// What the options that a client sends are answered with.
fn negotiated(options: &[Vec<u8>]) -> Vec<(u32, u32)> {
    let mut connection = Connection::new();
    connection.output().clear();
    feed(&mut connection, &3u32.to_be_bytes());
    for option in options {
        assert_eq!(connection.next(&export(), 0), Progress::Starved);
        feed(&mut connection, option);
    }
    connection.next(&export(), 0);
    answers(connection.output())
}

/// The error that a request is answered with by a simple reply.
fn error_of(mut connection: Connection, bytes: &[u8]) -> u64 {
    feed(&mut connection, bytes);
    assert_eq!(connection.next(&export(), usize::MAX), Progress::Starved);
    let out = connection.output();
    assert_eq!(number::<4>(out, 0), u64::from(wire::SIMPLE_MAGIC));
    assert_eq!(out.len(), 16);
    number::<4>(out, 4)
}

#[test]
fn options_are_all_answered() {
    let named = |name: &[u8]| {
        let mut data = (name.len() as u32).to_be_bytes().to_vec();
        data.extend_from_slice(name);
        data.extend_from_slice(&[0, 0]);
        data
    };
    let cases = [
        (wish(option::LIST, &[]), vec![(3, reply::SERVER), (3, 1)]),
        (wish(option::LIST, &[1]), vec![(3, reply::INVALID)]),
        (
            wish(option::INFO, &named(b"other")),
            vec![(6, reply::UNKNOWN)],
        ),
        (wish(option::INFO, b"ab"), vec![(6, reply::INVALID)]),
        (wish(option::STRUCTURED_REPLY, &[]), vec![(8, 1)]),
        (
            wish(option::STRUCTURED_REPLY, &[0]),
            vec![(8, reply::INVALID)],
        ),
        (wish(5, &[]), vec![(5, reply::UNSUPPORTED)]),
        (wish(77, &[0; 100]), vec![(77, reply::UNSUPPORTED)]),
        (wish(77, &vec![0; 200_000]), vec![(77, reply::TOO_BIG)]),
        (wish(option::ABORT, &[]), vec![(2, 1)]),
        // A context without structured replies is refused.
        (
            wish(option::SET_META_CONTEXT, &[0; 8]),
            vec![(10, reply::INVALID)],
        ),
        (
            wish(option::INFO, &named(b"drive")),
            vec![(6, reply::INFO), (6, reply::INFO), (6, 1)],
        ),
    ];
    for (option, expected) in cases {
        assert_eq!(negotiated(&[option]), expected);
    }
}

#[test]
fn wrong_requests_get_their_errors() {
    let (read, write) = (command::READ, command::WRITE);
    let data = |request: Vec<u8>, bytes: usize| [request, vec![0; bytes]].concat();
    let cases = [
        (asked(0, read, 0, 0), 22),
        (asked(0, read, 1, 512), 22),
        (asked(0, read, 0, 100), 22),
        (asked(0, read, 0, 1 << 19), 22),
        (asked(0, read, 1 << 20, 512), 22),
        (asked(0, read, u64::MAX - 511, 1024), 22),
        (asked(0, 5, 0, 512), 22),
        (asked(0, 99, 0, 512), 22),
        (asked(1 << 9, read, 0, 512), 22),
        (asked(0, command::BLOCK_STATUS, 0, 512), 22),
        (asked(0, command::TRIM, 1 << 20, 512), 22),
        (asked(0, command::WRITE_ZEROES, 1 << 20, 512), 28),
        (data(asked(0, write, 1 << 20, 512), 512), 28),
        (data(asked(0, write, 0, 1 << 19), 1 << 19), 22),
        (data(asked(0, write, 3, 512), 512), 22),
    ];
    for (bytes, expected) in cases {
        let connection = connected(&[]);
        assert_eq!(error_of(connection, &bytes), expected, "{bytes:?}");
    }
}

#[test]
fn a_client_goes_on_after_an_error() {
    let mut connection = connected(&[]);
    let wrong = [asked(0, command::WRITE, 0, 1 << 19), vec![0; 1 << 19]].concat();
    let bytes = [wrong, asked(0, command::READ, 512, 512)].concat();
    let mut rest = &bytes[..];
    let progress = loop {
        let piece = rest.len().min(1000);
        feed(&mut connection, &rest[..piece]);
        rest = &rest[piece..];
        match connection.next(&export(), 512) {
            Progress::Starved => assert!(!rest.is_empty()),
            other => break other,
        }
    };
    let expected = Request {
        verb: Verb::Read,
        cookie: 7,
        offset: 512,
        length: 512,
        fua: false,
        one: false,
        data: Vec::new(),
    };
    assert_eq!(progress, Progress::Request(expected));
}

#[test]
fn requests_wait_for_room() {
    let mut connection = connected(&[]);
    let bytes = [asked(1, command::WRITE, 0, 4096), vec![9; 4096]].concat();
    feed(&mut connection, &bytes);
    assert_eq!(connection.next(&export(), 4095), Progress::Room(4096));
    assert_eq!(connection.next(&export(), 4095), Progress::Room(4096));
    let Progress::Request(request) = connection.next(&export(), 4096) else {
        panic!("no request");
    };
    assert!(request.fua && request.data == vec![9; 4096]);
}

#[test]
fn replies_have_the_form_asked_for() {
    let mut out = Vec::new();
    connected(&[]).form().data(&mut out, 7, 512, b"data");
    assert_eq!((number::<4>(&out, 0), out.len()), (0x6744_6698, 20));
    let form = structured().form();
    out.clear();
    form.data(&mut out, 7, 512, b"data");
    assert_eq!(
        (number::<4>(&out, 0), number::<4>(&out, 4)),
        (0x668e_33ef, 0x1_0001)
    );
    assert_eq!((number::<4>(&out, 16), number::<8>(&out, 20)), (12, 512));
    out.clear();
    form.answer(&mut out, 7, Some(wire::Errno::Io));
    assert_eq!((number::<2>(&out, 6), number::<4>(&out, 20)), (0x8001, 5));
}

#[test]
fn a_broken_client_ends() {
    for bytes in [&[0xff; 64][..], &[0, 0, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1][..]] {
        let mut connection = Connection::new();
        feed(&mut connection, &bytes.repeat(2));
        assert_eq!(connection.next(&export(), 0), Progress::Ended);
        assert!(connection.is_ended());
    }
    let mut connection = connected(&[]);
    feed(&mut connection, &[1; 28]);
    assert_eq!(connection.next(&export(), 0), Progress::Ended);
}
