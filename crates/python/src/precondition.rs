//! What jobs write, without time: see `flashtwin_drive::precondition`.

use std::iter;

use flashtwin_drive::Drive;
use flashtwin_drive::precondition::Span;
use flashtwin_workload::job::Job;
use flashtwin_workload::{Direction, Generator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Refuses what is no preparation of whole units.
pub fn check(drive: &Drive, jobs: &[Job]) -> PyResult<()> {
    let wrong = |text: String| Err(PyValueError::new_err(text));
    let unit = u64::from(drive.map_unit_bytes());
    for job in jobs {
        let sizes = [job.block_bytes, job.offset, job.size];
        if !sizes.iter().all(|bytes| bytes.is_multiple_of(unit)) {
            let [block, offset, size] = sizes;
            return wrong(format!(
                "blocks of {block} bytes over {size} from {offset} on are not whole units of the \
                 map, which are {unit} bytes"
            ));
        }
        if job.threads != 1 || job.io_bytes.is_none() && job.runtime.is_some() {
            return wrong(format!(
                "the job {} has several threads or a time, and preparation has neither",
                job.name
            ));
        }
    }
    Ok(())
}

/// Writes what the jobs ask for, one job after another; the answer is whether all was written.
pub fn write(drive: &mut Drive, jobs: &[Job], mut go_on: impl FnMut(u64) -> bool) -> bool {
    let mut before = 0;
    jobs.iter().all(|job| {
        let mut last = 0;
        let is_complete = drive.precondition(spans(job), |bytes| {
            last = bytes;
            go_on(before + bytes)
        });
        before += last;
        is_complete
    })
}

/// The writes of a job, its placement handles in turn.
fn spans(job: &Job) -> impl Iterator<Item = Span> + '_ {
    let mut addresses = Generator::new(job, 0);
    let mut handles = job.handles.iter().copied().cycle();
    let asks = iter::from_fn(move || addresses.next(0));
    let writes = asks.filter(|ask| ask.direction == Direction::Write);
    writes.map(move |ask| Span {
        lba: ask.lba,
        sectors: ask.sectors,
        handle: handles.next().unwrap_or(0),
    })
}
