//! From checked values to the config that the drive is built from: every field from a key, no
//! defaults.

use flashtwin_base::Nanos;
use flashtwin_ftl::Policy;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::policy::{Durability, Failures, Fdp, Gc, MapPolicy, Residency, Wear};
use flashtwin_nand::error::{ErrorRates, YEAR};
use flashtwin_nand::part::{Geometry, LaterPasses, ModeTiming, Part, Program, Suspend, TierMode};
use flashtwin_nand::{DiePower, Variation};

use super::keys::{self as key, Name};
use super::parts;
use super::value::{Datum, Form};
use super::values::Values;
use super::words::{Fua, MapMode, PairedPages};
use crate::config::{
    Config, Controller, Errors, Flush, Heat, IdleState, Label, Link, LinkKind, OperationTimes,
    PowerDraw, Throttle, Trim,
};

/// A view of checked values: every key has a value of the right kind.
struct Checked<'a>(&'a Values);

impl Checked<'_> {
    fn get<T: Form>(&self, key: Name<T>) -> T {
        let value = self.0.of(key);
        value.unwrap_or_else(|| panic!("{} was checked", key.name))
    }

    fn count(&self, key: Name<u64>) -> u32 {
        u32::try_from(self.get(key)).expect("the kind of the key bounds it")
    }

    fn time(&self, key: Name<u64>) -> Nanos {
        Nanos(self.get(key))
    }

    fn time_or_never(&self, key: Name<Option<u64>>) -> Option<Nanos> {
        self.get(key).map(Nanos)
    }

    /// A number in thousandths.
    fn factor(&self, key: Name<u64>) -> f64 {
        self.get(key) as f64 / 1000.0
    }

    /// The count of a key that an order of victims has of its own.
    fn own_count(&self, key: &str) -> u32 {
        self.0.number(key).expect("it was checked") as u32
    }
}

/// Builds the config of a drive whose values have passed every check.
pub(super) fn config(id: &str, values: &Values) -> Config {
    let checked = Checked(values);
    Config {
        id: id.to_owned(),
        capacity_bytes: checked.get(key::Drive::capacity),
        part: part(&checked),
        policy: policy(&checked),
        errors: errors(&checked),
        controller: controller(&checked),
        link: link(&checked),
        age: Nanos(checked.get(key::Drive::initial_age) * (YEAR.0 / 1000)),
        label: label(&checked),
        power: power(&checked),
        heat: heat(&checked),
    }
}

/// The timing of the section of a mode, with as many page types as it has bits.
macro_rules! mode {
    ($checked:ident, $mode:ident, $bits:expr) => {
        ModeTiming {
            read: match $checked.get(key::$mode::tr) {
                Datum::Times(times) => times.into_iter().map(Nanos).collect(),
                time => vec![nanos(&time); $bits as usize],
            },
            program: match $checked.get(key::$mode::tprog) {
                Datum::Times(times) => Program::PageByPage(times.into_iter().map(Nanos).collect()),
                time => Program::OneShot(nanos(&time)),
            },
            erase: $checked.time(key::$mode::tbers),
            endurance_cycles: $checked.count(key::$mode::endurance),
        }
    };
}

fn part(checked: &Checked<'_>) -> Part {
    let cell = checked.get(key::Nand::cell);
    Part {
        geometry: Geometry {
            channels: checked.count(key::Nand::channels),
            dies_per_channel: checked.count(key::Nand::dies_per_channel),
            planes: checked.count(key::Nand::planes),
            blocks_per_plane: checked.count(key::Nand::blocks_per_plane),
            wordlines_per_block: checked.count(key::Nand::wordlines_per_block),
            page_bytes: checked.count(key::Nand::page_size),
            cell,
        },
        slc: mode!(checked, NandSlc, 1),
        native: mode!(checked, NandNative, cell.bits()),
        tier: match checked.count(key::NandTier::bits) {
            0 => None,
            bits => Some(TierMode {
                bits,
                timing: mode!(checked, NandTier, bits),
            }),
        },
        bus_bytes_per_s: checked.get(key::Nand::bus_rate),
        cache_program: checked.get(key::Nand::cache_program),
        independent_planes: checked.get(key::Nand::independent_planes),
        codeword_bytes: checked.count(key::Nand::codeword),
        later_passes: match checked.time(key::NandNative::second_pass) {
            Nanos::ZERO => None,
            second => Some(LaterPasses {
                times: [
                    second,
                    checked.time(key::NandNative::third_pass),
                    checked.time(key::NandNative::fourth_pass),
                ],
                distance_wordlines: checked.count(key::NandNative::pass_distance),
                transfers: checked.get(key::NandNative::pass_transfer),
            }),
        },
        suspend: Suspend {
            program: checked.get(key::NandSuspend::program),
            erase: checked.get(key::NandSuspend::erase),
            entry: checked.time(key::NandSuspend::entry),
            penalty: checked.time(key::NandSuspend::penalty),
            most: checked.count(key::NandSuspend::most),
            reads: checked.count(key::NandSuspend::reads),
        },
        variation: Variation {
            block: checked.count(key::NandVariation::block),
            layer: checked.count(key::NandVariation::layer),
            program_wear: checked.count(key::NandVariation::program_wear),
            erase_wear: checked.count(key::NandVariation::erase_wear),
        },
    }
}

fn nanos(datum: &Datum) -> Nanos {
    Nanos(u64::of(datum).expect("a time or a list of times"))
}

fn policy(checked: &Checked<'_>) -> Policy {
    Policy {
        unit_bytes: checked.count(key::Ftl::mapping_unit),
        compression_ratio: checked.count(key::Compression::best_ratio),
        coalesce: checked.get(key::Controller::coalesce),
        pads_pages: checked.get(key::Ftl::pad_pages),
        system_bytes: checked.get(key::Ftl::system),
        parity: checked.get(key::Ftl::parity),
        durability: Durability {
            checkpoint_bytes: checked.get(key::Ftl::checkpoint),
            trim_journal: checked.get(key::Ftl::trim_journal),
            pairs_lost: checked.get(key::Ftl::paired_pages) == PairedPages::Lost,
        },
        superblock_dies: checked.count(key::Ftl::superblock_dies),
        map: map(checked),
        cache: parts::policy(checked.0).expect("the cache was checked"),
        gc: collection(checked),
        fdp: placement(checked),
        wear: wear(checked),
    }
}

fn map(checked: &Checked<'_>) -> MapPolicy {
    let residency = checked.get(key::Map::residency);
    if residency == Residency::Dram {
        return MapPolicy::in_dram();
    }
    let hmb = residency == Residency::HostMemory;
    MapPolicy {
        residency,
        cache_bytes: checked.get(key::Map::cache),
        host_bytes: if hmb { checked.get(key::Map::hmb) } else { 0 },
        entry_bytes: checked.count(key::Map::entry),
        mode: match checked.get(key::Map::mode) {
            MapMode::Native => Mode::Native,
            MapMode::Slc => Mode::Slc,
        },
        journal_bytes: checked.get(key::Map::journal),
        write_on_flush: checked.get(key::Map::write_on_flush),
        idle_after: checked.time_or_never(key::Map::idle_after),
    }
}

fn wear(checked: &Checked<'_>) -> Wear {
    Wear {
        dynamic: checked.get(key::Wear::dynamic),
        initial_cycles: checked.count(key::Drive::initial_cycles),
        static_threshold: checked.count(key::Wear::static_threshold),
        spares: checked.count(key::Wear::spares),
        bad_percent_milli: checked.count(key::Wear::bad_percent),
        weak_percent_milli: checked.count(key::Wear::weak_percent),
        program: failures(checked, key::Wear::program_failures),
        erase: failures(checked, key::Wear::erase_failures),
        read_only_at: checked.get(key::Wear::read_only_at),
    }
}

/// A key in thousandths of a failure in a million, that is failures in a thousand million.
fn failures(checked: &Checked<'_>, key: Name<u64>) -> Failures {
    Failures {
        at_rated_ppb: checked.get(key),
        growth: checked.count(key::Wear::failure_growth),
    }
}

fn controller(checked: &Checked<'_>) -> Controller {
    Controller {
        command: checked.time(key::Controller::command_time),
        buffer_bytes: checked.get(key::Controller::write_buffer),
        acknowledge: checked.get(key::Controller::acknowledge),
        power_loss_protection: checked.get(key::Controller::plp),
        flush: Flush {
            how: checked.get(key::Controller::flush),
            after_fua: checked.get(key::Controller::fua) == Fua::Flush,
            time: checked.time(key::Controller::flush_time),
            pages: checked.count(key::Controller::flush_pages),
        },
        gather: checked.get(key::Controller::gather),
        gather_time: checked.time(key::Controller::gather_time),
        overlap: checked.get(key::Controller::overlap),
        read_priority: checked.get(key::Controller::read_priority),
        reads_first: checked.get(key::Controller::reads_first) as u32,
        read_ahead_streams: checked.count(key::Controller::read_ahead_streams),
        read_ahead_bytes: checked.get(key::Controller::read_ahead),
        cores: checked.count(key::Controller::cores),
        native_programs: checked.count(key::Controller::native_programs),
        operations: OperationTimes {
            read: checked.time(key::Controller::read_time),
            program: checked.time(key::Controller::program_time),
            kib: checked.time(key::Controller::kib_time),
            moved: checked.time(key::Controller::move_time),
        },
        data_bytes_per_s: checked.get(key::Controller::data_rate),
        trim: Trim {
            command: checked.time(key::Controller::trim_time),
            per_gb: checked.time(key::Controller::trim_gb_time),
            alone: checked.get(key::Controller::trim_alone),
        },
        secure_erase: checked.get(key::Controller::secure_erase),
        end_to_end: checked.get(key::Controller::end_to_end),
        idle_share_milli: checked.get(key::Controller::idle_share) as u32,
        idle_window: checked.time(key::Controller::idle_window),
        longest_wait: checked.time(key::Controller::longest_wait),
        foretold_wait: Nanos::ZERO,
        host_memory_latency: checked.time(key::Map::hmb_latency),
        codeword_bytes: checked.count(key::Nand::codeword),
        compression_bytes_per_s: checked.get(key::Compression::rate),
    }
}

fn link(checked: &Checked<'_>) -> Link {
    let raw = super::check::link::RawLink::read(checked.0).expect("the link was checked");
    Link {
        kind: checked.get(key::Link::kind),
        bytes_per_s: match checked.get(key::Link::rate) {
            0 => raw.payload(),
            rate => rate,
        },
        queue_depth: checked.count(key::Link::queues) * checked.count(key::Link::queue_depth),
        submit: checked.time(key::Link::submit_time),
        complete: checked.time(key::Link::complete_time),
        frame: checked.time(key::Link::frame_time),
        activate: match checked.get(key::Link::kind) {
            LinkKind::Sata => checked.time(key::Link::activate_time),
            LinkKind::Nvme => Nanos::ZERO,
        },
    }
}

fn label(checked: &Checked<'_>) -> Label {
    Label {
        rated_tbw_bytes: checked.get(key::Drive::rated_tbw),
        warranty_years: checked.count(key::Drive::warranty_years),
        family: checked.get(key::Smart::family),
    }
}

fn power(checked: &Checked<'_>) -> PowerDraw {
    macro_rules! state {
        ($state:ident) => {
            IdleState {
                after: checked
                    .time_or_never(key::$state::after)
                    .unwrap_or(Nanos::NEVER),
                power_uw: checked.get(key::$state::power),
                entry: checked.time(key::$state::entry),
                exit: checked.time(key::$state::exit),
            }
        };
    }
    PowerDraw {
        flash: DiePower {
            read_uw: checked.get(key::Power::flash_read),
            program_uw: checked.get(key::Power::flash_program),
            erase_uw: checked.get(key::Power::flash_erase),
            transfer_uw: checked.get(key::Power::flash_transfer),
            standby_uw: checked.get(key::Power::flash_standby),
        },
        link_uw: checked.get(key::Power::link),
        active_uw: checked.get(key::Power::active),
        idle_uw: checked.get(key::Power::idle),
        light: state!(PowerLight),
        deep: state!(PowerDeep),
    }
}

fn heat(checked: &Checked<'_>) -> Heat {
    macro_rules! step {
        ($step:ident) => {
            Throttle {
                start_mc: checked.get(key::$step::start),
                stop_mc: checked.get(key::$step::stop),
                speed_milli: checked.get(key::$step::speed),
            }
        };
    }
    Heat {
        ambient_mc: checked.get(key::Thermal::ambient),
        resistance_mk_per_w: checked.get(key::Thermal::resistance),
        capacity_mj_per_k: checked.get(key::Thermal::capacity),
        fan_milli: checked.get(key::Thermal::fan),
        warning_mc: checked.get(key::Thermal::warning),
        critical_mc: checked.get(key::Thermal::critical),
        throttle: step!(ThermalThrottle),
        heavy: step!(ThermalHeavy),
    }
}

fn collection(checked: &Checked<'_>) -> Gc {
    Gc {
        victim: checked
            .get(key::Gc::policy)
            .with(&|key| checked.own_count(key)),
        low_superblocks: checked.count(key::Gc::low),
        high_superblocks: checked.count(key::Gc::high),
        reserve_superblocks: checked.count(key::Gc::reserve),
        pace: checked.get(key::Gc::pace),
        idle_after: checked.time_or_never(key::Gc::idle_after),
        idle_superblocks: checked.count(key::Gc::idle_target),
        recycler: checked.get(key::Gc::recycler),
        separation: checked.get(key::Gc::separation).with(
            checked.count(key::Gc::hot_share),
            checked.count(key::Gc::hot_pool),
        ),
    }
}

fn placement(checked: &Checked<'_>) -> Fdp {
    Fdp {
        handles: checked.count(key::Fdp::handles),
        isolation: checked.get(key::Fdp::isolation),
    }
}

/// The rates of the section of a mode.
macro_rules! rates {
    ($checked:ident, $mode:ident) => {
        ErrorRates {
            fresh: $checked.factor(key::$mode::fresh),
            wear: $checked.factor(key::$mode::wear),
            retention_fresh: $checked.factor(key::$mode::retention_fresh),
            retention: $checked.factor(key::$mode::retention),
            disturb_fresh: $checked.factor(key::$mode::disturb_fresh),
            disturb: $checked.factor(key::$mode::disturb),
            wear_power: $checked.factor(key::Errors::wear_power),
            retention_power: $checked.factor(key::Errors::retention_power),
        }
    };
}

fn errors(checked: &Checked<'_>) -> Errors {
    Errors {
        correctable: checked.count(key::Errors::correctable),
        page_spread: checked.factor(key::Errors::page_spread),
        retry_steps: checked.count(key::Errors::retry_steps) as u8,
        retry_gain: checked.factor(key::Errors::retry_gain),
        retry_time: checked.time(key::Errors::retry_time),
        soft_gain: checked.factor(key::Errors::soft_gain),
        soft_time: checked.time(key::Errors::soft_time),
        refresh_at: checked.factor(key::Errors::refresh_at),
        rebuild: checked.get(key::Errors::rebuild),
        copy_at: checked.factor(key::Fold::check_errors),
        activation_ev: checked.factor(key::Errors::activation_energy),
        retention_celsius: checked.factor(key::Errors::retention_temperature),
        slc: rates!(checked, ErrorsSlc),
        native: rates!(checked, ErrorsNative),
        slc_read_limit: u64::from(checked.count(key::ErrorsSlc::read_limit)),
        native_read_limit: u64::from(checked.count(key::ErrorsNative::read_limit)),
    }
}
