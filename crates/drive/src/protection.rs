//! End-to-end protection: what it catches, tried with damage done on purpose.
//!
//! With `controller.end_to_end` 8 bytes of check data travel with every sector of 512 (T10 PI).
//! They are made where the host's data arrives and checked where it leaves, so that a bit that
//! flips in the controller's RAM or on a channel is found and the read answered with
//! [`Status::Corrupt`]; without them the host gets wrong data and does not know. The flash's own
//! ECC does not help there: it covers stored data only. The check data costs channel time (see
//! [`crate::flash`]); it lies in the spare area of the pages and takes no capacity.

use flashtwin_base::Status;
use flashtwin_base::rng::Rng;

/// Number of the stream of chance in the drive's seed.
const CHANCE: u64 = 0x5052_4f54;

/// Reads whose data was damaged between the flash and the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Damage {
    /// Found and answered as corrupt.
    pub caught: u64,
    /// Handed out as if nothing had happened.
    pub silent: u64,
}

/// The way of data through the controller.
pub(crate) struct Path {
    checked: bool,
    one_in: u64,
    chance: Rng,
    damage: Damage,
}

flashtwin_base::state! { Path {
    kept: one_in, chance, damage;
    built: checked;
} }

impl Path {
    pub(crate) fn new(checked: bool, seed: u64) -> Path {
        Path {
            checked,
            one_in: 0,
            chance: Rng::new(seed, CHANCE),
            damage: Damage::default(),
        }
    }

    /// From now on one in so many reads is damaged, drawn at random; 0 = none.
    pub(crate) fn inject(&mut self, one_in: u64) {
        self.one_in = one_in;
    }

    pub(crate) fn damage(&self) -> Damage {
        self.damage
    }

    /// How a read's data comes through.
    pub(crate) fn pass(&mut self) -> Status {
        if self.one_in == 0 {
            return Status::Ok;
        }
        self.pass_damaged()
    }

    #[cold]
    fn pass_damaged(&mut self) -> Status {
        if self.chance.below(self.one_in) > 0 {
            return Status::Ok;
        }
        if self.checked {
            self.damage.caught += 1;
            return Status::Corrupt;
        }
        self.damage.silent += 1;
        Status::Ok
    }
}
