//! The parameters of BBRv2, with the defaults of `tcp_bbr2.c`, which writes fractions in 256ths.

use crate::bbr::Refresh;
use crate::units::Span;

crate::parameters! {
    /// The parameters.
    pub struct Bbr2Params {
        startup_gain: f64 = 2.885, "startup_gain", Allowed::Number(1.0, 10.0), "",
            "gain of rate and window in Startup; Drain paces at its inverse",
            "tcp_bbr2.c bbr_high_gain, bbr_startup_cwnd_gain, bbr_drain_gain: 2/ln 2";
        up_gain: f64 = 1.25, "up_gain", Allowed::Number(1.0, 4.0), "",
            "pacing gain of ProbeBW:UP, and how many BDP in flight end it",
            "tcp_bbr2.c bbr_pacing_gain, bbr_bw_probe_pif_gain";
        down_gain: f64 = 0.75, "down_gain", Allowed::Number(0.1, 1.0), "",
            "pacing gain of ProbeBW:DOWN", "tcp_bbr2.c bbr_pacing_gain";
        cwnd_gain: f64 = 2.0, "cwnd_gain", Allowed::Number(1.0, 10.0), "BDP",
            "window in ProbeBW", "tcp_bbr2.c bbr_cwnd_gain";
        loss_threshold: f64 = 0.019_531_25, "loss_threshold", Allowed::Number(0.0, 0.5), "",
            "a probe went too high if more than this share of the data in flight is lost", "tcp_bbr2.c bbr_loss_thresh: 5/256";
        startup_losses: u64 = 8, "startup_losses", Allowed::Count(1, 15), "ACKs",
            "number of ACKs with losses in a round of recovery that can end Startup",
            "tcp_bbr2.c bbr_full_loss_cnt";
        beta: f64 = 0.296_875, "beta", Allowed::Number(0.0, 0.9), "",
            "the share by which losses cut the bounds", "tcp_bbr2.c bbr_beta: 76/256";
        headroom: f64 = 0.148_437_5, "headroom", Allowed::Number(0.0, 0.9), "",
            "the share of inflight_hi that is left free for others", "tcp_bbr2.c bbr_inflight_headroom: 38/256";
        probe_wait: Span = Span::from_secs(2), "probe_wait", Allowed::Span(Span::ZERO, Span::from_secs(67)), "s",
            "shortest time from one probe for bandwidth to the next", "tcp_bbr2.c bbr_bw_probe_base_us";
        probe_wait_random: Span = Span::from_secs(1), "probe_wait_random",
            Allowed::Span(Span::ZERO, Span::from_secs(67)), "s",
            "random extra time, up to this", "tcp_bbr2.c bbr_bw_probe_rand_us";
        probe_rounds: u64 = 63, "probe_rounds", Allowed::Count(1, 255), "rounds",
            "most rounds from one probe to the next; fewer if fewer packets are in flight",
            "tcp_bbr2.c bbr_bw_probe_max_rounds, bbr_bw_probe_reno_gain";
        min_rtt_window: Span = Span::from_secs(10), "min_rtt_window",
            Allowed::Span(Span::from_millis(1), Span::from_secs(31)), "s",
            "memory of the minimum RTT", "tcp_bbr2.c bbr_min_rtt_win_sec";
        probe_rtt_interval: Span = Span::from_secs(5), "probe_rtt_interval",
            Allowed::Span(Span::from_millis(1), Span::from_secs(16)), "s",
            "time without a sample that renews the minimum RTT, after which ProbeRTT starts", "tcp_bbr2.c bbr_probe_rtt_win_ms";
        probe_rtt_time: Span = Span::from_millis(200), "probe_rtt_time",
            Allowed::Span(Span::from_millis(1), Span::from_millis(511)), "ms",
            "duration of ProbeRTT, at least a round", "tcp_bbr2.c bbr_probe_rtt_mode_ms";
        probe_rtt_gain: f64 = 0.5, "probe_rtt_gain", Allowed::Number(0.0, 1.0), "BDP",
            "window in ProbeRTT", "tcp_bbr2.c bbr_probe_rtt_cwnd_gain";
        min_rtt_refresh: Refresh = Refresh::AtMost, "min_rtt_refresh", Allowed::Word(Refresh::WORDS), "",
            "an RTT sample renews the minimum if it is as low (<=), or only if it is lower (<)",
            "tcp_bbr2.c bbr_update_min_rtt (<=); Linux tcp_bbr.c since 5.11 and BBRv3 (<)";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "send ECT(0) and treat marks as DCTCP does: only for queues that mark at a low threshold",
            "tcp_bbr2.c bbr_ecn_enable";
        ecn_max_rtt: Span = Span::from_millis(5), "ecn_max_rtt",
            Allowed::Span(Span::ZERO, Span::from_millis(524)), "ms",
            "marks count only on paths with a minimum RTT of at most this; 0 s for any path",
            "tcp_bbr2.c bbr_ecn_max_rtt_us";
    }
}
