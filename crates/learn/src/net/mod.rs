//! A multilayer perceptron: linear layers with ReLU between them.
//!
//! A layer's weights are stored input by input, followed by the biases, so that one input is multiplied with
//! the weights of all outputs at once. Zeros pad rows and columns to the kernels' block sizes; learning keeps
//! the padding zero.

mod adam;
mod batch;
mod kernels;
mod loss;

pub use adam::{Adam, AdamConfig};
pub use batch::Batch;
pub use loss::Loss;

use crate::Rng;
use kernels::{Kernels, LANES, ROWS};

/// A network with its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    sizes: Vec<usize>,
    layers: Vec<Layer>,
    parameters: Vec<f32>,
}

/// One linear layer: its shape and its place in the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layer {
    inputs: usize,
    outputs: usize,
    /// Distance from one input's weights to the next input's.
    stride: usize,
    /// Index of the first input's first weight.
    start: usize,
}

impl Layer {
    fn weight(&self, output: usize, input: usize) -> usize {
        self.start + input * self.stride + output
    }

    /// The biases are stored like the weights of one more input.
    fn bias(&self, output: usize) -> usize {
        self.weight(output, self.inputs)
    }

    /// Rows of weights, including the biases and the padding.
    fn rows(&self) -> usize {
        (self.inputs + 1).next_multiple_of(ROWS)
    }

    fn end(&self) -> usize {
        self.start + self.rows() * self.stride
    }
}

impl Mlp {
    /// A network of these layer sizes, inputs first; all its weights are zero.
    ///
    /// # Panics
    /// There are fewer than two sizes, or one of them is zero.
    #[must_use]
    pub fn zero(sizes: &[usize]) -> Self {
        assert!(sizes.len() >= 2 && !sizes.contains(&0), "no network has the sizes {sizes:?}");
        let mut layers: Vec<Layer> = Vec::new();
        for pair in sizes.windows(2) {
            let start = layers.last().map_or(0, Layer::end);
            layers.push(Layer {
                inputs: pair[0],
                outputs: pair[1],
                stride: pair[1].next_multiple_of(LANES),
                start,
            });
        }
        let len = layers.last().map_or(0, Layer::end);
        Self { sizes: sizes.to_vec(), layers, parameters: vec![0.0; len] }
    }

    /// A network whose weights and biases are drawn from U(-1/sqrt(inputs), 1/sqrt(inputs)), layer by layer,
    /// as PyTorch initialises `nn.Linear`.
    #[must_use]
    pub fn random(sizes: &[usize], rng: &mut Rng) -> Self {
        let mut mlp = Self::zero(sizes);
        for layer in mlp.layers.clone() {
            let bound = 1.0 / (layer.inputs as f64).sqrt();
            let mut draw = || ((2.0 * rng.uniform() - 1.0) * bound) as f32;
            for output in 0..layer.outputs {
                for input in 0..layer.inputs {
                    mlp.parameters[layer.weight(output, input)] = draw();
                }
            }
            for output in 0..layer.outputs {
                mlp.parameters[layer.bias(output)] = draw();
            }
        }
        mlp
    }

    /// Layer sizes, inputs first.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Number of linear layers.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// A layer's weights, `[output][input]` as in PyTorch, and its biases.
    #[must_use]
    pub fn weights(&self, layer: usize) -> (Vec<f32>, Vec<f32>) {
        let layer = self.layers[layer];
        let places = (0..layer.outputs).flat_map(|o| (0..layer.inputs).map(move |i| layer.weight(o, i)));
        let weights = places.map(|place| self.parameters[place]).collect();
        let biases = (0..layer.outputs).map(|o| self.parameters[layer.bias(o)]).collect();
        (weights, biases)
    }

    /// Sets a layer's weights, `[output][input]`, and its biases.
    ///
    /// # Panics
    /// The number of weights or of biases is not the layer's.
    pub fn set_weights(&mut self, layer: usize, weights: &[f32], biases: &[f32]) {
        let layer = self.layers[layer];
        assert_eq!((weights.len(), biases.len()), (layer.inputs * layer.outputs, layer.outputs));
        for (o, row) in weights.chunks_exact(layer.inputs).enumerate() {
            for (i, weight) in row.iter().enumerate() {
                self.parameters[layer.weight(o, i)] = *weight;
            }
            self.parameters[layer.bias(o)] = biases[o];
        }
    }

    /// All parameters as they are stored, including the zeros that pad them.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Sets all parameters, in the form that [`Mlp::parameters`] returns.
    ///
    /// # Panics
    /// Their number is not this network's.
    pub fn set_parameters(&mut self, parameters: &[f32]) {
        self.parameters.copy_from_slice(parameters);
    }

    /// Copies the weights of a network of the same shape.
    pub fn copy_from(&mut self, other: &Self) {
        self.parameters.copy_from_slice(&other.parameters);
    }
}

/// Evaluates a network for one input at a time.
#[derive(Clone, Debug)]
pub struct Evaluation {
    kernels: Kernels,
    /// The values of two successive layers, swapped after each layer.
    values: [Vec<f32>; 2],
}

impl Evaluation {
    /// Room for networks of this shape.
    #[must_use]
    pub fn new(mlp: &Mlp) -> Self {
        Self::on(mlp, Kernels::best())
    }

    fn on(mlp: &Mlp, kernels: Kernels) -> Self {
        let widest = mlp.layers.iter().map(|layer| layer.stride.max(layer.inputs)).max().unwrap_or(0);
        Self { kernels, values: [vec![0.0; widest], vec![0.0; widest]] }
    }

    /// The network's outputs for this input.
    ///
    /// # Panics
    /// The input's length is not the network's number of inputs.
    pub fn outputs(&mut self, mlp: &Mlp, input: &[f32]) -> &[f32] {
        self.outputs_with(mlp, input, |_| {})
    }

    /// The same; `hidden` sees, and may change, the values of each hidden layer.
    ///
    /// # Panics
    /// The input's length is not the network's number of inputs.
    pub fn outputs_with(&mut self, mlp: &Mlp, input: &[f32], mut hidden: impl FnMut(&mut [f32])) -> &[f32] {
        assert_eq!(input.len(), mlp.inputs());
        self.values[0][..input.len()].copy_from_slice(input);
        for (n, layer) in mlp.layers.iter().enumerate() {
            let [from, to] = &mut self.values;
            let weights = &mlp.parameters[layer.start..layer.end()];
            let relu = n + 1 < mlp.layers.len();
            self.kernels.one(weights, layer.stride, &from[..layer.inputs], &mut to[..layer.stride], relu);
            if relu {
                hidden(&mut to[..layer.outputs]);
            }
            self.values.swap(0, 1);
        }
        &self.values[0][..mlp.outputs()]
    }
}

/// The index of the largest value; the first of equal ones.
#[must_use]
pub fn argmax(values: impl IntoIterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (index, value) in values.into_iter().enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

#[cfg(test)]
pub(crate) mod tests;
