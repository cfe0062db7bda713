//! The handshake: what a client asks for before its first request.
//!
//! One export, under its name and under the empty one. Every option is answered: one that is not
//! known with `UNSUPPORTED`, one that is not well formed with `INVALID`; the client may go on with
//! others.

use super::connection::{Connection, Stage};
use super::wire::{self, export, info, option, option_reply, reply};

/// The only kind of metadata, as clients name it.
const ALLOCATION: &[u8] = b"base:allocation";
/// The number that stands for it in replies.
pub const ALLOCATION_ID: u32 = 1;
/// Longest name that the specification allows.
const NAME_BYTES: usize = 4096;

/// What is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The drive's id.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Bytes.
    pub size: u64,
    /// Smallest request.
    pub least_bytes: u32,
    /// What requests are best made of.
    pub preferred_bytes: u32,
    /// Largest request.
    pub most_bytes: u32,
    /// Nothing can be written any more.
    pub read_only: bool,
    /// A name of one use, under which somebody finds out whether an export is the one whose
    /// control socket they know.
    pub challenge: Option<String>,
}

impl Export {
    fn flags(&self, structured: bool) -> u16 {
        let mut flags = export::HAS_FLAGS
            | export::FLUSH
            | export::FUA
            | export::TRIM
            | export::WRITE_ZEROES
            | export::MULTI_CONN;
        if structured {
            flags |= export::DF;
        }
        if self.read_only {
            flags |= export::READ_ONLY;
        }
        flags
    }

    fn has(&self, name: &[u8]) -> bool {
        let challenge = self.challenge.as_ref().map(String::as_bytes);
        name.is_empty() || name == self.name.as_bytes() || challenge == Some(name)
    }
}

/// The first words of the server.
pub(super) fn greeting() -> Vec<u8> {
    let mut out = wire::MAGIC.to_be_bytes().to_vec();
    out.extend_from_slice(&wire::OPTION_MAGIC.to_be_bytes());
    out.extend_from_slice(&(wire::FIXED_NEWSTYLE | wire::NO_ZEROES).to_be_bytes());
    out
}

/// Takes counted text and what follows off the front of an option's data.
fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (count, rest) = data.split_at_checked(4)?;
    let count = wire::number::<4>(count, 0) as usize;
    if count > NAME_BYTES {
        return None;
    }
    rest.split_at_checked(count)
}

/// The name and the facts that INFO and GO ask for.
fn name_and_facts(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let (name, rest) = counted(data)?;
    let (count, facts) = rest.split_at_checked(2)?;
    let count = wire::number::<2>(count, 0) as usize;
    if facts.len() != 2 * count {
        return None;
    }
    let facts = facts
        .chunks_exact(2)
        .map(|f| wire::number::<2>(f, 0) as u16);
    Some((name, facts.collect()))
}

/// The export's name and the queries of a question for metadata.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = counted(data)?;
    let (count, mut rest) = rest.split_at_checked(4)?;
    let mut queries = Vec::new();
    for _ in 0..wire::number::<4>(count, 0) {
        let (query, left) = counted(rest)?;
        queries.push(query);
        rest = left;
    }
    rest.is_empty().then_some((name, queries))
}

impl Connection {
    /// Answers an option.
    pub(super) fn answer_option(&mut self, export: &Export, option: u32, data: &[u8]) {
        match option {
            option::EXPORT_NAME => self.begin_by_name(export, data),
            option::ABORT => {
                self.ack(option);
                self.stage = Stage::Ended;
            }
            option::LIST => self.list(export, data),
            option::INFO | option::GO => self.tell(export, option, data),
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.form.structured = true;
                self.ack(option);
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.metadata(export, option, data);
            }
            option::STRUCTURED_REPLY => self.refuse(option, reply::INVALID),
            _ => self.refuse(option, reply::UNSUPPORTED),
        }
    }

    fn ack(&mut self, option: u32) {
        option_reply(&mut self.output, option, reply::ACK, &[]);
    }

    pub(super) fn refuse(&mut self, option: u32, why: u32) {
        option_reply(&mut self.output, option, why, &[]);
    }

    /// The old way: an unknown name can be answered by hanging up only.
    fn begin_by_name(&mut self, export: &Export, name: &[u8]) {
        if !export.has(name) {
            self.stage = Stage::Ended;
            return;
        }
        let flags = export.flags(self.form.structured);
        self.output.extend_from_slice(&export.size.to_be_bytes());
        self.output.extend_from_slice(&flags.to_be_bytes());
        if !self.no_zeroes {
            self.output.extend_from_slice(&[0; 124]);
        }
        self.stage = Stage::Requests;
    }

    fn list(&mut self, export: &Export, data: &[u8]) {
        if !data.is_empty() {
            return self.refuse(option::LIST, reply::INVALID);
        }
        let mut text = (export.name.len() as u32).to_be_bytes().to_vec();
        text.extend_from_slice(export.name.as_bytes());
        text.extend_from_slice(export.description.as_bytes());
        option_reply(&mut self.output, option::LIST, reply::SERVER, &text);
        self.ack(option::LIST);
    }

    fn tell(&mut self, export: &Export, option: u32, data: &[u8]) {
        let Some((name, facts)) = name_and_facts(data) else {
            return self.refuse(option, reply::INVALID);
        };
        if !export.has(name) {
            return self.refuse(option, reply::UNKNOWN);
        }
        let mut fact = |kind: u16, bytes: &[&[u8]]| {
            let bytes = [&kind.to_be_bytes()[..], &bytes.concat()].concat();
            option_reply(&mut self.output, option, reply::INFO, &bytes);
        };
        let flags = export.flags(self.form.structured);
        fact(
            info::EXPORT,
            &[&export.size.to_be_bytes(), &flags.to_be_bytes()],
        );
        if facts.contains(&info::NAME) {
            fact(info::NAME, &[export.name.as_bytes()]);
        }
        if facts.contains(&info::DESCRIPTION) {
            fact(info::DESCRIPTION, &[export.description.as_bytes()]);
        }
        let sizes = [
            export.least_bytes,
            export.preferred_bytes,
            export.most_bytes,
        ]
        .map(u32::to_be_bytes);
        fact(info::BLOCK_SIZE, &[&sizes[0], &sizes[1], &sizes[2]]);
        self.ack(option);
        if option == option::GO {
            self.stage = Stage::Requests;
        }
    }

    fn metadata(&mut self, export: &Export, option: u32, data: &[u8]) {
        let sets = option == option::SET_META_CONTEXT;
        if sets {
            self.allocation = false;
        }
        let parsed = name_and_queries(data).filter(|_| self.form.structured || !sets);
        let Some((name, queries)) = parsed else {
            return self.refuse(option, reply::INVALID);
        };
        if !export.has(name) {
            return self.refuse(option, reply::UNKNOWN);
        }
        // Without a query a list is of all there is, and a choice is of nothing.
        let all = !sets && (queries.is_empty() || queries.contains(&&b"base:"[..]));
        if all || queries.contains(&ALLOCATION) {
            let id = if sets { ALLOCATION_ID } else { 0 };
            let text = [&id.to_be_bytes()[..], ALLOCATION].concat();
            option_reply(&mut self.output, option, reply::META_CONTEXT, &text);
            self.allocation |= sets;
        }
        self.ack(option);
    }
}
