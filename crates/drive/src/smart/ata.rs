//! ATA attributes: a table of numbers that each family fills in its own way.
//!
//! Common ones first, then what the family counts. Raw values are exact; the normalised value falls
//! from 100 with what the attribute measures. Names are those of smartctl's drive database.
//!
//! Micron's pair 247 and 248 counts NAND pages programmed for the host and by the firmware, so
//! WAF = 1 + 248/247; here both are bytes over the page size.

use flashtwin_base::{Op, Status};
use serde_json::{Map, Value, json};

use super::{Facts, SECTOR_BYTES};
use crate::config::Family;

const GIB: u64 = 1 << 30;
/// Old-age attribute, updated all the time, counts events, kept over power-off: `-O--CK`.
const COUNTS: u16 = 0x32;
/// The same, and its threshold announces a failure: `PO--CK`.
const FAILS: u16 = 0x33;
/// A reading and no count: `-O---K`.
const READS: u16 = 0x22;

/// One attribute.
struct Attribute {
    id: u8,
    name: &'static str,
    flags: u16,
    value: u64,
    thresh: u64,
    raw: u64,
}

fn count(id: u8, name: &'static str, raw: u64) -> Attribute {
    Attribute {
        id,
        name,
        flags: COUNTS,
        value: 100,
        thresh: 0,
        raw,
    }
}

/// An attribute whose normalised value is what is left of life.
fn life(id: u8, name: &'static str, left: u64, raw: u64) -> Attribute {
    Attribute {
        value: left,
        ..count(id, name, raw)
    }
}

pub(crate) fn add(answer: &mut Map<String, Value>, facts: &Facts<'_>) {
    let mut table = common(facts);
    table.extend(match facts.label.family {
        Family::Micron => micron(facts),
        Family::Intel => intel(facts),
        Family::Samsung => samsung(facts),
        Family::SandForce => sandforce(facts),
        Family::Wd => wd(facts),
        Family::None | Family::Nvme => unreachable!("no ATA attributes"),
    });
    table.sort_by_key(|attribute| attribute.id);
    let failed = table.iter().any(Attribute::has_failed);
    let rows: Vec<Value> = table.iter().map(Attribute::json).collect();
    answer.insert("smart_status".to_owned(), json!({ "passed": !failed }));
    let attributes = json!({ "revision": 16, "table": rows });
    answer.insert("ata_smart_attributes".to_owned(), attributes);
}

fn common(facts: &Facts<'_>) -> Vec<Attribute> {
    let degrees = facts.degrees().max(0) as u64;
    vec![
        Attribute {
            flags: FAILS,
            thresh: 1,
            value: facts.spare_percent(),
            ..count(5, "Reallocated_Sector_Ct", facts.reserve.grown_bad)
        },
        count(9, "Power_On_Hours", facts.hours()),
        count(12, "Power_Cycle_Count", facts.power.on),
        count(174, "Unexpect_Power_Loss_Ct", facts.power.unsafe_shutdowns),
        count(184, "End-to-End_Error", facts.host.failed(Status::Corrupt)),
        count(
            187,
            "Reported_Uncorrect",
            facts.host.failed(Status::Unreadable),
        ),
        Attribute {
            flags: READS,
            value: 100 - degrees.min(99),
            ..count(194, "Temperature_Celsius", degrees)
        },
    ]
}

fn micron(facts: &Facts<'_>) -> Vec<Attribute> {
    let left = facts.percent_left(0);
    let pages = |units: u64| units * facts.unit_bytes / facts.page_bytes;
    let c = &facts.counters;
    let host = c.slc_units + c.tier_units + c.direct_units;
    // Units that compression saved are taken off the host's units and the others in proportion.
    let programmed = c.programmed_units();
    let handed = u128::from(programmed + c.saved_units).max(1);
    let host = (u128::from(host) * u128::from(programmed) / handed) as u64;
    vec![
        life(173, "Ave_Block-Erase_Count", left, facts.erases_mean()),
        Attribute {
            thresh: 1,
            ..life(202, "Percent_Lifetime_Remain", left, facts.percent_used())
        },
        count(210, "Success_RAIN_Recov_Cnt", facts.rebuilt),
        count(
            246,
            "Total_LBAs_Written",
            facts.written_bytes() / SECTOR_BYTES,
        ),
        count(247, "Host_Program_Page_Count", pages(host)),
        count(248, "FTL_Program_Page_Count", pages(programmed - host)),
    ]
}

fn intel(facts: &Facts<'_>) -> Vec<Attribute> {
    let programmed = facts.counters.programmed_units() * facts.unit_bytes;
    vec![
        life(233, "Media_Wearout_Indicator", facts.percent_left(1), 0),
        count(241, "Host_Writes_32MiB", facts.written_bytes() / (32 << 20)),
        count(242, "Host_Reads_32MiB", facts.read_bytes() / (32 << 20)),
        count(249, "NAND_Writes_1GiB", programmed / GIB),
    ]
}

fn samsung(facts: &Facts<'_>) -> Vec<Attribute> {
    let left = facts.percent_left(1);
    let sectors = facts.written_bytes() / SECTOR_BYTES;
    vec![
        Attribute {
            flags: FAILS,
            ..life(177, "Wear_Leveling_Count", left, facts.erases_mean())
        },
        count(241, "Total_LBAs_Written", sectors),
    ]
}

fn sandforce(facts: &Facts<'_>) -> Vec<Attribute> {
    let c = &facts.counters;
    let erased = c.slc_erases * facts.slc_bytes
        + c.native_erases * facts.native_bytes
        + c.tier_erases * facts.tier_bytes;
    let left = facts.percent_left(1);
    vec![
        count(100, "Gigabytes_Erased", erased / GIB),
        life(230, "Life_Curve_Status", life_curve(facts), 100),
        life(231, "SSD_Life_Left", left, left),
        count(241, "Lifetime_Writes_GiB", facts.written_bytes() / GIB),
        count(242, "Lifetime_Reads_GiB", facts.read_bytes() / GIB),
    ]
}

/// The life that the calendar of the warranty allows, over the life that is used: 100 while the
/// drive wears no faster than that, less when it would not last.
fn life_curve(facts: &Facts<'_>) -> u64 {
    let years = u64::from(facts.label.warranty_years);
    let (used, hours) = (facts.percent_used(), facts.hours());
    if used == 0 || years == 0 {
        return 100;
    }
    (hours * 100 * 100 / (years * 365 * 24 * used)).clamp(1, 100)
}

fn wd(facts: &Facts<'_>) -> Vec<Attribute> {
    let slc = facts.counters.slc_mode_units;
    let native = facts.counters.programmed_units() - slc;
    let gib = |units: u64| units * facts.unit_bytes / GIB;
    vec![
        count(230, "Media_Wearout_Indicator", facts.percent_used()),
        count(233, "NAND_GB_Written_TLC", gib(native)),
        count(234, "NAND_GB_Written_SLC", gib(slc)),
        count(241, "Host_Writes_GiB", facts.written_bytes() / GIB),
        count(242, "Host_Reads_GiB", facts.host.bytes(Op::Read) / GIB),
    ]
}

impl Attribute {
    fn has_failed(&self) -> bool {
        self.thresh > 0 && self.value <= self.thresh
    }

    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "value": self.value,
            // Nothing that is reported here gets better again, save the temperature.
            "worst": self.value,
            "thresh": self.thresh,
            "when_failed": if self.has_failed() { "now" } else { "" },
            "flags": flags(self.flags),
            "raw": { "value": self.raw, "string": self.raw.to_string() },
        })
    }
}

/// The bits of an attribute's flags, their names, and the letters of smartctl's column.
fn flags(value: u16) -> Value {
    const BITS: [(&str, char); 6] = [
        ("prefailure", 'P'),
        ("updated_online", 'O'),
        ("performance", 'S'),
        ("error_rate", 'R'),
        ("event_count", 'C'),
        ("auto_keep", 'K'),
    ];
    let mut answer = Map::new();
    let mut letters = String::new();
    for (bit, (name, letter)) in BITS.into_iter().enumerate() {
        let set = value >> bit & 1 == 1;
        answer.insert(name.to_owned(), json!(set));
        letters.push(if set { letter } else { '-' });
    }
    letters.push(' ');
    answer.insert("value".to_owned(), json!(value));
    answer.insert("string".to_owned(), json!(letters));
    Value::Object(answer)
}
