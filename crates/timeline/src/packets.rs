//! Perfetto's messages, as far as a timeline needs them. The tags are those of its protobuf files
//! `trace_packet`, `track_descriptor`, `track_event`, `debug_annotation` and `interned_data`. A
//! file is one `Trace`, and traces that follow one another are one.
//!
//! They are written field by field, without the macros of prost: a build compiles less, and nothing
//! here is read back.

use prost::encoding::{bytes, string, uint64};

/// A message as its fields so far.
#[derive(Clone, Default, PartialEq)]
pub struct Message(Vec<u8>);

impl Message {
    /// A field of one of protobuf's whole numbers, none of which is negative here.
    pub fn number(mut self, tag: u32, value: u64) -> Message {
        uint64::encode(tag, &value, &mut self.0);
        self
    }

    pub fn text(mut self, tag: u32, text: String) -> Message {
        string::encode(tag, &text, &mut self.0);
        self
    }

    /// A message within this one; protobuf writes it as a string of bytes.
    pub fn message(mut self, tag: u32, within: Message) -> Message {
        bytes::encode(tag, &within.0, &mut self.0);
        self
    }

    pub fn messages(self, tag: u32, within: impl IntoIterator<Item = Message>) -> Message {
        within
            .into_iter()
            .fold(self, |all, one| all.message(tag, one))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

pub mod trace {
    pub const PACKET: u32 = 1;
}

pub mod packet {
    /// Nanoseconds of the drive's clock.
    pub const TIMESTAMP: u32 = 8;
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const TRACK_DESCRIPTOR: u32 = 60;
}

pub mod track_descriptor {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PARENT_UUID: u32 = 5;
    /// How the tracks of a group are sorted.
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_ORDER_RANK: u32 = 12;

    /// Of `CHILD_ORDERING`: by `SIBLING_ORDER_RANK`.
    pub const EXPLICIT: u64 = 3;
}

pub mod track_event {
    pub const CATEGORY_IIDS: u32 = 3;
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    /// Which end of a slice an event is.
    pub const TYPE: u32 = 9;
    pub const NAME_IID: u32 = 10;
    pub const TRACK_UUID: u32 = 11;

    pub const BEGIN: u64 = 1;
    pub const END: u64 = 2;
}

/// A number that belongs to a slice.
pub mod debug_annotation {
    pub const NAME_IID: u32 = 1;
    pub const UINT_VALUE: u32 = 3;
}

/// Words that later packets name by their numbers.
pub mod interned_data {
    pub const EVENT_CATEGORIES: u32 = 1;
    pub const EVENT_NAMES: u32 = 2;
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
}

pub mod word {
    pub const IID: u32 = 1;
    pub const NAME: u32 = 2;
}
