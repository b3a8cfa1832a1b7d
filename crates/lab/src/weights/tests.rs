use super::*;
use cwndlab_learn::Rng;
use proptest::prelude::*;
use serde_json::json;

fn weights() -> Weights {
    Weights { network: Mlp::random(&[3, 5, 2], &mut Rng::named(1, "weights")), inputs: "a,b,c".to_owned() }
}

/// A file with this header and then this many zeros.
fn file(header: &str, zeros: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; zeros]].concat()
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(decode(&encode(&weights())), Ok(weights()));
}

/// The format: little-endian length, JSON, values; PyTorch's names and shapes.
#[test]
fn the_layout_is_pytorchs() {
    let file = encode(&weights());
    let length = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    assert_eq!(header["0.weight"], json!({ "dtype": "F32", "shape": [5, 3], "data_offsets": [0, 60] }));
    assert_eq!(header["2.bias"]["shape"], json!([2]));
    assert_eq!(header[METADATA]["inputs"], "a,b,c");
    assert_eq!(file.len(), 8 + length + 4 * (15 + 5 + 10 + 2));
    let first = f32::from_le_bytes(*file[8 + length..].first_chunk().unwrap());
    assert_eq!(first, weights().network.weights(0).0[0]);
}

#[test]
fn layers_may_have_any_numbers_and_a_prefix() {
    let described = r#"{"__metadata__":{"inputs":"a"},
        "q.7.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[12,20]},
        "q.7.bias":{"dtype":"F32","shape":[1],"data_offsets":[20,24]},
        "q.0.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},
        "q.0.bias":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#;
    assert_eq!(decode(&file(described, 24)).unwrap().network.sizes(), [1, 2, 1]);
}

#[test]
fn each_mistake_is_told() {
    let with = |tensors: &str| format!(r#"{{"__metadata__":{{"inputs":"a"}}{tensors}}}"#);
    let linear = r#","0.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"0.bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}"#;
    assert!(decode(&file(&with(linear), 8)).is_ok());
    let changed = |from: &str, to: &str| file(&with(&linear.replace(from, to)), 8);
    let mut infinite = file(&with(linear), 8);
    let end = infinite.len();
    infinite[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let cases = [
        (vec![], "it is not a safetensors file"),
        (vec![255; 20], "it is not a safetensors file"),
        (file("[1]", 0), "it is not a safetensors file"),
        (file("{}", 0), "do not name the network's inputs"),
        (file(&with(""), 0), "it contains no layers"),
        (changed("0.bias", "bias"), "<number>.weight or <number>.bias, found `bias`"),
        (changed("0.bias", "0.scale"), "<number>.weight or <number>.bias, found `0.scale`"),
        (changed("0.bias", "a.0.bias"), "expected one network, found two"),
        (changed("0.bias", "1.bias"), "layer 0 lacks a weight or a bias"),
        (changed("F32", "F64"), "expected F32, found F64"),
        (changed("[4,8]", "[4,12]"), "lies beyond the end"),
        (changed("[4,8]", "[8,4]"), "lies beyond the end"),
        (changed("[4,8]", "[4]"), "has no valid description"),
        (changed("[4,8]", "[2,8]"), "has 6 bytes for a shape of [1]"),
        (changed("[1,1]", "[1]"), "not a linear layer"),
        (changed("[1,1]", "[1,18446744073709551615]"), "bytes for a shape"),
        (changed(r#""shape":[1]"#, r#""shape":[1,1]"#), "does not fit"),
        (changed("[1,1],\"data_offsets\":[0,4]", "[0,1],\"data_offsets\":[0,0]"), "does not fit"),
        (infinite, "expected finite numbers, found inf"),
    ];
    for (bytes, expected) in cases {
        let message = decode(&bytes).unwrap_err();
        assert!(message.contains(expected), "{message:?}, not {expected:?}");
    }
}

#[test]
fn a_hash_is_that_of_the_content() {
    assert_eq!(hash(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

proptest! {
    /// Any bytes give a result or an error.
    #[test]
    fn damaged_files_are_answered(at in 0usize..1000, byte: u8, cut in 0usize..1000) {
        let mut bytes = encode(&weights());
        let place = at % bytes.len();
        bytes[place] = byte;
        let _answer = decode(&bytes);
        bytes.truncate(cut.min(bytes.len()));
        let _answer = decode(&bytes);
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn any_header_is_answered(header in r#"\{("[0-9]\.(weight|bias)":\{"dtype":"F32","shape":\[[0-9]{0,20}\],"data_offsets":\[[0-9]{1,20},[0-9]{1,20}\]\},?){0,3}\}"#) {
        let _answer = decode(&file(&header, 8));
    }
}
