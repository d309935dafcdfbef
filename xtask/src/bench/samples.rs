//! What was measured: for each server and quantity one value a round.

use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Samples(BTreeMap<(String, String), Vec<f64>>);

impl Samples {
    pub(super) fn add(&mut self, server: &str, quantity: &str, value: f64) {
        self.0.entry((server.to_owned(), quantity.to_owned())).or_default().push(value);
    }

    /// The median over the rounds.
    pub(super) fn median(&self, server: &str, quantity: &str) -> Option<f64> {
        median(self.values(server, quantity)?.to_vec())
    }

    /// The median of the rounds' ratios, so that both sides of a ratio ran one after the other.
    pub(super) fn ratio(&self, server: &str, peer: &str, quantity: &str) -> Option<f64> {
        let (own, other) = (self.values(server, quantity)?, self.values(peer, quantity)?);
        median(own.iter().zip(other).map(|(own, other)| own / other).collect())
    }

    fn values(&self, server: &str, quantity: &str) -> Option<&[f64]> {
        self.0.get(&(server.to_owned(), quantity.to_owned())).map(Vec::as_slice)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get((values.len().checked_sub(1)?) / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let mut samples = Samples::default();
        for (own, peer) in [(10.0, 20.0), (30.0, 30.0), (8.0, 10.0)] {
            samples.add("ours", "rps", own);
            samples.add("peer", "rps", peer);
        }
        assert_eq!(samples.ratio("ours", "peer", "rps"), Some(0.8));
        assert_eq!(samples.median("ours", "rps"), Some(10.0));
        assert_eq!(samples.median("nobody", "rps"), None);
    }
}
