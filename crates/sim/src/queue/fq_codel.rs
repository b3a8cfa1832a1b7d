//! FQ-CoDel (RFC 8290).
//!
//! Packets of all queues wait in one pool, linked by index: memory follows the largest total backlog, and
//! nothing is allocated in the steady state. A queue is created with its first packet.

use super::codel::{Controller, Dialect, Law, PacketSource};
use super::largest::Largest;
use super::{Backlog, Chance, Discipline, QueueKind, QueueTap, Service, Site, Sizing, Waiting};
use crate::packet::{Body, Packet};
use cwndlab_cc::params::Parameters;
use cwndlab_cc::{Span, Time};
use std::collections::VecDeque;

cwndlab_cc::parameters! {
    /// The parameters of FQ-CoDel.
    pub struct FqCodelParams {
        limit: u64 = 10_240, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait in all queues together", "RFC 8290 section 5.2";
        flows: u64 = 1024, "flows", Allowed::Count(1, 65_536), "queues",
            "queues that flows are hashed to", "RFC 8290 section 5.2";
        quantum: u64 = 1514, "quantum", Allowed::Count(64, 100_000), "bytes",
            "bytes that a queue may send per turn", "RFC 8290 section 5.2";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay of a queue", "RFC 8290 section 5.2";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stay above the target before a drop", "RFC 8290 section 5.2";
        ecn: bool = true, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "RFC 8290 section 5.2";
        perfect_hash: bool = false, "perfect_hash", Allowed::Flag, "",
            "a separate queue for each flow, without collisions", "an option of this laboratory";
    }
}

/// The queue kind, as scenarios name it.
pub const QUEUE: QueueKind = QueueKind {
    name: "fq-codel",
    summary: "FQ-CoDel (RFC 8290)",
    source: "RFC 8290 with the CoDel of RFC 8289",
    departures: &[
        "flows are distinguished by number and direction, hashed with a key for each link and seed, where the RFC \
         hashes addresses and ports: collisions are as likely, but not between the same flows",
        "a turn ends at zero credits, as in Linux, where the RFC has a negative number: a quantum of one packet is \
         one packet",
        "an overflow drops half the packets of the fattest queue, as the RFC has it, where Linux counts the half \
         in bytes; Linux's second limit, on memory, is not modelled",
    ],
    params: FqCodelParams::specs,
    sizing: Sizing::Limit,
    service: Service::ByPacket,
    chance: Some(Chance { what: "hashes of FQ-CoDel", unless: Some("perfect_hash") }),
    build: |site, settings| Box::new(FqCodel::new(&FqCodelParams::with(settings), site)),
};

/// No packet, or no queue.
const NONE: u32 = u32::MAX;

/// The most packets that one overflow drops (RFC 8290 section 4.1).
const BATCH: u64 = 64;

struct Node {
    waiting: Waiting,
    next: u32,
}

/// The packets of all queues.
struct Pool {
    nodes: Vec<Node>,
    free: u32,
}

impl Pool {
    fn put(&mut self, waiting: Waiting) -> u32 {
        let node = Node { waiting, next: NONE };
        let place = self.free;
        if let Some(unused) = self.nodes.get_mut(place as usize) {
            self.free = unused.next;
            *unused = node;
            return place;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Frees a place; returns the packet that it held and the next place in the list.
    fn take(&mut self, place: u32) -> (Waiting, u32) {
        let node = &mut self.nodes[place as usize];
        let taken = (node.waiting, node.next);
        node.next = self.free;
        self.free = place;
        taken
    }
}

/// The packets of one queue.
struct List {
    head: u32,
    tail: u32,
    packets: u64,
    bytes: u64,
}

struct FlowQueue {
    list: List,
    controller: Controller,
    /// Bytes that it may still send this turn; below zero if it has sent more than it was allowed.
    deficit: i64,
    /// Whether it is on the list of new or of old queues.
    listed: bool,
}

/// One queue as CoDel sees it.
struct Head<'a> {
    list: &'a mut List,
    pool: &'a mut Pool,
    backlog: &'a mut Backlog,
    dialect: Dialect,
}

impl PacketSource for Head<'_> {
    #[inline]
    fn head(&self) -> Option<(&Waiting, u64)> {
        if self.list.packets == 0 {
            return None;
        }
        let head = &self.pool.nodes[self.list.head as usize].waiting;
        Some((head, self.list.bytes - u64::from(length(self.dialect, head))))
    }

    #[inline]
    fn pop(&mut self) -> Option<Waiting> {
        if self.list.packets == 0 {
            return None;
        }
        let (waiting, next) = self.pool.take(self.list.head);
        self.list.head = next;
        self.list.packets -= 1;
        self.list.bytes -= u64::from(length(self.dialect, &waiting));
        self.backlog.take(waiting.bytes);
        Some(waiting)
    }
}

/// The length at which a packet counts, in bytes: its size on the link, but in ns-3 without the link's
/// header.
fn length(dialect: Dialect, waiting: &Waiting) -> u32 {
    match dialect {
        Dialect::Rfc => waiting.bytes,
        Dialect::Ns3 => waiting.packet.size,
    }
}

/// An FQ-CoDel queue.
pub struct FqCodel {
    law: Law,
    limit: u64,
    quantum: i64,
    /// Buckets to hash to; 0: one for each flow.
    buckets: u64,
    key: u64,
    /// The queue of each bucket, or [`NONE`].
    table: Vec<u32>,
    queues: Vec<FlowQueue>,
    pool: Pool,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
    fattest: Fattest,
}

/// Finds the queue with the most bytes. Overflows come in series: the first one builds an index of all
/// queues, which is kept until there have been more changes than queues without an overflow, so that a queue
/// which never overflows pays nothing.
#[derive(Debug, Default)]
struct Fattest {
    bytes: Option<Largest>,
    changes: usize,
}

impl Fattest {
    /// The queue with the most bytes; the first if several are equal.
    fn find(&mut self, queues: &[FlowQueue]) -> usize {
        self.changes = 0;
        self.bytes.get_or_insert_with(|| Largest::of(queues.iter().map(|queue| queue.list.bytes))).index()
    }

    /// A queue has grown or shrunk.
    #[inline]
    fn note(&mut self, queue: usize, queues: &[FlowQueue]) {
        if let Some(bytes) = &mut self.bytes {
            self.changes += 1;
            if self.changes > queues.len() {
                self.bytes = None;
            } else {
                bytes.set(queue, queues[queue].list.bytes);
            }
        }
    }
}

impl FqCodel {
    /// An empty queue.
    #[must_use]
    pub fn new(params: &FqCodelParams, site: &Site) -> Self {
        Self::with_dialect(Dialect::Rfc, params, site)
    }

    /// An empty queue that follows the RFCs or ns-3.
    #[must_use]
    pub fn with_dialect(dialect: Dialect, params: &FqCodelParams, site: &Site) -> Self {
        Self {
            law: Law::new(dialect, params.target, params.interval, params.ecn),
            limit: params.limit,
            quantum: params.quantum as i64,
            buckets: if params.perfect_hash { 0 } else { params.flows },
            key: site.stream("fq_codel").below(u64::MAX),
            table: Vec::new(),
            queues: Vec::new(),
            pool: Pool { nodes: Vec::new(), free: NONE },
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            fattest: Fattest::default(),
        }
    }

    /// The bucket of a packet's 5-tuple (RFC 8290 section 4.1). The two directions of a connection are two
    /// tuples, and so are two flows that used the same index one after the other.
    fn bucket(&self, packet: &Packet) -> usize {
        let backward = u64::from(!matches!(packet.body, Body::Syn | Body::Data(_)));
        let place = u64::from(packet.flow) << 1 | backward;
        if self.buckets == 0 {
            return place as usize;
        }
        // The finaliser of SplitMix64, then multiply-and-shift.
        let mut hash = self.key ^ (place << 16 | u64::from(packet.generation));
        if packet.fragment.index > 0 && self.law.dialect() == Dialect::Ns3 {
            // Ipv4QueueDiscItem::Hash: only the first fragment has the ports, so the others form another
            // tuple.
            hash = !hash;
        }
        hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        hash ^= hash >> 31;
        (((hash >> 32) * self.buckets) >> 32) as usize
    }

    /// The queue of a packet, made if need be.
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        let bucket = self.bucket(packet);
        if bucket >= self.table.len() {
            self.table.resize(bucket + 1, NONE);
        }
        if self.table[bucket] == NONE {
            self.table[bucket] = self.queues.len() as u32;
            self.queues.push(FlowQueue {
                list: List { head: NONE, tail: NONE, packets: 0, bytes: 0 },
                controller: Controller::default(),
                deficit: 0,
                listed: false,
            });
        }
        self.table[bucket]
    }

    /// Nothing waits and no queue has a turn. A packet that arrived and left now, followed by a `dequeue`
    /// that finds nothing, would then change only the order of the queues and, in the RFC's dialect, the
    /// largest size seen.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Drops from the head of the queue with the most bytes: half its packets, at most 64 (RFC 8290 section 4.1); Linux
    /// and ns-3 count the half in bytes, which is the same for packets of one size.
    #[cold]
    fn drop_from_fattest(&mut self, tap: &mut dyn QueueTap) {
        let dialect = self.law.dialect();
        let fattest = self.fattest.find(&self.queues);
        let Self { queues, pool, backlog, .. } = self;
        let mut head = Head { list: &mut queues[fattest].list, pool, backlog, dialect };
        let (packets, bytes) = (head.list.packets, head.list.bytes);
        for dropped in 1..=BATCH {
            let Some(waiting) = head.pop() else { break };
            tap.dropped(&waiting);
            let half = match dialect {
                Dialect::Rfc => dropped * 2 >= packets,
                Dialect::Ns3 => (bytes - head.list.bytes) * 2 >= bytes,
            };
            if half {
                break;
            }
        }
        self.fattest.note(fattest, &self.queues);
    }
}

impl Discipline for FqCodel {
    // RFC 8290 section 4.1.
    fn enqueue(&mut self, _now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        self.law.saw(waiting.bytes);
        self.backlog.add(waiting.bytes);
        let index = self.queue_of(&waiting.packet);
        let queue = &mut self.queues[index as usize];
        let place = self.pool.put(waiting);
        if queue.list.packets == 0 {
            queue.list.head = place;
        } else {
            self.pool.nodes[queue.list.tail as usize].next = place;
        }
        queue.list.tail = place;
        queue.list.packets += 1;
        queue.list.bytes += u64::from(length(self.law.dialect(), &waiting));
        if !queue.listed {
            queue.listed = true;
            queue.deficit = self.quantum;
            self.new.push_back(index);
        }
        self.fattest.note(index as usize, &self.queues);
        if self.backlog.packets > self.limit {
            self.drop_from_fattest(tap);
        }
    }

    // RFC 8290 section 4.2: new queues first; a turn ends when the quantum is used up (at a deficit of zero,
    // as in Linux and ns-3, so that a quantum of one packet is one packet).
    fn dequeue(&mut self, now: Time, tap: &mut dyn QueueTap) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let dialect = self.law.dialect();
            let mut head =
                Head { list: &mut queue.list, pool: &mut self.pool, backlog: &mut self.backlog, dialect };
            let served = queue.controller.dequeue(&self.law, now, &mut head, tap);
            if let Some(waiting) = &served {
                queue.deficit -= i64::from(length(dialect, waiting));
            }
            self.fattest.note(index as usize, &self.queues);
            if served.is_some() {
                return served;
            }
            // An empty new queue takes its place among the old ones, so that a flow cannot stay new by sending a packet
            // whenever its queue runs empty.
            list.pop_front();
            if is_new {
                self.old.push_back(index);
            } else {
                self.queues[index as usize].listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting)) {
        for list in self.queues.iter().map(|queue| &queue.list) {
            let mut at = list.head;
            for _ in 0..list.packets {
                let node = &self.pool.nodes[at as usize];
                show(&node.waiting);
                at = node.next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{AckHeader, Data, EcnField, Fragment};
    use crate::queue::Limit;
    use crate::queue::Tally;

    const SITE: Site = Site { kind: "fq-codel", link: "link", seed: 1, rate: None, limit: Limit::Unlimited };

    fn data(flow: u32, generation: u16) -> Packet {
        let body =
            Body::Data(Data { seq: 0, sent_at: Time::ZERO, echo: Time::ZERO, cwr: false, push: false });
        let fragment = Fragment::WHOLE;
        Packet { flow, generation, hop: 0, ecn: EcnField::NotEct, size: 1500, fragment, body }
    }

    #[test]
    fn later_fragments_are_another_tuple_in_ns3_only() {
        let bucket = |dialect, index| {
            let params = FqCodelParams { flows: 65_536, ..FqCodelParams::default() };
            let fragment = Fragment { index, of: 3 };
            FqCodel::with_dialect(dialect, &params, &SITE).bucket(&Packet { fragment, ..data(3, 0) })
        };
        let whole = FqCodel::new(&FqCodelParams { flows: 65_536, ..FqCodelParams::default() }, &SITE)
            .bucket(&data(3, 0));
        assert_eq!([0, 1, 2].map(|index| bucket(Dialect::Rfc, index)), [whole; 3]);
        let [first, second, third] = [0, 1, 2].map(|index| bucket(Dialect::Ns3, index));
        assert_eq!((first, second), (whole, third));
        assert_ne!(first, second);
    }

    #[test]
    fn the_hash_spreads_flows_differently_on_each_link() {
        let buckets = |seed, link| {
            let fq = FqCodel::new(&FqCodelParams::default(), &Site { seed, link, ..SITE });
            (0..1024).map(|flow| fq.bucket(&data(flow, 0))).collect::<Vec<_>>()
        };
        let of_a = buckets(1, "a");
        assert!(of_a.iter().all(|&bucket| bucket < 1024));
        assert_eq!(of_a, buckets(1, "a"));
        assert_ne!(of_a, buckets(1, "b"));
        assert_ne!(of_a, buckets(2, "a"));
        // n balls in n urns occupy n (1 - 1/e) = 647, with standard deviation 10.
        let mut distinct = of_a;
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len().abs_diff(647) < 50, "{} buckets", distinct.len());
    }

    #[test]
    fn directions_and_later_flows_are_other_tuples() {
        let fq = FqCodel::new(&FqCodelParams { flows: 65_536, ..FqCodelParams::default() }, &SITE);
        let ack = Packet { body: Body::Ack(AckHeader::default()), ..data(3, 0) };
        assert_ne!(fq.bucket(&data(3, 0)), fq.bucket(&ack));
        assert_ne!(fq.bucket(&data(3, 0)), fq.bucket(&data(3, 1)));
    }

    #[test]
    fn memory_follows_what_is_used() {
        let mut fq = FqCodel::new(&FqCodelParams::default(), &SITE);
        let mut tally = Tally::default();
        for round in 0..100 {
            for flow in 0..3 {
                let waiting = Waiting { packet: data(flow, 0), bytes: 1500, since: Time(round) };
                fq.enqueue(Time(round), waiting, &mut tally);
            }
            for _ in 0..3 {
                assert!(fq.dequeue(Time(round), &mut tally).is_some());
            }
        }
        assert_eq!((fq.queues.len(), fq.pool.nodes.len()), (3, 3));
    }

    /// The search through all queues is done once for a series of overflows, not at each of them.
    #[test]
    fn overflows_in_a_row_share_one_index_of_the_queues() {
        let params = FqCodelParams { limit: 1000, perfect_hash: true, ..FqCodelParams::default() };
        let mut fq = FqCodel::new(&params, &SITE);
        let mut tally = Tally::default();
        let mut come = |fq: &mut FqCodel, packet: u32| {
            let waiting = Waiting { packet: data(packet % 1100, 0), bytes: 1500, since: Time::ZERO };
            fq.enqueue(Time::ZERO, waiting, &mut tally);
        };
        (0..1000).for_each(|packet| come(&mut fq, packet));
        assert!(fq.fattest.bytes.is_none(), "no overflow, no index");
        for packet in 1000..5000 {
            come(&mut fq, packet);
            assert!(fq.fattest.bytes.is_some() && fq.fattest.changes <= 1);
        }
        let mut others = Tally::default();
        while fq.dequeue(Time::ZERO, &mut others).is_some() {}
        (0..500).for_each(|packet| come(&mut fq, packet));
        assert!(fq.fattest.bytes.is_none(), "no overflow for long, no index");
        assert_eq!(tally.dropped, 4000);
    }

    /// Bursts that build up a delay, and idle times between them in which packets arrive one by one.
    #[test]
    fn an_idle_discipline_need_not_be_asked() {
        let serve = |shortcut: bool| {
            let mut fq = FqCodel::with_dialect(Dialect::Ns3, &FqCodelParams::default(), &SITE);
            let (mut tally, mut served) = (Tally::default(), Vec::new());
            for step in 0..4000_u64 {
                let now = Time(step * 1_000_000);
                let in_burst = step % 400 < 200;
                if shortcut && !in_burst && fq.is_idle() {
                    served.push((now, step % 3, tally));
                    continue;
                }
                let waiting = Waiting { packet: data((step % 3) as u32, 0), bytes: 1500, since: now };
                fq.enqueue(now, waiting, &mut tally);
                for _ in 0..if in_burst { step % 2 } else { 3 } {
                    let next = fq.dequeue(now, &mut tally);
                    served.extend(next.map(|next| (now, u64::from(next.packet.flow), tally)));
                }
            }
            served
        };
        let long = serve(false);
        assert!(long.last().unwrap().2.dropped > 10);
        assert_eq!(serve(true), long);
    }
}
