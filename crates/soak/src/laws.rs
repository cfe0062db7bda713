//! What has to add up in a drive, and what may never fall, however it is treated: looked at
//! between the episodes of its life, against what was so at the look before.
//!
//! The host's own count is kept beside the drive's. Everything else compares what one part of the
//! drive says with another: erases with cycles, programs with room, states with the clock, energy
//! with the times of the states, SMART with itself.

use std::collections::BTreeMap;

use flashtwin_base::{Op, Status};
use flashtwin_drive::config::PowerDraw;
use flashtwin_drive::{Config, Drive};
use flashtwin_ftl::blocks::{Pool, State, Superblock};
use flashtwin_ftl::layout::Mode;
use serde_json::Value;

/// Attributes of ATA whose raw value is a reading and no count: the temperature, and what is left
/// of life.
const READINGS: [u64; 2] = [194, 231];
/// Pages programmed for the host and by the firmware, as Micron counts them.
const SHARED: [u64; 2] = [247, 248];

/// Counters of pages of the map on their way, from which is taken what a cut throws away.
const WORKING: [&str; 2] = ["map_written", "map_moved"];

/// What the host has asked for and been told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    commands: [u64; 4],
    bytes: [u64; 4],
    failed: [u64; 5],
    /// Commands that a power cut left without an answer that was heard.
    unheard: u64,
}

impl Tally {
    /// A command that the drive takes on.
    pub fn sent(&mut self, op: Op, bytes: u64) {
        self.commands[op as usize] += 1;
        self.bytes[op as usize] += bytes;
    }

    /// Commands that are never answered; some may have ended.
    pub fn forgotten(&mut self, commands: usize) {
        self.unheard += commands as u64;
    }

    /// An answer.
    pub fn answered(&mut self, status: Status) {
        if status != Status::Ok {
            self.failed[status as usize] += 1;
        }
    }
}

/// What was so at the last look.
pub struct Laws {
    power: PowerDraw,
    dies: u64,
    unit_bytes: u64,
    /// All that only rises, by name.
    counts: BTreeMap<String, u128>,
    purged: bool,
}

/// Leaves with a message where a law does not hold.
macro_rules! law {
    ($holds:expr, $($said:tt)+) => {
        if !$holds {
            return Err(format!($($said)+));
        }
    };
}

/// Each superblock that is collected while nobody writes frees a granule at least, or there is no
/// end of it: as many `victims` at most, and one for each of the `refreshed` units, which are
/// written as a host's are.
///
/// # Errors
/// More were collected in a rest than the flash has granules.
pub fn collection_ends(drive: &Drive, victims: u64, refreshed: u64) -> Result<(), String> {
    let layout = drive.ftl().layout();
    let granules = layout.whole_units(Mode::Native) / layout.native_granule;
    let most = u64::from(layout.superblocks) * u64::from(granules) + refreshed;
    law!(
        victims <= most,
        "{victims} superblocks are collected in a rest, of flash with {most} granules and \
         refreshed units"
    );
    Ok(())
}

impl Laws {
    /// For a drive of this config.
    #[must_use]
    pub fn new(config: &Config) -> Laws {
        Laws {
            power: config.power.clone(),
            dies: u64::from(config.part.geometry.dies()),
            unit_bytes: u64::from(config.policy.unit_bytes),
            counts: BTreeMap::new(),
            purged: false,
        }
    }

    /// A purge erases superblocks that were never full.
    pub fn purged(&mut self) {
        self.purged = true;
    }

    /// Looks at everything.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn look(&mut self, drive: &Drive, tally: &Tally) -> Result<(), String> {
        host(drive, tally)?;
        self.cells(drive)?;
        let smart = drive.smart();
        let mut counts = BTreeMap::new();
        self.energy(drive, &mut counts)?;
        self.report(drive, &smart)?;
        gather(drive, &smart, &mut counts);
        let before = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        // What is programmed again after a failure was counted as something else before.
        let again = drive.counters().failure_units;
        let again = u128::from(again).saturating_sub(before("counter failure_units"));
        for (name, &count) in &counts {
            let (before, mut count) = (before(name), count);
            if name.starts_with("counter") {
                count += again;
            }
            law!(count >= before, "{name} falls from {before} to {count}");
        }
        self.counts = counts;
        Ok(())
    }

    /// Superblocks: what is free, valid and neither; cycles and erases; programs and room.
    fn cells(&self, drive: &Drive) -> Result<(), String> {
        let (ftl, c) = (drive.ftl(), drive.counters());
        let units_of = |mode| u64::from(ftl.layout().whole_units(mode));
        let blocks = ftl.superblocks();
        for (index, block) in blocks.iter().enumerate() {
            let room = ftl.layout().units(block.mode);
            let (valid, written) = (block.valid, block.written);
            let right = valid <= written && written <= room;
            law!(right, "superblock {index}: {valid} of {written} of {room}");
            let idle = block.state == State::Free;
            law!(
                !idle || written == 0,
                "free superblock {index} has {written}"
            );
        }
        let sum = |of: fn(&Superblock) -> u32| -> u64 {
            blocks.iter().map(|block| u64::from(of(block))).sum()
        };
        for (name, cycles, erases) in [
            ("SLC", sum(|b| b.slc_cycles), c.slc_erases),
            ("native", sum(|b| b.native_cycles), c.native_erases),
            ("tier", sum(|b| b.tier_cycles), c.tier_erases),
        ] {
            law!(cycles == erases, "{cycles} {name} cycles, {erases} erases");
        }
        let free = blocks.iter().filter(|b| b.state == State::Free).count() as u64;
        let reported = u64::from(ftl.free_superblocks());
        law!(reported <= free, "{reported} superblocks free of {free}");
        for (name, (given, valid)) in [("cache", ftl.cache_units()), ("tier", ftl.tier_units())] {
            let ratio = u64::from(ftl.layout().ratio);
            let most = given * ratio;
            law!(
                valid <= most,
                "the {name} has {valid} valid units of {most}"
            );
        }
        let cached = |b: &&Superblock| b.pool == Pool::Cache || b.fixed && b.written > 0;
        let own = blocks.iter().filter(cached).count() as u64;
        law!(
            ftl.cache_units().0 <= own * units_of(Mode::Slc),
            "the cache is more than its blocks"
        );
        let budget = ftl.static_budget();
        law!(
            (0.0..=1.0).contains(&budget),
            "{budget} of the static part is left"
        );
        // What was programmed had room: erased since, or written.
        let erased = c.slc_erases * units_of(Mode::Slc)
            + c.native_erases * units_of(Mode::Native)
            + c.tier_erases * units_of(Mode::Tier);
        let used = blocks
            .iter()
            .map(|b| u64::from(b.written / ftl.layout().ratio));
        let most = erased + used.sum::<u64>();
        let programmed = c.programmed_units() - c.parity_units - c.journal_units;
        let failed = u64::from(ftl.grown_bad_blocks()) > 0;
        law!(
            self.purged || failed || programmed <= most,
            "{programmed} units programmed, {most} given out"
        );
        Ok(())
    }

    /// The states take all of the time, and the energy is theirs and what work has cost.
    fn energy(&self, drive: &Drive, counts: &mut BTreeMap<String, u128>) -> Result<(), String> {
        let (t, now, draw) = (drive.state_times(), drive.now().0, &self.power);
        law!(t.total() == now, "states for {} of {now} ns", t.total());
        let product = |time: u64, uw: u64| u128::from(time) * u128::from(uw);
        let resting = product(t.serving + t.working, draw.active_uw)
            + product(t.idle, draw.idle_uw)
            + product(t.light, draw.light.power_uw)
            + product(t.deep, draw.deep.power_uw)
            + product(now - t.off, draw.flash.standby_uw) * u128::from(self.dies);
        let active = t.serving + t.working;
        law!(
            t.held_milli <= u128::from(active) * 1000,
            "held still for {} ps of {active} ns",
            t.held_milli
        );
        let spared = u128::from(draw.active_uw.saturating_sub(draw.idle_uw));
        let resting = resting - t.held_milli * spared / 1000;
        let all = drive.energy_fj();
        law!(all >= resting, "{all} fJ, {resting} of them of the states");
        let flash = &draw.flash;
        let works = flash.read_uw + flash.program_uw + flash.erase_uw + flash.transfer_uw;
        let free = works + draw.link_uw == 0;
        law!(
            !free || all == resting,
            "work that takes no power took {all} fJ"
        );
        counts.insert("energy of work".to_owned(), all - resting);
        for (name, time) in [
            ("serving", t.serving),
            ("working", t.working),
            ("idle", t.idle),
            ("light", t.light),
            ("deep", t.deep),
            ("off", t.off),
        ] {
            counts.insert(format!("time {name}"), time.into());
        }
        Ok(())
    }

    /// SMART agrees with what it is made of.
    fn report(&self, drive: &Drive, smart: &Value) -> Result<(), String> {
        let own = &smart["flashtwin"];
        let c = drive.counters();
        let programmed = own["waf"]["programmed_bytes"].as_u64();
        let counted = c.programmed_units() * self.unit_bytes;
        law!(
            programmed == Some(counted),
            "{programmed:?} bytes, not {counted}"
        );
        let causes = own["waf"]["by_cause"].as_object().into_iter().flatten();
        let causes: f64 = causes.filter_map(|(_, share)| share.as_f64()).sum();
        let written = own["waf"]["host_bytes"].as_u64().unwrap_or(0) as f64;
        let handed = (c.programmed_units() + c.saved_units) as f64 * self.unit_bytes as f64;
        let near = (causes * written - handed).abs() <= 1e-9 * handed;
        law!(
            written == 0.0 || near,
            "causes make {causes}, {handed} B of {written}"
        );
        let (light, states) = (drive.state_times(), &own["energy"]["states_ns"]);
        let reported = states["serving"].as_u64();
        law!(reported == Some(light.serving), "SMART served {reported:?}");
        Ok(())
    }
}

/// The drive's count of commands is the host's.
fn host(drive: &Drive, tally: &Tally) -> Result<(), String> {
    let totals = drive.totals();
    for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
        let (commands, bytes) = (totals.commands(op), totals.bytes(op));
        let sent = (tally.commands[op as usize], tally.bytes[op as usize]);
        law!(
            (commands, bytes) == sent,
            "{op:?}: {commands} of {bytes} B, sent {sent:?}"
        );
    }
    for status in [
        Status::OutOfRange,
        Status::Unreadable,
        Status::ReadOnly,
        Status::Corrupt,
    ] {
        let (told, heard) = (totals.failed(status), tally.failed[status as usize]);
        let right = heard <= told && told <= heard + tally.unheard;
        law!(right, "{told} commands ended as {status:?}, heard {heard}");
    }
    Ok(())
}

/// Everything that only rises: counters, wear, errors, heat, what SMART counts.
fn gather(drive: &Drive, smart: &Value, counts: &mut BTreeMap<String, u128>) {
    let mut add = |name: String, count: u64| counts.insert(name, count.into());
    let all = serde_json::to_value(drive.counters()).expect("counters are numbers");
    let counted = all.as_object().into_iter().flatten();
    for (name, count) in counted.filter(|(name, _)| !WORKING.contains(&name.as_str())) {
        add(format!("counter {name}"), count.as_u64().expect("a count"));
    }
    for (index, block) in drive.ftl().superblocks().iter().enumerate() {
        add(format!("SLC cycles of {index}"), block.slc_cycles.into());
        add(
            format!("native cycles of {index}"),
            block.native_cycles.into(),
        );
        add(format!("tier cycles of {index}"), block.tier_cycles.into());
    }
    let errors = drive.error_counts();
    add("retries".to_owned(), errors.retries);
    add("uncorrectable".to_owned(), errors.uncorrectable);
    add("rebuilt".to_owned(), errors.rebuilt);
    add("lost rows".to_owned(), errors.lost_rows);
    let heat = drive.thermal_times();
    add("warning".to_owned(), heat.warning.0);
    add("critical".to_owned(), heat.critical.0);
    add("throttled".to_owned(), heat.throttled[0].0);
    add("throttled hard".to_owned(), heat.throttled[1].0);
    add(
        "grown bad".to_owned(),
        drive.ftl().grown_bad_blocks().into(),
    );
    add(
        "retired".to_owned(),
        drive.ftl().retired_superblocks().into(),
    );
    add("power cycles".to_owned(), drive.power_cycles().on);
    add("cuts".to_owned(), drive.power_cycles().unsafe_shutdowns);
    let log = smart["nvme_smart_health_information_log"].as_object();
    for (name, value) in log.into_iter().flatten() {
        let reading = ["temperature", "composite", "available", "critical_warning"];
        let count = value
            .as_u64()
            .filter(|_| !reading.iter().any(|r| name.starts_with(r)));
        if let Some(count) = count {
            add(format!("NVMe {name}"), count);
        }
    }
    // What is compressed is shared out between the host and the rest by what there is of both: the
    // shares may fall as the sum rises.
    let shared = drive.counters().saved_units > 0;
    let table = smart["ata_smart_attributes"]["table"].as_array();
    for row in table.into_iter().flatten() {
        let id = row["id"].as_u64().expect("attributes have numbers");
        if shared && SHARED.contains(&id) {
            continue;
        }
        if let Some(raw) = row["raw"]["value"]
            .as_u64()
            .filter(|_| !READINGS.contains(&id))
        {
            add(format!("ATA {}", row["name"]), raw);
        }
    }
}
