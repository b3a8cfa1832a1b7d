//! The receiving endpoint: reassembly, SACK blocks, delayed and compressed ACKs, ECN echo, receive window.

use super::options::TcpOptions;
use super::quick_ack::QuickAcks;
use super::receive_window::ReceiveWindow;
use super::ticks::expiry;
use crate::ahead::fetch;
use crate::packet::{AckHeader, Block, Data, EcnField, SACK_BLOCKS};
use cwndlab_cc::{Span, Time};
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Duplicate ACKs that are sent at once, before compression begins (Linux: TCP_FASTRETRANS_THRESH).
const UNCOMPRESSED_DUPLICATES: u8 = 3;
/// The most ACKs that compression holds back (Linux: tcp_comp_sack_nr).
const COMPRESSED_MOST: u8 = 44;
/// Compression waits for the RTT divided by this (Linux: 5 %).
const COMPRESSION_RTT_DIVISOR: u64 = 20;
/// How much later the timer of compression may expire, so that a kernel can handle it together with other timers (Linux:
/// tcp_comp_sack_slack_ns). Here there are no others, so it always expires at the end of this slack.
const COMPRESSION_SLACK: Span = Span::from_micros(100);
/// Blocks that one held-back ACK reports (Linux: TCP_SACK_BLOCKS_EXPECTED).
const COMPRESSED_BLOCKS: usize = 2;
/// Timestamps count milliseconds (Linux TCP_TS_HZ).
const TIMESTAMP_TICK: Span = Span::from_millis(1);
/// How many ticks a segment's timestamp may lie behind the newest one (Linux TCP_PAWS_WINDOW).
const PAWS_WINDOW: u64 = 1;

/// The receiver of one flow. The fields lie in memory in this order: those that every segment touches come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    next: u32,
    last_ack: u32,
    /// The timestamp to echo (RFC 7323: TS.Recent).
    echo: Time,
    /// Our own timestamps before this one have been echoed.
    next_echo: Time,
    rtt: Span,
    /// Segments since the last ACK.
    unacknowledged: u32,
    ce_count: u32,
    delayed_until: Time,
    /// When the timer of a delayed ACK expires. It runs on after the ACK has left.
    timer: Time,
    compressed_until: Time,
    window: ReceiveWindow,
    quick: QuickAcks,
    options: Arc<TcpOptions>,
    /// ACKs of out-of-order segments that were sent without compression, and the [`Receiver::next`] in them.
    duplicates_sent: u8,
    /// ACKs that compression holds back.
    compressed: u8,
    duplicates_of: u32,
    ece: bool,
    /// An ACK is held back for a segment with PSH; only on a subflow.
    pushed: bool,
    /// Segments that wait out of order.
    held: u32,
    /// Segments that a filled hole has put in order. They take room until the next ACK has left.
    unread: u32,
    /// A segment that counts only after the ACK that it causes.
    behind_ack: Option<NonZeroU32>,
    duplicate: Option<Block>,
    /// Out-of-order blocks in the order of their segments.
    pending: VecDeque<Block>,
    // Only out-of-order segments touch the fields below.
    /// Block starts in the order in which they were last touched, the newest first.
    recent: [u32; SACK_BLOCKS],
    recent_len: u8,
    /// That of the handshake.
    first_rtt: Span,
}

impl Receiver {
    /// A receiver that has received nothing yet.
    #[must_use]
    pub fn new(options: Arc<TcpOptions>) -> Self {
        Self {
            next: 0,
            pending: VecDeque::new(),
            held: 0,
            unread: 0,
            recent: [0; SACK_BLOCKS],
            recent_len: 0,
            duplicate: None,
            unacknowledged: u32::try_from(options.delayed_ack.saturating_sub(1)).unwrap_or(u32::MAX),
            delayed_until: Time::NEVER,
            timer: Time::ZERO,
            compressed: 0,
            pushed: false,
            compressed_until: Time::NEVER,
            behind_ack: None,
            duplicates_sent: 0,
            duplicates_of: 0,
            echo: Time::ZERO,
            next_echo: Time::ZERO,
            last_ack: 0,
            ce_count: 0,
            ece: false,
            rtt: Span::ZERO,
            first_rtt: Span::ZERO,
            window: ReceiveWindow::new(&options),
            quick: QuickAcks::new(&options),
            options,
        }
    }

    /// The next segment expected: all below have arrived.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// The window that the SYN-ACK announces, in segments.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.window.opening()
    }

    /// Lets a subflow's receive window grow to its connection's limit, in bytes.
    #[inline]
    pub fn follow(&mut self, space: u64) {
        self.window.follow(space);
    }

    /// A subflow's segment that has just come in order has PSH (Linux tcp_measure_rcv_mss: ICSK_ACK_PUSHED).
    pub fn note_push(&mut self) {
        self.pushed = true;
    }

    /// Whether an ACK is due because the application has read all data of the connection (Linux
    /// `mptcp_subflow_could_cleanup`).
    #[must_use]
    pub fn is_due_when_read(&self) -> bool {
        self.pushed && self.quick.is_due(true)
    }

    /// The round-trip time as this side sees it.
    #[must_use]
    pub fn rtt(&self) -> Span {
        self.rtt
    }

    /// Prefetches what [`Receiver::next_timer`] reads.
    #[inline]
    pub fn fetch_timers(&self) {
        fetch(&self.delayed_until, 1);
    }

    /// When [`Receiver::on_timer`] is due.
    #[must_use]
    pub fn next_timer(&self) -> Time {
        self.delayed_until.min(self.compressed_until)
    }

    /// The handshake is answered at this time.
    pub fn accept(&mut self, now: Time) {
        self.next_echo = now;
    }

    /// A segment arrives; returns whether [`Receiver::acknowledge`] is due at once.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, data: &Data, ecn: EcnField) -> bool {
        if data.sent_at < self.echo && self.is_old(data.sent_at) {
            self.refuse(data.seq);
            return true;
        }
        self.note_ecn(data, ecn);
        self.measure_rtt(now, data.echo);
        // RFC 7323 section 4.3, for an acceptable segment: Linux tcp_sequence has already dropped those below
        // the last ACK.
        let renews =
            (data.seq <= self.last_ack) & (data.seq + 1 >= self.last_ack) & (data.sent_at >= self.echo);
        self.echo = if renews { data.sent_at } else { self.echo };
        if (data.seq == self.next) & self.pending.is_empty() {
            return self.in_order(now, data.push);
        }
        self.beside_the_order(now, data.seq)
    }

    /// RFC 7323 section 5.3: a segment is refused if its timestamp is older than that of one that has since
    /// filled a hole (PAWS; Linux `tcp_paws_discard`). So is a late one after a retransmission below it.
    #[cold]
    fn is_old(&self, sent_at: Time) -> bool {
        let ticks = |at: Time| TIMESTAMP_TICK.whole_in(Span(at.0));
        self.options.paws && self.options.timestamps && ticks(self.echo) - ticks(sent_at) > PAWS_WINDOW
    }

    /// Linux `tcp_send_dupack`: a refused segment is acknowledged at once, as a duplicate if it had arrived before.
    #[cold]
    fn refuse(&mut self, seq: u32) {
        if seq < self.next {
            self.quick.on_duplicate(self.window.segments());
            self.duplicate = Some(Block { start: seq, end: seq + 1 });
        }
    }

    #[inline(never)]
    fn beside_the_order(&mut self, now: Time, seq: u32) -> bool {
        if self.compressed > 0 && seq > self.next && self.needs_another_block(seq) {
            self.behind_ack = NonZeroU32::new(seq);
            return true;
        }
        self.insert(now, seq);
        // RFC 5681 section 4.2: a segment that fills a gap, in part or whole, is acknowledged at once. Linux
        // __tcp_ack_snd_check: so is each one while ACKs are quick.
        self.duplicate.is_some()
            || self.pending.is_empty()
            || self.next > self.last_ack + 1
            || self.quick.is_due(false)
            || self.out_of_order(now)
    }

    /// A timer is due.
    pub fn on_timer(&mut self, now: Time) -> Option<AckHeader> {
        if now >= self.delayed_until {
            return Some(self.acknowledge(now, true));
        }
        (now >= self.compressed_until).then(|| self.acknowledge(now, false))
    }

    fn note_ecn(&mut self, data: &Data, ecn: EcnField) {
        // RFC 3168 section 6.1.3: echo until the sender says that it has reduced.
        if data.cwr {
            self.ece = false;
        }
        if ecn == EcnField::Ce {
            // Linux does so for the first of the marks that are echoed together (TCP_ECN_DEMAND_CWR).
            if !self.ece {
                self.quick.on_mark(self.window.segments());
            }
            self.ece = true;
            self.ce_count += 1;
        }
    }

    /// Linux tcp_rcv_rtt_measure_ts and tcp_rcv_rtt_update: one sample for each timestamp that is echoed, in
    /// whole milliseconds. A shorter one replaces the RTT, a longer one counts by an eighth.
    fn measure_rtt(&mut self, now: Time, echo: Time) {
        if echo < self.next_echo && self.rtt != Span::ZERO {
            return;
        }
        let sent = TIMESTAMP_TICK.whole_in(Span(echo.0));
        self.next_echo = Time((sent + 1) * TIMESTAMP_TICK.0);
        let sample = TIMESTAMP_TICK.times(TIMESTAMP_TICK.whole_in(Span(now.0)) - sent);
        // Below a millisecond Linux measures by whole windows; this takes the exact time.
        let sample = if sample == Span::ZERO { now.since(echo) } else { sample };
        let first = self.rtt == Span::ZERO;
        if first {
            self.first_rtt = now.since(echo);
        }
        self.rtt = if first || sample < self.rtt {
            sample
        } else {
            Span(self.rtt.0 - self.rtt.0 / 8 + sample.0 / 8)
        };
    }

    #[inline(always)]
    fn in_order(&mut self, now: Time, push: bool) -> bool {
        self.next += 1;
        self.unacknowledged += 1;
        self.quick.on_data(now, self.window.segments(), self.rtt, self.options.rto_min);
        self.grow_in_order();
        self.window.on_read(now, self.next - 1, self.next, self.rtt);
        if u64::from(self.unacknowledged) >= self.options.delayed_ack || self.quick.is_due(push) {
            return true;
        }
        self.delayed_until = self.delayed_until.min(self.delayed_from(now));
        self.timer = self.delayed_until;
        false
    }

    /// When an ACK leaves that is delayed from now on.
    fn delayed_from(&self, now: Time) -> Time {
        expiry(self.options.timer_tick, now, now + self.options.delayed_ack_timeout)
    }

    /// Takes a segment that is old, fills a gap, or is out of order.
    fn insert(&mut self, now: Time, seq: u32) {
        if seq < self.next {
            self.quick.on_duplicate(self.window.segments());
            self.duplicate = Some(Block { start: seq, end: seq + 1 });
            return;
        }
        if seq == self.next {
            self.next += 1;
            self.quick.on_data(now, self.window.segments(), self.rtt, self.options.rto_min);
            self.grow_in_order();
            self.absorb();
            self.unread = self.next - seq;
            self.window.on_read(now, seq, self.next, self.rtt);
            return;
        }
        let blocks = self.pending.len();
        if self.insert_block(seq) {
            // Linux tcp_data_queue_ofo: what extends a block is in the buffer already, what begins one is not.
            let extends = self.pending.len() <= blocks;
            if self.window.grow(self.held + u32::from(extends)) {
                self.quick.on_growth();
            }
            self.held += 1;
        }
    }

    /// A segment arrived in order; the window may grow.
    #[inline(always)]
    fn grow_in_order(&mut self) {
        if self.window.grow_in_order(self.held) {
            self.quick.on_growth();
        }
    }

    /// Joins the first out-of-order block to the data in order if they now touch.
    fn absorb(&mut self) {
        let Some(first) = self.pending.front() else { return };
        if first.start == self.next {
            let (start, end) = (first.start, first.end);
            self.next = end;
            self.held -= end - start;
            self.pending.pop_front();
            self.forget_recent(start);
        }
    }

    /// Takes a segment beyond the next one; returns whether it is new.
    fn insert_block(&mut self, seq: u32) -> bool {
        // Most segments extend the last block.
        if let Some(last) = self.pending.back_mut()
            && last.end == seq
        {
            last.end = seq + 1;
            let start = last.start;
            self.touch(start);
            return true;
        }
        let after = self.pending.partition_point(|block| block.start <= seq);
        if after > 0 && seq < self.pending[after - 1].end {
            self.duplicate = Some(Block { start: seq, end: seq + 1 });
            let start = self.pending[after - 1].start;
            self.touch(start);
            return false;
        }
        let joins_previous = after > 0 && self.pending[after - 1].end == seq;
        let joins_next = after < self.pending.len() && self.pending[after].start == seq + 1;
        let start = match (joins_previous, joins_next) {
            (true, true) => {
                let next = self.pending[after];
                self.pending[after - 1].end = next.end;
                self.pending.remove(after);
                self.forget_recent(next.start);
                self.pending[after - 1].start
            }
            (true, false) => {
                self.pending[after - 1].end = seq + 1;
                self.pending[after - 1].start
            }
            (false, true) => {
                let old = self.pending[after].start;
                self.pending[after].start = seq;
                self.forget_recent(old);
                seq
            }
            (false, false) => {
                self.pending.insert(after, Block { start: seq, end: seq + 1 });
                seq
            }
        };
        self.touch(start);
        true
    }

    /// RFC 2018 section 4: the block of the newest segment comes first, then those reported before.
    fn touch(&mut self, start: u32) {
        let len = usize::from(self.recent_len);
        let at = self.recent[..len].iter().position(|&s| s == start);
        if at.is_none() && len < SACK_BLOCKS {
            self.recent_len += 1;
        }
        self.recent.copy_within(0..at.unwrap_or(len.min(SACK_BLOCKS - 1)), 1);
        self.recent[0] = start;
    }

    fn forget_recent(&mut self, start: u32) {
        if let Some(at) = self.recent[..usize::from(self.recent_len)].iter().position(|&s| s == start) {
            self.recent.copy_within(at + 1..self.recent_len.into(), at);
            self.recent_len -= 1;
        }
    }

    /// Linux's SACK compression: the first duplicates at once, then one ACK for all segments that arrive in a
    /// short while. Without SACK the sender counts the duplicates, so each leaves at once (RFC 5681 section 4.2; Linux
    /// __tcp_ack_snd_check).
    fn out_of_order(&mut self, now: Time) -> bool {
        let rtt = self.rtt.min(self.first_rtt);
        let delay = self.options.sack_compression.min(Span(rtt.0 / COMPRESSION_RTT_DIVISOR));
        if delay == Span::ZERO || !self.options.sack || self.compressed >= COMPRESSED_MOST {
            return true;
        }
        if self.duplicates_of != self.next {
            self.duplicates_of = self.next;
            self.duplicates_sent = 0;
        }
        if self.duplicates_sent < UNCOMPRESSED_DUPLICATES {
            self.duplicates_sent += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed_until == Time::NEVER {
            // Linux tcp_delack_timer_handler: a timer of a delayed ACK that still runs ends the wait.
            let other = if self.timer > now { self.timer } else { Time::NEVER };
            self.compressed_until = other.min(now + delay + COMPRESSION_SLACK);
        }
        false
    }

    /// Whether a new segment belongs to none of the blocks that the held-back ACK reports. Then this ACK leaves first,
    /// without the segment, for which neither an ACK nor the timer becomes due (Linux `tcp_sack_new_ofo_skb`: the ACK
    /// clears what the segment has scheduled).
    fn needs_another_block(&self, seq: u32) -> bool {
        let latest = &self.recent[..COMPRESSED_BLOCKS.min(self.recent_len.into())];
        let after = self.pending.partition_point(|block| block.start <= seq);
        let is_new = after == 0 || self.pending[after - 1].end <= seq;
        let joins = |block: &&Block| block.end == seq || block.start == seq + 1;
        let neighbours = self.pending.range(after.saturating_sub(1)..self.pending.len().min(after + 1));
        latest.len() == COMPRESSED_BLOCKS
            && is_new
            && !neighbours.filter(joins).any(|block| latest.contains(&block.start))
    }

    /// The ACK of all that has arrived; `delayed`: the timer held it back.
    pub fn acknowledge(&mut self, now: Time, delayed: bool) -> AckHeader {
        let mut header = AckHeader::default();
        self.write_ack(now, delayed, &mut header);
        header
    }

    /// Writes that ACK, all of it, where it stays.
    #[inline(always)]
    pub fn write_ack(&mut self, now: Time, delayed: bool, header: &mut AckHeader) {
        let held = self.held + std::mem::take(&mut self.unread);
        if self.window.is_short(held) {
            self.quick.stop();
        }
        self.quick.on_ack();
        self.unacknowledged = 0;
        self.delayed_until = Time::NEVER;
        self.compressed = 0;
        self.pushed = false;
        self.compressed_until = Time::NEVER;
        self.last_ack = self.next;
        let duplicate = self.duplicate.take().filter(|_| self.options.sack);
        let missing = self.options.sack && (duplicate.is_some() || !self.pending.is_empty());
        header.sent_at = now;
        header.echo = self.echo;
        header.cumulative = self.next;
        header.window = self.window.announce(self.next, held);
        header.sack = Default::default();
        header.ce_count = self.ce_count;
        header.ece = self.ece;
        header.dsack = duplicate.is_some();
        header.delayed = delayed;
        if missing {
            self.write_blocks(duplicate, &mut header.sack);
        }
        if self.behind_ack.is_some() {
            self.take_behind_ack(now);
        }
    }

    #[cold]
    fn take_behind_ack(&mut self, now: Time) {
        if let Some(seq) = self.behind_ack.take() {
            self.insert(now, seq.get());
        }
    }

    /// Writes the blocks over empty ones.
    #[inline(never)]
    fn write_blocks(&self, duplicate: Option<Block>, blocks: &mut [Block; SACK_BLOCKS]) {
        let mut used = 0;
        if let Some(duplicate) = duplicate {
            blocks[0] = duplicate;
            used = 1;
        }
        for &start in &self.recent[..usize::from(self.recent_len)] {
            if used == SACK_BLOCKS {
                break;
            }
            let at = self.pending.partition_point(|block| block.start < start);
            blocks[used] = self.pending[at];
            used += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn receiver(options: TcpOptions) -> Receiver {
        Receiver::new(Arc::new(options))
    }

    /// The answer to a segment, if one is due at once.
    fn arrive(receiver: &mut Receiver, now: Time, data: &Data, ecn: EcnField) -> Option<AckHeader> {
        receiver.on_data(now, data, ecn).then(|| receiver.acknowledge(now, false))
    }

    fn data(seq: u32) -> Data {
        Data { seq, sent_at: Time(u64::from(seq)), echo: Time::ZERO, cwr: false, push: false }
    }

    fn plain() -> TcpOptions {
        TcpOptions { quick_ack: false, sack_compression: Span::ZERO, ..TcpOptions::default() }
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_timeout() {
        let mut receiver = receiver(plain());
        let mut arrive =
            |seq| arrive(&mut receiver, Time(0), &data(seq), EcnField::NotEct).map(|ack| ack.cumulative);
        // The first data segment is acknowledged at once, as both Linux and ns-3 do.
        assert_eq!([0, 1, 2, 3].map(&mut arrive), [Some(1), None, Some(3), None]);
        assert_eq!(receiver.next_timer(), Time(41_000_000));
        let ack = receiver.on_timer(Time(41_000_000)).unwrap();
        assert_eq!((ack.cumulative, ack.delayed), (4, true));
    }

    #[test]
    fn a_delayed_ack_waits_for_a_tick_that_is_later_by_more_than_the_delay() {
        for (tick_ms, at_us, due_us) in
            [(1, 0, 41_000), (1, 999, 41_000), (1, 1000, 42_000), (4, 999, 44_000), (0, 999, 40_999)]
        {
            let mut receiver = receiver(TcpOptions { timer_tick: Span::from_millis(tick_ms), ..plain() });
            let at = Time(at_us * 1000);
            for seq in [0, 1] {
                arrive(&mut receiver, at, &data(seq), EcnField::NotEct);
            }
            assert_eq!(receiver.next_timer(), Time(due_us * 1000), "ticks of {tick_ms} ms");
        }
    }

    /// Linux tcp_grow_window: the ACKs of a subflow stay quick while its window grows towards that of its connection.
    #[test]
    fn acks_are_quick_while_the_window_grows() {
        let answered = |space: u64| {
            let mut receiver = receiver(TcpOptions::default());
            receiver.follow(space);
            let at = |seq: u32| Time(u64::from(seq) * 1_000_000);
            (0..2000)
                .filter(|seq| arrive(&mut receiver, at(*seq), &data(*seq), EcnField::NotEct).is_some())
                .count()
        };
        assert_eq!(answered(50_000_000), 2000);
        // 50 segments, plus those acknowledged quickly before; from then on every second one.
        assert!((1000..1100).contains(&answered(2 * 50 * 1448)), "{}", answered(2 * 50 * 1448));
    }

    #[test]
    fn only_sacks_are_compressed() {
        let answered = |sack: bool| {
            let mut receiver = receiver(TcpOptions { sack, quick_ack: false, ..TcpOptions::default() });
            let now = Time(100_000_000);
            (2..12).filter(|seq| arrive(&mut receiver, now, &data(*seq), EcnField::NotEct).is_some()).count()
        };
        assert_eq!((answered(true), answered(false)), (UNCOMPRESSED_DUPLICATES as usize, 10));
    }

    /// Segments 1 to 4 have arrived without segment 0: three duplicate ACKs have left, and the fourth is held back.
    fn compressing(rtt: Span) -> Receiver {
        let mut receiver = receiver(TcpOptions { quick_ack: false, ..TcpOptions::default() });
        receiver.accept(Time(0));
        let at = Time(rtt.0);
        let answered =
            [1, 2, 3, 4].map(|seq| arrive(&mut receiver, at, &data(seq), EcnField::NotEct).is_some());
        assert_eq!(answered, [true, true, true, false]);
        receiver
    }

    #[test]
    fn a_compressed_ack_waits_for_a_share_of_the_shorter_rtt_and_the_slack_of_its_timer() {
        for (rtt_ms, wait_us) in [(100, 1100), (10, 600)] {
            let rtt = Span::from_millis(rtt_ms);
            assert_eq!(compressing(rtt).next_timer(), Time(rtt.0 + wait_us * 1000), "{rtt_ms} ms");
        }
        // A queue has made the RTT longer since the handshake.
        let mut receiver = receiver(TcpOptions { quick_ack: false, ..TcpOptions::default() });
        let late = Data { echo: Time(5_000_000), ..data(1) };
        arrive(&mut receiver, Time(10_000_000), &data(0), EcnField::NotEct);
        for seq in 2..6 {
            arrive(&mut receiver, Time(105_000_000), &Data { seq, ..late }, EcnField::NotEct);
        }
        assert!(receiver.rtt() > Span::from_millis(20));
        assert_eq!(receiver.next_timer(), Time(105_600_000));
    }

    #[test]
    fn the_timer_of_a_delayed_ack_runs_on_and_ends_a_compressed_one() {
        let mut receiver = receiver(TcpOptions { quick_ack: false, ..TcpOptions::default() });
        let mut arrive = |us: u64, seq| {
            arrive(&mut receiver, Time(us * 1000), &data(seq), EcnField::NotEct);
            receiver.next_timer()
        };
        // Segment 1 is acknowledged with segment 2. Its timer expires at 141 ms.
        assert_eq!(
            [arrive(99_000, 0), arrive(100_000, 1), arrive(101_000, 2)],
            [Time::NEVER, Time(141_000_000), Time::NEVER]
        );
        for seq in [4, 5, 6] {
            arrive(139_000, seq);
        }
        assert_eq!(arrive(140_500, 7), Time(141_000_000));
    }

    #[test]
    fn forty_four_acks_are_held_back_at_most() {
        let mut receiver = compressing(Span::from_millis(100));
        let first = (5..)
            .find(|seq| arrive(&mut receiver, Time(100_500_000), &data(*seq), EcnField::NotEct).is_some());
        assert_eq!(first, Some(4 + u32::from(COMPRESSED_MOST)));
    }

    /// Linux tcp_sack_new_ofo_skb.
    #[test]
    fn a_held_back_ack_leaves_before_a_third_block() {
        let mut receiver = compressing(Span::from_millis(100));
        let at = |us: u64, seq| (Time(us * 1000), data(seq));
        let mut arrives = |(now, data): (Time, Data)| {
            let answer = arrive(&mut receiver, now, &data, EcnField::NotEct);
            (answer.map(|ack| ack.sack), receiver.next_timer())
        };
        let (first, none) = (Block { start: 1, end: 5 }, Block::default());
        let seventh = Block { start: 7, end: 8 };
        assert_eq!(arrives(at(100_100, 7)), (None, Time(101_100_000)));
        // The ninth itself starts no timer.
        assert_eq!(arrives(at(100_200, 9)), (Some([seventh, first, none]), Time::NEVER));
        assert_eq!(arrives(at(100_300, 10)), (None, Time(101_400_000)));
        // What extends the third block waits as well.
        let ninth = Block { start: 9, end: 11 };
        assert_eq!(arrives(at(100_400, 5)), (Some([ninth, seventh, first]), Time::NEVER));
        let last = receiver.acknowledge(Time(100_500_000), false);
        assert_eq!(last.sack, [Block { start: 1, end: 6 }, ninth, seventh]);
    }

    #[test]
    fn blocks_come_newest_first() {
        let mut receiver = receiver(plain());
        let mut last = AckHeader::default();
        for seq in [0, 2, 4, 6, 3] {
            last = arrive(&mut receiver, Time(0), &data(seq), EcnField::NotEct).unwrap();
        }
        let block = |start, end| Block { start, end };
        assert_eq!(last.sack, [block(2, 5), block(6, 7), Block::default()]);
        let ack = arrive(&mut receiver, Time(0), &data(1), EcnField::NotEct).unwrap();
        assert_eq!((ack.cumulative, ack.sack[0]), (5, block(6, 7)));
    }

    #[test]
    fn a_duplicate_is_reported_first() {
        let mut receiver = receiver(plain());
        for seq in [0, 1, 3] {
            arrive(&mut receiver, Time(0), &data(seq), EcnField::NotEct);
        }
        let ack = arrive(&mut receiver, Time(0), &data(0), EcnField::NotEct).unwrap();
        assert!(ack.dsack);
        assert_eq!(ack.sack[..2], [Block { start: 0, end: 1 }, Block { start: 3, end: 4 }]);
    }

    #[test]
    fn marks_are_echoed_until_the_sender_has_reduced() {
        let mut receiver = receiver(TcpOptions { delayed_ack: 1, ..plain() });
        let mut arrive = |seq, cwr, ecn| {
            let data = Data { cwr, ..data(seq) };
            arrive(&mut receiver, Time(0), &data, ecn).map(|ack| (ack.ece, ack.ce_count)).unwrap()
        };
        assert_eq!(arrive(0, false, EcnField::Ect0), (false, 0));
        assert_eq!(arrive(1, false, EcnField::Ce), (true, 1));
        assert_eq!(arrive(2, false, EcnField::Ect0), (true, 1));
        assert_eq!(arrive(3, true, EcnField::Ect0), (false, 1));
    }

    proptest! {
        /// Whatever the order of arrival, all is delivered, and every block names segments that have arrived.
        #[test]
        fn reassembly(order in Just((0u32..60).collect::<Vec<_>>()).prop_shuffle()) {
            let mut receiver = receiver(plain());
            let mut arrived = [false; 60];
            for seq in order {
                arrived[seq as usize] = true;
                if let Some(ack) = arrive(&mut receiver, Time(0), &data(seq), EcnField::NotEct) {
                    let in_order = arrived.iter().take_while(|a| **a).count();
                    prop_assert_eq!(ack.cumulative as usize, in_order);
                    for block in ack.sack.iter().filter(|b| b.end > b.start) {
                        prop_assert!(block.start > ack.cumulative);
                        prop_assert!((block.start..block.end).all(|s| arrived[s as usize]));
                        prop_assert!(!arrived[block.start as usize - 1]);
                    }
                }
            }
            prop_assert_eq!(receiver.next(), 60);
        }
    }
}
