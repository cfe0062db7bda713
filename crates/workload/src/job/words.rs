//! The words in which a job says what it asks for: directions, orders, mixes.

use flashtwin_base::Op;
use serde::Deserialize;

/// What a request does, and the number that a series has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the drive.
    Read = 0,
    /// To the drive.
    Write = 1,
    /// Deallocation.
    Trim = 2,
}

impl Direction {
    /// All of them, in the order of their numbers.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// The name that results have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }

    /// The command that it becomes.
    #[inline]
    #[must_use]
    pub fn op(self) -> Op {
        match self {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Trim => Op::Trim,
        }
    }
}

/// Pattern and direction in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadWrite {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, both ways.
    Rw,
    /// Random, both ways.
    RandRw,
    /// Sequential deallocation.
    Trim,
    /// Random deallocation.
    RandTrim,
    /// Sequential, each block deallocated and then written.
    TrimWrite,
    /// Random, each block deallocated and then written.
    RandTrimWrite,
}

/// The order of a job's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One block after the other, from the start again after the end.
    Sequential,
    /// Uniform over the whole blocks of the span; a block may come twice.
    Random,
}

/// The directions of a job's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All the same.
    Only(Direction),
    /// So many reads in a hundred, the others writes.
    Reads(u32),
    /// So many trims in a hundred, the others writes.
    Trims(u32),
    /// A trim, then a write of the same place.
    Pairs,
}

/// A share of a job's span that gets its own share of the requests (fio's
/// `random_distribution=zoned`), in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Zone {
    /// Of the requests.
    pub access_percent: u32,
    /// Of the span.
    pub size_percent: u32,
}

impl Mix {
    /// True if such requests can occur.
    #[must_use]
    pub fn uses(self, direction: Direction) -> bool {
        match (self, direction) {
            (Mix::Only(only), _) => only == direction,
            (Mix::Reads(percent), Direction::Read) => percent > 0,
            (Mix::Reads(percent), Direction::Write) => percent < 100,
            (Mix::Reads(_), Direction::Trim) | (Mix::Trims(_), Direction::Read) => false,
            (Mix::Trims(percent), Direction::Trim) => percent > 0,
            (Mix::Trims(percent), Direction::Write) => percent < 100,
            (Mix::Pairs, _) => direction != Direction::Read,
        }
    }
}

impl ReadWrite {
    /// In which order its addresses come.
    #[must_use]
    pub fn order(self) -> Order {
        match self {
            ReadWrite::Read
            | ReadWrite::Write
            | ReadWrite::Rw
            | ReadWrite::Trim
            | ReadWrite::TrimWrite => Order::Sequential,
            _ => Order::Random,
        }
    }

    /// In which directions, with the percentages of reads and of trims where it mixes.
    #[must_use]
    pub fn mix(self, read_percent: u32, trim_percent: u32) -> Mix {
        match self {
            ReadWrite::Write | ReadWrite::RandWrite if trim_percent > 0 => Mix::Trims(trim_percent),
            ReadWrite::Read | ReadWrite::RandRead => Mix::Only(Direction::Read),
            ReadWrite::Write | ReadWrite::RandWrite => Mix::Only(Direction::Write),
            ReadWrite::Trim | ReadWrite::RandTrim => Mix::Only(Direction::Trim),
            ReadWrite::Rw | ReadWrite::RandRw => Mix::Reads(read_percent),
            ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => Mix::Pairs,
        }
    }
}
