//! Where the bytes of slots are: in memory, or in a sparse file.
//!
//! A slot holds a mapping unit. Nothing here knows what it belongs to; slots are handed out by the
//! firmware (`flashtwin_ftl::Change`), each is written before it is read, and written again only
//! after nothing refers to it any more. A file is written with `pwrite` and never mapped: a full
//! disk is then an error that somebody hears of, not a signal.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};

use crate::memory::copy_past_caches;

/// Slots whose bytes are taken from the system at once.
const SLAB_SLOTS: usize = 256;
/// zstd's level: the time of a request counts.
const LEVEL: i32 = 1;
/// Shorter holes of a file are left: they are soon written again.
const HOLE_SLOTS: u32 = 16;

/// The bytes of all slots.
#[derive(Debug)]
pub struct Store {
    unit_bytes: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<Box<[u8]>>),
    /// Each slot for itself; an empty one is all zeros.
    Packed(Vec<Box<[u8]>>),
    File(File),
}

impl Store {
    /// In memory, each slot compressed if `packed`.
    #[must_use]
    pub fn memory(unit_bytes: usize, packed: bool) -> Store {
        let place = match packed {
            true => Place::Packed(Vec::new()),
            false => Place::Memory(Vec::new()),
        };
        Store { unit_bytes, place }
    }

    /// In a file, a slot after the other.
    #[must_use]
    pub fn file(unit_bytes: usize, file: File) -> Store {
        let place = Place::File(file);
        Store { unit_bytes, place }
    }

    fn at(&self, slot: u32) -> u64 {
        u64::from(slot) * self.unit_bytes as u64
    }

    /// Writes slots that follow one another.
    ///
    /// # Errors
    /// As the system has it: a full disk, say.
    pub fn write(&mut self, first: u32, data: &[u8]) -> io::Result<()> {
        let (unit, at) = (self.unit_bytes, self.at(first));
        match &mut self.place {
            Place::File(file) => return file.write_all_at(data, at),
            Place::Memory(slabs) => {
                let (mut slot, mut rest) = (first as usize, data);
                while !rest.is_empty() {
                    let (slab, within) = (slot / SLAB_SLOTS, slot % SLAB_SLOTS * unit);
                    while slabs.len() <= slab {
                        slabs.push(vec![0; SLAB_SLOTS * unit].into_boxed_slice());
                    }
                    let room = &mut slabs[slab][within..];
                    let (now, later) = rest.split_at(rest.len().min(room.len()));
                    copy_past_caches(&mut room[..now.len()], now);
                    (slot, rest) = (slot + now.len() / unit, later);
                }
            }
            Place::Packed(all) => {
                for (slot, bytes) in (first as usize..).zip(data.chunks_exact(unit)) {
                    if all.len() <= slot {
                        all.resize_with(slot + 1, Box::default);
                    }
                    all[slot] = packed(bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a slot.
    ///
    /// # Errors
    /// As the system has it.
    pub fn read(&self, slot: u32, out: &mut [u8]) -> io::Result<()> {
        let (unit, place) = (self.unit_bytes, slot as usize);
        match &self.place {
            Place::File(file) => file.read_exact_at(out, self.at(slot)),
            Place::Memory(slabs) => {
                let within = place % SLAB_SLOTS * unit;
                let slab = &slabs[place / SLAB_SLOTS];
                out.copy_from_slice(&slab[within..within + unit]);
                Ok(())
            }
            Place::Packed(all) => unpacked(&all[place], out),
        }
    }

    /// Slots that nothing refers to any more, in falling order: what they take is given back where
    /// that is worth a call.
    pub fn drop_slots(&mut self, slots: &[u32]) {
        match &mut self.place {
            Place::Memory(_) => {}
            Place::Packed(all) => {
                for &slot in slots {
                    if let Some(bytes) = all.get_mut(slot as usize) {
                        *bytes = Box::default();
                    }
                }
            }
            Place::File(file) => {
                let unit = self.unit_bytes as u64;
                for run in slots.chunk_by(|a, b| *a == b + 1) {
                    let (count, first) = (run.len() as u32, run[run.len() - 1]);
                    if count >= HOLE_SLOTS {
                        // A file system without holes keeps the bytes, which nobody reads.
                        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                        let (at, length) = (u64::from(first) * unit, u64::from(count) * unit);
                        let _ = fallocate(&*file, flags, at, length);
                    }
                }
            }
        }
    }

    /// Has the system bring to its disk all that is in the file, if there is one.
    ///
    /// # Errors
    /// As the system has it.
    pub fn sync(&self) -> io::Result<()> {
        match &self.place {
            Place::File(file) => file.sync_all(),
            _ => Ok(()),
        }
    }
}

fn packed(bytes: &[u8]) -> io::Result<Box<[u8]>> {
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(Box::default());
    }
    let packed = zstd::bulk::compress(bytes, LEVEL)?;
    let kept = match packed.len() < bytes.len() {
        true => packed,
        false => bytes.to_vec(),
    };
    Ok(kept.into_boxed_slice())
}

fn unpacked(kept: &[u8], out: &mut [u8]) -> io::Result<()> {
    if kept.is_empty() {
        out.fill(0);
    } else if kept.len() == out.len() {
        out.copy_from_slice(kept);
    } else {
        zstd::bulk::decompress_to_buffer(kept, out)?;
    }
    Ok(())
}
