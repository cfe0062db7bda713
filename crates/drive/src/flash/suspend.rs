//! Program and erase suspend: a host read that finds its die programming or erasing does not wait
//! for the end of it.
//!
//! The read asks for a suspension when it arrives. The array stops at once, or as soon as it has
//! begun where the data of the program is still on its way, and is free for reads after the entry
//! time. Waiting host reads are served, later ones too, up to a limit; then the operation goes on:
//! it takes the resume penalty and what was left of its time. So an operation of time t that is
//! suspended n times keeps its die for t + n·(entry + penalty) and the reads. It is suspended a
//! limited number of times, and not when it would end within the entry time: no operation starves.
//! A copyback is not suspended.
//!
//! An event cannot be taken back: the end of a suspended operation stays in the queue and is void.

use std::collections::VecDeque;

use flashtwin_base::Nanos;
use flashtwin_ftl::NandOp;
use flashtwin_ftl::op::class;

use super::Flash;
use crate::clock::Clock;
use crate::event::Event;

/// What a die knows of the operation that it has suspended or may suspend.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Pause {
    /// When the array begins or has begun with it, and when it ends if nothing comes between.
    begun: Nanos,
    ends: Nanos,
    /// How often it has been suspended.
    times: u32,
    /// The array is on its way into suspension.
    entering: bool,
    /// It is suspended, with so much of its time left.
    held: Option<(NandOp, Nanos)>,
    /// Reads that may still be served before it goes on.
    granted: u32,
    /// Times at which an end is due that has been put off.
    void: VecDeque<Nanos>,
}

impl Pause {
    /// Another read may be served before the suspended operation goes on.
    pub(super) fn grants(&self) -> bool {
        self.granted > 0
    }

    /// One is.
    pub(super) fn serve(&mut self) {
        self.granted -= 1;
    }

    /// The operation that is suspended or about to be.
    pub(super) fn held_op(&self) -> Option<&NandOp> {
        self.held.as_ref().map(|(op, _)| op)
    }

    /// An operation is suspended.
    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }
}

impl Flash {
    /// The array of a die works on another operation from `begun` to `ends`.
    pub(super) fn note_array(&mut self, index: u16, begun: Nanos, ends: Nanos) {
        if self.suspend.is_some() {
            let pause = &mut self.dies[index as usize].pause;
            (pause.begun, pause.ends, pause.times) = (begun, ends, 0);
        }
    }

    /// Whether an end that is due now has been put off.
    pub(crate) fn is_void(&mut self, index: u16, now: Nanos) -> bool {
        if self.suspend.is_none() {
            return false;
        }
        let void = &mut self.dies[index as usize].pause.void;
        let is_void = void.front() == Some(&now);
        if is_void {
            void.pop_front();
        }
        is_void
    }

    /// A host read has come to a die at work.
    pub(super) fn ask_suspend(&mut self, index: u16, clock: &mut Clock) {
        let Some(rules) = &self.suspend else { return };
        let die = &mut self.dies[index as usize];
        let Some(op) = die.running else { return };
        let allowed = (class::is_program(op.class) && rules.program)
            || (class::is_erase(op.class) && rules.erase);
        let pause = &mut die.pause;
        if !allowed || pause.entering || pause.times >= rules.most {
            return;
        }
        let from = clock.now().max(pause.begun);
        let left = pause.ends - from;
        if left <= rules.entry {
            return;
        }
        pause.void.push_back(pause.ends);
        pause.held = Some((op, left));
        pause.entering = true;
        pause.granted = rules.reads;
        pause.times += 1;
        self.suspensions += 1;
        clock.push(from + rules.entry, Event::Suspended(index));
    }

    /// The array of a die is free for reads.
    pub(crate) fn suspended(&mut self, index: u16, clock: &mut Clock) {
        let die = &mut self.dies[index as usize];
        die.pause.entering = false;
        die.running = None;
        self.start_next(index, clock);
    }

    /// Whether another read is served before the suspended operation goes on.
    pub(super) fn serves_read(&mut self, index: u16) -> bool {
        let die = &mut self.dies[index as usize];
        if die.urgent.is_empty() || die.pause.granted == 0 {
            return false;
        }
        die.pause.granted -= 1;
        true
    }

    /// The suspended operation of a die goes on.
    pub(super) fn resume(&mut self, index: u16, clock: &mut Clock) {
        let penalty = self.suspend.as_ref().map_or(Nanos::ZERO, |s| s.penalty);
        let die = &mut self.dies[index as usize];
        let Some((op, left)) = die.pause.held.take() else {
            panic!("die {index} goes on with nothing");
        };
        die.running = Some(op);
        die.pause.begun = clock.now() + penalty;
        die.pause.ends = clock.now() + penalty + left;
        let when = (die.pause.begun, die.pause.ends);
        clock.push(when.1, Event::Done(index));
        self.note_work(index, 0, when);
        if self.takes_ahead() && class::is_program(op.class) {
            self.register_free(index, clock.now());
        }
    }
}
