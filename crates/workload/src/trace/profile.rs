//! How a trace loads a drive, told in bounded memory: the sizes of its requests, their order, the
//! places that they touch, and what lies between two writes of one place.
//!
//! A place is a unit of 4 KiB. Where a trace touches more than [`MOST_PLACES`] of them, a sample of
//! the places is followed: those whose hash lies below a bound that is halved whenever they become
//! too many. Every count of places is multiplied by what the bound leaves out (spatially hashed
//! sampling: Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC Construction with SHARDS",
//! FAST '15), and [`Places::sampled`] says that it is an estimate.

use std::collections::{BTreeMap, VecDeque};

use flashtwin_base::Nanos;

use super::{Action, Event};
use crate::job::Direction;

/// Bytes of a place.
pub const PLACE_BYTES: u64 = 4096;
/// Places that are followed at a time.
pub const MOST_PLACES: usize = 1 << 18;
/// Of a request that is longer, the first bytes alone are followed place by place.
pub const MOST_FOLLOWED_BYTES: u64 = 1 << 30;
/// Windows of time: their width doubles when a trace has more.
pub const MOST_WINDOWS: usize = 512;
/// Requests of a kind whose ends are remembered, to tell one that goes on where another ended.
const STREAMS: usize = 64;
/// Exact sizes that are counted of a kind; others are counted as the next power of two.
const MOST_SIZES: usize = 1024;
/// A silence of at least this is idle time.
const IDLE: Nanos = Nanos(1_000_000_000);
/// Classes by powers of two: class `n` has values from `2^(n-1)` to below `2^n`, class 0 has 0.
pub const CLASSES: usize = 65;

/// Requests of one kind: reads, writes or trims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// How many requests have each size in bytes.
    pub sizes: BTreeMap<u64, u64>,
    /// Requests that begin where one of the last of their kind ended.
    pub sequential: u64,
    /// Their bytes.
    pub sequential_bytes: u64,
}

/// What was asked for in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Reads, writes, trims.
    pub ios: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
    /// Flushes.
    pub flushes: u64,
}

/// Times without a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// Silences of a second and more.
    pub count: u64,
    /// All of them together.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// What the requests touch, in places of [`PLACE_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// True if the counts are estimated from a sample.
    pub sampled: bool,
    /// Different places that were read or written.
    pub touched: u64,
    /// Different places that were written.
    pub written: u64,
    /// Different places that were read.
    pub read: u64,
    /// Writes of a place, each time counted.
    pub writes: u64,
    /// Those of them that cover a part of the place only.
    pub partial_writes: u64,
    /// Those of them that replace what the trace had written.
    pub overwrites: u64,
    /// Reads of a place, each time counted.
    pub reads: u64,
    /// Those of them that read what the trace had written.
    pub reads_of_written: u64,
    /// Overwrites by the bytes that the host wrote in between, in [`CLASSES`] by powers of two.
    pub distances: Vec<u64>,
    /// What share of the writes of places, in thousandths, goes to the most written 1, 2, 5, 10,
    /// 20 and 50 % of the places that are written.
    pub hottest: Vec<(u32, u32)>,
    /// Bytes beyond [`MOST_FOLLOWED_BYTES`] of a request, which none of these counts have.
    pub not_followed: u64,
}

/// How a trace loads a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Reads, writes, trims.
    pub sides: [Side; 3],
    /// Writes that are acknowledged once they are on flash.
    pub fua: u64,
    /// Times between flushes by the bytes written in them, in [`CLASSES`] by powers of two.
    pub between_flushes: Vec<u64>,
    /// Times without a request.
    pub idle: Idle,
    /// Of each window.
    pub window: Nanos,
    /// From the first request on.
    pub windows: Vec<Window>,
    /// What the requests touch.
    pub places: Places,
}

/// Takes a trace request by request.
pub struct Profiler {
    sides: [Side; 3],
    ends: [VecDeque<(u32, u64)>; 3],
    fua: u64,
    written_bytes: u64,
    flushed_bytes: u64,
    between_flushes: Vec<u64>,
    idle: Idle,
    last: Option<Nanos>,
    window: Nanos,
    windows: Vec<Window>,
    followed: Followed,
}

impl Default for Profiler {
    fn default() -> Profiler {
        Profiler {
            sides: Default::default(),
            ends: Default::default(),
            fua: 0,
            written_bytes: 0,
            flushed_bytes: 0,
            between_flushes: vec![0; CLASSES],
            idle: Idle::default(),
            last: None,
            window: Nanos(1_000_000),
            windows: Vec::new(),
            followed: Followed::new(MOST_PLACES),
        }
    }
}

impl Profiler {
    /// Takes the next request.
    pub fn add(&mut self, event: &Event) {
        self.pass_time(event.at);
        let place = self.window_of(event.at);
        let Action::Data(direction) = event.action else {
            self.windows[place].flushes += 1;
            let between = self.written_bytes - self.flushed_bytes;
            self.between_flushes[class_of(between)] += 1;
            self.flushed_bytes = self.written_bytes;
            return;
        };
        let kind = direction as usize;
        self.windows[place].ios[kind] += 1;
        self.windows[place].bytes[kind] += event.bytes;
        self.count_size(kind, event.bytes);
        self.count_order(kind, event);
        self.fua += u64::from(event.fua);
        self.followed.request(direction, event, self.written_bytes);
        if direction == Direction::Write {
            self.written_bytes += event.bytes;
        }
    }

    /// What was taken.
    pub fn end(self) -> Profile {
        Profile {
            sides: self.sides,
            fua: self.fua,
            between_flushes: self.between_flushes,
            idle: self.idle,
            window: self.window,
            windows: self.windows,
            places: self.followed.end(),
        }
    }

    fn pass_time(&mut self, at: Nanos) {
        let silence = Nanos(at.0 - self.last.unwrap_or(at).0.min(at.0));
        if silence >= IDLE {
            self.idle.count += 1;
            self.idle.total.0 += silence.0;
            self.idle.longest = self.idle.longest.max(silence);
        }
        self.last = Some(at);
    }

    /// The window of a moment; windows become wider where there would be too many.
    fn window_of(&mut self, at: Nanos) -> usize {
        while at.0 / self.window.0 >= MOST_WINDOWS as u64 {
            self.window.0 *= 2;
            self.windows = self.windows.chunks(2).map(joined).collect();
        }
        let place = (at.0 / self.window.0) as usize;
        if self.windows.len() <= place {
            self.windows.resize(place + 1, Window::default());
        }
        place
    }

    fn count_size(&mut self, kind: usize, bytes: u64) {
        let sizes = &mut self.sides[kind].sizes;
        let is_counted = sizes.len() < MOST_SIZES || sizes.contains_key(&bytes);
        let size = if is_counted {
            bytes
        } else {
            bytes.checked_next_power_of_two().unwrap_or(u64::MAX)
        };
        *sizes.entry(size).or_default() += 1;
    }

    fn count_order(&mut self, kind: usize, event: &Event) {
        let ends = &mut self.ends[kind];
        let begin = (event.file, event.offset);
        if let Some(place) = ends.iter().position(|end| *end == begin) {
            ends.remove(place);
            self.sides[kind].sequential += 1;
            self.sides[kind].sequential_bytes += event.bytes;
        } else if ends.len() == STREAMS {
            ends.pop_back();
        }
        ends.push_front((event.file, event.offset.saturating_add(event.bytes)));
    }
}

fn joined(windows: &[Window]) -> Window {
    windows.iter().fold(Window::default(), |mut sum, window| {
        for kind in 0..3 {
            sum.ios[kind] += window.ios[kind];
            sum.bytes[kind] += window.bytes[kind];
        }
        sum.flushes += window.flushes;
        sum
    })
}

/// The class of a value by powers of two.
fn class_of(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// One place that is followed.
#[derive(Clone, Copy)]
struct Place {
    /// What the host had written when it wrote this place last; none before and after a trim.
    written_at: Option<u64>,
    writes: u64,
    reads: u64,
}

/// The places whose hash lies below a bound.
struct Followed {
    most: usize,
    /// One place in `2^halvings` is followed.
    halvings: u32,
    places: BTreeMap<u64, Place>,
    writes: u64,
    partial_writes: u64,
    overwrites: u64,
    reads: u64,
    reads_of_written: u64,
    distances: Vec<u64>,
    not_followed: u64,
}

impl Followed {
    fn new(most: usize) -> Followed {
        Followed {
            most,
            halvings: 0,
            places: BTreeMap::new(),
            writes: 0,
            partial_writes: 0,
            overwrites: 0,
            reads: 0,
            reads_of_written: 0,
            distances: vec![0; CLASSES],
            not_followed: 0,
        }
    }

    fn request(&mut self, direction: Direction, event: &Event, written_bytes: u64) {
        let bytes = event.bytes.min(MOST_FOLLOWED_BYTES);
        self.not_followed += event.bytes - bytes;
        let (begin, end) = (event.offset, event.offset.saturating_add(bytes));
        let (first, beyond) = (begin / PLACE_BYTES, end.div_ceil(PLACE_BYTES));
        match direction {
            Direction::Write => {
                self.writes += beyond - first;
                self.partial_writes += partial(begin, end);
            }
            Direction::Read => self.reads += beyond - first,
            Direction::Trim => {}
        }
        for place in first..beyond {
            let key = hash(event.file, place);
            if key.leading_zeros() >= self.halvings {
                self.place(direction, key, written_bytes);
            }
        }
    }

    fn place(&mut self, direction: Direction, key: u64, written_bytes: u64) {
        if direction == Direction::Trim {
            if let Some(place) = self.places.get_mut(&key) {
                place.written_at = None;
            }
            return;
        }
        let place = self.places.entry(key).or_insert(Place {
            written_at: None,
            writes: 0,
            reads: 0,
        });
        let stands_for = 1 << self.halvings;
        if direction == Direction::Write {
            if let Some(before) = place.written_at.replace(written_bytes) {
                self.overwrites += stands_for;
                self.distances[class_of(written_bytes - before)] += stands_for;
            }
            place.writes += 1;
        } else {
            self.reads_of_written += stands_for * u64::from(place.written_at.is_some());
            place.reads += 1;
        }
        if self.places.len() > self.most {
            self.halvings += 1;
            let _ = self.places.split_off(&((u64::MAX >> self.halvings) + 1));
        }
    }

    fn end(self) -> Places {
        let stands_for = 1 << self.halvings;
        let count = |of: fn(&Place) -> bool| {
            stands_for * self.places.values().filter(|place| of(place)).count() as u64
        };
        Places {
            sampled: self.halvings > 0,
            touched: count(|_| true),
            written: count(|place| place.writes > 0),
            read: count(|place| place.reads > 0),
            writes: self.writes,
            partial_writes: self.partial_writes,
            overwrites: self.overwrites,
            reads: self.reads,
            reads_of_written: self.reads_of_written,
            hottest: hottest(self.places.values().map(|place| place.writes)),
            distances: self.distances,
            not_followed: self.not_followed,
        }
    }
}

/// Places that a request covers in part: at its beginning, at its end, or all of it in one.
fn partial(begin: u64, end: u64) -> u64 {
    let (head, tail) = (
        !begin.is_multiple_of(PLACE_BYTES),
        !end.is_multiple_of(PLACE_BYTES),
    );
    let is_within_one = begin / PLACE_BYTES == end / PLACE_BYTES;
    if is_within_one {
        u64::from(head || tail)
    } else {
        u64::from(head) + u64::from(tail)
    }
}

/// What share of all writes goes to the most written places; shares in thousandths.
fn hottest(writes: impl Iterator<Item = u64>) -> Vec<(u32, u32)> {
    let mut writes: Vec<u64> = writes.filter(|count| *count > 0).collect();
    writes.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = writes.iter().sum();
    if total == 0 {
        return Vec::new();
    }
    [10, 20, 50, 100, 200, 500]
        .into_iter()
        .map(|share: u32| {
            let count = (writes.len() as u64 * u64::from(share)).div_ceil(1000) as usize;
            let of_them: u64 = writes[..count].iter().sum();
            (share, (of_them * 1000 / total) as u32)
        })
        .collect()
}

/// A hash that is one to one within a file (the finalizer of splitmix64, Steele and others 2014).
fn hash(file: u32, place: u64) -> u64 {
    let mut bits = place ^ u64::from(file).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(most: usize, places: impl Iterator<Item = u64>) -> Places {
        let mut followed = Followed::new(most);
        for (number, place) in places.enumerate() {
            let event = Event {
                at: Nanos::ZERO,
                file: 0,
                action: Action::Data(Direction::Write),
                offset: place * PLACE_BYTES,
                bytes: PLACE_BYTES,
                fua: false,
            };
            followed.request(Direction::Write, &event, number as u64 * PLACE_BYTES);
        }
        followed.end()
    }

    #[test]
    fn a_sample_of_the_places_counts_them_within_a_few_percent() {
        // 100,000 places are written three times, in one order.
        let all = || (0..300_000u64).map(|number| number * 7919 % 100_000);
        let (exact, sampled) = (followed(1 << 20, all()), followed(1 << 12, all()));
        assert!(!exact.sampled && sampled.sampled);
        assert_eq!((exact.written, exact.overwrites), (100_000, 200_000));
        for (estimate, truth) in [
            (sampled.written, exact.written),
            (sampled.overwrites, exact.overwrites),
        ] {
            assert!(
                estimate.abs_diff(truth) * 20 < truth,
                "{estimate} for {truth}"
            );
        }
        // Between two writes of a place lie those of all others.
        let far = class_of(100_000 * PLACE_BYTES);
        assert_eq!(exact.distances[far], 200_000);
        assert_eq!(
            sampled.distances.iter().filter(|count| **count > 0).count(),
            1
        );
    }

    #[test]
    fn the_hottest_places_take_their_share() {
        // Every second write goes to one of ten places, the others to a thousand.
        let mixed = (0..20_000u64).map(|n| {
            if n % 2 == 0 {
                n / 2 % 10
            } else {
                10 + n / 2 % 1000
            }
        });
        let places = followed(1 << 20, mixed);
        let of_one_percent = places.hottest[0].1;
        assert!((490..=520).contains(&of_one_percent), "{of_one_percent}");
    }
}
