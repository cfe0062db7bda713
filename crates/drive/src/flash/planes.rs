//! Planes that read for themselves (independent multi-plane read, AIPR): each plane of a die senses
//! its own page of its own block while others are at it.
//!
//! A plane is busy from the beginning of a read until its page has crossed the channel, of which
//! the die has one. A read begins as soon as its planes are free, whatever waits before it for
//! others; a read that has been passed over often is waited for, so that one of all planes gets its
//! turn among many of one. Programs and erases take the whole die: they wait until its planes are
//! idle, and reads wait for them or suspend them, as they do on other dies.

use flashtwin_base::Nanos;
use flashtwin_ftl::NandOp;
use flashtwin_ftl::op::class;

use super::{Die, Flash};
use crate::clock::Clock;
use crate::event::Event;

/// Reads that may be begun before one that waits for its planes.
const PASSED_MOST: u32 = 64;

/// What the planes of a die do.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Planes {
    /// By the first plane of each read.
    running: Vec<Option<NandOp>>,
    /// A bit for each plane at work.
    busy: u16,
    /// Reads that have been begun before the first that waits.
    passed: u32,
}

impl Planes {
    pub(super) fn new(planes: u32) -> Planes {
        Planes {
            running: vec![None; planes as usize],
            busy: 0,
            passed: 0,
        }
    }

    /// The read that goes on, on these planes and perhaps others, of which this is the first.
    pub(super) fn running_on(&self, plane: u16) -> Option<NandOp> {
        self.running[usize::from(plane)]
    }

    pub(super) fn power_lost(&mut self) {
        self.running.fill(None);
        (self.busy, self.passed) = (0, 0);
    }
}

impl Die {
    /// Takes a read that can begin: of those that go first, and, where nothing is suspended, of
    /// those at the head of the queue.
    fn take_read(&mut self, planes: u32, queued: bool, reads_first: u32) -> Option<NandOp> {
        let busy = self.planes.busy;
        let free = |op: &NandOp| op.planes.mask(planes) & busy == 0;
        let patient = self.planes.passed < PASSED_MOST;
        let mut may = |at: usize| {
            let taken = at == 0 || patient;
            self.planes.passed = if at == 0 { 0 } else { self.planes.passed + 1 };
            taken
        };
        let others_wait = queued && !self.queue.is_empty();
        if others_wait && self.overtaken.is_at(reads_first) {
            // An operation that was overtaken has its turn as soon as its planes are idle.
            let next = self.queue.front();
            let starts = next.is_some_and(|op| class::is_read(op.class) && free(op));
            if !starts {
                return None;
            }
            self.overtaken.clear();
            return self.queue.pop_front();
        }
        if let Some(at) = self.urgent.iter().position(free) {
            let taken = may(at);
            if others_wait && taken {
                self.overtaken.note();
            }
            return taken.then(|| self.urgent.remove(at)).flatten();
        }
        if !queued {
            return None;
        }
        let mut reads = self.queue.iter().take_while(|op| class::is_read(op.class));
        let at = reads.position(free)?;
        may(at).then(|| self.queue.remove(at)).flatten()
    }
}

impl Flash {
    /// Starts what can be started on a die: the next program's data that is in its register, reads
    /// on idle planes, or, once all are idle, what was suspended or what comes next.
    pub(super) fn start_planes(&mut self, index: u16, clock: &mut Clock) {
        let die = &mut self.dies[index as usize];
        if die.running.is_some() {
            return;
        }
        let holds = self.suspend.is_some() && die.pause.holds();
        if !holds
            && die.planes.busy == 0
            && let Some((op, taken)) = die.loaded.take()
        {
            self.start_array(op, index, clock.now().max(taken), clock);
            return;
        }
        self.start_reads(index, holds, clock);
        let die = &mut self.dies[index as usize];
        if die.planes.busy > 0 {
            return;
        }
        if holds {
            self.resume(index, clock);
        } else if let Some(op) = die.queue.pop_front() {
            die.overtaken.clear();
            self.start_alone(op, index, clock);
        }
    }

    /// Begins reads while there are some whose planes are idle; with an operation suspended, as
    /// many as may be served before it goes on.
    fn start_reads(&mut self, index: u16, holds: bool, clock: &mut Clock) {
        let planes = self.independent;
        while !holds || self.dies[index as usize].pause.grants() {
            let die = &mut self.dies[index as usize];
            let Some(op) = die.take_read(planes, !holds, self.reads_first) else {
                return;
            };
            if holds {
                die.pause.serve();
            }
            die.planes.busy |= op.planes.mask(planes);
            die.planes.running[op.planes.first()] = Some(op);
            let sensed = clock.now() + self.sense_time(&op);
            self.note_work(index, op.planes.first(), (clock.now(), sensed));
            let plane = op.planes.first() as u16;
            clock.push(sensed, Event::PlaneSensed(index, plane));
        }
    }

    /// A plane has sensed its page: it goes over the channel.
    pub(crate) fn plane_sensed(&mut self, (index, plane): (u16, u16), clock: &mut Clock) {
        if let Some(op) = self.dies[index as usize].planes.running[plane as usize] {
            let sent = self.send(index, &op, clock.now());
            clock.push(sent, Event::PlaneDone(index, plane));
        }
    }

    /// The page of a plane has crossed the channel; what waits for the plane starts.
    pub(crate) fn plane_done(&mut self, (index, plane): (u16, u16), clock: &mut Clock) -> NandOp {
        let planes = &mut self.dies[index as usize].planes;
        let Some(op) = planes.running[plane as usize].take() else {
            panic!("plane {plane} of die {index} ended a read that it had not begun");
        };
        let mask = op.planes.mask(self.independent);
        planes.busy &= !mask;
        self.count_ended(&op);
        self.spare(&op, self.independent - mask.count_ones());
        if self.is_throttled() {
            // A read of some planes counts as that share of the die's work.
            let work = self.sense_time(&op).0 * u64::from(mask.count_ones());
            let time = Nanos(work / u64::from(self.independent));
            self.rest(index, time, clock);
        }
        self.start_next(index, clock);
        op
    }
}
