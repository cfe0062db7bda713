//! A small drive for tests: the firmware, dies that end their operations in any order between
//! dies, and a shadow that knows which stamp every unit has to hold.
//!
//! The shadow is a `BTreeMap`, too simple to be wrong: it hangs a stamp on each physical unit and
//! moves it only as the operations say; every logical unit has to read back its last stamp, and to
//! be where the shadow last saw it. What an operation may move is looked at when it ends,
//! everything else whenever all of it is verified.

use std::collections::{BTreeMap, VecDeque};

use flashtwin_base::Nanos;
use flashtwin_base::rng::Rng;
use flashtwin_ftl::layout::NONE;
use flashtwin_ftl::orders::Greedy;
use flashtwin_ftl::policy::{
    Admit, Borrowed, CacheMode, Caching, Durability, Fold, FoldPath, Gc, MapPolicy, Own, Pace,
    Parity, Recycler, Separation, SlcCache, Victim, Wear, WhenFull, Worn,
};
use flashtwin_ftl::{Found, Ftl, Load, LookUp, NandOp, Policy, Route, Token};
use flashtwin_nand::{Cell, Geometry, ModeTiming, Part, Program, Suspend};

pub const UNIT: u32 = 4096;

/// A part of a few dozen superblocks: 2 dies of 2 planes, 8 KiB pages.
pub fn part(cell: Cell, one_shot: bool, blocks: u32) -> Part {
    let bits = cell.bits() as usize;
    let time = Nanos::from_us(10);
    let program = if one_shot {
        Program::OneShot(time)
    } else {
        Program::PageByPage(vec![time; bits])
    };
    let mode = |pages: usize, program: Program| ModeTiming {
        read: vec![time; pages],
        program,
        erase: time,
        endurance_cycles: 1000,
    };
    Part {
        geometry: Geometry {
            channels: 2,
            dies_per_channel: 1,
            planes: 2,
            blocks_per_plane: blocks,
            wordlines_per_block: 8,
            page_bytes: 8192,
            cell,
        },
        slc: mode(1, Program::OneShot(time)),
        native: mode(bits, program),
        bus_bytes_per_s: 400_000_000,
        cache_program: false,
        tier: None,
        later_passes: None,
        independent_planes: false,
        codeword_bytes: 4096,
        variation: Default::default(),
        suspend: Suspend {
            program: false,
            erase: false,
            entry: time,
            penalty: time,
            most: 1,
            reads: 1,
        },
    }
}

/// A policy with everything off but garbage collection.
pub fn policy() -> Policy {
    Policy {
        unit_bytes: UNIT,
        system_bytes: 0,
        compression_ratio: 1,
        coalesce: false,
        pads_pages: false,
        parity: Parity::None,
        superblock_dies: 0,
        durability: Durability::default(),
        map: MapPolicy::in_dram(),
        cache: SlcCache::None,
        fdp: flashtwin_ftl::policy::Fdp::default(),
        gc: Gc {
            victim: Victim::Greedy(Greedy),
            low_superblocks: 5,
            high_superblocks: 7,
            reserve_superblocks: 3,
            pace: Pace::Paced,
            idle_after: None,
            idle_superblocks: 0,
            recycler: Recycler::None,
            separation: Separation::Gc,
        },
        wear: Wear::default(),
    }
}

/// Bytes of a superblock in SLC mode, of a part of eight wordlines on two dies.
pub const SLC: u64 = 8 * 2 * 2 * 8192;
/// Host data goes past a full cache until a superblock of it can be opened.
pub const DIRECT: WhenFull = WhenFull::Direct {
    rearm_bytes: SLC,
    refill_milli: 0,
};
/// The host waits while a mebibyte is folded.
pub const FOLD_FIRST: WhenFull = WhenFull::FoldFirst {
    step_bytes: 1 << 20,
};
/// Copies inside a die, none of them checked.
pub const COPYBACK: FoldPath = FoldPath::Copyback {
    check_every: 0,
    check_cycles: 0,
};

/// Folding under pressure alone, at a pace in thousandths.
pub fn caching(when_full: WhenFull, path: FoldPath, pace_milli: u32) -> Caching {
    Caching {
        when_full,
        admit: Admit::All,
        worn: Worn::Keep,
        tier_bytes: 0,
        reclaim_milli: 0,
        fold: Fold {
            idle_after: None,
            reserve_bytes: 0,
            pace_milli,
            low_superblocks: 0,
            high_superblocks: 0,
            rate_bytes_s: None,
            path,
        },
    }
}

/// A cache of a design, with so many bytes of its own and borrowed ones where it has such.
pub fn cache(mode: CacheMode, own: u64, borrowed: Borrowed, caching: Caching) -> SlcCache {
    let own = Own(own);
    match mode {
        CacheMode::None => SlcCache::None,
        CacheMode::LowerPages => SlcCache::LowerPages,
        CacheMode::Static => SlcCache::Static(own, caching),
        CacheMode::Dynamic => SlcCache::Dynamic(borrowed, caching),
        CacheMode::Hybrid => SlcCache::Hybrid(own, borrowed, caching),
        CacheMode::WholeDrive => SlcCache::WholeDrive(caching),
    }
}

/// The firmware with its dies and its shadow.
pub struct Bench {
    pub ftl: Ftl,
    dies: Vec<VecDeque<NandOp>>,
    /// Programs may fail: what is in the buffer then moves.
    fails: bool,
    ops: Vec<NandOp>,
    pub rng: Rng,
    stamps: BTreeMap<u32, u64>,
    expected: BTreeMap<u32, u64>,
    /// Where the shadow last saw each unit, and which unit it saw in each place.
    seen: Vec<u32>,
    held: Vec<u32>,
    clock: u64,
    pages: Vec<WrittenPage>,
}

/// What flash holds of a page of the map: where, and what its entries were when it was written.
#[derive(Clone, Default)]
struct WrittenPage {
    ppn: Option<u32>,
    entries: Vec<Option<u32>>,
}

impl Bench {
    pub fn new(part: &Part, policy: Policy, capacity_units: u32, seed: u64) -> Bench {
        Bench::with_buffer(part, policy, capacity_units, seed, 48)
    }

    /// The same with a write buffer of so many units.
    pub fn with_buffer(
        part: &Part,
        policy: Policy,
        capacity_units: u32,
        seed: u64,
        buffer_units: u32,
    ) -> Bench {
        let capacity = u64::from(capacity_units) * u64::from(UNIT);
        let fails = policy.wear.program.at_rated_ppb > 0;
        let ftl = Ftl::new(
            part,
            policy,
            capacity,
            u64::from(buffer_units) * u64::from(UNIT),
            1,
        );
        let ftl_places = ftl.layout().physical_units() as usize;
        let dies = (0..ftl.layout().dies).map(|_| VecDeque::new()).collect();
        Bench {
            ftl,
            dies,
            fails,
            ops: Vec::new(),
            rng: Rng::new(seed, 7),
            stamps: BTreeMap::new(),
            expected: BTreeMap::new(),
            seen: vec![NONE; capacity_units as usize],
            held: vec![NONE; ftl_places],
            clock: 0,
            pages: Vec::new(),
        }
    }

    /// Entries of a map page as they are now.
    fn entries(&self, page: u32) -> Vec<Option<u32>> {
        let per_page = self.ftl.map_page_end(0);
        let end = self.ftl.map_page_end(page * per_page);
        let units = page * per_page..end.min(self.ftl.logical_units());
        units.map(|lpn| self.ftl.locate(lpn)).collect()
    }

    /// Notes the map pages that have been written by the last call.
    fn note_pages(&mut self) {
        let pages = self.ftl.mapped_units() - self.ftl.logical_units();
        self.pages.resize(pages as usize, WrittenPage::default());
        for page in 0..pages {
            let ppn = self.ftl.locate(self.ftl.logical_units() + page);
            if ppn != self.pages[page as usize].ppn {
                let entries = self.entries(page);
                self.pages[page as usize] = WrittenPage { ppn, entries };
            }
        }
    }

    /// What flash holds of the map, with the dirty pages left out, is the map.
    fn verify_pages(&self) {
        let dirty: Vec<u32> = self.ftl.dirty_map_pages().collect();
        for (page, written) in self.pages.iter().enumerate() {
            if dirty.contains(&(page as u32)) {
                continue;
            }
            let now = self.entries(page as u32);
            if written.ppn.is_some() {
                assert_eq!(now, written.entries, "map page {page} is old on flash");
            } else {
                assert!(now.iter().all(Option::is_none), "map page {page} is lost");
            }
        }
    }

    /// Waits until the map entries of a run have been at hand, page after page.
    fn look_up(&mut self, lpn: u32, count: u32) {
        let mut at = lpn;
        while at < lpn + count {
            let found = self.ftl.look_up(at, &mut self.ops);
            self.queue();
            self.note_pages();
            match found {
                LookUp::Known => {}
                LookUp::Fetch(slot) => self.ftl.map_fetched(slot),
                LookUp::Reading(_) => {
                    while !self.ftl.is_map_at_hand(at) {
                        self.step();
                    }
                }
                LookUp::Full => {
                    self.step();
                    continue;
                }
            }
            at = self.ftl.map_page_end(at);
        }
    }

    fn queue(&mut self) {
        for op in self.ops.drain(..) {
            self.dies[op.die as usize].push_back(op);
        }
    }

    pub fn is_busy(&self) -> bool {
        self.dies.iter().any(|d| !d.is_empty())
    }

    /// Ends the oldest operation of some die that has one.
    pub fn step(&mut self) {
        let busy: Vec<usize> = (0..self.dies.len())
            .filter(|&d| !self.dies[d].is_empty())
            .collect();
        let die = busy[self.rng.below(busy.len() as u64) as usize];
        let op = self.dies[die].pop_front().expect("a busy die");
        let rows = self.sources(op.token);
        let mut before: Vec<u32> = rows.iter().cloned().flatten().collect();
        // Only what a failed program leaves in the buffer moves without having been read.
        if let (Some(superblock), true) = (self.programmed(op.token), self.fails) {
            let first = self.ftl.layout().base(superblock);
            let units = first..first + self.ftl.layout().native_units;
            let buffered = |&ppn: &u32| {
                let lpn = self.held[ppn as usize];
                lpn != NONE && self.ftl.find(lpn) == Found::Buffer
            };
            before.extend(units.filter(buffered));
        }
        before.retain(|&ppn| self.is_there(ppn));
        self.ftl.finish(op.token, &mut self.ops);
        self.queue();
        self.note_pages();
        for ppn in before {
            let lpn = self.held[ppn as usize];
            let now = self.ftl.locate(lpn).expect("moving never unmaps");
            if now != ppn {
                let stamp = self.stamps[&ppn];
                self.stamps.insert(now, stamp);
                self.place(lpn, now);
            }
        }
    }

    /// The shadow sees a unit in a place.
    fn place(&mut self, lpn: u32, ppn: u32) {
        self.seen[lpn as usize] = ppn;
        self.held[ppn as usize] = lpn;
    }

    /// Whether the unit that the shadow saw in a place last is still there.
    fn is_there(&self, ppn: u32) -> bool {
        let lpn = self.held[ppn as usize];
        lpn != NONE && self.seen[lpn as usize] == ppn && self.ftl.locate(lpn) == Some(ppn)
    }

    /// The superblock that a program that may fail writes to.
    fn programmed(&self, token: Token) -> Option<u32> {
        match token {
            Token::Program(place) | Token::Copyback(place) => {
                Some(self.ftl.superblock_of_flight(place))
            }
            _ => None,
        }
    }

    /// Physical units that an operation brings into RAM or copies.
    fn sources(&self, token: Token) -> Vec<std::ops::Range<u32>> {
        let row = self.ftl.layout().row_units;
        match token {
            Token::FoldRead(first) | Token::GcRead(first) => {
                std::iter::once(first..first + row).collect()
            }
            Token::Copyback(place) => self.ftl.copyback_rows(place),
            _ => Vec::new(),
        }
    }

    /// Writes a run, ending operations for as long as the firmware has no room.
    pub fn write(&mut self, lpn: u32, count: u32) {
        self.write_by(Route::Cache, lpn, count);
    }

    /// The same with a word on whether the cache may take it.
    pub fn write_by(&mut self, route: Route, lpn: u32, count: u32) {
        let (mut lpn, mut left) = (lpn, count);
        while left > 0 {
            let Some(placement) = self.ftl.decide(route) else {
                self.pump();
                if !self.is_busy() {
                    self.ftl.pad_host(&mut self.ops);
                    self.queue();
                }
                assert!(
                    self.is_busy(),
                    "stuck with {left} to write\n{}",
                    self.ftl.describe()
                );
                self.step();
                continue;
            };
            let now = placement.room().min(left);
            let reserved = self.ftl.reserve(placement, now);
            self.look_up(lpn, now);
            self.ftl.append_host(reserved, lpn, &mut self.ops);
            self.queue();
            self.note_pages();
            for unit in lpn..lpn + now {
                self.clock += 1;
                self.expected.insert(unit, self.clock);
                let ppn = self.ftl.locate(unit).expect("just written");
                self.stamps.insert(ppn, self.clock);
                self.place(unit, ppn);
            }
            lpn += now;
            left -= now;
        }
    }

    pub fn trim(&mut self, lpn: u32, count: u32) {
        self.look_up(lpn, count);
        self.ftl.trim(lpn, count, &mut self.ops);
        self.queue();
        self.note_pages();
        for unit in lpn..lpn + count {
            self.expected.remove(&unit);
            self.seen[unit as usize] = NONE;
        }
    }

    fn pump(&mut self) {
        self.ftl.pump(&mut self.ops);
        self.queue();
    }

    /// Ends everything that is under way.
    pub fn drain(&mut self) {
        while self.is_busy() {
            self.step();
        }
    }

    pub fn idle(&mut self, idle: bool) {
        for load in [Load::Fold, Load::Collect] {
            self.ftl.offer(load, idle, &mut self.ops);
        }
        self.queue();
    }

    pub fn pad_through(&mut self) {
        self.ftl.pad_host_through(&mut self.ops);
        self.queue();
    }

    pub fn refresh(&mut self, superblock: u32) -> bool {
        let will = self.ftl.refresh(superblock, &mut self.ops);
        self.queue();
        will
    }

    pub fn pad(&mut self) {
        self.ftl.pad_host(&mut self.ops);
        self.queue();
    }

    /// Every unit holds its last stamp, trimmed ones hold nothing, every invariant holds.
    pub fn verify(&self) {
        self.ftl.check();
        self.verify_pages();
        for lpn in 0..self.ftl.logical_units() {
            let place = self.ftl.locate(lpn);
            let seen = Some(self.seen[lpn as usize]).filter(|&ppn| ppn != NONE);
            assert_eq!(place, seen, "unit {lpn} moved unread");
            let found = place.map(|ppn| self.stamps[&ppn]);
            assert_eq!(found, self.expected.get(&lpn).copied(), "unit {lpn}");
        }
    }
}

impl Bench {
    /// Reads the map entry of a unit, as a command would; the answer is whether it was at hand.
    pub fn read(&mut self, lpn: u32) -> bool {
        let known = self.ftl.is_map_at_hand(lpn);
        self.look_up(lpn, 1);
        known
    }

    /// Writes back all of the map that flash lacks.
    pub fn checkpoint(&mut self) {
        self.ftl.checkpoint_map(&mut self.ops);
        self.queue();
        while self.ftl.is_checkpointing() {
            assert!(self.is_busy(), "stuck\n{}", self.ftl.describe());
            self.step();
        }
        self.note_pages();
    }
}

/// The random life of a drive: writes, trims and rests, verified as it goes.
pub fn torture(part: &Part, policy: Policy, share: f64, seed: u64) -> Bench {
    torture_with(part, policy, share, seed, 48)
}

/// The same with a write buffer of so many units.
pub fn torture_with(part: &Part, policy: Policy, share: f64, seed: u64, buffer: u32) -> Bench {
    let admits = policy.cache.caching().map(|caching| caching.admit);
    let routes = admits.is_some_and(|admit| admit != Admit::All);
    let raw = part.geometry.raw_bytes() / u64::from(UNIT);
    let units = (raw as f64 * share) as u32;
    let mut bench = Bench::with_buffer(part, policy, units, seed, buffer);
    bench.write(0, units);
    bench.verify();
    for round in 0..600 {
        let at = bench.rng.below(u64::from(units)) as u32;
        let longest = if bench.rng.chance(10) { 300 } else { 6 };
        let count = (1 + bench.rng.below(longest) as u32).min(units - at);
        match bench.rng.below(20) {
            0 => bench.trim(at, count),
            1 => {
                bench.idle(true);
                bench.drain();
                bench.idle(false);
            }
            2 => bench.pad(),
            // A page that is read and not written has to keep what the journal has for it.
            3..=6 if bench.ftl.is_map_paged() => {
                bench.read(at);
            }
            3 | 4 if routes => bench.write_by(Route::Direct, at, count),
            _ => bench.write(at, count),
        }
        if round % 50 == 0 {
            bench.verify();
        }
    }
    bench.drain();
    bench.verify();
    bench
}
