//! Pages of one wordline that are programmed one by one: a power cut in the program of one of them
//! tears those that were programmed before it too, because they share their cells.
//!
//! Where nothing backs them up (`pairs_lost`), a page is safe once the last page of its wordline is
//! programmed. Until then it is treated like a granule between two passes (see [`crate::passes`]):
//! it is in flight and its data stays in the buffer. Whoever needs it to be durable waits until the
//! wordline is full, or has the rest of it padded. So a cut takes nothing that was acknowledged,
//! and no source is erased while its copies can be torn.
//!
//! A page *waits* (in the queues of the passes) until the last page of its wordline has been
//! issued. From then on, and from when its superblock takes no more data, it is *closing*. It is
//! *closed* once no program of its wordline is under way on its die.

use super::{Half, Lane, Passes};
use crate::layout::NONE;
use crate::write_buffer::WriteBuffer;

/// A wordline of a die: superblock, die and number.
type Wordline = (u32, u16, u32);

/// Pages of wordlines that are not safe yet, or have just become so.
#[derive(Default)]
pub(super) struct Pairs {
    /// Waiting or closing ones whose own program has ended, by their places in the buffer.
    ended: Vec<u32>,
    /// Those whose wordline gets no more programs than are under way.
    closing: Vec<Half>,
    /// Those that are safe and have not left the buffer.
    closed: Vec<u32>,
}

flashtwin_base::state! { Pairs {
    kept: ended, closing, closed;
} }

impl Pairs {
    /// Nothing waits for a program under way.
    pub(super) fn is_settled(&self) -> bool {
        self.closing.is_empty() && self.closed.is_empty()
    }
}

impl Passes {
    /// The wordline of a granule in flight.
    fn wordline_of(&self, buffer: &WriteBuffer, place: u32) -> Wordline {
        let flight = buffer.flight(place);
        (flight.superblock, flight.die, flight.stripe / self.bits)
    }

    /// Whether the last page of a wordline is being programmed. The program of a granule that has
    /// `ended` and is still in the list does not count.
    fn ends_under_way(&self, buffer: &WriteBuffer, wordline: Wordline, ended: u32) -> bool {
        let last = wordline.2 * self.bits + self.bits - 1;
        let flying = buffer.flights().filter(|&(place, _)| place != ended);
        let mut flying = flying.filter(|(_, f)| f.superblock == wordline.0);
        flying.any(|(_, f)| f.die == wordline.1 && f.stripe == last)
    }

    /// So many stripes of a lane's superblock are full. Pages whose wordline's last page has been
    /// issued wait for its end and no longer for data.
    pub(super) fn close_wordlines(&mut self, buffer: &WriteBuffer, lane: Lane, full_stripes: u32) {
        let (bits, mut at) = (self.bits, 0);
        while let Some(&half) = self.of(lane, 1).get(at) {
            let last = half.stripe / bits * bits + bits - 1;
            // A stripe that is being filled has its last page on some dies only.
            let issued = last < full_stripes
                || self.ends_under_way(buffer, self.wordline_of(buffer, half.place), NONE);
            if issued {
                self.of(lane, 1).remove(at);
                self.begin_closing(buffer, half);
            } else {
                at += 1;
            }
        }
    }

    /// The superblock of a lane takes no more data: only programs under way can tear what waits in
    /// it.
    pub(super) fn leave_wordlines(&mut self, buffer: &WriteBuffer, lane: Lane) {
        while let Some(half) = self.of(lane, 1).pop_front() {
            self.begin_closing(buffer, half);
            self.close_if_quiet(buffer, self.wordline_of(buffer, half.place), NONE);
        }
    }

    fn begin_closing(&mut self, buffer: &WriteBuffer, half: Half) {
        let flight = buffer.flight(half.place);
        self.host_units -= half.host_units;
        self.by_stream[flight.stream] -= 1;
        self.pairs.closing.push(half);
    }

    /// The program of a page that is not the last of its wordline has ended.
    pub(super) fn page_programmed(&mut self, buffer: &WriteBuffer, place: u32) {
        self.pairs.ended.push(place);
        self.close_if_quiet(buffer, self.wordline_of(buffer, place), NONE);
    }

    /// A program has ended for good: where it is the last of its wordline, the others are safe.
    pub(crate) fn wordline_programmed(&mut self, buffer: &WriteBuffer, place: u32) {
        if buffer.flight(place).stripe % self.bits + 1 == self.bits {
            self.close_if_quiet(buffer, self.wordline_of(buffer, place), place);
        }
    }

    /// Closes the pages of a wordline if no program is under way on it but one that has `ended`.
    fn close_if_quiet(&mut self, buffer: &WriteBuffer, wordline: Wordline, ended: u32) {
        let own = |half: &Half, bits: u32| {
            let flight = buffer.flight(half.place);
            (flight.superblock, flight.die, flight.stripe / bits) == wordline
        };
        let (pairs, bits) = (&self.pairs, self.bits);
        let mut all = pairs.closing.iter().filter(|half| own(half, bits));
        if !all.all(|half| pairs.ended.contains(&half.place))
            || self.ends_under_way(buffer, wordline, ended)
        {
            return;
        }
        let pairs = &mut self.pairs;
        let mut at = 0;
        while let Some(&half) = pairs.closing.get(at) {
            if own(&half, bits) {
                pairs.closing.remove(at);
                pairs.ended.retain(|&place| place != half.place);
                pairs.closed.push(half.place);
            } else {
                at += 1;
            }
        }
    }

    /// The first page that is safe by now and has not left the buffer; it leaves the list.
    pub(crate) fn take_closed(&mut self) -> Option<u32> {
        let closed = &mut self.pairs.closed;
        (!closed.is_empty()).then(|| closed.remove(0))
    }

    /// Whether a cut at this moment leaves a page as it is: its program has ended, and no program
    /// is under way that would tear it.
    pub(crate) fn stands_alone(&self, buffer: &WriteBuffer, place: u32) -> bool {
        let pairs = &self.pairs;
        if !self.paired || !pairs.ended.contains(&place) {
            return pairs.closed.contains(&place);
        }
        let wordline = self.wordline_of(buffer, place);
        let mut flying = buffer.flights();
        let own = |at: u32| at != place && self.wordline_of(buffer, at) == wordline;
        !flying.any(|(at, _)| own(at) && !pairs.ended.contains(&at))
    }
}
