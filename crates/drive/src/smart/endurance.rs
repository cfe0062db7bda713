//! What follows from the counters: write amplification by cause and in total, bytes that may be
//! written, what is left, energy. No drive tells this; it stands under `flashtwin`.
//!
//! WAF = bytes programmed / bytes from the host. TBW = capacity x cycles / WAF, with the cycles of
//! native mode; DWPD = TBW / (capacity x 365 x years). The formula takes every program for a native
//! one. Beside it stands what the wear itself says, in which a program in SLC mode costs a part
//! of an SLC cycle: host bytes so far over the life used so far.

use flashtwin_base::Op;
use flashtwin_nand::energy::FJ_PER_UJ;
use serde_json::{Map, Value, json};

use super::Facts;

const DAYS_A_YEAR: f64 = 365.0;

pub(crate) fn section(facts: &Facts<'_>) -> Value {
    json!({
        "waf": waf(facts),
        "endurance": endurance(facts),
        "energy": energy(facts),
        "thermal": thermal(facts),
    })
}

/// A ratio; null where there is nothing to divide by.
fn ratio(of: f64, by: f64) -> Value {
    if by > 0.0 {
        json!(of / by)
    } else {
        Value::Null
    }
}

fn waf_total(facts: &Facts<'_>) -> Option<f64> {
    let programmed = facts.counters.programmed_units() * facts.unit_bytes;
    let written = facts.written_bytes();
    (written > 0 && programmed > 0).then(|| programmed as f64 / written as f64)
}

fn waf(facts: &Facts<'_>) -> Value {
    let written = facts.written_bytes() as f64;
    let share = |units: u64| ratio((units * facts.unit_bytes) as f64, written);
    let causes = facts.counters.by_cause();
    let by_cause: Map<String, Value> = causes
        .iter()
        .map(|&(cause, units)| (cause.to_owned(), share(units)))
        .collect();
    json!({
        "host_bytes": facts.written_bytes(),
        "programmed_bytes": facts.counters.programmed_units() * facts.unit_bytes,
        "total": share(facts.counters.programmed_units()),
        "by_cause": by_cause,
    })
}

fn endurance(facts: &Facts<'_>) -> Value {
    let worn = facts.worn();
    let written = facts.written_bytes() as f64;
    let capacity = facts.capacity_bytes as f64;
    let years = f64::from(facts.label.warranty_years);
    let rated = facts.label.rated_tbw_bytes as f64;
    let tbw = waf_total(facts).map(|waf| capacity * facts.native_cycles as f64 / waf);
    let since_built = worn - facts.worn_before;
    let by_wear = (since_built > 0.0).then(|| written / since_built);
    let dwpd = |bytes: f64| ratio(bytes, capacity * DAYS_A_YEAR * years);
    let or_null = |bytes: Option<f64>| bytes.map_or(Value::Null, |bytes| json!(bytes));
    json!({
        "percent_used": worn * 100.0,
        "tbw_bytes": or_null(tbw),
        "tbw_by_wear_bytes": or_null(by_wear),
        "remaining_bytes": or_null(tbw.map(|tbw| (tbw - written).max(0.0))),
        "dwpd": tbw.map_or(Value::Null, dwpd),
        "warranty_years": facts.label.warranty_years,
        "rated_tbw_bytes": facts.label.rated_tbw_bytes,
        "rated_dwpd": if rated > 0.0 { dwpd(rated) } else { Value::Null },
        "rated_used_percent": ratio(100.0 * written, rated),
    })
}

fn energy(facts: &Facts<'_>) -> Value {
    let joules = facts.energy_fj as f64 / 1e15;
    let moved = facts.host.bytes(Op::Read) + facts.written_bytes();
    let states = &facts.states;
    json!({
        "energy_uj": (facts.energy_fj / FJ_PER_UJ) as u64,
        "mean_mw": ratio(joules * 1e3, facts.on_ns() as f64 / 1e9),
        "mb_per_joule": ratio(moved as f64 / 1e6, joules),
        "states_ns": {
            "serving": states.serving,
            "working": states.working,
            "idle": states.idle,
            "light": states.light,
            "deep": states.deep,
            "off": states.off,
            "held": (states.held_milli / 1000) as u64,
        },
    })
}

fn thermal(facts: &Facts<'_>) -> Value {
    let heat = &facts.heat;
    json!({
        "celsius": facts.celsius,
        "warning_ns": heat.warning.0,
        "critical_ns": heat.critical.0,
        "throttled_ns": heat.throttled.map(|time| time.0),
        "throttled_times": heat.begun,
    })
}
