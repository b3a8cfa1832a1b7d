//! The script of one sender: what happens to it and when, and what it is expected to do about it.
//!
//! The test plays the network and the receiver. Whatever the sender sends must be expected by a later line, in
//! order; what nobody expected fails the next line, with the story so far.

use cwndlab_cc::algorithm::Build;
use cwndlab_cc::{Phase, Registry, Rng, Span, Time};
use cwndlab_sim::packet::{AckHeader, Block, SACK_BLOCKS};
use cwndlab_sim::tap::NoTap;
use cwndlab_sim::tcp::{Outgoing, Profile, Sender, Stream, Supply, TcpOptions, TimestampClock};
use cwndlab_sim::turn::Turn;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

/// The round-trip time of the handshake, and of whatever the script does not say otherwise.
pub const RTT: u64 = 100;

/// So many milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A sender's turn that nobody looks at, with a host that takes everything.
pub fn turn(now: Time, outbox: &mut Vec<Outgoing>) -> Turn<'_, NoTap> {
    // Of no size, so nothing is allocated and nothing leaks.
    let tap = Box::leak(Box::new(NoTap));
    Turn { now, room: u32::MAX, outbox, tap, flow: 0, way_out: None }
}

/// What a script begins with.
pub struct Opening {
    pub options: TcpOptions,
    profile: &'static Profile,
    build: Build,
    bytes: Option<u64>,
    edge: u32,
}

/// An endpoint of Linux with Reno's window, and with exact timers: the times of a script are those of the RFCs.
pub fn linux() -> Opening {
    linux_with_ticks().with(|options| {
        options.timer_tick = Span::ZERO;
        options.timer_margin = Span::ZERO;
    })
}

/// An endpoint of Linux with Reno's window, and with Linux's timers.
pub fn linux_with_ticks() -> Opening {
    Opening::of("linux")
}

/// An endpoint of ns-3 with Reno's window.
pub fn ns3() -> Opening {
    Opening::of("ns3")
}

/// An endpoint of Linux 2.2 with Reno's window.
pub fn linux_2_2() -> Opening {
    Opening::of("linux-2.2")
}

impl Opening {
    fn of(profile: &str) -> Self {
        let profile = Profile::named(profile).expect("a profile that ships");
        let build: Build = Arc::new(|_, _| unreachable!("replaced below"));
        Self { options: profile.options(), profile, build, bytes: None, edge: u32::MAX }.cc("reno")
    }

    /// Another algorithm that ships, in the profile's dialect.
    pub fn cc(mut self, name: &str) -> Self {
        let algorithm = Registry::built_in().get(name).expect(name).clone();
        let dialect = self.profile.dialect(name);
        self.build = Arc::new(move |setup, _| (algorithm.build)(setup, &dialect));
        self
    }

    /// An algorithm of the test's own.
    pub fn controller(mut self, build: Build) -> Self {
        self.build = build;
        self
    }

    /// Other options than the profile's.
    pub fn with(mut self, change: impl FnOnce(&mut TcpOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// How much there is to send.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// How much there is to send, in full segments.
    pub fn segments(self, segments: u64) -> Self {
        let bytes = segments * self.options.mss;
        self.bytes(bytes)
    }

    /// The receiver has room for segments below this one only.
    pub fn room_below(mut self, segment: u32) -> Self {
        self.edge = segment;
        self
    }

    /// The sender, not started.
    pub fn sender(&self) -> Sender {
        Sender::new(
            Arc::new(self.options.clone()),
            |setup| (self.build)(setup, &[]),
            Supply::Own(Stream::new(self.options.mss, self.bytes)),
            TimestampClock::new(&self.options, &mut Rng::named(1, "script clock")),
            Rng::named(1, "script"),
        )
    }

    /// At 0 ms the SYN leaves; nothing answers it yet.
    pub fn start(self) -> Script {
        let sender = self.sender();
        let mut script = Script {
            sender,
            now: Time::ZERO,
            outbox: Vec::new(),
            unexpected: VecDeque::new(),
            transmissions: Vec::new(),
            una: 0,
            newest_echo: Time::ZERO,
            edge: self.edge,
            ece: false,
            mss: self.options.mss,
            story: String::new(),
        };
        script.sender.start(&mut turn(Time::ZERO, &mut script.outbox));
        script.collect();
        script
    }

    /// An open connection: SYN at 0 ms, SYN-ACK at 100 ms, and the initial window has left.
    pub fn open(self) -> Script {
        let mut script = self.start();
        script.expect_syn();
        script.at(RTT).syn_ack();
        script
    }
}

/// What a sender has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Syn,
    New { seq: u32, payload: u64, cwr: bool },
    Again { seq: u32 },
}

/// A sender, its clock, and the story so far.
pub struct Script {
    pub sender: Sender,
    now: Time,
    outbox: Vec<Outgoing>,
    unexpected: VecDeque<Sent>,
    /// When each segment was sent, each time.
    transmissions: Vec<Vec<Time>>,
    una: u32,
    newest_echo: Time,
    edge: u32,
    ece: bool,
    mss: u64,
    story: String,
}

impl Script {
    // What happens.

    /// Lets the time come, with every clock that is due by then.
    #[track_caller]
    pub fn at(&mut self, at: u64) -> &mut Self {
        self.expect_nothing();
        assert!(ms(at) >= self.now, "the script goes back in time");
        while self.sender.next_timer() <= ms(at) {
            let due = self.sender.next_timer();
            assert!(due >= self.now, "a clock of the sender is in the past\n{}", self.story);
            self.now = due;
            self.tell("a clock is due");
            self.sender.on_timer(&mut turn(due, &mut self.outbox));
            self.collect();
        }
        self.now = ms(at);
        self
    }

    /// The connection is accepted.
    pub fn syn_ack(&mut self) -> &mut Self {
        self.tell("SYN-ACK arrives");
        self.sender.on_syn_ack(&mut turn(self.now, &mut self.outbox), self.now, self.edge);
        self.collect();
        self
    }

    /// An ACK of all below `cumulative`, caused by the latest transmission of the first segment that it covers.
    #[track_caller]
    pub fn ack(&mut self, cumulative: u32) -> &mut Self {
        self.sack(cumulative, [])
    }

    /// An ACK with SACK blocks.
    #[track_caller]
    pub fn sack<const N: usize>(&mut self, cumulative: u32, blocks: [(u32, u32); N]) -> &mut Self {
        let echo = self.sent_at(self.una, usize::MAX);
        self.acknowledge(cumulative, &blocks, echo, false)
    }

    /// The same, caused by the first transmission: its timestamp comes back (RFC 7323 section 4.3).
    #[track_caller]
    pub fn ack_of_original<const N: usize>(&mut self, cumulative: u32, blocks: [(u32, u32); N]) -> &mut Self {
        let echo = self.sent_at(self.una, 0);
        self.acknowledge(cumulative, &blocks, echo, false)
    }

    /// The same, caused by the `nth` transmission (0 is the first) of the first segment that it covers.
    #[track_caller]
    pub fn ack_of_transmission(&mut self, cumulative: u32, nth: usize) -> &mut Self {
        let echo = self.sent_at(self.una, nth);
        self.acknowledge(cumulative, &[], echo, false)
    }

    /// An ACK whose first block says that `segment` arrived twice.
    #[track_caller]
    pub fn dsack<const N: usize>(
        &mut self,
        cumulative: u32,
        segment: u32,
        blocks: [(u32, u32); N],
    ) -> &mut Self {
        let mut all = vec![(segment, segment + 1)];
        all.extend(blocks);
        let echo = self.sent_at(self.una, usize::MAX);
        self.acknowledge(cumulative, &all, echo, true)
    }

    /// From now on ACKs echo congestion marks, or no longer.
    pub fn echo_marks(&mut self, ece: bool) -> &mut Self {
        self.ece = ece;
        self
    }

    /// From now on the receiver has room for segments below this one.
    pub fn room_below(&mut self, segment: u32) -> &mut Self {
        self.edge = segment;
        self
    }

    /// The agent has acted after [`cwndlab_cc::Decision::Due`].
    pub fn finish_decision(&mut self) -> &mut Self {
        self.sender.finish_decision(&mut turn(self.now, &mut self.outbox));
        self.collect();
        self
    }

    // What is expected.

    /// These new segments left, and before them nothing else that was not expected.
    #[track_caller]
    pub fn expect_sent(&mut self, segments: impl IntoIterator<Item = u32>) -> &mut Self {
        for expected in segments {
            match self.unexpected.pop_front() {
                Some(Sent::New { seq, .. }) if seq == expected => {}
                other => self.fail(&format!("segment {expected} should be sent, not {other:?}")),
            }
        }
        self
    }

    /// These segments left again.
    #[track_caller]
    pub fn expect_resent(&mut self, segments: impl IntoIterator<Item = u32>) -> &mut Self {
        for expected in segments {
            match self.unexpected.pop_front() {
                Some(Sent::Again { seq }) if seq == expected => {}
                other => self.fail(&format!("segment {expected} should be sent again, not {other:?}")),
            }
        }
        self
    }

    /// The next new segment left with this payload.
    #[track_caller]
    pub fn expect_payload(&mut self, segment: u32, bytes: u64) -> &mut Self {
        match self.unexpected.pop_front() {
            Some(Sent::New { seq, payload, .. }) if (seq, payload) == (segment, bytes) => self,
            other => self.fail(&format!("segment {segment} of {bytes} bytes should be sent, not {other:?}")),
        }
    }

    /// The next new segment left with CWR.
    #[track_caller]
    pub fn expect_sent_with_cwr(&mut self, segment: u32) -> &mut Self {
        match self.unexpected.pop_front() {
            Some(Sent::New { seq, cwr: true, .. }) if seq == segment => self,
            other => self.fail(&format!("segment {segment} should be sent with CWR, not {other:?}")),
        }
    }

    /// A SYN left.
    #[track_caller]
    pub fn expect_syn(&mut self) -> &mut Self {
        match self.unexpected.pop_front() {
            Some(Sent::Syn) => self,
            other => self.fail(&format!("a SYN should be sent, not {other:?}")),
        }
    }

    /// Whether one of the segments that left says CWR.
    pub fn carries_cwr(&self) -> bool {
        self.unexpected.iter().any(|sent| matches!(sent, Sent::New { cwr: true, .. }))
    }

    /// How many segments left, whichever they are.
    pub fn count_sent(&mut self) -> usize {
        self.unexpected.drain(..).count()
    }

    /// Nothing more has left.
    #[track_caller]
    pub fn expect_nothing(&mut self) -> &mut Self {
        match self.unexpected.front() {
            None => self,
            Some(sent) => self.fail(&format!("nothing more should be sent, but {sent:?} was")),
        }
    }

    /// The window in segments.
    #[track_caller]
    pub fn expect_cwnd(&mut self, segments: u64) -> &mut Self {
        let cwnd = self.sender.control().cwnd;
        self.expect("cwnd", cwnd as f64 / self.mss as f64, segments as f64)
    }

    /// The slow-start threshold in segments.
    #[track_caller]
    pub fn expect_ssthresh(&mut self, segments: u64) -> &mut Self {
        self.expect_ssthresh_of(segments as f64)
    }

    /// The same with a part of a segment.
    #[track_caller]
    pub fn expect_ssthresh_of(&mut self, segments: f64) -> &mut Self {
        let ssthresh = self.ssthresh();
        self.expect("ssthresh", ssthresh / self.mss as f64, segments)
    }

    /// There has been no reduction, or it was taken back.
    #[track_caller]
    pub fn expect_no_ssthresh(&mut self) -> &mut Self {
        let ssthresh = self.ssthresh();
        if ssthresh.is_nan() {
            self
        } else {
            self.fail(&format!("ssthresh should not be set, but is {ssthresh} bytes"))
        }
    }

    /// The phase of loss recovery.
    #[track_caller]
    pub fn expect_phase(&mut self, phase: Phase) -> &mut Self {
        self.expect("the phase", self.sender.phase(), phase)
    }

    /// Segments in flight.
    #[track_caller]
    pub fn expect_in_flight(&mut self, segments: u32) -> &mut Self {
        self.expect("what is in flight", self.sender.in_flight(), segments)
    }

    /// A condition of the test's own.
    #[track_caller]
    pub fn expect<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, found: T, expected: T) -> &mut Self {
        if found == expected {
            self
        } else {
            self.fail(&format!("{what} should be {expected:?}, not {found:?}"))
        }
    }

    // How it is done.

    fn ssthresh(&self) -> f64 {
        let controller = self.sender.controller();
        let mut values = vec![0.0; controller.probes().len()];
        controller.probe(&mut values);
        values[0]
    }

    /// When a segment left for the `nth` time, or the last.
    fn sent_at(&self, seq: u32, nth: usize) -> Time {
        let times = self.transmissions.get(seq as usize);
        times.and_then(|times| times.get(nth).or(times.last()).copied()).unwrap_or(self.newest_echo)
    }

    #[track_caller]
    fn acknowledge(&mut self, cumulative: u32, blocks: &[(u32, u32)], echo: Time, dsack: bool) -> &mut Self {
        self.expect_nothing();
        let mut sack = [Block::default(); SACK_BLOCKS];
        for (to, &(start, end)) in sack.iter_mut().zip(blocks) {
            *to = Block { start, end };
        }
        // Only a segment that advances the left edge leaves its timestamp.
        self.newest_echo = if cumulative > self.una { echo } else { self.newest_echo };
        self.una = self.una.max(cumulative);
        let header = AckHeader {
            sent_at: self.now,
            echo: self.newest_echo,
            cumulative,
            window: self.edge - cumulative,
            sack,
            ece: self.ece,
            dsack,
            ..AckHeader::default()
        };
        let word = if dsack { "DSACK" } else { "ACK" };
        let ece = if self.ece { " with ECE" } else { "" };
        self.tell(&format!("{word} {cumulative} {blocks:?}{ece} arrives"));
        self.sender.on_ack(&mut turn(self.now, &mut self.outbox), &header);
        self.collect();
        self
    }

    /// Takes what left into the story.
    pub fn collect(&mut self) {
        for outgoing in std::mem::take(&mut self.outbox) {
            let sent = match outgoing {
                Outgoing::Syn => Sent::Syn,
                Outgoing::Segment { data, payload, .. } => {
                    let seq = data.seq as usize;
                    let again = seq < self.transmissions.len();
                    if again {
                        self.transmissions[seq].push(self.now);
                        Sent::Again { seq: data.seq }
                    } else {
                        assert_eq!(seq, self.transmissions.len(), "new segments leave in order");
                        self.transmissions.push(vec![self.now]);
                        Sent::New { seq: data.seq, payload, cwr: data.cwr }
                    }
                }
            };
            self.tell(&format!("    {sent:?}"));
            self.unexpected.push_back(sent);
        }
    }

    fn tell(&mut self, what: &str) {
        let sender = &self.sender;
        let cwnd = sender.control().cwnd as f64 / self.mss as f64;
        let (at, in_flight, phase) = (Span(self.now.0).as_millis_f64(), sender.in_flight(), sender.phase());
        let _infallible =
            writeln!(self.story, "{at:>8.2} ms  {what:<50} cwnd {cwnd:.1}, {in_flight} in flight, {phase:?}");
    }

    #[track_caller]
    pub fn fail(&self, why: &str) -> ! {
        let now = Span(self.now.0);
        panic!("{why}, at {now}\n\nThe story so far:\n{}", self.story)
    }
}

impl Drop for Script {
    /// A test that forgets what was sent last has not looked.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.expect_nothing();
        }
    }
}
