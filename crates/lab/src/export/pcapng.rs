//! Files in pcapng, version 1.0 (draft-ietf-opsawg-pcapng): one section, one interface, times in nanoseconds.

use cwndlab_cc::Time;
use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// The length is not known while the section is being written.
const UNKNOWN_LENGTH: u64 = u64::MAX;
/// Packets begin with the IP header.
const LINKTYPE_RAW: u16 = 101;
/// A resolution of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Codes of options.
const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION_TEXT: u16 = 3;
const TIME_RESOLUTION: u16 = 9;
const END_OF_OPTIONS: u16 = 0;

/// The metadata of a file.
pub(super) struct Heading<'a> {
    pub(super) comment: &'a str,
    /// The interface: its name and a description of the packets that it captures.
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// The most bytes kept of a packet.
    pub(super) snap: u32,
}

/// Writes a file packet by packet.
pub(super) struct Writer<W> {
    out: W,
    body: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    pub(super) fn new(out: W, heading: &Heading<'_>) -> io::Result<Self> {
        let mut writer = Self { out, body: Vec::new() };
        writer.add(&BYTE_ORDER.to_le_bytes());
        writer.add(&[1u16, 0].map(u16::to_le_bytes).concat());
        writer.add(&UNKNOWN_LENGTH.to_le_bytes());
        writer.add_option(COMMENT, heading.comment.as_bytes());
        writer.add_option(USER_APPLICATION, concat!("cwndlab ", env!("CARGO_PKG_VERSION")).as_bytes());
        writer.add_option(END_OF_OPTIONS, &[]);
        writer.end(SECTION_HEADER)?;
        writer.add(&[LINKTYPE_RAW, 0].map(u16::to_le_bytes).concat());
        writer.add(&heading.snap.to_le_bytes());
        writer.add_option(INTERFACE_NAME, heading.name.as_bytes());
        writer.add_option(INTERFACE_DESCRIPTION_TEXT, heading.description.as_bytes());
        writer.add_option(TIME_RESOLUTION, &[NANOSECONDS]);
        writer.add_option(END_OF_OPTIONS, &[]);
        writer.end(INTERFACE_DESCRIPTION)?;
        Ok(writer)
    }

    /// Adds a packet of `length` bytes, of which the first are `kept`.
    pub(super) fn packet(&mut self, at: Time, kept: &[u8], length: u32) -> io::Result<()> {
        let interface = 0;
        let (high, low) = ((at.0 >> 32) as u32, at.0 as u32);
        for field in [interface, high, low, kept.len() as u32, length] {
            self.add(&field.to_le_bytes());
        }
        self.add(kept);
        self.end(ENHANCED_PACKET)
    }

    /// Writes what is still buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Adds bytes to the block and pads them to a multiple of 32 bits.
    fn add(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn add_option(&mut self, code: u16, value: &[u8]) {
        let length = value.len().min(usize::from(u16::MAX));
        self.add(&[code, length as u16].map(u16::to_le_bytes).concat());
        self.add(&value[..length]);
    }

    /// Writes the block.
    fn end(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&length)?;
        self.body.clear();
        Ok(())
    }
}
