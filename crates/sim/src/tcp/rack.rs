//! RACK (RFC 8985 section 6): a packet is lost when one sent later was delivered, and a reordering window has passed.

use super::scoreboard::{Record, Scoreboard};
use crate::ring::Ring;
use cwndlab_cc::{Span, Time};

/// Duplicate ACKs that prove a loss (RFC 5681).
pub const DUP_THRESH: u32 = 3;
/// The reordering window is the minimum RTT divided by this, times a factor that DSACKs raise.
const REORDER_DIVISOR: u64 = 4;
/// A raised reordering window is kept for this many recoveries (RFC 8985 section 6.2, step 4).
const PERSISTENCE: u32 = 16;

/// Linux's sysctl tcp_max_reordering, in segments.
const MOST_REORDERING: u32 = 300;

/// The state of RACK.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// The highest transmission number delivered, and the RTT of the last packet delivered.
    order: u32,
    rtt: Span,
    reordering_seen: bool,
    /// Reordering seen on the path, in segments (Linux tp->reordering).
    reordering: u32,
    factor: u64,
    persist: u32,
    /// DSACKs raise the factor once a round: not again before this total is delivered.
    factor_round: u32,
    /// Original transmissions below this segment are decided: delivered or marked lost.
    undecided: u32,
    /// Retransmissions in the order in which they were sent: segment and number of the transmission.
    resent: Ring<(u32, u32)>,
}

/// RACK's inputs besides the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The time.
    pub now: Time,
    /// Smallest RTT.
    pub min_rtt: Span,
    /// SRTT.
    pub srtt: Span,
    /// Recovery is under way.
    pub recovering: bool,
}

impl Rack {
    /// A segment was sent again.
    pub fn on_resent(&mut self, seq: u32, order: u32) {
        *self.resent.add(&(0, 0)) = (seq, order);
    }

    /// Prefetches what lies outside this struct: the first retransmission.
    #[inline]
    pub fn fetch_beyond(&self) {
        self.resent.fetch_front();
    }

    /// Step 2: a segment was delivered. `ambiguous` says that it was resent and the ACK may be for the
    /// original. Otherwise the RTT is that of this segment, even if it came late.
    #[inline]
    pub fn on_delivered(&mut self, record: &Record, ambiguous: bool, now: Time) {
        if ambiguous {
            return;
        }
        self.rtt = now.since(record.sent_at);
        self.order = self.order.max(record.order);
    }

    /// Step 3: a segment arrived below the highest delivered one, and it had been sent only once, or its
    /// retransmission was superfluous (Linux tcp_try_undo_partial). `by` is its distance from the highest
    /// one, in segments (Linux tcp_check_sack_reordering).
    pub fn on_reordering(&mut self, by: u32) {
        self.reordering_seen = true;
        self.reordering = self.reordering.max(by.min(MOST_REORDERING));
    }

    /// A timeout with this many segments SACKed above the hole. If the path has not reordered by more, the
    /// hole was a loss, and the path no longer counts as reordering (Linux tcp_enter_loss).
    pub fn on_timeout(&mut self, sacked: u32) {
        if sacked >= self.reordering {
            self.reordering = self.reordering.min(DUP_THRESH);
        }
    }

    /// Whether ACKs that do not advance SND.UNA let the window grow (Linux tcp_may_raise_cwnd).
    #[must_use]
    pub fn grows_unordered(&self) -> bool {
        self.reordering > DUP_THRESH
    }

    /// Step 4: a DSACK says that the reordering window was too small. If no reordering was seen, it says
    /// nothing about that window (Linux tcp_dsack_seen).
    pub fn on_dsack(&mut self, delivered: u32, in_flight: u32) {
        if !self.reordering_seen {
            return;
        }
        if delivered >= self.factor_round {
            self.factor = self.factor.max(1) + 1;
            self.factor_round = delivered + in_flight;
        }
        self.persist = PERSISTENCE;
    }

    /// A recovery was undone because DSACKs report all retransmissions as duplicates (Linux tcp_try_undo_dsack).
    pub fn on_undone_by_dsack(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    /// A recovery has ended without an undo (Linux tcp_try_undo_recovery).
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.factor = 1;
        }
    }

    /// Loss marks were removed: everything outstanding is undecided again, lost retransmissions as well.
    pub fn reconsider(&mut self, board: &Scoreboard) {
        self.undecided = board.una();
        let again = (board.una()..board.next()).filter(|seq| board.is_ever_resent(*seq));
        let mut again: Vec<_> = again.map(|seq| (seq, board.record(seq).order)).collect();
        again.sort_unstable_by_key(|(_, order)| *order);
        self.resent.clear();
        again.into_iter().for_each(|(seq, order)| self.on_resent(seq, order));
    }

    /// Whether a packet sent after this one was delivered.
    #[inline]
    #[must_use]
    pub fn has_overtaken(&self, record: &Record) -> bool {
        record.order < self.order
    }

    /// Whether a segment sent at `sent_at` would count as lost by now, without a reordering window.
    #[must_use]
    pub fn is_overdue(&self, sent_at: Time, now: Time) -> bool {
        sent_at + self.rtt <= now
    }

    /// Step 4: RACK_update_reo_wnd.
    fn window(&self, board: &Scoreboard, at: &Now) -> Span {
        if !self.reordering_seen && (at.recovering || board.sacked() >= DUP_THRESH) {
            return Span::ZERO;
        }
        Span(at.min_rtt.0 / REORDER_DIVISOR * self.factor.max(1)).min(at.srtt)
    }

    /// When the last original was sent that is undecided and overtaken.
    fn last_original(&self, board: &Scoreboard) -> Option<Time> {
        let mut last = None;
        let mut from = self.undecided;
        while let Some(seq) = board.next_undecided(from, board.next()) {
            let record = board.record(seq);
            if !board.is_ever_resent(seq) {
                if record.order > self.order {
                    break;
                }
                last = Some(record.sent_at);
            }
            from = seq + 1;
        }
        last
    }

    /// When the last retransmission was sent that is undecided and overtaken.
    fn last_resent(&self, board: &Scoreboard) -> Option<Time> {
        let newest_first = (0..self.resent.len()).rev().filter_map(|at| self.resent.get(at));
        let overtaken = newest_first.filter(|(_, order)| *order <= self.order);
        let mut waiting = overtaken.filter(|(seq, order)| is_outstanding(board, *seq, *order));
        waiting.next().map(|(seq, _)| board.record(*seq).sent_at)
    }

    /// Step 5: marks lost segments (`lost` is called for each), and returns when to check again: when the last
    /// of those is due that are overtaken but may still arrive.
    pub fn detect(&mut self, board: &mut Scoreboard, at: &Now, mut lost: impl FnMut(u32)) -> Option<Time> {
        let window = self.window(board, at);
        let wait = self.rtt + window;
        let mut again: Option<Time> = None;
        // Originals were sent in the order of their segments, so the first one that is not overdue ends the walk.
        let end = board.next();
        while let Some(seq) = board.next_undecided(self.undecided, end) {
            self.undecided = seq;
            let record = *board.record(seq);
            if board.is_ever_resent(seq) {
                // A probe, or a retransmission whose loss mark an undo removed: it is checked below.
                self.undecided = seq + 1;
                continue;
            }
            if record.order > self.order {
                break;
            }
            let due = record.sent_at + wait;
            if due > at.now {
                again = self.last_original(board).map(|sent_at| sent_at + wait);
                break;
            }
            board.mark_lost(seq);
            lost(seq);
            self.undecided = seq + 1;
        }
        while let Some(&(seq, order)) = self.resent.front() {
            if is_outstanding(board, seq, order) {
                if order > self.order {
                    break;
                }
                let record = *board.record(seq);
                let due = record.sent_at + wait;
                if due > at.now {
                    let last = self.last_resent(board).map(|sent_at| sent_at + wait);
                    again = again.max(last);
                    break;
                }
                board.mark_lost(seq);
                lost(seq);
            }
            self.resent.pop_front();
        }
        again
    }
}

/// Whether the retransmission with this number is neither acknowledged, nor lost, nor followed by another. It is in flight,
/// or an undo has removed its loss mark.
fn is_outstanding(board: &Scoreboard, seq: u32, order: u32) -> bool {
    let waits = |seq| board.is_resent(seq) || board.next_undecided(seq, seq + 1).is_some();
    seq >= board.una() && board.record(seq).order == order && waits(seq)
}

/// Loss detection by count (RFC 6675 section 4, IsLost): a segment is lost when three above it are SACKed. A
/// lost retransmission is not detected; a timeout repairs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DupThresh {
    undecided: u32,
}

impl DupThresh {
    /// Loss marks were removed: everything outstanding is undecided again.
    pub fn reconsider(&mut self, una: u32) {
        self.undecided = una;
    }

    /// Marks lost segments; `lost` is called for each.
    pub fn detect(&mut self, board: &mut Scoreboard, mut lost: impl FnMut(u32)) {
        if board.sacked() < DUP_THRESH {
            return;
        }
        let Some(below) = board.nth_highest_sacked(DUP_THRESH) else { return };
        while let Some(seq) = board.next_undecided(self.undecided, below) {
            board.mark_lost(seq);
            lost(seq);
            self.undecided = seq + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    /// Ten segments, one a millisecond from 0 ms on.
    fn flight() -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..10 {
            board.send_new(Record { sent_at: Time(n * 1_000_000), order: n as u32 + 1 });
        }
        board
    }

    fn at(ms: u64) -> Now {
        Now { now: Time(ms * 1_000_000), min_rtt: RTT, srtt: RTT, recovering: false }
    }

    fn sack(rack: &mut Rack, board: &mut Scoreboard, seq: u32, now: Time) {
        let record = *board.record(seq);
        board.sack(seq, seq + 1, |_, _| {});
        rack.on_delivered(&record, false, now);
    }

    fn detect(rack: &mut Rack, board: &mut Scoreboard, now: &Now) -> (Vec<u32>, Option<Time>) {
        let mut lost = Vec::new();
        let again = rack.detect(board, now, |seq| lost.push(seq));
        (lost, again)
    }

    #[test]
    fn one_sack_waits_for_a_quarter_of_the_rtt() {
        let (mut rack, mut board) = (Rack::default(), flight());
        sack(&mut rack, &mut board, 1, at(101).now);
        let (lost, again) = detect(&mut rack, &mut board, &at(101));
        assert_eq!((lost, again), (vec![], Some(at(125).now)));
        let (lost, again) = detect(&mut rack, &mut board, &at(125));
        assert_eq!((lost, again), (vec![0], None));
    }

    #[test]
    fn three_sacks_mark_at_once() {
        let (mut rack, mut board) = (Rack::default(), flight());
        for seq in 2..5 {
            sack(&mut rack, &mut board, seq, at(100 + u64::from(seq)).now);
        }
        let (lost, again) = detect(&mut rack, &mut board, &at(104));
        assert_eq!((lost, again), (vec![0, 1], None));
    }

    #[test]
    fn after_reordering_three_sacks_wait_as_well() {
        let (mut rack, mut board) = (Rack::default(), flight());
        rack.on_reordering(1);
        for seq in 2..5 {
            sack(&mut rack, &mut board, seq, at(100 + u64::from(seq)).now);
        }
        let (lost, again) = detect(&mut rack, &mut board, &at(104));
        // Segments 0 and 1 are overtaken; 1 left at 1 ms.
        assert_eq!((lost, again), (vec![], Some(at(126).now)));
    }

    /// Linux tcp_rack_advance: the RTT is that of the last segment, though a later one is the reference.
    #[test]
    fn a_late_segment_makes_the_wait_longer() {
        let (mut rack, mut board) = (Rack::default(), flight());
        rack.on_reordering(1);
        sack(&mut rack, &mut board, 5, at(100).now);
        sack(&mut rack, &mut board, 1, at(110).now);
        // Segment 0 left at 0 ms; 1 left at 1 ms and took 109 ms; the window is 25 ms. By the RTT of 5, 95
        // ms, 0 would be lost. The last that is overtaken, 4, left at 4 ms.
        assert_eq!(detect(&mut rack, &mut board, &at(133)), (vec![], Some(at(138).now)));
    }

    /// RFC 8985 section 6.2, step 5: the longest wait of all, originals and retransmissions.
    #[test]
    fn it_looks_again_when_the_last_overtaken_packet_is_due() {
        let (mut rack, mut board) = (Rack::default(), flight());
        rack.on_reordering(1);
        sack(&mut rack, &mut board, 9, at(109).now);
        assert_eq!(detect(&mut rack, &mut board, &at(125)), (vec![0], Some(at(133).now)));
        board.send_again(0, Record { sent_at: at(125).now, order: 11 });
        rack.on_resent(0, 11);
        board.send_new(Record { sent_at: at(126).now, order: 12 });
        sack(&mut rack, &mut board, 10, at(226).now);
        let (lost, again) = detect(&mut rack, &mut board, &at(226));
        assert_eq!((lost, again), ((1..9).collect(), Some(at(250).now)));
    }

    #[test]
    fn growth_out_of_order_needs_reordering_by_four() {
        let mut rack = Rack::default();
        rack.on_reordering(DUP_THRESH);
        assert!(!rack.grows_unordered());
        rack.on_reordering(DUP_THRESH + 1);
        assert!(rack.grows_unordered());
    }

    /// Linux tcp_enter_loss: with at least as many SACKs as the reordering seen on the path, the hole was a loss.
    #[test]
    fn a_timeout_with_many_sacks_ends_growth_out_of_order() {
        let mut rack = Rack::default();
        rack.on_reordering(6);
        rack.on_timeout(5);
        assert!(rack.grows_unordered(), "fewer than were seen out of order");
        rack.on_timeout(6);
        assert!(!rack.grows_unordered());
    }

    #[test]
    fn a_lost_retransmission_is_seen_when_a_later_packet_is_delivered() {
        let (mut rack, mut board) = (Rack::default(), flight());
        for seq in 1..4 {
            sack(&mut rack, &mut board, seq, at(100 + u64::from(seq)).now);
        }
        assert_eq!(detect(&mut rack, &mut board, &at(103)).0, vec![0]);
        board.send_again(0, Record { sent_at: at(103).now, order: 11 });
        rack.on_resent(0, 11);
        // Segment 10 leaves after the retransmission and is delivered.
        board.send_new(Record { sent_at: at(104).now, order: 12 });
        sack(&mut rack, &mut board, 10, at(204).now);
        let recovering = Now { recovering: true, ..at(204) };
        let (lost, _) = detect(&mut rack, &mut board, &recovering);
        // The retransmission, and the originals 4..10 that were sent before segment 10.
        assert_eq!(lost, vec![4, 5, 6, 7, 8, 9, 0]);
    }

    /// An undo removes the loss mark of a retransmission. RACK still marks the older originals around it at once, and waits
    /// longer for the retransmission.
    #[test]
    fn after_an_undo_a_retransmission_is_judged_by_when_it_left() {
        let (mut rack, mut board) = (Rack::default(), flight());
        board.mark_lost(0);
        board.send_again(0, Record { sent_at: at(103).now, order: 11 });
        rack.on_resent(0, 11);
        board.send_new(Record { sent_at: at(104).now, order: 12 });
        sack(&mut rack, &mut board, 10, at(204).now);
        let recovering = Now { recovering: true, ..at(204) };
        assert_eq!(detect(&mut rack, &mut board, &recovering).0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
        board.unmark_lost();
        rack.reconsider(&board);
        rack.on_reordering(1);
        // The RTT is 100 ms and the window 25 ms: the originals are due from 125 ms on.
        assert_eq!(detect(&mut rack, &mut board, &at(204)), ((1..10).collect(), Some(at(228).now)));
        assert_eq!(detect(&mut rack, &mut board, &at(228)), (vec![0], None));
    }

    #[test]
    fn by_count_the_third_segment_above_decides() {
        let (mut rule, mut board) = (DupThresh::default(), flight());
        let mut lost = Vec::new();
        board.sack(2, 4, |_, _| {});
        rule.detect(&mut board, |seq| lost.push(seq));
        assert_eq!(lost, Vec::<u32>::new());
        board.sack(5, 6, |_, _| {});
        rule.detect(&mut board, |seq| lost.push(seq));
        assert_eq!(lost, vec![0, 1], "segment 4 has only one above");
    }
}
