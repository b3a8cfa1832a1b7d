//! Weights of a network as a safetensors file: the length of a header, the header in JSON, the values.
//!
//! The layout is PyTorch's: `<n>.weight` is [outputs, inputs], `<n>.bias` is [outputs], in float32, with the numbers
//! that the layers have in an `nn.Sequential` of linear layers and ReLUs. What the network takes in stands in the
//! metadata as `inputs`.

use cwndlab_cc::decisions::Weights;
use cwndlab_learn::Mlp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// More than any network here has; a longer file is not read.
pub const MAX_BYTES: u64 = 64 << 20;
/// What the length of the header takes.
const LENGTH: usize = 8;
const METADATA: &str = "__metadata__";
const INPUTS: &str = "inputs";

/// The file of these weights.
#[must_use]
pub fn encode(weights: &Weights) -> Vec<u8> {
    let network = &weights.network;
    let mut header = Map::new();
    let sizes: Vec<String> = network.sizes().iter().map(ToString::to_string).collect();
    let metadata = json!({
        "format": "pt", INPUTS: weights.inputs, "sizes": sizes.join("-"), "activation": "relu",
    });
    header.insert(METADATA.to_owned(), metadata);
    let mut data: Vec<u8> = Vec::new();
    let mut tensor = |name: String, shape: &[usize], values: &[f32]| {
        let begin = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()] }));
    };
    for layer in 0..network.layers() {
        let (values, biases) = network.weights(layer);
        let [inputs, outputs] = [network.sizes()[layer], network.sizes()[layer + 1]];
        // Linear layers take every other place, ReLUs those between.
        tensor(format!("{}.weight", 2 * layer), &[outputs, inputs], &values);
        tensor(format!("{}.bias", 2 * layer), &[outputs], &biases);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // The values begin at a multiple of their alignment.
    header.resize(header.len().next_multiple_of(LENGTH), b' ');
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], &header, &data].concat()
}

/// A hash of a file's content.
#[must_use]
pub fn hash(file: &[u8]) -> String {
    Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The weights that a file holds.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn decode(file: &[u8]) -> Result<Weights, String> {
    let (header, data) = split(file)?;
    let inputs = header.get(METADATA).and_then(|metadata| metadata.get(INPUTS));
    let inputs = inputs.and_then(Value::as_str).ok_or_else(|| {
        format!(
            "its metadata do not say what the network takes in; write it with metadata = {{\"{INPUTS}\": \"...\"}}"
        )
    })?;
    let layers = layers(&header, data)?;
    Ok(Weights { network: network(&layers)?, inputs: inputs.to_owned() })
}

fn split(file: &[u8]) -> Result<(Map<String, Value>, &[u8]), String> {
    let no_safetensors = || "it is no safetensors file".to_owned();
    let (length, rest) = file.split_first_chunk::<LENGTH>().ok_or_else(no_safetensors)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| no_safetensors())?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(no_safetensors)?;
    match serde_json::from_slice(header) {
        Ok(Value::Object(header)) => Ok((header, data)),
        _ => Err(no_safetensors()),
    }
}

/// What is known of one layer.
#[derive(Default)]
struct Layer {
    weight: Option<Tensor>,
    bias: Option<Tensor>,
}

struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// The layers by their numbers; all names begin alike.
fn layers(header: &Map<String, Value>, data: &[u8]) -> Result<BTreeMap<u64, Layer>, String> {
    let mut layers: BTreeMap<u64, Layer> = BTreeMap::new();
    let mut prefix: Option<&str> = None;
    for (name, about) in header.iter().filter(|(name, _)| *name != METADATA) {
        let (before, number, kind) = parts(name)
            .ok_or_else(|| format!("its tensor `{name}` is no <number>.weight or <number>.bias"))?;
        let first = *prefix.get_or_insert(before);
        if first != before {
            return Err(format!("it holds two networks, `{first}` and `{before}`; one is needed"));
        }
        let tensor = tensor(about, data).map_err(|why| format!("its tensor `{name}` {why}"))?;
        let layer = layers.entry(number).or_default();
        *(if kind == "weight" { &mut layer.weight } else { &mut layer.bias }) = Some(tensor);
    }
    Ok(layers)
}

/// `q_net.2.weight` as `q_net.`, 2 and `weight`.
fn parts(name: &str) -> Option<(&str, u64, &str)> {
    let (path, kind) = name.rsplit_once('.')?;
    let number = path.rsplit_once('.').map_or(path, |(_, number)| number);
    let known = matches!(kind, "weight" | "bias");
    known.then_some((&path[..path.len() - number.len()], number.parse().ok()?, kind))
}

fn tensor(about: &Value, data: &[u8]) -> Result<Tensor, String> {
    let wrong = || "is not described as safetensors has it".to_owned();
    let dtype = about.get("dtype").and_then(Value::as_str).ok_or_else(wrong)?;
    if dtype != "F32" {
        return Err(format!("is of type {dtype}; F32 is needed"));
    }
    let numbers = |key: &str| -> Option<Vec<usize>> {
        let list = about.get(key)?.as_array()?;
        list.iter().map(|value| usize::try_from(value.as_u64()?).ok()).collect()
    };
    let (shape, offsets) = (numbers("shape").ok_or_else(wrong)?, numbers("data_offsets").ok_or_else(wrong)?);
    let [begin, end] = offsets[..] else { return Err(wrong()) };
    let bytes = data.get(begin..end).ok_or("lies beyond the end of the file")?;
    let count = shape.iter().try_fold(1usize, |all, &length| all.checked_mul(length));
    if count.and_then(|count| count.checked_mul(4)) != Some(bytes.len()) {
        return Err(format!("has {} bytes for a shape of {shape:?}", bytes.len()));
    }
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("holds {value}; finite numbers are needed")),
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
            return Err(format!("its layer {number} is no linear layer: {:?}", weight.shape));
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
        return Err("it holds no layer".to_owned());
    }
    let mut network = Mlp::zero(&sizes);
    for (layer, (weight, bias)) in tensors.into_iter().enumerate() {
        network.set_weights(layer, &weight.values, &bias.values);
    }
    Ok(network)
}

#[cfg(test)]
mod tests;
