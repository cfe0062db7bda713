//! How many bits of a page are wrong: a raw bit error rate that grows with cycles, with the time
//! since the data was programmed and with reads of the block.
//!
//! The form is that of Kim, Choi and Min, "Design tradeoffs for SSD reliability" (FAST 2019): a sum
//! of a constant, a term of cycles, one of cycles and time, and one of cycles and reads. New cells
//! forget and are disturbed too: the powers of cycles that the paper found for 3D flash (0.14 of
//! retention, 0.33 of disturb) hardly vanish without wear. Here time and reads therefore have a
//! rate of new cells and one that wear adds. Wear is a share w of the rated life, and rates are in
//! wrong bits a KiB (8,192 bits), so that they stand beside what the code corrects:
//!
//! errors = fresh + wear · w^a + (retention of new cells + retention · w) · years^b
//! + (disturb of new cells + disturb · w) · reads / 1e6
//!
//! Years are those at the temperature that the rates hold for. At another one charge leaks by the
//! law of Arrhenius, [`acceleration`] times as fast; JESD22-A117 and JESD218 reckon flash with an
//! activation energy of 1.1 eV.
//!
//! The coefficients of a drive are priors unless its maker tells them.

use flashtwin_base::Nanos;

/// A Julian year.
pub const YEAR: Nanos = Nanos(31_557_600_000_000_000);

/// Boltzmann's constant in electronvolts for a kelvin (exact since the SI of 2019).
const BOLTZMANN_EV: f64 = 8.617_333_262e-5;
/// 0 degrees Celsius in kelvins.
const ZERO_CELSIUS: f64 = 273.15;

/// How many times faster than at `reference` degrees Celsius charge leaks at `celsius`:
/// e^(E/k · (1/reference - 1/celsius)), temperatures in kelvins. 1 with an energy of 0.
#[must_use]
pub fn acceleration(activation_ev: f64, reference: f64, celsius: f64) -> f64 {
    let inverse = |celsius: f64| 1.0 / (celsius + ZERO_CELSIUS);
    libm::exp(activation_ev / BOLTZMANN_EV * (inverse(reference) - inverse(celsius)))
}

/// The coefficients of a mode, in wrong bits a KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// New cells, just programmed.
    pub fresh: f64,
    /// Added at the end of the rated life.
    pub wear: f64,
    /// Added by a year in new cells.
    pub retention_fresh: f64,
    /// Added by a year on top of that, at the end of the rated life.
    pub retention: f64,
    /// Added by a million reads of a block of new cells.
    pub disturb_fresh: f64,
    /// Added by a million reads of a block on top of that, at the end of the rated life.
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
        self.fresh + worn + (self.disturb_fresh + self.disturb * wear) * reads * 1e-6
    }

    /// Wrong bits a KiB that a year adds.
    fn a_year(&self, wear: f64) -> f64 {
        self.retention_fresh + self.retention * wear
    }

    /// Wrong bits a KiB of data that was programmed so long ago, in a block read so often since.
    #[must_use]
    pub fn bits(&self, wear: f64, age: Nanos, reads: f64) -> f64 {
        let years = age.0 as f64 / YEAR.0 as f64;
        let lost = self.a_year(wear) * libm::pow(years, self.retention_power);
        self.at_once(wear, reads) + lost
    }

    /// The age at which data has so many wrong bits a KiB, [`Nanos::NEVER`] where none does.
    #[must_use]
    pub fn age_at(&self, bits: f64, wear: f64, reads: f64) -> Nanos {
        let left = bits - self.at_once(wear, reads);
        if left <= 0.0 {
            return Nanos::ZERO;
        }
        let years = libm::pow(left / self.a_year(wear), 1.0 / self.retention_power);
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
        retention_fresh: 0.0,
        retention: 9.0,
        disturb_fresh: 0.0,
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

    #[test]
    fn new_cells_forget_and_are_disturbed() {
        let young = ErrorRates {
            retention_fresh: 3.0,
            disturb_fresh: 0.5,
            ..RATES
        };
        assert_eq!(young.bits(0.0, Nanos(YEAR.0 * 4), 2e6), 1.0 + 6.0 + 1.0);
        assert_eq!(young.bits(1.0, YEAR, 1e6), 5.0 + 12.0 + 2.5);
        assert_eq!(young.age_at(7.0, 0.0, 0.0), Nanos(YEAR.0 * 4));
    }

    #[test]
    fn heat_hastens_what_time_does() {
        assert_eq!(acceleration(0.0, 30.0, 85.0), 1.0);
        assert_eq!(acceleration(1.1, 30.0, 30.0), 1.0);
        // JESD218: a year at 30 degrees is 500 hours at 52 and 96 hours at 66, at 1.1 eV.
        let hours = |celsius| 8766.0 / acceleration(1.1, 30.0, celsius);
        assert!((hours(52.0) / 500.0 - 1.0).abs() < 0.1, "{}", hours(52.0));
        assert!((hours(66.0) / 96.0 - 1.0).abs() < 0.1, "{}", hours(66.0));
    }
}
