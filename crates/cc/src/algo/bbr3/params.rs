//! The parameters of BBR version 3.

use crate::bbr::Refresh;
use crate::units::Span;

crate::parameters! {
    /// The constants of the draft.
    pub struct Bbr3Params {
        startup_pacing_gain: f64 = 2.77, "startup_pacing_gain", Allowed::Number(1.0, 10.0), "",
            "pacing gain of Startup", "draft-ietf-ccwg-bbr section 5.3.1.1: 4 ln 2, the least that doubles the rate each round";
        drain_pacing_gain: f64 = 0.5, "drain_pacing_gain", Allowed::Number(0.1, 1.0), "",
            "pacing gain of Drain", "draft-ietf-ccwg-bbr section 5.3.2; google/bbr v3: 1/2.885";
        probe_down_pacing_gain: f64 = 0.9, "probe_down_pacing_gain", Allowed::Number(0.1, 1.0), "",
            "pacing gain of ProbeBW_DOWN", "draft-ietf-ccwg-bbr section 5.3.3.1; google/bbr v3: 0.91";
        probe_up_pacing_gain: f64 = 1.25, "probe_up_pacing_gain", Allowed::Number(1.0, 10.0), "",
            "pacing gain of ProbeBW_UP", "draft-ietf-ccwg-bbr section 5.3.3.5";
        cwnd_gain: f64 = 2.0, "cwnd_gain", Allowed::Number(1.0, 10.0), "",
            "the window in BDP, unless another parameter applies", "draft-ietf-ccwg-bbr section 5.6.1";
        probe_up_cwnd_gain: f64 = 2.25, "probe_up_cwnd_gain", Allowed::Number(1.0, 10.0), "",
            "the window in BDP in ProbeBW_UP", "draft-ietf-ccwg-bbr section 5.3.3.5";
        probe_rtt_cwnd_gain: f64 = 0.5, "probe_rtt_cwnd_gain", Allowed::Number(0.01, 1.0), "",
            "the window in BDP in ProbeRTT", "draft-ietf-ccwg-bbr section 2.16.2";
        loss_threshold: f64 = 0.02, "loss_threshold", Allowed::Number(0.0, 0.9), "",
            "share of a flight that may be lost when probing for bandwidth", "draft-ietf-ccwg-bbr section 2.8";
        full_loss_count: u64 = 6, "full_loss_count", Allowed::Count(1, 1_000_000), "",
            "loss events of a round that end Startup", "draft-ietf-ccwg-bbr section 5.3.1.3";
        beta: f64 = 0.7, "beta", Allowed::Number(0.1, 1.0), "",
            "least share that a round with loss leaves", "draft-ietf-ccwg-bbr section 2.8";
        headroom: f64 = 0.15, "headroom", Allowed::Number(0.0, 0.9), "",
            "share of inflight_longterm that is left to others between probes", "draft-ietf-ccwg-bbr section 2.8";
        probe_wait: Span = Span::from_secs(2), "probe_wait", Allowed::Span(Span::ZERO, Span::from_secs(1000)), "s",
            "shortest time between two probes for bandwidth", "draft-ietf-ccwg-bbr section 5.3.3.8";
        probe_wait_spread: Span = Span::from_secs(1), "probe_wait_spread",
            Allowed::Span(Span::ZERO, Span::from_secs(1000)), "s",
            "that time varies at random by up to this", "draft-ietf-ccwg-bbr section 5.3.3.8";
        probe_rounds: u64 = 63, "probe_rounds", Allowed::Count(1, 1_000_000), "rounds",
            "most rounds between two probes, so that Reno has time to grow", "draft-ietf-ccwg-bbr section 5.3.3.8";
        min_rtt_window: Span = Span::from_secs(10), "min_rtt_window",
            Allowed::Span(Span::from_millis(1), Span::from_secs(1000)), "s",
            "lifetime of the shortest RTT", "draft-ietf-ccwg-bbr section 5.5.7";
        probe_rtt_interval: Span = Span::from_secs(5), "probe_rtt_interval",
            Allowed::Span(Span::from_millis(1), Span::from_secs(1000)), "s",
            "time without a new minimum after which ProbeRTT begins", "draft-ietf-ccwg-bbr section 5.3.4.1";
        probe_rtt_duration: Span = Span::from_millis(200), "probe_rtt_duration",
            Allowed::Span(Span::ZERO, Span::from_secs(1000)), "s",
            "how long ProbeRTT holds the flight down", "draft-ietf-ccwg-bbr section 5.3.4.1";
        min_rtt_refresh: Refresh = Refresh::Below, "min_rtt_refresh",
            Allowed::Word(Refresh::WORDS), "",
            "which RTT samples count as a new minimum",
            "draft-ietf-ccwg-bbr section 5.3.4.3 (<); google/bbr v2alpha (<=)";
    }
}
