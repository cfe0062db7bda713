//! libFuzzer on what NBD clients send.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    flashtwin_fuzz::nbd::check(data);
});
