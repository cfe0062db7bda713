//! libFuzzer on drive specs; half of the mutations know the table of keys.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    flashtwin_fuzz::spec::check(data);
});

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    flashtwin_fuzz::mutated(data, size, most, seed, flashtwin_fuzz::spec::mutate)
});
