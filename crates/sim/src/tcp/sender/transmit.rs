//! Sending: which segments leave, and when.

use super::{Detector, Handshake, Outgoing, Sender, TailProbe};
use crate::packet::Data;
use crate::tap::{FlowEvent, Tap};
use crate::tcp::send_buffer::Progress;
use crate::tcp::ticks::Timer;
use crate::turn::Turn;
use cwndlab_cc::{Control, Event, Phase, Rate, SendLimit, Span, Time};

impl Sender {
    /// Sends what window, pacing, receiver and host queue allow.
    pub(super) fn send<T: Tap>(&mut self, turn: &mut Turn<T>) {
        let now = turn.now;
        if self.connection != Handshake::Open {
            return;
        }
        if self.board.outstanding() == 0 {
            self.restart_after_idle(now);
        }
        let control = self.cc.control();
        self.note_window(turn, control.cwnd);
        let window = self.window_segments(&control);
        self.view[0].window = control.shown_window;
        let sent_before = turn.outbox.len();
        let mut at_once = std::mem::take(&mut self.retransmit_at_once);
        let held = self.held_back();
        self.held_by_host = false;
        let paced = control.pacing_rate.is_some();
        let most_at_once = if paced { self.segments_at_once(&control) } else { 1 };
        let mut handed_over = 0;
        let mut pipe = self.board.pipe();
        let limit = loop {
            if pipe + held >= window && !at_once {
                break SendLimit::Window;
            }
            if turn.outbox.len() - sent_before >= turn.room as usize {
                self.held_by_host = true;
                break SendLimit::Window;
            }
            if paced && handed_over == 0 && self.facts.next_departure > now {
                self.timers.pacing = self.facts.next_departure;
                break SendLimit::Window;
            }
            match self.next_segment() {
                Ok(lost) => self.transmit(turn, lost, pipe, control.pacing_rate),
                Err(limit) => break limit,
            }
            pipe += 1;
            debug_assert_eq!(pipe, self.board.pipe(), "what was lost and is sent again is in flight again");
            if paced {
                handed_over = if handed_over + 1 < most_at_once { handed_over + 1 } else { 0 };
            }
            at_once = false;
        };
        if self.supply.is_buffered() && self.written_more(turn, sent_before, window, limit) {
            return self.send(turn);
        }
        if self.supply.pushes_bursts()
            && let Some(Outgoing::Segment { data, .. }) =
                turn.outbox.get_mut(sent_before..).and_then(<[_]>::last_mut)
        {
            data.push = true;
        }
        self.note_usage(limit);
        self.schedule_probe(now);
    }

    /// After sending: the application writes into the send buffer again if there is room. Whether it wrote, and only data
    /// were missing to send more.
    #[cold]
    #[inline(never)]
    fn written_more<T: Tap>(
        &mut self,
        turn: &mut Turn<T>,
        sent_before: usize,
        window: u32,
        limit: SendLimit,
    ) -> bool {
        self.push_refills(turn, sent_before);
        let (Some(buffer), Some(stream)) = (&mut self.send_buffer, self.supply.stream_mut()) else {
            return false;
        };
        let is_new = |outgoing: &&Outgoing| matches!(outgoing, Outgoing::Segment { resent: false, .. });
        let new = turn.outbox[sent_before..].iter().filter(is_new).count() as u32;
        turn.room = turn.room.saturating_sub((turn.outbox.len() - sent_before) as u32);
        let (una, next, pipe) = (self.board.una(), self.board.next(), self.board.pipe());
        let starved = limit == SendLimit::Application;
        let more = match self.cc.control().pacing_rate {
            _ if !starved => 0,
            Some(_) => 1,
            None => window - pipe.min(window),
        };
        let wrote = buffer.on_sent(
            stream,
            &Progress {
                una,
                merged: self.board.sacked_neighbours(),
                may_leave: next.saturating_add(more).min(self.peer.window_end),
                window,
                unused: pipe.saturating_sub(new.saturating_sub(1)) < window,
                receive_window: self.peer.window_end.saturating_sub(una),
            },
        );
        wrote && starved
    }

    /// Sets PSH on the segments since `sent_before` after which the application waited for room in the send buffer.
    fn push_refills<T: Tap>(&self, turn: &mut Turn<T>, sent_before: usize) {
        let Some(buffer) = &self.send_buffer else { return };
        for outgoing in &mut turn.outbox[sent_before..] {
            if let Outgoing::Segment { data, .. } = outgoing {
                data.push |= buffer.pushes(data.seq);
            }
        }
    }

    /// Segments of the window that must stay unused: without limited transmit (RFC 3042), those that
    /// duplicate ACKs report as arrived, until a loss is detected.
    #[inline]
    fn held_back(&self) -> u32 {
        let held = self.facts.phase == Phase::Disorder && !self.options.limited_transmit;
        if held { self.board.sacked() } else { 0 }
    }

    #[inline]
    fn note_window<T: Tap>(&mut self, turn: &mut Turn<T>, bytes: u64) {
        let window = self.in_segments(bytes);
        self.window_bytes = bytes;
        if window != self.window {
            self.window = window;
            turn.emit(FlowEvent::WindowChanged { segments: window });
        }
    }

    /// RFC 6675 section 5 NextSeg: lost segments first (`Some`), then new data (`None`).
    fn next_segment(&mut self) -> Result<Option<u32>, SendLimit> {
        if let Some(seq) = self.board.next_lost() {
            return Ok(Some(seq));
        }
        self.supply.offer(self.board.next(), self.peer.window_end).map(|()| None)
    }

    /// Sends a lost segment again, or a new one; `pipe` is what is in flight before it.
    #[inline(always)]
    fn transmit<T: Tap>(&mut self, turn: &mut Turn<T>, lost: Option<u32>, pipe: u32, pacing: Option<Rate>) {
        let now = turn.now;
        let record = self.rate.record(now);
        let (seq, payload) = match lost {
            Some(seq) => {
                self.board.send_again(seq, record);
                self.note_resent(seq, record.order, now);
                (seq, self.supply.payload_again(seq))
            }
            None => {
                if self.facts.phase == Phase::Disorder {
                    self.limited_transmit += 1;
                }
                let seq = self.board.send_new(record);
                (seq, self.supply.take(seq))
            }
        };
        self.board.note(seq, || self.rate.snapshot(now, pipe));
        // RFC 3168 section 6.1.2: CWR goes with the first new data after the reduction.
        let cwr = self.announce_reduction && lost.is_none();
        if cwr {
            self.announce_reduction = false;
        }
        let data =
            Data { seq, sent_at: now, echo: self.peer.timestamp, cwr, push: self.supply.ends_a_write(seq) };
        turn.leave(data, payload, lost.is_some());
        turn.emit(FlowEvent::Sent { seq, payload, resent: lost.is_some() });
        if let Some(prr) = self.prr() {
            prr.on_sent();
        }
        self.last_sent = now;
        if let Some(rate) = pacing {
            self.pace(now, rate.time_for(payload));
        }
        self.start_retransmit_timer(now);
        if self.needs.sent_packets {
            self.call(|cc, cx| cc.on_sent(cx, payload));
        }
    }

    /// A function of its own, because probes are rare.
    #[inline(never)]
    fn transmit_probe<T: Tap>(&mut self, turn: &mut Turn<T>, last: Option<u32>) {
        self.transmit(turn, last, self.board.pipe(), None);
    }

    fn note_resent(&mut self, seq: u32, order: u32, now: Time) {
        self.counters.resent += 1;
        self.undo.on_resent(now);
        if let Detector::Time(rack) = &mut self.detector {
            rack.on_resent(seq, order);
        }
        if self.options.timer_restart && seq == self.board.una() {
            self.retransmit_after(now, self.backed_off());
        }
    }

    /// A segment leaves now, and the next one `gap` later. If this one left late, the next one comes earlier,
    /// but by no more than half of the gap (Linux `tcp_update_skb_after_send`).
    #[inline]
    fn pace(&mut self, now: Time, gap: Span) {
        let late = now.since(self.facts.next_departure);
        let gap = Span(gap.0 - late.0.min(gap.0 / 2));
        self.facts.next_departure = self.facts.next_departure.max(now) + gap;
    }

    /// How many segments a paced sender hands over at once: with segmentation offload its send quantum (Linux
    /// `tcp_tso_autosize`), without it one.
    #[inline]
    fn segments_at_once(&self, control: &Control) -> u64 {
        let many = self.options.segmentation_offload;
        if many { (control.send_quantum / self.facts.mss).max(1) } else { 1 }
    }

    /// The sender's turn at the host's queue comes at `until`.
    pub fn wait_for_host(&mut self, until: Time) {
        self.timers.host = until;
    }

    /// Whether a segment could leave if the host's queue had room.
    #[must_use]
    pub fn is_held_by_host(&mut self) -> bool {
        let control = self.cc.control();
        self.held_by_host
            && self.connection == Handshake::Open
            && self.board.pipe() + self.held_back() < self.window_segments(&control)
            && self.next_segment().is_ok()
    }

    /// RFC 8985 section 7.3: new data if there are any, else the last segment again.
    pub(super) fn send_probe<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.timers.probe = Timer::OFF;
        let last = match self.next_segment() {
            Ok(None) => None,
            Ok(Some(_)) => return,
            Err(_) if self.board.outstanding() > 0 => Some(self.board.next() - 1),
            Err(_) => return,
        };
        self.counters.probes += 1;
        turn.emit(FlowEvent::TailLossProbe);
        let sent_before = turn.outbox.len();
        self.transmit_probe(turn, last);
        self.push_refills(turn, sent_before);
        self.probe = Some(TailProbe { end: self.board.next(), resent: last.is_some() });
        self.retransmit_after(turn.now, self.facts.rtt.rto);
    }

    /// RFC 7661: was the window the limit at any time of this round?
    #[inline(always)]
    fn note_usage(&mut self, limit: SendLimit) {
        self.facts.limited_by = limit;
        if let Some(distributor) = self.supply.distributor() {
            distributor.note_limit(limit);
        }
        let limited = limit == SendLimit::Window;
        if limit == SendLimit::Application && self.board.lost() == 0 {
            self.rate.limit_by_application(self.board.pipe());
        }
        if limited || self.board.una() >= self.usage.round_end {
            self.usage.limited = limited;
            self.usage.round_end = self.board.next();
        }
        self.facts.window_limited = self.usage.limited || !self.options.window_validation;
    }

    /// RFC 2861: a silence longer than the RTO makes the window stale.
    #[inline(never)]
    fn restart_after_idle(&mut self, now: Time) {
        let idle = now.since(self.last_sent);
        let silent = self.rate.sent() > 0 && idle > self.facts.rtt.rto;
        if silent
            && self.options.window_validation
            && self.facts.phase == Phase::Open
            && self.next_segment().is_ok()
        {
            self.call(|cc, cx| cc.on_event(cx, Event::IdleRestart(idle)));
        }
    }
}
