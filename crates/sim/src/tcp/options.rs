//! The options of a TCP endpoint, each declared once, and the stack profiles: named sets of them.

use crate::fragment::fragments;
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_cc::{Setup, Span};

cwndlab_cc::words! {
    /// How much a sender may send in recovery.
    pub enum Recovery {
        /// Proportional rate reduction (RFC 9937).
        Prr = "prr",
        /// The same with the arithmetic of ns-3.35 to 3.37, whose product wraps at 32 bits.
        PrrNs3 = "prr-ns3",
        /// As much as the window allows: RFC 6675, or RFC 6582 (NewReno) without SACK.
        Window = "window",
        /// Plain Reno (RFC 5681): the same, but the first new ACK ends it.
        Reno = "reno",
    }
}

cwndlab_cc::words! {
    /// How a loss is detected.
    pub enum LossDetection {
        /// By time: RACK (RFC 8985).
        Rack = "rack",
        /// By three segments SACKed above (RFC 6675).
        Sack = "sack",
    }
}

cwndlab_cc::words! {
    /// What a connection inherits from an earlier one.
    pub enum Metrics {
        /// Nothing.
        None = "none",
        /// The ssthresh that Linux saved when that one ended.
        Saved = "saved",
    }
}

cwndlab_cc::words! {
    /// Where the floor of the RTO applies.
    pub enum RtoFloor {
        /// RTO = SRTT + max(floor, 4 RTTVAR) (Linux).
        Variance = "variance",
        /// RTO = max(floor, SRTT + 4 RTTVAR) (RFC 6298).
        Total = "total",
    }
}

cwndlab_cc::parameters! {
    /// What `[tcp]` may set.
    pub struct TcpOptions {
        mss: u64 = 1448, "mss", Allowed::Count(64, 9000), "bytes",
            "payload of a full segment", "RFC 9293: 1500 less 52 bytes of headers with timestamps";
        header: u64 = 52, "header", Allowed::Count(0, 200), "bytes",
            "IP and TCP headers of a data segment and of an ACK", "IPv4 20, TCP 20, timestamps 12";
        mtu: u64 = u64::MAX, "mtu", Allowed::Count(576, u64::MAX), "bytes",
            "longest IP packet of a sender: a longer one leaves in fragments, and a segment of which one is lost is lost", "RFC 791; unlimited on Linux, which keeps segments below the MTU (RFC 1191); ns3: 1500 (PointToPointNetDevice)";
        overhead: u64 = 0, "overhead", Allowed::Count(0, 200), "bytes",
            "bytes that links carry in addition to each packet (a link's own `overhead` takes precedence)", "linux: none; ns3: 2 of PPP";
        initial_window: u64 = 10, "initial_window", Allowed::Count(1, 100_000), "segments",
            "window at the start", "RFC 6928";
        initial_ssthresh: u64 = u64::MAX, "initial_ssthresh", Allowed::Count(2, u64::MAX), "segments",
            "where the first slow start of a loss-based algorithm ends", "RFC 5681 section 3.1: arbitrarily high; Linux may take it from an earlier connection (tcp_no_metrics_save)";
        metrics: Metrics = Metrics::None, "metrics", Allowed::Word(Metrics::WORDS), "",
            "saved: initial_ssthresh is what an equal run before this one saved at its end, if it saved anything", "Linux tcp_update_metrics, tcp_init_metrics; off since Linux 5.6 (tcp_no_ssthresh_metrics_save)";
        rto_min: Span = Span::from_millis(200), "rto_min", Allowed::Span(Span::ZERO, Span::from_secs(60)), "time",
            "floor of the retransmission timeout", "Linux 200 ms; RFC 6298 1 s", at_most "rto_max";
        rto_floor: RtoFloor = RtoFloor::Variance, "rto_floor", Allowed::Word(RtoFloor::WORDS), "",
            "whether the floor applies to the variance term or to the whole timeout", "Linux; RFC 6298 rule (2.4)";
        rto_initial: Span = Span::from_secs(1), "rto_initial", Allowed::Span(Span::from_millis(1), Span::from_secs(60)), "time",
            "timeout before the first RTT sample", "RFC 6298 rule (2.1)";
        rto_max: Span = Span::from_secs(120), "rto_max", Allowed::Span(Span::from_secs(1), Span::from_secs(3600)), "time",
            "ceiling of the backed-off timeout", "Linux TCP_RTO_MAX";
        timer_restart: bool = true, "timer_restart", Allowed::Flag, "",
            "restart the timer when the first segment is retransmitted", "Linux tcp_xmit_retransmit_queue, Linux 2.2 tcp_fast_retrans; not in ns-3";
        delayed_ack: u64 = 2, "delayed_ack", Allowed::Count(1, 64), "segments",
            "segments that one ACK acknowledges; 1 turns delaying off", "RFC 5681 section 4.2";
        delayed_ack_timeout: Span = Span::from_millis(40), "delayed_ack_timeout", Allowed::Span(Span::from_millis(1), Span::from_millis(500)), "time",
            "longest delay of an ACK, to which the wait for a tick (timer_tick) is added", "Linux TCP_DELACK_MIN; ns-3 200 ms";
        timer_tick: Span = Span::from_millis(1), "timer_tick", Allowed::Span(Span::ZERO, Span::from_millis(100)), "time",
            "timers count whole ticks of their host's clock from the next one on, and expire from 63 ticks on at a multiple of 8, from 504 of 64, from 4032 of 512; 0 s: they are exact",
            "Linux kernel/time/timer.c with CONFIG_HZ=1000 (4 ms with 250); not in ns-3";
        timer_margin: Span = Span::from_millis(2), "timer_margin", Allowed::Span(Span::ZERO, Span::from_millis(100)), "time",
            "added to the wait for packets that may only be late, and to that of a probe while more than one segment is outstanding",
            "Linux TCP_TIMEOUT_MIN_US; RFC 8985 has none";
        quick_ack: bool = true, "quick_ack", Allowed::Flag, "",
            "acknowledge every segment while the receive window grows, 16 at the start, after a silence and after a duplicate, and the last one", "Linux tcp_incr_quickack, tcp_grow_window, __tcp_cleanup_rbuf";
        write_size: u64 = u64::MAX, "write_size", Allowed::Count(1, u64::MAX), "bytes",
            "what the application writes at a time, in whole segments: with quick_ack, the last segment of each write is acknowledged at once, on a subflow if no data wait for another path", "no limit: all in one write; iperf writes 128 kB; Linux tcp_push, and since October 2023 tcp_measure_rcv_mss (commit 4720852ed9af)";
        sack_compression: Span = Span::from_millis(1), "sack_compression", Allowed::Span(Span::ZERO, Span::from_millis(100)), "time",
            "after three duplicate ACKs, one waits for this time or 5 % of the RTT, and 0.1 ms; it reports at most two blocks", "Linux tcp_comp_sack_delay_ns, tcp_comp_sack_slack_ns, tcp_sack_new_ofo_skb";
        send_buffer: u64 = u64::MAX, "send_buffer", Allowed::Count(4608, u64::MAX), "bytes",
            "largest send buffer of a flow with one path, with the kernel's overhead: it holds two windows (three with its own in recovery), the application refills it when a third is free, and the last segment of each refill has PSH; no limit: the application writes all at once",
            "Linux tcp_wmem (4 MB by default), tcp_sndbuf_expand, tcp_sendmsg_locked; without segmentation offload";
        receive_buffer: u64 = u64::MAX, "receive_buffer", Allowed::Count(3000, u64::MAX), "bytes",
            "largest receive window, from which the window scale follows", "no limit: as if tcp_rmem were large; RFC 7323 section 2.3";
        window_tuning: bool = true, "window_tuning", Allowed::Flag, "",
            "the receive buffer grows with what is read, up to receive_buffer; off: it has that size from the start, and without quick_ack the window is all of it, whatever waits", "Linux tcp_moderate_rcvbuf";
        sack: bool = true, "sack", Allowed::Flag, "",
            "selective acknowledgements", "RFC 2018";
        loss_detection: LossDetection = LossDetection::Rack, "loss_detection", Allowed::Word(LossDetection::WORDS), "",
            "by time or by count", "RFC 8985; RFC 6675";
        paws: bool = true, "paws", Allowed::Flag, "",
            "with timestamps: refuse a segment that left over 1 ms before one that has filled a hole", "RFC 7323 section 5.3; Linux tcp_paws_discard; ns-3 takes it (TcpSocketBase::ProcessOptionTimestamp)";
        timestamps: bool = true, "timestamps", Allowed::Flag, "",
            "show which transmission an ACK answers; their 12 bytes are part of `header`", "RFC 7323";
        tail_loss_probe: bool = true, "tail_loss_probe", Allowed::Flag, "",
            "probe after two SRTT of silence", "RFC 8985 section 7";
        limited_transmit: bool = true, "limited_transmit", Allowed::Flag, "",
            "send new data for the first two duplicate ACKs", "RFC 3042";
        recovery: Recovery = Recovery::Prr, "recovery", Allowed::Word(Recovery::WORDS), "",
            "how much recovery sends", "RFC 9937";
        undo: bool = true, "undo", Allowed::Flag, "",
            "undo a spurious reduction, detected by timestamps or DSACK", "RFC 3522, RFC 3708";
        pacing: bool = false, "pacing", Allowed::Flag, "",
            "spread a window over the round trip: 2 windows per round trip in slow start, 1.2 after", "Linux with sch_fq; off without";
        segmentation_offload: bool = false, "segmentation_offload", Allowed::Flag, "",
            "a paced sender hands over its send quantum at once, back to back; off: each segment leaves at its own time", "Linux TSO and GSO, which `ethtool -K DEVICE tso off gso off` turns off";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "send ECN-capable data and reduce once per round trip when marks are echoed", "RFC 3168";
        window_validation: bool = true, "window_validation", Allowed::Flag, "",
            "no growth of a window that was not used; restart after idle", "RFC 7661, RFC 2861";
        clock: Span = Span::from_micros(1), "clock", Allowed::Span(Span::ZERO, Span::from_secs(1)), "time",
            "granularity of RTT samples, from 1 ms on with a different phase for each connection; 0 s is exact", "Linux tcp_stamp_us_delta: 1 us; ns-3 has 1 ms timestamps; Linux 2.2 on x86 10 ms";
        clock_least: Span = Span::from_micros(1), "clock_least", Allowed::Span(Span(1), Span::from_secs(1)), "time",
            "value of a sample of zero ticks of a coarse clock", "Linux, ns-3: 1 us; Linux 2.2: a tick";
        srtt_ticks: bool = false, "srtt_ticks", Allowed::Flag, "",
            "keep SRTT and RTTVAR in whole numbers, and read SRTT as whole ticks of the clock", "Linux tcp_rtt_estimator: srtt >> 3";
    }
}

impl TcpOptions {
    /// IP fragments of a full segment; 1: it leaves whole.
    #[must_use]
    pub fn fragments(&self) -> u64 {
        fragments(self.mss + self.header, self.mtu)
    }

    /// The options that a controller is created with.
    #[must_use]
    pub fn setup(&self) -> Setup {
        Setup {
            mss: self.mss,
            initial_window: self.initial_window * self.mss,
            initial_ssthresh: self.initial_ssthresh.saturating_mul(self.mss),
            paced: self.pacing,
        }
    }
}

/// A stack profile: a named set of options, and the dialects of algorithms in that stack.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The stack that it stands for.
    pub source: &'static str,
    /// Where it departs from that stack, and why.
    pub departures: &'static [&'static str],
    /// Options that differ from the declared defaults.
    options: &'static [(&'static str, Setting)],
    /// Settings of algorithms: (algorithm, parameter, value).
    dialects: &'static [(&'static str, &'static str, Setting)],
}

/// A value in a constant table.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Count(u64),
    Flag(bool),
    Word(&'static str),
    Span(Span),
}

impl Setting {
    fn value(self) -> Value {
        match self {
            Setting::Count(n) => Value::Count(n),
            Setting::Flag(b) => Value::Flag(b),
            Setting::Word(w) => Value::Word(w),
            Setting::Span(s) => Value::Span(s),
        }
    }
}

/// The profiles that ship.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "linux",
        summary: "Linux 6.18: SACK, RACK-TLP, PRR, undo, IW 10, RTO floor 200 ms, delayed ACKs of 2 within 40 ms",
        source: "Linux 6.18 net/ipv4 with its default sysctls and without sch_fq; the RFCs named at each option",
        departures: &[
            "windows, pipe and limits count whole segments: a short last segment counts as a full one",
            "each segment is a packet of its own, and receivers do not merge segments (GRO); segmentation_offload = true lets \
             paced senders send a quantum back to back",
            "the receive buffer has no limit unless one is set, and there is no send buffer: as if tcp_rmem and \
             tcp_wmem were large",
            "the clocks of all hosts tick at the same instants, every timer_tick from the start of a run",
            "spurious timeouts are detected by timestamps and DSACK; F-RTO (RFC 5682) is not modelled as such",
            "the handshake is simulated, the end of a connection is not",
        ],
        options: &[],
        dialects: &[("cubic", "form", Setting::Word("linux")), ("random", "form", Setting::Word("linux"))],
    },
    Profile {
        name: "ns3",
        summary: "ns-3.35 to 3.37: SACK (RFC 6675), PRR, no RACK, no TLP, RTO floor 1 s, delayed ACKs of 2 within 200 ms",
        source: "ns-3.35 to 3.37 src/internet (TcpSocketBase, TcpPrrRecovery) with its defaults, over point-to-point links",
        departures: &[
            "windows, pipe and limits count whole segments: a short last segment counts as a full one",
            "RTT samples are exact, where ns-3's timestamps have whole milliseconds (clock = \"1 ms\"); the dialect of \
             cubic cuts them",
            "senders take up to one packet time for an ACK, paced ones up to 10 us (send_jitter), against phase effects, \
             where ns-3's take none",
            "segments have 1448 bytes, where ns-3's default is 536, which programs change",
            "a lost SYN is sent again after 1 s, where ns-3 waits 3 s (ConnTimeout)",
            "the receive buffer has no limit unless one is set, where ns-3's has 128 kB",
            "the handshake is simulated, the end of a connection is not",
        ],
        options: &[
            ("mtu", Setting::Count(1500)),
            ("overhead", Setting::Count(2)),
            ("rto_min", Setting::Span(Span::from_secs(1))),
            ("rto_floor", Setting::Word("total")),
            ("rto_max", Setting::Span(Span::from_secs(3600))),
            ("timer_restart", Setting::Flag(false)),
            ("delayed_ack_timeout", Setting::Span(Span::from_millis(200))),
            ("timer_tick", Setting::Span(Span::ZERO)),
            ("timer_margin", Setting::Span(Span::ZERO)),
            ("quick_ack", Setting::Flag(false)),
            ("paws", Setting::Flag(false)),
            ("window_tuning", Setting::Flag(false)),
            ("sack_compression", Setting::Span(Span::ZERO)),
            ("loss_detection", Setting::Word("sack")),
            ("recovery", Setting::Word("prr-ns3")),
            ("tail_loss_probe", Setting::Flag(false)),
            ("undo", Setting::Flag(false)),
            ("window_validation", Setting::Flag(false)),
            ("clock", Setting::Span(Span::ZERO)),
        ],
        dialects: &[
            ("bbr1", "min_rtt_refresh", Setting::Word("<=")),
            ("cubic", "form", Setting::Word("ns3")),
            ("cubic", "reno_friendly", Setting::Flag(false)),
            ("newreno", "counting", Setting::Word("acks")),
            ("newreno", "half_of", Setting::Word("pipe")),
            ("reno", "counting", Setting::Word("cumulative")),
            ("sd", "counting", Setting::Word("cumulative")),
            ("pd", "counting", Setting::Word("cumulative")),
            ("sd-pd", "counting", Setting::Word("cumulative")),
        ],
    },
    Profile {
        name: "linux-2.2",
        summary: "Linux 2.2: plain Reno without SACK, IW 2, RTT samples in ticks of 10 ms, RTO floor 200 ms, delayed ACKs of 2 within 200 ms",
        source: "Linux 2.2 net/ipv4 on x86 (100 ticks a second) as Lim et al. 2004 describe it: Reno without SACK",
        departures: &[
            "SACK and timestamps, which that kernel has on by default, are off, and recovery is plain Reno: so Lim \
             et al. 2004 describe their Reno. The kernel itself sends the next hole again at a partial ACK \
             (recovery = \"window\")",
            "timers are exact, where the kernel's go by ticks; only RTT samples are coarse",
            "the RTO is SRTT + 4 RTTVAR, where the kernel adds a quarter of it, and more at windows of a few segments",
            "each connection has a clock of its own phase, where those of a host share one",
            "an ACK is delayed for two segments or 200 ms, where the kernel adapts the time and acknowledges every \
             segment at the start",
            "a timeout counts as genuine, and idle time does not reduce the window, as in that kernel; the window \
             itself has fractions of a segment, where the kernel's is whole",
            "the receive buffer has no limit unless one is set, where the kernel's has 64 kB",
            "the handshake is simulated, the end of a connection is not",
        ],
        options: &[
            ("mss", Setting::Count(1460)),
            ("header", Setting::Count(40)),
            ("initial_window", Setting::Count(2)),
            ("rto_floor", Setting::Word("total")),
            ("rto_initial", Setting::Span(Span::from_secs(3))),
            ("delayed_ack_timeout", Setting::Span(Span::from_millis(200))),
            ("timer_tick", Setting::Span(Span::ZERO)),
            ("timer_margin", Setting::Span(Span::ZERO)),
            ("quick_ack", Setting::Flag(false)),
            ("sack_compression", Setting::Span(Span::ZERO)),
            ("window_tuning", Setting::Flag(false)),
            ("sack", Setting::Flag(false)),
            ("loss_detection", Setting::Word("sack")),
            ("timestamps", Setting::Flag(false)),
            ("tail_loss_probe", Setting::Flag(false)),
            ("limited_transmit", Setting::Flag(false)),
            ("recovery", Setting::Word("reno")),
            ("undo", Setting::Flag(false)),
            ("window_validation", Setting::Flag(false)),
            ("clock", Setting::Span(Span::from_millis(10))),
            ("clock_least", Setting::Span(Span::from_millis(10))),
        ],
        dialects: &[
            ("newreno", "counting", Setting::Word("acks")),
            ("reno", "counting", Setting::Word("acks")),
            ("sd", "counting", Setting::Word("acks")),
            ("pd", "counting", Setting::Word("acks")),
            ("sd-pd", "counting", Setting::Word("acks")),
        ],
    },
];

impl Profile {
    /// The profile of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// Its options.
    #[must_use]
    pub fn options(&self) -> TcpOptions {
        let settings: Vec<_> =
            self.options.iter().map(|(name, setting)| ((*name).to_owned(), setting.value())).collect();
        TcpOptions::with(&settings)
    }

    /// Its settings for an algorithm.
    #[must_use]
    pub fn dialect(&self, algorithm: &str) -> Vec<(String, Value)> {
        let of_this = self.dialects.iter().filter(|(name, ..)| *name == algorithm);
        of_this.map(|(_, name, setting)| ((*name).to_owned(), setting.value())).collect()
    }

    /// The algorithms that it has a dialect for: algorithm, parameter, value.
    pub fn dialects(&self) -> impl Iterator<Item = (&'static str, &'static str, Value)> {
        self.dialects.iter().map(|(algorithm, name, setting)| (*algorithm, *name, setting.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Registry;

    #[test]
    fn every_setting_of_a_profile_is_a_declared_and_allowed_one() {
        let registry = Registry::built_in();
        for profile in PROFILES {
            for (name, setting) in profile.options {
                assert_eq!(TcpOptions::default().set(name, &setting.value()), Ok(()), "{name}");
            }
            for (algorithm, name, value) in profile.dialects() {
                let specs = &registry.get(algorithm).expect(algorithm).params;
                let spec = specs.iter().find(|spec| spec.name == name).expect(name);
                assert!(spec.allowed.admits(&value), "{algorithm}.{name}");
            }
        }
    }
}
