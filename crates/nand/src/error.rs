//! How many bits of a page are wrong: a raw bit error rate that grows with cycles, with the time
//! since the data was programmed and with reads of the block.
//!
//! The form is that of Kim, Choi and Min, "Design tradeoffs for SSD reliability" (FAST 2019): a sum
//! of a constant and powers of cycles, of cycles and time, and of cycles and reads. Here cycles are
//! a share w of the rated life, and rates are in wrong bits a KiB (8,192 bits), so that they stand
//! beside what the code corrects:
//!
//! errors = fresh + wear · w^a + retention · w · years^b + disturb · w · reads / 1e6
//!
//! The coefficients of a drive are priors unless its maker tells them.

use flashtwin_base::Nanos;

/// A Julian year.
pub const YEAR: Nanos = Nanos(31_557_600_000_000_000);

/// The coefficients of a mode, in wrong bits a KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// New cells, just programmed.
    pub fresh: f64,
    /// Added at the end of the rated life.
    pub wear: f64,
    /// Added by a year, at the end of the rated life.
    pub retention: f64,
    /// Added by a million reads of a block, at the end of the rated life.
    pub disturb: f64,
    /// The power of wear.
    pub wear_power: f64,
    /// The power of time.
    pub retention_power: f64,
}

impl ErrorRates {
    /// Wrong bits a KiB without what time adds. `wear` is the share of the rated life.
    fn at_once(&self, wear: f64, reads: f64) -> f64 {
        let worn = self.wear * libm::pow(wear, self.wear_power);
        self.fresh + worn + self.disturb * wear * reads * 1e-6
    }

    /// Wrong bits a KiB of data that was programmed so long ago, in a block read so often since.
    #[must_use]
    pub fn bits(&self, wear: f64, age: Nanos, reads: f64) -> f64 {
        let years = age.0 as f64 / YEAR.0 as f64;
        let lost = self.retention * wear * libm::pow(years, self.retention_power);
        self.at_once(wear, reads) + lost
    }

    /// The age at which data has so many wrong bits a KiB, [`Nanos::NEVER`] where none does.
    #[must_use]
    pub fn age_at(&self, bits: f64, wear: f64, reads: f64) -> Nanos {
        let left = bits - self.at_once(wear, reads);
        if left <= 0.0 {
            return Nanos::ZERO;
        }
        let years = libm::pow(left / (self.retention * wear), 1.0 / self.retention_power);
        let age = years * YEAR.0 as f64;
        // Ages beyond a century are as good as never, and infinite where nothing is lost.
        if age < 100.0 * YEAR.0 as f64 {
            Nanos(libm::ceil(age) as u64)
        } else {
            Nanos::NEVER
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: ErrorRates = ErrorRates {
        fresh: 1.0,
        wear: 4.0,
        retention: 9.0,
        disturb: 2.0,
        wear_power: 2.0,
        retention_power: 0.5,
    };

    #[test]
    fn the_terms_add_up() {
        assert_eq!(RATES.bits(0.5, Nanos::ZERO, 0.0), 1.0 + 4.0 * 0.25);
        assert_eq!(RATES.bits(1.0, Nanos(YEAR.0 / 4), 0.0), 5.0 + 9.0 * 0.5);
        assert_eq!(RATES.bits(1.0, YEAR, 500_000.0), 5.0 + 9.0 + 1.0);
    }

    #[test]
    fn the_age_is_where_the_rate_is_reached() {
        let age = RATES.age_at(9.5, 1.0, 0.0);
        assert_eq!(age, Nanos(YEAR.0 / 4));
        assert_eq!(RATES.age_at(4.0, 1.0, 0.0), Nanos::ZERO);
        assert_eq!(RATES.age_at(1e6, 1.0, 0.0), Nanos::NEVER);
        let stable = ErrorRates {
            retention: 0.0,
            ..RATES
        };
        assert_eq!(stable.age_at(9.5, 1.0, 0.0), Nanos::NEVER);
    }
}
