//! The safetensors format: the length of a header, the header in JSON, the values.

use serde_json::{Map, Value, json};

/// Bytes of the field for the header's length.
const LENGTH: usize = 8;
/// The header entry that is not a tensor.
pub(crate) const METADATA: &str = "__metadata__";

/// A number type that the format supports.
pub(crate) trait Number<const BYTES: usize>: Copy {
    /// Its name in the format.
    const DTYPE: &str;
    /// Its little-endian bytes.
    fn bytes(self) -> [u8; BYTES];
    /// The number with these bytes.
    fn of(bytes: [u8; BYTES]) -> Self;
}

macro_rules! number {
    ($type:ty, $bytes:literal, $dtype:literal) => {
        impl Number<$bytes> for $type {
            const DTYPE: &str = $dtype;
            fn bytes(self) -> [u8; $bytes] {
                self.to_le_bytes()
            }
            fn of(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }
        }
    };
}
number!(f32, 4, "F32");
number!(f64, 8, "F64");
number!(u32, 4, "U32");
number!(u64, 8, "U64");

/// Writes a file.
pub(crate) struct Writer {
    header: Map<String, Value>,
    data: Vec<u8>,
}

impl Writer {
    /// A file with these metadata and no tensors yet.
    pub(crate) fn new(metadata: &[(&str, &str)]) -> Self {
        let metadata: Map<String, Value> =
            metadata.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        Self { header: Map::from_iter([(METADATA.to_owned(), metadata.into())]), data: Vec::new() }
    }

    /// Adds a tensor.
    pub(crate) fn add<T: Number<B>, const B: usize>(&mut self, name: &str, shape: &[usize], values: &[T]) {
        let begin = self.data.len();
        self.data.extend(values.iter().flat_map(|value| value.bytes()));
        let offsets = [begin, self.data.len()];
        let about = json!({ "dtype": T::DTYPE, "shape": shape, "data_offsets": offsets });
        self.header.insert(name.to_owned(), about);
    }

    /// The content of the file.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut header = Value::Object(self.header).to_string().into_bytes();
        // The header is padded so that the values are aligned.
        header.resize(header.len().next_multiple_of(LENGTH), b' ');
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], &header, &self.data].concat()
    }
}

/// The header and the values of a file.
pub(crate) fn split(file: &[u8]) -> Result<(Map<String, Value>, &[u8]), String> {
    let no_safetensors = || "it is not a safetensors file".to_owned();
    let (length, rest) = file.split_first_chunk::<LENGTH>().ok_or_else(no_safetensors)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| no_safetensors())?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(no_safetensors)?;
    match serde_json::from_slice(header) {
        Ok(Value::Object(header)) => Ok((header, data)),
        _ => Err(no_safetensors()),
    }
}

/// Shape and values of a tensor with this header entry. An error message continues a sentence that
/// begins with the tensor's name.
pub(crate) fn numbers<T: Number<B>, const B: usize>(
    about: &Value,
    data: &[u8],
) -> Result<(Vec<usize>, Vec<T>), String> {
    let wrong = || "has no valid description".to_owned();
    let dtype = about.get("dtype").and_then(Value::as_str).ok_or_else(wrong)?;
    if dtype != T::DTYPE {
        return Err(format!("has the wrong type: expected {}, found {dtype}", T::DTYPE));
    }
    let list = |key: &str| -> Option<Vec<usize>> {
        let list = about.get(key)?.as_array()?;
        list.iter().map(|value| usize::try_from(value.as_u64()?).ok()).collect()
    };
    let (shape, offsets) = (list("shape").ok_or_else(wrong)?, list("data_offsets").ok_or_else(wrong)?);
    let [begin, end] = offsets[..] else { return Err(wrong()) };
    let bytes = data.get(begin..end).ok_or("lies beyond the end of the file")?;
    let count = shape.iter().try_fold(1usize, |all, &length| all.checked_mul(length));
    if count.and_then(|count| count.checked_mul(B)) != Some(bytes.len()) {
        return Err(format!("has {} bytes for a shape of {shape:?}", bytes.len()));
    }
    Ok((shape, bytes.as_chunks::<B>().0.iter().map(|bytes| T::of(*bytes)).collect()))
}
