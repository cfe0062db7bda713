//! From checked values to the config that the drive is built from: every field from a key, no
//! defaults.

mod errors;
mod gc;

use flashtwin_base::Nanos;
use flashtwin_ftl::Policy;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::policy::{
    Durability, Failures, Levelling, MapPolicy, Parity, ReadOnlyAt, Residency, Wear,
};
use flashtwin_nand::error::YEAR;
use flashtwin_nand::part::{
    Cell, Geometry, LaterPasses, ModeTiming, Part, Program, Suspend, TierMode,
};
use flashtwin_nand::{DiePower, Variation};

use super::parts;
use super::value::{Datum, Values};
use crate::config::{
    Acknowledge, Config, Controller, Family, Heat, IdleState, Label, Link, LinkKind,
    OperationTimes, PowerDraw, SecureErase, Throttle, Trim,
};

/// A view of checked values: every key has a value of the right kind.
struct Checked<'a>(&'a Values);

impl Checked<'_> {
    fn number(&self, key: &str) -> u64 {
        self.0
            .number(key)
            .unwrap_or_else(|| panic!("{key} was checked"))
    }

    fn count(&self, key: &str) -> u32 {
        u32::try_from(self.number(key)).unwrap_or_else(|_| panic!("{key} was checked"))
    }

    fn time(&self, key: &str) -> Nanos {
        Nanos(self.number(key))
    }

    /// A number; none for "never".
    fn unless_never(&self, key: &str) -> Option<u64> {
        match self.datum(key) {
            Datum::Never => None,
            _ => Some(self.number(key)),
        }
    }

    fn time_or_never(&self, key: &str) -> Option<Nanos> {
        match self.datum(key) {
            Datum::Never => None,
            _ => Some(self.time(key)),
        }
    }

    fn flag(&self, key: &str) -> bool {
        self.0
            .flag(key)
            .unwrap_or_else(|| panic!("{key} was checked"))
    }

    fn word(&self, key: &str) -> &'static str {
        self.0
            .word(key)
            .unwrap_or_else(|| panic!("{key} was checked"))
    }

    fn datum(&self, key: &str) -> &Datum {
        &self
            .0
            .entry(key)
            .unwrap_or_else(|| panic!("{key} was checked"))
            .datum
    }
}

/// Builds the config of a drive whose values have passed every check.
pub(super) fn config(id: &str, values: &Values) -> Config {
    let checked = Checked(values);
    Config {
        id: id.to_owned(),
        capacity_bytes: checked.number("drive.capacity"),
        part: part(&checked),
        policy: policy(&checked),
        errors: errors::errors(&checked),
        controller: controller(&checked),
        link: link(&checked),
        age: Nanos(checked.number("drive.initial_age") * (YEAR.0 / 1000)),
        label: label(&checked),
        power: power(&checked),
        heat: heat(&checked),
    }
}

fn part(checked: &Checked<'_>) -> Part {
    let cell = match checked.word("nand.cell") {
        "slc" => Cell::Slc,
        "mlc" => Cell::Mlc,
        "tlc" => Cell::Tlc,
        _ => Cell::Qlc,
    };
    Part {
        geometry: Geometry {
            channels: checked.count("nand.channels"),
            dies_per_channel: checked.count("nand.dies_per_channel"),
            planes: checked.count("nand.planes"),
            blocks_per_plane: checked.count("nand.blocks_per_plane"),
            wordlines_per_block: checked.count("nand.wordlines_per_block"),
            page_bytes: checked.count("nand.page_size"),
            cell,
        },
        slc: mode(checked, "nand.slc", 1),
        native: mode(checked, "nand.native", cell.bits()),
        tier: match checked.count("nand.tier.bits") {
            0 => None,
            bits => Some(TierMode {
                bits,
                timing: mode(checked, "nand.tier", bits),
            }),
        },
        bus_bytes_per_s: checked.number("nand.bus_rate"),
        cache_program: checked.flag("nand.cache_program"),
        independent_planes: checked.flag("nand.independent_planes"),
        codeword_bytes: checked.count("nand.codeword"),
        later_passes: match checked.time("nand.native.second_pass") {
            Nanos::ZERO => None,
            second => Some(LaterPasses {
                times: [
                    second,
                    checked.time("nand.native.third_pass"),
                    checked.time("nand.native.fourth_pass"),
                ],
                distance_wordlines: checked.count("nand.native.pass_distance"),
                transfers: checked.flag("nand.native.pass_transfer"),
            }),
        },
        suspend: Suspend {
            program: checked.flag("nand.suspend.program"),
            erase: checked.flag("nand.suspend.erase"),
            entry: checked.time("nand.suspend.entry"),
            penalty: checked.time("nand.suspend.penalty"),
            most: checked.count("nand.suspend.most"),
            reads: checked.count("nand.suspend.reads"),
        },
        variation: Variation {
            block: checked.count("nand.variation.block"),
            layer: checked.count("nand.variation.layer"),
            program_wear: checked.count("nand.variation.program_wear"),
            erase_wear: checked.count("nand.variation.erase_wear"),
        },
    }
}

fn mode(checked: &Checked<'_>, section: &str, bits: u32) -> ModeTiming {
    let nanos = |times: &[u64]| times.iter().copied().map(Nanos).collect::<Vec<_>>();
    let read = match checked.datum(&format!("{section}.tr")) {
        Datum::Times(times) => nanos(times),
        _ => vec![checked.time(&format!("{section}.tr")); bits as usize],
    };
    let program = match checked.datum(&format!("{section}.tprog")) {
        Datum::Times(times) => Program::PageByPage(nanos(times)),
        _ => Program::OneShot(checked.time(&format!("{section}.tprog"))),
    };
    ModeTiming {
        read,
        program,
        erase: checked.time(&format!("{section}.tbers")),
        endurance_cycles: checked.count(&format!("{section}.endurance")),
    }
}

fn policy(checked: &Checked<'_>) -> Policy {
    Policy {
        unit_bytes: checked.count("ftl.mapping_unit"),
        compression_ratio: checked.count("compression.best_ratio"),
        coalesce: checked.flag("controller.coalesce"),
        system_bytes: checked.number("ftl.system"),
        parity: match checked.word("ftl.parity") {
            "stripe" => Parity::Stripe,
            _ => Parity::None,
        },
        durability: Durability {
            checkpoint_bytes: checked.number("ftl.checkpoint"),
            trim_journal: checked.flag("ftl.trim_journal"),
            pairs_lost: checked.word("ftl.paired_pages") == "lost",
        },
        superblock_dies: checked.count("ftl.superblock_dies"),
        map: map(checked),
        cache: parts::policy(checked.0).expect("the cache was checked"),
        gc: gc::policy(checked),
        fdp: gc::placement(checked),
        wear: wear(checked),
    }
}

fn map(checked: &Checked<'_>) -> MapPolicy {
    let residency = match checked.word("map.residency") {
        "dram" => return MapPolicy::in_dram(),
        "demand" => Residency::Demand,
        _ => Residency::HostMemory,
    };
    let hmb = residency == Residency::HostMemory;
    MapPolicy {
        residency,
        cache_bytes: checked.number("map.cache"),
        host_bytes: if hmb { checked.number("map.hmb") } else { 0 },
        entry_bytes: checked.count("map.entry"),
        mode: match checked.word("map.mode") {
            "native" => Mode::Native,
            _ => Mode::Slc,
        },
        journal_bytes: checked.number("map.journal"),
        write_on_flush: checked.flag("map.write_on_flush"),
        idle_after: checked.time_or_never("map.idle_after"),
    }
}

fn wear(checked: &Checked<'_>) -> Wear {
    Wear {
        dynamic: match checked.word("wear.dynamic") {
            "none" => Levelling::None,
            "fifo" => Levelling::Fifo,
            _ => Levelling::LeastWorn,
        },
        initial_cycles: checked.count("drive.initial_cycles"),
        static_threshold: checked.count("wear.static_threshold"),
        spares: checked.count("wear.spares"),
        bad_percent_milli: checked.count("wear.bad_percent"),
        weak_percent_milli: checked.count("wear.weak_percent"),
        program: failures(checked, "wear.program_failures"),
        erase: failures(checked, "wear.erase_failures"),
        read_only_at: match checked.word("wear.read_only_at") {
            "reserve-gone" => ReadOnlyAt::ReserveGone,
            "spares-gone" => ReadOnlyAt::SparesGone,
            _ => ReadOnlyAt::RatedWear,
        },
    }
}

/// A key in thousandths of a failure in a million, that is failures in a thousand million.
fn failures(checked: &Checked<'_>, key: &str) -> Failures {
    Failures {
        at_rated_ppb: checked.number(key),
        growth: checked.count("wear.failure_growth"),
    }
}

fn controller(checked: &Checked<'_>) -> Controller {
    Controller {
        command: checked.time("controller.command_time"),
        buffer_bytes: checked.number("controller.write_buffer"),
        acknowledge: match checked.word("controller.acknowledge") {
            "write-back" => Acknowledge::WriteBack,
            _ => Acknowledge::WriteThrough,
        },
        power_loss_protection: checked.flag("controller.plp"),
        gather: checked.flag("controller.gather"),
        gather_time: checked.time("controller.gather_time"),
        overlap: checked.flag("controller.overlap"),
        read_priority: checked.flag("controller.read_priority"),
        reads_first: checked.number("controller.reads_first") as u32,
        read_ahead_streams: checked.count("controller.read_ahead_streams"),
        read_ahead_bytes: checked.number("controller.read_ahead"),
        cores: checked.count("controller.cores"),
        operations: OperationTimes {
            read: checked.time("controller.read_time"),
            program: checked.time("controller.program_time"),
            kib: checked.time("controller.kib_time"),
            moved: checked.time("controller.move_time"),
        },
        data_bytes_per_s: checked.number("controller.data_rate"),
        trim: Trim {
            command: checked.time("controller.trim_time"),
            per_gb: checked.time("controller.trim_gb_time"),
            alone: checked.flag("controller.trim_alone"),
        },
        secure_erase: match checked.word("controller.secure_erase") {
            "block" => SecureErase::Block,
            _ => SecureErase::Crypto,
        },
        end_to_end: checked.flag("controller.end_to_end"),
        host_memory_latency: checked.time("map.hmb_latency"),
        codeword_bytes: checked.count("nand.codeword"),
        compression_bytes_per_s: checked.number("compression.rate"),
    }
}

fn link(checked: &Checked<'_>) -> Link {
    let raw = super::check::link::RawLink::read(checked.0).expect("the link was checked");
    Link {
        kind: match checked.word("link.kind") {
            "sata" => LinkKind::Sata,
            _ => LinkKind::Nvme,
        },
        bytes_per_s: match checked.number("link.rate") {
            0 => raw.payload(),
            rate => rate,
        },
        queue_depth: checked.count("link.queues") * checked.count("link.queue_depth"),
        submit: checked.time("link.submit_time"),
        complete: checked.time("link.complete_time"),
        frame: checked.time("link.frame_time"),
        activate: match checked.word("link.kind") {
            "sata" => checked.time("link.activate_time"),
            _ => Nanos::ZERO,
        },
    }
}

fn label(checked: &Checked<'_>) -> Label {
    Label {
        rated_tbw_bytes: checked.number("drive.rated_tbw"),
        warranty_years: checked.count("drive.warranty_years"),
        family: match checked.word("smart.family") {
            "nvme" => Family::Nvme,
            "micron" => Family::Micron,
            "intel" => Family::Intel,
            "samsung" => Family::Samsung,
            "sandforce" => Family::SandForce,
            "wd" => Family::Wd,
            _ => Family::None,
        },
    }
}

fn power(checked: &Checked<'_>) -> PowerDraw {
    let state = |name: &str| {
        let key = |what: &str| format!("power.{name}.{what}");
        IdleState {
            after: checked
                .unless_never(&key("after"))
                .map_or(Nanos::NEVER, Nanos),
            power_uw: checked.number(&key("power")),
            entry: checked.time(&key("entry")),
            exit: checked.time(&key("exit")),
        }
    };
    PowerDraw {
        flash: DiePower {
            read_uw: checked.number("power.flash_read"),
            program_uw: checked.number("power.flash_program"),
            erase_uw: checked.number("power.flash_erase"),
            transfer_uw: checked.number("power.flash_transfer"),
            standby_uw: checked.number("power.flash_standby"),
        },
        link_uw: checked.number("power.link"),
        active_uw: checked.number("power.active"),
        idle_uw: checked.number("power.idle"),
        light: state("light"),
        deep: state("deep"),
    }
}

fn heat(checked: &Checked<'_>) -> Heat {
    let step = |name: &str| {
        let key = |what: &str| format!("thermal.{name}.{what}");
        Throttle {
            start_mc: checked.unless_never(&key("start")),
            stop_mc: checked.number(&key("stop")),
            speed_milli: checked.number(&key("speed")),
        }
    };
    Heat {
        ambient_mc: checked.number("thermal.ambient"),
        resistance_mk_per_w: checked.number("thermal.resistance"),
        capacity_mj_per_k: checked.number("thermal.capacity"),
        fan_milli: checked.number("thermal.fan"),
        warning_mc: checked.number("thermal.warning"),
        critical_mc: checked.number("thermal.critical"),
        throttle: step("throttle"),
        heavy: step("heavy"),
    }
}
