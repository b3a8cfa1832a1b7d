//! From the bytes of a capture to the TCP segments of its connections.

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use pcap_parser::data::{PacketData, get_packetdata};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};

/// The largest block that is read: snapshot lengths go up to 256 kB.
const BUFFER: usize = 1 << 20;
/// The most TCP packets that are kept: about 8 GB of memory.
const MOST_PACKETS: u64 = 100_000_000;
/// Thirty years; the sums of later times would overflow.
const LATEST_NS: i128 = 1_000_000_000_000_000_000;
/// The resolution of a pcapng interface that names none: microseconds.
const MICROSECONDS: u64 = 1_000_000;

/// SACK blocks of one ACK.
pub(crate) type Sack = [Option<(u32, u32)>; 4];

/// A TCP segment. Times are in ns since the first packet of the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) at: u64,
    /// Whether it comes from the first of the two ends in the order of their addresses.
    pub(crate) from_first: bool,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) payload: u32,
    /// Bytes of the IP packet.
    pub(crate) bytes: u32,
    pub(crate) sack: Sack,
}

/// The two ends of a connection, in the order of their addresses.
pub(crate) type Ends = (SocketAddr, SocketAddr);

pub(crate) struct Contents {
    pub(crate) packets: u64,
    pub(crate) connections: BTreeMap<Ends, Vec<Segment>>,
}

/// An interface of a capture.
#[derive(Clone, Copy)]
struct Interface {
    linktype: Linktype,
    /// Units of time per second.
    resolution: u64,
    offset_s: i64,
}

/// A packet: its time in ns, the link type of its interface, and its bytes.
type Packet<'a> = (i128, Linktype, &'a [u8]);

pub(crate) fn read(capture: impl Read + Send) -> Result<Contents, String> {
    let mut reader = create_reader(BUFFER, capture).map_err(|error| match error {
        PcapError::Eof => "it is empty".to_owned(),
        _ => "expected a capture in the format pcap or pcapng, found neither".to_owned(),
    })?;
    let mut contents = Contents { packets: 0, connections: BTreeMap::new() };
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut first: Option<i128> = None;
    let mut kept = 0;
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                if let Some((at, linktype, data)) = packet(&block, &mut interfaces)? {
                    contents.packets += 1;
                    let since = at - *first.get_or_insert(at);
                    if let Some((ends, segment)) = segment(nanoseconds(since), linktype, data) {
                        contents.connections.entry(ends).or_default().push(segment);
                        kept += 1;
                    }
                    if kept > MOST_PACKETS {
                        return Err(format!("expected at most {MOST_PACKETS} packets of TCP, found more"));
                    }
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => return Ok(contents),
            Err(PcapError::Incomplete(_)) => {
                // A truncated capture ends within a packet; the packets before it count.
                if reader.reader_exhausted() {
                    return Ok(contents);
                }
                let refilled = reader.refill();
                refilled.map_err(|_| damaged(contents.packets, "it has a block of more than 1 MB"))?;
            }
            Err(PcapError::UnexpectedEof) => return Ok(contents),
            Err(_) => return Err(damaged(contents.packets, "it is damaged")),
        }
    }
}

fn damaged(packets: u64, how: &str) -> String {
    format!("{how} behind packet {packets}")
}

/// In a capture of several interfaces, a packet may be older than the first one: it gets the time of the
/// first. Times are cut off at thirty years.
fn nanoseconds(since: i128) -> u64 {
    since.clamp(0, LATEST_NS) as u64
}

/// The packet in a block; blocks that describe interfaces update `interfaces`.
fn packet<'a>(
    block: &'a PcapBlockOwned,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<Packet<'a>>, String> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { MICROSECONDS };
            interfaces.push(Interface { linktype: header.network, resolution, offset_s: 0 });
            Ok(None)
        }
        PcapBlockOwned::Legacy(block) => Ok(interfaces.first().map(|interface| {
            let fraction = i128::from(block.ts_usec) * (1_000_000_000 / i128::from(interface.resolution));
            (i128::from(block.ts_sec) * 1_000_000_000 + fraction, interface.linktype, block.data)
        })),
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            Ok(None)
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
            let resolution = block.ts_resolution().filter(|units| *units > 0);
            let resolution = resolution.ok_or("an interface has an unknown resolution of time")?;
            interfaces.push(Interface { linktype: block.linktype, resolution, offset_s: block.ts_offset() });
            Ok(None)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
            let interface = interfaces.get(block.if_id as usize);
            let interface = interface.ok_or("a packet names an interface that the capture has not")?;
            let units = (u64::from(block.ts_high) << 32) | u64::from(block.ts_low);
            let ns = i128::from(units) * 1_000_000_000 / i128::from(interface.resolution);
            let data = block.data.get(..block.caplen as usize).unwrap_or(block.data);
            Ok(Some((ns + i128::from(interface.offset_s) * 1_000_000_000, interface.linktype, data)))
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => {
            Err("its packets have no times (simple packet blocks)".to_owned())
        }
        PcapBlockOwned::NG(_) => Ok(None),
    }
}

/// The TCP segment in a packet, if it holds the header of one.
fn segment(at: u64, linktype: Linktype, data: &[u8]) -> Option<(Ends, Segment)> {
    let packet = match get_packetdata(data, linktype, data.len())? {
        PacketData::L2(frame) => LaxSlicedPacket::from_ethernet(frame).ok()?,
        PacketData::L3(kind, packet) => LaxSlicedPacket::from_ether_type(EtherType(kind), packet),
        PacketData::L4(..) | PacketData::Unsupported(_) => return None,
    };
    let (from, to, bytes, headers) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            // Only the first fragment has a TCP header, and no fragment has the segment's length.
            if header.is_fragmenting_payload() {
                return None;
            }
            let (from, to) = (IpAddr::from(header.source()), IpAddr::from(header.destination()));
            (from, to, u32::from(header.total_len()), header.slice().len() as u32)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let extensions = ip.extensions().slice().len() as u32;
            let (from, to) = (IpAddr::from(header.source()), IpAddr::from(header.destination()));
            (from, to, u32::from(header.payload_length()) + 40, 40 + extensions)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return None };
    let [from, to] = [SocketAddr::new(from, tcp.source_port()), SocketAddr::new(to, tcp.destination_port())];
    let segment = Segment {
        at,
        from_first: from < to,
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        payload: bytes.checked_sub(headers + tcp.header_len() as u32)?,
        bytes,
        sack: sack(tcp.options_iterator()),
    };
    Some(((from.min(to), from.max(to)), segment))
}

fn sack(options: impl Iterator<Item = Result<TcpOptionElement, impl Sized>>) -> Sack {
    let blocks = options.filter_map(Result::ok).find_map(|option| match option {
        TcpOptionElement::SelectiveAcknowledgement(first, [a, b, c]) => Some([Some(first), a, b, c]),
        _ => None,
    });
    blocks.unwrap_or_default()
}
