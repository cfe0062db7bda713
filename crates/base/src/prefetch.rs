//! Asking for a cache line before it is needed. The one place with `unsafe` in the workspace.
//!
//! A page map is far larger than any cache: the entry of a random unit costs a trip to memory. A drive
//! knows the address of a command long before it needs the entry, so the trip can be made meanwhile.

/// Brings the line of `slice[index]` towards the cache; out of range it does nothing.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault; the address is that of a live element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
