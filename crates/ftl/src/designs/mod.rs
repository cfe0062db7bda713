//! The designs of SLC caches: one file each, and a line in the registry below.
//!
//! A design says which superblocks serve in SLC mode. What it is called and what it takes are said
//! in its file as a [`Design`]; from the registry follow the words of `slc_cache.mode`, which keys
//! of a spec a design has a use for, the schema, the reference page and what random drives of the
//! soak draw. What happens when a cache is full, what enters it and whether a second tier follows
//! are keys of their own, which go with every design that caches.

/// Which free native superblocks a cache takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Borrows {
    /// None.
    Nothing,
    /// As many as a size says, `slc_cache.size` or `slc_cache.size_by_fill`.
    Sized,
    /// Any that is free.
    All,
}

/// A design as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Its word in a spec.
    pub name: &'static str,
    /// Where it takes its blocks, as the end of a sentence.
    pub takes: &'static str,
    /// It has superblocks that always serve in SLC mode, as many as `slc_cache.static_size` says.
    pub owns: bool,
    /// It takes native superblocks that are free.
    pub borrows: Borrows,
    /// Host data takes the lower pages of all superblocks first, their upper pages when no other is
    /// free.
    pub lower_pages_first: bool,
}

impl Design {
    /// A design that takes nothing, to begin from.
    const NOTHING: Design = Design {
        name: "",
        takes: "",
        owns: false,
        borrows: Borrows::Nothing,
        lower_pages_first: false,
    };

    /// Whether anything is written in SLC mode, and folded out of it.
    #[must_use]
    pub fn caches(&self) -> bool {
        self.owns || self.lends()
    }

    /// Whether folding gives native superblocks back.
    #[must_use]
    pub fn lends(&self) -> bool {
        self.borrows != Borrows::Nothing
    }

    /// Whether `slc_cache.size` says how large the borrowed part is.
    #[must_use]
    pub fn is_sized(&self) -> bool {
        self.borrows == Borrows::Sized
    }
}

crate::registry::registry! {
    /// Where the SLC cache takes its blocks from.
    CacheMode: Design by design, constants DESIGN, all in DESIGNS {
        none::None,
        own_blocks::Static,
        dynamic::Dynamic,
        hybrid::Hybrid,
        whole_drive::WholeDrive,
        lower_pages::LowerPages,
    }
}
