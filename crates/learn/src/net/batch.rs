//! A batch that goes through a network forward and backward, which gives the gradient of a loss.

use super::kernels::{Kernels, LayerBatch, ROWS, SAMPLES};
use super::{Adam, Layer, Mlp};

/// The values of a batch in every layer of a network.
#[derive(Clone, Debug)]
pub struct Batch {
    kernels: Kernels,
    /// Number of samples, including those that pad the batch to a multiple of `SAMPLES`.
    samples: usize,
    /// The inputs, then each layer's outputs, feature by feature.
    values: Vec<Vec<f32>>,
    /// The loss's derivatives by a layer's outputs and by its inputs, feature by feature.
    errors: [Vec<f32>; 2],
    /// The errors of a layer's outputs, sample by sample; zeros follow each sample's outputs.
    by_sample: Vec<f32>,
    gradient: Vec<f32>,
}

impl Batch {
    /// Room for this many samples in networks of this shape.
    #[must_use]
    pub fn new(mlp: &Mlp, samples: usize) -> Self {
        Self::on(mlp, samples, Kernels::best())
    }

    pub(super) fn on(mlp: &Mlp, samples: usize, kernels: Kernels) -> Self {
        let samples = samples.next_multiple_of(SAMPLES);
        let matrix = |features: usize| vec![0.0; features.next_multiple_of(ROWS) * samples];
        let values: Vec<Vec<f32>> = mlp.sizes().iter().map(|&size| matrix(size)).collect();
        let widest = mlp.sizes().iter().copied().max().unwrap_or(0);
        Self {
            kernels,
            samples,
            values,
            errors: [matrix(widest), matrix(widest)],
            by_sample: Vec::new(),
            gradient: vec![0.0; mlp.parameters.len()],
        }
    }

    /// Sets the input of one sample.
    pub fn set_input(&mut self, sample: usize, input: &[f32]) {
        for (feature, value) in input.iter().enumerate() {
            self.values[0][feature * self.samples + sample] = *value;
        }
    }

    /// The network's outputs for one sample.
    pub fn outputs(&self, mlp: &Mlp, sample: usize) -> impl Iterator<Item = f32> + '_ {
        let outputs = &self.values[self.values.len() - 1];
        (0..mlp.outputs()).map(move |output| outputs[output * self.samples + sample])
    }

    /// Computes the outputs.
    pub fn forward(&mut self, mlp: &Mlp) {
        self.forward_with(mlp, |_| {});
    }

    /// Computes the outputs. `dropout` gets each hidden layer's values, feature by feature, before the next
    /// layer does: it multiplies each by 0, or by the factor that makes up for those dropped.
    pub fn forward_with(&mut self, mlp: &Mlp, mut dropout: impl FnMut(&mut [f32])) {
        for (n, layer) in mlp.layers.iter().enumerate() {
            let hidden = n + 1 < mlp.layers.len();
            let (before, after) = self.values.split_at_mut(n + 1);
            let to = &mut after[0];
            self.kernels.forward(&weights(mlp, layer, self.samples), &before[n], to, hidden);
            if hidden {
                dropout(&mut to[..layer.outputs * self.samples]);
            }
        }
    }

    /// Sets the loss's derivative by each output of one sample; call it for all samples of the batch.
    pub fn set_slopes(&mut self, sample: usize, slopes: impl IntoIterator<Item = f32>) {
        for (output, slope) in slopes.into_iter().enumerate() {
            self.errors[0][output * self.samples + sample] = slope;
        }
    }

    /// Computes the gradient for the slopes that were set and moves the network one step against it. Comes
    /// after [`Batch::forward_with`], whose dropout multiplied the values that it kept by `kept_scale`.
    pub fn step(&mut self, mlp: &mut Mlp, kept_scale: f32, adam: &mut Adam) {
        self.backward(mlp, kept_scale);
        adam.step(mlp, &self.gradient);
    }

    pub(super) fn backward(&mut self, mlp: &Mlp, kept_scale: f32) {
        let samples = self.samples;
        let size = |features: usize| features.next_multiple_of(ROWS) * samples;
        for (n, layer) in mlp.layers.iter().enumerate().rev() {
            let weights = weights(mlp, layer, samples);
            let [errors, below] = &mut self.errors;
            by_sample(&errors[..layer.outputs * samples], layer.stride, samples, &mut self.by_sample);
            let gradient = &mut self.gradient[layer.start..layer.end()];
            self.kernels.gradient(&weights, &self.values[n], &self.by_sample, gradient);
            if n == 0 {
                continue;
            }
            let below = &mut below[..size(layer.inputs)];
            self.kernels.backward(&weights, &errors[..layer.outputs * samples], below);
            // Errors pass back through ReLU and dropout only where the value is above zero.
            for (error, value) in below.iter_mut().zip(&self.values[n]) {
                *error = if *value > 0.0 { *error * kept_scale } else { 0.0 };
            }
            self.errors.swap(0, 1);
        }
        // The next step's slopes are written to the first of the two.
        if mlp.layers().is_multiple_of(2) {
            self.errors.swap(0, 1);
        }
    }

    /// The loss's derivatives by all weights and biases, in the shape of the network.
    #[cfg(test)]
    pub(super) fn gradient(&self, mlp: &Mlp) -> Mlp {
        Mlp { parameters: self.gradient.clone(), ..mlp.clone() }
    }
}

fn weights<'a>(mlp: &'a Mlp, layer: &Layer, samples: usize) -> LayerBatch<'a> {
    let values = &mlp.parameters[layer.start..layer.end()];
    LayerBatch { values, stride: layer.stride, inputs: layer.inputs, samples }
}

/// Transposes a matrix from feature by feature to sample by sample, padded with zeros to the stride.
fn by_sample(errors: &[f32], stride: usize, samples: usize, turned: &mut Vec<f32>) {
    turned.clear();
    turned.resize(samples * stride, 0.0);
    let rows = errors.chunks_exact(ROWS * samples);
    let rest = rows.remainder();
    let four = rows.len() * ROWS;
    for (n, rows) in rows.enumerate() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| &rows[row * samples..][..samples]);
        for ((((turned, a), b), c), d) in turned.chunks_exact_mut(stride).zip(a).zip(b).zip(c).zip(d) {
            turned[n * ROWS..][..ROWS].copy_from_slice(&[*a, *b, *c, *d]);
        }
    }
    for (n, row) in rest.chunks_exact(samples).enumerate() {
        for (turned, error) in turned.chunks_exact_mut(stride).zip(row) {
            turned[four + n] = *error;
        }
    }
}
