//! Lookahead: segments that have reached their receiver are handled many at a time.
//!
//! The first thing that follows from the arrival of a segment is an ACK, and an ACK needs at least the delay
//! of its route. For this long an arrival may wait: it is the lookahead of parallel simulation (Fujimoto 1990).
//! Then the link handles all packets that have arrived, each at its own time and in order, in one event.
//! Whatever sees the state of a receiver catches up first, so results are the same to the bit as with an event
//! for each packet. An arrival may start a timer of its receiver that is due before the current event. The loop
//! handles that timer next, at its own time: only there does time step back.
//!
//! What the receiver of a multipath connection answers depends on what has arrived on all paths. The links that bring
//! its data are therefore handled together, in the order of all their arrivals.

use super::Sim;
use crate::arrivals::Arrivals;
use crate::event::{Component, Entry, NOTHING};
use crate::flow::{Answer, Flow, SubflowPlace};
use crate::link::Link;
use crate::mptcp::Connection;
use crate::tap::Tap;
use crate::turn::LinkTurn;
use cwndlab_cc::{Span, Time};
use std::ops::Range;
use std::sync::Arc;

impl<T: Tap> Sim<T> {
    /// Whether arrivals may wait: not if the tap wants events in the order of their times, across components.
    pub(super) const LOOKS_AHEAD: bool = !T::IN_ORDER && !T::DETAILED;

    /// Gives each link the longest lookahead that it can have.
    pub(super) fn look_ahead(&mut self) {
        if Self::LOOKS_AHEAD {
            let lookaheads = lookaheads(self.links.len(), &self.flows, &self.arrivals);
            self.together = together(self.links.len(), &self.flows, &self.connections);
            for (link, together) in self.links.iter_mut().zip(&self.together) {
                let least = together.iter().map(|&link| lookaheads[link as usize]).min();
                link.look_ahead(least.unwrap_or(Span::ZERO));
            }
        }
    }

    /// The event of a link.
    #[inline(always)]
    pub(super) fn handle_link(&mut self, link: Component) {
        if self.links[link as usize].looks_ahead() {
            return self.replay_all(link, self.now);
        }
        self.serve(link);
        self.receive_from(link);
        self.schedule_link(link as usize);
    }

    /// Does what has been due by `until` on a link, and on those that are handled together with it.
    #[inline]
    fn replay_all(&mut self, link: Component, until: Time) {
        if self.together[link as usize].len() == 1 {
            self.replay(link, until);
        } else {
            self.replay_together(link, until);
        }
    }

    #[inline(never)]
    fn replay_together(&mut self, link: Component, until: Time) {
        let now = self.now;
        let together = Arc::clone(&self.together[link as usize]);
        loop {
            // What happens on one link does not change when the others are due.
            let [(mut due, link), turn] = first_two(&self.links, &together);
            if due > until {
                break;
            }
            while due <= until && (due, link) < turn {
                self.now = due;
                if self.links[link as usize].next_service() <= due {
                    self.serve(link);
                }
                self.receive_from(link);
                due = self.links[link as usize].due();
            }
        }
        self.now = now;
        together.iter().for_each(|&link| self.schedule_link(link as usize));
    }

    /// Does what has been due on a link by `until`, each at its own time.
    #[inline]
    fn replay(&mut self, link: Component, until: Time) {
        let now = self.now;
        loop {
            let service = self.links[link as usize].next_service();
            if service > until {
                break;
            }
            self.receive_until(link, service - Span(1));
            self.now = service;
            self.serve(link);
            self.receive_from(link);
        }
        self.receive_until(link, until);
        self.now = now;
        self.schedule_link(link as usize);
    }

    /// Handles what has arrived by `until`; returns whether there was anything.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, until: Time) -> bool {
        let handled = self.handled;
        for link in 0..self.links.len() as Component {
            self.catch_up_on(link, until);
        }
        self.handled > handled
    }

    /// Handles what has arrived for this flow by now.
    #[inline(never)]
    pub(super) fn catch_up_with(&mut self, flow: usize) {
        if let Some(link) = self.flows[flow].routes.data.last() {
            self.catch_up_on(link, self.now);
        }
    }

    fn catch_up_on(&mut self, link: Component, until: Time) {
        let Self { links, together, .. } = self;
        let is_due = |link: &Component| links[*link as usize].due() <= until;
        if links[link as usize].looks_ahead() && together[link as usize].iter().any(is_due) {
            self.replay_all(link, until);
        }
    }

    /// Before a segment arrives for a subflow, timers of its connection's receivers expire that were due earlier.
    #[inline(always)]
    pub(super) fn expire_siblings_timers(&mut self, place: SubflowPlace) {
        let subflows = self.connections[place.connection as usize].flows.clone();
        if self.flows[subflows.clone()].iter().any(|flow| flow.receiver.next_timer() < self.now) {
            self.expire_earlier_timers(subflows);
        }
    }

    #[inline(never)]
    fn expire_earlier_timers(&mut self, subflows: Range<usize>) {
        for index in subflows {
            if self.flows[index].receiver.next_timer() < self.now {
                self.expire_timers(index, self.now - Span(1));
                self.schedule_flow(index);
            }
        }
    }

    /// Timers of a receiver that are due by `until` expire, each at its own time.
    #[cold]
    pub(super) fn expire_timers(&mut self, flow: usize, until: Time) {
        let now = self.now;
        while self.flows[flow].receiver.next_timer() <= until {
            self.now = self.flows[flow].receiver.next_timer();
            self.handled += 1;
            if let Some(header) = self.flows[flow].receiver.on_timer(self.now) {
                self.answer(flow, Answer::Ack(header));
            }
        }
        self.now = now;
    }

    #[inline(always)]
    fn serve(&mut self, link: Component) {
        let Self { links, tap, now, .. } = self;
        links[link as usize].serve(&mut LinkTurn { now: *now, tap, link });
    }
}

/// The two of these links that are due first, with their times.
#[inline(always)]
fn first_two(links: &[Link], among: &[Component]) -> [Entry; 2] {
    let [mut first, mut second] = [NOTHING; 2];
    for &link in among {
        let entry = (links[link as usize].due(), link);
        if entry < first {
            (first, second) = (entry, first);
        } else if entry < second {
            second = entry;
        }
    }
    [first, second]
}

/// The lookahead of each link by itself: the smallest constant delay of the ACKs of all flows whose last link it is. A
/// link that passes packets on or brings ACKs has none.
fn lookaheads(links: usize, flows: &[Flow], arrivals: &[Arrivals]) -> Vec<Span> {
    let mut least = vec![Span(u64::MAX); links];
    for routes in
        flows.iter().map(|flow| &flow.routes).chain(arrivals.iter().map(|arrivals| &arrivals.routes))
    {
        let after = |link: u32| {
            let ends_here = routes.data.last() == Some(link) && routes.acks.first().is_none();
            if ends_here { routes.acks.constant_delay() } else { Span::ZERO }
        };
        for &link in routes.data.links().iter().chain(routes.acks.links()) {
            least[link as usize] = least[link as usize].min(after(link));
        }
    }
    least
}

/// The links that are handled together with each link, in order: those that bring data of the same multipath
/// connections.
fn together(links: usize, flows: &[Flow], connections: &[Connection]) -> Vec<Arc<[Component]>> {
    // For each link, the first link of those that are together with it so far.
    let mut first: Vec<Component> = (0..links as Component).collect();
    for connection in connections {
        let last: Vec<u32> =
            flows[connection.flows.clone()].iter().filter_map(|flow| flow.routes.data.last()).collect();
        let joined: Vec<Component> = last.iter().map(|&link| first[link as usize]).collect();
        if let Some(&least) = joined.iter().min() {
            first.iter_mut().filter(|link| joined.contains(link)).for_each(|link| *link = least);
        }
    }
    let members = |of: Component| -> Arc<[Component]> {
        (0..links as Component).filter(|&link| first[link as usize] == of).collect()
    };
    first.iter().map(|&of| members(of)).collect()
}
