//! The kernel's own queue disciplines, in the simulator's links.

#![allow(unsafe_code)]

use crate::network::slot_of;
use crate::slots::{self, Handle};
use cwndlab_cc::Time;
use cwndlab_cc::params::Value;
use cwndlab_lab::linux::queues::{self, KernelQueue};
use cwndlab_lab::{Queues, linux};
use cwndlab_sim::packet::EcnField;
use cwndlab_sim::queue::{Backlog, Discipline, QueueTap, Site, Waiting};
use std::collections::BTreeMap;
use std::ffi::CString;

unsafe extern "C" {
    /// Makes a queue discipline of this name with these options; never null.
    fn cwk_queue(name: *const std::ffi::c_char, options: *const u8, length: u32) -> usize;
    /// Hands over a packet of this length.
    fn cwk_enqueue(queue: usize, packet: Handle, bytes: u32);
    /// Takes a packet out, and the byte with its ECN field; 0 if there is none.
    fn cwk_dequeue(queue: usize, tos: *mut u8) -> Handle;
    /// How many packets wait.
    fn cwk_length(queue: usize) -> u32;
    /// Whether the queue has dropped a packet that was handed over.
    fn cwk_is_dropped(packet: Handle) -> bool;
}

/// The simulator's kinds of queue, and the kernel's.
#[must_use]
pub fn all() -> Queues {
    let mut all = linux::with_queues(&Queues::built_in());
    queues::kinds(build).for_each(|kind| all.add(kind));
    all
}

fn build(site: &Site, settings: &[(String, Value)]) -> Box<dyn Discipline> {
    let declared = KernelQueue::named(site.kind).expect("only these kinds are built here");
    let name = CString::new(declared.kernels_name()).expect("a name has no zero byte");
    let options = declared.options(settings, site.rate);
    // SAFETY: both are valid for the call.
    let queue = unsafe { cwk_queue(name.as_ptr(), options.as_ptr(), options.len() as u32) };
    Box::new(InKernel { queue, waiting: BTreeMap::new(), backlog: Backlog::default() })
}

/// A queue discipline of the kernel, and what waits in it.
struct InKernel {
    queue: usize,
    waiting: BTreeMap<Handle, Waiting>,
    backlog: Backlog,
}

impl InKernel {
    fn remove(&mut self, packet: Handle) -> Waiting {
        let waiting = self.waiting.remove(&packet).expect("the queue got this packet and had it still");
        self.backlog.take(waiting.bytes);
        waiting
    }

    /// Reports the packets that the kernel has dropped: there are some if fewer wait than were handed over.
    fn report_drops(&mut self, tap: &mut dyn QueueTap) {
        // SAFETY: the queue is the link's.
        if self.waiting.len() as u32 == unsafe { cwk_length(self.queue) } {
            return;
        }
        // SAFETY: the links have a reference to each packet.
        let dropped = |packet: &&Handle| unsafe { cwk_is_dropped(**packet) };
        let gone: Vec<Handle> = self.waiting.keys().filter(dropped).copied().collect();
        let mut gone: Vec<Waiting> = gone.into_iter().map(|packet| self.remove(packet)).collect();
        gone.sort_by_key(in_order);
        gone.iter().for_each(|waiting| tap.dropped(waiting));
    }
}

/// The order of packets: by the time they came, then by their slots, but not by their addresses.
fn in_order(waiting: &Waiting) -> (Time, u32) {
    (waiting.since, slot_of(&waiting.packet))
}

impl Discipline for InKernel {
    fn enqueue(&mut self, _now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        let packet = slots::handle(slot_of(&waiting.packet));
        self.waiting.insert(packet, waiting);
        self.backlog.add(waiting.bytes);
        // SAFETY: the packet is on this link, and the queue is the link's.
        unsafe { cwk_enqueue(self.queue, packet, waiting.bytes) };
        self.report_drops(tap);
    }

    fn dequeue(&mut self, _now: Time, tap: &mut dyn QueueTap) -> Option<Waiting> {
        let mut tos = 0;
        // SAFETY: `tos` is valid, and the queue is the link's.
        let packet = unsafe { cwk_dequeue(self.queue, &raw mut tos) };
        let taken = (packet != 0).then(|| self.remove(packet));
        self.report_drops(tap);
        let mut waiting = taken?;
        if EcnField::of_tos(tos) == EcnField::Ce && waiting.packet.ecn != EcnField::Ce {
            waiting.packet.ecn = EcnField::Ce;
            tap.marked(&waiting);
        }
        Some(waiting)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting)) {
        let mut all: Vec<_> = self.waiting.values().collect();
        all.sort_by_key(|waiting| in_order(waiting));
        all.into_iter().for_each(show);
    }
}
