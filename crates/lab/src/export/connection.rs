//! The header fields that the simulator's packets do not carry: addresses, ports, sequence numbers, options.

use super::bytes::Bytes;
use cwndlab_cc::Time;
use cwndlab_sim::flow::Flow;
use cwndlab_sim::tcp::window_shift;
use std::net::Ipv4Addr;

/// Senders have the lower half of 10.0.0.0/8, receivers the upper half.
const SENDERS: u32 = 0x0a00_0000;
const RECEIVERS: u32 = 0x0a80_0000;
/// The number of places that have distinct addresses.
const ADDRESSES: u32 = 0x0080_0000;
/// The first of the ports that are not assigned to any service (RFC 6335): one for each flow that uses a place.
const FIRST_PORT: u16 = 49_152;
/// The port of the discard service, which ignores the data that it receives (RFC 863).
const DISCARD: u16 = 9;
/// The first flow's initial sequence number lies this many bytes before the wrap.
const BEFORE_WRAP: u32 = 1 << 20;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) address: Ipv4Addr,
    pub(super) port: u16,
    /// Its initial sequence number.
    pub(super) first: u32,
}

/// The sender and the receiver of the `generation`th flow in a place.
pub(super) fn endpoints(place: u32, generation: u16) -> [Endpoint; 2] {
    let address = |base: u32| Ipv4Addr::from(base + (place + 1) % ADDRESSES);
    let port = FIRST_PORT + generation % (u16::MAX - FIRST_PORT + 1);
    // Any initial number is allowed (RFC 9293 section 3.4.1); those of the first flow wrap after a megabyte.
    let first = |odd: u32| (place << 16 ^ u32::from(generation)).wrapping_mul(odd).wrapping_sub(BEFORE_WRAP);
    [
        Endpoint { address: address(SENDERS), port, first: first(0x9e37_79b1) },
        Endpoint { address: address(RECEIVERS), port: DISCARD, first: first(0x85eb_ca77) },
    ]
}

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) generation: u16,
    pub(super) sender: Endpoint,
    pub(super) receiver: Endpoint,
    pub(super) bytes: Bytes,
    pub(super) mss: u64,
    pub(super) mtu: u64,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    /// Whether it is a subflow, whose receive window belongs to a multipath connection.
    pub(super) subflow: bool,
    /// The window scale of the receiver, in bits.
    pub(super) shift: u8,
    /// When the last SYN left.
    pub(super) syn_sent: Time,
}

impl Connection {
    /// The connection of a flow in this place, whose SYN leaves now.
    pub(super) fn new(now: Time, place: u32, flow: &Flow) -> Self {
        let options = flow.sender.options();
        let [sender, receiver] = endpoints(place, flow.generation);
        Self {
            generation: flow.generation,
            sender,
            receiver,
            bytes: Bytes::new(options.mss),
            mss: options.mss,
            mtu: options.mtu,
            timestamps: options.timestamps,
            sack: options.sack,
            ecn: flow.sender.ecn().is_some(),
            subflow: flow.place.is_some(),
            shift: window_shift(options.receive_buffer),
            syn_sent: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_addresses_and_each_generation_its_port() {
        let text = |place, generation| {
            endpoints(place, generation).map(|end| format!("{}:{}", end.address, end.port)).join(" > ")
        };
        assert_eq!(text(0, 0), "10.0.0.1:49152 > 10.128.0.1:9");
        assert_eq!(text(255, 1), "10.0.1.0:49153 > 10.128.1.0:9");
        assert_eq!(text(0, 16_384), text(0, 0));
    }
}
