//! Values that do nothing for now, because what they act on is not there.
//!
//! Such a value contradicts nothing: it waits for another key, so that sets and sweeps can switch a
//! mechanism on and off by one key. Where somebody gave the value, a note says what it waits for.

use flashtwin_ftl::policy::Parity;

use super::check::flash;
use super::keys::{self, KEYS};
use super::parts::Part;
use super::value::{self, Datum, Entry, Values};
use crate::config::Flushing;
use crate::spec::keys::{Compression, Controller, Errors, Fdp, Ftl, NandSuspend, SlcCache};

/// A key waits while the sentence holds that is given for it.
struct Wait {
    key: &'static str,
    /// The value that does nothing at any time, in TOML.
    idle: &'static str,
    why: fn(&Values) -> Option<&'static str>,
}

impl Wait {
    fn idle_datum(&self) -> Datum {
        let position = keys::position(self.key).expect("a key of the table");
        value::default(&KEYS[position], self.idle)
    }
}

const WAITS: &[Wait] = &[
    Wait {
        key: SlcCache::when_full.name,
        idle: "\"direct\"",
        why: |values| {
            let why = "there is no cache to fill (slc_cache.mode = none)";
            (!Part::Cache.is_there(values)?).then_some(why)
        },
    },
    Wait {
        key: Ftl::paired_pages.name,
        idle: "\"protected\"",
        why: |values| {
            if !flash::pages_one_by_one(values)? {
                Some("the part programs all pages of a wordline at once (nand.native.tprog)")
            } else if values.of(Controller::plp)? {
                Some("no program is torn (controller.plp = true)")
            } else {
                None
            }
        },
    },
    Wait {
        key: Fdp::isolation.name,
        idle: "\"initial\"",
        why: |values| {
            let why = "there are no handles to isolate (fdp.handles = 1)";
            (values.of(Fdp::handles)? == 1).then_some(why)
        },
    },
    Wait {
        key: Ftl::trim_journal.name,
        idle: "false",
        why: |values| {
            let why = "each checkpoint ends the journal, and there are none (ftl.checkpoint = 0)";
            (values.of(Ftl::checkpoint)? == 0).then_some(why)
        },
    },
    Wait {
        key: Controller::idle_window.name,
        idle: "\"100 ms\"",
        why: |values| {
            let why = "silence alone counts as idle time (controller.idle_share = 0)";
            (values.of(Controller::idle_share)? == 0).then_some(why)
        },
    },
    Wait {
        key: Controller::fua.name,
        idle: "\"program\"",
        why: no_groups,
    },
    Wait {
        key: Controller::flush_pages.name,
        idle: "0",
        why: no_groups,
    },
    Wait {
        key: Ftl::pad_pages.name,
        idle: "false",
        why: |values| {
            if !Part::Cache.is_there(values)? {
                Some("there is no cache (slc_cache.mode = none)")
            } else if values.of(Ftl::parity)? != Parity::None {
                Some("parity covers wordlines of all planes (ftl.parity = stripe)")
            } else if values.of(Compression::best_ratio)? > 1 {
                Some("compressed rows are filled up (compression.best_ratio)")
            } else {
                None
            }
        },
    },
    Wait {
        key: NandSuspend::program.name,
        idle: "false",
        why: reads_wait,
    },
    Wait {
        key: NandSuspend::erase.name,
        idle: "false",
        why: reads_wait,
    },
    Wait {
        key: Errors::rebuild.name,
        idle: "false",
        why: |values| {
            if values.of(Errors::correctable)? == 0 {
                Some("there are no bit errors (errors.correctable = 0)")
            } else if values.of(Ftl::parity)? == Parity::None {
                Some("there is no parity to rebuild from (ftl.parity = none)")
            } else {
                None
            }
        },
    },
];

fn no_groups(values: &Values) -> Option<&'static str> {
    if values.of(Controller::plp)? {
        Some("flushes are answered from RAM (controller.plp = true)")
    } else {
        let why = "flushes are not grouped (controller.flush)";
        (values.of(Controller::flush)? != Flushing::Grouped).then_some(why)
    }
}

fn reads_wait(values: &Values) -> Option<&'static str> {
    let why = "reads do not go first (controller.read_priority = false)";
    (!values.of(Controller::read_priority)?).then_some(why)
}

/// The values with those that wait at rest: what the drive does.
pub(super) fn resting(values: &Values) -> Values {
    let mut resting = values.clone();
    for (wait, _) in waiting(values) {
        let position = keys::position(wait.key).expect("a key of the table");
        let entry = values.entry(wait.key).expect("it waits");
        let datum = wait.idle_datum();
        resting.put(
            position,
            Entry {
                datum,
                ..entry.clone()
            },
        );
    }
    resting
}

/// The keys that wait for another one, each with the reason.
fn waiting(values: &Values) -> impl Iterator<Item = (&'static Wait, &'static str)> {
    WAITS.iter().filter_map(|wait| {
        let datum = &values.entry(wait.key)?.datum;
        let why = (wait.why)(values).filter(|_| *datum != wait.idle_datum())?;
        Some((wait, why))
    })
}

/// A sentence for each value that waits.
pub(super) fn notes(values: &Values) -> Vec<String> {
    let note = |(wait, why): (&Wait, &str)| {
        let datum = &values.entry(wait.key)?.datum;
        Some(format!("{} = {} waits: {why}", wait.key, datum.text()))
    };
    waiting(values).filter_map(note).collect()
}
