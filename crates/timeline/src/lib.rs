//! A drive's timeline as a trace that Perfetto opens: a track for each place of the queue, each
//! direction of the link, each core, each channel and each die, written while the drive works.
//!
//! Invariants: the same slices give the same bytes; memory holds one hand-over of slices and a note
//! of each track and word, however long the trace becomes. Source of the format: Perfetto's
//! `protos/perfetto/trace`, of which `packets` has the messages and fields that are used here.

mod packets;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use flashtwin_base::{Nanos, Op};
use flashtwin_drive::timeline::{Activity, Origin, Slice, Track, name_of};
use packets::{
    Message, debug_annotation, interned_data, packet, trace, track_descriptor, track_event, word,
};

/// The one sequence of packets: whoever reads it drops it whole where its beginning is lost.
const SEQUENCE: u64 = 1;
/// Bytes of a sector.
const SECTOR_BYTES: u64 = 512;
/// Of the first packet: no word has been given a number before.
const WORDS_CLEARED: u64 = 1;
/// Of every other one: it uses words that were given numbers.
const NEEDS_WORDS: u64 = 2;
/// The track of the whole drive, which holds the groups.
const DRIVE: u64 = 1;
/// Groups of tracks and their numbers; all other tracks have larger ones.
const GROUPS: [(u64, &str); 5] = [
    (2, "Host commands"),
    (3, "Link"),
    (4, "Cores"),
    (5, "Channels"),
    (6, "Dies"),
];

/// Writes slices as they come.
pub struct Writer<W> {
    out: W,
    tracks: BTreeSet<Track>,
    words: BTreeMap<(Class, String), u64>,
    bytes: u64,
    slices: u64,
}

/// What a word is used for: each use counts for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Name,
    Category,
    NoteName,
}

impl<W: Write> Writer<W> {
    /// A trace of the drive of that name, which begins with the groups of tracks.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(out: W, drive: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out,
            tracks: BTreeSet::new(),
            words: BTreeMap::new(),
            bytes: 0,
            slices: 0,
        };
        let mut groups = vec![describing(WORDS_CLEARED, group(DRIVE, drive))];
        groups.extend(GROUPS.map(|(uuid, name)| {
            let within = group(uuid, name).number(track_descriptor::PARENT_UUID, DRIVE);
            describing(NEEDS_WORDS, within)
        }));
        writer.write(groups)?;
        Ok(writer)
    }

    /// Adds slices; those of a track come in the order of their ends.
    ///
    /// # Errors
    /// What `out` says.
    pub fn add(&mut self, slices: &[Slice]) -> io::Result<()> {
        let mut packets = Vec::with_capacity(2 * slices.len());
        for slice in slices {
            if self.tracks.insert(slice.track) {
                packets.push(described(slice.track));
            }
            packets.push(self.beginning(slice));
            packets.push(at(slice.end, event(track_event::END, slice.track)));
        }
        self.slices += slices.len() as u64;
        self.write(packets)
    }

    /// Slices and bytes so far.
    pub fn written(&self) -> (u64, u64) {
        (self.slices, self.bytes)
    }

    /// Hands on what is gathered.
    ///
    /// # Errors
    /// What `out` says.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, packets: Vec<Message>) -> io::Result<()> {
        let bytes = Message::default()
            .messages(trace::PACKET, packets)
            .into_bytes();
        self.bytes += bytes.len() as u64;
        self.out.write_all(&bytes)
    }

    /// The packet with which a slice begins, and the words that are new in it.
    fn beginning(&mut self, slice: &Slice) -> Message {
        let mut new = Message::default();
        let name = self.word(Class::Name, called(slice), &mut new);
        let mut begun = event(track_event::BEGIN, slice.track).number(track_event::NAME_IID, name);
        if let Some(origin) = slice.origin {
            let category = self.word(Class::Category, behalf(origin).into(), &mut new);
            begun = begun.number(track_event::CATEGORY_IIDS, category);
        }
        for (name, value) in notes(slice) {
            let name = self.word(Class::NoteName, name.into(), &mut new);
            let note = Message::default()
                .number(debug_annotation::NAME_IID, name)
                .number(debug_annotation::UINT_VALUE, value);
            begun = begun.message(track_event::DEBUG_ANNOTATIONS, note);
        }
        let packet = at(slice.begin, begun);
        if new.is_empty() {
            packet
        } else {
            packet.message(packet::INTERNED_DATA, new)
        }
    }

    /// The number of a word; one that has none gets one, and is told of.
    fn word(&mut self, class: Class, text: String, new: &mut Message) -> u64 {
        let next = self.words.len() as u64 + 1;
        let iid = *self.words.entry((class, text.clone())).or_insert(next);
        if iid == next {
            let told = Message::default()
                .number(word::IID, iid)
                .text(word::NAME, text);
            let tag = match class {
                Class::Name => interned_data::EVENT_NAMES,
                Class::Category => interned_data::EVENT_CATEGORIES,
                Class::NoteName => interned_data::DEBUG_ANNOTATION_NAMES,
            };
            *new = std::mem::take(new).message(tag, told);
        }
        iid
    }
}

/// Numbers that belong to a slice, by their names.
fn notes(slice: &Slice) -> impl Iterator<Item = (&'static str, u64)> {
    let bytes = (slice.bytes > 0).then_some(("bytes", slice.bytes));
    let of_activity = match slice.activity {
        Activity::Command(Op::Read | Op::Write | Op::Trim, lba) => {
            Some(("offset", lba * SECTOR_BYTES))
        }
        Activity::Array(_, retries) if retries > 0 => Some(("retries", u64::from(retries))),
        _ => None,
    };
    bytes.into_iter().chain(of_activity)
}

/// One end of a slice.
fn event(end: u64, track: Track) -> Message {
    Message::default()
        .number(track_event::TYPE, end)
        .number(track_event::TRACK_UUID, number(track))
}

/// The packet of an event.
fn at(time: Nanos, event: Message) -> Message {
    Message::default()
        .number(packet::TIMESTAMP, time.0)
        .number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE)
        .number(packet::SEQUENCE_FLAGS, NEEDS_WORDS)
        .message(packet::TRACK_EVENT, event)
}

/// A track's number in the trace.
fn number(track: Track) -> u64 {
    match track {
        Track::Command(slot) => 1 << 32 | u64::from(slot),
        Track::Link(way) => 2 << 32 | u64::from(way),
        Track::Core(core) => 3 << 32 | u64::from(core),
        Track::Channel(channel) => 4 << 32 | u64::from(channel),
        Track::Die(die, plane) => 5 << 32 | u64::from(die) << 8 | u64::from(plane),
    }
}

/// The packet that names a track.
fn described(track: Track) -> Message {
    let (group, name) = match track {
        Track::Command(slot) => (0, format!("slot {slot}")),
        Track::Link(0) => (1, "link".into()),
        Track::Link(_) => (1, "link, to host".into()),
        Track::Core(core) => (2, format!("core {core}")),
        Track::Channel(channel) => (3, format!("channel {channel}")),
        Track::Die(die, 0) => (4, format!("die {die}")),
        Track::Die(die, plane) => (4, format!("die {die}, plane {plane}")),
    };
    let one = Message::default()
        .number(track_descriptor::UUID, number(track))
        .text(track_descriptor::NAME, name)
        .number(track_descriptor::PARENT_UUID, GROUPS[group].0)
        .number(
            track_descriptor::SIBLING_ORDER_RANK,
            number(track) & 0xffff_ffff,
        );
    describing(NEEDS_WORDS, one)
}

/// The track that holds others, in the order of their numbers.
fn group(uuid: u64, name: &str) -> Message {
    Message::default()
        .number(track_descriptor::UUID, uuid)
        .text(track_descriptor::NAME, name.to_owned())
        .number(track_descriptor::CHILD_ORDERING, track_descriptor::EXPLICIT)
        .number(track_descriptor::SIBLING_ORDER_RANK, uuid)
}

/// The packet of a track.
fn describing(flags: u64, track: Message) -> Message {
    Message::default()
        .number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE)
        .number(packet::SEQUENCE_FLAGS, flags)
        .message(packet::TRACK_DESCRIPTOR, track)
}

/// What a slice is called: colours go by this name.
fn called(slice: &Slice) -> String {
    match slice.activity {
        Activity::Command(op, _) => word_of(op).into(),
        Activity::FromHost => "from host".into(),
        Activity::ToHost => "to host".into(),
        Activity::Understands(op) => format!("understands a {}", word_of(op)),
        Activity::Prepares(class) => match slice.origin {
            Some(origin) => format!("prepares {}: {}", behalf(origin), name_of(class)),
            None => format!("prepares {}", name_of(class)),
        },
        Activity::StandsStill => "stands still".into(),
        Activity::ToDie(die) => format!("to die {die}"),
        Activity::FromDie(die) => format!("from die {die}"),
        Activity::Array(class, _) | Activity::Suspended(class) => {
            let name = name_of(class);
            let suspended = matches!(slice.activity, Activity::Suspended(_));
            let end = if suspended { ", suspended" } else { "" };
            match slice.origin {
                Some(origin) => format!("{}: {name}{end}", behalf(origin)),
                None => format!("{name}{end}"),
            }
        }
    }
}

fn word_of(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Flush => "flush",
        Op::Trim => "trim",
    }
}

fn behalf(origin: Origin) -> &'static str {
    match origin {
        Origin::Host => "host",
        Origin::ReadAhead => "read-ahead",
        Origin::Fold => "fold",
        Origin::Collect => "gc",
        Origin::Levelling => "wear levelling",
        Origin::Map => "map",
        Origin::Parity => "parity",
        Origin::Journal => "journal",
    }
}
