//! Thrift's compact protocol, as far as Parquet's headers and footers need it.
//!
//! Invariants of the reader: it never leaves its bytes, takes no memory, and skips what it does not
//! know at a bounded depth.

use crate::{Found, damage};

const DEEPEST: u32 = 16;

/// What a field of a structure holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    True = 1,
    False = 2,
    Byte = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    Double = 7,
    Bytes = 8,
    List = 9,
    Set = 10,
    Map = 11,
    Struct = 12,
}

impl Kind {
    fn of(code: u8) -> Found<Self> {
        use Kind::*;
        let kinds = [
            True, False, Byte, I16, I32, I64, Double, Bytes, List, Set, Map, Struct,
        ];
        match kinds.get(usize::from(code).wrapping_sub(1)) {
            Some(kind) => Ok(*kind),
            None => damage("its header holds an unknown type"),
        }
    }
}

pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// How many bytes were read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// How many are left.
    pub fn left(&self) -> usize {
        self.data.len() - self.at
    }

    /// So many bytes as they are.
    pub fn raw(&mut self, count: usize) -> Found<&'a [u8]> {
        let end = self.at.checked_add(count);
        let Some(bytes) = end.and_then(|end| self.data.get(self.at..end)) else {
            return damage("its header breaks off");
        };
        self.at += count;
        Ok(bytes)
    }

    fn byte(&mut self) -> Found<u8> {
        Ok(self.raw(1)?[0])
    }

    fn varint(&mut self) -> Found<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        damage("its header holds a number without an end")
    }

    /// A number of any width that is not below zero.
    pub fn unsigned(&mut self) -> Found<usize> {
        let Ok(value) = usize::try_from(self.varint()?) else {
            return damage("it holds a number that is too large");
        };
        Ok(value)
    }

    /// A signed number of any width.
    pub fn number(&mut self) -> Found<i64> {
        let raw = self.varint()?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// A length or a count, which is none below zero.
    pub fn size(&mut self) -> Found<usize> {
        let Ok(size) = usize::try_from(self.number()?) else {
            return damage("its header holds a negative length");
        };
        Ok(size)
    }

    pub fn bytes(&mut self) -> Found<&'a [u8]> {
        let Ok(length) = usize::try_from(self.varint()?) else {
            return damage("its header breaks off");
        };
        self.raw(length)
    }

    /// How many items of which kind a list has, each of which takes at least a byte.
    pub fn list(&mut self) -> Found<(usize, Kind)> {
        let first = self.byte()?;
        let kind = Kind::of(first & 0x0f)?;
        let short = usize::from(first >> 4);
        let count = if short < 15 {
            Ok(short)
        } else {
            usize::try_from(self.varint()?)
        };
        match count {
            Ok(count) if count <= self.left() => Ok((count, kind)),
            _ => damage("its header holds a list that is longer than the file"),
        }
    }

    /// The fields of a structure. `read` answers whether it read the field; others are skipped.
    pub fn fields(
        &mut self,
        mut read: impl FnMut(&mut Self, i16, Kind) -> Found<bool>,
    ) -> Found<()> {
        let mut id = 0_i16;
        loop {
            let first = self.byte()?;
            if first == 0 {
                return Ok(());
            }
            let kind = Kind::of(first & 0x0f)?;
            id = match first >> 4 {
                0 => self.number()? as i16,
                step => id.wrapping_add(i16::from(step)),
            };
            if !read(self, id, kind)? {
                self.skip(kind, DEEPEST)?;
            }
        }
    }

    fn skip(&mut self, kind: Kind, depth: u32) -> Found<()> {
        if depth == 0 {
            return damage("its header is nested too deep");
        }
        match kind {
            Kind::True | Kind::False => {}
            Kind::Byte => drop(self.byte()?),
            Kind::I16 | Kind::I32 | Kind::I64 => drop(self.varint()?),
            Kind::Double => drop(self.raw(8)?),
            Kind::Bytes => drop(self.bytes()?),
            Kind::List | Kind::Set => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    self.skip_item(kind, depth - 1)?;
                }
            }
            Kind::Map => return damage("its header holds a map"),
            Kind::Struct => loop {
                let first = self.byte()?;
                if first == 0 {
                    break;
                }
                if first >> 4 == 0 {
                    self.varint()?;
                }
                self.skip(Kind::of(first & 0x0f)?, depth - 1)?;
            },
        }
        Ok(())
    }

    /// Truth in a list takes a byte, in a structure none.
    fn skip_item(&mut self, kind: Kind, depth: u32) -> Found<()> {
        match kind {
            Kind::True | Kind::False => self.byte().map(drop),
            other => self.skip(other, depth),
        }
    }
}

/// Writes a structure; nested ones are writers of their own.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    last: i16,
}

impl Writer {
    fn field(&mut self, id: i16, kind: Kind) {
        // Fields are written in rising order, in steps below 16.
        assert!(
            (1..16).contains(&(id - self.last)),
            "field {id} after {}",
            self.last
        );
        self.bytes.push(((id - self.last) as u8) << 4 | kind as u8);
        self.last = id;
    }

    pub fn i32(mut self, id: i16, value: i32) -> Self {
        self.field(id, Kind::I32);
        number(&mut self.bytes, value.into());
        self
    }

    pub fn i64(mut self, id: i16, value: i64) -> Self {
        self.field(id, Kind::I64);
        number(&mut self.bytes, value);
        self
    }

    pub fn bytes(mut self, id: i16, value: &[u8]) -> Self {
        self.field(id, Kind::Bytes);
        bytes(&mut self.bytes, value);
        self
    }

    pub fn structure(mut self, id: i16, inner: Writer) -> Self {
        self.field(id, Kind::Struct);
        self.bytes.extend(inner.end());
        self
    }

    pub fn structures(mut self, id: i16, items: Vec<Writer>) -> Self {
        self.list(id, Kind::Struct, items.len());
        for item in items {
            self.bytes.extend(item.end());
        }
        self
    }

    pub fn i32s(mut self, id: i16, items: &[i32]) -> Self {
        self.list(id, Kind::I32, items.len());
        for item in items {
            number(&mut self.bytes, (*item).into());
        }
        self
    }

    pub fn names(mut self, id: i16, items: &[&str]) -> Self {
        self.list(id, Kind::Bytes, items.len());
        for item in items {
            bytes(&mut self.bytes, item.as_bytes());
        }
        self
    }

    fn list(&mut self, id: i16, kind: Kind, count: usize) {
        self.field(id, Kind::List);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind as u8);
        } else {
            self.bytes.push(0xf0 | kind as u8);
            varint(&mut self.bytes, count as u64);
        }
    }

    /// The structure's bytes, with what ends it.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    varint(out, value.len() as u64);
    out.extend(value);
}

/// A number, small ones of either sign in few bytes.
pub fn number(out: &mut Vec<u8>, value: i64) {
    varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
