//! How a registry is made: the modules, the words and the facts of what a spec chooses from.
//!
//! Each choice is a file with one constant, which says what it is called and what it does; a line
//! in the registry makes it a word of its key. From there follow the key's words and their meaning,
//! the schema, the reference page and what random drives of the soak draw.

/// `Word: Facts by method, constants CONSTANT, all in ALL { module::Variant, ... }`
macro_rules! registry {
    (
        $(#[doc = $doc:literal])*
        $word:ident: $facts:ident by $method:ident, constants $constant:ident, all in $all:ident {
            $($module:ident::$choice:ident),+ $(,)?
        }
    ) => {
        $(mod $module;)+

        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $word {
            $(#[doc = concat!("See `", stringify!($module), ".rs`.")]
            $choice,)+
        }

        /// All words.
        pub const NAMES: &[&str] = &[$($module::$constant.name),+];

        /// What all of them say of themselves, in the order of their words.
        pub const $all: &[$facts] = &[$($module::$constant),+];

        impl $word {
            /// What it says of itself.
            #[must_use]
            pub const fn $method(self) -> &'static $facts {
                match self {
                    $($word::$choice => &$module::$constant,)+
                }
            }

            /// What a spec names; none where nothing has this name.
            #[must_use]
            pub fn named(name: &str) -> Option<$word> {
                $(if name == $module::$constant.name {
                    return Some($word::$choice);
                })+
                None
            }
        }
    };
}

pub(crate) use registry;
