//! Rules by which a mechanism that is switched off takes the keys that depend on it with it.

use super::super::check::link::NCQ;
use super::super::check::{flash, map};
use super::super::keys::slc_cache::SlcCache;
use super::super::parts::Part;
use super::super::value::Values;

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
        switches: &["nand.cell"],
        off: |values| Some(flash::bits(values)? == 1),
        dependents: &[("slc_cache.mode", "\"none\"")],
    },
    // A second tier lies between SLC and the native mode.
    Rule {
        switches: &["nand.cell"],
        off: |values| {
            let tier = values.number("nand.tier.bits")?;
            Some(u128::from(tier) >= flash::bits(values)?)
        },
        dependents: &[("nand.tier.bits", "0")],
    },
];

/// Rules that are applied after that, in the same order.
pub(super) const AFTER_PARTS: &[Rule] = &[
    // Parity is made in the controller, which a copy inside a die passes by.
    Rule {
        switches: &["ftl.parity", "slc_cache.mode"],
        off: |values| Some(values.word("ftl.parity")? != "none" && Part::Cache.is_there(values)?),
        dependents: &[("fold.path", "\"controller\"")],
    },
    Rule {
        switches: &["fold.path"],
        off: |values| Some(values.word("fold.path")? == "controller"),
        dependents: &[("fold.check_every", "0")],
    },
    Rule {
        switches: &["fold.check_every"],
        off: |values| Some(values.number("fold.check_every")? == 0),
        dependents: &[("fold.check_errors", "0")],
    },
    Rule {
        switches: &["errors.correctable"],
        off: |values| Some(values.number("errors.correctable")? == 0),
        dependents: &[
            ("errors.rebuild", "false"),
            ("fold.check_errors", "0"),
            ("errors.slc.read_limit", "0"),
            ("errors.native.read_limit", "0"),
        ],
    },
    Rule {
        switches: &["ftl.parity"],
        off: |values| Some(values.word("ftl.parity")? == "none"),
        dependents: &[("errors.rebuild", "false")],
    },
    // Pages that wait for the others of their wordline: not where lower pages come first, nor in
    // compressed rows, nor pages of the map.
    Rule {
        switches: &["slc_cache.mode"],
        off: |values| Some(SlcCache::read(values).mode?.lower_pages_first),
        dependents: &[
            ("ftl.paired_pages", "\"protected\""),
            ("ftl.superblock_dies", "0"),
        ],
    },
    Rule {
        switches: &["compression.best_ratio"],
        off: |values| Some(values.number("compression.best_ratio")? > 1),
        dependents: &[("ftl.paired_pages", "\"protected\"")],
    },
    Rule {
        switches: &["map.residency", "map.mode"],
        off: |values| Some(map::is_paged(values)? && values.word("map.mode")? == "native"),
        dependents: &[("ftl.paired_pages", "\"protected\"")],
    },
    Rule {
        switches: &["ftl.checkpoint"],
        off: |values| Some(values.number("ftl.checkpoint")? == 0),
        dependents: &[("ftl.trim_journal", "false")],
    },
    Rule {
        switches: &["nand.native.second_pass"],
        off: |values| Some(values.number("nand.native.second_pass")? == 0),
        dependents: &[("nand.native.third_pass", "0")],
    },
    Rule {
        switches: &["nand.native.third_pass"],
        off: |values| Some(values.number("nand.native.third_pass")? == 0),
        dependents: &[("nand.native.fourth_pass", "0")],
    },
    Rule {
        switches: &["controller.acknowledge"],
        off: |values| Some(values.word("controller.acknowledge")? == "write-through"),
        dependents: &[("controller.gather", "false")],
    },
    Rule {
        switches: &["controller.read_ahead"],
        off: |values| Some(values.number("controller.read_ahead")? == 0),
        dependents: &[("controller.read_ahead_streams", "0")],
    },
    Rule {
        switches: &["controller.read_priority"],
        off: |values| Some(!values.flag("controller.read_priority")?),
        dependents: &[
            ("nand.suspend.program", "false"),
            ("nand.suspend.erase", "false"),
        ],
    },
    // SATA has one queue, no placement handles, and no way to the host's memory.
    Rule {
        switches: &["link.kind"],
        off: is_sata,
        dependents: &[("link.queues", "1"), ("fdp.handles", "1")],
    },
    Rule {
        switches: &["link.kind"],
        off: |values| Some(is_sata(values)? && values.number("link.queue_depth")? > NCQ),
        dependents: &[("link.queue_depth", "32")],
    },
    Rule {
        switches: &["link.kind"],
        off: |values| Some(is_sata(values)? && values.word("map.residency")? == "hmb"),
        dependents: &[("map.residency", "\"demand\"")],
    },
    Rule {
        switches: &["fdp.handles"],
        off: |values| Some(values.number("fdp.handles")? == 1),
        dependents: &[("fdp.isolation", "\"initial\"")],
    },
    Rule {
        switches: &["wear.spares"],
        off: |values| {
            let without = values.number("wear.spares")? == 0;
            Some(without && values.word("wear.read_only_at")? == "spares-gone")
        },
        dependents: &[("wear.read_only_at", "\"reserve-gone\"")],
    },
];

fn is_sata(values: &Values) -> Option<bool> {
    Some(values.word("link.kind")? == "sata")
}
