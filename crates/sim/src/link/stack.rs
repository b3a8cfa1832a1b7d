//! A device's FIFO behind FQ-CoDel, as ns-3 stacks them, without service events.
//!
//! The FIFO knows its departures in advance, as in [`super::fifo`]. At each departure FQ-CoDel may hand down
//! a packet. That packet goes to the tail of the FIFO, so it changes nothing before the link is next settled
//! (a packet enters the link or reaches its far end, the rate changes, the state is looked at). FQ-CoDel is
//! asked then, with the time of the departure.

use super::fifo::Fifo;
use super::pipe::Pipe;
use crate::packet::Packet;
use crate::queue::fq_codel::FqCodel;
use crate::queue::{Backlog, Discipline, Limit, Waiting};
use crate::spec::Capacity;
use crate::tap::{LinkEvent, Tap};
use crate::turn::LinkTurn;
use cwndlab_cc::Time;

/// Both queues of a link.
pub struct Stack {
    above: FqCodel,
    device: Fifo,
    /// Packets that may wait in the device, besides the one in service: at least 1.
    room: u64,
}

impl Stack {
    /// An empty stack. At most `room` packets wait in its device.
    pub fn new(above: FqCodel, room: u64, capacity: &Capacity) -> Self {
        debug_assert!(room > 0, "a device without room never asks");
        Self { above, device: Fifo::new(Limit::Unlimited, capacity), room }
    }

    /// When [`Stack::advance`] is due: only at a step of the rate.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.device.next_event()
    }

    #[inline]
    pub fn receive<T: Tap>(&mut self, turn: &mut LinkTurn<T>, packet: &Packet, bytes: u32, pipe: &mut Pipe) {
        let now = turn.now;
        if T::IN_ORDER || !self.passes(pipe) {
            self.settle(turn, pipe);
        }
        turn.emit(LinkEvent::Enqueued { packet, bytes });
        if self.passes(pipe) {
            self.device.accept(now, now, bytes, pipe, |place| *place = *packet);
        } else {
            self.above.enqueue(now, Waiting { packet: *packet, bytes, since: now }, turn);
            self.fill_device(now, turn, pipe);
        }
    }

    /// The device asks FQ-CoDel for packets until it is full or FQ-CoDel is empty. When it would get only the
    /// packet that has just arrived and then nothing, FQ-CoDel can be bypassed.
    #[inline]
    fn passes(&self, pipe: &Pipe) -> bool {
        self.above.is_idle() && self.device.packets(pipe) < self.room
    }

    fn fill_device<T: Tap>(&mut self, at: Time, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        // Drops and marks carry the time at which the slot became free.
        let turn = &mut LinkTurn { now: at, tap: turn.tap, link: turn.link };
        while self.device.packets(pipe) <= self.room {
            let Some(Waiting { packet, bytes, since }) = self.above.dequeue(at, turn) else { break };
            self.device.accept(at, since, bytes, pipe, |place| *place = packet);
        }
    }

    /// Accounts for what has left the device, and lets FQ-CoDel refill it.
    #[inline]
    pub fn settle<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        if self.above.is_idle() {
            self.device.settle(turn, pipe);
        } else {
            self.settle_both(turn, pipe);
        }
    }

    #[inline(never)]
    fn settle_both<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        while let Some(departed) = self.device.settle_next(turn, pipe) {
            // A device that has run empty asks again when the next packet arrives.
            if self.device.packets(pipe) > 0 {
                self.fill_device(departed, turn, pipe);
            }
        }
    }

    /// The first packet of the ring arrives at the far end.
    #[inline]
    pub fn deliver<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        if !self.above.is_idle() {
            self.settle_both(turn, pipe);
        }
        self.device.deliver(turn, pipe);
    }

    /// Handles a step of the rate.
    #[inline]
    pub fn advance<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        if self.device.next_event() <= turn.now {
            self.settle(turn, pipe);
            self.device.advance(turn, pipe);
        }
    }

    /// Bytes of the packet in service that have been sent already.
    pub fn partly_served(&self, now: Time, pipe: &Pipe) -> f64 {
        self.device.partly_served(now, pipe)
    }

    /// Shows the size and the arrival time of each packet that waits or is in service, once all that has left
    /// is settled.
    pub fn each_waiting(&self, pipe: &Pipe, mut show: impl FnMut(u32, Time)) {
        self.above.each_waiting(&mut |waiting: &Waiting| show(waiting.bytes, waiting.since));
        self.device.each_waiting(pipe, show);
    }

    /// The packets and bytes that wait or are in service, once all that has left is settled.
    pub fn backlog(&self, pipe: &Pipe) -> Backlog {
        let (above, device) = (self.above.backlog(), self.device.backlog(pipe));
        Backlog { packets: above.packets + device.packets, bytes: above.bytes + device.bytes }
    }

    /// When at most `packets` wait or are in service, once all that has left is settled. CoDel may drop
    /// packets at each departure, so while packets wait in FQ-CoDel and there are too many, the answer is the
    /// next departure or step of the rate.
    pub fn time_below(&self, now: Time, packets: u64, pipe: &Pipe) -> Time {
        let above = self.above.backlog().packets;
        if above == 0 {
            self.device.time_below(now, packets, pipe)
        } else if self.backlog(pipe).packets <= packets {
            now
        } else {
            self.device.time_of_change(pipe)
        }
    }
}
