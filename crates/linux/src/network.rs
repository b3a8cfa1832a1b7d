//! The links of a scenario, driven by packets of a kernel: each packet has a slot, whose number travels in
//! the simulator's packet.

use crate::capture::Capture;
use crate::slots::{self, Handle, Slot};
use cwndlab_cc::Time;
use cwndlab_lab::export::Ends;
use cwndlab_sim::event::{Component, Event, EventQueue};
use cwndlab_sim::link::Link;
use cwndlab_sim::measures::{LinkGauge, mbps};
use cwndlab_sim::outcome::{Distribution, LinkOutcome, SeriesTable};
use cwndlab_sim::packet::{AckHeader, Body, Data, EcnField, Fragment, Packet};
use cwndlab_sim::route::{Route, Routes};
use cwndlab_sim::series::{self, LinkSample};
use cwndlab_sim::spec::{FlowSpec, LinkSpec, PathSpec, SimSpec};
use cwndlab_sim::tap::{LinkEvent, State, Tap};
use cwndlab_sim::topology::{Topology, plain_back};
use cwndlab_sim::turn::LinkTurn;
use std::collections::HashMap;

/// The direction of a packet between the ends of a part: a flow, or a subflow of a multipath connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    Data,
    /// From the receiver back to the sender.
    Acks,
}

/// What the links need to know about a packet.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The packet.
    pub handle: Handle,
    /// The buffer that its sender is charged for until the packet has left its host; 0 if there is none.
    pub held: Handle,
    /// Its part.
    pub part: u32,
    /// Its direction.
    pub way: Way,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Whether it carries payload.
    pub payload: bool,
    /// Its ECN field.
    pub ecn: EcnField,
}

/// A packet that has crossed all links of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The packet.
    pub handle: Handle,
    /// Its part.
    pub part: u32,
    /// Its direction.
    pub way: Way,
}

/// What happened to packets on the links since the last call.
#[derive(Debug, Default)]
pub struct Fates {
    /// Buffers to be freed: of packets dropped or lost, and those that senders were charged for.
    pub gone: Vec<Handle>,
    /// Marked CE.
    pub marked: Vec<Handle>,
}

/// Links, routes, and the packets on them.
pub struct Network {
    links: Vec<Link>,
    /// Whether the scenario reports each link: it leaves out plain reverse paths, for which the simulator has
    /// no link.
    shown: Vec<bool>,
    /// The links first, then the hosts.
    events: EventQueue,
    /// Links at which a host holds its sender back (TCP small queues).
    hosts: Vec<u32>,
    /// The index of each link among `hosts`.
    host_at: Vec<Option<u32>>,
    /// The routes of each part: of data, and of ACKs.
    routes: Vec<[Route; 2]>,
    /// Whether a part's sender is held back.
    held_back: Vec<bool>,
    tap: LinkTap,
}

impl Network {
    /// The links of a run, empty. Each lane is a flow and, if the flow belongs to an arrival process, its
    /// group, whose flows share an access link. The parts are the paths, lane by lane.
    #[must_use]
    pub fn new(spec: &SimSpec, lanes: &[(FlowSpec, Option<usize>)]) -> Self {
        let mut plain = Vec::new();
        let spec = with_ways_back(spec, &mut plain);
        let mut topology = Topology::new(&spec);
        let mut of_group = HashMap::new();
        let mut routes: Vec<Routes> = Vec::new();
        for (flow, group) in lanes {
            for path in &flow.paths {
                let mut make = || topology.routes(&flow.kind, &with_way_back(path, &mut plain), &spec);
                routes.push(match group {
                    Some(group) => of_group.entry(*group).or_insert_with(make).clone(),
                    None => make(),
                });
            }
        }
        let Topology { links, hosts, .. } = topology;
        let hosts: Vec<u32> = hosts.iter().map(|host| host.link).collect();
        let mut host_at = vec![None; links.len()];
        for (place, link) in hosts.iter().enumerate() {
            host_at[*link as usize] = Some(place as u32);
        }
        let events = EventQueue::new((links.len() + hosts.len()) as Component);
        Self {
            shown: links.iter().map(|link| !plain.iter().any(|name| name == link.name())).collect(),
            tap: LinkTap::new(&links, &host_at),
            links,
            events,
            hosts,
            host_at,
            held_back: routes.iter().map(|routes| routes.host.is_some()).collect(),
            routes: routes.into_iter().map(|routes| [routes.data, routes.acks]).collect(),
        }
    }

    /// Whether the sender of a part is held back until its packets have left its host.
    #[must_use]
    pub fn holds_back(&self, part: u32) -> bool {
        self.held_back[part as usize]
    }

    /// From now on packets are captured at these ends, and at those of the links.
    ///
    /// # Errors
    /// A message: there are too many links, or a file cannot be written.
    pub fn capture(&mut self, mut ends: Ends) -> Result<(), String> {
        ends.add_links(self.links.iter().map(Link::name))?;
        self.tap.capture = Some(Capture::new(ends));
        Ok(())
    }

    /// Whether packets are captured.
    #[must_use]
    pub fn captures(&self) -> bool {
        self.tap.capture.is_some()
    }

    /// Writes the rest of the captures.
    ///
    /// # Errors
    /// A message that says why a file is not complete.
    pub fn end_capture(&mut self) -> Result<(), String> {
        self.tap.capture.take().map_or(Ok(()), Capture::finish)
    }

    /// A packet with these headers leaves its end.
    pub fn send(&mut self, now: Time, sent: &Sent, headers: &[u8]) {
        let slot = slots::insert(sent.handle, sent.held);
        if let Some(capture) = &mut self.tap.capture {
            capture.sent(now, slot, sent, headers);
        }
        let body = if sent.payload {
            Body::Data(Data { seq: slot, sent_at: now, echo: Time::ZERO, cwr: false, push: false })
        } else {
            Body::Ack(AckHeader { cumulative: slot, ..AckHeader::default() })
        };
        let packet = Packet {
            flow: sent.part,
            generation: sent.way as u16,
            hop: 0,
            ecn: sent.ecn,
            size: sent.bytes,
            fragment: Fragment::WHOLE,
            body,
        };
        let first = self.routes[sent.part as usize][sent.way as usize].first();
        self.put(now, first.expect("every way is a link"), &packet);
    }

    fn put(&mut self, now: Time, link: u32, packet: &Packet) {
        let Self { links, tap, events, .. } = self;
        let one = &mut links[link as usize];
        one.receive(&mut LinkTurn { now, tap, link }, packet);
        events.set(link as Component, one.next_event());
        self.watch_host(now, link);
    }

    /// Whether this host's sender may continue is decided when the next packet has left, which may be before
    /// its link has an event.
    fn watch_host(&mut self, now: Time, link: u32) {
        let Some(host) = self.host_at[link as usize] else { return };
        let Self { links, tap, events, .. } = self;
        let one = &mut links[link as usize];
        one.settle(&mut LinkTurn { now, tap, link });
        let waiting = one.backlog().packets;
        let next = if waiting > 0 { one.time_below(now, waiting - 1) } else { Time::NEVER };
        events.set(links.len() as Component + host, next);
    }

    /// The link of a host, if this component is one: links have no event of their own for holding a sender back.
    fn holds(&self, component: Component) -> Option<u32> {
        self.hosts.get((component as usize).checked_sub(self.links.len())?).copied()
    }

    /// When [`Network::step`] is due.
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.events.next().at
    }

    /// Processes the first event if it is due by `now`; returns a packet that has arrived. It is called until
    /// nothing is due.
    pub fn step(&mut self, now: Time) -> Option<Arrival> {
        // At the event's own time: the kernel's clock may be a nanosecond ahead, and would miss the
        // opportunities of a trace.
        let Event { at, component: link, .. } = self.events.next();
        if at > now {
            return None;
        }
        let now = at;
        if let Some(held) = self.holds(link) {
            self.watch_host(now, held);
            return None;
        }
        let Self { links, tap, events, .. } = self;
        let one = &mut links[link as usize];
        let arrived = one.advance(&mut LinkTurn { now, tap, link });
        events.set(link, one.next_event());
        self.watch_host(now, link);
        let mut packet = arrived?;
        packet.hop += 1;
        let way = if packet.generation == Way::Data as u16 { Way::Data } else { Way::Acks };
        if let Some(next) = self.routes[packet.flow as usize][way as usize].hop(packet.hop) {
            self.put(now, next, &packet);
            return None;
        }
        let slot = slot_of(&packet);
        if let Some(capture) = &mut self.tap.capture {
            capture.arrived(now, slot, way, packet.ecn);
        }
        Some(Arrival { handle: slots::take(slot).handle, part: packet.flow, way })
    }

    /// What happened to packets since the last call.
    pub fn fates(&mut self) -> Option<Fates> {
        let tap = &mut self.tap;
        if tap.gone.is_empty() && tap.marked.is_empty() && tap.released.is_empty() {
            return None;
        }
        let marked = tap.marked.drain(..).map(slots::handle).collect();
        let mut gone: Vec<Handle> = tap.released.drain(..).map(slots::release).collect();
        for slot in tap.gone.drain(..) {
            let Slot { handle, held } = slots::take(slot);
            gone.extend([handle, held]);
        }
        gone.retain(|handle| *handle != 0);
        Some(Fates { gone, marked })
    }

    fn settle(&mut self, now: Time) {
        let Self { links, tap, .. } = self;
        for (index, link) in links.iter_mut().enumerate() {
            link.settle(&mut LinkTurn { now, tap, link: index as u32 });
        }
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self, now: Time) {
        self.settle(now);
        self.tap.gauges.iter_mut().zip(&self.links).for_each(|(gauge, link)| gauge.restart(link, now));
    }

    /// Takes a sample of every link.
    pub fn sample(&mut self, now: Time, since_last_s: f64) {
        self.settle(now);
        self.tap.sample(&self.links, since_last_s);
    }

    /// The measurements of the links that the scenario reports.
    pub fn outcomes(&mut self, now: Time) -> Vec<LinkOutcome> {
        self.settle(now);
        let all = self.tap.gauges.iter().zip(&self.links).zip(&self.shown);
        all.filter(|(_, shown)| **shown).map(|((gauge, link), _)| gauge.outcome(link, now)).collect()
    }

    /// The distributions of the queueing delays.
    #[must_use]
    pub fn distributions(&self) -> Vec<Distribution> {
        let all = self.tap.gauges.iter().zip(&self.links).zip(&self.shown).filter(|(_, shown)| **shown);
        all.filter_map(|((gauge, link), _)| {
            Distribution::of_times("link", link.name(), "queue_delay_ms", gauge.queue_delays())
        })
        .collect()
    }

    /// Data packets that the first link has served.
    #[must_use]
    pub fn served_data(&self) -> u64 {
        self.tap.gauges.first().map_or(0, LinkGauge::served_data)
    }

    /// How many columns it records.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.tap.tables.iter().map(|table| table.columns.len()).sum()
    }

    /// The samples of all links.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = &mut SeriesTable> {
        self.tap.tables.iter_mut()
    }

    /// The samples of the links that the scenario reports.
    #[must_use]
    pub fn tables(self) -> Vec<SeriesTable> {
        let all = self.tap.tables.into_iter().zip(self.shown);
        all.filter_map(|(table, shown)| shown.then_some(table)).collect()
    }
}

/// The scenario with a link for every reverse path; the names of those that only delay ACKs in the simulator
/// are added to `plain`.
fn with_ways_back(spec: &SimSpec, plain: &mut Vec<String>) -> SimSpec {
    let mut spec = spec.clone();
    spec.links.iter_mut().for_each(|link| add_way_back(link, plain));
    spec
}

/// The same for a path.
fn with_way_back(path: &PathSpec, plain: &mut Vec<String>) -> PathSpec {
    let mut path = path.clone();
    if let Some(access) = &mut path.access {
        add_way_back(&mut access.link, plain);
    }
    path
}

fn add_way_back(link: &mut LinkSpec, plain: &mut Vec<String>) {
    if link.back.is_none() {
        let back = plain_back(link);
        plain.push(back.name.clone());
        link.back = Some(Box::new(back));
    }
}

/// The slot of the kernel's packet that travels as this packet.
pub(crate) fn slot_of(packet: &Packet) -> u32 {
    match packet.body {
        Body::Data(data) => data.seq,
        Body::Ack(header) => header.cumulative,
        Body::Syn | Body::SynAck { .. } => unreachable!("the kernel's packets are data or not"),
    }
}

/// Observes the links.
struct LinkTap {
    gauges: Vec<LinkGauge>,
    totals: Vec<Totals>,
    tables: Vec<SeriesTable>,
    /// Whether a host holds its sender back at the link.
    holds: Vec<bool>,
    gone: Vec<u32>,
    marked: Vec<u32>,
    released: Vec<u32>,
    capture: Option<Capture>,
}

/// What happened on a link since the start of the run.
#[derive(Clone, Copy, Default)]
struct Totals {
    served_bytes: u64,
    sampled_bytes: u64,
    dropped: u64,
    lost: u64,
}

impl LinkTap {
    fn new(links: &[Link], host_at: &[Option<u32>]) -> Self {
        let table = |link: &Link| SeriesTable {
            kind: "link",
            name: link.name().to_owned(),
            columns: series::LINK.iter().map(|column| (column.name.to_owned(), Vec::new())).collect(),
        };
        Self {
            gauges: links.iter().map(|_| LinkGauge::default()).collect(),
            totals: vec![Totals::default(); links.len()],
            tables: links.iter().map(table).collect(),
            holds: host_at.iter().map(Option::is_some).collect(),
            gone: Vec::new(),
            marked: Vec::new(),
            released: Vec::new(),
            capture: None,
        }
    }

    fn sample(&mut self, links: &[Link], since_last_s: f64) {
        for ((table, link), totals) in self.tables.iter_mut().zip(links).zip(&mut self.totals) {
            let bytes = totals.served_bytes - totals.sampled_bytes;
            let sample = LinkSample {
                backlog: link.backlog(),
                throughput_mbps: mbps(bytes, since_last_s).unwrap_or(f64::NAN),
                dropped: totals.dropped,
                lost: totals.lost,
            };
            totals.sampled_bytes = totals.served_bytes;
            for (column, (_, values)) in series::LINK.iter().zip(&mut table.columns) {
                values.push((column.value)(&sample));
            }
        }
    }
}

impl Tap for LinkTap {
    type Outcome = ();

    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        self.gauges[link as usize].on_event(at, event);
        if let Some(capture) = &mut self.capture
            && let LinkEvent::Enqueued { packet, .. } | LinkEvent::Delivered { packet } = event
        {
            capture.on_link(at, link, slot_of(packet), packet.ecn, event);
        }
        let totals = &mut self.totals[link as usize];
        match event {
            LinkEvent::Served { packet, bytes, .. } => {
                totals.served_bytes += u64::from(bytes);
                if self.holds[link as usize] {
                    self.released.push(slot_of(packet));
                }
            }
            LinkEvent::Dropped { packet, .. } => {
                totals.dropped += 1;
                self.gone.push(slot_of(packet));
            }
            LinkEvent::Lost { packet } => {
                totals.lost += 1;
                self.gone.push(slot_of(packet));
            }
            LinkEvent::Marked { packet } => self.marked.push(slot_of(packet)),
            LinkEvent::Enqueued { .. } | LinkEvent::Delivered { .. } => {}
        }
    }

    fn finish(self, _state: &State<'_>) {}
}
