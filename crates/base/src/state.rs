//! State that can be taken out of a simulation and put back into another one of the same build.
//!
//! What is saved and what is loaded are the same walk over the same fields, so that the two cannot
//! come apart: [`State::visit`] shows every field that changes in a run to a [`Visitor`], which
//! writes it down or overwrites it. What follows from the configuration is not shown; a load begins
//! with a fresh simulation, in which all of that is as it should be, and whose tables have their
//! sizes.
//!
//! [`state!`](crate::state!) names every field of a struct and says which kind it is. It takes the
//! struct apart without a rest pattern: a field that is added later has to be given a kind before
//! anything builds.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An element of a large table, stored in little-endian order.
pub trait Word: Copy {
    /// Bytes of an element.
    const BYTES: usize;
    /// The difference to the element before it: tables are mostly runs of numbers in order.
    #[must_use]
    fn less(self, before: Self) -> Self;
    /// The sum that undoes [`Word::less`].
    #[must_use]
    fn plus(self, before: Self) -> Self;
    /// Writes the element into [`Word::BYTES`] bytes.
    fn put(self, bytes: &mut [u8]);
    /// Reads the element from [`Word::BYTES`] bytes.
    #[must_use]
    fn get(bytes: &[u8]) -> Self;
    /// Nothing.
    const ZERO: Self;
}

macro_rules! words {
    ($($int:ty),+) => {
        $(impl Word for $int {
            const BYTES: usize = size_of::<$int>();
            const ZERO: $int = 0;
            #[inline]
            fn less(self, before: $int) -> $int {
                self.wrapping_sub(before)
            }
            #[inline]
            fn plus(self, before: $int) -> $int {
                self.wrapping_add(before)
            }
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn get(bytes: &[u8]) -> $int {
                let mut word = [0; size_of::<$int>()];
                word.copy_from_slice(bytes);
                <$int>::from_le_bytes(word)
            }
        })+
    };
}
words!(u8, u32, u64);

/// What is done with the fields of a state. Names are those of the source, for messages and for
/// telling one layout of the state from another.
pub trait Visitor {
    /// Why it could not be done.
    type Error;

    /// A value as it stands, of any size.
    fn kept<T>(&mut self, name: &'static str, value: &mut T) -> Result<(), Self::Error>
    where
        T: Serialize + DeserializeOwned;

    /// A vector whose length follows from the configuration.
    fn sized<T>(&mut self, name: &'static str, values: &mut Vec<T>) -> Result<(), Self::Error>
    where
        T: Serialize + DeserializeOwned;

    /// A large table of numbers whose length follows from the configuration.
    fn table<T: Word>(&mut self, name: &'static str, table: &mut [T]) -> Result<(), Self::Error>;

    /// What is saved has another shape than the simulation that it is to be loaded into.
    fn differs(&self, name: &'static str) -> Self::Error;
}

/// State that can be saved and loaded.
pub trait State {
    /// Shows all that changes in a run to a visitor, always in one order.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error>;
}

impl<T: State> State for Box<T> {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        (**self).visit(visitor)
    }
}

/// True if there is something follows from the configuration.
impl<T: State> State for Option<T> {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        let mut present = self.is_some();
        visitor.kept("present", &mut present)?;
        match self {
            Some(state) if present => state.visit(visitor),
            None if !present => Ok(()),
            _ => Err(visitor.differs(std::any::type_name::<T>())),
        }
    }
}

impl<T: State> State for [T] {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self.iter_mut().try_for_each(|state| state.visit(visitor))
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self[..].visit(visitor)
    }
}

/// How many there are follows from the configuration.
impl<T: State> State for Vec<T> {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self[..].visit(visitor)
    }
}

/// Says of every field of a struct what becomes of it when its state is saved:
///
/// - `kept`: it is saved, whatever it is;
/// - `sized`: it is saved, and its length follows from the configuration;
/// - `table`: the same of a large table of numbers;
/// - `part`: it is a state itself;
/// - `built`: it is not saved, because it follows from the configuration, or because it is nothing
///   while no command is outstanding.
#[macro_export]
macro_rules! state {
    ($type:ident $(<$param:ident: $bound:path>)? {
        $(kept: $($kept:ident),+;)?
        $(sized: $($sized:ident),+;)?
        $(table: $($table:ident),+;)?
        $(part: $($part:ident),+;)?
        $(built: $($built:ident),+;)?
    }) => {
        impl$(<$param: $bound>)? $crate::state::State for $type$(<$param>)? {
            fn visit<V: $crate::state::Visitor>(
                &mut self,
                visitor: &mut V,
            ) -> Result<(), V::Error> {
                let $type {
                    $($($kept,)+)?
                    $($($sized,)+)?
                    $($($table,)+)?
                    $($($part,)+)?
                    $($($built: _,)+)?
                } = self;
                let _ = &visitor;
                $($(visitor.kept(concat!(stringify!($type), ".", stringify!($kept)), $kept)?;)+)?
                $($(visitor.sized(concat!(stringify!($type), ".", stringify!($sized)), $sized)?;)+)?
                $($(visitor.table(concat!(stringify!($type), ".", stringify!($table)), $table)?;)+)?
                $($($part.visit(visitor)?;)+)?
                Ok(())
            }
        }
    };
}
