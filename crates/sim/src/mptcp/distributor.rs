//! The sending side of the data level: which data each segment of each subflow carries, and which subflow gets the
//! next ones.

use super::options::{MptcpOptions, Scheduler};
use super::segments::Segments;
use crate::tcp::Stream;
use cwndlab_cc::{SendLimit, Span, SubflowView, Time};
use std::collections::VecDeque;

/// The data of a connection, shared out among its subflows. A subflow's sender holds it while it handles an event.
#[derive(Debug)]
pub struct Distributor {
    scheduler: Scheduler,
    push_bursts: bool,
    lanes: Vec<Lane>,
    views: Vec<SubflowView>,
    /// The subflow whose sender holds it.
    me: usize,
    /// The subflow whose turn it is (round-robin).
    turn: usize,
    /// The first segment of data that no subflow has sent.
    next: u32,
    /// All the data.
    stream: Stream,
    /// One past the last segment that the receiver has room for.
    edge: u32,
    acknowledged: Segments,
    /// Data of failed subflows, for others to send again, each with the subflow that failed.
    stranded: VecDeque<(u32, usize)>,
    reinjected: u64,
    /// How long the receive window held a subflow back, up to `blocked_until`.
    blocked: Span,
    blocked_until: Time,
}

/// The data that one subflow carries.
#[derive(Debug, Default)]
struct Lane {
    /// The data that its unacknowledged segments carry, in the subflow's order.
    carried: VecDeque<u32>,
    /// The subflow's own number of the first of these segments.
    first: u32,
    /// Its window has room, but the last time it asked there was nothing for it: no data, or no room at the receiver.
    waits: bool,
    /// All of its segments below this one have been given to others.
    given_up: u32,
}

impl Distributor {
    /// Shares out a stream among a number of subflows.
    #[must_use]
    pub fn new(options: &MptcpOptions, subflows: usize, stream: Stream) -> Self {
        Self {
            scheduler: options.scheduler,
            push_bursts: options.push_bursts,
            lanes: (0..subflows).map(|_| Lane::default()).collect(),
            views: vec![SubflowView { mss: stream.mss(), ..SubflowView::default() }; subflows],
            me: 0,
            turn: 0,
            next: 0,
            stream,
            edge: 0,
            acknowledged: Segments::default(),
            stranded: VecDeque::new(),
            reinjected: 0,
            blocked: Span::ZERO,
            blocked_until: Time::ZERO,
        }
    }

    /// The sender of this subflow takes it.
    #[inline]
    pub fn pass_to(&mut self, now: Time, subflow: usize) {
        // Nothing has changed since the last event, so the blocked time can be added up now.
        (self.blocked, self.blocked_until) = (self.blocked(now), now);
        self.me = subflow;
    }

    /// Stores the holder's view for its siblings; returns the views of all subflows and the holder's index.
    #[inline]
    pub fn show(&mut self, view: SubflowView) -> (&[SubflowView], usize) {
        self.views[self.me] = view;
        (&self.views, self.me)
    }

    /// Whether there is a segment for the holder to send now; if not, why.
    #[inline]
    pub fn offer(&self) -> Result<(), SendLimit> {
        self.offer_to(self.me)
    }

    fn offer_to(&self, subflow: usize) -> Result<(), SendLimit> {
        if !self.views[subflow].usable {
            return Err(SendLimit::Application);
        }
        if self.stranded_for(subflow).is_none() {
            self.new_data()?;
        }
        if self.comes_after_another(subflow) { Err(SendLimit::Application) } else { Ok(()) }
    }

    /// Whether there are unsent data, and room for them at the receiver.
    #[inline]
    fn new_data(&self) -> Result<(), SendLimit> {
        if !self.stream.has(self.next) {
            return Err(SendLimit::Application);
        }
        if self.next < self.edge { Ok(()) } else { Err(SendLimit::Receiver) }
    }

    /// Whether a sibling that also has room goes first.
    fn comes_after_another(&self, subflow: usize) -> bool {
        let rivals = |n: usize| n != subflow && self.lanes[n].waits && self.views[n].usable;
        let mut siblings = (0..self.lanes.len()).filter(|n| rivals(*n));
        match self.scheduler {
            // The scenario's check lets Linux's own scheduler through only to Linux.
            Scheduler::Saturate | Scheduler::Linux => false,
            Scheduler::MinRtt => siblings.any(|n| self.by_rtt(n) < self.by_rtt(subflow)),
            Scheduler::RoundRobin => siblings.any(|n| self.by_turn(n) < self.by_turn(subflow)),
        }
    }

    fn by_rtt(&self, subflow: usize) -> (u64, usize) {
        (self.views[subflow].srtt.0, subflow)
    }

    fn by_turn(&self, subflow: usize) -> usize {
        let subflows = self.lanes.len();
        (subflow + subflows - self.turn) % subflows
    }

    /// The first stranded segment that is not this subflow's own.
    fn stranded_for(&self, subflow: usize) -> Option<usize> {
        self.stranded.iter().position(|(_, failed)| *failed != subflow)
    }

    /// The holder sends the segment that was offered; returns its payload in bytes.
    pub fn take(&mut self) -> u64 {
        let me = self.me;
        self.turn = if me + 1 < self.lanes.len() { me + 1 } else { 0 };
        let stranded = self.stranded_for(me).and_then(|at| self.stranded.remove(at));
        let segment = match stranded {
            Some((segment, _)) => {
                self.reinjected += 1;
                segment
            }
            None => {
                self.next += 1;
                self.next - 1
            }
        };
        self.lanes[me].carried.push_back(segment);
        self.stream.payload(segment)
    }

    /// Notes what stopped the holder. If it waits for data or for room at the receiver, a sibling's event may
    /// bring them.
    #[inline]
    pub fn note_limit(&mut self, limit: SendLimit) {
        self.lanes[self.me].waits = limit != SendLimit::Window;
    }

    /// How long the receive window held back a subflow that had room in its own window.
    #[must_use]
    pub fn blocked(&self, now: Time) -> Span {
        let waits = |n: usize| self.lanes[n].waits && self.views[n].usable;
        let blocked = self.new_data() == Err(SendLimit::Receiver) && (0..self.lanes.len()).any(waits);
        if blocked { self.blocked + now.since(self.blocked_until) } else { self.blocked }
    }

    /// A waiting subflow that now has something to send.
    #[must_use]
    pub fn to_wake(&self) -> Option<usize> {
        (0..self.lanes.len()).find(|n| self.lanes[*n].waits && self.offer_to(*n).is_ok())
    }

    /// All of the holder's segments below `una` have arrived, and the receiver has room for data below `edge`. Data
    /// acknowledged in order on a subflow are acknowledged at the data level, because the receiver keeps them.
    pub fn on_ack(&mut self, una: u32, edge: u32) {
        self.edge = self.edge.max(edge);
        let lane = &mut self.lanes[self.me];
        while lane.first < una
            && let Some(segment) = lane.carried.pop_front()
        {
            self.acknowledged.insert(segment);
            lane.first += 1;
        }
        let acknowledged = &self.acknowledged;
        if !self.stranded.is_empty() {
            self.stranded.retain(|(segment, _)| !acknowledged.contains(*segment));
        }
    }

    /// The holder's retransmission timer expired: others are to send its unacknowledged data again, once.
    pub fn on_timeout(&mut self) {
        let lane = &mut self.lanes[self.me];
        let new = lane.given_up.saturating_sub(lane.first) as usize;
        let acknowledged = &self.acknowledged;
        let missing = lane.carried.iter().skip(new).filter(|segment| !acknowledged.contains(**segment));
        self.stranded.extend(missing.map(|segment| (*segment, self.me)));
        lane.given_up = lane.first + lane.carried.len() as u32;
    }

    /// No new data from now on.
    pub fn stop(&mut self) {
        self.stream.stop(self.next);
    }

    /// The data that a subflow's segments carry; none of them has been acknowledged.
    #[inline]
    pub fn carried(&self, subflow: usize, segments: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        let lane = &self.lanes[subflow];
        segments.map(|segment| lane.carried[(segment - lane.first) as usize])
    }

    /// The data that one of the holder's segments carries, unless they have been acknowledged.
    fn carried_by(&self, seq: u32) -> Option<u32> {
        let lane = &self.lanes[self.me];
        seq.checked_sub(lane.first).and_then(|at| lane.carried.get(at as usize)).copied()
    }

    /// Whether PSH ends every burst of a subflow.
    #[inline]
    #[must_use]
    pub fn pushes_bursts(&self) -> bool {
        self.push_bursts
    }

    /// Payload of one of the holder's segments, to be sent again.
    #[must_use]
    pub fn payload_again(&self, seq: u32) -> u64 {
        self.carried_by(seq).map_or(self.stream.mss(), |segment| self.stream.payload(segment))
    }

    /// Whether a write of the application ends with one of the holder's segments.
    #[must_use]
    pub fn ends_a_write(&self, seq: u32) -> bool {
        self.carried_by(seq).is_some_and(|segment| self.stream.ends_a_write(segment))
    }

    /// All the data.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// All data have been acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.stream.has(self.acknowledged.next())
    }

    /// Segments that were given to another subflow because theirs had failed.
    #[must_use]
    pub fn reinjected(&self) -> u64 {
        self.reinjected
    }
}
