//! What is made of a trace's requests before they are asked for: left out, moved closer together,
//! and put on a grain. Trims are widened to whole sectors, which are all that a drive trims; of
//! what a read or a write touches only in part, the drive gets the whole sectors (see `FioAsk`).

use serde::Deserialize;

use super::{Action, Event, Options};
use crate::job::{Direction, SECTOR_BYTES};

/// Requests that are left out (replay_skip), by what they do; time goes on without them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Skip {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
    /// Flushes.
    pub sync: bool,
}

/// fio's `replay_scale`, `replay_align` and `replay_skip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shape {
    /// Offsets are divided by this; at least 1.
    pub scale: u64,
    /// Offsets are rounded down to multiples of this power of two; 0 for none.
    pub align: u64,
    /// What is left out.
    pub skip: Skip,
}

/// How a trace is read, and what is made of its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wanted {
    /// How it is read.
    pub reading: Options,
    /// What is made of its requests.
    pub shape: Shape,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            scale: 1,
            align: 0,
            skip: Skip::default(),
        }
    }
}

impl Shape {
    /// The request that is asked for; none where it is left out.
    #[must_use]
    pub fn of(&self, event: Event) -> Option<Event> {
        let skip = &self.skip;
        let left_out = match event.action {
            Action::Flush | Action::FlushData => skip.sync,
            Action::Data(direction) => [skip.read, skip.write, skip.trim][direction as usize],
        };
        if left_out {
            return None;
        }
        let placed = match event.action {
            Action::Data(Direction::Trim) => self.place(event.offset),
            Action::Data(_) => {
                let offset = self.place(event.offset);
                return Some(Event { offset, ..event });
            }
            Action::Flush | Action::FlushData => return Some(event),
        };
        let offset = placed / SECTOR_BYTES * SECTOR_BYTES;
        // A length is far below 64 bits, and an offset leaves room for it.
        let end = (placed + event.bytes).checked_next_multiple_of(SECTOR_BYTES);
        let end = end.unwrap_or(u64::MAX / SECTOR_BYTES * SECTOR_BYTES);
        Some(Event {
            offset,
            bytes: end - offset,
            ..event
        })
    }

    /// True if a request begins and ends at whole sectors by itself.
    pub(crate) fn is_whole(&self, event: &Event) -> bool {
        (self.place(event.offset) | event.bytes).is_multiple_of(SECTOR_BYTES)
    }

    fn place(&self, offset: u64) -> u64 {
        let scaled = offset / self.scale;
        // Without a grain every byte is one.
        let grain = self.align.max(1);
        scaled / grain * grain
    }
}
