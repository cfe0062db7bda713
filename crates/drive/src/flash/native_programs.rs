//! A limit on native programs at work, all dies together (`controller.native_programs`).
//!
//! A program of several bits a cell draws the most power of all operations, and its pages stay in
//! the controller's memory until it ends: a small drive cannot have one on each of its dies. What
//! comes while the limit is reached waits in the order in which it came, in front of the dies, so
//! that reads, erases and programs in SLC mode go past it. From outside: writes past the cache and
//! folding are as quick as that number of dies, and the cache as quick as all of them.

use std::collections::VecDeque;

use flashtwin_ftl::NandOp;
use flashtwin_ftl::op::class;

/// Programs that dies have in hand, and those that wait.
pub(super) struct NativePrograms {
    /// How many there may be; 0 = without a limit.
    most: u32,
    in_hand: u32,
    waiting: VecDeque<NandOp>,
}

flashtwin_base::state! { NativePrograms {
    kept: in_hand, waiting;
    built: most;
} }

impl NativePrograms {
    pub(super) fn new(most: u32) -> NativePrograms {
        NativePrograms {
            most,
            in_hand: 0,
            waiting: VecDeque::new(),
        }
    }

    /// There is a limit.
    pub(super) fn are_limited(&self) -> bool {
        self.most > 0
    }

    /// Tells if an operation may go to its die. One that may not is kept.
    pub(super) fn takes(&mut self, op: NandOp) -> bool {
        if !class::is_native_program(op.class) {
            return true;
        }
        if self.in_hand == self.most {
            self.waiting.push_back(op);
            return false;
        }
        self.in_hand += 1;
        true
    }

    /// An operation has ended; the answer is the one that goes to its die in its place.
    pub(super) fn ended(&mut self, op: &NandOp) -> Option<NandOp> {
        if !class::is_native_program(op.class) {
            return None;
        }
        let next = self.waiting.pop_front();
        self.in_hand -= u32::from(next.is_none());
        next
    }

    /// Nothing is in hand and nothing waits any more.
    pub(super) fn power_lost(&mut self) {
        self.in_hand = 0;
        self.waiting.clear();
    }

    /// The state in a line, for a panic; nothing without a limit.
    pub(super) fn describe(&self) -> String {
        match self.most {
            0 => String::new(),
            most => format!(
                "native programs: {} of {most} in hand, {} waiting\n",
                self.in_hand,
                self.waiting.len()
            ),
        }
    }
}
