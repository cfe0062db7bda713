//! An NBD client of any kind: whatever it sends, in pieces of any length, the server's answers are
//! whole, and it holds no more than it was granted.

use std::io::Read;

use flashtwin_base::{Nanos, Op, Status};
use flashtwin_drive::{Config, Drive, spec};
use flashtwin_serve::disk::{Ask, Disk};
use flashtwin_serve::nbd::wire::Errno;
use flashtwin_serve::nbd::{Connection, Export, Progress, Request, Verb};

/// Most bytes of a request here.
const ROOM: usize = 1 << 16;

fn config() -> Config {
    let parents = [("base", include_str!("base.toml"))];
    let small = spec::load_text(include_str!("small.toml"), &parents, &[], &[], None);
    small.unwrap_or_else(|errors| panic!("{errors:?}")).config
}

/// Carries out a request; the answer is whether it ended well.
fn carry_out(disk: &mut Disk, connection: &mut Connection, request: Request) -> bool {
    if request.verb == Verb::Status {
        let ranges = disk.allocation(request.offset, request.length.into(), 64);
        assert!(!ranges.is_empty(), "a status without a range");
        connection.answer_status(&request, ranges);
        return true;
    }
    let op = match request.verb {
        Verb::Read => Op::Read,
        Verb::Write | Verb::WriteZeroes => Op::Write,
        Verb::Trim => Op::Trim,
        Verb::Flush | Verb::Status => Op::Flush,
    };
    let (form, cookie, offset) = (connection.form(), request.cookie, request.offset);
    let written = (request.verb == Verb::Write).then(|| request.data.clone());
    let ask = Ask {
        op,
        offset,
        length: if op == Op::Flush {
            0
        } else {
            request.length.into()
        },
        fua: request.fua,
        data: written.clone(),
    };
    disk.submit(0, ask).expect("there is no log");
    let mut answers = Vec::new();
    disk.advance_until_done(&mut answers)
        .expect("memory takes all");
    disk.commit().expect("memory takes all");
    let answer = answers.pop().expect("one was asked for");
    if let Some(written) = written.filter(|_| answer.status == Status::Ok) {
        let there = disk.read(offset, request.length.into());
        assert_eq!(there.expect("memory reads"), written, "what was written");
    }
    let well = answer.status == Status::Ok;
    match answer.ask.data.filter(|_| op == Op::Read && well) {
        Some(data) => form.data(connection.output(), cookie, offset, &data),
        None => form.answer(connection.output(), cookie, (!well).then_some(Errno::Io)),
    }
    well
}

/// A session of bytes; the answer is whether a request was carried out.
pub fn check(data: &[u8]) -> bool {
    let config = config();
    let mut disk = Disk::in_memory(Drive::new(&config, 1), false);
    let export = Export {
        name: "drive".to_owned(),
        description: "a drive".to_owned(),
        size: config.capacity_bytes / 512 * 512,
        least_bytes: 512,
        preferred_bytes: config.policy.unit_bytes,
        most_bytes: ROOM as u32,
        read_only: false,
        challenge: Some("0123456789abcdef".to_owned()),
    };
    let mut connection = Connection::new();
    let (mut rest, mut carried) = (data, false);
    // The first byte decides how much comes at once.
    let piece = 1 + usize::from(data.first().copied().unwrap_or(0)) * 37;
    loop {
        match connection.next(&export, ROOM) {
            Progress::Request(request) => {
                assert!(
                    request.data.len() <= ROOM && request.length as usize >= request.data.len()
                );
                let end = request.offset.checked_add(request.length.into());
                assert!(end.is_some_and(|end| end <= export.size), "{request:?}");
                // Writing zeros over gigabytes only takes time.
                if request.length as usize <= ROOM || request.verb != Verb::WriteZeroes {
                    carried |= carry_out(&mut disk, &mut connection, request);
                }
            }
            Progress::Room(bytes) => panic!("{bytes} bytes are more than the export allows"),
            Progress::Ended => {
                assert!(connection.is_ended());
                return carried;
            }
            Progress::Starved if rest.is_empty() => return carried,
            Progress::Starved => {
                let mut here = &rest[..piece.min(rest.len())];
                let taken = connection.fill(|room| here.read_vectored(room));
                rest = &rest[taken.map_or(0, |(count, _)| count)..];
            }
        }
        connection.output().clear();
        let moment = disk.drive().now();
        assert!(moment < Nanos::NEVER);
    }
}
