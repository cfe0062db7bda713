//! What has been done since the drive was built, in mapping units and superblocks.

macro_rules! counters {
    ($($(#[$meaning:meta])+ $name:ident,)+) => {
        /// Cumulative counts; a purge does not reset them.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct Counters {
            $($(#[$meaning])+ pub $name: u64,)+
        }

        impl Counters {
            /// The counts since an earlier moment.
            #[must_use]
            pub fn since(&self, earlier: &Counters) -> Counters {
                Counters { $($name: self.$name.saturating_sub(earlier.$name),)+ }
            }

            /// Adds other counts, each `times` times.
            pub fn add(&mut self, others: &Counters, times: u64) {
                $(self.$name = self.$name.saturating_add(others.$name.saturating_mul(times));)+
            }
        }
    };
}

counters! {
    /// Units that the host handed over.
    host_units,
    /// Host units that replaced older data in the write buffer, which is not programmed.
    coalesced_units,
    /// Host units programmed into SLC.
    slc_units,
    /// Host units programmed into the second tier of the cache.
    tier_units,
    /// Host units programmed straight into native blocks.
    direct_units,
    /// Units programmed by folding.
    fold_units,
    /// Units programmed by garbage collection.
    gc_units,
    /// Units programmed to level wear.
    wear_units,
    /// Units programmed because their data was at risk.
    refresh_units,
    /// Units moved out of failing superblocks, and those programmed again after a failure.
    failure_units,
    /// Host units that were overwritten between a failed program and the next one.
    dropped_units,
    /// Units of padding: a granule had to be programmed before it was full.
    pad_units,
    /// Units that compression kept off the flash, of those counted above.
    saved_units,
    /// Units programmed as parity of what is counted above.
    parity_units,
    /// Units of stripes that ended before they were full, which never got their parity.
    bare_units,
    /// Units programmed to rewrite what was half filled when the power was cut.
    recovery_units,
    /// Units programmed into the system area: journal, checkpoints, what a start after a power cut
    /// saves there.
    journal_units,
    /// Host units that were lost from the buffer in power cuts.
    lost_units,
    /// Superblocks chosen for collection; `gc_units` over this is their mean number of valid units.
    gc_victims,
    /// Units of all the counts above that were programmed in SLC mode.
    slc_mode_units,
    /// Units programmed again by later passes of their wordline. The counts above have each once.
    second_pass_units,
    /// Map pages programmed, those that collection moved among them.
    map_units,
    /// Map pages handed over to be programmed.
    map_written,
    /// Map pages of those that collection moved.
    map_moved,
    /// Reads of flash for the map: pages for commands, for the journal, rows for collection.
    map_reads,
    /// Looks into the map that found the page in the controller's RAM.
    map_hits,
    /// Looks into the map that found it in the host's memory.
    map_host_hits,
    /// Looks into the map that had to wait for a read of flash.
    map_misses,
    /// Superblocks erased after SLC use.
    slc_erases,
    /// Superblocks erased after native use.
    native_erases,
    /// Superblocks erased after use in the second tier.
    tier_erases,
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
