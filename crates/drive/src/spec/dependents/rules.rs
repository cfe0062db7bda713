//! Rules by which a mechanism that is switched off takes the keys that depend on it with it.

use flashtwin_ftl::policy::{Parity, ReadOnlyAt, Residency};

use super::super::check::link::NCQ;
use super::super::check::{flash, map};
use super::super::parts::Part;
use super::super::value::Values;
use super::super::words::{MapMode, Path};
use crate::config::{Acknowledge, LinkKind};
use crate::spec::keys::{
    Compression, Controller, Errors, ErrorsNative, ErrorsSlc, Fdp, Fold, Ftl, Link, Map, Nand,
    NandNative, NandSuspend, NandTier, SlcCache, Wear,
};

/// While `off` holds, the keys of `dependents` could only contradict; they take the value beside
/// them. `off` knows only keys of `switches`: setting one of these is what can turn something off.
pub(super) struct Rule {
    pub switches: &'static [&'static str],
    pub off: fn(&Values) -> Option<bool>,
    pub dependents: &'static [(&'static str, &'static str)],
}

/// Rules that are applied before the keys of parts that a cache lacks (`Key::only`) are turned off.
/// A rule comes before those that depend on its keys.
pub(super) const BEFORE_PARTS: &[Rule] = &[
    // Flash of one bit a cell has no other mode.
    Rule {
        switches: &[Nand::cell.name],
        off: |values| Some(flash::bits(values)? == 1),
        dependents: &[(SlcCache::mode.name, "\"none\"")],
    },
    // A second tier lies between SLC and the native mode.
    Rule {
        switches: &[Nand::cell.name],
        off: |values| {
            let tier = values.of(NandTier::bits)?;
            Some(u128::from(tier) >= flash::bits(values)?)
        },
        dependents: &[(NandTier::bits.name, "0")],
    },
];

/// Rules that are applied after that, in the same order.
pub(super) const AFTER_PARTS: &[Rule] = &[
    // Parity is made in the controller, which a copy inside a die passes by.
    Rule {
        switches: &[Ftl::parity.name, SlcCache::mode.name],
        off: |values| {
            Some(values.of(Ftl::parity)? != Parity::None && Part::Cache.is_there(values)?)
        },
        dependents: &[(Fold::path.name, "\"controller\"")],
    },
    Rule {
        switches: &[Fold::path.name],
        off: |values| Some(values.of(Fold::path)? == Path::Controller),
        dependents: &[(Fold::check_every.name, "0")],
    },
    Rule {
        switches: &[Fold::check_every.name],
        off: |values| Some(values.of(Fold::check_every)? == 0),
        dependents: &[(Fold::check_errors.name, "0")],
    },
    Rule {
        switches: &[Errors::correctable.name],
        off: |values| Some(values.of(Errors::correctable)? == 0),
        dependents: &[
            (Errors::rebuild.name, "false"),
            (Fold::check_errors.name, "0"),
            (ErrorsSlc::read_limit.name, "0"),
            (ErrorsNative::read_limit.name, "0"),
        ],
    },
    Rule {
        switches: &[Ftl::parity.name],
        off: |values| Some(values.of(Ftl::parity)? == Parity::None),
        dependents: &[(Errors::rebuild.name, "false")],
    },
    // Pages that wait for the others of their wordline: not where lower pages come first, nor in
    // compressed rows, nor pages of the map.
    Rule {
        switches: &[SlcCache::mode.name],
        off: |values| Some(SlcCache::read(values).mode?.lower_pages_first),
        dependents: &[
            (Ftl::paired_pages.name, "\"protected\""),
            (Ftl::superblock_dies.name, "0"),
        ],
    },
    Rule {
        switches: &[Compression::best_ratio.name],
        off: |values| Some(values.of(Compression::best_ratio)? > 1),
        dependents: &[(Ftl::paired_pages.name, "\"protected\"")],
    },
    Rule {
        switches: &[Map::residency.name, Map::mode.name],
        off: |values| Some(map::is_paged(values)? && values.of(Map::mode)? == MapMode::Native),
        dependents: &[(Ftl::paired_pages.name, "\"protected\"")],
    },
    Rule {
        switches: &[Ftl::checkpoint.name],
        off: |values| Some(values.of(Ftl::checkpoint)? == 0),
        dependents: &[(Ftl::trim_journal.name, "false")],
    },
    Rule {
        switches: &[NandNative::second_pass.name],
        off: |values| Some(values.of(NandNative::second_pass)? == 0),
        dependents: &[(NandNative::third_pass.name, "0")],
    },
    Rule {
        switches: &[NandNative::third_pass.name],
        off: |values| Some(values.of(NandNative::third_pass)? == 0),
        dependents: &[(NandNative::fourth_pass.name, "0")],
    },
    Rule {
        switches: &[Controller::acknowledge.name],
        off: |values| Some(values.of(Controller::acknowledge)? == Acknowledge::WriteThrough),
        dependents: &[(Controller::gather.name, "false")],
    },
    Rule {
        switches: &[Controller::read_ahead.name],
        off: |values| Some(values.of(Controller::read_ahead)? == 0),
        dependents: &[(Controller::read_ahead_streams.name, "0")],
    },
    Rule {
        switches: &[Controller::read_priority.name],
        off: |values| Some(!values.of(Controller::read_priority)?),
        dependents: &[
            (NandSuspend::program.name, "false"),
            (NandSuspend::erase.name, "false"),
        ],
    },
    // SATA has one queue, no placement handles, and no way to the host's memory.
    Rule {
        switches: &[Link::kind.name],
        off: is_sata,
        dependents: &[(Link::queues.name, "1"), (Fdp::handles.name, "1")],
    },
    Rule {
        switches: &[Link::kind.name],
        off: |values| Some(is_sata(values)? && values.of(Link::queue_depth)? > NCQ),
        dependents: &[(Link::queue_depth.name, "32")],
    },
    Rule {
        switches: &[Link::kind.name],
        off: |values| Some(is_sata(values)? && values.of(Map::residency)? == Residency::HostMemory),
        dependents: &[(Map::residency.name, "\"demand\"")],
    },
    Rule {
        switches: &[Fdp::handles.name],
        off: |values| Some(values.of(Fdp::handles)? == 1),
        dependents: &[(Fdp::isolation.name, "\"initial\"")],
    },
    Rule {
        switches: &[Wear::spares.name],
        off: |values| {
            let without = values.of(Wear::spares)? == 0;
            Some(without && values.of(Wear::read_only_at)? == ReadOnlyAt::SparesGone)
        },
        dependents: &[(Wear::read_only_at.name, "\"reserve-gone\"")],
    },
];

fn is_sata(values: &Values) -> Option<bool> {
    Some(values.of(Link::kind)? == LinkKind::Sata)
}
