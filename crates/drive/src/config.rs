//! A drive's specification once it is known to be right. Built by [`crate::spec`] alone.

use flashtwin_base::Nanos;
use flashtwin_ftl::Policy;
use flashtwin_nand::Part;

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// In the volatile buffer.
    WriteBack,
    /// Programmed.
    WriteThrough,
}

/// The controller and its firmware's handling of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Firmware time a command, serial.
    pub command: Nanos,
    /// Bytes of host data that the write buffer holds until programmed.
    pub buffer_bytes: u64,
    /// When a write is acknowledged.
    pub acknowledge: Acknowledge,
    /// Small writes wait in the buffer until a program granule is full; otherwise they are padded.
    pub gather: bool,
    /// A partly filled granule is padded and programmed after so long without a write.
    pub gather_time: Nanos,
    /// Host transfers go on while the buffer is being programmed; otherwise the two take turns.
    pub overlap: bool,
    /// Reads overtake programs and erases that wait for the same die.
    pub read_priority: bool,
    /// Sequential read streams that are recognised; 0 = no read-ahead.
    pub read_ahead_streams: u32,
    /// Bytes read ahead of a sequential stream.
    pub read_ahead_bytes: u64,
}

/// The host link: SATA with NCQ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Payload bytes a second, after encoding and framing, one direction at a time.
    pub bytes_per_s: u64,
    /// Commands that the drive takes at once (NCQ: 32).
    pub queue_depth: u32,
}

/// A drive that can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Catalogue name.
    pub id: String,
    /// Bytes that the host sees.
    pub capacity_bytes: u64,
    /// The flash.
    pub part: Part,
    /// The firmware's decisions about data.
    pub policy: Policy,
    /// The controller.
    pub controller: Controller,
    /// The host link.
    pub link: Link,
}
