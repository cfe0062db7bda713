//! Large tables and how they are reached. `unsafe` is here only in what is asked of the
//! kernel (huge pages) and of the processor (prefetch).
//!
//! The map of a full-size drive is hundreds of times larger than a cache, and its entries are
//! reached at random: each costs a trip to memory, and one for the address of its page as well.
//! Huge pages save the second, a prefetch as soon as the address is known hides the first.

/// A table of `len` equal elements, on huge pages where the system grants them.
#[must_use]
pub fn table<T: Copy>(len: usize, element: T) -> Vec<T> {
    let mut table = Vec::with_capacity(len);
    want_huge_pages(&table);
    table.resize(len, element);
    table
}

/// True if the system grants this many bytes now. They are asked for and given back without being
/// touched, so that a limit of the process or of the system says no here and not in the middle of
/// a table.
#[must_use]
pub fn has_room(bytes: u64) -> bool {
    let mut asked: Vec<u8> = Vec::new();
    usize::try_from(bytes).is_ok_and(|bytes| asked.try_reserve_exact(bytes).is_ok())
}

/// Makes room for one more element, as a push does, in steps that double; false where it cannot be
/// had, and then nothing has changed. A push behind it does not end the process.
#[inline]
#[must_use]
pub fn grows<T>(column: &mut Vec<T>) -> bool {
    column.len() < column.capacity() || column.try_reserve(1).is_ok()
}

/// Asks for huge pages under a vector's allocation, before it is written for the first time.
#[allow(unsafe_code)]
fn want_huge_pages<T>(table: &Vec<T>) {
    const HUGE_PAGE: usize = 2 << 20;
    #[cfg(target_os = "linux")]
    {
        let start = (table.as_ptr() as usize).next_multiple_of(HUGE_PAGE);
        let end = (table.as_ptr() as usize + table.capacity() * size_of::<T>()) & !(HUGE_PAGE - 1);
        if start < end {
            // SAFETY: the range lies inside a live allocation of ours, and the advice changes no
            // byte of it. The answer does not matter: without huge pages the table is as good,
            // only slower.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (table, HUGE_PAGE);
}

/// Brings the line of `slice[index]` towards the cache; out of range it brings some other line, or
/// none.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    prefetch_to::<1, T>(slice, index);
}

/// The same where many lines are asked for at once: towards the second level of the cache. The
/// first level looks for a dozen lines at a time, and drops what is asked for beyond them.
#[inline]
pub fn prefetch_among<T>(slice: &[T], index: usize) {
    prefetch_to::<2, T>(slice, index);
}

#[inline]
#[allow(unsafe_code)]
fn prefetch_to<const LEVEL: u8, T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let element = slice.as_ptr().wrapping_add(index).cast();
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address is.
        unsafe {
            match LEVEL {
                1 => _mm_prefetch::<_MM_HINT_T0>(element),
                _ => _mm_prefetch::<_MM_HINT_T1>(element),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
