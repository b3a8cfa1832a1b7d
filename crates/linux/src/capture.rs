//! Captures of the kernel's packets, with the headers that the kernel gave them.

use crate::network::{Sent, Way};
use cwndlab_cc::Time;
use cwndlab_lab::export::{Ends, Place};
use cwndlab_sim::packet::EcnField;
use cwndlab_sim::tap::{End, LinkEvent};

/// Bytes of an IP header without options, as all of these are.
const IP_HEADER: usize = 20;
/// The position of its checksum.
const CHECKSUM: std::ops::Range<usize> = 10..12;
/// The byte that ends with the ECN field, and the value CE of that field.
const TOS: usize = 1;
const CE: u8 = 3;

/// The headers of a packet on the links.
#[derive(Clone, Default)]
struct Headers {
    kept: Vec<u8>,
    length: u32,
}

/// The capture files, and the headers of packets on the links, by slot.
pub(crate) struct Capture {
    ends: Ends,
    on_links: Vec<Headers>,
}

impl Capture {
    pub(crate) fn new(ends: Ends) -> Self {
        Self { ends, on_links: Vec::new() }
    }

    /// A packet with these headers leaves its end.
    pub(crate) fn sent(&mut self, now: Time, slot: u32, sent: &Sent, headers: &[u8]) {
        let at = slot as usize;
        if self.on_links.len() <= at {
            self.on_links.resize_with(at + 1, Headers::default);
        }
        let place = &mut self.on_links[at];
        place.kept.clear();
        place.kept.extend_from_slice(headers);
        place.length = sent.bytes;
        let end = if sent.way == Way::Data { End::Sender } else { End::Receiver };
        self.write(now, Ends::of_connections(end), slot, sent.ecn);
    }

    /// A packet arrives at the other end.
    pub(crate) fn arrived(&mut self, now: Time, slot: u32, way: Way, ecn: EcnField) {
        let end = if way == Way::Data { End::Receiver } else { End::Sender };
        self.write(now, Ends::of_connections(end), slot, ecn);
    }

    /// Something happened to a packet on a link.
    pub(crate) fn on_link(&mut self, at: Time, link: u32, slot: u32, ecn: EcnField, event: LinkEvent<'_>) {
        if let Some(place) = self.ends.of_link(link, event) {
            self.write(at, place, slot, ecn);
        }
    }

    /// Writes the rest of the files.
    ///
    /// # Errors
    /// A message that says why a file is not complete.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.ends.finish()
    }

    fn write(&mut self, at: Time, place: Place, slot: u32, ecn: EcnField) {
        let Headers { kept, length } = &mut self.on_links[slot as usize];
        if ecn == EcnField::Ce && kept[TOS] & CE != CE {
            mark(kept);
        }
        self.ends.write(at, place, kept, *length);
    }
}

/// Sets CE, as the kernel does once it has the packet back.
fn mark(headers: &mut [u8]) {
    headers[TOS] |= CE;
    headers[CHECKSUM].fill(0);
    let words = headers[..IP_HEADER].chunks_exact(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    headers[CHECKSUM].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum decreases by as much as the field increases.
    #[test]
    fn a_marked_header_has_the_right_checksum() {
        let mut header = vec![
            0x45, 0x02, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x5f, 0xc0, 0xa8, 0x00, 0x01,
            0xc0, 0xa8, 0x00, 0xc7,
        ];
        mark(&mut header);
        assert_eq!((header[1], &header[10..12]), (3, &[0xb8, 0x5e][..]));
    }
}
