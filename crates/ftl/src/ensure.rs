//! How a check says what does not hold.

/// The result of a check: the invariant that does not hold, if any.
pub(crate) type Checked = Result<(), String>;

/// Leaves a check with a message where a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($said:tt)+) => {
        if !$holds {
            return Err(format!($($said)+));
        }
    };
}

/// Leaves a check where two values differ; the message has both.
macro_rules! ensure_eq {
    ($left:expr, $right:expr, $($said:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                let same = *left == *right;
                crate::ensure::ensure!(same, "{}: {left:?} and {right:?}", format!($($said)+));
            }
        }
    };
    ($left:expr, $right:expr $(,)?) => {
        crate::ensure::ensure_eq!($left, $right, "{}", stringify!($left));
    };
}

/// Leaves a check where two values are equal.
macro_rules! ensure_ne {
    ($left:expr, $right:expr, $($said:tt)+) => {
        crate::ensure::ensure!($left != $right, $($said)+)
    };
}

pub(crate) use {ensure, ensure_eq, ensure_ne};
