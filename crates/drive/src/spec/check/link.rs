//! Checks that the host link exists and can carry the rate.
//!
//! Sources: Serial ATA 3.x (8b/10b, frames of at most 8 KiB of data, two ALIGN primitives every 256
//! words); PCI Express Base (encodings by generation, packet framing). Drives show less than a SATA
//! link carries, 540 to 560 of 591 MB/s, because of pauses between frames and commands: a measured
//! `link.rate` has them in it.

use super::super::quantity::{Dimension, text};
use super::super::values::Values;
use super::Findings;
use crate::config::LinkKind;
use crate::spec::keys::Link;

/// Commands that NCQ numbers.
pub(in crate::spec) const NCQ: u64 = 32;
/// Commands that may be outstanding in all queues together: more than any host keeps.
const OUTSTANDING_MAX: u64 = 65_535;
/// Data of a SATA frame; and what goes with it: start, header, checksum and end (16 B), and the
/// handshake before and after (10 primitives of 4 B).
const FRAME_BYTES: u64 = 8192;
const FRAME_EXTRA_BYTES: u64 = 16 + 40;
/// Of 256 words of a SATA link two are ALIGN primitives.
const ALIGN: (u64, u64) = (254, 256);
/// Bytes of a PCIe packet beside its data: framing and number 4 B, header with a 64-bit address
/// 16 B, checksum 4 B.
const PACKET_EXTRA_BYTES: u64 = 24;
/// Million transfers a second of a PCIe lane, by generation.
const PCIE_MT: [u64; 5] = [2_500, 5_000, 8_000, 16_000, 32_000];

/// A host link before anything is framed on it.
pub(in crate::spec) enum RawLink {
    Sata {
        megabits: u64,
    },
    Pcie {
        generation: u64,
        lanes: u64,
        max_payload: u64,
    },
}

impl RawLink {
    pub fn read(values: &Values) -> Option<RawLink> {
        if values.of(Link::kind)? == LinkKind::Sata {
            let megabits = values.of(Link::sata_rate)?.megabits();
            return Some(RawLink::Sata { megabits });
        }
        Some(RawLink::Pcie {
            generation: values.of(Link::pcie_generation)?,
            lanes: values.of(Link::pcie_lanes)?,
            max_payload: values.of(Link::max_payload)?,
        })
    }

    /// Bytes a second in one direction after the encoding.
    pub fn encoded(&self) -> u64 {
        match self {
            RawLink::Sata { megabits } => megabits * 1_000_000 / 10,
            RawLink::Pcie {
                generation, lanes, ..
            } => {
                let bits = PCIE_MT[*generation as usize - 1] * 1_000_000 * lanes;
                if *generation <= 2 {
                    bits / 10
                } else {
                    bits * 128 / 130 / 8
                }
            }
        }
    }

    /// Bytes a second of data in full frames or packets.
    pub fn payload(&self) -> u64 {
        let encoded = u128::from(self.encoded());
        let (part, whole) = match self {
            RawLink::Sata { .. } => (
                FRAME_BYTES * ALIGN.0,
                (FRAME_BYTES + FRAME_EXTRA_BYTES) * ALIGN.1,
            ),
            RawLink::Pcie { max_payload, .. } => (*max_payload, max_payload + PACKET_EXTRA_BYTES),
        };
        (encoded * u128::from(part) / u128::from(whole)) as u64
    }
}

pub(super) fn check(found: &mut Findings<'_>) {
    depth(found);
    lanes(found);
    packet(found);
    rate(found);
}

fn depth(found: &mut Findings<'_>) -> Option<()> {
    let (queues, depth) = (
        found.values.of(Link::queues)?,
        found.values.of(Link::queue_depth)?,
    );
    if found.values.of(Link::kind)? == LinkKind::Sata {
        let hint = "write `link.kind = \"nvme\"`, or";
        if depth > NCQ {
            let message = format!("{depth} is above {NCQ}, all that NCQ numbers");
            found.add(Link::queue_depth, message, format!("{hint} at most {NCQ}"));
        }
        if queues > 1 {
            let message = format!("{queues} queues, and SATA has one");
            found.add(Link::queues, message, format!("{hint} 1"));
        }
    } else if queues * depth > OUTSTANDING_MAX {
        let message = format!(
            "{queues} queues of {depth} are {} commands, above {OUTSTANDING_MAX}",
            queues * depth
        );
        let hint = format!("write at most {}", OUTSTANDING_MAX / queues);
        found.add(Link::queue_depth, message, hint);
    }
    Some(())
}

fn lanes(found: &mut Findings<'_>) -> Option<()> {
    let lanes = found.values.of(Link::pcie_lanes)?;
    if !lanes.is_power_of_two() {
        let message = format!("no PCIe link has {lanes} lanes");
        found.add(Link::pcie_lanes, message, "write 1, 2, 4, 8 or 16");
    }
    Some(())
}

fn packet(found: &mut Findings<'_>) -> Option<()> {
    let bytes = found.values.of(Link::max_payload)?;
    if !bytes.is_power_of_two() || !(128..=4096).contains(&bytes) {
        let size = text(bytes, Dimension::Size);
        let message = format!("{size} is not a power of two from 128 B to 4 KiB");
        found.add(Link::max_payload, message, "write \"256 B\"");
    }
    Some(())
}

/// A link carries no more than its line rate leaves.
fn rate(found: &mut Findings<'_>) -> Option<()> {
    let rate = found.values.of(Link::rate)?;
    let most = RawLink::read(found.values)?.encoded();
    if rate > most {
        let human = |rate| text(rate, Dimension::ByteRate);
        let message = format!(
            "{} is more than the {} that the line carries",
            human(rate),
            human(most)
        );
        let hint = "lower it, or write another `link.kind`, rate or number of lanes";
        found.add(Link::rate, message, hint);
    }
    Some(())
}
