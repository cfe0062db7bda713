//! Perfetto's messages, as far as a timeline needs them. The tags are those of its protobuf files
//! `trace_packet`, `track_descriptor`, `track_event`, `debug_annotation` and `interned_data`. A
//! file is one `Trace`, and traces that follow one another are one.

#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Packet {
    /// Nanoseconds of the drive's clock.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<Words>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(enumeration = "ChildOrder", optional, tag = "11")]
    pub child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// How the tracks of a group are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ChildOrder {
    Unknown = 0,
    /// By `sibling_order_rank`.
    Explicit = 3,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    pub category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<Note>,
    #[prost(enumeration = "Kind", optional, tag = "9")]
    pub kind: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
}

/// Which end of a slice an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum Kind {
    Unknown = 0,
    Begin = 1,
    End = 2,
}

/// A number that belongs to a slice.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Note {
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
}

/// Words that later packets name by their numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Words {
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<Word>,
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Word>,
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<Word>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Word {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}
