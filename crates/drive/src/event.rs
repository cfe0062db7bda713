//! What can be due in a drive: the words between the engine, which owns the queue, and its parts.

/// Kinds of events that are pushed in the order of their times, or nearly so.
pub(crate) mod lane {
    /// What the cores do one after another: commands that they look at, operations that they
    /// prepare.
    pub(crate) const FIRMWARE: usize = 0;
    /// Ends of transfers over the link, to the host: from it there is one at a time.
    pub(crate) const LINK: usize = 1;
}

/// What can be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Event {
    /// The firmware has understood a command.
    Command(u32),
    /// The data of part of a write has arrived.
    Arrived,
    /// The firmware has prepared a flash operation.
    Prepared,
    /// A die has sensed its pages.
    Sensed(u16),
    /// A die may take the next program's data.
    RegisterFree(u16),
    /// A die has ended its operation.
    Done(u16),
    /// A plane of a die, the first of a read that goes on beside others, has sensed its page.
    PlaneSensed(u16, u16),
    /// The page of such a read has crossed the channel.
    PlaneDone(u16, u16),
    /// A die has suspended its operation: the array is free for reads.
    Suspended(u16),
    /// A die has rested while the drive is throttled.
    Rested(u16),
    /// A command has ended in the drive.
    Answer(u32),
    /// The host hears of the end of a command.
    Seen(u32),
    /// A TRIM that runs alone has had its time.
    Trimmed(u32),
    /// Commands that were held back may begin.
    Release,
    /// A page of the map has come from the host's memory into its slot.
    MapFetched(u32),
    /// A group of flushes takes no more.
    FlushGathered,
    /// A partly filled granule may have waited long enough.
    GatherTimer,
    /// The drive may have been idle long enough.
    IdleTimer,
    /// The host may have kept the drive busy for too long to offer time beside it.
    BusyTimer,
    /// Data may have to be refreshed.
    RefreshTimer,
    /// More may be folded in the background.
    FoldTimer,
}
