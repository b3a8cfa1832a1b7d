//! Processing an acknowledgement: SACK, RTT, rate sample, loss detection, then the controller.

use super::{Detector, Sender};
use crate::packet::AckHeader;
use crate::tap::{FlowEvent, Tap};
use crate::tcp::rack::{self, DUP_THRESH};
use crate::tcp::scoreboard::{Delivered, Record};
use crate::turn::Turn;
use cwndlab_cc::{Ack, Decision, Lost, Phase, Span, Time};

/// What one ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    segments: u32,
    /// The segment sent last: its index and the number of its transmission. Its record is valid until the next send.
    newest: Option<(u32, u32)>,
    /// Send time of the oldest segment that was sent only once: of those acknowledged in order, and of those SACKed.
    first_in_order: Option<Time>,
    first_sacked: Option<Time>,
    /// Send time of the newest segment that was sent only once.
    last_once: Option<Time>,
    /// At least one of the segments had been resent.
    resent: bool,
    /// At least one of the segments was SACKed.
    sacked: bool,
    /// How far a segment that was sent only once came out of order, in segments; the largest distance.
    reordered_by: u32,
}

impl Arrived {
    #[inline]
    fn count(&mut self, record: &Record, segment: Delivered) {
        self.segments += 1;
        if self.newest.is_none_or(|(_, order)| record.order > order) {
            self.newest = Some((segment.seq, record.order));
        }
        self.resent |= segment.resent;
        if !segment.resent {
            self.last_once = self.last_once.max(Some(record.sent_at));
        }
    }

    /// `highest` is one past the highest segment SACKed before.
    #[inline]
    fn note_order(&mut self, segment: Delivered, highest: u32) {
        if !segment.resent {
            self.reordered_by = self.reordered_by.max(highest.saturating_sub(segment.seq));
        }
    }
}

impl Sender {
    /// An ACK arrives. After [`Decision::Due`] the caller lets the agent act, then calls
    /// [`Sender::finish_decision`].
    pub fn on_ack<T: Tap>(&mut self, turn: &mut Turn<T>, header: &AckHeader) -> Decision {
        let now = turn.now;
        let una = self.board.una();
        // An ACK that was overtaken may still bring SACK blocks (Linux old_ack); without them it has no news.
        if header.cumulative < una && header.sack[0].end == 0 {
            return Decision::NotDue;
        }
        self.facts.now = now;
        let prior_in_flight = self.board.pipe();
        let lost_before = self.rate.lost;

        let mut arrived = Arrived::default();
        self.deliver(now, header, &mut arrived);
        self.facts.flight_size = self.flight_size();
        let advanced = self.board.una() - una;
        let ce = header.ce_count.saturating_sub(self.peer.ce_count);
        self.rate.ce += ce;
        self.peer.ce_count += ce;
        self.peer.timestamp = self.peer.timestamp.max(header.sent_at);
        self.peer.window_end = self.peer.window_end.max(header.cumulative.saturating_add(header.window));
        let acknowledged = u64::from(advanced) * self.facts.mss;
        self.distances.on_acknowledged(&mut self.view[0], acknowledged, self.facts.phase);
        if let Some(distributor) = self.supply.distributor() {
            distributor.on_ack(header.cumulative, header.window);
            self.view[0].usable |= arrived.segments > 0;
        }

        let rtt = self.sample_rtt(turn, header, &arrived, advanced);
        let tail_probe = self.answer_probe(turn, header, advanced);
        let again = self.detect_losses(turn);
        self.change_phase(turn, header, advanced, arrived.segments);

        let lost = self.rate.lost - lost_before;
        let mss = self.facts.mss;
        let bytes = |segments: u32| u64::from(segments) * mss;
        let Self { rate, board, .. } = self;
        let sample = arrived.newest.and_then(|(seq, _)| {
            let snapshot = board.snapshot(seq)?;
            Some(rate.sample(now, board.record(seq).sent_at, snapshot, mss))
        });
        let ack = Ack {
            acked: bytes(arrived.segments),
            advanced: bytes(advanced),
            lost: bytes(lost),
            ce: bytes(ce.min(arrived.segments)),
            prior_in_flight: bytes(prior_in_flight),
            delivered: bytes(self.rate.delivered),
            rtt,
            delayed: header.delayed,
            tail_probe,
            unordered_growth: arrived.sacked
                && matches!(&self.detector, Detector::Time(rack) if rack.grows_unordered()),
            // An interval below the minimum RTT means that the original arrived, not the retransmission.
            sample: sample
                .filter(|sample| sample.interval >= self.facts.rtt.minimum && sample.interval > Span::ZERO),
        };
        if advanced > 0 {
            self.restart_retransmit_timer(now, rtt.is_some());
        }
        self.look_again(now, again);
        let decision = self.call(|cc, cx| cc.on_ack(cx, &ack));
        let pipe = self.board.pipe();
        if arrived.segments > 0
            && let Some(prr) = self.prr()
        {
            prr.on_ack(arrived.segments, pipe, advanced > 0 && lost == 0);
        }
        turn.emit(FlowEvent::Acked { segments: arrived.segments, advanced, in_flight: pipe });
        self.go_on(decision, turn, Self::send)
    }

    /// Updates the scoreboard.
    #[inline(always)]
    fn deliver(&mut self, now: Time, header: &AckHeader, arrived: &mut Arrived) {
        let una = self.board.una();
        // The highest SACKed before this ACK: within one ACK nothing is out of order (Linux: prior_fack).
        let highest = if self.board.sacked() > 0 { self.board.highest_sacked() } else { 0 };
        // Empty blocks come after the others.
        if self.options.sack && header.sack[0].end > 0 {
            self.take_blocks(now, header, highest, arrived);
        }
        if header.cumulative > una {
            if self.board.is_clean() {
                self.deliver_in_order(now, header.cumulative, arrived);
            } else {
                self.deliver_with_holes(now, header.cumulative, highest, arrived);
            }
        }
        if !self.options.sack && (self.board.una() == una || self.board.sacked() > 0) {
            self.count_duplicates(header, una, arrived);
        }
        if arrived.segments > 0 {
            self.rate.deliver(now, arrived.segments);
        }
        if arrived.reordered_by > 0
            && let Detector::Time(rack) = &mut self.detector
        {
            rack.on_reordering(arrived.reordered_by);
        }
    }

    #[inline(never)]
    fn take_blocks(&mut self, now: Time, header: &AckHeader, highest: u32, arrived: &mut Arrived) {
        if header.dsack {
            self.on_dsack(header.sack[0].start);
        }
        // In segment order (Linux tcp_sacktag_write_queue), because RACK takes its RTT from the last one.
        let mut sorted = header.sack;
        let used = sorted.iter().take_while(|block| block.end > 0).count();
        let blocks = &mut sorted[usize::from(header.dsack)..used];
        blocks.sort_unstable_by_key(|block| block.start);
        let min_rtt = self.facts.rtt.minimum;
        let Self { board, detector, .. } = self;
        for block in blocks.iter().filter(|block| block.end > block.start) {
            board.sack(block.start, block.end, |record, segment| {
                arrived.sacked = true;
                arrived.count(record, segment);
                arrived.note_order(segment, highest);
                if !segment.resent {
                    arrived.first_sacked =
                        Some(arrived.first_sacked.map_or(record.sent_at, |t| t.min(record.sent_at)));
                }
                advance(detector, record, segment.resent, min_rtt, now);
            });
        }
    }

    /// The common case: nothing is missing, so only the first and the last segment matter.
    #[inline]
    fn deliver_in_order(&mut self, now: Time, cumulative: u32, arrived: &mut Arrived) {
        let una = self.board.una();
        let cumulative = cumulative.min(self.board.next());
        let first = self.board.record(una).sent_at;
        let last = self.board.record(cumulative - 1);
        arrived.segments = cumulative - una;
        arrived.newest = Some((cumulative - 1, last.order));
        arrived.first_in_order = Some(first);
        arrived.last_once = Some(last.sent_at);
        advance(&mut self.detector, last, false, Span::ZERO, now);
        self.board.acknowledge_clean(cumulative);
    }

    #[inline(never)]
    fn deliver_with_holes(&mut self, now: Time, cumulative: u32, highest: u32, arrived: &mut Arrived) {
        let min_rtt = self.facts.rtt.minimum;
        let Self { board, detector, .. } = self;
        board.acknowledge(cumulative, |record, segment| {
            arrived.count(record, segment);
            arrived.note_order(segment, highest);
            if !segment.resent && arrived.first_in_order.is_none() {
                arrived.first_in_order = Some(record.sent_at);
            }
            advance(detector, record, segment.resent, min_rtt, now);
        });
    }

    /// Without SACK duplicate ACKs are counted in place of blocks (RFC 5681; Linux tcp_add_reno_sack).
    #[inline(never)]
    fn count_duplicates(&mut self, header: &AckHeader, una: u32, arrived: &mut Arrived) {
        let advanced = self.board.una() - una;
        if advanced > 0 {
            // A partial ACK covers the hole and the segments that arrived above it; the other duplicates still count.
            let mut counted = self.board.forget_duplicates(advanced - 1);
            if self.board.una() >= self.recovery_point {
                counted += self.board.forget_duplicates(u32::MAX);
            }
            // Each segment is delivered once: those already counted from duplicate ACKs are not new.
            arrived.segments = arrived.segments.saturating_sub(counted);
            self.board.limit_duplicates();
        } else if header.cumulative == una && self.board.outstanding() > 0 {
            self.board.count_duplicate();
            arrived.segments = 1;
        }
    }

    /// RFC 6298, with the samples that Linux takes: for SRTT from the oldest segment acknowledged, so that delayed ACKs
    /// count; for the controller from the newest. If all had been resent, timestamps give the sample (RFC 7323);
    /// without them there is no sample if any had been resent (RFC 6298 section 3: Karn's algorithm).
    fn sample_rtt<T: Tap>(
        &mut self,
        turn: &mut Turn<T>,
        header: &AckHeader,
        arrived: &Arrived,
        advanced: u32,
    ) -> Option<Span> {
        if arrived.resent && !self.options.timestamps {
            return None;
        }
        let by_echo = (advanced > 0 && header.echo > Time::ZERO).then_some(header.echo);
        let options = &self.options;
        // Without SACK, an ACK that covers what was resent also covers segments that had arrived long before it.
        let timed = options.sack || !arrived.resent;
        let in_order = arrived.first_in_order.filter(|_| timed);
        let oldest = in_order.or(arrived.first_sacked).or(by_echo.filter(|_| arrived.segments > 0))?;
        let smoothed = self.clock.between(oldest, turn.now);
        let newest = arrived.last_once.filter(|_| timed);
        let latest = newest.map_or(smoothed, |sent_at| self.clock.between(sent_at, turn.now));
        turn.emit(FlowEvent::RttSampled { before: &self.facts.rtt, latest });
        self.clock.sample(&mut self.facts.rtt, options, smoothed, latest);
        self.view[0].srtt = self.facts.rtt.smoothed;
        Some(latest)
    }

    /// Marks lost segments, reports them to a controller that asks for losses, and returns when to check again.
    #[inline]
    pub(super) fn detect_losses<T: Tap>(&mut self, turn: &mut Turn<T>) -> Option<Time> {
        if self.board.is_clean() && !self.is_overtaken() { None } else { self.look_for_losses(turn) }
    }

    #[inline(never)]
    fn look_for_losses<T: Tap>(&mut self, turn: &mut Turn<T>) -> Option<Time> {
        let now = turn.now;
        let mut marked = Vec::new();
        let wants_all = self.needs.lost_packets;
        let Self { board, detector, rate, facts, .. } = self;
        let mut lost = |seq: u32| {
            rate.lost += 1;
            turn.emit(FlowEvent::Lost { seq });
            if wants_all {
                marked.push((seq, rate.lost));
            }
        };
        let again = match detector {
            Detector::Time(rack) => {
                let recovering = matches!(facts.phase, Phase::Recovery | Phase::Loss);
                let at = rack::Now { now, min_rtt: facts.rtt.minimum, srtt: facts.rtt.smoothed, recovering };
                rack.detect(board, &at, &mut lost)
            }
            Detector::Count(rule) if self.options.sack => {
                rule.detect(board, &mut lost);
                None
            }
            Detector::Count(_) => None,
        };
        for (seq, total) in marked {
            self.report_lost(seq, total);
        }
        self.detect_without_sack(turn);
        again
    }

    /// On a clean board: whether the outstanding segments, each sent once, left before a retransmission that
    /// has arrived. In the Open phase this is not checked, as in Linux (`tcp_ack_is_dubious`): after an undo,
    /// the retransmission was superfluous.
    #[inline]
    fn is_overtaken(&self) -> bool {
        self.facts.phase != Phase::Open
            && self.board.outstanding() > 0
            && matches!(&self.detector, Detector::Time(rack) if rack.has_overtaken(self.board.record(self.board.una())))
    }

    /// Without SACK the third duplicate ACK marks the first segment (RFC 5681 section 3.2), once until
    /// `recovery_point` is acknowledged (RFC 6582 section 3.2, step 2).
    fn detect_without_sack<T: Tap>(&mut self, turn: &mut Turn<T>) {
        let una = self.board.una();
        let fresh = matches!(self.facts.phase, Phase::Open | Phase::Disorder) && una >= self.recovery_point;
        if !self.options.sack && fresh && self.board.sacked() >= DUP_THRESH {
            self.mark_lost(turn, una);
        }
    }

    /// Marks one segment, counts it and reports it to a controller that asks for losses.
    pub(super) fn mark_lost<T: Tap>(&mut self, turn: &mut Turn<T>, seq: u32) {
        if self.board.mark_lost(seq) {
            self.rate.lost += 1;
            turn.emit(FlowEvent::Lost { seq });
            if self.needs.lost_packets {
                self.report_lost(seq, self.rate.lost);
            }
        }
    }

    fn report_lost(&mut self, seq: u32, lost_total: u32) {
        let Some(&then) = self.board.snapshot(seq) else { return };
        let mss = self.facts.mss;
        let bytes = |segments: u32| u64::from(segments) * mss;
        let lost = Lost {
            bytes: mss,
            in_flight_at_send: bytes(then.in_flight),
            prior_delivered: bytes(then.delivered),
            prior_lost: bytes(then.lost),
            lost_total: bytes(lost_total),
            app_limited: then.app_limited,
        };
        self.call(|cc, cx| cc.on_lost(cx, &lost));
    }
}

/// Tells RACK about a delivered segment. If a resent one was acknowledged sooner than any round trip, the
/// original arrived.
#[inline]
fn advance(detector: &mut Detector, record: &Record, resent: bool, min_rtt: Span, now: Time) {
    if let Detector::Time(rack) = detector {
        let ambiguous = resent && now.since(record.sent_at) < min_rtt;
        rack.on_delivered(record, ambiguous, now);
    }
}
