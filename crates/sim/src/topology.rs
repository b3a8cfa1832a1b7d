//! Builds links and routes from a specification: decides which directions are links, and which are only
//! delays.

use crate::host::Host;
use crate::link::{Link, capacity_bits};
use crate::queue::{Limit, QueueSpec};
use crate::route::{Route, Routes};
use crate::spec::{AccessSpec, Capacity, FlowKind, LinkSpec, LossKind, LossSpec, PathSpec, SimSpec};
use crate::tcp::TcpOptions;
use cwndlab_cc::{Span, Time};

/// Packets allowed in the host's queue before the sender is held back: two, the least that TCP small queues
/// allow ...
const HELD_BACK_PACKETS: u64 = 2;
/// ... or a millisecond's worth at the access rate, if that is more (Linux: sk_pacing_shift 10).
const HELD_BACK_TIME: Span = Span::from_millis(1);

/// The links of a run, and the index of each link's return direction.
pub struct Topology {
    /// All links: those of the scenario, then return directions, then access links.
    pub links: Vec<Link>,
    /// The hosts whose queues hold senders back.
    pub hosts: Vec<Host>,
    backs: Vec<Option<u32>>,
}

impl Topology {
    /// The links of the scenario and their return directions.
    #[must_use]
    pub fn new(spec: &SimSpec) -> Self {
        let mut topology = Self { links: Vec::new(), hosts: Vec::new(), backs: Vec::new() };
        for link in &spec.links {
            topology.add(link, spec.seed);
        }
        for (index, link) in spec.links.iter().enumerate() {
            let carries_data = carries_data_back(index, spec);
            let back = match &link.back {
                Some(back) => Some(topology.add(back, spec.seed)),
                // Data need a link to travel on, even if it never delays them, and ACKs need one on which
                // they can be lost.
                None if carries_data || link.fails() => Some(topology.add(&plain_back(link), spec.seed)),
                None => None,
            };
            topology.backs.push(back);
        }
        topology
    }

    fn add(&mut self, link: &LinkSpec, seed: u64) -> u32 {
        self.links.push(Link::new(link, seed));
        (self.links.len() - 1) as u32
    }

    /// The routes of a flow of this kind over one of its paths; the access link is made here.
    pub fn routes(&mut self, kind: &FlowKind, path: &PathSpec, spec: &SimSpec) -> Routes {
        let forward: Vec<u32> = path.links.iter().map(|link| *link as u32).collect();
        let mut backward = Vec::new();
        let mut delays = Vec::new();
        for &link in path.links.iter().rev() {
            match self.backs[link] {
                Some(back) => backward.push(back),
                None => delays.push(spec.links[link].delay.clone()),
            }
        }
        // Data always travel on links; only ACKs can have delays without links.
        let (mut data, mut acks) = if kind.reverse { (backward, forward) } else { (forward, backward) };
        let mut host = None;
        if let Some(access) = &path.access {
            let link = self.add(&access.link, spec.seed);
            data.insert(0, link);
            match &access.link.back {
                Some(back) => acks.push(self.add(back, spec.seed)),
                None if access.link.fails() => acks.push(self.add(&plain_back(&access.link), spec.seed)),
                None => delays.push(access.link.delay.clone()),
            }
            if let Some(packets) = held_back_packets(access, &kind.tcp) {
                host = Some(self.hosts.len() as u32);
                self.hosts.push(Host::new(link, packets));
            }
        }
        Routes { data: Route::new(data, Vec::new()), acks: Route::new(acks, delays), host }
    }
}

/// Whether data cross a link of the scenario against its direction.
fn carries_data_back(link: usize, spec: &SimSpec) -> bool {
    let crossed = |path: &PathSpec| path.links.contains(&link);
    spec.flows.iter().any(|flow| flow.kind.reverse && flow.paths.iter().any(crossed))
        || spec.arrivals.iter().any(|arrivals| arrivals.kind.reverse && crossed(&arrivals.path))
}

/// The most packets in the host's queue, if the sender is held back by it: nothing ever waits before a link
/// without a rate.
fn held_back_packets(access: &AccessSpec, tcp: &TcpOptions) -> Option<u64> {
    let packet = tcp.mss + tcp.header;
    let segments = match &access.link.capacity {
        _ if !access.hold_back => None,
        Capacity::Unlimited => None,
        Capacity::Rate(rates) => Some(HELD_BACK_PACKETS.max(rates.first().bytes_in(HELD_BACK_TIME) / packet)),
        Capacity::Trace(_) => Some(HELD_BACK_PACKETS),
    };
    segments.map(|segments| segments * tcp.fragments())
}

/// A return direction that is not congested, loses nothing while the link is up, and has the same delay.
#[must_use]
pub fn plain_back(link: &LinkSpec) -> LinkSpec {
    LinkSpec {
        name: format!("{}.back", link.name),
        capacity: Capacity::Unlimited,
        delay: link.delay.clone(),
        up: link.up.clone(),
        loss: LossSpec { kind: LossKind::None, before_queue: false },
        queue: QueueSpec::droptail(Limit::Unlimited),
        overhead: link.overhead,
        jitter: Span::ZERO,
        reorder: None,
        back: None,
    }
}

/// One packet time of the slowest link of a path, by the links' mean rates.
#[must_use]
pub fn packet_time(tcp: &TcpOptions, path: &PathSpec, spec: &SimSpec) -> Span {
    let packet = tcp.mss + tcp.header;
    let end = Time::ZERO + spec.duration;
    let time = |link: &LinkSpec| {
        let bits = capacity_bits(&link.capacity, Time::ZERO, end).filter(|bits| *bits > 0.0)?;
        let rate = bits / spec.duration.as_secs_f64();
        Some(Span::from_secs_f64((packet + link.overhead) as f64 * 8.0 / rate))
    };
    let access = path.access.iter().map(|access| &access.link);
    path.links.iter().map(|link| &spec.links[*link]).chain(access).filter_map(time).max().unwrap_or_default()
}
