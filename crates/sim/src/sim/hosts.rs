//! Senders that share a host's queue, and their turns.

use super::Sim;
use crate::tap::Tap;

impl<T: Tap> Sim<T> {
    /// Segments that the host's queue still takes from this sender.
    #[inline(always)]
    pub(super) fn room(&mut self, index: usize) -> u32 {
        self.flows[index].routes.host.map_or(u32::MAX, |host| self.room_at(host, index))
    }

    #[inline(never)]
    fn room_at(&mut self, host: u32, index: usize) -> u32 {
        let backlog = self.settled(self.hosts[host as usize].link).backlog().packets;
        let packets = self.hosts[host as usize].room(index as u32, backlog);
        // All fragments of a segment go into a queue that has room for one of them.
        packets.div_ceil(self.flows[index].fragments)
    }

    /// A sender has acted; what it sent is not in the queue yet.
    #[inline]
    pub(super) fn end_turn(&mut self, index: usize, host: u32) {
        let backlog = self.settled(self.hosts[host as usize].link).backlog().packets;
        if self.hosts[host as usize].end_turn(index as u32, backlog) {
            self.flows[index].waits_for_host = false;
        }
    }

    /// A new flow has taken the index of one that may have been the first in line.
    pub(super) fn pass_on_turn(&mut self, index: usize) {
        if let Some(host) = self.flows[index].routes.host {
            self.hosts[host as usize].look_again();
            self.wake_first(host);
        }
    }

    /// A sender that could send more joins the line; the first in line is woken when there is room.
    #[inline]
    pub(super) fn wait_for_turn(&mut self, index: usize, host: u32) {
        let flow = &mut self.flows[index];
        if !flow.waits_for_host && flow.sender.is_held_by_host() {
            flow.waits_for_host = true;
            self.hosts[host as usize].wait(index as u32, flow.generation);
        }
        self.wake_first(host);
    }

    /// Has the first in line woken when the queue has room. The time may be too early: then the sender asks
    /// again.
    fn wake_first(&mut self, host: u32) {
        let (now, most) = (self.now, self.hosts[host as usize].packets - 1);
        let until = self.settled(self.hosts[host as usize].link).time_below(now, most);
        let Self { hosts, flows, .. } = self;
        let host = &mut hosts[host as usize];
        let Some(first) = host.wake_first(until, |flow| flows[flow as usize].generation) else { return };
        let flow = &mut flows[first as usize];
        flow.sender.wait_for_host(until);
        flow.refresh_due();
        self.schedule_flow(first as usize);
    }
}
