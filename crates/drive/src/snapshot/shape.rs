//! The shape of the state as a number: names and sizes of all that is saved, in order,
//! and the policies that the drive was compiled for. Two builds
//! whose states are laid out differently cannot mistake one for the other.

use std::convert::Infallible;

use crc32fast::Hasher;
use flashtwin_base::State;
use flashtwin_base::state::{Visitor, Word};
use serde::Serialize;
use serde::de::DeserializeOwned;

struct Shape(Hasher);

impl Shape {
    fn note<T>(&mut self, kind: u8, name: &str) {
        self.0.update(&[kind]);
        self.0.update(name.as_bytes());
        self.0.update(&(size_of::<T>() as u64).to_le_bytes());
    }
}

impl Visitor for Shape {
    type Error = Infallible;

    fn kept<T>(&mut self, name: &'static str, _: &mut T) -> Result<(), Infallible>
    where
        T: Serialize + DeserializeOwned,
    {
        self.note::<T>(0, name);
        Ok(())
    }

    fn sized<T>(&mut self, name: &'static str, _: &mut Vec<T>) -> Result<(), Infallible>
    where
        T: Serialize + DeserializeOwned,
    {
        self.note::<T>(1, name);
        Ok(())
    }

    fn table<T: Word>(&mut self, name: &'static str, _: &mut [T]) -> Result<(), Infallible> {
        self.note::<T>(2, name);
        Ok(())
    }

    fn differs(&self, name: &'static str) -> Infallible {
        unreachable!("a walk that loads nothing met another {name}")
    }
}

/// The shape of the state of a drive with policies `P`.
pub(crate) fn of<P, S: State>(state: &mut S) -> u32 {
    let mut shape = Shape(Hasher::new());
    // Another order of collection is another drive, even where it remembers as much.
    shape.note::<P>(3, std::any::type_name::<P>());
    let Ok(()) = state.visit(&mut shape);
    shape.0.finalize()
}
