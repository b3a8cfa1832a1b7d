//! Adam (Kingma and Ba 2015 algorithm 1).

use super::Mlp;
use super::kernels::Kernels;

/// The settings of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Step size.
    pub learning_rate: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
}

impl AdamConfig {
    /// The decays and the epsilon of the paper, which PyTorch also uses.
    #[must_use]
    pub fn with_rate(learning_rate: f64) -> Self {
        Self { learning_rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

/// The optimiser of one network.
#[derive(Clone, Debug)]
pub struct Adam {
    config: AdamConfig,
    kernels: Kernels,
    moments: Moments,
    /// The decays to the power of the number of steps taken.
    powers: (f64, f64),
}

/// Running means of the gradients and of their squares.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

/// The constants of one step, the same for all parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdamStep {
    decays: (f32, f32),
    /// The learning rate, corrected for the first moment's start at zero.
    rate: f32,
    /// Factor that corrects the root of the second moment for its start at zero.
    root_scale: f32,
    epsilon: f32,
}

/// Moments below this become zero. A dead unit's moments decay into denormal numbers, which take many times
/// as long to compute with. Long before that, both moments are negligible next to the epsilon.
const VANISHED: f32 = 1e-30;

impl Adam {
    /// An optimiser for networks of this shape.
    #[must_use]
    pub fn new(mlp: &Mlp, config: AdamConfig) -> Self {
        Self::on(mlp, config, Kernels::best())
    }

    pub(super) fn on(mlp: &Mlp, config: AdamConfig, kernels: Kernels) -> Self {
        let zero = vec![0.0; mlp.parameters.len()];
        let moments = Moments { first: zero.clone(), second: zero };
        Self { config, kernels, moments, powers: (1.0, 1.0) }
    }

    /// Running means of the gradients and of their squares, and the decays to the power of the number of steps.
    #[must_use]
    pub fn state(&self) -> (&[f32], &[f32], [f64; 2]) {
        (&self.moments.first, &self.moments.second, [self.powers.0, self.powers.1])
    }

    /// Restores what [`Adam::state`] returned.
    ///
    /// # Panics
    /// The state comes from a network with another number of parameters.
    pub fn restore(&mut self, first: &[f32], second: &[f32], powers: [f64; 2]) {
        self.moments.first.copy_from_slice(first);
        self.moments.second.copy_from_slice(second);
        self.powers = (powers[0], powers[1]);
    }

    /// Moves the network's parameters against this gradient.
    pub(super) fn step(&mut self, mlp: &mut Mlp, gradient: &[f32]) {
        let AdamConfig { learning_rate, beta1, beta2, epsilon } = self.config;
        self.powers = (self.powers.0 * beta1, self.powers.1 * beta2);
        let step = AdamStep {
            decays: (beta1 as f32, beta2 as f32),
            rate: (learning_rate / (1.0 - self.powers.0)) as f32,
            root_scale: (1.0 / (1.0 - self.powers.1).sqrt()) as f32,
            epsilon: epsilon as f32,
        };
        self.kernels.adam(step, gradient, &mut self.moments, &mut mlp.parameters);
    }
}

#[inline(always)]
pub(super) fn apply(step: AdamStep, gradient: &[f32], moments: &mut Moments, parameters: &mut [f32]) {
    let (beta1, beta2) = step.decays;
    let moments = moments.first.iter_mut().zip(&mut moments.second);
    for ((parameter, gradient), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
        *first = vanishing(beta1 * *first + (1.0 - beta1) * gradient);
        *second = vanishing(beta2 * *second + (1.0 - beta2) * gradient * gradient);
        *parameter -= step.rate * *first / (second.sqrt() * step.root_scale + step.epsilon);
    }
}

#[inline(always)]
fn vanishing(moment: f32) -> f32 {
    if moment.abs() < VANISHED { 0.0 } else { moment }
}

#[cfg(test)]
impl Adam {
    pub(super) fn moments_are_zero(&self) -> bool {
        self.moments.first.iter().chain(&self.moments.second).all(|moment| *moment == 0.0)
    }
}
