//! SMART data against what the simulation counts: identities between attributes, units, rounding,
//! the formulas of endurance.

use crate::common::loops::{go, job, rest};
use crate::common::{self, load_with};
use flashtwin_base::{Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;
use serde_json::Value;

const GIB: u64 = 1 << 30;
/// The last of it leaves a program partly filled.
const SMALL: u64 = (4 << 20) + 4096;

fn drive(family: &str, sets: &[&str]) -> Drive {
    let family = format!("smart.family={family}");
    let all = [&[family.as_str()], sets].concat();
    Drive::new(&load_with(common::BASE, &[], &all).config, 1)
}

/// One command from its submission to its end.
fn one(drive: &mut Drive, op: Op, lba: u64, sectors: u32) {
    let now = drive.now();
    drive.submit(now, Request::new(0, op, lba, sectors));
    let mut done = Vec::new();
    while done.is_empty() {
        let due = drive.next_due().expect("the command ends");
        drive.advance(due, &mut done);
    }
}

/// Sequential writes, some of them twice, then rest and a flush: SLC, folding and padding.
fn wear(drive: &mut Drive, bytes: u64) {
    for _ in 0..2 {
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.io_bytes = Some(bytes);
        go(drive, write);
        rest(drive, Nanos::from_secs(60));
    }
    let mut small = job(ReadWrite::RandWrite, 4096, 1);
    small.io_bytes = Some(SMALL);
    go(drive, small);
    one(drive, Op::Flush, 0, 0);
    let mut read = job(ReadWrite::Read, 128 << 10, 8);
    read.io_bytes = Some(300 << 20);
    go(drive, read);
}

fn attribute(smart: &Value, id: u64) -> &Value {
    let table = smart["ata_smart_attributes"]["table"].as_array();
    let rows = table.expect("there are attributes");
    let found = rows.iter().find(|row| row["id"] == id);
    found.unwrap_or_else(|| panic!("no attribute {id} in {rows:#?}"))
}

fn raw(smart: &Value, id: u64) -> u64 {
    attribute(smart, id)["raw"]["value"].as_u64().expect("raw")
}

#[test]
fn micron_pages_give_the_write_amplification() {
    let mut d = drive("micron", &[]);
    wear(&mut d, 5 * GIB);
    let (smart, c) = (d.smart(), *d.counters());
    let (host, firmware) = (raw(&smart, 247), raw(&smart, 248));
    let page = 16_384 / 4096;
    assert!(c.fold_units > 0 && c.pad_units > 0);
    assert_eq!(host, (c.slc_units + c.direct_units) / page);
    assert!((host + firmware).abs_diff(c.programmed_units() / page) <= 1);
    let waf = 1.0 + firmware as f64 / host as f64;
    let total = smart["flashtwin"]["waf"]["total"].as_f64().expect("waf");
    assert!((waf / total - 1.0).abs() < 1e-5, "{waf} and {total}");
    assert_eq!(raw(&smart, 246), d.totals().bytes(Op::Write) / 512);
    let erases = (c.slc_erases + c.native_erases) / u64::from(d.ftl().layout().superblocks);
    assert_eq!(raw(&smart, 173), erases);
    assert_eq!(smart["smart_status"]["passed"], true);
}

#[test]
fn causes_add_up_to_the_whole() {
    let mut d = drive("none", &[]);
    wear(&mut d, 5 * GIB);
    let smart = d.smart();
    let waf = &smart["flashtwin"]["waf"];
    let causes = waf["by_cause"].as_object().expect("causes");
    let sum: f64 = causes.values().filter_map(Value::as_f64).sum();
    let total = waf["total"].as_f64().expect("total");
    assert!((sum - total).abs() < 1e-9, "{sum} and {total}");
    assert!(smart.get("ata_smart_attributes").is_none());
    assert!(smart.get("nvme_smart_health_information_log").is_none());
}

#[test]
fn families_count_in_their_units() {
    let written = 10 * GIB + SMALL;
    let programmed = |d: &Drive| d.counters().programmed_units() * 4096;
    let mut intel = drive("intel", &[]);
    wear(&mut intel, 5 * GIB);
    let smart = intel.smart();
    assert_eq!(raw(&smart, 241), written / (32 << 20));
    assert_eq!(raw(&smart, 242), (300 << 20) / (32 << 20));
    assert_eq!(raw(&smart, 249), programmed(&intel) / GIB);
    let mut wd = drive("wd", &[]);
    wear(&mut wd, 5 * GIB);
    let (smart, c) = (wd.smart(), *wd.counters());
    let slc = c.slc_mode_units * 4096;
    assert!(slc >= c.slc_units * 4096 && slc < programmed(&wd));
    assert_eq!(raw(&smart, 234), slc / GIB);
    assert_eq!(raw(&smart, 233), (programmed(&wd) - slc) / GIB);
    assert_eq!(raw(&smart, 241), written / GIB);
    let mut samsung = drive("samsung", &[]);
    wear(&mut samsung, 5 * GIB);
    assert_eq!(raw(&samsung.smart(), 241), written / 512);
    let mut sandforce = drive("sandforce", &[]);
    wear(&mut sandforce, 5 * GIB);
    let (smart, layout) = (sandforce.smart(), sandforce.ftl().layout());
    let c = sandforce.counters();
    let erased = c.slc_erases * layout.slc_bytes() + c.native_erases * layout.native_bytes();
    assert_eq!(raw(&smart, 100), erased / GIB);
    assert_eq!(raw(&smart, 231), 100);
    assert_eq!(raw(&smart, 241), written / GIB);
}

#[test]
fn data_units_are_rounded_up() {
    let table = [(1, 1), (999, 1), (1000, 1), (1001, 2), (4096, 5)];
    for (sectors, units) in table {
        let mut d = drive("nvme", &[]);
        one(&mut d, Op::Write, 0, sectors);
        one(&mut d, Op::Read, 0, 2 * sectors);
        one(&mut d, Op::Read, u64::MAX / 2, 8);
        let smart = d.smart();
        let log = &smart["nvme_smart_health_information_log"];
        assert_eq!(log["data_units_written"], units, "{sectors} sectors");
        let read = (2 * u64::from(sectors)).div_ceil(1000);
        assert_eq!(log["data_units_read"], read, "{sectors} sectors");
        assert_eq!(
            (&log["host_writes"], &log["host_reads"]),
            (&1.into(), &1.into())
        );
        assert_eq!(log["temperature"], 25);
        assert_eq!(log["num_err_log_entries"], 1, "the read past the end");
        assert_eq!(log["media_errors"], 0);
        assert_eq!(log["composite_temperature_k"], 298);
    }
}

#[test]
fn the_percentage_used_stops_at_255() {
    let mut d = drive("nvme", &["nand.slc.endurance=2", "nand.native.endurance=2"]);
    let used = |d: &Drive| {
        let smart = d.smart();
        let log = &smart["nvme_smart_health_information_log"];
        log["percentage_used"].as_u64().expect("a number")
    };
    let superblocks = u64::from(d.ftl().layout().superblocks);
    let mut seen = Vec::new();
    for _ in 0..4 {
        go(&mut d, job(ReadWrite::Write, 1 << 20, 32));
        d.purge();
        let erases = d.counters().slc_erases + d.counters().native_erases;
        assert_eq!(used(&d), (erases * 50 / superblocks).min(255));
        seen.push(used(&d));
    }
    assert!(seen[0] < 255 && seen[3] == 255, "{seen:?}");
    let ours = &d.smart()["flashtwin"]["endurance"]["percent_used"];
    assert!(ours.as_f64().expect("a number") > 255.0);
}

#[test]
fn endurance_follows_from_its_formulas() {
    let label = ["drive.rated_tbw=80 TB", "drive.warranty_years=3"];
    let mut d = drive("none", &label);
    assert_eq!(
        d.smart()["flashtwin"]["endurance"]["tbw_bytes"],
        Value::Null
    );
    wear(&mut d, 5 * GIB);
    let smart = d.smart();
    let number = |name: &str| {
        let value = &smart["flashtwin"]["endurance"][name];
        value.as_f64().unwrap_or_else(|| panic!("{name}: {value}"))
    };
    let waf = smart["flashtwin"]["waf"]["total"].as_f64().expect("waf");
    let tbw = 40e9 * 1500.0 / waf;
    let close = |found: f64, expected: f64| {
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{found}, not {expected}"
        );
    };
    close(number("tbw_bytes"), tbw);
    close(number("dwpd"), tbw / (40e9 * 365.0 * 3.0));
    close(number("rated_dwpd"), 80e12 / (40e9 * 365.0 * 3.0));
    let written = d.totals().bytes(Op::Write) as f64;
    close(number("remaining_bytes"), tbw - written);
    close(number("rated_used_percent"), 100.0 * written / 80e12);
    let c = d.counters();
    let worn = (c.slc_erases as f64 / 40_000.0 + c.native_erases as f64 / 1500.0)
        / f64::from(d.ftl().layout().superblocks);
    let by_wear = written / worn;
    let found = number("tbw_by_wear_bytes");
    close(found, by_wear);
}

#[test]
fn hours_minutes_and_watts_are_of_the_drives_clock() {
    let sets = [
        "power.idle=100 mW",
        "power.flash_standby=0",
        "thermal.resistance=600 K/W",
        "thermal.warning=60 C",
        "thermal.critical=80 C",
    ];
    let mut d = drive("nvme", &sets);
    rest(&mut d, Nanos::from_secs(36_000));
    let smart = d.smart();
    let log = &smart["nvme_smart_health_information_log"];
    assert_eq!(log["power_on_hours"], 10);
    assert_eq!(smart["power_on_time"]["hours"], 10);
    assert_eq!(smart["flashtwin"]["energy"]["mean_mw"], 100.0);
    assert_eq!(log["controller_busy_time"], 0);
    // 25 degrees and 60 of 0.1 W: above 60 after RC ln(60/25), RC = 600 K/W x 45 J/K = 7.5 h.
    let warm = 27_000.0 * libm::log(60.0 / 25.0);
    let expected = (36_000.0 - warm) / 60.0;
    let found = log["warning_temp_time"].as_f64().expect("minutes");
    assert!((found - expected).abs() <= 2.0, "{found}, not {expected}");
    assert_eq!(log["critical_warning"], 2);
    assert_eq!(smart["smart_status"]["passed"], false);
    let mut read = job(ReadWrite::RandRead, 4096, 1);
    read.runtime_ns = Some(90_000_000_000);
    let mut busy = drive("nvme", &[]);
    go(&mut busy, read);
    let log = &busy.smart()["nvme_smart_health_information_log"];
    assert_eq!(log["controller_busy_time"], 1);
}

#[test]
fn damage_that_is_found_out_is_counted() {
    for family in ["nvme", "samsung"] {
        let mut d = drive(family, &["controller.end_to_end=true"]);
        d.inject_corruption(10);
        let mut read = job(ReadWrite::RandRead, 4096, 4);
        read.io_bytes = Some(8 << 20);
        go(&mut d, read);
        let (smart, caught) = (d.smart(), d.damage().caught);
        assert!(caught > 50, "{caught}");
        if family == "nvme" {
            let log = &smart["nvme_smart_health_information_log"];
            assert_eq!(log["media_errors"], caught);
            assert_eq!(log["num_err_log_entries"], caught);
        } else {
            assert_eq!((raw(&smart, 184), raw(&smart, 187)), (caught, 0));
        }
    }
}
