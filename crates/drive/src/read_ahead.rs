//! Sequential read-ahead: once a stream of reads is recognised, the pages that follow are fetched
//! before they are asked for.
//!
//! A stream is recognised at the second read that begins where the one before it ended. What is
//! fetched lies in chunks in the controller's RAM; a read of a chunk that is still on its way
//! waits for it. A write or TRIM of fetched data drops the stream.

use std::collections::VecDeque;

/// Tokens of host reads from here on are chunks of read-ahead, those below are commands.
pub(crate) const READ_AHEAD: u32 = 1 << 31;
/// Bytes of a chunk, where a stream is read ahead by that much.
const CHUNK_BYTES: u32 = 128 << 10;
/// Consecutive reads after which a stream is recognised.
const RECOGNISED: u32 = 2;

/// Fetched, or being fetched.
#[derive(serde::Serialize, serde::Deserialize)]
struct Chunk {
    lpn: u32,
    units: u32,
    /// Flash reads that have not come back.
    pending: u32,
    /// Commands that wait for it, and for how many of its units.
    waiting: Vec<(u32, u32)>,
    /// Still of use to its stream.
    wanted: bool,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Stream {
    /// Sector at which the next read has to begin.
    sector: u64,
    /// The unit that it lies in.
    next: u32,
    hits: u32,
    used: u64,
    /// First unit that has not been fetched.
    ahead: u32,
    chunks: VecDeque<u32>,
}

/// What a read finds in the chunks.
pub(crate) enum Hit {
    /// Nothing: read it from flash.
    Miss,
    /// It is in RAM, for so many units.
    Ready(u32),
    /// It is on its way, for so many units; the command has been noted.
    Coming(u32),
}

/// All streams of a drive.
pub(crate) struct ReadAhead {
    depth_units: u32,
    chunk_units: u32,
    streams: Vec<Stream>,
    chunks: Vec<Chunk>,
    vacant: Vec<u32>,
    clock: u64,
}

flashtwin_base::state! { ReadAhead {
    kept: chunks, vacant, clock;
    sized: streams;
    built: depth_units, chunk_units;
} }

impl ReadAhead {
    /// So many streams, each `depth_bytes` ahead, in mapping units of `unit_bytes`.
    pub(crate) fn new(streams: u32, depth_bytes: u64, unit_bytes: u32) -> ReadAhead {
        let idle = |_| Stream {
            sector: u64::MAX,
            next: u32::MAX,
            hits: 0,
            used: 0,
            ahead: 0,
            chunks: VecDeque::new(),
        };
        let units = depth_bytes / u64::from(unit_bytes);
        let depth_units = u32::try_from(units).unwrap_or(u32::MAX);
        ReadAhead {
            depth_units,
            chunk_units: (CHUNK_BYTES / unit_bytes).min(depth_units),
            streams: (0..streams).map(idle).collect(),
            chunks: Vec::new(),
            vacant: Vec::new(),
            clock: 0,
        }
    }

    /// Notes a read of `sectors`, `next` being the unit that the sector after them lies in; the
    /// answer is the stream when it is a recognised one.
    pub(crate) fn note(&mut self, sectors: std::ops::Range<u64>, next: u32) -> Option<usize> {
        self.clock += 1;
        let (index, known) = self.stream_at(sectors.start)?;
        if !known && !self.streams[index].chunks.is_empty() {
            self.drop_chunks(index);
        }
        let clock = self.clock;
        let stream = &mut self.streams[index];
        if known {
            stream.hits += 1;
        } else {
            (stream.hits, stream.ahead) = (0, 0);
        }
        stream.used = clock;
        (stream.sector, stream.next) = (sectors.end, next);
        (stream.hits >= RECOGNISED).then_some(index)
    }

    /// The stream that goes on at a sector, and that it does; else the one that was used longest
    /// ago. None where there are no streams.
    fn stream_at(&self, sector: u64) -> Option<(usize, bool)> {
        let mut oldest: Option<(usize, u64)> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            if stream.sector == sector {
                return Some((index, true));
            }
            if oldest.is_none_or(|(_, used)| stream.used < used) {
                oldest = Some((index, stream.used));
            }
        }
        oldest.map(|(index, _)| (index, false))
    }

    /// Looks for the unit `lpn` in the chunks, and for those after it up to `end`; a command that
    /// has to wait for them is noted.
    pub(crate) fn find(&mut self, lpn: u32, end: u32, slot: u32) -> Hit {
        for stream in &self.streams {
            for &index in &stream.chunks {
                let chunk = &mut self.chunks[index as usize];
                if lpn.wrapping_sub(chunk.lpn) < chunk.units {
                    let left = (chunk.lpn + chunk.units).min(end) - lpn;
                    if chunk.pending == 0 {
                        return Hit::Ready(left);
                    }
                    chunk.waiting.push((slot, left));
                    return Hit::Coming(left);
                }
            }
        }
        Hit::Miss
    }

    /// Whether nothing has been fetched at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.vacant.len() == self.chunks.len()
    }

    /// The units at which a stream's next chunk begins and ends, as far as they are known
    /// beforehand.
    pub(crate) fn upcoming(&self, stream: usize) -> (u32, u32) {
        let s = &self.streams[stream];
        let from = s.ahead.max(s.next);
        (from, from.saturating_add(self.chunk_units))
    }

    /// Gives the next chunk that a stream should fetch: its number, first unit and length. The
    /// flash reads it takes are told with [`ReadAhead::fetching`].
    pub(crate) fn next_chunk(&mut self, stream: usize, end: u32) -> Option<(u32, u32, u32)> {
        self.drop_passed(stream);
        let s = &mut self.streams[stream];
        let from = s.ahead.max(s.next);
        let until = s.next.saturating_add(self.depth_units).min(end);
        if from >= until || (until - from < self.chunk_units && until != end) {
            return None;
        }
        let units = self.chunk_units.min(until - from);
        s.ahead = from + units;
        let chunk = Chunk {
            lpn: from,
            units,
            pending: 0,
            waiting: Vec::new(),
            wanted: true,
        };
        let index = if let Some(vacant) = self.vacant.pop() {
            self.chunks[vacant as usize] = chunk;
            vacant
        } else {
            self.chunks.push(chunk);
            self.chunks.len() as u32 - 1
        };
        self.streams[stream].chunks.push_back(index);
        Some((index, from, units))
    }

    pub(crate) fn fetching(&mut self, chunk: u32, reads: u32) {
        self.chunks[chunk as usize].pending = reads;
    }

    /// A flash read of a chunk has come back; when it was the last, the answer is the commands that
    /// waited for the chunk, and for how many of its units each.
    pub(crate) fn fetched(&mut self, chunk: u32) -> Vec<(u32, u32)> {
        let c = &mut self.chunks[chunk as usize];
        c.pending -= 1;
        if c.pending > 0 {
            return Vec::new();
        }
        let woken = std::mem::take(&mut c.waiting);
        if !c.wanted {
            self.vacant.push(chunk);
        }
        woken
    }

    /// Forgets the streams whose fetched data overlaps units that are written or trimmed.
    pub(crate) fn invalidate(&mut self, lpn: u32, units: u32) {
        for index in 0..self.streams.len() {
            let touched = self.streams[index].chunks.iter().any(|&c| {
                let chunk = &self.chunks[c as usize];
                chunk.lpn < lpn + units && lpn < chunk.lpn + chunk.units
            });
            if touched {
                self.drop_stream(index);
            }
        }
    }

    fn drop_passed(&mut self, stream: usize) {
        while let Some(&first) = self.streams[stream].chunks.front() {
            let chunk = &self.chunks[first as usize];
            if chunk.lpn + chunk.units > self.streams[stream].next {
                break;
            }
            self.streams[stream].chunks.pop_front();
            self.release(first);
        }
    }

    fn drop_stream(&mut self, stream: usize) {
        self.drop_chunks(stream);
        let s = &mut self.streams[stream];
        (s.sector, s.next) = (u64::MAX, u32::MAX);
        (s.hits, s.ahead) = (0, 0);
    }

    fn drop_chunks(&mut self, stream: usize) {
        while let Some(chunk) = self.streams[stream].chunks.pop_front() {
            self.release(chunk);
        }
    }

    fn release(&mut self, chunk: u32) {
        let c = &mut self.chunks[chunk as usize];
        c.wanted = false;
        if c.pending == 0 {
            self.vacant.push(chunk);
        }
    }
}
