//! The placement handles of a job's writes: one after another, as fio takes those of `plids` by
//! default.

use crate::job::{Direction, Job};

/// Whose turn it is among the handles of a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handles {
    turn: usize,
}

impl Handles {
    /// The handle of the job's next request: the first one of the drive for what is no write, and
    /// where the job names none.
    #[inline]
    pub fn next(&mut self, job: &Job, direction: Direction) -> u8 {
        if job.handles.is_empty() || direction != Direction::Write {
            return 0;
        }
        let handle = job.handles[self.turn];
        self.turn = (self.turn + 1) % job.handles.len();
        handle
    }
}
