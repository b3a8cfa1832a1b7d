//! Captures that are written in the tests.
#![allow(dead_code, reason = "each test file uses a part")]

use etherparse::{PacketBuilder, TcpOptionElement};

/// The ends of the transfers: the sender is the server.
pub const SENDER: ([u8; 4], u16) = ([10, 0, 0, 1], 443);
pub const RECEIVER: ([u8; 4], u16) = ([192, 168, 1, 2], 50_000);
/// The first sequence number, close to where they wrap.
pub const FIRST: u32 = u32::MAX - 5000;

/// A packet of the transfer, as an Ethernet frame.
pub struct Frame {
    pub at_ns: u64,
    pub bytes: Vec<u8>,
}

/// Data of the sender; numbers count bytes from 0.
pub fn data(at_ns: u64, start: u64, payload: usize) -> Frame {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(SENDER.0, RECEIVER.0, 64);
    let builder = builder.tcp(SENDER.1, RECEIVER.1, FIRST.wrapping_add(start as u32), 1000).ack(77);
    let builder = builder.options(&[TcpOptionElement::Timestamp(1, 2)]).expect("options fit");
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; payload]).expect("a packet");
    Frame { at_ns, bytes }
}

/// An ACK of the receiver with SACK blocks.
pub fn ack(at_ns: u64, cumulative: u64, sack: &[(u64, u64)]) -> Frame {
    let number = |byte: u64| FIRST.wrapping_add(byte as u32);
    let builder = PacketBuilder::ethernet2([2; 6], [1; 6]).ipv4(RECEIVER.0, SENDER.0, 64);
    let mut builder = builder.tcp(RECEIVER.1, SENDER.1, 77, 1000).ack(number(cumulative));
    let mut blocks = sack.iter().map(|(start, end)| (number(*start), number(*end)));
    if let Some(first) = blocks.next() {
        let others = [blocks.next(), blocks.next(), None];
        let sack = TcpOptionElement::SelectiveAcknowledgement(first, others);
        builder = builder.options(&[sack]).expect("options fit");
    }
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &[]).expect("a packet");
    Frame { at_ns, bytes }
}

/// The three packets that open the connection, with the times between them.
pub fn opening([first, second]: [u64; 2]) -> Vec<Frame> {
    let frame = |at_ns: u64, from_client: bool, syn: bool, ack: bool| {
        let (from, to) = if from_client { (RECEIVER, SENDER) } else { (SENDER, RECEIVER) };
        let seq = if from_client { 76 + u32::from(!syn) } else { FIRST - 1 };
        let builder = PacketBuilder::ethernet2([2; 6], [1; 6]).ipv4(from.0, to.0, 64);
        let builder = builder.tcp(from.1, to.1, seq, 1000);
        let builder = if syn { builder.syn() } else { builder };
        let builder = if ack { builder.ack(if from_client { FIRST } else { 77 }) } else { builder };
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &[]).expect("a packet");
        Frame { at_ns, bytes }
    };
    vec![
        frame(0, true, true, false),
        frame(first, false, true, true),
        frame(first + second, true, false, true),
    ]
}

/// The SYN of a sender that is the client, or the answer to it.
pub fn syn(at_ns: u64, answer: bool) -> Frame {
    let (from, to) = if answer { (RECEIVER, SENDER) } else { (SENDER, RECEIVER) };
    let builder = PacketBuilder::ethernet2([2; 6], [1; 6]).ipv4(from.0, to.0, 64);
    let builder = builder.tcp(from.1, to.1, if answer { 76 } else { FIRST - 1 }, 1000).syn();
    let builder = if answer { builder.ack(FIRST) } else { builder };
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &[]).expect("a packet");
    Frame { at_ns, bytes }
}

/// A pcap file with nanoseconds, which keeps the headers of each packet.
pub fn pcap(frames: &[Frame]) -> Vec<u8> {
    let mut file = Vec::new();
    let number = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    number(&mut file, 0xa1b2_3c4d);
    file.extend([2, 0, 4, 0]);
    [0, 0, 262_144, 1].into_iter().for_each(|value| number(&mut file, value));
    for frame in frames {
        let kept = frame.bytes.len().min(96);
        number(&mut file, (1_700_000_000 + frame.at_ns / 1_000_000_000) as u32);
        number(&mut file, (frame.at_ns % 1_000_000_000) as u32);
        number(&mut file, kept as u32);
        number(&mut file, frame.bytes.len() as u32);
        file.extend(&frame.bytes[..kept]);
    }
    file
}

/// The same as pcapng, big-endian, with microseconds.
pub fn pcapng(frames: &[Frame]) -> Vec<u8> {
    let mut file = Vec::new();
    let block = |file: &mut Vec<u8>, kind: u32, content: &[u8]| {
        let padded = content.len().next_multiple_of(4);
        let length = (12 + padded) as u32;
        file.extend(kind.to_be_bytes());
        file.extend(length.to_be_bytes());
        file.extend(content);
        file.resize(file.len() + padded - content.len(), 0);
        file.extend(length.to_be_bytes());
    };
    let mut section = vec![0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0];
    section.extend([0xff; 8]);
    block(&mut file, 0x0a0d_0d0a, &section);
    block(&mut file, 1, &[0, 1, 0, 0, 0, 4, 0, 0]);
    for frame in frames {
        let micros = frame.at_ns / 1000;
        let mut packet = Vec::new();
        let length = frame.bytes.len() as u32;
        for value in [0, (micros >> 32) as u32, micros as u32, length, length] {
            packet.extend(value.to_be_bytes());
        }
        packet.extend(&frame.bytes);
        block(&mut file, 6, &packet);
    }
    file
}
