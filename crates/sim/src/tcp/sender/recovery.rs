//! The phases of loss recovery: entering, leaving, timeouts, undo.

use super::distances::LossDistances;
use super::{Detector, Sender, TailProbe};
use crate::packet::AckHeader;
use crate::tap::{FlowEvent, Reduction, Tap};
use crate::tcp::options::Recovery;
use crate::tcp::scoreboard::Scoreboard;
use crate::turn::Turn;
use cwndlab_cc::{Event, Phase, Time};

/// The evidence for a spurious reduction (Linux undo_marker, undo_retrans, retrans_stamp).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The first segment that was outstanding at the reduction; `None` if no reduction can be undone.
    from: Option<u32>,
    /// When the first retransmission of this episode left.
    first_resent: Option<Time>,
    /// Retransmissions that no DSACK has reported as superfluous yet.
    unexplained: u32,
    /// A DSACK has reported at least one.
    explained: bool,
}

/// What proves that a reduction was spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// RFC 3522: the segment that the ACK answers left before the first retransmission. The ACK advances by
    /// this many segments.
    Timestamp { advanced: u32 },
    /// RFC 3708: every retransmission was reported as a duplicate.
    Duplicates,
}

impl Undo {
    /// Retransmissions of an earlier episode may still be in flight; their ACKs prove nothing about this one
    /// (Linux tcp_init_undo counts retrans_out, and keeps retrans_stamp while a retransmission is in flight).
    fn begin(board: &Scoreboard) -> Self {
        let from = Some(board.una());
        if board.resent() == 0 {
            return Self { from, ..Self::default() };
        }
        let resent = (board.una()..board.next()).filter(|seq| board.is_resent(*seq));
        let first_resent = resent.map(|seq| board.record(seq).sent_at).min();
        Self { from, first_resent, unexplained: board.resent(), explained: false }
    }

    pub(super) fn on_resent(&mut self, now: Time) {
        if self.from.is_some() {
            self.first_resent.get_or_insert(now);
            self.unexplained += 1;
        }
    }

    fn on_dsack(&mut self, seq: u32) {
        if self.from.is_some_and(|from| seq >= from) && self.unexplained > 0 {
            self.unexplained -= 1;
            self.explained = true;
        }
    }

    /// Whether something proves that the reduction was spurious.
    fn proof(&self, header: &AckHeader, advanced: u32, timestamps: bool) -> Option<Proof> {
        self.from?;
        if timestamps && advanced > 0 && self.first_resent.is_some_and(|first| header.echo < first) {
            return Some(Proof::Timestamp { advanced });
        }
        (self.explained && self.unexplained == 0).then_some(Proof::Duplicates)
    }
}

impl Sender {
    /// After an ACK: undo, leave, enter, in this order.
    pub(super) fn change_phase<T: Tap>(
        &mut self,
        turn: &mut Turn<T>,
        header: &AckHeader,
        advanced: u32,
        arrived: u32,
    ) {
        let recovering = matches!(self.facts.phase, Phase::Recovery | Phase::Loss);
        let timestamps = self.options.timestamps;
        let proof = self.undo.proof(header, advanced, timestamps).filter(|_| self.options.undo);
        if let Some(proof) = proof {
            self.take_back(turn, recovering, proof);
        } else if recovering && self.is_recovered(advanced) {
            self.leave(turn);
            if let Detector::Time(rack) = &mut self.detector {
                rack.on_recovered();
            }
        } else if recovering && self.is_partial_without_sack(advanced) {
            self.mark_lost(turn, self.board.una());
        }
        if matches!(self.facts.phase, Phase::Open | Phase::Disorder) {
            if self.board.lost() > 0 {
                self.enter_recovery(turn, arrived);
            } else {
                let disorder = self.board.sacked() > 0;
                self.enter_phase(turn, if disorder { Phase::Disorder } else { Phase::Open });
                if !disorder {
                    self.limited_transmit = 0;
                }
            }
        }
        if header.ece {
            self.on_echo(turn, arrived);
        }
    }

    /// RFC 6582 section 3.2, step 3: a partial ACK means that the next segment is lost as well.
    fn is_partial_without_sack(&self, advanced: u32) -> bool {
        !self.options.sack && !self.reduced_for_mark && advanced > 0 && self.board.outstanding() > 0
    }

    fn is_recovered(&self, advanced: u32) -> bool {
        // The round after a mark lasts until something above it is acknowledged: only then has CWR stopped the echo.
        if self.reduced_for_mark {
            return self.board.una() > self.recovery_point;
        }
        let plain_reno = self.options.recovery == Recovery::Reno && self.facts.phase == Phase::Recovery;
        self.board.una() >= self.recovery_point || (plain_reno && advanced > 0)
    }

    fn leave<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.call(|cc, cx| cc.on_event(cx, Event::Recovered));
        self.enter_phase(turn, Phase::Open);
        self.prr = None;
        self.reduced_for_mark = false;
        if !self.options.sack {
            self.board.forget_duplicates(u32::MAX);
        }
    }

    /// The last reduction was spurious: the controller restores its window, and nothing counts as lost.
    fn take_back<T: Tap>(&mut self, turn: &mut Turn<T>, recovering: bool, proof: Proof) {
        self.undo = Undo::default();
        self.counters.undos += 1;
        self.board.unmark_lost();
        let una = self.board.una();
        match &mut self.detector {
            Detector::Time(rack) => {
                rack.reconsider(&self.board);
                match proof {
                    // Linux tcp_try_undo_partial; with nothing SACKed, SND.UNA stands for the highest
                    // (tcp_highest_sack_seq).
                    Proof::Timestamp { advanced } if recovering && una < self.recovery_point => {
                        let highest = if self.board.sacked() > 0 { self.board.highest_sacked() } else { una };
                        rack.on_reordering(highest - una + advanced);
                    }
                    Proof::Timestamp { .. } => {}
                    Proof::Duplicates => rack.on_undone_by_dsack(),
                }
            }
            Detector::Count(rule) => rule.reconsider(una),
        }
        self.call(|cc, cx| cc.on_event(cx, Event::Undo));
        turn.emit(FlowEvent::Undone);
        if recovering {
            self.leave(turn);
        }
    }

    /// Fast recovery begins with an ACK that delivered this many segments.
    pub(super) fn enter_recovery<T: Tap>(&mut self, turn: &mut Turn<T>, arrived: u32) {
        self.undo = Undo::begin(&self.board);
        self.counters.fast_recoveries += 1;
        LossDistances::on_loss(&mut self.view[0]);
        self.reduce(turn, Event::LossRecovery, Reduction::FastRecovery, arrived);
        // RFC 5681 section 3.2, step 3; PRR does this by itself.
        self.retransmit_at_once = self.prr.is_none() && !self.needs.own_window_in_recovery;
    }

    /// Classic ECN (RFC 3168 section 6.1.2): one reduction per round trip, as for a loss.
    fn on_echo<T: Tap>(&mut self, turn: &mut Turn<T>, arrived: u32) {
        if matches!(self.facts.phase, Phase::Open | Phase::Disorder) {
            self.counters.ecn_reductions += 1;
            LossDistances::on_loss(&mut self.view[0]);
            // A mark is never spurious.
            self.undo = Undo::default();
            self.reduce(turn, Event::EcnReduction, Reduction::EcnMark, arrived);
            self.reduced_for_mark = true;
        }
    }

    fn reduce<T: Tap>(&mut self, turn: &mut Turn<T>, event: Event, by: Reduction, arrived: u32) {
        self.call(|cc, cx| cc.on_event(cx, event));
        self.emit_reduced(turn, by);
        self.limited_transmit = 0;
        self.enter_phase(turn, Phase::Recovery);
        self.recovery_point = self.board.next();
        let ssthresh = (self.cc.control().cwnd / self.facts.mss).max(1) as u32;
        self.prr = self.begin_prr(ssthresh, arrived);
        // RFC 3168 section 6.1.2: CWR announces any reduction.
        self.announce_reduction = self.ecn().is_some();
    }

    /// The retransmission timer expired (RFC 6298 section 5; RFC 8985 section 6.3 on what counts as lost).
    pub(super) fn time_out<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.counters.timeouts += 1;
        self.facts.flight_size = self.flight_size();
        self.mark_overdue(turn);
        LossDistances::on_loss(&mut self.view[0]);
        // Within a recovery the genuine loss came first: a later timeout does not let its reduction be undone.
        if matches!(self.facts.phase, Phase::Open | Phase::Disorder) {
            self.undo = Undo::begin(&self.board);
        }
        if let Detector::Time(rack) = &mut self.detector
            && matches!(self.facts.phase, Phase::Open | Phase::Disorder)
        {
            rack.on_timeout(self.board.sacked());
        }
        self.call(|cc, cx| cc.on_event(cx, Event::Timeout));
        self.emit_reduced(turn, Reduction::Timeout);
        self.limited_transmit = 0;
        self.enter_phase(turn, Phase::Loss);
        self.recovery_point = self.board.next();
        // RFC 6298 rule (5.4): the first segment leaves, whatever is in flight.
        self.retransmit_at_once = true;
        self.prr = None;
        self.probe = None;
        self.reduced_for_mark = false;
        self.announce_reduction = self.ecn().is_some();
        if let Some(distributor) = self.supply.distributor() {
            distributor.on_timeout();
            self.view[0].usable = false;
        }
    }

    fn mark_overdue<T: Tap>(&mut self, turn: &mut Turn<T>) {
        if !self.options.sack {
            self.board.forget_duplicates(u32::MAX);
        }
        let una = self.board.una();
        for seq in una..self.board.next() {
            let overdue = match &self.detector {
                Detector::Time(rack) => {
                    seq == una || rack.is_overdue(self.board.record(seq).sent_at, turn.now)
                }
                Detector::Count(_) => true,
            };
            if overdue && !self.board.is_sacked(seq) {
                self.mark_lost(turn, seq);
            }
        }
    }

    /// The receiver had this segment already.
    pub(super) fn on_dsack(&mut self, seq: u32) {
        // RFC 3708 section 2: a segment that was sent only once was duplicated by the network.
        if seq < self.board.una() || self.board.is_ever_resent(seq) {
            self.undo.on_dsack(seq);
        }
        if let Some(probe) = &mut self.probe {
            // The probe arrived as well as the original: it hid no loss.
            probe.resent = false;
        }
        let (delivered, pipe) = (self.rate.delivered, self.board.pipe());
        if let Detector::Time(rack) = &mut self.detector {
            rack.on_dsack(delivered, pipe);
        }
    }

    /// RFC 8985 section 7.4.2: a probe that repaired a loss causes a reduction; returns whether a probe was
    /// answered. Only an ACK beyond the probe proves the repair: one that just reaches it may be for the
    /// original, which came late.
    pub(super) fn answer_probe<T: Tap>(
        &mut self,
        turn: &mut Turn<T>,
        header: &AckHeader,
        advanced: u32,
    ) -> bool {
        let Some(TailProbe { end, resent }) = self.probe else { return false };
        if header.cumulative < end {
            return false;
        }
        let repeated = advanced == 0 && header.sack.iter().all(|block| block.end == block.start);
        if resent && header.cumulative == end && !repeated {
            return true;
        }
        self.probe = None;
        let open = matches!(self.facts.phase, Phase::Open | Phase::Disorder);
        if resent && !repeated && open {
            LossDistances::on_loss(&mut self.view[0]);
            self.reduce(turn, Event::LossRecovery, Reduction::ProbedLoss, 0);
            self.leave(turn);
        }
        true
    }
}
