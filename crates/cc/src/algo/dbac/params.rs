//! The parameters of DBAC (Han 2024), whose equations leave a constant, a threshold and the use of the factor
//! open.

use crate::coupled::{Arithmetic, Counting};
use crate::units::Span;

crate::words! {
    /// Where the loss rate of equations (3) and (4) comes from.
    pub enum LossRate {
        /// The constant `p`.
        Fixed = "fixed",
        /// One loss in the larger of two distances: since the last loss, and between the last two losses.
        Measured = "measured",
    }
}

crate::words! {
    /// The window that the siblings of a high subflow see.
    pub enum VirtualWindow {
        /// LIA's window: equation (5) times sqrt(alpha1).
        Lia = "lia",
        /// Reno's window: equation (5).
        Reno = "reno",
        /// Its own window.
        None = "none",
    }
}

crate::words! {
    /// How a path's bandwidth-delay product is measured.
    pub enum Bdp {
        /// The window.
        Window = "window",
        /// The highest delivery rate times the smallest RTT.
        Rate = "rate",
    }
}

crate::words! {
    /// When the bandwidth-delay product is judged.
    pub enum Judged {
        /// At the end of slow start, and again at intervals.
        Continuously = "continuously",
        /// At the end of slow start.
        Once = "once",
    }
}

crate::words! {
    /// Which RTT equation (4) takes.
    pub enum RatioRtt {
        /// SRTT.
        Smoothed = "smoothed",
        /// The smallest RTT of the connection.
        Minimum = "minimum",
    }
}

crate::words! {
    /// What sqrt(alpha1) scales.
    pub enum Scaled {
        /// A copy of CUBIC's window, which then limits the sender.
        Copy = "copy",
        /// CUBIC's own window, once a round trip.
        State = "state",
    }
}

crate::parameters! {
    /// The parameters.
    pub struct DbacParams {
        p: f64 = 1e-6, "p", Allowed::Number(1e-9, 0.1), "",
            "loss rate in the averages of Reno and CUBIC, with loss_rate = fixed",
            "Han 2024 sections 3 and 4.1: the loss of wired networks; the constant's value is not given";
        loss_rate: LossRate = LossRate::Fixed, "loss_rate", Allowed::Word(LossRate::WORDS), "",
            "whether the loss rate is p, or measured: one loss in the larger of the last two distances between losses",
            "Han 2024 section 3: a constant";
        vwindow: VirtualWindow = VirtualWindow::Lia, "vwindow", Allowed::Word(VirtualWindow::WORDS), "",
            "what the siblings of a high subflow see: what LIA or Reno would have, or its own window",
            "Han 2024 sections 3 and 4.2";
        bdp: Bdp = Bdp::Window, "bdp", Allowed::Word(Bdp::WORDS), "",
            "how a path's BDP is measured: the window in congestion avoidance, or the highest delivery rate times the smallest RTT",
            "Han 2024 section 3: from window, RTT and MSS";
        threshold: u64 = 1000, "threshold", Allowed::Count(1, 10_000_000), "segments",
            "BDP from which on a subflow is high", "Han 2024 has no value; 1000 lies between its paths, 167 and 4167";
        hysteresis: f64 = 0.0, "hysteresis", Allowed::Number(0.0, 0.9), "",
            "a high subflow becomes low again below the threshold minus this share of it", "Han 2024 has one threshold";
        judged: Judged = Judged::Continuously, "judged", Allowed::Word(Judged::WORDS), "",
            "when the BDP is judged: at the end of slow start, and again at intervals or not",
            "Han 2024 has \"dynamic\", and figure 1 judges once";
        judge_interval: Span = Span::from_secs(1), "judge_interval",
            Allowed::Span(Span::from_millis(1), Span::from_secs(3600)), "time",
            "time between two judgements", "Han 2024 has none";
        high_subflows: u64 = 0, "high_subflows", Allowed::Count(0, 64), "",
            "number of subflows, the first ones, that are high from the start, while the others are low; 0: the BDP decides",
            "Han 2024 section 3: by the BDP";
        ratio_rtt: RatioRtt = RatioRtt::Smoothed, "ratio_rtt", Allowed::Word(RatioRtt::WORDS), "",
            "RTT of CUBIC's average, in whole milliseconds", "Han 2024 section 3 has a table over RTT; RFC 6356 takes SRTT";
        scaled: Scaled = Scaled::Copy, "scaled", Allowed::Word(Scaled::WORDS), "",
            "sqrt(alpha1) scales a copy of CUBIC's window, or the window itself once per round trip",
            "Han 2024 equation (6): W_DBAC beside the window of CUBIC";
        scale_in_slow_start: bool = false, "scale_in_slow_start", Allowed::Flag, "",
            "scale in slow start as well", "Han 2024 equations (3) and (4): averages of congestion avoidance";
        cap_alpha1: bool = true, "cap_alpha1", Allowed::Flag, "",
            "sqrt(alpha1) is at most 1: never more than CUBIC alone",
            "RFC 6356 equation (1) has the same bound; Han 2024 has none";
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes a low subflow grow in congestion avoidance, as in lia",
            "RFC 6356 section 3 (bytes); Linux mptcp_coupled, which Han 2024 changed (acks)";
        arithmetic: Arithmetic = Arithmetic::Exact, "arithmetic", Allowed::Word(Arithmetic::WORDS), "",
            "how a low subflow calculates its growth, as in lia; alpha1 is a real number",
            "RFC 6356 section 3 (exact); Linux mptcp_coupled, which Han 2024 changed (kernel)";
        hystart: bool = false, "hystart", Allowed::Flag, "",
            "leave slow start by ACK train or delay, as cubic does", "Han 2024 builds on Linux's LIA, which has none";
    }
}
