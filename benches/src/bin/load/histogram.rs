//! Latencies in buckets that are at most 1/64 wide. Keeps no single value.

use std::time::Duration;

const STEPS: usize = 64;

/// Nanoseconds, 64 linear buckets for each power of two.
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; bucket(u64::MAX) + 1], total: 0 }
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        self.counts[bucket(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX))] += 1;
        self.total += 1;
    }

    /// Number of recorded latencies.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The latency that `per_mille` of all requests do not exceed, in microseconds; 0 when there are none.
    pub(crate) fn quantile_us(&self, per_mille: u64) -> f64 {
        let wanted = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0.0, |bucket| Duration::from_nanos(lower_bound(bucket)).as_secs_f64() * 1e6)
    }
}

fn bucket(nanoseconds: u64) -> usize {
    let steps = STEPS as u64;
    // Below 64 a bucket is one nanosecond; above, the six bits after the highest one choose it.
    let shift = (nanoseconds / steps).checked_ilog2().map_or(0, |power| power as usize + 1);
    let within = usize::try_from(nanoseconds >> shift.saturating_sub(1)).unwrap_or(usize::MAX);
    if shift == 0 { within } else { shift * STEPS + within - STEPS }
}

fn lower_bound(bucket: usize) -> u64 {
    let (shift, within) = (bucket / STEPS, (bucket % STEPS) as u64);
    if shift == 0 { within } else { (within + STEPS as u64) << (shift - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_starts_at_most_one_part_in_64_below_its_values() {
        for value in (0..2000).chain([65_535, 65_536, 1_000_000_007, u64::MAX]) {
            let bound = lower_bound(bucket(value));
            assert!(bound <= value && value - bound <= value / 64, "{value} is in the bucket from {bound}");
        }
    }

    #[test]
    fn quantiles_of_one_to_a_thousand_microseconds() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|us| histogram.record(Duration::from_micros(us)));
        assert!((492.0..=500.0).contains(&histogram.quantile_us(500)));
        assert!((974.0..=990.0).contains(&histogram.quantile_us(990)));
    }
}
