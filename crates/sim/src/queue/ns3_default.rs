//! ns-3's default stack of a point-to-point device (3.37): a FIFO of 100 packets behind FQ-CoDel.
//!
//! The device stops the queue discipline when its FIFO is full and wakes it as soon as there is room. So
//! nothing is dropped in the FIFO, and neither CoDel nor fair queueing acts on the packets in it: the delay
//! that CoDel measures ends when a packet enters the FIFO.

use super::codel::Dialect;
use super::fq_codel::{FqCodel, FqCodelParams};
use super::{Backlog, Chance, Discipline, QueueKind, QueueTap, Service, Site, Sizing, Waiting};
use cwndlab_cc::params::Parameters;
use cwndlab_cc::{Span, Time};
use std::collections::VecDeque;

cwndlab_cc::parameters! {
    /// The parameters of ns-3's default stack.
    pub struct Ns3DefaultParams {
        device: u64 = 100, "device", Allowed::Count(1, 100_000_000), "packets",
            "the device's own FIFO", "ns-3 PointToPointNetDevice, DropTailQueue 100p";
        ecn: bool = true, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "ns-3.37 FqCoDelQueueDisc: UseEcn is on";
    }
}

/// The limit of ns-3's FqCoDelQueueDisc; the device's FIFO comes on top of it.
const FQ_CODEL_PACKETS: u64 = 10_240;

/// The queue kind, as scenarios name it.
pub const QUEUE: QueueKind = QueueKind {
    name: "ns3-default",
    summary: "ns-3's default: a device FIFO behind FQ-CoDel",
    source: "ns-3.37 PointToPointNetDevice, DropTailQueue, FqCoDelQueueDisc with its defaults",
    departures: &[
        "the hash is this laboratory's, with a key for each link and seed, not Murmur3 of addresses and ports",
        "CoDel's time is exact, where ns-3's goes in ticks of 1.024 us that wrap after 4398 s",
        "CoDel drops when the delay has been too long for the interval, where ns-3 waits strictly longer",
        "the inverse square root takes one Newton step, as in ns-3, but is not cut to 16 bits",
    ],
    params: Ns3DefaultParams::specs,
    sizing: Sizing::Fixed { packets: FQ_CODEL_PACKETS },
    service: Service::DeviceFifo(|site, settings| {
        let params = Ns3DefaultParams::with(settings);
        (fq_codel(&params, site), params.device)
    }),
    chance: Some(Chance { what: "hashes of FQ-CoDel", unless: None }),
    build: |site, settings| Box::new(Ns3Default::new(&Ns3DefaultParams::with(settings), site)),
};

/// FQ-CoDel with the defaults of ns-3's FqCoDelQueueDisc; its quantum is the device's MTU.
fn fq_codel(params: &Ns3DefaultParams, site: &Site) -> FqCodel {
    let params = FqCodelParams {
        limit: FQ_CODEL_PACKETS,
        flows: 1024,
        quantum: 1500,
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: params.ecn,
        perfect_hash: false,
    };
    FqCodel::with_dialect(Dialect::Ns3, &params, site)
}

/// ns-3's default stack, for links that ask packet by packet: those with a trace or with reordering.
pub struct Ns3Default {
    discipline: FqCodel,
    device: VecDeque<Waiting>,
    room: usize,
    in_device: Backlog,
}

impl Ns3Default {
    /// An empty stack.
    #[must_use]
    pub fn new(params: &Ns3DefaultParams, site: &Site) -> Self {
        Self {
            discipline: fq_codel(params, site),
            device: VecDeque::new(),
            room: params.device as usize,
            in_device: Backlog::default(),
        }
    }

    /// Moves packets on while the device has room.
    fn fill_device(&mut self, now: Time, tap: &mut dyn QueueTap) {
        while self.device.len() < self.room {
            let Some(waiting) = self.discipline.dequeue(now, tap) else { break };
            self.put_in_device(waiting);
        }
    }

    fn put_in_device(&mut self, waiting: Waiting) {
        self.in_device.add(waiting.bytes);
        self.device.push_back(waiting);
    }
}

impl Discipline for Ns3Default {
    fn enqueue(&mut self, now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        // The device asks for packets until it is full or nothing is left. When it would get only this packet
        // and then nothing, the discipline can be bypassed.
        if self.device.len() + 1 < self.room && self.discipline.is_idle() {
            self.put_in_device(waiting);
            return;
        }
        self.discipline.enqueue(now, waiting, tap);
        self.fill_device(now, tap);
    }

    fn dequeue(&mut self, now: Time, tap: &mut dyn QueueTap) -> Option<Waiting> {
        let waiting = self.device.pop_front()?;
        self.in_device.take(waiting.bytes);
        self.fill_device(now, tap);
        Some(waiting)
    }

    fn backlog(&self) -> Backlog {
        let above = self.discipline.backlog();
        Backlog { packets: above.packets + self.in_device.packets, bytes: above.bytes + self.in_device.bytes }
    }

    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting)) {
        self.discipline.each_waiting(show);
        self.device.iter().for_each(show);
    }
}
