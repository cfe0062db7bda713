//! The addresses that a job asks for, one request after the other.
//!
//! Sequential threads have a position each, starting at the job's offset as fio's do, or share one
//! where the job says so; a mixed job has one for its reads and one for its writes, again as fio
//! has. A position wraps at the end of the span, and what is left there below a block is asked for
//! as a shorter request, so that a pass covers every byte. Random requests are whole blocks,
//! uniform over the span, or over its zones, and drawn with replacement (fio: `norandommap`).
//! Random trims that are mixed into writes take blocks that hold data; at the start of a job all
//! do.
//!
//! A job without `io_bytes` and `runtime` ends after one pass: one of each thread, or one of all
//! together where they share a stream. `io_bytes` counts all threads, the ramp included; a
//! sequential job cuts its last request to fit, a random one ends with the block that reaches it.
//! Time ends a job from outside: the host stops asking.
//!
//! Where all requests are random blocks in one direction, addresses are drawn in groups some time
//! before they are asked for, so that a device can be told of them ahead ([`Generator::foretold`]).

use flashtwin_base::rng::Rng;

use crate::in_use::InUse;
use crate::job::{Direction, Job, Mix, Order, SECTOR_BYTES, Zone};

/// More than any job can ask for.
const UNLIMITED: u64 = u64::MAX;

/// One request: addresses and lengths in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What it does.
    pub direction: Direction,
    /// First sector.
    pub lba: u64,
    /// How many sectors; never 0.
    pub sectors: u32,
}

/// Where a sequential stream stands, and what it may still ask for; in sectors.
#[derive(Clone, Copy, Debug)]
struct Stream {
    position: [u64; 3],
    left: u64,
}

/// Addresses that are drawn at once.
const GROUP: usize = 8;
/// Addresses that a thread has drawn and not asked for, at most.
const DRAWN: usize = 2 * GROUP;

/// Addresses of a thread's next requests, in sectors.
#[derive(Clone, Debug)]
struct Drawn {
    lbas: [u64; DRAWN],
    /// Requests asked for so far; this one's address lies at its remainder.
    asked: usize,
}

/// Generates the requests of one job, thread by thread.
#[derive(Clone, Debug)]
pub struct Generator {
    order: Order,
    mix: Mix,
    first: u64,
    span: u64,
    block: u64,
    blocks: u64,
    /// Requests in a hundred up to this zone's end, its first block, and its blocks.
    zones: Vec<(u64, u64, u64)>,
    /// Blocks that hold data, where some are trimmed at random.
    in_use: Option<InUse>,
    /// What all threads together may still ask for.
    left: u64,
    /// One a thread, or a single one that they share.
    streams: Vec<Stream>,
    rngs: Vec<Rng>,
    /// All requests are random blocks of the whole span in this direction.
    plain: Option<Direction>,
    /// What each thread has drawn ahead; empty unless requests are plain.
    drawn: Vec<Drawn>,
    /// Thread, and first place among its addresses, of a group that nobody has been told of.
    news: Option<(usize, usize)>,
}

impl Generator {
    /// A generator at the job's start. `index` is the job's place in its phase: jobs with one seed
    /// draw from different streams, as fio's do.
    #[must_use]
    pub fn new(job: &Job, index: u32) -> Generator {
        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        let (span, block) = (sectors(job.size), sectors(job.block_bytes));
        let one_pass = job.io_bytes.is_none() && job.runtime.is_none();
        let pass = match job.order {
            _ if !one_pass => UNLIMITED,
            Order::Sequential => span,
            Order::Random => span / block * block,
        };
        let streams = if job.shared_stream {
            1
        } else {
            job.threads as usize
        };
        let trims = matches!(job.mix, Mix::Trims(_));
        let plain = match (job.order, job.mix) {
            (Order::Random, Mix::Only(direction)) if job.zones.is_empty() => Some(direction),
            _ => None,
        };
        let stream_of = |thread| u64::from(index) << 32 | u64::from(thread);
        let ahead = if plain.is_some() { job.threads } else { 0 };
        let mut generator = Generator {
            order: job.order,
            mix: job.mix,
            first: sectors(job.offset),
            span,
            block,
            blocks: span / block,
            zones: zones(job, span / block),
            in_use: (trims && job.order == Order::Random)
                .then(|| InUse::all((span / block) as u32)),
            left: job.io_bytes.map_or(UNLIMITED, sectors),
            streams: vec![
                Stream {
                    position: [0; 3],
                    left: pass
                };
                streams
            ],
            rngs: (0..job.threads)
                .map(|thread| Rng::new(job.seed, stream_of(thread)))
                .collect(),
            plain,
            drawn: vec![
                Drawn {
                    lbas: [0; DRAWN],
                    asked: 0,
                };
                ahead as usize
            ],
            news: None,
        };
        for thread in 0..ahead as usize {
            (0..DRAWN)
                .step_by(GROUP)
                .for_each(|place| generator.draw(thread, place));
        }
        // These come at once.
        generator.news = None;
        generator
    }

    /// Draws a thread's next group of addresses, into the places from `place` on.
    #[inline(never)]
    fn draw(&mut self, thread: usize, place: usize) {
        let rng = &mut self.rngs[thread];
        for lba in &mut self.drawn[thread].lbas[place..place + GROUP] {
            *lba = self.first + rng.below(self.blocks) * self.block;
        }
        self.news = Some((thread, place));
    }

    /// First sectors of requests that a thread asks for later, where they have been drawn since the
    /// last call. Some of them may never be asked for, because the job ends.
    #[inline(always)]
    pub fn foretold(&mut self) -> Option<&[u64]> {
        let (thread, place) = self.news.take()?;
        Some(&self.drawn[thread].lbas[place..place + GROUP])
    }

    /// True if most addresses are told of ahead.
    #[must_use]
    pub fn foretells(&self) -> bool {
        self.plain.is_some()
    }

    /// True if a thread has anything more to ask for.
    #[must_use]
    pub fn has_more(&self, thread: usize) -> bool {
        self.left.min(self.streams[self.stream_of(thread)].left) > 0
    }

    #[inline]
    fn stream_of(&self, thread: usize) -> usize {
        if self.streams.len() == 1 { 0 } else { thread }
    }

    /// With nothing left to trim a write comes in a trim's place.
    #[cold]
    fn write_instead(&mut self, thread: usize) -> Option<Ask> {
        let mix = std::mem::replace(&mut self.mix, Mix::Only(Direction::Write));
        let ask = self.next(thread);
        self.mix = mix;
        ask
    }

    /// The next request of a thread; `None` when it has nothing more to ask for.
    #[inline(always)]
    pub fn next(&mut self, thread: usize) -> Option<Ask> {
        let Some(direction) = self.plain else {
            return self.next_of_many(thread);
        };
        let stream = self.stream_of(thread);
        let stream = &mut self.streams[stream];
        if self.left.min(stream.left) == 0 {
            return None;
        }
        stream.left = stream.left.saturating_sub(self.block);
        self.left = self.left.saturating_sub(self.block);
        let drawn = &mut self.drawn[thread];
        let place = drawn.asked % DRAWN;
        let lba = drawn.lbas[place];
        drawn.asked = drawn.asked.wrapping_add(1);
        if place % GROUP == GROUP - 1 {
            self.draw(thread, place + 1 - GROUP);
        }
        Some(Ask {
            direction,
            lba,
            sectors: self.block as u32,
        })
    }

    /// The same where there is a choice of directions or places.
    #[inline(never)]
    fn next_of_many(&mut self, thread: usize) -> Option<Ask> {
        let stream = self.stream_of(thread);
        let stream = &mut self.streams[stream];
        let left = self.left.min(stream.left);
        if left == 0 {
            return None;
        }
        let rng = &mut self.rngs[thread];
        let direction = match self.mix {
            Mix::Only(direction) => direction,
            Mix::Reads(percent) if rng.chance(percent) => Direction::Read,
            Mix::Trims(percent) if rng.chance(percent) => Direction::Trim,
            Mix::Reads(_) | Mix::Trims(_) | Mix::Pairs => Direction::Write,
        };
        let (lba, sectors) = match self.order {
            Order::Random => {
                let block = match &mut self.in_use {
                    Some(in_use) if direction == Direction::Trim => match in_use.take(rng) {
                        Some(block) => u64::from(block),
                        None => return self.write_instead(thread),
                    },
                    _ => random_block(self.blocks, &self.zones, rng),
                };
                if let (Some(in_use), Direction::Write) = (&mut self.in_use, direction) {
                    in_use.add(block as u32);
                }
                (self.first + block * self.block, self.block)
            }
            Order::Sequential => {
                let position = &mut stream.position[direction as usize];
                let sectors = self.block.min(self.span - *position).min(left);
                let lba = self.first + *position;
                *position += sectors;
                if *position == self.span {
                    *position = 0;
                }
                (lba, sectors)
            }
        };
        stream.left = stream.left.saturating_sub(sectors);
        self.left = self.left.saturating_sub(sectors);
        Some(Ask {
            direction,
            lba,
            sectors: sectors as u32,
        })
    }
}

/// The zones of a job in blocks; an empty zone keeps one block, so that its requests have a place.
fn zones(job: &Job, blocks: u64) -> Vec<(u64, u64, u64)> {
    let (mut access, mut size) = (0, 0);
    let mut zone = |zone: &Zone| {
        let first = blocks * size / 100;
        access += u64::from(zone.access_percent);
        size += u64::from(zone.size_percent);
        let first = first.min(blocks - 1);
        (
            access,
            first,
            (blocks * size / 100).saturating_sub(first).max(1),
        )
    };
    job.zones.iter().map(&mut zone).collect()
}

/// A block of the span, or of a zone that is drawn first.
#[inline]
fn random_block(blocks: u64, zones: &[(u64, u64, u64)], rng: &mut Rng) -> u64 {
    if zones.is_empty() {
        return rng.below(blocks);
    }
    zoned(zones, rng)
}

fn zoned(zones: &[(u64, u64, u64)], rng: &mut Rng) -> u64 {
    let draw = rng.below(100);
    let zone = zones.iter().find(|(below, _, _)| draw < *below);
    let (_, first, blocks) = zone.copied().unwrap_or_default();
    first + rng.below(blocks)
}
