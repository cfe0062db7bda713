//! The end of a job, or of a group of jobs, once its rate is steady.
//!
//! A value a second of drive time, and a window of the last `duration_s` of them: steady is a job
//! whose largest deviation from the window's mean, or whose least-squares slope, is below the
//! limit.

use flashtwin_base::Nanos;
use flashtwin_workload::fio::{Metric, Steady};

/// Seconds between two values.
pub(crate) const INTERVAL: Nanos = Nanos(1_000_000_000);

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyTotals {
    /// True if it became steady.
    pub attained: bool,
    /// The deviation or the slope, in percent where the limit is.
    pub criterion: f64,
    /// The largest deviation from the mean.
    pub deviation: f64,
    /// The slope a second.
    pub slope: f64,
    /// Bytes a second in the window, the oldest first.
    pub bw: Vec<u64>,
    /// Requests a second in it.
    pub iops: Vec<u64>,
}

/// The window of one job, or of one group.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    steady: Steady,
    totals: SteadyTotals,
}

impl Window {
    pub fn new(steady: Steady) -> Window {
        Window {
            steady,
            totals: SteadyTotals {
                attained: false,
                criterion: 0.0,
                deviation: 0.0,
                slope: 0.0,
                bw: Vec::new(),
                iops: Vec::new(),
            },
        }
    }

    pub fn totals(&self) -> &SteadyTotals {
        &self.totals
    }

    pub fn is_attained(&self) -> bool {
        self.totals.attained
    }

    /// The values of another second; whether that makes it steady.
    pub fn add(&mut self, iops: u64, bw: u64) -> bool {
        let length = self.steady.duration_s as usize;
        let totals = &mut self.totals;
        if totals.bw.len() == length {
            totals.bw.remove(0);
            totals.iops.remove(0);
        }
        totals.bw.push(bw);
        totals.iops.push(iops);
        if totals.bw.len() < length {
            return false;
        }
        let values = match self.steady.metric {
            Metric::Iops => &totals.iops,
            Metric::Bw => &totals.bw,
        };
        let n = length as f64;
        let mean = values.iter().map(|value| *value as f64).sum::<f64>() / n;
        totals.criterion = if self.steady.slope {
            totals.slope = slope(values, mean);
            totals.slope
        } else {
            let off = values.iter().map(|value| (*value as f64 - mean).abs());
            totals.deviation = off.fold(0.0, f64::max);
            totals.deviation
        };
        if self.steady.percent {
            totals.criterion *= 100.0 / mean;
        }
        totals.attained = totals.criterion.abs() < self.steady.limit;
        totals.attained
    }
}

/// The least-squares slope of values a second apart; 0 of a single one.
fn slope(values: &[u64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut up, mut down) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let off = at as f64 - middle;
        up += off * (*value as f64 - mean);
        down += off * off;
    }
    if down == 0.0 { 0.0 } else { up / down }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(slope: bool, limit: f64) -> Window {
        Window::new(Steady {
            metric: Metric::Iops,
            slope,
            limit,
            percent: true,
            duration_s: 4,
            ramp_ns: 0,
            group: None,
        })
    }

    #[test]
    fn a_deviation_reckoned_by_hand() {
        let mut window = window(false, 10.0);
        assert!(![100, 200, 100].iter().any(|iops| window.add(*iops, 0)));
        // Mean 125, largest deviation 75: 60 %.
        assert!(!window.add(100, 0));
        assert!((window.totals().criterion - 60.0).abs() < 1e-9);
        assert!(!window.add(104, 0), "200 is still in the window");
        // 100, 100, 104, 96: mean 100, deviation 4.
        assert!(window.add(96, 7));
        assert!((window.totals().criterion - 4.0).abs() < 1e-9);
        assert_eq!(window.totals().iops, [100, 100, 104, 96]);
        assert_eq!(window.totals().bw, [0, 0, 0, 7]);
    }

    #[test]
    fn a_slope_reckoned_by_hand() {
        let mut window = window(true, 1.0);
        // 10 more a second, mean 115: 8.7 % a second.
        for iops in [100, 110, 120, 130] {
            assert!(!window.add(iops, 0));
        }
        assert!((window.totals().slope - 10.0).abs() < 1e-9);
        // 130, 130, 130, 130 in the end.
        assert!(!window.add(130, 0) && !window.add(130, 0));
        assert!(window.add(130, 0));
        assert_eq!(window.totals().slope, 0.0);
    }
}
