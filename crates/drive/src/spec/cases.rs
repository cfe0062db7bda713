//! Cases in which keys have nothing to act on, since something that they need is not there or
//! something else is.
//!
//! A key that has nothing to do in a case says so where it is declared: `Key::off` where its value
//! could only contradict, so that a layer which brings the case about turns the key off
//! (`dependents`), and `Key::waits` where it does nothing until the case has passed (`waits`).

use flashtwin_ftl::policy::{Parity, ReadOnlyAt, Residency};

use super::check::link::NCQ;
use super::check::{flash, map};
use super::keys::{
    Compression, Controller, Errors, Fdp, Fold, Ftl, Link, Map, Nand, NandNative, NandTier,
    SlcCache, Wear,
};
use super::mechanism::{Case, Part};
use super::values::Values;
use super::words::{MapMode, Path};
use crate::config::{Acknowledge, Flushing, LinkKind};

macro_rules! cases {
    ($($case:ident($($switch:expr),+) = $holds:expr;)+) => {
        impl Case {
            /// All of them: one comes before those that depend on keys which are off in it.
            pub(super) const ALL: &[Case] = &[$(Case::$case),+];

            /// The keys that decide on it: setting one of these is what can bring it about.
            pub(super) fn switches(self) -> &'static [&'static str] {
                match self {
                    $(Case::$case => &[$($switch.name),+],)+
                }
            }

            /// Whether the values are in it; none where one that it depends on was refused.
            pub(super) fn holds(self, values: &Values) -> Option<bool> {
                let holds: fn(&Values) -> Option<bool> = match self {
                    $(Case::$case => $holds,)+
                };
                holds(values)
            }
        }
    };
}

cases! {
    OneMode(Nand::cell) = |values| Some(flash::bits(values)? == 1);
    NoTierBetween(Nand::cell) = |values| {
        Some(u128::from(values.of(NandTier::bits)?) >= flash::bits(values)?)
    };
    NoCache(SlcCache::mode) = |values| Some(!Part::Cache.is_there(values)?);
    ParityOfFolds(Ftl::parity, SlcCache::mode) = |values| {
        Some(values.of(Ftl::parity)? != Parity::None && Part::Cache.is_there(values)?)
    };
    NoCopyback(Fold::path) = |values| Some(values.of(Fold::path)? == Path::Controller);
    NoChecks(Fold::check_every) = |values| Some(values.of(Fold::check_every)? == 0);
    NoBitErrors(Errors::correctable) = |values| Some(values.of(Errors::correctable)? == 0);
    NoParity(Ftl::parity) = |values| Some(values.of(Ftl::parity)? == Parity::None);
    HasParity(Ftl::parity) = |values| Some(values.of(Ftl::parity)? != Parity::None);
    LowerPagesFirst(SlcCache::mode) = |values| Some(SlcCache::read(values).mode?.lower_pages_first);
    Compresses(Compression::best_ratio) = |values| Some(values.of(Compression::best_ratio)? > 1);
    NativeMap(Map::residency, Map::mode) = |values| {
        Some(map::is_paged(values)? && values.of(Map::mode)? == MapMode::Native)
    };
    OneShot(NandNative::tprog) = |values| Some(!flash::pages_one_by_one(values)?);
    HasCapacitors(Controller::plp) = |values| values.of(Controller::plp);
    NoCheckpoints(Ftl::checkpoint) = |values| Some(values.of(Ftl::checkpoint)? == 0);
    NoSecondPass(NandNative::second_pass) = |values| Some(values.of(NandNative::second_pass)? == 0);
    NoThirdPass(NandNative::third_pass) = |values| Some(values.of(NandNative::third_pass)? == 0);
    WritesThrough(Controller::acknowledge) = |values| {
        Some(values.of(Controller::acknowledge)? == Acknowledge::WriteThrough)
    };
    Ungrouped(Controller::flush) = |values| {
        Some(values.of(Controller::flush)? != Flushing::Grouped)
    };
    NoReadAhead(Controller::read_ahead) = |values| Some(values.of(Controller::read_ahead)? == 0);
    ReadsWait(Controller::read_priority) = |values| Some(!values.of(Controller::read_priority)?);
    OnlySilence(Controller::idle_share) = |values| Some(values.of(Controller::idle_share)? == 0);
    Sata(Link::kind) = is_sata;
    DeepSata(Link::kind) = |values| Some(is_sata(values)? && values.of(Link::queue_depth)? > NCQ);
    SataWithHostMemory(Link::kind) = |values| {
        Some(is_sata(values)? && values.of(Map::residency)? == Residency::HostMemory)
    };
    NoHandles(Fdp::handles) = |values| Some(values.of(Fdp::handles)? == 1);
    NoSparesToLose(Wear::spares) = |values| {
        let without = values.of(Wear::spares)? == 0;
        Some(without && values.of(Wear::read_only_at)? == ReadOnlyAt::SparesGone)
    };
}

impl Case {
    /// Those that come before the parts that a cache lacks.
    pub(super) const BEFORE_PARTS: &[Case] = &[Case::OneMode, Case::NoTierBetween];
}

fn is_sata(values: &Values) -> Option<bool> {
    Some(values.of(Link::kind)? == LinkKind::Sata)
}
