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
use prost::Message;

use packets::{ChildOrder, Kind, Note, Packet, Trace, TrackDescriptor, TrackEvent, Word, Words};

/// The one sequence of packets: whoever reads it drops it whole where its beginning is lost.
const SEQUENCE: u32 = 1;
/// Bytes of a sector.
const SECTOR_BYTES: u64 = 512;
/// Of the first packet: no word has been given a number before.
const WORDS_CLEARED: u32 = 1;
/// Of every other one: it uses words that were given numbers.
const NEEDS_WORDS: u32 = 2;
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
        let mut first = group(DRIVE, drive, None);
        first.sequence_flags = Some(WORDS_CLEARED);
        let mut groups = vec![first];
        groups.extend(GROUPS.map(|(uuid, name)| group(uuid, name, Some(DRIVE))));
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
            packets.push(event(slice.end, Kind::End, slice.track));
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

    fn write(&mut self, packet: Vec<Packet>) -> io::Result<()> {
        let bytes = Trace { packet }.encode_to_vec();
        self.bytes += bytes.len() as u64;
        self.out.write_all(&bytes)
    }

    /// The packet with which a slice begins, and the words that are new in it.
    fn beginning(&mut self, slice: &Slice) -> Packet {
        let mut new = Words::default();
        let mut packet = event(slice.begin, Kind::Begin, slice.track);
        let name = self.word(Class::Name, called(slice), &mut new);
        let category = slice
            .origin
            .map(|origin| self.word(Class::Category, behalf(origin).into(), &mut new));
        let mut notes = Vec::new();
        let mut note = |writer: &mut Self, name: &str, value: u64| {
            let name = writer.word(Class::NoteName, name.to_owned(), &mut new);
            notes.push(Note {
                name_iid: Some(name),
                uint_value: Some(value),
            });
        };
        if slice.bytes > 0 {
            note(self, "bytes", slice.bytes);
        }
        match slice.activity {
            Activity::Command(Op::Read | Op::Write | Op::Trim, lba) => {
                note(self, "offset", lba * SECTOR_BYTES);
            }
            Activity::Array(_, retries) if retries > 0 => {
                note(self, "retries", u64::from(retries));
            }
            _ => {}
        }
        if let Some(event) = &mut packet.track_event {
            event.name_iid = Some(name);
            event.category_iids = category.into_iter().collect();
            event.debug_annotations = notes;
        }
        packet.interned_data = (new != Words::default()).then_some(new);
        packet
    }

    /// The number of a word; one that has none gets one, and is told of.
    fn word(&mut self, class: Class, text: String, new: &mut Words) -> u64 {
        let next = self.words.len() as u64 + 1;
        let iid = *self.words.entry((class, text.clone())).or_insert(next);
        if iid == next {
            let word = Word {
                iid: Some(iid),
                name: Some(text),
            };
            match class {
                Class::Name => new.event_names.push(word),
                Class::Category => new.event_categories.push(word),
                Class::NoteName => new.debug_annotation_names.push(word),
            }
        }
        iid
    }
}

fn event(at: Nanos, kind: Kind, track: Track) -> Packet {
    Packet {
        timestamp: Some(at.0),
        trusted_packet_sequence_id: Some(SEQUENCE),
        sequence_flags: Some(NEEDS_WORDS),
        track_event: Some(TrackEvent {
            kind: Some(kind as i32),
            track_uuid: Some(number(track)),
            ..TrackEvent::default()
        }),
        ..Packet::default()
    }
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
fn described(track: Track) -> Packet {
    let (group, name) = match track {
        Track::Command(slot) => (0, format!("slot {slot}")),
        Track::Link(0) => (1, "link".into()),
        Track::Link(_) => (1, "link, to host".into()),
        Track::Core(core) => (2, format!("core {core}")),
        Track::Channel(channel) => (3, format!("channel {channel}")),
        Track::Die(die, 0) => (4, format!("die {die}")),
        Track::Die(die, plane) => (4, format!("die {die}, plane {plane}")),
    };
    describing(TrackDescriptor {
        uuid: Some(number(track)),
        name: Some(name),
        parent_uuid: Some(GROUPS[group].0),
        sibling_order_rank: Some((number(track) & 0xffff_ffff) as i32),
        ..TrackDescriptor::default()
    })
}

/// The packet that names a track which holds others, in the order of their numbers.
fn group(uuid: u64, name: &str, parent: Option<u64>) -> Packet {
    describing(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.to_owned()),
        parent_uuid: parent,
        child_ordering: Some(ChildOrder::Explicit as i32),
        sibling_order_rank: Some(uuid as i32),
    })
}

fn describing(track: TrackDescriptor) -> Packet {
    Packet {
        trusted_packet_sequence_id: Some(SEQUENCE),
        sequence_flags: Some(NEEDS_WORDS),
        track_descriptor: Some(track),
        ..Packet::default()
    }
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
