//! The first writing of a drive that has nothing else to do: units that hold nothing are written in
//! order, and no data has to be moved for them.
//!
//! Then most of what [`Ftl::append_host`] and [`Ftl::finish`] look at cannot have changed since the
//! last burst. [`Ftl::only_fills`] looks at all of it once. As long as nobody calls the firmware
//! but through [`Ftl::fill`], [`Ftl::fills_no_more_than`] and [`Ftl::granule_filled`], the answer
//! stays the same, and these three do what the others would do.

use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::placement::Reserved;
use crate::policy::Separation;
use crate::streams::Stream;
use crate::write_buffer::Flight;

impl<P: Policies> Ftl<P> {
    /// Whether placing host data for the first time, and the end of its programs, sets nothing else
    /// going: there is no mechanism that takes part in it, and collection rests until another
    /// superblock is opened.
    #[must_use]
    pub fn only_fills(&self) -> bool {
        let layout = &self.layout;
        let simple = !self.cache.is_on()
            && !layout.packs()
            && !layout.parity
            && !layout.paired
            && layout.groups == 1
            && layout.later_passes.is_none()
            && !self.policy.coalesce
            && !self.health.fails
            && matches!(self.policy.gc.separation, Separation::None | Separation::Gc);
        simple && !self.cuts.is_on() && !self.paged.is_on() && self.moves_nothing()
    }

    /// Nothing is moved, erased or waited for.
    fn moves_nothing(&self) -> bool {
        let buffer = &self.writing.buffer;
        self.collection.alone
            && self.collection_rests()
            && !self.collection.mover.waiting()
            && !self.cache.fold.waiting()
            && self.blocks.stale.is_empty()
            && self.cache.dead.is_empty()
            && !self.is_read_only()
            && self.writing.streams[Stream::Direct].moved == 0
            && buffer.in_flight() == buffer.by_stream[Stream::Direct] as usize
    }

    /// Whether data that has arrived is written for the first time, and leaves room in the open
    /// superblock: [`Ftl::fill`] may take it.
    #[inline]
    #[must_use]
    pub fn is_filled_by(&self, reserved: &Reserved, lpn: u32) -> bool {
        let units = reserved.units();
        let s = &self.writing.streams[Stream::Direct];
        reserved.is_for(Stream::Direct)
            && units < s.stop - s.next
            && self.map.is_unwritten(lpn, units)
    }

    /// Takes units from the host that [`Ftl::is_filled_by`].
    #[inline]
    pub fn fill(&mut self, reserved: &Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        let units = reserved.units();
        self.counters.host_units += u64::from(units);
        let s = &mut self.writing.streams[Stream::Direct];
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        if s.next == s.begun {
            s.sequence = self.writing.sequence;
            self.writing.sequence += 1;
        }
        s.next += units;
        let full = s.next >= s.begun + s.granule;
        self.map.point(lpn, ppn, units);
        self.map.expect_run(lpn + units, ppn + units, units);
        self.blocks.all[superblock as usize].valid += units;
        self.writing.buffer.awaited.commit(Stream::Direct, units);
        if full {
            self.program_filled(ops);
        }
    }

    /// Issues the programs of the granules that are full.
    #[inline]
    fn program_filled(&mut self, ops: &mut Vec<NandOp>) {
        let writing = &mut self.writing;
        let s = &mut writing.streams[Stream::Direct];
        while s.begun + s.granule <= s.next {
            let (stripe, die) = self.layout.stripe_of(s.mode, s.begun);
            let page = if self.layout.one_shot {
                0
            } else {
                self.layout.place(s.mode, s.superblock, s.begun).1
            };
            let place = writing.buffer.launch(Flight {
                first: self.layout.base(s.superblock) + s.begun,
                units: s.granule,
                superblock: s.superblock,
                host_units: s.granule,
                begun: false,
                moved: 0,
                stream: Stream::Direct,
                sequence: s.sequence,
                source: NONE,
                die: die as u16,
                stripe,
            });
            ops.push(NandOp::new(
                die as u16,
                self.layout.program_class(s.mode, page),
                s.granule as u16,
                writing.passes.first_token(s.mode, page, place),
            ));
            self.counters.direct_units += u64::from(s.granule);
            self.blocks.all[s.superblock as usize].in_flight += 1;
            s.begun += s.granule;
            if s.next > s.begun {
                s.sequence = writing.sequence;
                writing.sequence += 1;
            }
        }
    }

    /// A program of host data has ended; false, and nothing has happened, where its superblock has
    /// to be looked at, for [`Ftl::finish`] to do.
    #[inline]
    #[must_use]
    pub fn granule_filled(&mut self, place: u32) -> bool {
        let superblock = self.writing.buffer.flights[place as usize].superblock;
        let block = &mut self.blocks.all[superblock as usize];
        if block.valid == 0 {
            return false;
        }
        block.in_flight -= 1;
        self.writing.buffer.land(place);
        true
    }

    /// Whether a burst has to wait for the programs under way, which make room for it in the
    /// buffer.
    #[inline]
    #[must_use]
    pub fn waits_for_programs(&self, units: u32) -> bool {
        let buffer = &self.writing.buffer;
        let s = &self.writing.streams[Stream::Direct];
        let free = self.buffer_free();
        let coming = buffer.awaited.units();
        units > free && coming + units <= s.left() && units <= free + self.buffer_programming()
    }
}
