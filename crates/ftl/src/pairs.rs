//! Pages of one wordline that are programmed one by one: a power cut in the program of one of them
//! tears those that were programmed before it too, because they share their cells.
//!
//! Where nothing backs them up (`pairs_lost`), a page is safe once the last page of its wordline is
//! programmed. Until then it is treated like a granule between two passes (see [`crate::passes`]):
//! it is in flight and its data stays in the buffer. Whoever waits for it to be durable waits on,
//! or has the wordline padded to its end. So a cut takes nothing that was acknowledged, and no
//! source is erased while its copies can be torn.
//!
//! A page is *waiting* (in the queues of the passes) until the last page of its wordline is issued,
//! *closing* from then on, or from when its superblock takes no more data, and *closed* once no
//! program of its wordline is under way on its die.

use crate::check::{Checked, ensure};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::passes::Half;
use crate::streams::Stream;

/// Pages whose wordline gets no more programs.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Those whose own program has ended, by their places: waiting or closing.
    ended: Vec<u32>,
    /// Those that wait for programs under way.
    closing: Vec<Half>,
    /// Those that are safe and have to land.
    closed: Vec<u32>,
}

flashtwin_base::state! { Pairs {
    kept: ended, closing, closed;
} }

impl Pairs {
    /// Nothing waits for a program under way.
    pub(crate) fn is_settled(&self) -> bool {
        self.closing.is_empty() && self.closed.is_empty()
    }

    /// See [`crate::audit`].
    pub(crate) fn audit(&self, flights: u32) -> Checked {
        let places = self.ended.iter().chain(&self.closed);
        let closing = self.closing.iter().map(|half| &half.place);
        let sound = places.chain(closing).all(|&place| place < flights);
        ensure!(sound, "pages of wordlines in programming");
        Ok(())
    }
}

impl<P: Policies> Ftl<P> {
    /// The wordline of a granule in flight, as superblock, die and number.
    fn wordline_of(&self, place: u32) -> (u32, u16, u32) {
        let flight = &self.writing.buffer.flights[place as usize];
        (
            flight.superblock,
            flight.die,
            flight.stripe / self.layout.bits,
        )
    }

    /// Whether the last page of a wordline is being programmed.
    fn ends_under_way(&self, wordline: (u32, u16, u32)) -> bool {
        let last = wordline.2 * self.layout.bits + self.layout.bits - 1;
        let flights = self.writing.buffer.flights.iter();
        let mut flying = flights.filter(|f| f.first != NONE && f.superblock == wordline.0);
        flying.any(|f| f.die == wordline.1 && f.stripe == last)
    }

    /// The last page of a wordline has been issued: the others wait for its end and no longer for
    /// data.
    pub(crate) fn close_wordlines(&mut self, stream: Stream, lane: u32) {
        let (bits, mut at) = (self.layout.bits, 0);
        let s = self.writing.streams[stream];
        let granules = s.begun / s.granule;
        let stripes = granules / self.layout.stripe_granules();
        while let Some(&half) = self.writing.passes.of(stream, lane, 1).get(at) {
            let last = half.stripe / bits * bits + bits - 1;
            // A stripe that is being filled has its last page on some dies only.
            let issued = last < stripes || self.ends_under_way(self.wordline_of(half.place));
            if issued {
                self.writing.passes.of(stream, lane, 1).remove(at);
                self.begin_closing(half);
            } else {
                at += 1;
            }
        }
    }

    /// The superblock of a lane takes no more data: only programs under way can tear what waits in
    /// it.
    pub(crate) fn leave_wordlines(&mut self, stream: Stream, lane: u32) {
        while let Some(half) = self.writing.passes.of(stream, lane, 1).pop_front() {
            self.begin_closing(half);
            self.settle(self.wordline_of(half.place));
        }
    }

    fn begin_closing(&mut self, half: Half) {
        let flight = self.writing.buffer.flights[half.place as usize];
        self.writing.passes.host_units -= half.host_units;
        self.writing.passes.by_stream[flight.stream] -= 1;
        self.writing.passes.pairs.closing.push(half);
    }

    /// The program of a page that is not the last of its wordline has ended.
    pub(crate) fn page_programmed(&mut self, place: u32) {
        self.writing.passes.pairs.ended.push(place);
        self.settle(self.wordline_of(place));
    }

    /// A program has ended for good: where it is the last of its wordline, the others are safe.
    pub(crate) fn wordline_programmed(&mut self, place: u32) {
        let flight = &mut self.writing.buffer.flights[place as usize];
        let (superblock, die, stripe) = (flight.superblock, flight.die, flight.stripe);
        if stripe % self.layout.bits + 1 == self.layout.bits {
            // Its program has ended.
            flight.stripe = NONE;
            self.settle((superblock, die, stripe / self.layout.bits));
            self.writing.buffer.flights[place as usize].stripe = stripe;
        }
    }

    /// Closes a wordline if nothing is under way on it.
    fn settle(&mut self, wordline: (u32, u16, u32)) {
        let own = |ftl: &Ftl<P>, half: &Half| ftl.wordline_of(half.place) == wordline;
        let closing = &self.writing.passes.pairs.closing;
        let mut all = closing.iter().filter(|half| own(self, half));
        let ended = |half: &Half| self.writing.passes.pairs.ended.contains(&half.place);
        if !all.all(ended) || self.ends_under_way(wordline) {
            return;
        }
        let mut at = 0;
        while let Some(&half) = self.writing.passes.pairs.closing.get(at) {
            if own(self, &half) {
                let pairs = &mut self.writing.passes.pairs;
                pairs.closing.remove(at);
                pairs.ended.retain(|&place| place != half.place);
                pairs.closed.push(half.place);
            } else {
                at += 1;
            }
        }
    }

    /// What is safe by now lands.
    pub(crate) fn land_wordlines(&mut self, ops: &mut Vec<NandOp>) {
        while !self.writing.passes.pairs.closed.is_empty() {
            let place = self.writing.passes.pairs.closed.remove(0);
            self.granule_programmed(place, ops);
        }
    }

    /// Whether a cut at this moment leaves a page as it is: its program has ended, and no program
    /// is under way that would tear it.
    pub(crate) fn stands_alone(&self, place: u32) -> bool {
        let pairs = &self.writing.passes.pairs;
        if !self.layout.paired || !pairs.ended.contains(&place) {
            return pairs.closed.contains(&place);
        }
        let wordline = self.wordline_of(place);
        let flights = (0u32..).zip(&self.writing.buffer.flights);
        let mut flying = flights.filter(|(_, f)| f.first != NONE);
        let own = |at: u32| at != place && self.wordline_of(at) == wordline;
        !flying.any(|(at, _)| own(at) && !pairs.ended.contains(&at))
    }
}
