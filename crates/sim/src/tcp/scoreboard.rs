//! Segments sent and not yet acknowledged (RFC 6675): one record per segment, flags as bit sets.
//!
//! pipe = outstanding - sacked - lost + resent, in segments, as RFC 6675 and Linux count it.

use crate::ahead::fetch;
use cwndlab_cc::Time;

/// Initial number of records; the ring doubles as the window grows.
const FIRST_RECORDS: usize = 16;

/// When a segment was last sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// The time.
    pub sent_at: Time,
    /// Its number among the flow's transmissions: a later one has a higher number, even at the same instant.
    pub order: u32,
}

/// The state of the connection when a segment was last sent, for its rate sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// When the last delivery before it happened, or its flight began.
    pub delivered_at: Time,
    /// Start of its send interval: when the newest segment of the last ACK was sent, or its flight began.
    pub first_sent_at: Time,
    /// Total segments delivered by then.
    pub delivered: u32,
    /// Total segments lost by then.
    pub lost: u32,
    /// Total segments marked CE by then.
    pub ce: u32,
    /// Segments in flight, itself included.
    pub in_flight: u32,
    /// Whether the application limited the rate.
    pub app_limited: bool,
}

/// Flags of 64 segments, one bit each. The sets lie side by side, so that all flags of a segment are in one place.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    sacked: u64,
    lost: u64,
    /// A retransmission of it is in flight.
    resent: u64,
    /// It has been sent more than once.
    ever_resent: u64,
}

/// The bit of a segment in its [`Marks`].
#[inline]
fn bit(seq: u32) -> u64 {
    1 << (seq & 63)
}

/// A segment that an ACK has newly delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Its index.
    pub seq: u32,
    /// It had been sent more than once.
    pub resent: bool,
}

/// The scoreboard of one flow.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// A ring, indexed by segment.
    records: Box<[Record]>,
    /// A ring of the same size; empty if nobody asks for snapshots.
    snapshots: Box<[Snapshot]>,
    una: u32,
    next: u32,
    sacked_count: u32,
    lost_count: u32,
    resent_count: u32,
    ever_resent_count: u32,
    /// One past the highest SACKed segment, or `una`.
    highest_sacked: u32,
    /// No segment below this one is lost and still to be resent.
    resend_hint: u32,
    /// A ring for as many segments, 64 to an entry.
    marks: Box<[Marks]>,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            records: Box::new([Record::default(); FIRST_RECORDS]),
            snapshots: Box::default(),
            una: 0,
            next: 0,
            sacked_count: 0,
            lost_count: 0,
            resent_count: 0,
            ever_resent_count: 0,
            highest_sacked: 0,
            resend_hint: 0,
            marks: Box::new([Marks::default()]),
        }
    }
}

impl Scoreboard {
    /// Keeps a snapshot of each segment from now on.
    pub fn keep_snapshots(&mut self) {
        self.snapshots = vec![Snapshot::default(); self.records.len()].into();
    }

    /// The first segment not cumulatively acknowledged (SND.UNA).
    #[must_use]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The next new segment (SND.NXT).
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.next - self.una
    }

    /// Segments in flight.
    #[inline]
    #[must_use]
    pub fn pipe(&self) -> u32 {
        self.outstanding() + self.resent_count - self.sacked_count - self.lost_count
    }

    /// Segments SACKed.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.sacked_count
    }

    /// Segments marked lost and not yet delivered.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.lost_count
    }

    /// Segments sent again and neither delivered nor lost since.
    #[inline]
    #[must_use]
    pub fn resent(&self) -> u32 {
        self.resent_count
    }

    /// One past the highest SACKed segment; `una` if there is none.
    #[must_use]
    pub fn highest_sacked(&self) -> u32 {
        self.highest_sacked.max(self.una)
    }

    /// Whether nothing is SACKed, lost or resent.
    #[inline]
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.sacked_count | self.lost_count | self.ever_resent_count == 0
    }

    /// The record of an outstanding segment.
    #[inline]
    #[must_use]
    pub fn record(&self, seq: u32) -> &Record {
        &self.records[seq as usize & (self.records.len() - 1)]
    }

    /// The snapshot of an outstanding segment; `None` if none are kept.
    #[inline]
    #[must_use]
    pub fn snapshot(&self, seq: u32) -> Option<&Snapshot> {
        self.snapshots.get(seq as usize & (self.records.len() - 1))
    }

    /// Notes the state in which a segment was sent, if snapshots are kept.
    #[inline(always)]
    pub fn note(&mut self, seq: u32, snapshot: impl FnOnce() -> Snapshot) {
        if let Some(place) = self.snapshots.get_mut(seq as usize & (self.records.len() - 1)) {
            *place = snapshot();
        }
    }

    #[inline]
    fn marks(&self, seq: u32) -> &Marks {
        &self.marks[(seq as usize >> 6) & (self.marks.len() - 1)]
    }

    #[inline]
    fn marks_mut(&mut self, seq: u32) -> &mut Marks {
        let at = (seq as usize >> 6) & (self.marks.len() - 1);
        &mut self.marks[at]
    }

    /// Prefetches what an ACK touches outside this struct: the records of the first segments, the place of the next one,
    /// and the marks of the first ones.
    #[inline]
    pub fn fetch_beyond(&self) {
        fetch(self.record(self.una), 2 * size_of::<Record>());
        fetch(self.record(self.next), size_of::<Record>());
        fetch(self.marks(self.una), size_of::<Marks>());
        if !self.snapshots.is_empty() {
            self.fetch_snapshots();
        }
    }

    #[inline(never)]
    fn fetch_snapshots(&self) {
        if let (Some(first), Some(free)) = (self.snapshot(self.una), self.snapshot(self.next)) {
            fetch(first, 2 * size_of::<Snapshot>());
            fetch(free, size_of::<Snapshot>());
        }
    }

    /// Whether the segment is SACKed.
    #[must_use]
    pub fn is_sacked(&self, seq: u32) -> bool {
        self.marks(seq).sacked & bit(seq) != 0
    }

    /// Whether the segment has been sent more than once.
    #[must_use]
    pub fn is_ever_resent(&self, seq: u32) -> bool {
        self.marks(seq).ever_resent & bit(seq) != 0
    }

    /// Whether a retransmission of the segment is in flight.
    #[must_use]
    pub fn is_resent(&self, seq: u32) -> bool {
        self.marks(seq).resent & bit(seq) != 0
    }

    /// A new segment is sent.
    #[inline(always)]
    pub fn send_new(&mut self, record: Record) -> u32 {
        if self.outstanding() as usize == self.records.len() {
            self.grow();
        }
        let seq = self.next;
        self.next += 1;
        let at = seq as usize & (self.records.len() - 1);
        self.records[at] = record;
        seq
    }

    /// A segment is sent again.
    pub fn send_again(&mut self, seq: u32, record: Record) {
        let at = seq as usize & (self.records.len() - 1);
        self.records[at] = record;
        let marks = self.marks_mut(seq);
        let (again, ever) = (marks.resent & bit(seq) != 0, marks.ever_resent & bit(seq) != 0);
        marks.resent |= bit(seq);
        marks.ever_resent |= bit(seq);
        self.resent_count += u32::from(!again);
        self.ever_resent_count += u32::from(!ever);
    }

    /// The lowest lost segment that has no retransmission in flight.
    #[inline]
    pub fn next_lost(&mut self) -> Option<u32> {
        if self.lost_count == 0 && self.resent_count == 0 { None } else { self.find_lost() }
    }

    #[inline(never)]
    fn find_lost(&mut self) -> Option<u32> {
        let mut seq = self.resend_hint.max(self.una);
        while seq < self.next {
            let marks = self.marks(seq);
            let candidates = (marks.lost & !marks.resent) >> (seq & 63);
            if candidates != 0 {
                seq += candidates.trailing_zeros();
                self.resend_hint = seq;
                return (seq < self.next).then_some(seq);
            }
            seq = (seq | 63) + 1;
        }
        self.resend_hint = self.next;
        None
    }

    /// Marks a segment lost; a retransmission of it that was in flight is lost, too. Returns whether anything
    /// changed: false if it was marked already and had no retransmission in flight.
    pub fn mark_lost(&mut self, seq: u32) -> bool {
        let marks = self.marks_mut(seq);
        let (again, first) = (marks.resent & bit(seq) != 0, marks.lost & bit(seq) == 0);
        marks.resent &= !bit(seq);
        marks.lost |= bit(seq);
        self.resent_count -= u32::from(again);
        if first {
            self.lost_count += 1;
            self.limit_duplicates();
        }
        self.resend_hint = self.resend_hint.min(seq);
        first || again
    }

    /// The first segment from `from` on, below `to`, that is neither SACKed nor lost.
    #[must_use]
    pub fn next_undecided(&self, from: u32, to: u32) -> Option<u32> {
        let mut seq = from.max(self.una);
        while seq < to {
            let marks = self.marks(seq);
            let candidates = !(marks.lost | marks.sacked) >> (seq & 63);
            if candidates != 0 {
                seq += candidates.trailing_zeros();
                return (seq < to).then_some(seq);
            }
            seq = (seq | 63) + 1;
        }
        None
    }

    /// The `n`-th highest SACKed segment (1 is the highest).
    #[must_use]
    pub fn nth_highest_sacked(&self, n: u32) -> Option<u32> {
        let mut left = n;
        let mut seq = self.highest_sacked();
        while seq > self.una {
            seq -= 1;
            if self.is_sacked(seq) {
                left -= 1;
                if left == 0 {
                    return Some(seq);
                }
            }
        }
        None
    }

    /// SACKed segments whose predecessor is SACKed, too.
    #[must_use]
    pub fn sacked_neighbours(&self) -> u32 {
        let mut count = 0;
        let mut seq = self.una;
        // The last bit of the word before.
        let mut carried = 0;
        while self.sacked_count > 1 && seq < self.highest_sacked {
            let word = seq & !63;
            let (from, to) = (seq - word, (self.highest_sacked - word).min(64));
            let sacked = self.marks(seq).sacked & (u64::MAX << from) & (u64::MAX >> (64 - to));
            count += (sacked & (sacked << 1 | carried)).count_ones();
            carried = sacked >> 63;
            seq = word + 64;
        }
        count
    }

    /// Processes a SACK block; `visit` is called for each segment that it newly delivers.
    pub fn sack(&mut self, start: u32, end: u32, mut visit: impl FnMut(&Record, Delivered)) {
        let end = end.min(self.next);
        let mut seq = start.max(self.una);
        if seq >= end {
            return;
        }
        self.highest_sacked = self.highest_sacked.max(end);
        while seq < end {
            let fresh = !self.marks(seq).sacked >> (seq & 63);
            if fresh == 0 {
                seq = (seq | 63) + 1;
                continue;
            }
            seq += fresh.trailing_zeros();
            if seq >= end {
                break;
            }
            let Marks { ever_resent, .. } = self.settle(seq);
            self.marks_mut(seq).sacked |= bit(seq);
            self.sacked_count += 1;
            visit(self.record(seq), Delivered { seq, resent: ever_resent != 0 });
            seq += 1;
        }
    }

    /// Processes a cumulative acknowledgement; `visit` is called for each segment that it newly delivers
    /// (those that were SACKed before are not new).
    pub fn acknowledge(&mut self, cumulative: u32, mut visit: impl FnMut(&Record, Delivered)) {
        let cumulative = cumulative.min(self.next);
        while self.una < cumulative {
            let seq = self.una;
            let Marks { sacked, ever_resent, .. } = self.settle(seq);
            let marks = self.marks_mut(seq);
            marks.sacked &= !bit(seq);
            marks.ever_resent &= !bit(seq);
            self.sacked_count -= u32::from(sacked != 0);
            self.ever_resent_count -= u32::from(ever_resent != 0);
            if sacked == 0 {
                visit(self.record(seq), Delivered { seq, resent: ever_resent != 0 });
            }
            self.una += 1;
        }
    }

    /// [`Scoreboard::acknowledge`] for a clean board: only the ends matter, so nothing is visited.
    #[inline]
    pub fn acknowledge_clean(&mut self, cumulative: u32) {
        self.una = cumulative.min(self.next);
    }

    /// A delivered segment counts neither as lost nor as resent. Returns the marks that it had, without those of others.
    #[inline(always)]
    fn settle(&mut self, seq: u32) -> Marks {
        let marks = self.marks_mut(seq);
        let had = Marks {
            sacked: marks.sacked & bit(seq),
            lost: marks.lost & bit(seq),
            resent: marks.resent & bit(seq),
            ever_resent: marks.ever_resent & bit(seq),
        };
        marks.lost &= !bit(seq);
        marks.resent &= !bit(seq);
        self.lost_count -= u32::from(had.lost != 0);
        self.resent_count -= u32::from(had.resent != 0);
        had
    }

    /// Without SACK each duplicate ACK says that some segment above the hole has arrived: which one is unknown, so
    /// the count alone is kept.
    pub fn count_duplicate(&mut self) {
        if self.sacked_count + self.lost_count < self.outstanding() {
            self.sacked_count += 1;
        }
    }

    /// Forgets up to `most` of the segments counted from duplicate ACKs; returns how many.
    pub fn forget_duplicates(&mut self, most: u32) -> u32 {
        let forgotten = most.min(self.sacked_count);
        self.sacked_count -= forgotten;
        forgotten
    }

    /// Without SACK, duplicates and losses are never more than what is outstanding (Linux tcp_limit_reno_sacked); with
    /// SACK that holds by itself.
    pub fn limit_duplicates(&mut self) {
        self.sacked_count = self.sacked_count.min(self.outstanding() - self.lost_count);
    }

    /// Nothing was lost after all: removes every loss mark, so segments that were not resent are in flight again.
    pub fn unmark_lost(&mut self) {
        for seq in self.una..self.next {
            let marks = self.marks_mut(seq);
            let lost = marks.lost & bit(seq) != 0;
            marks.lost &= !bit(seq);
            self.lost_count -= u32::from(lost);
        }
        self.resend_hint = self.next;
    }

    fn grow(&mut self) {
        let old = self.records.len();
        let new = old * 2;
        let mut records = vec![Record::default(); new];
        for seq in self.una..self.next {
            records[seq as usize & (new - 1)] = *self.record(seq);
        }
        self.records = records.into();
        if !self.snapshots.is_empty() {
            let mut snapshots = vec![Snapshot::default(); new];
            for seq in self.una..self.next {
                snapshots[seq as usize & (new - 1)] = self.snapshots[seq as usize & (old - 1)];
            }
            self.snapshots = snapshots.into();
        }
        // One entry has bits for 64 segments, enough for any smaller ring.
        let words = new.div_ceil(64);
        if words > self.marks.len() {
            let mut wider = vec![Marks::default(); words];
            for seq in self.una..self.next {
                let (old, new) = (self.marks(seq), &mut wider[(seq as usize >> 6) & (words - 1)]);
                new.sacked |= old.sacked & bit(seq);
                new.lost |= old.lost & bit(seq);
                new.resent |= old.resent & bit(seq);
                new.ever_resent |= old.ever_resent & bit(seq);
            }
            self.marks = wider.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..segments {
            board.send_new(Record { sent_at: Time(u64::from(n)), ..Record::default() });
        }
        board
    }

    #[test]
    fn pipe_counts_what_is_in_flight() {
        let mut board = board(10);
        assert_eq!(board.pipe(), 10);
        board.sack(3, 6, |_, _| {});
        assert_eq!(board.pipe(), 7);
        assert!(board.mark_lost(0));
        assert!(!board.mark_lost(0));
        assert_eq!(board.pipe(), 6);
        assert_eq!(board.next_lost(), Some(0));
        board.send_again(0, Record::default());
        assert_eq!((board.pipe(), board.next_lost()), (7, None));
        // The retransmission is lost as well.
        assert!(board.mark_lost(0));
        assert_eq!((board.pipe(), board.next_lost()), (6, Some(0)));
        board.acknowledge(10, |_, _| {});
        assert_eq!((board.pipe(), board.outstanding()), (0, 0));
        assert!(board.is_clean());
    }

    proptest! {
        #[test]
        fn sacked_neighbours_are_counted(
            una in 0u32..130,
            blocks in prop::collection::vec((0u32..200, 1u32..70), 0..6),
        ) {
            let mut board = board(200);
            board.acknowledge(una, |_, _| {});
            for (start, length) in blocks {
                board.sack(start, start + length, |_, _| {});
            }
            let has_neighbour = |seq: &u32| board.is_sacked(*seq) && *seq > una && board.is_sacked(*seq - 1);
            prop_assert_eq!(board.sacked_neighbours(), (una..200).filter(has_neighbour).count() as u32);
        }
    }

    #[test]
    fn each_segment_is_delivered_once() {
        let mut board = board(100);
        let mut seen = Vec::new();
        board.sack(50, 90, |_, d| seen.push(d.seq));
        board.sack(40, 95, |_, d| seen.push(d.seq));
        board.acknowledge(100, |_, d| seen.push(d.seq));
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }

    #[derive(Clone, Debug)]
    enum Move {
        Send(u32),
        Sack(u32, u32),
        Ack(u32),
        Lose(u32),
        Resend,
    }

    fn moves() -> impl Strategy<Value = Vec<Move>> {
        let one = prop_oneof![
            (1u32..80).prop_map(Move::Send),
            (0u32..200, 1u32..90).prop_map(|(from, length)| Move::Sack(from, length)),
            (0u32..100).prop_map(Move::Ack),
            (0u32..200).prop_map(Move::Lose),
            Just(Move::Resend),
        ];
        prop::collection::vec(one, 1..100)
    }

    proptest! {
        /// Compares with a plain list of flags.
        #[test]
        fn agrees_with_a_list(moves in moves()) {
            #[derive(Clone, Copy, Default)]
            struct Flags { sacked: bool, lost: bool, resent: bool }
            let mut board = Scoreboard::default();
            let mut list: Vec<Flags> = Vec::new();
            let mut una = 0usize;
            for m in moves {
                match m {
                    Move::Send(n) => for _ in 0..n {
                        board.send_new(Record::default());
                        list.push(Flags::default());
                    },
                    Move::Sack(from, length) => {
                        let from = board.una() + from;
                        board.sack(from, from + length, |_, _| {});
                        for flags in list.iter_mut().skip(from as usize).take(length as usize) {
                            *flags = Flags { sacked: true, ..Flags::default() };
                        }
                    }
                    Move::Ack(n) => {
                        una = (una + n as usize).min(list.len());
                        board.acknowledge(una as u32, |_, _| {});
                    }
                    Move::Lose(offset) => {
                        let seq = una + offset as usize;
                        if seq < list.len() && !list[seq].sacked {
                            board.mark_lost(seq as u32);
                            list[seq] = Flags { lost: true, ..Flags::default() };
                        }
                    }
                    Move::Resend => {
                        let expected = (una..list.len()).find(|&s| list[s].lost && !list[s].resent);
                        prop_assert_eq!(board.next_lost().map(|s| s as usize), expected);
                        if let Some(seq) = expected {
                            board.send_again(seq as u32, Record::default());
                            list[seq].resent = true;
                        }
                    }
                }
                let window = &list[una..];
                let count = |f: fn(&Flags) -> bool| window.iter().filter(|flags| f(flags)).count() as u32;
                prop_assert_eq!(board.outstanding() as usize, window.len());
                prop_assert_eq!(board.sacked(), count(|f| f.sacked));
                prop_assert_eq!(board.lost(), count(|f| f.lost));
                let pipe = count(|f| !f.sacked && !f.lost) + count(|f| f.resent);
                prop_assert_eq!(board.pipe(), pipe);
                let undecided = (una..list.len()).find(|&s| !list[s].sacked && !list[s].lost);
                prop_assert_eq!(board.next_undecided(0, board.next()).map(|s| s as usize), undecided);
            }
        }
    }
}
