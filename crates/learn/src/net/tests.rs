use super::*;
use crate::Rng;
use proptest::prelude::*;

/// Small whole numbers, so that a test's values are exact; the same sequence as in tests/golden/pytorch.py.
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A multiple of 1/512 in [-0.5, 0.5).
    pub(crate) fn next(&mut self) -> f32 {
        self.0 = (self.0 * 1_103_515_245 + 12_345) % (1 << 31);
        ((self.0 >> 16) % 512) as f32 / 512.0 - 0.5
    }

    pub(crate) fn take(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// Each layer's weights, then its biases, from the sequence.
pub(crate) fn network(sizes: &[usize], seed: u64) -> Mlp {
    let mut sequence = Sequence::new(seed);
    let mut mlp = Mlp::zero(sizes);
    for (layer, pair) in sizes.windows(2).enumerate() {
        let (weights, biases) = (sequence.take(pair[0] * pair[1]), sequence.take(pair[1]));
        mlp.set_weights(layer, &weights, &biases);
    }
    mlp
}

fn all_weights(mlp: &Mlp) -> Vec<f32> {
    (0..mlp.layers()).map(|layer| mlp.weights(layer)).flat_map(|(w, b)| w.into_iter().chain(b)).collect()
}

fn with_weights(mlp: &Mlp, mut all: &[f32]) -> Mlp {
    let mut changed = mlp.clone();
    for (layer, pair) in mlp.sizes().windows(2).enumerate() {
        let (weights, rest) = all.split_at(pair[0] * pair[1]);
        let (biases, rest) = rest.split_at(pair[1]);
        changed.set_weights(layer, weights, biases);
        all = rest;
    }
    changed
}

/// The outputs by the textbook formula, in double precision.
fn textbook(mlp: &Mlp, input: &[f32]) -> Vec<f64> {
    let mut values: Vec<f64> = input.iter().map(|v| f64::from(*v)).collect();
    for layer in 0..mlp.layers() {
        let (weights, biases) = mlp.weights(layer);
        let sum = |row: &[f32]| row.iter().zip(&values).map(|(w, v)| f64::from(*w) * v).sum::<f64>();
        let last = layer + 1 == mlp.layers();
        values = weights
            .chunks(values.len())
            .zip(&biases)
            .map(|(row, bias)| sum(row) + f64::from(*bias))
            .map(|z| if last { z } else { z.max(0.0) })
            .collect();
    }
    values
}

const SHAPES: &[&[usize]] =
    &[&[3, 30, 30, 30, 7], &[5, 50, 50, 50, 50, 50, 4], &[1, 1], &[2, 3, 1], &[9, 52, 17, 8]];

#[test]
fn outputs_are_those_of_the_textbook() {
    for (n, sizes) in SHAPES.iter().enumerate() {
        let mlp = network(sizes, n as u64 + 1);
        let mut evaluation = Evaluation::new(&mlp);
        let mut sequence = Sequence::new(99);
        for _ in 0..5 {
            let input = sequence.take(mlp.inputs());
            let outputs = evaluation.outputs(&mlp, &input).to_vec();
            for (ours, expected) in outputs.iter().zip(textbook(&mlp, &input)) {
                assert!((f64::from(*ours) - expected).abs() < 1e-5 * expected.abs().max(1.0), "{sizes:?}");
            }
        }
    }
}

/// Each sum is taken in the same order, for a single input and in a batch of any size.
#[test]
fn a_batch_and_single_inputs_have_the_same_bits() {
    for (n, sizes) in SHAPES.iter().enumerate() {
        let mlp = network(sizes, n as u64 + 1);
        let mut evaluation = Evaluation::new(&mlp);
        for samples in [1, 16, 19, 32] {
            let mut batch = Batch::new(&mlp, samples);
            let inputs: Vec<Vec<f32>> =
                (0..samples).map(|s| Sequence::new(s as u64).take(sizes[0])).collect();
            inputs.iter().enumerate().for_each(|(sample, input)| batch.set_input(sample, input));
            batch.forward(&mlp);
            for (sample, input) in inputs.iter().enumerate() {
                let alone: Vec<u32> = evaluation.outputs(&mlp, input).iter().map(|v| v.to_bits()).collect();
                let together: Vec<u32> = batch.outputs(&mlp, sample).map(f32::to_bits).collect();
                assert_eq!(alone, together, "{sizes:?}, {samples} samples");
            }
        }
    }
}

/// 0.05 times the sum of all squared outputs of the batch, with every third hidden value dropped.
fn cost(mlp: &Mlp, batch: &mut Batch, inputs: &[Vec<f32>]) -> f64 {
    inputs.iter().enumerate().for_each(|(sample, input)| batch.set_input(sample, input));
    batch.forward_with(mlp, every_third);
    let squares = (0..inputs.len()).flat_map(|s| batch.outputs(mlp, s).collect::<Vec<_>>());
    squares.map(|v| 0.05 * f64::from(v) * f64::from(v)).sum()
}

fn every_third(values: &mut [f32]) {
    for (n, value) in values.iter_mut().enumerate() {
        *value *= if n % 3 == 0 { 0.0 } else { 1.5 };
    }
}

fn gradient(mlp: &Mlp, batch: &mut Batch, inputs: &[Vec<f32>]) -> Vec<f32> {
    cost(mlp, batch, inputs);
    for sample in 0..inputs.len() {
        let slopes: Vec<f32> = batch.outputs(mlp, sample).map(|v| 0.1 * v).collect();
        batch.set_slopes(sample, slopes);
    }
    batch.backward(mlp, 1.5);
    all_weights(&batch.gradient(mlp))
}

#[test]
fn gradients_are_finite_differences() {
    for sizes in [&[3, 6, 5, 2][..], &[5, 12, 4], &[2, 3, 4, 5, 1]] {
        let mlp = network(sizes, 5);
        let inputs: Vec<Vec<f32>> = (0..19).map(|s| Sequence::new(s + 7).take(sizes[0])).collect();
        let mut batch = Batch::new(&mlp, inputs.len());
        let gradient = gradient(&mlp, &mut batch, &inputs);
        let weights = all_weights(&mlp);
        let mut off = 0;
        for (n, expected) in gradient.iter().enumerate() {
            let mut moved = |by: f32| {
                let mut weights = weights.clone();
                weights[n] += by;
                cost(&with_weights(&mlp, &weights), &mut batch, &inputs)
            };
            let slope = (moved(1.0 / 512.0) - moved(-1.0 / 512.0)) * 256.0;
            // Where a ReLU has its kink between the two points, the slopes differ.
            off += usize::from((slope - f64::from(*expected)).abs() > 2e-3 * slope.abs().max(1.0));
        }
        assert!(off * 20 <= gradient.len(), "{off} of {} gradients are off in {sizes:?}", gradient.len());
    }
}

/// Padding has no effect: a reused batch gives the same gradient as a fresh one, and the weights' padding stays zero.
#[test]
fn room_that_was_used_gives_the_same_gradient() {
    for (n, sizes) in SHAPES.iter().enumerate() {
        let mut mlp = network(sizes, n as u64 + 1);
        let inputs: Vec<Vec<f32>> = (0..19).map(|s| Sequence::new(s + 7).take(sizes[0])).collect();
        let mut batch = Batch::new(&mlp, inputs.len());
        let mut adam = Adam::new(&mlp, AdamConfig::with_rate(0.01));
        for _ in 0..3 {
            let used = gradient(&mlp, &mut batch, &inputs);
            let fresh = gradient(&mlp, &mut Batch::new(&mlp, inputs.len()), &inputs);
            assert_eq!(used, fresh, "{sizes:?}");
            batch.step(&mut mlp, 1.5, &mut adam);
        }
        assert_eq!(with_weights(&Mlp::zero(sizes), &all_weights(&mlp)), mlp, "the rest is zero");
    }
}

/// A hash of all bits of a network's weights.
fn digest(mlp: &Mlp) -> u64 {
    all_weights(mlp).iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn trained(sizes: &[usize], kernels: Kernels) -> Mlp {
    let mut mlp = network(sizes, 3);
    let mut batch = Batch::on(&mlp, 32, kernels);
    let mut adam = Adam::on(&mlp, AdamConfig::with_rate(0.01), kernels);
    let inputs: Vec<Vec<f32>> = (0..32).map(|s| Sequence::new(s + 7).take(sizes[0])).collect();
    for _ in 0..20 {
        gradient(&mlp, &mut batch, &inputs);
        batch.step(&mut mlp, 1.5, &mut adam);
    }
    mlp
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    for sizes in SHAPES {
        let (plain, best) = (trained(sizes, Kernels::plain()), trained(sizes, Kernels::best()));
        assert_eq!(digest(&plain), digest(&best), "{sizes:?}");
        let input = Sequence::new(4).take(sizes[0]);
        let outputs = |kernels| {
            let mut evaluation = Evaluation::on(&plain, kernels);
            evaluation.outputs(&plain, &input).iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(outputs(Kernels::plain()), outputs(Kernels::best()));
    }
}

/// The digests of the weights after 20 steps, which every machine must reproduce.
#[test]
fn every_machine_gives_the_same_bits() {
    let digests = [SHAPES[0], SHAPES[1]].map(|sizes| digest(&trained(sizes, Kernels::best())));
    assert_eq!(digests, [4_352_051_394_908_887_278, 15_691_586_031_379_329_486]);
}

#[test]
fn nothing_denormal_is_kept() {
    let mut mlp = network(&[3, 30, 7], 3);
    let mut adam = Adam::new(&mlp, AdamConfig::with_rate(0.01));
    let mut gradient = vec![1e-12; mlp.parameters.len()];
    adam.step(&mut mlp, &gradient);
    gradient.fill(0.0);
    for _ in 0..10_000 {
        adam.step(&mut mlp, &gradient);
    }
    assert!(adam.moments_are_zero());
}

#[test]
fn a_fresh_network_is_drawn_within_its_bounds() {
    let mlp = Mlp::random(&[4, 50, 3], &mut Rng::named(1, "weights"));
    for (layer, bound) in [(0, 0.5), (1, 1.0 / 50f32.sqrt())] {
        let (weights, biases) = mlp.weights(layer);
        let all: Vec<f32> = weights.into_iter().chain(biases).collect();
        assert!(all.iter().all(|weight| weight.abs() <= bound));
        assert!(all.iter().any(|weight| *weight > 0.8 * bound) && all.iter().any(|w| *w < -0.8 * bound));
    }
}

#[test]
fn the_first_of_equals_is_the_largest() {
    assert_eq!(argmax([1.0, 3.0, 3.0, 2.0]), 1);
    assert_eq!(argmax([f32::NAN, 1.0]), 1);
    assert_eq!(argmax([f32::NAN]), 0);
}

proptest! {
    #[test]
    fn weights_are_given_back_as_they_were_set(
        sizes in prop::collection::vec(1usize..20, 2..6), seed in 0u64..1000,
    ) {
        let mlp = network(&sizes, seed);
        prop_assert_eq!(with_weights(&Mlp::zero(&sizes), &all_weights(&mlp)), mlp);
    }
}
