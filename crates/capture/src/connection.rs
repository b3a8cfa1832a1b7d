//! The transfer that is analysed: its data in one direction, its ACKs in the other.

use crate::Side;
use crate::reading::{Ends, Segment};
use cwndlab_cc::Span;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// No receiver takes longer for its fastest ACK, and few round trips are shorter.
const AT_ONCE_NS: u64 = 500_000;

/// A data segment; sequence numbers count bytes from the first one of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) at: u64,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Bytes of the IP packet.
    pub(crate) bytes: u32,
}

/// An acknowledgement, with the ranges of its SACK blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) at: u64,
    pub(crate) cumulative: i64,
    pub(crate) sack: [Option<(i64, i64)>; 4],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Data(Data),
    Ack(Ack),
}

/// A bulk transfer in the order of its capture.
pub(crate) struct Transfer {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) events: Vec<Event>,
    /// Its handshake, if that was captured.
    opened: Option<Opening>,
}

impl Transfer {
    /// The connection with the most payload in one direction.
    pub(crate) fn largest(connections: BTreeMap<Ends, Vec<Segment>>) -> Option<Self> {
        let payload = |segments: &[Segment], from_first: bool| -> u64 {
            let own = segments.iter().filter(|segment| segment.from_first == from_first);
            own.map(|segment| u64::from(segment.payload)).sum()
        };
        let both = |(ends, segments): (Ends, Vec<Segment>)| {
            let [first, second] = [true, false].map(|from_first| payload(&segments, from_first));
            (first.max(second), first >= second, ends, segments)
        };
        let all = connections.into_iter().map(both).filter(|(payload, ..)| *payload > 0);
        let (_, from_first, (first, second), segments) = all.max_by_key(|(payload, ..)| *payload)?;
        let (from, to) = if from_first { (first, second) } else { (second, first) };
        Some(Self { from, to, events: events(&segments, from_first), opened: opened(&segments, from_first) })
    }

    pub(crate) fn data(&self) -> impl Iterator<Item = &Data> {
        self.events.iter().filter_map(|event| if let Event::Data(data) = event { Some(data) } else { None })
    }

    pub(crate) fn payload_bytes(&self) -> i64 {
        self.data().map(|data| data.end - data.start).sum()
    }

    /// From its first packet to its last.
    pub(crate) fn length_ns(&self) -> u64 {
        let at = |event: &Event| match event {
            Event::Data(data) => data.at,
            Event::Ack(ack) => ack.at,
        };
        let [first, last] = [self.events.first(), self.events.last()].map(|event| event.map_or(0, at));
        last.saturating_sub(first)
    }

    /// The handshake shows at which end the capture was made: the near end answers at once. Without a handshake the
    /// fastest ACK decides: beside the receiver it follows the data at once, beside the sender after a round trip.
    pub(crate) fn side(&self) -> Side {
        let by_acks = || if self.fastest_ack() < AT_ONCE_NS { Side::Receiver } else { Side::Sender };
        self.opened.map_or_else(by_acks, |opening| opening.side)
    }

    /// The RTT of the packets that opened the connection.
    pub(crate) fn first_rtt(&self) -> Option<Span> {
        self.opened.map(|opening| opening.rtt)
    }

    /// The shortest time from a segment's first transmission to the ACK that ends with it.
    fn fastest_ack(&self) -> u64 {
        let (mut fastest, mut highest) = (u64::MAX, i64::MIN);
        let mut ends: BTreeMap<i64, u64> = BTreeMap::new();
        for event in &self.events {
            match event {
                Event::Data(data) if data.end > highest => {
                    highest = data.end;
                    ends.insert(data.end, data.at);
                }
                Event::Data(_) => {}
                Event::Ack(ack) => {
                    if let Some(sent) = ends.remove(&ack.cumulative) {
                        fastest = fastest.min(ack.at.saturating_sub(sent));
                    }
                    ends = ends.split_off(&ack.cumulative);
                }
            }
        }
        fastest
    }
}

/// The findings from the three packets of a handshake: the end at which they were captured, and the RTT.
#[derive(Clone, Copy, Debug)]
struct Opening {
    side: Side,
    rtt: Span,
}

fn opened(segments: &[Segment], sender_is_first: bool) -> Option<Opening> {
    let accepted = segments.iter().position(|segment| segment.syn && segment.ack.is_some())?;
    let by_first = segments[accepted].from_first;
    let asked = segments[..accepted].iter().rfind(|segment| segment.syn && segment.from_first != by_first)?;
    let answered =
        segments[accepted..].iter().find(|segment| !segment.syn && segment.from_first != by_first)?;
    let at = segments[accepted].at;
    let [before, behind] = [at.saturating_sub(asked.at), answered.at.saturating_sub(at)];
    let near_is_first = (before < behind) == by_first;
    let side = if near_is_first == sender_is_first { Side::Sender } else { Side::Receiver };
    Some(Opening { side, rtt: Span(before.max(behind)) })
}

/// The data and the ACKs of a connection, with sequence numbers that do not wrap.
fn events(segments: &[Segment], from_first: bool) -> Vec<Event> {
    let mut last: Option<(u32, i64)> = None;
    let mut unwrapped = |seq: u32| {
        let (before, at) = *last.get_or_insert((seq, 0));
        let now = at + i64::from(seq.wrapping_sub(before) as i32);
        last = Some((seq, now));
        now
    };
    let mut begun = false;
    let mut events = Vec::new();
    for segment in segments {
        if segment.from_first == from_first && segment.payload > 0 {
            begun = true;
            let start = unwrapped(segment.seq.wrapping_add(u32::from(segment.syn)));
            let end = start + i64::from(segment.payload);
            events.push(Event::Data(Data { at: segment.at, start, end, bytes: segment.bytes }));
        } else if let (true, false, Some(ack)) = (begun, segment.from_first == from_first, segment.ack) {
            let cumulative = unwrapped(ack);
            let range = |(start, end): (u32, u32)| {
                let offset = |seq: u32| cumulative + i64::from(seq.wrapping_sub(ack) as i32);
                (offset(start), offset(end))
            };
            let sack = segment.sack.map(|block| block.map(range).filter(|(start, end)| start < end));
            events.push(Event::Ack(Ack { at: segment.at, cumulative, sack }));
        }
    }
    events
}
