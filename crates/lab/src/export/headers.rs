//! Makes IPv4 and TCP headers for the simulator's packets.

use super::connection::{Connection, Endpoint};
use cwndlab_cc::Time;
use cwndlab_sim::fragment;
use cwndlab_sim::packet::{AckHeader, Block, Body, Data, EcnField, Packet};
use etherparse::TcpOptionElement as Option_;
use etherparse::{IpEcn, IpFragOffset, IpNumber, Ipv4Header, TcpHeader};

/// Payloads are zeros. `mss` does not exceed this length.
static PAYLOAD: [u8; 9000] = [0; 9000];
/// The window that a data sender advertises: it receives no data. Subflows' receivers advertise it too.
const NO_NEED: u16 = u16::MAX;
const HOPS: u8 = 64;
const NANOS_PER_TICK: u64 = 1_000_000;

/// Writes the headers of a packet and returns the length of the whole packet in bytes.
pub(super) fn write(connection: &Connection, packet: &Packet, out: &mut Vec<u8>) -> u32 {
    let Connection { sender, receiver, .. } = connection;
    let (from, to, tcp, payload) = match &packet.body {
        Body::Syn => (sender, receiver, syn(connection), 0),
        Body::Data(data) => (sender, receiver, segment(connection, data), connection.bytes.payload(data.seq)),
        Body::SynAck { sent_at, window } => (receiver, sender, syn_ack(connection, *sent_at, *window), 0),
        Body::Ack(header) => (receiver, sender, ack(connection, header), 0),
    };
    let whole = tcp.header_len() as u64 + payload;
    let part = Part::of(connection, packet, whole);
    let mut ip = Ipv4Header {
        ecn: ecn(packet.ecn),
        total_len: (Ipv4Header::MIN_LEN as u64 + part.bytes) as u16,
        identification: identification(&packet.body),
        dont_fragment: packet.fragment.of == 1,
        more_fragments: packet.fragment.index + 1 < packet.fragment.of,
        fragment_offset: part.offset,
        time_to_live: HOPS,
        protocol: IpNumber::TCP,
        source: from.address.octets(),
        destination: to.address.octets(),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    out.clear();
    out.extend_from_slice(&ip.to_bytes());
    if packet.fragment.index == 0 {
        let payload = &PAYLOAD[..payload as usize];
        // The length is far below the checksum's limit.
        let checksum = tcp.calc_checksum_ipv4(&ip, payload).unwrap_or_default();
        out.extend_from_slice(&TcpHeader { checksum, ..tcp }.to_bytes());
    }
    u32::from(ip.total_len)
}

/// The part of an IP packet's content that a fragment carries.
struct Part {
    offset: IpFragOffset,
    bytes: u64,
}

impl Part {
    fn of(connection: &Connection, packet: &Packet, whole: u64) -> Self {
        if packet.fragment.of == 1 {
            return Self { offset: IpFragOffset::ZERO, bytes: whole };
        }
        let room = fragment::room(connection.mtu);
        let start = room * u64::from(packet.fragment.index);
        // The field counts units of 8 bytes, so offsets in a packet of 9000 bytes fit.
        let offset = IpFragOffset::try_new((start / 8) as u16).unwrap_or(IpFragOffset::ZERO);
        Self { offset, bytes: room.min(whole.saturating_sub(start)) }
    }
}

/// The identification: the same for all fragments of a packet (RFC 791), different when a segment is retransmitted.
fn identification(body: &Body) -> u16 {
    match body {
        Body::Data(data) => data.seq as u16 ^ (data.sent_at.0 / 1000) as u16,
        Body::Syn | Body::SynAck { .. } | Body::Ack(_) => 0,
    }
}

fn ecn(field: EcnField) -> IpEcn {
    match field {
        EcnField::NotEct => IpEcn::ZERO,
        EcnField::Ect1 => IpEcn::ONE,
        EcnField::Ect0 => IpEcn::TWO,
        EcnField::Ce => IpEcn::THREE,
    }
}

fn header(from: &Endpoint, to: &Endpoint, sequence: u32, window: u16, options: &[Option_]) -> TcpHeader {
    let mut tcp = TcpHeader::new(from.port, to.port, sequence, window);
    // The options never exceed the 40 bytes available.
    let _ = tcp.set_options(options);
    tcp
}

fn syn(connection: &Connection) -> TcpHeader {
    let Connection { sender, receiver, ecn, .. } = connection;
    let options = opening(connection, connection.syn_sent, 0, 0);
    let tcp = header(sender, receiver, sender.first, NO_NEED, &options);
    // RFC 3168 section 6.1.1
    TcpHeader { syn: true, ece: *ecn, cwr: *ecn, ..tcp }
}

fn syn_ack(connection: &Connection, sent_at: Time, window: u32) -> TcpHeader {
    let Connection { sender, receiver, ecn, .. } = connection;
    let options = opening(connection, sent_at, stamp(connection.syn_sent), connection.shift);
    // RFC 7323 section 2.2: the window of a SYN is not shifted.
    let window = if connection.subflow { NO_NEED } else { shown(u64::from(window) * connection.mss, 0) };
    let tcp = header(receiver, sender, receiver.first, window, &options);
    TcpHeader { syn: true, ack: true, ece: *ecn, acknowledgment_number: sender.first.wrapping_add(1), ..tcp }
}

fn segment(connection: &Connection, data: &Data) -> TcpHeader {
    let Connection { sender, receiver, .. } = connection;
    let mut options = Vec::new();
    add_timestamps(connection, data.sent_at, data.echo, &mut options);
    let tcp = header(sender, receiver, sequence(connection, data.seq), NO_NEED, &options);
    let acknowledgment_number = receiver.first.wrapping_add(1);
    TcpHeader { ack: true, psh: data.push, cwr: data.cwr, acknowledgment_number, ..tcp }
}

fn ack(connection: &Connection, ack: &AckHeader) -> TcpHeader {
    let Connection { sender, receiver, shift, .. } = connection;
    let mut options = Vec::new();
    add_timestamps(connection, ack.sent_at, ack.echo, &mut options);
    add_blocks(connection, ack, &mut options);
    let window =
        if connection.subflow { NO_NEED } else { shown(u64::from(ack.window) * connection.mss, *shift) };
    let tcp = header(receiver, sender, receiver.first.wrapping_add(1), window, &options);
    TcpHeader { ack: true, ece: ack.ece, acknowledgment_number: sequence(connection, ack.cumulative), ..tcp }
}

/// A segment's sequence number.
fn sequence(connection: &Connection, seq: u32) -> u32 {
    connection.sender.first.wrapping_add(1).wrapping_add(connection.bytes.below(seq) as u32)
}

/// A window in bytes as the header field encodes it, rounded up as Linux does (`__tcp_select_window`).
fn shown(window: u64, shift: u8) -> u16 {
    window.div_ceil(1 << shift).min(u64::from(u16::MAX)) as u16
}

/// A timestamp (RFC 7323 section 3): 1 at the start, then one tick per millisecond, as in Linux.
fn stamp(at: Time) -> u32 {
    (at.0 / NANOS_PER_TICK + 1) as u32
}

/// The options of a SYN, in Linux's order.
fn opening(connection: &Connection, at: Time, echo: u32, shift: u8) -> Vec<Option_> {
    let mut options = vec![Option_::MaximumSegmentSize(connection.mss as u16)];
    if connection.sack {
        options.push(Option_::SelectiveAcknowledgementPermitted);
    }
    if connection.timestamps {
        options.push(Option_::Timestamp(stamp(at), echo));
    }
    options.extend([Option_::Noop, Option_::WindowScale(shift)]);
    options
}

fn add_timestamps(connection: &Connection, at: Time, echo: Time, options: &mut Vec<Option_>) {
    if connection.timestamps {
        let echo = if echo == Time::ZERO { 0 } else { stamp(echo) };
        options.extend([Option_::Noop, Option_::Noop, Option_::Timestamp(stamp(at), echo)]);
    }
}

fn add_blocks(connection: &Connection, ack: &AckHeader, options: &mut Vec<Option_>) {
    let edges = |block: &Block| (sequence(connection, block.start), sequence(connection, block.end));
    let mut blocks = ack.sack.iter().filter(|block| block.end > block.start).map(edges);
    if let Some(first) = blocks.next() {
        let others = [blocks.next(), blocks.next(), None];
        options.extend([Option_::Noop, Option_::Noop, Option_::SelectiveAcknowledgement(first, others)]);
    }
}
