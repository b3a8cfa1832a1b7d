//! The headers of a packet as the kernel wrote them, parsed as far as qlog needs them.

use std::net::{Ipv4Addr, SocketAddrV4};

/// The IP header (RFC 791): offsets of protocol and addresses, TCP's protocol number, and the bytes of a word.
const PROTOCOL: usize = 9;
const ADDRESSES: usize = 12;
const TCP: u8 = 6;
const WORD: usize = 4;
/// The TCP header (RFC 9293 section 3.1): offsets of flags and options.
const FLAGS: usize = 13;
const OPTIONS: usize = 20;
/// Kinds of options: end of the list, no operation, and SACK blocks (RFC 2018).
const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK: u8 = 5;

/// Flags.
pub const SYN: u8 = 0x02;
pub const ECE: u8 = 0x40;
pub const CWR: u8 = 0x80;

/// The contents of the headers of a TCP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    pub from: SocketAddrV4,
    pub to: SocketAddrV4,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// SACK blocks, in the order of the header.
    pub sack: Vec<[u32; 2]>,
    /// Length of the IP packet, and of its payload, in bytes.
    pub length: u32,
    pub payload: u32,
}

impl Headers {
    /// Parses the headers of an IP packet of this length; `None` if it is not TCP.
    pub fn of(bytes: &[u8], length: u32) -> Option<Self> {
        let (ip, tcp) = bytes.split_at_checked(usize::from(bytes.first()? & 0x0f) * WORD)?;
        if ip.get(PROTOCOL) != Some(&TCP) {
            return None;
        }
        let address = |at: usize| Some(Ipv4Addr::from(word(ip, at)?));
        let port = |at: usize| Some(u16::from_be_bytes(tcp.get(at..at + 2)?.try_into().ok()?));
        let tcp_length = usize::from(tcp.get(FLAGS - 1)? >> 4) * WORD;
        Some(Self {
            from: SocketAddrV4::new(address(ADDRESSES)?, port(0)?),
            to: SocketAddrV4::new(address(ADDRESSES + WORD)?, port(2)?),
            seq: word(tcp, 4)?,
            ack: word(tcp, 8)?,
            flags: *tcp.get(FLAGS)?,
            sack: blocks(tcp.get(OPTIONS..tcp_length)?),
            length,
            payload: length.checked_sub((ip.len() + tcp_length) as u32)?,
        })
    }

    /// Whether the first SACK block reports a duplicate (RFC 2883 section 4): its range has been
    /// acknowledged, or lies within the next block.
    pub fn has_dsack(&self) -> bool {
        let before = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
        let Some([start, end]) = self.sack.first() else { return false };
        let inside = |[from, to]: &[u32; 2]| before(*from, *start) && before(*end, *to);
        before(*end, self.ack) || self.sack.get(1).is_some_and(inside)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + WORD)?.try_into().ok()?))
}

fn blocks(mut options: &[u8]) -> Vec<[u32; 2]> {
    while let [kind, rest @ ..] = options {
        match (*kind, rest) {
            (END, _) | (_, []) => break,
            (NOTHING, _) => options = rest,
            (kind, [length, ..]) => {
                let Some(value) = options.get(2..usize::from(*length)) else { break };
                if kind == SACK {
                    let pairs = value.chunks_exact(2 * WORD);
                    return pairs.filter_map(|pair| Some([word(pair, 0)?, word(pair, WORD)?])).collect();
                }
                options = &options[usize::from(*length)..];
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK with timestamps and these SACK blocks.
    fn ack(number: u32, sack: &[[u32; 2]]) -> Vec<u8> {
        let mut options = vec![NOTHING, NOTHING, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, NOTHING, NOTHING];
        options.extend([SACK, 2 + 8 * sack.len() as u8]);
        options.extend(sack.iter().flatten().flat_map(|edge| edge.to_be_bytes()));
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1];
        bytes.extend([0, 9, 0xc0, 0, 0, 0, 0, 7]);
        bytes.extend(number.to_be_bytes());
        bytes.extend([(((OPTIONS + options.len()) / WORD) << 4) as u8, 0x10 | ECE, 0, 0, 0, 0, 0, 0]);
        bytes.extend(options);
        bytes
    }

    #[test]
    fn an_ack_is_read_with_its_blocks() {
        let bytes = ack(3000, &[[5000, 6000], [8000, 9000]]);
        let read = Headers::of(&bytes, bytes.len() as u32).unwrap();
        assert_eq!(
            (read.from.to_string(), read.to.to_string()),
            ("10.0.0.2:9".into(), "10.0.0.1:49152".into())
        );
        assert_eq!((read.seq, read.ack, read.payload, read.flags & ECE), (7, 3000, 0, ECE));
        assert_eq!(read.sack, [[5000, 6000], [8000, 9000]]);
        assert!(!read.has_dsack());
    }

    #[test]
    fn a_block_of_what_has_arrived_reports_a_duplicate() {
        let dsack = |number, sack: &[[u32; 2]]| {
            let bytes = ack(number, sack);
            Headers::of(&bytes, bytes.len() as u32).unwrap().has_dsack()
        };
        assert!(dsack(3000, &[[1000, 2000]]));
        assert!(dsack(3000, &[[5000, 6000], [4000, 9000]]));
        // The sequence numbers have wrapped at 2^32.
        assert!(dsack(500, &[[u32::MAX - 999, 1]]));
        assert!(!dsack(3000, &[]));
    }

    #[test]
    fn what_is_cut_off_or_not_tcp_is_nothing() {
        let bytes = ack(3000, &[[5000, 6000]]);
        for end in 0..bytes.len() {
            assert_eq!(Headers::of(&bytes[..end], bytes.len() as u32), None, "{end} bytes");
        }
        let mut other = bytes;
        other[PROTOCOL] = 17;
        assert_eq!(Headers::of(&other, 100), None);
    }
}
