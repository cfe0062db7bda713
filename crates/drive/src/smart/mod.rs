//! What the drive says about itself: the health log of NVMe and the attributes of ATA, each family
//! with its own numbers, names and units, in the JSON that `smartctl --json` makes of a real drive.
//!
//! Every number comes from what the simulation counts ([`Facts`]); nothing is kept for SMART alone.
//! Beside smartctl's names stands one object of ours, `flashtwin`, with what no drive tells: WAF by
//! cause, what endurance follows from it, energy. A real tool that reads the rest sees a drive.

mod ata;
mod endurance;
mod nvme;

use flashtwin_base::{Op, Status};
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::{Counters, Ftl, Policies};
use serde_json::{Map, Value, json};

use crate::config::{Config, Family, Label};
use crate::fault::PowerCycles;
use crate::power::StateTimes;
use crate::repeat::Stretch;
use crate::thermal::ThermalTimes;
use crate::totals::Totals;

const HOUR_NS: u64 = 3_600_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
const SECTOR_BYTES: u64 = 512;

/// What does not change about a drive.
pub(crate) struct Nameplate {
    id: String,
    label: Label,
    page_bytes: u32,
    slc_cycles: u32,
    native_cycles: u32,
    tier_cycles: u32,
    /// Spare blocks of the plane that had the fewest.
    spares: u32,
    /// Life used and nanoseconds in use when the drive was built.
    worn: f64,
    age_ns: u64,
}

impl Nameplate {
    pub(crate) fn new<P: Policies>(config: &Config, ftl: &Ftl<P>) -> Nameplate {
        let tier = config.part.tier.as_ref();
        Nameplate {
            spares: ftl.spare_blocks(),
            worn: ftl.mean_wear(),
            age_ns: config.age.0,
            id: config.id.clone(),
            label: config.label,
            page_bytes: config.part.geometry.page_bytes,
            slc_cycles: config.part.slc.endurance_cycles,
            native_cycles: config.part.native.endurance_cycles,
            tier_cycles: tier.map_or(1, |tier| tier.timing.endurance_cycles),
        }
    }
}

impl Nameplate {
    /// All that SMART data is made from.
    pub(crate) fn facts<P: Policies>(&self, seen: Seen<'_, P>) -> Facts<'_> {
        let Seen { ftl, lived, .. } = seen;
        let layout = ftl.layout();
        let mode_bytes = |mode| u64::from(layout.whole_units(mode)) * u64::from(layout.unit_bytes);
        Facts {
            id: &self.id,
            capacity_bytes: seen.capacity_bytes,
            label: self.label,
            now_ns: lived.time().0,
            host: *lived.totals(),
            counters: *lived.counters(),
            unit_bytes: u64::from(layout.unit_bytes),
            page_bytes: u64::from(self.page_bytes),
            superblocks: u64::from(layout.superblocks),
            slc_bytes: mode_bytes(Mode::Slc),
            native_bytes: mode_bytes(Mode::Native),
            tier_bytes: mode_bytes(Mode::Tier),
            slc_cycles: u64::from(self.slc_cycles),
            native_cycles: u64::from(self.native_cycles),
            tier_cycles: u64::from(self.tier_cycles),
            celsius: seen.celsius,
            warning_celsius: seen.warning_celsius,
            states: *lived.states(),
            heat: seen.heat,
            energy_fj: lived.energy_fj(),
            power: seen.power,
            reserve: Reserve {
                spares: u64::from(ftl.spare_blocks()),
                spares_at_first: u64::from(self.spares),
                retired: u64::from(ftl.retired_superblocks()),
                grown_bad: u64::from(ftl.grown_bad_blocks()),
                read_only: ftl.is_read_only(),
            },
            worn_before: self.worn,
            age_ns: self.age_ns,
            rebuilt: seen.rebuilt,
        }
    }
}

/// A drive at one moment.
pub(crate) struct Seen<'a, P: Policies> {
    pub(crate) ftl: &'a Ftl<P>,
    pub(crate) capacity_bytes: u64,
    pub(crate) lived: Stretch,
    pub(crate) celsius: f64,
    pub(crate) warning_celsius: f64,
    pub(crate) heat: ThermalTimes,
    pub(crate) power: PowerCycles,
    pub(crate) rebuilt: u64,
}

/// What is known of a drive at one moment, and all that its SMART data is made from.
pub(crate) struct Facts<'a> {
    id: &'a str,
    capacity_bytes: u64,
    label: Label,
    now_ns: u64,
    host: Totals,
    counters: Counters,
    unit_bytes: u64,
    page_bytes: u64,
    superblocks: u64,
    /// Bytes of a superblock in SLC mode, natively, and in the second tier.
    slc_bytes: u64,
    native_bytes: u64,
    tier_bytes: u64,
    /// Rated cycles in SLC mode, natively, and in the second tier.
    slc_cycles: u64,
    native_cycles: u64,
    tier_cycles: u64,
    celsius: f64,
    warning_celsius: f64,
    states: StateTimes,
    heat: ThermalTimes,
    energy_fj: u128,
    power: PowerCycles,
    reserve: Reserve,
    /// Life used and nanoseconds in use before the drive was built.
    worn_before: f64,
    age_ns: u64,
    /// Rows made anew from parity.
    rebuilt: u64,
}

/// Blocks to fall back on.
struct Reserve {
    /// Of the plane that has the fewest, now and in a new drive.
    spares: u64,
    spares_at_first: u64,
    /// Superblocks taken out of use.
    retired: u64,
    /// Blocks that failed in use.
    grown_bad: u64,
    read_only: bool,
}

impl Facts<'_> {
    /// Those of a drive whose superblocks are larger, after as many times the work: times of heat
    /// aside, of which a part of a life tells nothing.
    pub(crate) fn of_larger(mut self, times: u64) -> Self {
        let more = times.saturating_sub(1);
        let (host, counters, states) = (self.host, self.counters, self.states);
        self.host.add(&host, more);
        self.counters.add(&counters, more);
        let c = &mut self.counters;
        // As many superblocks were erased, which are larger.
        (c.slc_erases, c.native_erases, c.tier_erases) = (
            counters.slc_erases,
            counters.native_erases,
            counters.tier_erases,
        );
        self.states.add(&states, more);
        for count in [
            &mut self.capacity_bytes,
            &mut self.label.rated_tbw_bytes,
            &mut self.now_ns,
            &mut self.slc_bytes,
            &mut self.native_bytes,
            &mut self.tier_bytes,
            &mut self.rebuilt,
        ] {
            *count = count.saturating_mul(times);
        }
        self.energy_fj = self.energy_fj.saturating_mul(times.into());
        self
    }

    /// Percent of the spare blocks that are left; on a drive without any, of the superblocks.
    pub(crate) fn spare_percent(&self) -> u64 {
        let r = &self.reserve;
        let superblocks = (self.superblocks - r.retired) * 100 / self.superblocks;
        let spares = (r.spares * 100).checked_div(r.spares_at_first);
        spares.unwrap_or(superblocks)
    }

    pub(crate) fn read_bytes(&self) -> u64 {
        self.host.bytes(Op::Read)
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.host.bytes(Op::Write)
    }

    /// Life used: cycles used over cycles rated, each mode's for itself, the mean over all
    /// superblocks. Beyond 1 the drive outlives its rating.
    pub(crate) fn worn(&self) -> f64 {
        let c = &self.counters;
        let slc = c.slc_erases as f64 / self.slc_cycles as f64;
        let native = c.native_erases as f64 / self.native_cycles as f64;
        let tier = c.tier_erases as f64 / self.tier_cycles as f64;
        (slc + native + tier) / self.superblocks as f64
    }

    /// The same in whole percent, rounded down; more than 100 is possible.
    pub(crate) fn percent_used(&self) -> u64 {
        let (slc, native) = (u128::from(self.slc_cycles), u128::from(self.native_cycles));
        let (tier, c) = (u128::from(self.tier_cycles), &self.counters);
        let used = u128::from(c.slc_erases) * native * tier
            + u128::from(c.native_erases) * slc * tier
            + u128::from(c.tier_erases) * slc * native;
        (used * 100 / (slc * native * tier * u128::from(self.superblocks))) as u64
    }

    /// What is left of 100, never below `least`.
    pub(crate) fn percent_left(&self, least: u64) -> u64 {
        100_u64.saturating_sub(self.percent_used()).max(least)
    }

    /// Times that a block was erased on average, in whatever mode.
    pub(crate) fn erases_mean(&self) -> u64 {
        let c = &self.counters;
        (c.slc_erases + c.native_erases + c.tier_erases) / self.superblocks
    }

    /// Bytes of all superblocks that were erased, each as often as it was.
    pub(crate) fn erased_bytes(&self) -> u64 {
        let c = &self.counters;
        c.slc_erases * self.slc_bytes
            + c.native_erases * self.native_bytes
            + c.tier_erases * self.tier_bytes
    }

    /// Nanoseconds with the power on.
    pub(crate) fn on_ns(&self) -> u64 {
        self.now_ns - self.states.off
    }

    /// Commands that brought no data, or wrong data that was found out.
    pub(crate) fn media_errors(&self) -> u64 {
        self.host.failed(Status::Unreadable) + self.host.failed(Status::Corrupt)
    }

    pub(crate) fn hours(&self) -> u64 {
        (self.age_ns + self.on_ns()) / HOUR_NS
    }

    /// Whole degrees, as sensors report them.
    pub(crate) fn degrees(&self) -> i64 {
        libm::floor(self.celsius) as i64
    }
}

/// SMART data as `smartctl --json` prints it, and what a twin knows beyond it.
pub(crate) fn told<P: Policies>(facts: &Facts<'_>, ftl: &Ftl<P>) -> Value {
    let mut answer = general(facts);
    match facts.label.family {
        Family::None => {}
        Family::Nvme => nvme::add(&mut answer, facts),
        _ => ata::add(&mut answer, facts),
    }
    if ftl.placement_handles() > 1 {
        let log = nvme::placement_statistics(facts);
        answer.insert("nvme_fdp_statistics".to_owned(), log);
    }
    answer.insert("flashtwin".to_owned(), endurance::section(facts));
    Value::Object(answer)
}

/// SMART data, beside it the cycles by mode, and the spare that is left.
pub(crate) fn lived<P: Policies>(facts: &Facts<'_>, ftl: &Ftl<P>) -> Value {
    let superblocks = ftl.superblocks().iter();
    let (slc, native) = (superblocks.clone(), superblocks.clone());
    json!({
        "smart": told(facts, ftl),
        "spare_percent": facts.spare_percent(),
        "read_only": facts.reserve.read_only,
        "cycles": {
            "slc": cycles(slc.map(|block| block.slc_cycles), facts.slc_cycles),
            "native": cycles(native.map(|block| block.native_cycles), facts.native_cycles),
            "tier": cycles(superblocks.map(|block| block.tier_cycles), facts.tier_cycles),
        },
    })
}

/// Cycles in a mode of the superblocks that were ever used in it.
fn cycles(of_each: impl Iterator<Item = u32>, rated: u64) -> Value {
    let used: Vec<u64> = of_each
        .filter(|&cycles| cycles > 0)
        .map(u64::from)
        .collect();
    json!({
        "superblocks": used.len(),
        "mean": used.iter().sum::<u64>() as f64 / used.len().max(1) as f64,
        "most": used.iter().max().unwrap_or(&0),
        "rated": rated,
    })
}

/// What smartctl says of any drive.
fn general(facts: &Facts<'_>) -> Map<String, Value> {
    let protocol = if facts.label.family == Family::Nvme {
        json!({ "protocol": "NVMe", "type": "nvme" })
    } else {
        json!({ "protocol": "ATA", "type": "sat" })
    };
    let blocks = facts.capacity_bytes / SECTOR_BYTES;
    // Whoever reads counters has to know the maker: the same number means something else elsewhere.
    let maker = match facts.label.family {
        Family::None | Family::Nvme => None,
        Family::Micron => Some("Micron"),
        Family::Intel => Some("Intel"),
        Family::Samsung => Some("Samsung"),
        Family::SandForce => Some("SandForce"),
        Family::Wd => Some("Western Digital"),
    };
    let mut all = json!({
        "device": protocol,
        "model_name": facts.id,
        "user_capacity": { "blocks": blocks, "bytes": facts.capacity_bytes },
        "logical_block_size": SECTOR_BYTES,
        "power_on_time": { "hours": facts.hours() },
        "power_cycle_count": facts.power.on,
        "temperature": { "current": facts.degrees() },
    });
    if let Some(maker) = maker {
        all["model_family"] = format!("{maker}, simulated").into();
    }
    match all {
        Value::Object(map) => map,
        _ => unreachable!("it was written as an object"),
    }
}
