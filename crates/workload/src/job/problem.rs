//! What can be wrong with a job, in the words of whoever wrote it.

use thiserror::Error;

use super::SECTOR_BYTES;

/// What is wrong with a job, and with which of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("job `{job}`: {field} {problem}")]
pub struct JobError {
    /// The job's name.
    pub job: String,
    /// The field as the caller spells it.
    pub field: &'static str,
    /// What is wrong with its value.
    pub problem: Problem,
}

/// What can be wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Nothing would ever happen.
    #[error("is zero")]
    Zero,
    /// A drive knows sectors only.
    #[error("is {0} bytes, not a multiple of {SECTOR_BYTES}")]
    NotWholeSectors(u64),
    /// Beyond a named limit.
    #[error("is {value}, above the limit of {limit}")]
    AboveLimit {
        /// What was asked for.
        value: u64,
        /// What is possible.
        limit: u64,
    },
    /// The span ends past the drive.
    #[error("reaches to byte {end}, but the drive has {capacity} bytes")]
    PastEnd {
        /// Where the span ends.
        end: u64,
        /// Where the drive ends.
        capacity: u64,
    },
    /// Pairs of trim and write are fio's.
    #[error("is a pattern of fio's, and this is not a fio job")]
    OnlyFio,
    /// fio has another option for it.
    #[error("is not for a job of fio's")]
    NotFio,
    /// Two options that exclude each other.
    #[error("excludes {0}")]
    Excludes(&'static str),
    /// Below what it has to be at least.
    #[error("is {value}, below {least}")]
    Below {
        /// What was asked for.
        value: u64,
        /// What it has to be at least.
        least: u64,
    },
    /// A number with its own range.
    #[error("is {0}, which is out of its range: {1}")]
    OutOfRange(String, &'static str),
    /// Only writes can be mixed with trims.
    #[error("mixes trims into writes, and this job does not only write")]
    NotWrites,
    /// Random trims take a note of each block.
    #[error("needs a note of each of {0} blocks, and 4294967294 is the most; raise block_bytes")]
    TooManyBlocks(u64),
    /// Only random requests can be divided.
    #[error("divide random requests, and this job is sequential")]
    NotRandom,
    /// Shares have to be complete.
    #[error("add up to {0} %, not to 100")]
    NotAHundred(u64),
    /// Random requests are whole blocks.
    #[error("leaves {size} bytes, less than one block of {block}")]
    BelowBlock {
        /// The span.
        size: u64,
        /// The block.
        block: u64,
    },
}

pub(crate) fn at_most(
    field: &'static str,
    value: u64,
    limit: u64,
) -> Result<(), (&'static str, Problem)> {
    if value > limit {
        Err((field, Problem::AboveLimit { value, limit }))
    } else {
        Ok(())
    }
}

pub(crate) fn above_zero(field: &'static str, value: u64) -> Result<(), (&'static str, Problem)> {
    if value == 0 {
        Err((field, Problem::Zero))
    } else {
        Ok(())
    }
}

pub(crate) fn whole_sectors(
    field: &'static str,
    value: u64,
) -> Result<(), (&'static str, Problem)> {
    if value.is_multiple_of(SECTOR_BYTES) {
        Ok(())
    } else {
        Err((field, Problem::NotWholeSectors(value)))
    }
}
