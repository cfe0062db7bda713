//! What flash draws, and with that the energy of an operation: power times time.
//!
//! All planes of a die work together, so an operation costs its planes times the power of one.
//! Integers throughout: microwatts times nanoseconds are femtojoules, and a sum of them is exact
//! (64 bits hold 5 hours of a watt, so sums over a drive's life take 128).
//!
//! Source of the usual figures: 25 mA a plane while it reads, programs or erases, 5 mA on the bus,
//! 10 uA at rest, all at 3.3 V, the defaults of a published simulator (82.5 mW, 16.5 mW, 33 uW).

use flashtwin_base::Nanos;

/// Femtojoules of a microjoule.
pub const FJ_PER_UJ: u128 = 1_000_000_000;

/// What a die draws, in microwatts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiePower {
    /// A plane that senses.
    pub read_uw: u64,
    /// A plane that programs.
    pub program_uw: u64,
    /// A plane that erases.
    pub erase_uw: u64,
    /// The die while its data crosses the channel.
    pub transfer_uw: u64,
    /// The die at all times.
    pub standby_uw: u64,
}

/// What a die does with its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Senses pages.
    Read,
    /// Programs.
    Program,
    /// Erases.
    Erase,
}

impl DiePower {
    /// Femtojoules of array work on all `planes` of a die for `time`.
    #[must_use]
    pub fn array_fj(&self, work: Work, planes: u32, time: Nanos) -> u128 {
        let power = match work {
            Work::Read => self.read_uw,
            Work::Program => self.program_uw,
            Work::Erase => self.erase_uw,
        };
        u128::from(power) * u128::from(planes) * u128::from(time.0)
    }

    /// Femtojoules of moving `bytes` over a channel of `bytes_per_s`, rounded down.
    #[must_use]
    pub fn transfer_fj(&self, bytes: u64, bytes_per_s: u64) -> u128 {
        u128::from(self.transfer_uw) * u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: DiePower = DiePower {
        read_uw: 82_500,
        program_uw: 82_500,
        erase_uw: 82_500,
        transfer_uw: 16_500,
        standby_uw: 33,
    };

    #[test]
    fn usual_operations_cost_what_the_field_says() {
        let table = [
            (Work::Read, 40, 3.3),
            (Work::Program, 200, 16.5),
            (Work::Program, 1500, 123.75),
            (Work::Erase, 3500, 288.75),
        ];
        for (work, us, expected_uj) in table {
            let femtojoules = USUAL.array_fj(work, 1, Nanos::from_us(us));
            assert_eq!(
                femtojoules,
                (expected_uj * 1e9) as u128,
                "{work:?} of {us} us"
            );
            let four = USUAL.array_fj(work, 4, Nanos::from_us(us));
            assert_eq!(four, 4 * femtojoules);
        }
    }

    #[test]
    fn no_power_and_no_time_of_a_spec_overflow() {
        let kilowatt = DiePower {
            erase_uw: 1_000_000_000,
            ..USUAL
        };
        let days = Nanos(1_000_000_000_000_000);
        let femtojoules = kilowatt.array_fj(Work::Erase, 16, days);
        assert_eq!(femtojoules, 16 * 10u128.pow(24));
    }

    #[test]
    fn a_page_over_the_bus_costs_its_time() {
        // 16 KiB at 400 MT/s take 40.96 us; 16.5 mW for so long are 675.84 nJ.
        assert_eq!(USUAL.transfer_fj(16_384, 400_000_000), 675_840_000);
    }
}
