//! The state that the kernel's sockets show. The C code beside this crate fills it in.

/// Counts of events in a connection since its start.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Timeouts.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Tail-loss probes.
    pub probes: u64,
    /// Reductions undone.
    pub undos: u64,
}

/// The state that a socket of Linux shows. The counts begin with the connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `snd_cwnd`, in segments.
    pub cwnd: u64,
    /// The window that the congestion control has decided, in segments: while PRR reduces `cwnd`, its target.
    pub decided: u64,
    /// `snd_ssthresh`, in segments.
    pub ssthresh: u64,
    /// `rack.rtt_us`: the RTT of the segment that TCP took last from an ACK, in microseconds. Cumulative acknowledgements
    /// come after SACK blocks, so it may be older than the newest.
    pub last_rtt_us: u64,
    /// Time since the newest segment that was delivered was sent, in microseconds: its RTT after an ACK that delivered it.
    pub rtt_us: u64,
    /// `rack.mstamp`: when that segment was sent, in microseconds.
    pub rtt_sent_us: u64,
    /// `rack.end_seq`: distinguishes the segment from others sent in the same microsecond.
    pub rtt_end_seq: u64,
    /// SRTT, in nanoseconds.
    pub srtt_ns: u64,
    /// `tcp_min_rtt`: the smallest RTT, in microseconds.
    pub min_rtt_us: u64,
    /// `tcp_packets_in_flight`, in segments.
    pub in_flight: u64,
    /// `icsk_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u64,
    /// `sk_pacing_rate` in bytes a second; all ones if there is none.
    pub pacing_rate: u64,
    /// Segments delivered in the latest rate sample, and the time that they took in microseconds.
    pub rate_delivered: u64,
    /// See `rate_delivered`.
    pub rate_interval_us: u64,
    /// Segments delivered.
    pub delivered: u64,
    /// Data segments sent, including retransmissions.
    pub sent: u64,
    /// Segments retransmitted.
    pub resent: u64,
    /// Bytes written by the application and not yet acknowledged, of the whole connection.
    pub unacknowledged: u64,
    /// For a subflow: `bytes_received` at its receiver.
    pub received: u64,
    /// Counts of other events.
    pub counts: Counts,
}

/// Larger values of `snd_ssthresh` mean that there is none (TCP_INFINITE_SSTHRESH).
const NO_SSTHRESH: u64 = 0x7fff_ffff;

impl Facts {
    /// `snd_ssthresh` in segments, if there is one.
    #[must_use]
    pub fn known_ssthresh(&self) -> Option<u64> {
        Some(self.ssthresh).filter(|ssthresh| *ssthresh < NO_SSTHRESH)
    }

    /// `sk_pacing_rate` in bytes a second, if there is one.
    #[must_use]
    pub fn known_pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate).filter(|rate| *rate != u64::MAX)
    }
}
