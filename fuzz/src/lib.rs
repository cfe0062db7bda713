//! What must hold for any input from outside: specs, snapshots, jobs, traces, clients.
//!
//! Each target is a plain function of bytes that panics where something is wrong. libFuzzer
//! (`targets/`, built by `./dev fuzz` with the feature `libfuzzer`) feeds it what it makes up; the
//! tests replay the corpus through the same function, with nothing but cargo. An input that once
//! broke something stays in `corpus/` under a name that says what it was.

mod draw;
pub mod jobs;
pub mod nbd;
pub mod snapshot;
pub mod spec;
pub mod stored;
pub mod trace;

/// A mutation for libFuzzer: every other one is ours, where it can be done and has room.
#[cfg(feature = "libfuzzer")]
pub fn mutated(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    mutate: fn(&[u8], u64) -> Option<Vec<u8>>,
) -> usize {
    let ours = seed
        .is_multiple_of(2)
        .then(|| mutate(&data[..size], seed.into()))
        .flatten();
    match ours.filter(|new| new.len() <= most) {
        Some(new) => {
            data[..new.len()].copy_from_slice(&new);
            new.len()
        }
        None => libfuzzer_sys::fuzzer_mutate(data, size, most),
    }
}
