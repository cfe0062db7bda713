//! What is run at once: jobs side by side and the grain of their series.

use flashtwin_base::Nanos;
use flashtwin_workload::{Direction, Job};

/// Requests that all jobs of a phase may keep outstanding together.
pub const MAX_OUTSTANDING: u64 = 1 << 20;

/// Jobs that run side by side. Built by [`Phase::new`], so that it can be run as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    jobs: Vec<Job>,
    sample: Nanos,
}

/// Why jobs cannot be run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhaseError {
    /// There is nothing to run.
    #[error("a phase has no job")]
    NoJobs,
    /// A series needs an interval.
    #[error("the sample interval is zero")]
    NoInterval,
    /// One loop runs fio's processes, another one a battery's jobs.
    #[error("jobs of fio's and others do not run side by side")]
    Mixed,
    /// A job can wait for those before it only.
    #[error("job {0} of the phase waits for one that does not stand before it")]
    WaitsAhead(usize),
    /// Beyond the named limit.
    #[error("the jobs keep {0} requests outstanding, above the limit of {MAX_OUTSTANDING}")]
    TooManyOutstanding(u64),
}

impl Phase {
    /// A phase of these jobs, sampled every `sample`.
    pub fn new(jobs: Vec<Job>, sample: Nanos) -> Result<Phase, PhaseError> {
        let outstanding = jobs
            .iter()
            .map(|job| u64::from(job.depth) * u64::from(job.threads))
            .sum();
        let of_fio = jobs.iter().filter(|job| job.fio.is_some()).count();
        let ahead = jobs.iter().enumerate().position(|(place, job)| {
            let gate = job.fio.as_ref().map(|fio| &fio.gate);
            gate.is_some_and(|gate| gate.waits_for.iter().any(|one| *one as usize >= place))
        });
        if let Some(place) = ahead {
            Err(PhaseError::WaitsAhead(place))
        } else if jobs.is_empty() {
            Err(PhaseError::NoJobs)
        } else if of_fio > 0 && of_fio < jobs.len() {
            Err(PhaseError::Mixed)
        } else if sample == Nanos::ZERO {
            Err(PhaseError::NoInterval)
        } else if outstanding > MAX_OUTSTANDING {
            Err(PhaseError::TooManyOutstanding(outstanding))
        } else {
            Ok(Phase { jobs, sample })
        }
    }

    /// How often what fio counts is told: the shortest interval that any job asks for.
    #[must_use]
    pub fn status(&self) -> Option<Nanos> {
        let asked = self.jobs.iter().filter_map(|job| job.fio.as_ref());
        let intervals = asked.map(|fio| fio.logs.status_ns).filter(|ns| *ns > 0);
        intervals.min().map(Nanos)
    }

    /// The jobs, in the order of their totals.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The interval of the series.
    #[must_use]
    pub fn sample(&self) -> Nanos {
        self.sample
    }

    /// True if the jobs are fio's.
    #[must_use]
    pub fn is_fio(&self) -> bool {
        self.jobs.iter().all(|job| job.fio.is_some())
    }

    /// True if any job asks for such requests.
    #[must_use]
    pub fn uses(&self, direction: Direction) -> bool {
        self.jobs.iter().any(|job| {
            let replays = job.fio.as_ref().and_then(|fio| fio.replays());
            replays.map_or(job.mix.uses(direction), |uses| uses[direction as usize])
        })
    }
}
