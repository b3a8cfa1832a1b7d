//! Netlink attributes (`struct nlattr`).

/// Attributes are aligned to this many bytes.
const ALIGNED: usize = 4;
/// Bytes before the value: the attribute's length and its number.
const HEADER: usize = 4;

/// An attribute with this number and value.
pub(super) fn attribute(number: u16, value: &[u8]) -> Vec<u8> {
    let length = (HEADER + value.len()) as u16;
    let mut bytes = [&length.to_ne_bytes(), &number.to_ne_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
    bytes
}

/// Numbers of 32 bits, one after the other.
pub(super) fn words(numbers: &[u64]) -> Vec<u8> {
    let word = |number: &u64| u32::try_from(*number).unwrap_or(u32::MAX).to_ne_bytes();
    numbers.iter().flat_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_padded_behind_its_length() {
        assert_eq!(attribute(3, &[7, 8]), [6, 0, 3, 0, 7, 8, 0, 0]);
    }
}
