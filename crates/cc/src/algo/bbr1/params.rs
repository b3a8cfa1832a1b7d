//! The parameters of BBR version 1.

use crate::bbr::Refresh;
use crate::units::Span;

crate::parameters! {
    /// The parameters.
    pub struct Bbr1Params {
        startup_gain: f64 = 2.885, "startup_gain", Allowed::Number(1.1, 10.0), "",
            "pacing and window gain of Startup; Drain paces at its inverse",
            "Linux tcp_bbr bbr_high_gain: 2 / ln 2";
        cwnd_gain: f64 = 2.0, "cwnd_gain", Allowed::Number(1.0, 10.0), "BDP",
            "window of ProbeBW, so that delayed ACKs do not stop the flow",
            "Linux tcp_bbr bbr_cwnd_gain";
        up_gain: f64 = 1.25, "up_gain", Allowed::Number(1.0, 4.0), "",
            "pacing gain of ProbeBW that probes for more bandwidth",
            "Linux tcp_bbr bbr_pacing_gain";
        down_gain: f64 = 0.75, "down_gain", Allowed::Number(0.1, 1.0), "",
            "pacing gain of ProbeBW that drains what the probe has queued",
            "Linux tcp_bbr bbr_pacing_gain";
        bandwidth_rounds: u64 = 10, "bandwidth_rounds", Allowed::Count(1, 1000), "rounds",
            "the bandwidth is the largest sample that is not older than this",
            "Linux tcp_bbr bbr_bw_rtts: a gain cycle and two more";
        extra_acked_gain: f64 = 1.0, "extra_acked_gain", Allowed::Number(0.0, 10.0), "",
            "how much of the data acknowledged beyond the model is added to the window",
            "Linux tcp_bbr bbr_extra_acked_gain; not in Cardwell et al. 2016 (0)";
        min_rtt_window: Span = Span::from_secs(10), "min_rtt_window",
            Allowed::Span(Span::from_millis(100), Span::from_secs(1000)), "s",
            "time without confirmation after which ProbeRTT measures the smallest RTT again",
            "Linux tcp_bbr bbr_min_rtt_win_sec";
        min_rtt_refresh: Refresh = Refresh::Below, "min_rtt_refresh", Allowed::Word(Refresh::WORDS), "",
            "which RTT sample confirms the smallest",
            "Linux since 5.11 (<); Linux before, draft-cardwell-iccrg-bbr-congestion-control-00, ns-3 (<=)";
        probe_rtt_duration: Span = Span::from_millis(200), "probe_rtt_duration",
            Allowed::Span(Span::from_millis(1), Span::from_secs(10)), "s",
            "how long ProbeRTT keeps four segments in flight, at least a round trip",
            "Linux tcp_bbr bbr_probe_rtt_mode_ms";
        policer_detection: bool = true, "policer_detection", Allowed::Flag, "",
            "two intervals of the same rate with a fifth lost are a policer, whose rate is kept for 48 rounds",
            "Linux tcp_bbr bbr_lt_bw_sampling; not in Cardwell et al. 2016 (false)";
    }
}
