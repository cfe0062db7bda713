//! libFuzzer on the jobs of a phase; half of the mutations know their fields.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    flashtwin_fuzz::jobs::check(data);
});

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    flashtwin_fuzz::mutated(data, size, most, seed, flashtwin_fuzz::jobs::mutate)
});
