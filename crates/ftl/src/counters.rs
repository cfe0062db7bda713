//! What has been done since the drive was built, in mapping units and superblocks.

/// Cumulative counts; a purge does not reset them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counters {
    /// Units that the host handed over.
    pub host_units: u64,
    /// Host units that replaced older data in the write buffer, which is not programmed.
    pub coalesced_units: u64,
    /// Host units programmed into SLC.
    pub slc_units: u64,
    /// Host units programmed into the second tier of the cache.
    pub tier_units: u64,
    /// Host units programmed straight into native blocks.
    pub direct_units: u64,
    /// Units programmed by folding.
    pub fold_units: u64,
    /// Units programmed by garbage collection.
    pub gc_units: u64,
    /// Units programmed to level wear.
    pub wear_units: u64,
    /// Units programmed because their data was at risk.
    pub refresh_units: u64,
    /// Units moved out of failing superblocks, and those programmed again after a failure.
    pub failure_units: u64,
    /// Host units that were overwritten between a failed program and the next one.
    pub dropped_units: u64,
    /// Units of padding: a granule had to be programmed before it was full.
    pub pad_units: u64,
    /// Units that compression kept off the flash, of those counted above.
    pub saved_units: u64,
    /// Units programmed as parity of what is counted above.
    pub parity_units: u64,
    /// Units of stripes that ended before they were full, which never got their parity.
    pub bare_units: u64,
    /// Units programmed to rewrite what was half filled when the power was cut.
    pub recovery_units: u64,
    /// Units programmed into the system area: journal, checkpoints, what a start after a power cut
    /// saves there.
    pub journal_units: u64,
    /// Host units that were lost from the buffer in power cuts.
    pub lost_units: u64,
    /// Superblocks chosen for collection; `gc_units` over this is their mean number of valid units.
    pub gc_victims: u64,
    /// Units of all the counts above that were programmed in SLC mode.
    pub slc_mode_units: u64,
    /// Units programmed again by later passes of their wordline. The counts above have each once.
    pub second_pass_units: u64,
    /// Map pages programmed, those that collection moved among them.
    pub map_units: u64,
    /// Map pages handed over to be programmed.
    pub map_written: u64,
    /// Map pages of those that collection moved.
    pub map_moved: u64,
    /// Reads of flash for the map: pages for commands, for the journal, rows for collection.
    pub map_reads: u64,
    /// Looks into the map that found the page in the controller's RAM.
    pub map_hits: u64,
    /// Looks into the map that found it in the host's memory.
    pub map_host_hits: u64,
    /// Looks into the map that had to wait for a read of flash.
    pub map_misses: u64,
    /// Superblocks erased after SLC use.
    pub slc_erases: u64,
    /// Superblocks erased after native use.
    pub native_erases: u64,
    /// Superblocks erased after use in the second tier.
    pub tier_erases: u64,
}

impl Counters {
    /// Programmed units by what caused them: write amplification in its parts, as if nothing were
    /// compressed.
    #[must_use]
    pub fn by_cause(&self) -> [(&'static str, u64); 13] {
        [
            ("slc", self.slc_units),
            ("tier", self.tier_units),
            ("direct", self.direct_units),
            ("fold", self.fold_units),
            ("gc", self.gc_units),
            ("wear", self.wear_units),
            ("refresh", self.refresh_units),
            ("failure", self.failure_units),
            ("map", self.map_units),
            ("pad", self.pad_units),
            ("parity", self.parity_units),
            ("journal", self.journal_units),
            ("recovery", self.recovery_units),
        ]
    }

    /// What was programmed, in units of the flash: what compression saved is not among them.
    #[must_use]
    pub fn programmed_units(&self) -> u64 {
        let units: u64 = self.by_cause().iter().map(|&(_, units)| units).sum();
        units - self.saved_units
    }
}
