//! A network's weights as a safetensors file.
//!
//! The layout is PyTorch's: `<n>.weight` is [outputs, inputs], `<n>.bias` is [outputs], in float32, numbered like the
//! layers of an `nn.Sequential` of linear layers and ReLUs. The metadata describe the network's inputs as `inputs`.

use crate::safetensors::{METADATA, Writer, numbers, split};
use cwndlab_cc::decisions::Weights;
use cwndlab_learn::Mlp;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The largest file that is read; no network here needs more.
pub const MAX_BYTES: u64 = 64 << 20;
const INPUTS: &str = "inputs";

/// Encodes weights as a file.
#[must_use]
pub fn encode(weights: &Weights) -> Vec<u8> {
    let network = &weights.network;
    let sizes: Vec<String> = network.sizes().iter().map(ToString::to_string).collect();
    let mut file = Writer::new(&[
        ("format", "pt"),
        (INPUTS, &weights.inputs),
        ("sizes", &sizes.join("-")),
        ("activation", "relu"),
    ]);
    for layer in 0..network.layers() {
        let (values, biases) = network.weights(layer);
        let [inputs, outputs] = [network.sizes()[layer], network.sizes()[layer + 1]];
        // Linear layers have even numbers; the ReLUs between them have the odd ones.
        file.add(&format!("{}.weight", 2 * layer), &[outputs, inputs], &values);
        file.add(&format!("{}.bias", 2 * layer), &[outputs], &biases);
    }
    file.finish()
}

/// The SHA-256 of a file's content, in hexadecimal digits.
#[must_use]
pub fn hash(file: &[u8]) -> String {
    Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes the weights in a file.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn decode(file: &[u8]) -> Result<Weights, String> {
    let (header, data) = split(file)?;
    let inputs = header.get(METADATA).and_then(|metadata| metadata.get(INPUTS));
    let inputs = inputs.and_then(Value::as_str).ok_or_else(|| {
        format!(
            "its metadata do not name the network's inputs; write it with metadata = {{\"{INPUTS}\": \"...\"}}"
        )
    })?;
    let layers = layers(&header, data)?;
    Ok(Weights { network: network(&layers)?, inputs: inputs.to_owned() })
}

/// The tensors of one layer.
#[derive(Default)]
struct Layer {
    weight: Option<Tensor>,
    bias: Option<Tensor>,
}

struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// The layers by number; all tensor names must share one prefix.
fn layers(header: &Map<String, Value>, data: &[u8]) -> Result<BTreeMap<u64, Layer>, String> {
    let mut layers: BTreeMap<u64, Layer> = BTreeMap::new();
    let mut prefix: Option<&str> = None;
    for (name, about) in header.iter().filter(|(name, _)| *name != METADATA) {
        let (before, number, kind) = parts(name).ok_or_else(|| {
            format!("expected a tensor called <number>.weight or <number>.bias, found `{name}`")
        })?;
        let first = *prefix.get_or_insert(before);
        if first != before {
            return Err(format!("expected one network, found two, `{first}` and `{before}`"));
        }
        let tensor = tensor(about, data).map_err(|why| format!("its tensor `{name}` {why}"))?;
        let layer = layers.entry(number).or_default();
        *(if kind == "weight" { &mut layer.weight } else { &mut layer.bias }) = Some(tensor);
    }
    Ok(layers)
}

/// Splits a name: `q_net.2.weight` becomes `q_net.`, 2 and `weight`.
fn parts(name: &str) -> Option<(&str, u64, &str)> {
    let (path, kind) = name.rsplit_once('.')?;
    let number = path.rsplit_once('.').map_or(path, |(_, number)| number);
    let known = matches!(kind, "weight" | "bias");
    known.then_some((&path[..path.len() - number.len()], number.parse().ok()?, kind))
}

fn tensor(about: &Value, data: &[u8]) -> Result<Tensor, String> {
    let (shape, values) = numbers::<f32, 4>(about, data)?;
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("is wrong: expected finite numbers, found {value}")),
        None => Ok(Tensor { shape, values }),
    }
}

fn network(layers: &BTreeMap<u64, Layer>) -> Result<Mlp, String> {
    let mut sizes: Vec<usize> = Vec::new();
    let mut tensors = Vec::new();
    for (number, layer) in layers {
        let (Some(weight), Some(bias)) = (&layer.weight, &layer.bias) else {
            return Err(format!("its layer {number} lacks a weight or a bias"));
        };
        let [outputs, inputs] = weight.shape[..] else {
            return Err(format!("its layer {number} is not a linear layer: {:?}", weight.shape));
        };
        let before = sizes.last().copied().unwrap_or(inputs);
        if before != inputs || bias.shape != [outputs] || outputs == 0 || inputs == 0 {
            let found = (&weight.shape, &bias.shape);
            return Err(format!("its layer {number} does not fit: weight {:?}, bias {:?}", found.0, found.1));
        }
        if sizes.is_empty() {
            sizes.push(inputs);
        }
        sizes.push(outputs);
        tensors.push((weight, bias));
    }
    if tensors.is_empty() {
        return Err("it contains no layers".to_owned());
    }
    let mut network = Mlp::zero(&sizes);
    for (layer, (weight, bias)) in tensors.into_iter().enumerate() {
        network.set_weights(layer, &weight.values, &bias.values);
    }
    Ok(network)
}

#[cfg(test)]
mod tests;
