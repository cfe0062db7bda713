//! libFuzzer on what data directories of served drives hold.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    flashtwin_fuzz::stored::check(data);
});
