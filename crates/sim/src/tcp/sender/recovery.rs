//! The phases of loss recovery: entering, leaving, timing out, taking back.

use super::{Detector, Probe, Sender};
use crate::packet::AckHeader;
use crate::tcp::options::Recovery;
use cwndlab_cc::{Event, Phase, Time};

/// What tells a spurious reduction (Linux undo_marker, undo_retrans, retrans_stamp).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// There is a reduction that could be taken back.
    possible: bool,
    /// When the first retransmission of this episode left.
    first_resent: Option<Time>,
    /// Retransmissions that no DSACK has called superfluous yet.
    unexplained: u32,
    /// At least one was.
    explained: bool,
}

impl Undo {
    fn begin() -> Self {
        Self { possible: true, ..Self::default() }
    }

    pub(super) fn on_resent(&mut self, now: Time) {
        if self.possible {
            self.first_resent.get_or_insert(now);
            self.unexplained += 1;
        }
    }

    pub(super) fn on_dsack(&mut self) {
        if self.possible && self.unexplained > 0 {
            self.unexplained -= 1;
            self.explained = true;
        }
    }

    /// RFC 3522: the segment that the ACK answers left before the first retransmission. Or, RFC 3708: every
    /// retransmission was reported as a duplicate.
    fn is_spurious(&self, header: &AckHeader, advanced: u32) -> bool {
        let by_timestamp = advanced > 0 && self.first_resent.is_some_and(|first| header.echo < first);
        let by_dsack = self.explained && self.unexplained == 0;
        self.possible && (by_timestamp || by_dsack)
    }
}

impl Sender {
    /// After an ACK: undo, leave, enter, in this order.
    pub(super) fn change_phase(&mut self, header: &AckHeader, advanced: u32) {
        let recovering = matches!(self.facts.phase, Phase::Recovery | Phase::Loss);
        if self.options.undo && self.undo.is_spurious(header, advanced) {
            self.take_back(recovering);
        } else if recovering && self.is_recovered(advanced) {
            self.leave();
        } else if recovering && !self.options.sack && advanced > 0 {
            // RFC 6582 section 3.2, step 3: a partial ACK means that the next segment is lost as well.
            let una = self.board.una();
            if self.board.outstanding() > 0 && self.board.mark_lost(una) {
                self.rate.lost += 1;
            }
        }
        if matches!(self.facts.phase, Phase::Open | Phase::Disorder) {
            if self.board.lost() > 0 {
                self.enter_recovery();
            } else {
                let disorder = self.board.sacked() > 0;
                self.facts.phase = if disorder { Phase::Disorder } else { Phase::Open };
            }
        }
        if header.ece {
            self.on_echo();
        }
    }

    fn is_recovered(&self, advanced: u32) -> bool {
        let plain_reno = self.options.recovery == Recovery::Reno && self.facts.phase == Phase::Recovery;
        self.board.una() >= self.recovery_point || (plain_reno && advanced > 0)
    }

    fn leave(&mut self) {
        self.call(|cc, cx| cc.on_event(cx, Event::Recovered));
        self.facts.phase = Phase::Open;
        self.prr = None;
        if let Detector::Time(rack) = &mut self.detector {
            rack.on_recovered();
        }
    }

    /// The last reduction was spurious: the controller restores its window, and nothing counts as lost.
    fn take_back(&mut self, recovering: bool) {
        self.undo = Undo::default();
        self.counters.undos += 1;
        self.board.unmark_lost();
        let una = self.board.una();
        match &mut self.detector {
            Detector::Time(rack) => rack.reconsider(una),
            Detector::Count(rule) => rule.reconsider(una),
        }
        self.call(|cc, cx| cc.on_event(cx, Event::Undo));
        if recovering {
            self.leave();
        }
    }

    pub(super) fn enter_recovery(&mut self) {
        self.undo = Undo::begin();
        self.counters.fast_recoveries += 1;
        self.note_loss();
        self.reduce(Event::LossRecovery);
    }

    /// Classic ECN (RFC 3168 section 6.1.2): once a round trip, as for a loss.
    fn on_echo(&mut self) {
        if matches!(self.facts.phase, Phase::Open | Phase::Disorder)
            && self.board.una() >= self.recovery_point
        {
            self.counters.ecn_reductions += 1;
            self.announce_reduction = true;
            self.reduce(Event::EcnReduction);
        }
    }

    fn reduce(&mut self, event: Event) {
        self.call(|cc, cx| cc.on_event(cx, event));
        self.facts.phase = Phase::Recovery;
        self.recovery_point = self.board.next();
        let ssthresh = (self.cc.control().cwnd / self.facts.mss).max(1) as u32;
        self.prr = self.begin_prr(ssthresh);
    }

    /// The retransmission timer expired (RFC 6298 section 5; RFC 8985 section 6.3 on what counts as lost).
    pub(super) fn time_out(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.facts.flight_size = u64::from(self.board.outstanding()) * self.facts.mss;
        self.mark_overdue(now);
        self.note_loss();
        if self.facts.phase != Phase::Loss {
            self.undo = Undo::begin();
        }
        self.call(|cc, cx| cc.on_event(cx, Event::Timeout));
        self.facts.phase = Phase::Loss;
        self.recovery_point = self.board.next();
        self.prr = None;
        self.probe = None;
    }

    fn mark_overdue(&mut self, now: Time) {
        if !self.options.sack {
            self.board.forget_duplicates(u32::MAX);
        }
        let una = self.board.una();
        for seq in una..self.board.next() {
            let record = *self.board.record(seq);
            let overdue = match &self.detector {
                Detector::Time(rack) => seq == una || rack.is_overdue(record.sent_at, now),
                Detector::Count(_) => true,
            };
            if overdue && !self.board.is_sacked(seq) && self.board.mark_lost(seq) {
                self.rate.lost += 1;
                if self.needs.lost_packets {
                    self.tell_lost(&record, self.rate.lost);
                }
            }
        }
    }

    /// For OLIA: what was delivered between the last two losses, and since the last.
    fn note_loss(&mut self) {
        let view = &mut self.view[0];
        view.between_losses = view.since_loss;
        view.since_loss = 0;
    }

    pub(super) fn on_dsack(&mut self) {
        self.undo.on_dsack();
        if let Some(probe) = &mut self.probe {
            // The probe arrived beside the original: no loss was hidden.
            probe.resent = false;
        }
        let (delivered, pipe) = (self.rate.delivered, self.board.pipe());
        if let Detector::Time(rack) = &mut self.detector {
            rack.on_dsack(delivered, pipe);
        }
    }

    /// RFC 8985 section 7.4: a probe that repaired a loss costs a reduction; says whether a probe was answered.
    pub(super) fn answer_probe(&mut self, header: &AckHeader) -> bool {
        let Some(Probe { end, resent }) = self.probe else { return false };
        if header.cumulative < end {
            return false;
        }
        self.probe = None;
        let open = matches!(self.facts.phase, Phase::Open | Phase::Disorder);
        if resent && !header.dsack && open {
            self.note_loss();
            self.reduce(Event::LossRecovery);
            self.leave();
        }
        true
    }
}
