//! The hot loops, with the widest vectors that the processor has.
//!
//! Every instruction set gives the same bits: the lanes of a vector are outputs or samples, never the terms
//! of one sum, so each sum is taken in the order written here; and no multiplication is fused with an
//! addition.
//!
//! A batch's matrices are stored feature by feature, with one value per sample, so that one feature of
//! [`SAMPLES`] samples fills whole vectors. Row counts are multiples of [`ROWS`], and strides of [`LANES`].

use super::adam::{AdamStep, Moments};
use pulp::{Arch, Simd, WithSimd};

/// Strides are multiples of this: the fewest outputs computed at once for a single input.
pub(super) const LANES: usize = 8;
/// A batch is padded to a multiple of this many samples: two vectors of eight, processed at once.
pub(super) const SAMPLES: usize = 16;
/// Rows of a matrix that are processed at once, so that each load serves four rows.
pub(super) const ROWS: usize = 4;

/// The kernels for this processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels(Arch);

/// The work to do; it is inlined into code for the instruction set.
enum Task<'a> {
    One { weights: &'a [f32], stride: usize, from: &'a [f32], to: &'a mut [f32], relu: bool },
    Forward { layer: &'a LayerBatch<'a>, from: &'a [f32], to: &'a mut [f32], relu: bool },
    Backward { layer: &'a LayerBatch<'a>, errors: &'a [f32], inputs: &'a mut [f32] },
    Gradient { layer: &'a LayerBatch<'a>, from: &'a [f32], errors: &'a [f32], gradient: &'a mut [f32] },
    Adam { step: AdamStep, gradient: &'a [f32], moments: &'a mut Moments, parameters: &'a mut [f32] },
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self {
            Task::One { weights, stride, from, to, relu } => one(weights, stride, from, to, relu),
            Task::Forward { layer, from, to, relu } => forward(simd, layer, from, to, relu),
            Task::Backward { layer, errors, inputs } => backward(simd, layer, errors, inputs),
            Task::Gradient { layer, from, errors, gradient } => {
                weight_gradient(simd, layer, from, errors, gradient)
            }
            Task::Adam { step, gradient, moments, parameters } => {
                super::adam::apply(step, gradient, moments, parameters);
            }
        }
    }
}

impl Kernels {
    /// Kernels with the widest vectors that this processor has.
    pub(super) fn best() -> Self {
        Self(Arch::new())
    }

    /// Kernels that use only what every x86-64 processor has.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self(Arch::Scalar)
    }

    /// One layer for one input: `to = from W + bias`, with negative values set to zero if `relu`.
    pub(super) fn one(self, weights: &[f32], stride: usize, from: &[f32], to: &mut [f32], relu: bool) {
        self.0.dispatch(Task::One { weights, stride, from, to, relu });
    }

    /// One layer for a batch.
    pub(super) fn forward(self, layer: &LayerBatch, from: &[f32], to: &mut [f32], relu: bool) {
        self.0.dispatch(Task::Forward { layer, from, to, relu });
    }

    /// Propagates the errors of the outputs back to the inputs: `inputs = W errors`.
    pub(super) fn backward(self, layer: &LayerBatch, errors: &[f32], inputs: &mut [f32]) {
        self.0.dispatch(Task::Backward { layer, errors, inputs });
    }

    /// The gradient of a layer's weights and biases; `errors` are stored sample by sample.
    pub(super) fn gradient(self, layer: &LayerBatch, from: &[f32], errors: &[f32], gradient: &mut [f32]) {
        self.0.dispatch(Task::Gradient { layer, from, errors, gradient });
    }

    /// One step of Adam on all parameters.
    pub(super) fn adam(
        self,
        step: AdamStep,
        gradient: &[f32],
        moments: &mut Moments,
        parameters: &mut [f32],
    ) {
        self.0.dispatch(Task::Adam { step, gradient, moments, parameters });
    }
}

/// A layer and the batch that goes through it.
pub(super) struct LayerBatch<'a> {
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
    pub(super) inputs: usize,
    /// Number of samples, including the padding.
    pub(super) samples: usize,
}

impl LayerBatch<'_> {
    #[inline(always)]
    fn row(&self, input: usize) -> &[f32] {
        &self.values[input * self.stride..][..self.stride]
    }
}

#[inline(always)]
fn vector<const N: usize>(values: &[f32], at: usize) -> &[f32; N] {
    values[at..].first_chunk().expect("matrices are filled up")
}

#[inline(always)]
fn vector_mut<const N: usize>(values: &mut [f32], at: usize) -> &mut [f32; N] {
    values[at..].first_chunk_mut().expect("matrices are filled up")
}

#[inline(always)]
fn one(weights: &[f32], stride: usize, from: &[f32], to: &mut [f32], relu: bool) {
    let mut at = 0;
    while at < stride {
        match stride - at {
            0..16 => at += one_lanes::<LANES>(weights, stride, from, to, (at, relu)),
            16..32 => at += one_lanes::<16>(weights, stride, from, to, (at, relu)),
            _ => at += one_lanes::<32>(weights, stride, from, to, (at, relu)),
        }
    }
}

/// Computes N outputs, starting at output `at`; returns N.
#[inline(always)]
fn one_lanes<const N: usize>(
    weights: &[f32],
    stride: usize,
    from: &[f32],
    to: &mut [f32],
    (at, relu): (usize, bool),
) -> usize {
    let mut sums: [f32; N] = *vector(weights, from.len() * stride + at);
    for (input, value) in from.iter().enumerate() {
        let row: &[f32; N] = vector(weights, input * stride + at);
        for lane in 0..N {
            sums[lane] += row[lane] * value;
        }
    }
    *vector_mut(to, at) = if relu { sums.map(positive) } else { sums };
    N
}

#[inline(always)]
fn positive(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}

/// [`positive`] of each lane, written as a select because a masked store takes many times as long (AMD).
#[inline(always)]
fn positives<S: Simd>(simd: S, values: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    simd.select_f32s(simd.greater_than_f32s(values, zero), values, zero)
}

/// N vectors of each of [`ROWS`] rows.
type Tile<S, const N: usize> = [[<S as Simd>::f32s; N]; ROWS];

/// `sums[row] += factors[row] * values`.
#[inline(always)]
fn add_products<S: Simd, const N: usize>(
    simd: S,
    sums: &mut Tile<S, N>,
    factors: &[f32; ROWS],
    values: &[S::f32s; N],
) {
    for row in 0..ROWS {
        let factor = simd.splat_f32s(factors[row]);
        for n in 0..N {
            sums[row][n] = simd.add_f32s(sums[row][n], simd.mul_f32s(factor, values[n]));
        }
    }
}

/// N vectors, starting at index `at`.
#[inline(always)]
fn vectors<V, const N: usize>(values: &[V], at: usize) -> &[V; N] {
    values[at..].first_chunk().expect("matrices are filled up")
}

/// Vectors of a batch that are processed at once.
const PAIR: usize = 2;

#[inline(always)]
fn forward<S: Simd>(simd: S, layer: &LayerBatch, from: &[f32], to: &mut [f32], relu: bool) {
    let rows = to.len() / layer.samples;
    let across = layer.samples / S::F32_LANES;
    let (from, _) = S::as_simd_f32s(from);
    let (sums_of, _) = S::as_mut_simd_f32s(to);
    for output in (0..rows).step_by(ROWS) {
        let biases: &[f32; ROWS] = vectors(layer.row(layer.inputs), output);
        for at in (0..across).step_by(PAIR) {
            let mut sums = [[simd.splat_f32s(0.0); PAIR]; ROWS];
            for row in 0..ROWS {
                sums[row] = [simd.splat_f32s(biases[row]); PAIR];
            }
            let weights = layer.values.chunks_exact(layer.stride).take(layer.inputs);
            for (weights, from) in weights.zip(from.chunks_exact(across)) {
                add_products(simd, &mut sums, vectors(weights, output), vectors(from, at));
            }
            for row in 0..ROWS {
                let sums = if relu { sums[row].map(|sum| positives(simd, sum)) } else { sums[row] };
                sums_of[(output + row) * across + at..][..PAIR].copy_from_slice(&sums);
            }
        }
    }
}

#[inline(always)]
fn backward<S: Simd>(simd: S, layer: &LayerBatch, errors: &[f32], inputs: &mut [f32]) {
    let (rows, outputs) = (inputs.len() / layer.samples, errors.len() / layer.samples);
    let across = layer.samples / S::F32_LANES;
    let (errors, _) = S::as_simd_f32s(errors);
    let (inputs, _) = S::as_mut_simd_f32s(inputs);
    for input in (0..rows).step_by(ROWS) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| &layer.row(input + row)[..outputs]);
        for at in (0..across).step_by(PAIR) {
            let mut sums = [[simd.splat_f32s(0.0); PAIR]; ROWS];
            for ((((a, b), c), d), errors) in a.iter().zip(b).zip(c).zip(d).zip(errors.chunks_exact(across)) {
                add_products(simd, &mut sums, &[*a, *b, *c, *d], vectors(errors, at));
            }
            for row in 0..ROWS {
                inputs[(input + row) * across + at..][..PAIR].copy_from_slice(&sums[row]);
            }
        }
    }
}

#[inline(always)]
fn weight_gradient<S: Simd>(simd: S, layer: &LayerBatch, from: &[f32], errors: &[f32], gradient: &mut [f32]) {
    let across = layer.stride / S::F32_LANES;
    let (errors, _) = S::as_simd_f32s(errors);
    let (gradient, _) = S::as_mut_simd_f32s(gradient);
    for input in (0..from.len() / layer.samples).step_by(ROWS) {
        let rows = [0, 1, 2, 3].map(|row| &from[(input + row) * layer.samples..][..layer.samples]);
        let gradient = &mut gradient[input * across..];
        let mut at = 0;
        while at + PAIR <= across {
            columns::<S, PAIR>(simd, rows, errors, gradient, (at, across));
            at += PAIR;
        }
        if at < across {
            columns::<S, 1>(simd, rows, errors, gradient, (at, across));
        }
    }
    // Written after the weights' gradient, because the rows that pad the inputs overlap the biases' row.
    for at in 0..across {
        let mut sum = simd.splat_f32s(0.0);
        for sample in 0..layer.samples {
            sum = simd.add_f32s(sum, errors[sample * across + at]);
        }
        gradient[layer.inputs * across + at] = sum;
    }
}

/// The gradient of [`ROWS`] inputs' weights for N vectors of outputs.
#[inline(always)]
fn columns<S: Simd, const N: usize>(
    simd: S,
    [a, b, c, d]: [&[f32]; ROWS],
    errors: &[S::f32s],
    gradient: &mut [S::f32s],
    (at, across): (usize, usize),
) {
    let mut sums = [[simd.splat_f32s(0.0); N]; ROWS];
    let errors = errors.chunks_exact(across);
    for ((((a, b), c), d), errors) in a.iter().zip(b).zip(c).zip(d).zip(errors) {
        add_products(simd, &mut sums, &[*a, *b, *c, *d], vectors(errors, at));
    }
    for row in 0..ROWS {
        gradient[row * across + at..][..N].copy_from_slice(&sums[row]);
    }
}
