//! The requests of one of fio's processes, drawn as fio 3.33 draws them.
//!
//! A request is made in three steps, for the host has a say between them: which file is next
//! ([`Stream::next_file`]), in which direction ([`Stream::direction`], which a rate may turn over:
//! [`Stream::turn`]), and where ([`Stream::place`]; nowhere ends the file). Each direction has a
//! position of its own in each file. What is left of a file below a block is not asked for.
//!
//! Randomness: a stream of numbers for each purpose, all begun anew with each pass, as fio does:
//! the second loop asks for the same as the first. Ranks of a distribution alone go on; where
//! `draws_repeat` is off (`randrepeat=0` or a `randseed`), all go on.

use flashtwin_base::rng::Rng;

use super::distribution::Ranks;
use super::file::{Door, File, NOWHERE};
use super::sizes::Sizes;
use super::{FileService, Fio};
use crate::job::{Direction, Job, Mix, Order, SECTOR_BYTES};

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data moves, or goes.
    Io(Direction),
    /// fsync.
    Fsync,
    /// fdatasync.
    Fdatasync,
}

/// One request: its file, its place there in bytes, and on the drive in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioAsk {
    /// Number of the span.
    pub file: u32,
    /// What it does.
    pub direction: Direction,
    /// Bytes from the beginning of the file.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// First sector on the drive.
    pub lba: u64,
}

impl FioAsk {
    /// Sectors that it touches: a file begins at one, a request may begin and end within one.
    #[inline]
    #[must_use]
    pub fn sectors(&self) -> u32 {
        (self.offset % SECTOR_BYTES + self.bytes).div_ceil(SECTOR_BYTES) as u32
    }
}

/// Streams of random numbers, one a purpose.
#[derive(Clone, Debug)]
struct Draws {
    offset: Rng,
    /// One for each direction, with the same draws, as fio seeds them: a write after a trim is as
    /// long as that.
    size: [Rng; 3],
    mix: Rng,
    order: Rng,
    file: Rng,
}

impl Draws {
    fn new(seed: u64, index: u32) -> Draws {
        let stream = |purpose: u64| Rng::new(seed, u64::from(index) << 32 | purpose);
        Draws {
            offset: stream(0),
            size: [(); 3].map(|()| stream(1)),
            mix: stream(2),
            order: stream(3),
            file: stream(4),
        }
    }
}

/// Ranks of a distribution of files that are one file, as fio has them.
const FILE_RANKS: u64 = 1 << 10;
/// Draws of a file by its rank in a row that come to nothing, before it is seen that none will.
const FILE_DRAWS: u32 = 10_000;

/// Which file the next request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextFile {
    /// This one.
    Number(usize),
    /// One that is closed, and as many are open as may be: something under way has to end first, or
    /// it is another's turn.
    Closed,
    /// None: all are done.
    None,
}

/// Generates the requests of one process.
#[derive(Clone, Debug)]
pub struct Stream {
    mix: Mix,
    random: bool,
    fio: Box<Fio>,
    seed: (u64, u32),
    draws: Draws,
    /// Ranks go on from pass to pass.
    ranks: Rng,
    sizes: Sizes,
    files: Vec<File>,
    files_done: usize,
    /// How many files may be open at once (`openfiles`), where that is fewer than there are, and
    /// how many are.
    most_open: Option<usize>,
    open: usize,
    /// The file in service, and for how many requests more.
    serving: Option<(usize, u32)>,
    next_in_turn: usize,
    /// The direction that a mix is in, and the requests of it after which it is drawn again.
    mixing: Direction,
    mixed_until: u64,
    /// Requests until the next one with an offset of its own.
    sequence_left: u32,
    /// The ranks of the files, in steps of [`FILE_RANKS`] each.
    file_ranks: Option<Ranks>,
    /// Bytes asked for in the zone in work.
    zone_bytes: u64,
    /// Files that were begun anew since the last request.
    begun_anew: u32,
}

impl Stream {
    /// A stream at its start. `index` is the job's place in its phase: jobs with one seed draw
    /// from different streams.
    #[must_use]
    pub fn new(job: &Job, index: u32) -> Stream {
        let fio = job.fio.clone().expect("only fio's jobs have such a stream");
        let random = job.order == Order::Random;
        let mut ranks = Rng::new(job.seed, u64::from(index) << 32 | 5);
        let mut ranks_rng = Rng::new(job.seed, u64::from(index) << 32 | 6);
        let file = |span: &_| File::new(&fio, *span, random, &mut ranks);
        let files: Vec<File> = fio.spans.iter().map(file).collect();
        let file_ranks = match fio.file_service {
            FileService::Law => {
                let ranks = files.len() as u64 * FILE_RANKS;
                Ranks::new(&fio.file_law, ranks, &mut ranks_rng).map(Ranks::in_order)
            }
            _ => None,
        };
        Stream {
            mix: job.mix,
            random,
            most_open: fio
                .open_files
                .map(|most| most as usize)
                .filter(|most| *most < files.len()),
            open: 0,
            seed: (job.seed, index),
            draws: Draws::new(job.seed, index),
            ranks,
            sizes: Sizes::new(&fio),
            files,
            files_done: 0,
            serving: None,
            next_in_turn: 0,
            mixing: Direction::Read,
            mixed_until: 0,
            sequence_left: fio.sequence.every.min(1),
            file_ranks,
            zone_bytes: 0,
            begun_anew: 0,
            fio,
        }
    }

    /// Another pass begins: files from their beginnings, the same draws again.
    pub fn restart(&mut self) {
        if self.fio.draws_repeat {
            self.draws = Draws::new(self.seed.0, self.seed.1);
        }
        self.files.iter_mut().for_each(File::reset);
        if !self.fio.files_end_once {
            self.files_done = 0;
        }
        self.open = 0;
        self.serving = None;
        self.mixed_until = 0;
        self.zone_bytes = 0;
    }

    /// The measured time begins: a mix draws its direction anew.
    pub fn end_ramp(&mut self) {
        self.mixed_until = 0;
    }

    /// True if nothing is left of any file in this pass.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.files_done >= self.files.len()
    }

    /// The file of the next request.
    pub fn next_file(&mut self) -> NextFile {
        if self.is_exhausted() {
            return NextFile::None;
        }
        if let Some((file, left)) = &mut self.serving {
            let file = *file;
            if self.fio.file_service == FileService::Sequential {
                return NextFile::Number(file);
            }
            if *left > 0 {
                *left -= 1;
                return NextFile::Number(file);
            }
        }
        let mut draws = 0;
        loop {
            let file = self.drawn_file(draws);
            draws += 1;
            let File { done, door, .. } = &self.files[file];
            if *done || (door.closing && draws < FILE_DRAWS) {
                continue;
            }
            if !self.opens(file) {
                return NextFile::Closed;
            }
            self.serving = Some((file, self.fio.file_service_count - 1));
            return NextFile::Number(file);
        }
    }

    /// Opens a file if it is not open; says whether it may be.
    fn opens(&mut self, file: usize) -> bool {
        let Some(most) = self.most_open else {
            return true;
        };
        let door = &mut self.files[file].door;
        if door.closing {
            return false;
        }
        if !door.open {
            if self.open >= most {
                return false;
            }
            door.open = true;
            self.open += 1;
        }
        true
    }

    /// A request or a sync on a file is made. Until it has ended the file cannot be closed.
    #[inline]
    pub fn begins(&mut self, file: usize) {
        if self.most_open.is_some() {
            self.files[file].door.under_way += 1;
        }
    }

    /// It has ended.
    #[inline]
    pub fn ends(&mut self, file: usize) {
        if self.most_open.is_some() {
            self.files[file].door.under_way -= 1;
            self.close_if_idle(file);
        }
    }

    /// Nothing more is asked of a file for now: it is closed once nothing is under way on it.
    fn close(&mut self, file: usize) {
        self.serving = None;
        if self.most_open.is_some() {
            self.files[file].door.closing = true;
            self.close_if_idle(file);
        }
    }

    fn close_if_idle(&mut self, file: usize) {
        let door = &mut self.files[file].door;
        if door.closing && door.under_way == 0 {
            *door = Door::default();
            self.open -= 1;
        }
    }

    /// A file, after so many draws of ones that are done.
    fn drawn_file(&mut self, draws: u32) -> usize {
        let count = self.files.len();
        match &self.file_ranks {
            Some(ranks) if draws < FILE_DRAWS => {
                return (ranks.draw(&mut self.draws.file) / FILE_RANKS) as usize;
            }
            None if self.fio.file_service == FileService::Random => {
                return self.draws.file.below(count as u64) as usize;
            }
            _ => {}
        }
        let file = self.next_in_turn;
        self.next_in_turn = (file + 1) % count;
        file
    }

    /// What comes next on a file, given the requests issued so far in each direction, and the last.
    pub fn direction(&mut self, file: usize, issued: [u64; 3], last: Option<Kind>) -> Kind {
        // fio's pairs of trim and write pass over the syncs that are due.
        if self.mix != Mix::Pairs
            && let Some(sync) = self.sync_due(issued[Direction::Write as usize], last)
        {
            return sync;
        }
        let direction = match self.mix {
            Mix::Only(direction) => direction,
            Mix::Reads(percent) => self.mixed(percent, issued),
            Mix::Trims(_) | Mix::Pairs => {
                let File { last_start, .. } = &self.files[file];
                if last_start[Direction::Write as usize] == last_start[Direction::Trim as usize] {
                    Direction::Trim
                } else {
                    Direction::Write
                }
            }
        };
        Kind::Io(direction)
    }

    /// A sync that is due after so many writes. While their number stands, it is due again after
    /// each read between them, as in fio.
    fn sync_due(&self, writes: u64, last: Option<Kind>) -> Option<Kind> {
        let syncs = &self.fio.syncs;
        if !matches!(last, Some(Kind::Io(_))) || writes == 0 {
            return None;
        }
        let due = |every: u64| every > 0 && writes.is_multiple_of(every);
        if due(syncs.fsync_every) {
            Some(Kind::Fsync)
        } else if due(syncs.fdatasync_every) {
            Some(Kind::Fdatasync)
        } else {
            None
        }
    }

    /// fio draws a direction for each request, but lets the one that it switches to catch up with
    /// its share first.
    fn mixed(&mut self, read_percent: u32, issued: [u64; 3]) -> Direction {
        let old = self.mixing;
        if issued[old as usize] >= self.mixed_until {
            let new = if self.draws.mix.chance(read_percent) {
                Direction::Read
            } else {
                Direction::Write
            };
            if new != old {
                let share = match new {
                    Direction::Read => read_percent,
                    _ => 100 - read_percent,
                };
                self.mixed_until = issued[old as usize] * u64::from(share) / 100;
            }
            self.mixing = new;
        }
        self.mixing
    }

    /// The host's rate turned the direction over.
    pub fn turn(&mut self, direction: Direction) {
        self.mixing = direction;
    }

    /// The request of a direction on a file; `None` ends the file for this pass.
    pub fn place(&mut self, file: usize, direction: Direction) -> Option<FioAsk> {
        let placed = self.placed(file, direction);
        if placed.is_some() {
            self.begun_anew = 0;
            return placed;
        }
        self.close(file);
        let file = &mut self.files[file];
        assert!(!file.done, "a file that is done is asked for more");
        // fio begins such a file anew, in the zone where it is; one that has no room for any
        // request would be for ever.
        if self.fio.file_service == FileService::Law && self.begun_anew < FILE_DRAWS {
            self.begun_anew += 1;
            file.reset_here();
        } else {
            file.done = true;
            self.files_done += 1;
        }
        None
    }

    fn placed(&mut self, number: usize, direction: Direction) -> Option<FioAsk> {
        let way = direction as usize;
        if let Some(strides) = &self.fio.strides
            && self.files[number].stride(strides, way, self.zone_bytes)
        {
            self.zone_bytes = 0;
        }
        let trim = Direction::Trim as usize;
        let second = self.random && self.mix == Mix::Pairs && direction == Direction::Write;
        let Offset {
            offset,
            random,
            counts,
        } = if second {
            // The write of a pair goes where the trim went, whatever the map says. fio 3.33 counts
            // that from where the job begins: behind an `offset` it meets no trim, and as nothing
            // makes the pair complete, only writes follow.
            self.is_own_turn();
            Offset {
                offset: self.files[number].last_start[trim],
                random: true,
                counts: false,
            }
        } else {
            self.offset(number, direction)?
        };
        let file = &mut self.files[number];
        let span = file.span;
        if offset >= span.used() || offset + span.offset >= span.end() {
            return None;
        }
        let at = offset + span.offset;
        if self.random && self.mix == Mix::Pairs && file.last_start[trim] == at && !second {
            // The same place twice in a row would look like a pair that is complete.
            let write = &mut file.last_start[Direction::Write as usize];
            *write = write.wrapping_sub(1);
        }
        let mut bytes = if second {
            file.last_end[trim] - file.last_start[trim]
        } else {
            let room = file.room(at);
            let which = self.sizes.which(way, random);
            self.sizes.draw(which, room, &mut self.draws.size[which])
        };
        if bytes == 0 || at + bytes > span.bytes {
            return None;
        }
        if let (Some(map), true) = (&mut file.map, counts) {
            let least = self.sizes.of(way).least;
            // What reaches beyond a zone, no map holds.
            let count = bytes.div_ceil(least).min(map.blocks() - offset / least);
            let taken = map.take_run(offset / least, count);
            assert!(taken > 0, "block {} was free", offset / least);
            if taken < count {
                bytes = taken * least;
            }
        }
        file.last_start[way] = at;
        file.last_end[way] = at + bytes;
        self.zone_bytes += bytes;
        Some(FioAsk {
            file: number as u32,
            direction,
            offset: at,
            bytes,
            lba: (span.start + at) / SECTOR_BYTES,
        })
    }

    /// Counts a request, and says whether it is one of those with an offset of its own.
    fn is_own_turn(&mut self) -> bool {
        self.sequence_left = self.sequence_left.wrapping_sub(1);
        let own = self.sequence_left == 0;
        if own {
            self.sequence_left = self.fio.sequence.every;
        }
        own
    }

    /// The offset of a request, from where the job begins in the file.
    fn offset(&mut self, number: usize, direction: Direction) -> Option<Offset> {
        let sequence = self.fio.sequence;
        let own = self.is_own_turn();
        if own && self.random && self.is_random(direction) {
            let offset = self.random_offset(number, direction)?;
            return Some(Offset {
                offset,
                random: true,
                counts: !self.fio.random_starts,
            });
        }
        let add = sequence.add_bytes;
        let is_only_file = self.files.len() == 1;
        let (wraps, way) = (self.fio.time_based && is_only_file, direction as usize);
        let file = &mut self.files[number];
        let offset = if sequence.identical && !own {
            match file.last_start[way] {
                NOWHERE => 0,
                last => last - file.span.offset,
            }
        } else {
            match file.next_in_order(way, add, wraps) {
                Some(offset) => offset,
                None if self.random || !own => self.random_offset(number, direction)?,
                None => return None,
            }
        };
        // In a sequential job nothing has a map; in a random one such a request does not count.
        Some(Offset {
            offset,
            random: false,
            counts: false,
        })
    }

    fn is_random(&mut self, direction: Direction) -> bool {
        let percent = self.fio.random_percent[direction as usize];
        percent == 100 || self.draws.order.chance(percent)
    }

    fn random_offset(&mut self, number: usize, direction: Direction) -> Option<u64> {
        let blocks = self.sizes.of(direction as usize);
        let (grain, least) = (blocks.grain(), blocks.least);
        let file = &mut self.files[number];
        let by_rank = file.is_by_rank();
        let draws = &mut self.draws.offset;
        let rng = if by_rank { &mut self.ranks } else { draws };
        let drawn = file.random_block(direction as usize, grain, least, rng);
        if drawn.is_none() && self.fio.time_based {
            // A map that is full begins anew while there is time.
            file.reset_here();
            let again = file.random_block(direction as usize, grain, least, rng);
            return again.map(|block| block * grain);
        }
        drawn.map(|block| block * grain)
    }
}

/// Where a request goes, in bytes from where the job begins in its file.
struct Offset {
    offset: u64,
    /// Drawn, and not the one after the last.
    random: bool,
    /// Counts in the map.
    counts: bool,
}
