//! Bit errors, what corrects them, and refresh.

use crate::spec::key::Kind::{Factor, Flag};
use crate::spec::key::{Key, Name, count, fixed, policy, section, temperature, time};
use crate::spec::mechanism::Case;

section! {
    /// Bit errors, what corrects them, and refresh.
    Errors in "errors" {
        /// Wrong bits a KiB that a first decode corrects; 0 leaves bit errors out altogether.
        correctable: u64 = fixed(count(0, 4096), "72").or("0");
        /// Pages have up to this share more or fewer wrong bits than the average one.
        page_spread: u64 = fixed(Factor, "0.3").or("0")
            .within(0..=1000, "a share above 1",
                "write 1 or less");
        /// The power of wear (cycles over rated cycles) with which wrong bits rise.
        wear_power: u64 = fixed(Factor, "2.05").or("2.05");
        /// The power of time with which wrong bits rise.
        retention_power: u64 = fixed(Factor, "0.54").or("0.54")
            .within(1..=u64::MAX, "with a power of 0 retention does not grow with time",
                "write a power like 0.5, or 0 as the retention of each mode");
        /// Energy in electronvolts, at most 3, with which the loss of charge goes faster in a warm
        /// drive and slower in a cold one (law of Arrhenius); 0 = heat does nothing.
        activation_energy: u64 = fixed(Factor, "1.1").or("1.1")
            .within(0..=3000, "more than 3 eV",
                "write 1.1, as JESD218 reckons, or 0 where heat does nothing");
        /// Temperature that the rates of retention hold for.
        retention_temperature: u64 = fixed(temperature().or_zero(), "30 C").or("30 C");
        /// Steps of the read-retry ladder before a soft decode.
        retry_steps: u64 = fixed(count(0, 32), "8").or("8");
        /// How many times fewer wrong bits each step finds.
        retry_gain: u64 = fixed(Factor, "1.5").or("1.5")
            .within(1000..=u64::MAX, "less than 1 makes reads worse",
                "write 1 for none, or more");
        /// Time of a step on the die: sense, transfer, decode.
        retry_time: u64 = fixed(time(), "80 us").or("80 us");
        /// How many times more wrong bits a soft decode corrects.
        soft_gain: u64 = fixed(Factor, "2").or("2")
            .within(1000..=u64::MAX, "less than 1 makes reads worse",
                "write 1 for none, or more");
        /// Time of the further senses of a soft decode.
        soft_time: u64 = fixed(time(), "400 us").or("400 us");
        /// Data is written anew when it has this many times the correctable bits, above 1 when
        /// reads of it take steps of the ladder; 0 = never.
        refresh_at: u64 = policy(Factor, "0.8").or("0");
        /// Data that the code cannot correct is made anew from the other granules of its stripe
        /// and moved. Needs `ftl.parity` and `errors.correctable`.
        rebuild: bool = policy(Flag, "true")
            .or("false")
            .off(&[Case::NoBitErrors, Case::NoParity])
            .waits(&[
                (Case::NoBitErrors, "there are no bit errors (errors.correctable = 0)"),
                (Case::NoParity, "there is no parity to rebuild from (ftl.parity = none)"),
            ]);
    }
}

section! {
    /// Bit errors of blocks in SLC mode.
    ErrorsSlc in "errors.slc" {
        /// Wrong bits a KiB of new cells in SLC mode.
        fresh: u64 = fixed(Factor, "0.1").or("0.1");
        /// Wrong bits a KiB added in SLC mode at the end of the rated life.
        wear: u64 = fixed(Factor, "1").or("1");
        /// Wrong bits a KiB added in SLC mode by a year in new cells.
        retention_fresh: u64 = fixed(Factor, "0.3").or("0.3");
        /// Wrong bits a KiB added in SLC mode by a year on top of that, at the end of the rated
        /// life; in proportion to wear before.
        retention: u64 = fixed(Factor, "0.7").or("0.7");
        /// Wrong bits a KiB added in SLC mode by a million reads of a block of new cells.
        disturb_fresh: u64 = fixed(Factor, "0.1").or("0.1");
        /// Wrong bits a KiB added in SLC mode by a million reads of a block on top of that, at the
        /// end of the rated life; in proportion to wear before.
        disturb: u64 = fixed(Factor, "1").or("1");
        /// Reads of a block in SLC mode after which its data is written anew (read reclaim), looked
        /// at every 4096 reads; 0 = never. Needs `errors.correctable`.
        read_limit: u64 = policy(count(0, 1_000_000_000), "100000")
            .or("0")
            .off(&[Case::NoBitErrors]);
    }
}

section! {
    /// Bit errors of blocks in native mode.
    ErrorsNative in "errors.native" {
        /// Wrong bits a KiB of new cells in native mode.
        fresh: u64 = fixed(Factor, "12.1").or("12.1");
        /// Wrong bits a KiB added in native mode at the end of the rated life.
        wear: u64 = fixed(Factor, "42.7").or("42.7");
        /// Wrong bits a KiB added in native mode by a year in new cells.
        retention_fresh: u64 = fixed(Factor, "12.5").or("12.5");
        /// Wrong bits a KiB added in native mode by a year on top of that, at the end of the rated
        /// life; in proportion to wear before.
        retention: u64 = fixed(Factor, "25.7").or("25.7");
        /// Wrong bits a KiB added in native mode by a million reads of a block of new cells.
        disturb_fresh: u64 = fixed(Factor, "1").or("1");
        /// Wrong bits a KiB added in native mode by a million reads of a block on top of that, at
        /// the end of the rated life; in proportion to wear before.
        disturb: u64 = fixed(Factor, "13").or("13");
        /// Reads of a block in native mode after which its data is written anew (read reclaim),
        /// looked at every 4096 reads; 0 = never. Needs `errors.correctable`.
        read_limit: u64 = policy(count(0, 1_000_000_000), "100000")
            .or("0")
            .off(&[Case::NoBitErrors]);
    }
}
