//! The health information log of NVMe (log page 02h), under smartctl's names.
//!
//! Data units are thousands of 512 bytes, rounded up; the percentage used may pass 100 and stops at
//! 255; the composite temperature is in kelvins in the log and in degrees Celsius in smartctl's
//! JSON, so both are there. The counts of throttling have the names of nvme-cli.

use flashtwin_base::{Op, Status};
use serde_json::{Map, Value, json};

use super::{Facts, MINUTE_NS};

/// Bytes of a data unit.
const DATA_UNIT_BYTES: u64 = 512_000;
const PERCENT_USED_MAX: u64 = 255;
/// Spare below this percentage raises a warning.
const SPARE_THRESHOLD: u64 = 10;
const KELVIN: i64 = 273;
/// Bits of the critical warning: spare below its threshold, temperature over its threshold, all
/// data can only be read.
const WARNS_SPARE: u64 = 1 << 0;
const WARNS_TEMPERATURE: u64 = 1 << 1;
const WARNS_READ_ONLY: u64 = 1 << 3;

fn data_units(bytes: u64) -> u64 {
    bytes.div_ceil(DATA_UNIT_BYTES)
}

/// Every command that failed leaves an entry.
fn errors(facts: &Facts<'_>) -> u64 {
    let others = [Status::OutOfRange, Status::ReadOnly].map(|status| facts.host.failed(status));
    facts.media_errors() + others.iter().sum::<u64>()
}

fn critical_warning(facts: &Facts<'_>) -> u64 {
    let bits = [
        (facts.spare_percent() < SPARE_THRESHOLD, WARNS_SPARE),
        (facts.celsius >= facts.warning_celsius, WARNS_TEMPERATURE),
        (facts.reserve.read_only, WARNS_READ_ONLY),
    ];
    let on = bits.iter().filter(|(on, _)| *on);
    on.map(|(_, bit)| bit).sum()
}

pub(crate) fn add(answer: &mut Map<String, Value>, facts: &Facts<'_>) {
    let warning = critical_warning(facts);
    let passed = json!({ "passed": warning == 0, "nvme": { "value": warning } });
    answer.insert("smart_status".to_owned(), passed);
    answer.insert(
        "nvme_smart_health_information_log".to_owned(),
        log(facts, warning),
    );
}

fn log(facts: &Facts<'_>, warning: u64) -> Value {
    let [light, heavy] = facts.heat.throttled.map(|time| time.0 / 1_000_000_000);
    json!({
        "critical_warning": warning,
        "temperature": facts.degrees(),
        "temperature_sensors": [facts.degrees()],
        "composite_temperature_k": facts.degrees() + KELVIN,
        "available_spare": facts.spare_percent(),
        "available_spare_threshold": SPARE_THRESHOLD,
        "percentage_used": facts.percent_used().min(PERCENT_USED_MAX),
        "data_units_read": data_units(facts.read_bytes()),
        "data_units_written": data_units(facts.written_bytes()),
        "host_reads": facts.host.commands(Op::Read),
        "host_writes": facts.host.commands(Op::Write),
        "controller_busy_time": facts.states.serving / MINUTE_NS,
        "power_cycles": facts.power.on,
        "power_on_hours": facts.hours(),
        "unsafe_shutdowns": facts.power.unsafe_shutdowns,
        "media_errors": facts.media_errors(),
        "num_err_log_entries": errors(facts),
        "warning_temp_time": facts.heat.warning.0 / MINUTE_NS,
        "critical_comp_time": facts.heat.critical.0 / MINUTE_NS,
        "thm_temp1_trans_count": facts.heat.begun[0],
        "thm_temp2_trans_count": facts.heat.begun[1],
        "thm_temp1_total_time": light,
        "thm_temp2_total_time": heavy,
    })
}

/// The statistics of flexible data placement (log page 22h), under nvme-cli's names: what the host
/// wrote, what was written on flash for it, and what was erased.
pub(crate) fn placement_statistics(facts: &Facts<'_>) -> Value {
    json!({
        "host_bytes_with_metadata_written": facts.written_bytes(),
        "media_bytes_with_metadata_written": facts.counters.programmed_units() * facts.unit_bytes,
        "media_bytes_erased": facts.erased_bytes(),
    })
}
