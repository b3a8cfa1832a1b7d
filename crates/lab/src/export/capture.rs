//! Packet captures of a simulation: its packets, with synthesised headers.

use super::connection::{Connection, endpoints};
use super::ends::{Ends, Place};
use super::headers;
use cwndlab_cc::Time;
use cwndlab_sim::SimSpec;
use cwndlab_sim::flow::Flow;
use cwndlab_sim::link::Link;
use cwndlab_sim::packet::{Body, Packet};
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tap::{End, LinkEvent, State};
use std::fmt::Write as _;
use std::path::Path;

/// The most flows whose addresses a file's comment lists.
const MOST_NAMED: usize = 500;

/// The current and the previous connection in a place, which flows use one after the other. Packets of the
/// previous one may still be in flight.
#[derive(Default)]
struct Users {
    now: Option<Connection>,
    before: Option<Connection>,
}

impl Users {
    fn of(&self, generation: u16) -> Option<&Connection> {
        [&self.now, &self.before].into_iter().flatten().find(|connection| connection.generation == generation)
    }
}

pub(super) struct Capture {
    ends: Ends,
    users: Vec<Users>,
    headers: Vec<u8>,
}

impl Capture {
    pub(super) fn create(at: &Path, spec: &SimSpec) -> Result<Self, String> {
        let ends = Ends::create(at, comment(spec))?;
        Ok(Self { ends, users: Vec::new(), headers: Vec::new() })
    }

    pub(super) fn begin(&mut self, state: &State<'_>) -> Result<(), String> {
        self.ends.add_links(state.links.iter().map(Link::name))
    }

    pub(super) fn on_packet(&mut self, now: Time, end: End, flow: &Flow, packet: &Packet) {
        if end == End::Sender {
            self.note(now, flow, packet);
        }
        self.write(now, Ends::of_connections(end), packet);
    }

    pub(super) fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        if let LinkEvent::Enqueued { packet, .. } | LinkEvent::Delivered { packet } = event
            && let Some(place) = self.ends.of_link(link, event)
        {
            self.write(at, place, packet);
        }
    }

    pub(super) fn finish(self) -> Result<(), String> {
        self.ends.finish()
    }

    /// Notes the state that later packets of the connection need for their headers.
    fn note(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        let at = packet.flow as usize;
        if self.users.len() <= at {
            self.users.resize_with(at + 1, Users::default);
        }
        let users = &mut self.users[at];
        match (&packet.body, &mut users.now) {
            (Body::Syn, Some(connection)) if connection.generation == packet.generation => {
                connection.syn_sent = now;
            }
            (Body::Syn, last) => {
                users.before = last.replace(Connection::new(now, packet.flow, flow));
            }
            (Body::Data(data), Some(connection)) => {
                connection.bytes.note(data.seq, u64::from(packet.size) - flow.header());
            }
            _ => {}
        }
    }

    fn write(&mut self, at: Time, place: Place, packet: &Packet) {
        let Self { ends, users, headers, .. } = self;
        let users = users.get(packet.flow as usize);
        let Some(connection) = users.and_then(|users| users.of(packet.generation)) else { return };
        let length = headers::write(connection, packet, headers);
        ends.write(at, place, headers, length);
    }
}

/// The comment of a file: the seed and the addresses of the flows.
fn comment(spec: &SimSpec) -> String {
    let mut text = format!("Seed {}. Packets of the simulator, with headers made for them.", spec.seed);
    let parts = || spec.flows.iter().flat_map(FlowSpec::parts);
    for (place, (name, _)) in parts().enumerate().take(MOST_NAMED) {
        let [sender, receiver] = endpoints(place as u32, 0);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{name}: {} > {}", sender.address, receiver.address);
    }
    let more = parts().count().saturating_sub(MOST_NAMED);
    if more > 0 {
        let _ = write!(text, "\nand {more} more");
    }
    text
}
