//! Bit errors, from values to config.

use flashtwin_nand::error::ErrorRates;

use super::Checked;
use crate::config::Errors;
use crate::spec::parts::fold_key;

pub(super) fn errors(checked: &Checked<'_>) -> Errors {
    Errors {
        correctable: checked.count("errors.correctable"),
        page_spread: factor(checked, "errors.page_spread"),
        retry_steps: checked.count("errors.retry_steps") as u8,
        retry_gain: factor(checked, "errors.retry_gain"),
        retry_time: checked.time("errors.retry_time"),
        soft_gain: factor(checked, "errors.soft_gain"),
        soft_time: checked.time("errors.soft_time"),
        refresh_at: factor(checked, "errors.refresh_at"),
        rebuild: checked.flag("errors.rebuild"),
        copy_at: factor(checked, fold_key::check_errors),
        activation_ev: factor(checked, "errors.activation_energy"),
        retention_celsius: factor(checked, "errors.retention_temperature"),
        slc: rates(checked, "slc"),
        native: rates(checked, "native"),
        slc_read_limit: u64::from(checked.count("errors.slc.read_limit")),
        native_read_limit: u64::from(checked.count("errors.native.read_limit")),
    }
}

fn factor(checked: &Checked<'_>, key: &str) -> f64 {
    checked.number(key) as f64 / 1000.0
}

fn rates(checked: &Checked<'_>, mode: &str) -> ErrorRates {
    let of = |what: &str| factor(checked, &format!("errors.{mode}.{what}"));
    ErrorRates {
        fresh: of("fresh"),
        wear: of("wear"),
        retention_fresh: of("retention_fresh"),
        retention: of("retention"),
        disturb_fresh: of("disturb_fresh"),
        disturb: of("disturb"),
        wear_power: factor(checked, "errors.wear_power"),
        retention_power: factor(checked, "errors.retention_power"),
    }
}
