//! What the simulation does only for the subflows of a multipath connection.

use super::Sim;
use crate::event::Component;
use crate::flow::SubflowPlace;
use crate::packet::{Data, EcnField};
use crate::tap::{ConnectionEvent, Tap};
use crate::turn::Turn;
use std::ops::Range;

impl<T: Tap> Sim<T> {
    /// Lends the sender of a subflow its connection's data for an event, or takes them back.
    #[inline]
    pub(super) fn exchange_data(&mut self, index: usize) {
        if let Some(place) = self.flows[index].place {
            self.exchange(index, place);
        }
    }

    #[inline(never)]
    fn exchange(&mut self, index: usize, place: SubflowPlace) {
        let connection = &mut self.connections[place.connection as usize];
        if let Some(distributor) = &mut connection.distributor {
            distributor.pass_to(self.now, place.subflow as usize);
        }
        self.flows[index].sender.exchange(&mut connection.distributor);
    }

    /// A segment arrives on a subflow.
    #[inline(never)]
    pub(super) fn receive_on_subflow(
        &mut self,
        index: usize,
        place: SubflowPlace,
        data: Data,
        ecn: EcnField,
    ) {
        let flow = &mut self.flows[index];
        let before = flow.receiver.next();
        // The subflow cannot tell whether the application reads the segment at once; its connection can.
        let must_answer = flow.on_data(self.now, &Data { push: false, ..data }, ecn);
        let segments = before..flow.receiver.next();
        if data.push && !segments.is_empty() {
            flow.receiver.note_push();
        }
        let has_read_all = self.pass_up(place, segments);
        if must_answer {
            self.answer_at_once(index);
        }
        if has_read_all {
            self.acknowledge_what_was_read(place);
        }
    }

    /// Passes the segments that a subflow has in order up to its connection; returns whether the application then reads
    /// something, and no data wait.
    fn pass_up(&mut self, place: SubflowPlace, segments: Range<u32>) -> bool {
        if segments.is_empty() {
            return false;
        }
        let Self { connections, flows, tap, now, .. } = self;
        let connection = &mut connections[place.connection as usize];
        let before = connection.reassembly.next();
        let subflows = &mut flows[connection.flows.clone()];
        let rtt = || subflows.iter().map(|flow| flow.receiver.rtt()).max().unwrap_or_default();
        let on_waiting = |segments| {
            tap.on_connection(*now, place.connection, ConnectionEvent::WaitingChanged { segments });
        };
        let brought = connection.deliver(*now, place.subflow as usize, segments, rtt, on_waiting);
        if let Some(space) = connection.grown_space() {
            subflows.iter_mut().for_each(|flow| flow.receiver.follow(space));
        }
        subflows[place.subflow as usize].note_brought(brought);
        if connection.has_all() {
            subflows.iter_mut().for_each(|flow| flow.complete(*now));
        }
        connection.reassembly.next() > before && connection.reassembly.waiting() == 0
    }

    /// Linux mptcp_cleanup_rbuf: when the application has read everything, each subflow that holds back the ACK of a segment
    /// with PSH sends it. While data wait for earlier ones on another path, such an ACK is delayed like any other.
    fn acknowledge_what_was_read(&mut self, place: SubflowPlace) {
        for sibling in self.connections[place.connection as usize].flows.clone() {
            if self.flows[sibling].receiver.is_due_when_read() {
                self.answer_at_once(sibling);
                self.schedule_flow(sibling);
            }
        }
    }

    /// The other subflows join once data of the first are acknowledged: only then is the peer known to have
    /// the connection's keys (RFC 8684 section 3.1; Linux `check_fully_established`).
    fn join_others(&mut self, connection: usize) {
        self.connections[connection].is_established = true;
        for sibling in self.connections[connection].flows.clone().skip(1) {
            self.flows[sibling].join(self.now);
            self.schedule_flow(sibling);
        }
    }

    /// A subflow's event is over: wakes the siblings that it gave something to do, and ends the connection
    /// with its last acknowledgement.
    #[inline(never)]
    pub(super) fn after_subflow(&mut self, index: usize, place: SubflowPlace) {
        self.exchange(index, place);
        let connection = place.connection as usize;
        let is_established = self.connections[connection].is_established;
        if !is_established
            && !self.connections[connection].has_all()
            && self.flows[index].sender.has_acknowledged()
        {
            self.join_others(connection);
        }
        while let Some(subflow) = self.to_wake(connection) {
            let sibling = self.connections[connection].flows.start + subflow;
            self.exchange_data(sibling);
            let room = self.room(sibling);
            let Self { flows, outbox, tap, now, .. } = self;
            let turn = &mut Turn { now: *now, room, outbox, tap, flow: sibling as u32, way_out: None };
            flows[sibling].sender.wake(turn);
            self.send_outbox(sibling);
            self.exchange_data(sibling);
        }
        let connection = &self.connections[connection];
        let finished = connection.is_finished();
        if connection.has_all() {
            self.end_connection(connection.flows.clone(), finished);
        }
    }

    fn to_wake(&self, connection: usize) -> Option<usize> {
        self.connections[connection].distributor.as_ref()?.to_wake()
    }

    /// All data of the connection have arrived; once the sender knows that (`finished`), it sends nothing
    /// more.
    fn end_connection(&mut self, subflows: Range<usize>, finished: bool) {
        for index in subflows {
            self.flows[index].complete(self.now);
            if finished {
                self.flows[index].close();
                self.events.forget(self.first_flow + index as Component);
            }
        }
    }
}
