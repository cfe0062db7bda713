//! A drive's checked specification. Only [`crate::spec`] builds it.

use flashtwin_base::Nanos;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::{Footprint, Policy};
use flashtwin_nand::error::ErrorRates;
use flashtwin_nand::{DiePower, Part};

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// In the volatile buffer.
    WriteBack,
    /// Programmed.
    WriteThrough,
}

/// The controller and its firmware's handling of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Firmware time a command, serial.
    pub command: Nanos,
    /// Bytes of host data that the write buffer holds until programmed.
    pub buffer_bytes: u64,
    /// When a write is acknowledged.
    pub acknowledge: Acknowledge,
    /// Capacitors feed the programs of what is in RAM when the power goes: what is acknowledged is
    /// durable.
    pub power_loss_protection: bool,
    /// Flushes, and writes with FUA.
    pub flush: Flush,
    /// Small writes wait in the buffer until a program granule is full; otherwise they are padded.
    pub gather: bool,
    /// A partly filled granule is padded and programmed after so long without a write.
    pub gather_time: Nanos,
    /// Host transfers go on while the buffer is being programmed; otherwise the two take turns.
    pub overlap: bool,
    /// Reads overtake programs and erases that wait for the same die.
    pub read_priority: bool,
    /// So many of them at the most before the first that waits.
    pub reads_first: u32,
    /// Sequential read streams that are recognised; 0 = no read-ahead.
    pub read_ahead_streams: u32,
    /// Bytes read ahead of a sequential stream.
    pub read_ahead_bytes: u64,
    /// Cores that understand commands, each one at a time.
    pub cores: u32,
    /// What a flash operation costs a core.
    pub operations: OperationTimes,
    /// Bytes a second that go between controller and flash, all channels together; 0 = as much as
    /// the channels carry.
    pub data_bytes_per_s: u64,
    /// What a TRIM costs.
    pub trim: Trim,
    /// What a secure erase does.
    pub secure_erase: SecureErase,
    /// Check data travels with every sector from link to flash.
    pub end_to_end: bool,
    /// The host's share of the time under which work in the background goes on beside it, in
    /// thousandths; 0 = only in silence.
    pub idle_share_milli: u32,
    /// The time that the share is of.
    pub idle_window: Nanos,
    /// Native programs that dies have in hand at once, all dies together; 0 = without a limit.
    pub native_programs: u32,
    /// Longest that its own work may keep a command waiting; longer is told.
    pub longest_wait: Nanos,
    /// The longest wait of a write that the warnings about the spec foretell; 0 without one.
    pub foretold_wait: Nanos,
    /// Round trip to the host's memory, where it holds pages of the map.
    pub host_memory_latency: Nanos,
    /// Bytes of user data of an ECC codeword; 0 where reads move whole mapping units.
    pub codeword_bytes: u32,
    /// Bytes a second that a compressing controller takes in; 0 = as much as comes.
    pub compression_bytes_per_s: u64,
}

impl Controller {
    /// A write that has to be on flash is there when it is answered, and with a flush all that was
    /// written before.
    #[must_use]
    pub fn honours_fua(&self) -> bool {
        !self.power_loss_protection && self.flush.how != Flushing::Ignored
    }
}

/// The firmware's ways with flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// Each has what waits programmed at once.
    Single,
    /// Those that wait together are one, and one is under way at a time.
    Grouped,
    /// Nothing: they are answered at once.
    Ignored,
}

/// The work of a flush, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The firmware's way with it.
    pub how: Flushing,
    /// A write with FUA is answered as if a flush followed it.
    pub after_fua: bool,
    /// The firmware's time for it.
    pub time: Nanos,
    /// Pages of the map's journal that follow its data one after another.
    pub pages: u32,
}

/// The firmware's time for flash operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationTimes {
    /// Each read.
    pub read: Nanos,
    /// Each page of a wordline that is programmed on all planes of a die, and each erase.
    pub program: Nanos,
    /// Each KiB that goes between controller and flash.
    pub kib: Nanos,
    /// Each unit that folding or collection moves.
    pub moved: Nanos,
}

/// The firmware's time for a TRIM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Whatever its length.
    pub command: Nanos,
    /// For each GB (10^9 bytes) that it covers.
    pub per_gb: Nanos,
    /// It runs with nothing beside it.
    pub alone: bool,
}

/// What a secure erase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureErase {
    /// Erases every used block before it is done.
    Block,
    /// Throws the keys away; blocks are erased later.
    Crypto,
}

/// Which host link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// One direction at a time, one queue of 32 commands.
    Sata,
    /// Both directions at once, many queues.
    Nvme,
}

/// The host link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Which.
    pub kind: LinkKind,
    /// Payload bytes a second in one direction, after encoding and framing.
    pub bytes_per_s: u64,
    /// Commands that the drive takes at once, in all its queues.
    pub queue_depth: u32,
    /// From the host's doorbell until the firmware can see a command.
    pub submit: Nanos,
    /// From the end of a command until the host sees it.
    pub complete: Nanos,
    /// Link time a read or write takes beside its data.
    pub frame: Nanos,
    /// Link time in which the drive asks for each 8 KiB of a write's data; none but on SATA.
    pub activate: Nanos,
}

/// Whose SMART data a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Nobody's.
    None,
    /// The health log of the NVMe standard.
    Nvme,
    /// ATA attributes of Micron and Crucial.
    Micron,
    /// ATA attributes of Intel.
    Intel,
    /// ATA attributes of Samsung.
    Samsung,
    /// ATA attributes of SandForce controllers.
    SandForce,
    /// ATA attributes of Western Digital.
    Wd,
}

/// What the maker promises and what the drive says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Host bytes vouched for; 0 = not said.
    pub rated_tbw_bytes: u64,
    /// Years of warranty; 0 = not said.
    pub warranty_years: u32,
    /// Whose SMART data it has.
    pub family: Family,
}

/// Bit errors, what corrects them, and refresh.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// Wrong bits a KiB that a first decode corrects; 0 without errors.
    pub correctable: u32,
    /// Share by which pages differ from the average one.
    pub page_spread: f64,
    /// Steps of the read-retry ladder.
    pub retry_steps: u8,
    /// How many times fewer wrong bits each step finds.
    pub retry_gain: f64,
    /// Time of a step.
    pub retry_time: Nanos,
    /// How many times more wrong bits a soft decode corrects.
    pub soft_gain: f64,
    /// Time of a soft decode.
    pub soft_time: Nanos,
    /// How many times the correctable bits data has when it is refreshed; 0 = never.
    pub refresh_at: f64,
    /// What the code cannot correct is made anew from the rest of its stripe.
    pub rebuild: bool,
    /// Share of the correctable bits from which on a checked fold does not copy inside the die;
    /// 0 = whatever they are.
    pub copy_at: f64,
    /// Activation energy of charge loss in electronvolts; 0 where heat does nothing.
    pub activation_ev: f64,
    /// Degrees Celsius that the rates of retention hold for.
    pub retention_celsius: f64,
    /// In SLC mode.
    pub slc: ErrorRates,
    /// In native mode.
    pub native: ErrorRates,
    /// Reads of a block in SLC mode after which its data is refreshed; 0 = never.
    pub slc_read_limit: u64,
    /// The same in native mode.
    pub native_read_limit: u64,
}

impl Errors {
    /// The rates of a mode. The second tier's are the native ones, at its own wear: an upper bound,
    /// for its levels lie further apart.
    #[must_use]
    pub fn of(&self, mode: Mode) -> &ErrorRates {
        match mode {
            Mode::Slc => &self.slc,
            Mode::Native | Mode::Tier => &self.native,
        }
    }

    /// Wrong bits a KiB of the average page where the worst page of a superblock has `times` the
    /// correctable ones.
    #[must_use]
    pub fn average_at(&self, times: f64) -> f64 {
        f64::from(self.correctable) * times / (1.0 + self.page_spread)
    }

    /// How many times the correctable bits the whole ladder and the soft decode put right.
    #[must_use]
    pub fn most(&self) -> f64 {
        libm::pow(self.retry_gain, f64::from(self.retry_steps)) * self.soft_gain
    }

    /// Whether the data of a block in this mode, read so often, is refreshed for that alone.
    #[must_use]
    pub fn is_read_too_often(&self, mode: Mode, reads: u64) -> bool {
        let limit = match mode {
            Mode::Slc => self.slc_read_limit,
            Mode::Native | Mode::Tier => self.native_read_limit,
        };
        limit > 0 && reads >= limit
    }

    /// The time that retries add to a read, by how it ends: after each step of the ladder, after
    /// the soft decode, and last with an error.
    #[must_use]
    pub fn ladder(&self) -> Vec<Nanos> {
        let steps = u64::from(self.retry_steps);
        let mut times: Vec<Nanos> = (0..=steps).map(|n| Nanos(n * self.retry_time.0)).collect();
        let all = Nanos(steps * self.retry_time.0) + self.soft_time;
        // A read that fails takes as long as one that only the soft decode saves.
        times.extend([all, all]);
        times
    }
}

/// A drive that can be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Catalogue name.
    pub id: String,
    /// Bytes that the host sees.
    pub capacity_bytes: u64,
    /// The flash.
    pub part: Part,
    /// The firmware's decisions about data.
    pub policy: Policy,
    /// The controller.
    pub controller: Controller,
    /// The host link.
    pub link: Link,
    /// Bit errors and what corrects them.
    pub errors: Errors,
    /// How old it is when it is built.
    pub age: Nanos,
    /// What its maker says.
    pub label: Label,
    /// What it draws.
    pub power: PowerDraw,
    /// How warm it gets.
    pub heat: Heat,
}

/// What a drive takes whatever its flash: queues, dies, scratch.
const FIXED_BYTES: u64 = 2 << 20;
/// A command of the queue, and a unit of the write buffer, with all that is kept of each.
const COMMAND_BYTES: u64 = 512;
const BUFFERED_BYTES: u64 = 64;

impl Config {
    /// Bytes of this machine's memory that the simulated drive will take, as far as it is known
    /// before it is built: its tables, without the samples of an X-ray.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes_at(1, 1)
    }

    /// The same at another scale: this drive is `1 / now` of a full-size one, the answer is for
    /// `1 / then` of it.
    #[must_use]
    pub fn memory_bytes_at(&self, now: u64, then: u64) -> u64 {
        let tables = Footprint::of(&self.part, &self.policy, self.capacity_bytes);
        let units = u128::from(tables.units_bytes) * u128::from(now) / u128::from(then);
        let queue = u64::from(self.link.queue_depth) * COMMAND_BYTES;
        let buffer = self.controller.buffer_bytes / u64::from(self.policy.unit_bytes);
        FIXED_BYTES + units as u64 + tables.superblocks_bytes + queue + buffer * BUFFERED_BYTES
    }
}

/// A low-power state of an idle drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// Entered after so long with nothing to do; [`Nanos::NEVER`] for not at all.
    pub after: Nanos,
    /// Microwatts of the drive without its flash.
    pub power_uw: u64,
    /// Time to enter it.
    pub entry: Nanos,
    /// Time to leave it, for which the waking command waits.
    pub exit: Nanos,
}

/// What the drive draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerDraw {
    /// A die by activity.
    pub flash: DiePower,
    /// Microwatts of sending over the host link, on top.
    pub link_uw: u64,
    /// Microwatts without the flash while there is something to do.
    pub active_uw: u64,
    /// Microwatts without the flash while there is not.
    pub idle_uw: u64,
    /// SATA slumber, NVMe PS3.
    pub light: IdleState,
    /// SATA DevSleep, NVMe PS4.
    pub deep: IdleState,
}

/// One step of throttling, with hysteresis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// It begins at this many thousandths of a degree; none for never.
    pub start_mc: Option<u64>,
    /// It ends at this many.
    pub stop_mc: u64,
    /// Thousandths of the link's rate that are left.
    pub speed_milli: u64,
}

/// The drive as a lump of heat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Thousandths of a degree of the air.
    pub ambient_mc: u64,
    /// Thousandths of a kelvin for a watt, in still air.
    pub resistance_mk_per_w: u64,
    /// Thousandths of a joule for a kelvin.
    pub capacity_mj_per_k: u64,
    /// Thousandths by which moving air divides the resistance.
    pub fan_milli: u64,
    /// Thousandths of a degree from which on the drive warns.
    pub warning_mc: u64,
    /// Thousandths of a degree from which on it is critical.
    pub critical_mc: u64,
    /// The first step.
    pub throttle: Throttle,
    /// The second step.
    pub heavy: Throttle,
}
