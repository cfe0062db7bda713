//! Checks values against each other. A check whose values were refused is skipped and all others
//! run, so that all mistakes of a spec are reported at once.

pub(super) mod cache;
mod compression;
mod firmware;
pub(super) mod flash;
pub(super) mod gc;
pub(super) mod link;
pub(super) mod map;
mod power;
pub(super) mod tier;
pub(super) mod wear;

use flashtwin_ftl::choices::Within;

use super::error::{Fault, Place, SpecError};
use super::keys::KEYS;
use super::quantity::milli_text;
use super::values::Values;
use super::waits;

/// Collects mistakes at the places of the values that they are about.
struct Findings<'a> {
    values: &'a Values,
    file: &'a str,
    errors: Vec<SpecError>,
}

impl Findings<'_> {
    fn add<'k>(
        &mut self,
        key: impl Into<&'k str>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let key = key.into();
        let place = self.values.entry(key).map(|entry| entry.place.clone());
        let place = place.unwrap_or_else(|| Place::whole(self.file));
        self.errors.push(Fault::new(message, hint).at(&place, key));
    }
}

/// Everything that is wrong with the values together. What waits for another key is not wrong.
pub(super) fn check(values: &Values, file: &str) -> Vec<SpecError> {
    let resting = waits::resting(values);
    let mut findings = Findings {
        values: &resting,
        file,
        errors: Vec::new(),
    };
    for key in KEYS.iter() {
        within(&mut findings, key.name, key.within);
    }
    flash::check(&mut findings);
    map::check(&mut findings);
    cache::check(&mut findings);
    tier::check(&mut findings);
    gc::check(&mut findings);
    firmware::check(&mut findings);
    link::check(&mut findings);
    wear::check(&mut findings);
    compression::check(&mut findings);
    power::check(&mut findings);
    findings.errors
}

/// A key takes only some of the values of its kind.
fn within(found: &mut Findings<'_>, key: &str, within: Option<Within>) -> Option<()> {
    let Within {
        range,
        message,
        hint,
    } = within?;
    let given = found.values.number(key)?;
    if !(range[0]..=range[1]).contains(&given) {
        found.add(key, message.replace("{}", &milli_text(given)), hint);
    }
    Some(())
}
