//! Values as bytes: differences in packed bits, runs, and plain.
//!
//! Every decoder is told how many values there have to be, and takes no more memory than for those.

use crate::thrift::{Reader, number, varint};
use crate::{Found, damage, reserve};

const BLOCK: usize = 128;
const MINIBLOCKS: usize = 4;
const MINIBLOCK: usize = BLOCK / MINIBLOCKS;
/// Larger blocks than any writer makes.
const LARGEST_BLOCK: usize = 1 << 16;

/// Eight bytes a value, the lowest first.
pub fn plain(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub fn from_plain(data: &[u8], count: usize, out: &mut Vec<i64>) -> Found<()> {
    if count.checked_mul(8) != Some(data.len()) {
        return damage(format!(
            "{} bytes where {count} numbers should be",
            data.len()
        ));
    }
    reserve(out, count)?;
    out.extend(
        data.as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| i64::from_le_bytes(*bytes)),
    );
    Ok(())
}

/// DELTA_BINARY_PACKED: differences, less the smallest of their block, in as few bits as they need.
pub fn deltas(values: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, BLOCK as u64);
    varint(&mut out, MINIBLOCKS as u64);
    varint(&mut out, values.len() as u64);
    number(&mut out, values.first().copied().unwrap_or(0));
    let steps: Vec<i64> = values
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    for block in steps.chunks(BLOCK) {
        let least = block.iter().copied().min().unwrap_or(0);
        number(&mut out, least);
        let above: Vec<u64> = block
            .iter()
            .map(|step| step.wrapping_sub(least) as u64)
            .collect();
        let widths = out.len();
        out.extend([0; MINIBLOCKS]);
        for (at, miniblock) in above.chunks(MINIBLOCK).enumerate() {
            let width = 64
                - miniblock
                    .iter()
                    .fold(0, |all, value| all | value)
                    .leading_zeros();
            out[widths + at] = width as u8;
            pack_bits(miniblock, width, &mut out);
        }
    }
    out
}

/// A whole miniblock, filled up with zeros.
fn pack_bits(values: &[u64], width: u32, out: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0_u128, 0);
    for at in 0..MINIBLOCK {
        waiting |= u128::from(values.get(at).copied().unwrap_or(0)) << bits;
        bits += width;
        while bits >= 8 {
            out.push(waiting as u8);
            waiting >>= 8;
            bits -= 8;
        }
    }
}

/// The answer is how many bytes were read.
pub fn from_deltas(data: &[u8], count: usize, out: &mut Vec<i64>) -> Found<usize> {
    let mut head = Reader::new(data);
    let (block, miniblocks, told) = (head.unsigned()?, head.unsigned()?, head.unsigned()?);
    let mut value = head.number()?;
    if told != count {
        return damage(format!("{told} numbers where {count} should be"));
    }
    if block == 0 || block > LARGEST_BLOCK || miniblocks == 0 || block % miniblocks != 0 {
        return damage("its blocks have a size that none has");
    }
    let miniblock = block / miniblocks;
    if miniblock % 8 != 0 {
        return damage("its blocks have a size that none has");
    }
    if count == 0 {
        return Ok(head.at());
    }
    reserve(out, count)?;
    out.push(value);
    let mut left = count - 1;
    while left > 0 {
        let least = head.number()?;
        let widths = head.raw(miniblocks)?;
        for width in widths {
            if left == 0 {
                break;
            }
            if *width > 64 {
                return damage("a number has more than 64 bits");
            }
            let width = u32::from(*width);
            let packed = head.raw(miniblock / 8 * width as usize)?;
            let mut bits = Bits::new(packed, width);
            for _ in 0..miniblock.min(left) {
                value = value.wrapping_add(least).wrapping_add(bits.next() as i64);
                out.push(value);
            }
            left -= miniblock.min(left);
        }
    }
    Ok(head.at())
}

/// The hybrid of runs and packed bits: levels, and places in a dictionary.
pub fn from_runs(data: &[u8], width: u32, count: usize) -> Found<Vec<u32>> {
    if width > 32 {
        return damage("a place in its dictionary has more than 32 bits");
    }
    let mut values = Vec::new();
    reserve(&mut values, count)?;
    let mut head = Reader::new(data);
    while values.len() < count {
        let left = count - values.len();
        let run = head.unsigned()?;
        if run & 1 == 0 {
            let bytes = head.raw(width.div_ceil(8) as usize)?;
            let value = bytes
                .iter()
                .rev()
                .fold(0, |all, byte| all << 8 | u32::from(*byte));
            if run == 0 {
                return damage("a run of no values");
            }
            values.resize(values.len() + left.min(run >> 1), value);
        } else {
            let groups = (run >> 1).min(left.div_ceil(8));
            if groups == 0 {
                return damage("a run of no values");
            }
            // Of the last group a writer may leave out what is not needed.
            let wanted = groups * width as usize;
            let packed = head.raw(wanted.min(head.left()))?;
            if packed.len() * 8 < left.min(groups * 8) * width as usize {
                return damage("its values break off");
            }
            let mut bits = Bits::new(packed, width);
            values.extend((0..left.min(groups * 8)).map(|_| bits.next() as u32));
        }
    }
    Ok(values)
}

/// Numbers of one width out of bytes, the lowest bit first; zeros past the end.
struct Bits<'a> {
    bytes: std::slice::Iter<'a, u8>,
    width: u32,
    waiting: u128,
    bits: u32,
}

impl<'a> Bits<'a> {
    fn new(data: &'a [u8], width: u32) -> Self {
        Self {
            bytes: data.iter(),
            width,
            waiting: 0,
            bits: 0,
        }
    }

    fn next(&mut self) -> u64 {
        while self.bits < self.width {
            let byte = self.bytes.next().copied().unwrap_or(0);
            self.waiting |= u128::from(byte) << self.bits;
            self.bits += 8;
        }
        let value = self.waiting & ((1 << self.width) - 1);
        self.waiting >>= self.width;
        self.bits -= self.width;
        value as u64
    }
}
