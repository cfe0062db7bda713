//! The steps of a question: writing a range in order, writing at random, resting.

use flashtwin_base::{Device, Nanos};
use flashtwin_drive::Drive;
use flashtwin_host::{Flow, Phase, Series};
use flashtwin_workload::job::{RawJob, ReadWrite};
use serde::Deserialize;

use crate::columns::{Digest, Told};

/// A step. Shares are of the drive's capacity.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// The job writes from one share of the drive to another.
    Fill { from: f64, to: f64 },
    /// The job's bytes at random over the whole drive, in blocks of 4 KiB, a share of it.
    Overwrite { share: f64 },
    /// Nothing is asked in this time.
    Rest { ns: u64 },
}

/// The values that all steps share.
pub struct Bench<'a> {
    pub job: &'a RawJob,
    pub seed: u64,
    pub sample_ns: u64,
}

/// Blocks of writes at random.
const SMALL: u64 = 4096;

impl Bench<'_> {
    /// Carries a step out, to its end.
    pub fn carry_out(
        &self,
        drive: &mut Drive,
        step: &Step,
        digest: &mut Digest,
    ) -> Result<Told, String> {
        let start = drive.now();
        drive.restart_xray(Nanos(self.sample_ns));
        let series = match *step {
            Step::Rest { ns } => {
                rest(drive, start + Nanos(ns));
                Series::default()
            }
            Step::Fill { from, to } => {
                let (from, to) = (share_of(drive, from)?, share_of(drive, to)?);
                self.write(drive, |job| {
                    job.offset = from / job.block_bytes * job.block_bytes;
                    let end = to / job.block_bytes * job.block_bytes;
                    job.size = Some(end.saturating_sub(job.offset));
                })?
            }
            Step::Overwrite { share } => {
                let bytes = share_of(drive, share)? / SMALL * SMALL;
                self.write(drive, |job| {
                    job.rw = ReadWrite::RandWrite;
                    (job.block_bytes, job.offset) = (SMALL, 0);
                    (job.size, job.io_bytes) = (None, Some(bytes));
                })?
            }
        };
        let end = drive.now();
        Ok(Told::of(start, end, series, drive.close_xray(), digest))
    }

    fn write(&self, drive: &mut Drive, range: impl FnOnce(&mut RawJob)) -> Result<Series, String> {
        let mut raw = self.job.clone();
        range(&mut raw);
        if raw.size == Some(0) {
            return Ok(Series::default());
        }
        let job = raw
            .check(drive.capacity_bytes())
            .map_err(|e| e.to_string())?;
        let phase = Phase::new(vec![job.seeded(self.seed)], Nanos(self.sample_ns));
        let phase = phase.map_err(|e| e.to_string())?;
        let start = drive.now();
        let outcome = flashtwin_host::run(drive, start, &phase, &mut |_| Flow::Continue);
        Ok(outcome.series)
    }
}

/// Bytes of a share of the drive.
fn share_of(drive: &Drive, share: f64) -> Result<u64, String> {
    if !(0.0..=1.0).contains(&share) {
        return Err(format!("{share} is no share of a drive"));
    }
    Ok((drive.capacity_bytes() as f64 * share) as u64)
}

/// Lets the time pass in which nothing is asked.
fn rest(drive: &mut Drive, end: Nanos) {
    let mut done = Vec::new();
    while drive.now() < end {
        drive.advance_some(end, &mut done);
    }
}
