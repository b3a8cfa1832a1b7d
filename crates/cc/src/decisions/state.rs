//! What a network sees: features of the flow, scaled to about 1.

/// One number of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    /// Its name, with its unit.
    pub name: &'static str,
    /// A round number of the feature's typical size.
    pub scale: f64,
}

/// The slow-start threshold.
pub const SSTHRESH: Feature = Feature { name: "ssthresh_segments", scale: 1000.0 };
/// The window.
pub const CWND: Feature = Feature { name: "cwnd_segments", scale: 1000.0 };
/// The latest RTT.
pub const RTT: Feature = Feature { name: "rtt_ms", scale: 100.0 };
/// CUBIC's W_max.
pub const W_MAX: Feature = Feature { name: "w_max_segments", scale: 1000.0 };
/// The time since the last congestion event.
pub const SINCE_CONGESTION: Feature = Feature { name: "since_congestion_ms", scale: 1000.0 };

crate::words! {
    /// How the state is scaled.
    pub enum Scaling {
        /// Divided by a fixed round number of the feature's typical size.
        Fixed = "fixed",
        /// Not scaled.
        Raw = "raw",
        /// Normalised to mean 0 and variance 1 over all states so far.
        Running = "running",
    }
}

impl Scaling {
    /// A network's inputs, as text that a weights file stores; `None` if their scales keep changing.
    #[must_use]
    pub fn inputs(self, features: &[Feature]) -> Option<String> {
        let name = |feature: &Feature| match self {
            Scaling::Fixed => Some(format!("{}/{}", feature.name, feature.scale)),
            Scaling::Raw => Some(feature.name.to_owned()),
            Scaling::Running => None,
        };
        Some(features.iter().map(name).collect::<Option<Vec<_>>>()?.join(","))
    }
}

/// Scales states.
#[derive(Clone, Debug)]
pub(super) struct Scaler {
    scaling: Scaling,
    features: &'static [Feature],
    /// States seen; mean and sum of squared deviations of each feature (Welford 1962).
    seen: f64,
    running: Vec<(f64, f64)>,
}

impl Scaler {
    pub(super) fn new(scaling: Scaling, features: &'static [Feature]) -> Self {
        Self { scaling, features, seen: 0.0, running: vec![(0.0, 0.0); features.len()] }
    }

    pub(super) fn scale(&mut self, raw: &[f64], state: &mut [f32]) {
        self.seen += 1.0;
        for (n, (value, state)) in raw.iter().zip(state).enumerate() {
            *state = match self.scaling {
                Scaling::Fixed => value / self.features[n].scale,
                Scaling::Raw => *value,
                Scaling::Running => self.standardise(n, *value),
            } as f32;
        }
    }

    fn standardise(&mut self, n: usize, value: f64) -> f64 {
        let (mean, squares) = &mut self.running[n];
        let before = value - *mean;
        *mean += before / self.seen;
        *squares += before * (value - *mean);
        let deviation = (*squares / self.seen).sqrt();
        if deviation > 0.0 { (value - *mean) / deviation } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scaling: Scaling, states: &[[f64; 2]]) -> Vec<f32> {
        let mut scaler = Scaler::new(scaling, &[CWND, RTT]);
        let mut state = vec![0.0; 2];
        states.iter().for_each(|raw| scaler.scale(raw, &mut state));
        state
    }

    #[test]
    fn states_are_scaled() {
        assert_eq!(scaled(Scaling::Fixed, &[[500.0, 60.0]]), [0.5, 0.6]);
        assert_eq!(scaled(Scaling::Raw, &[[500.0, 60.0]]), [500.0, 60.0]);
        // Means 4 and 7; variances (4 + 0 + 4) / 3 and 0.
        let state = scaled(Scaling::Running, &[[2.0, 7.0], [4.0, 7.0], [6.0, 7.0]]);
        assert_eq!(state, [(2.0 / (8.0f64 / 3.0).sqrt()) as f32, 0.0]);
    }

    #[test]
    fn a_file_of_weights_says_what_the_network_takes_in() {
        assert_eq!(Scaling::Fixed.inputs(&[CWND, RTT]).unwrap(), "cwnd_segments/1000,rtt_ms/100");
        assert_eq!(Scaling::Raw.inputs(&[CWND, RTT]).unwrap(), "cwnd_segments,rtt_ms");
        assert_eq!(Scaling::Running.inputs(&[CWND]), None);
    }
}
