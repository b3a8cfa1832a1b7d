//! The columns of a recording, each declared once: its name, unit and meaning, and how its value is taken
//! from a sample.

use crate::flow::Flow;
use crate::mptcp::Connection;
use crate::queue::Backlog;
use cwndlab_cc::{Span, Time};

/// A recorded column of components that are sampled as `S`.
pub struct Column<S: 'static> {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// Its meaning, as a line of docs/results.md.
    pub meaning: &'static str,
    /// Its value in a sample; NaN if it has none.
    pub value: fn(&S) -> f64,
}

/// A flow at the time of a sample.
pub struct FlowSample {
    /// Whether it has started.
    pub running: bool,
    window_segments: f64,
    latest_rtt: Span,
    in_flight: u32,
    /// Payload delivered since the last sample, in Mbit/s; NaN in the first.
    goodput_mbps: f64,
    peak_ratio: Option<f64>,
}

impl FlowSample {
    /// The flow at this time; `peak_ratio` is that of its last RTT sample.
    #[must_use]
    pub fn new(flow: &Flow, at: Time, goodput_mbps: f64, peak_ratio: Option<f64>) -> Self {
        Self {
            running: flow.started() <= at,
            window_segments: window(flow),
            latest_rtt: flow.sender.rtt().latest,
            in_flight: flow.sender.in_flight(),
            goodput_mbps,
            peak_ratio,
        }
    }
}

/// A multipath connection at the time of a sample.
pub struct ConnectionSample {
    running: bool,
    window_segments: f64,
    in_flight: f64,
    /// Payload delivered since the last sample, in Mbit/s; NaN in the first.
    goodput_mbps: f64,
    waiting: u32,
}

impl ConnectionSample {
    /// The connection with these subflows at this time.
    #[must_use]
    pub fn new(connection: &Connection, subflows: &[Flow], at: Time, goodput_mbps: f64) -> Self {
        let joined = subflows.iter().filter(|flow| flow.started() <= at);
        Self {
            running: subflows[0].started() <= at,
            window_segments: joined.map(window).sum(),
            in_flight: subflows.iter().map(|flow| f64::from(flow.sender.in_flight())).sum(),
            goodput_mbps,
            waiting: connection.reassembly.waiting(),
        }
    }
}

/// A link at the time of a sample.
pub struct LinkSample {
    /// The packets and bytes that wait or are in service.
    pub backlog: Backlog,
    /// Bits served since the last sample, in Mbit/s; NaN in the first.
    pub throughput_mbps: f64,
    /// Packets that its queue dropped since the start of the run.
    pub dropped: u64,
    /// Packets that its loss process struck since the start of the run.
    pub lost: u64,
}

/// `name, unit, meaning, value;` for each column.
macro_rules! columns {
    ($(#[$about:meta])* $table:ident of $sample:ty: $($name:literal, $unit:literal, $meaning:literal, $value:expr;)*) => {
        $(#[$about])*
        pub const $table: &[Column<$sample>] =
            &[$(Column { name: $name, unit: $unit, meaning: $meaning, value: $value }),*];
    };
}

columns! {
    /// Columns of a flow or subflow; the probes of its algorithm follow them.
    FLOW of FlowSample:
    "cwnd_segments", "segments", "congestion window", |s| shown(s.running, s.window_segments);
    "rtt_ms", "ms", "latest RTT sample", |s| if s.latest_rtt == Span::ZERO { f64::NAN } else { s.latest_rtt.as_millis_f64() };
    "in_flight_segments", "segments", "segments sent that are neither acknowledged nor considered lost", |s| shown(s.running, f64::from(s.in_flight));
    "goodput_mbps", "Mbit/s", "goodput since the last sample", |s| shown(s.running, s.goodput_mbps);
}

columns! {
    /// Columns of a flow or subflow whose timeout patterns are counted.
    PATTERNS of FlowSample:
    "rtt_peak_ratio", "", "peak ratio of the latest RTT sample; only with `timeout_patterns = true`", |s| s.peak_ratio.unwrap_or(f64::NAN);
}

columns! {
    /// Columns of a multipath connection.
    CONNECTION of ConnectionSample:
    "cwnd_segments", "segments", "sum of the congestion windows of its subflows", |s| shown(s.running, s.window_segments);
    "in_flight_segments", "segments", "sum of the segments that its subflows have in flight", |s| shown(s.running, s.in_flight);
    "goodput_mbps", "Mbit/s", "goodput since the last sample", |s| shown(s.running, s.goodput_mbps);
    "reassembly_segments", "segments", "segments waiting at the receiver for data on another path", |s| shown(s.running, f64::from(s.waiting));
}

columns! {
    /// Columns of a link.
    LINK of LinkSample:
    "queue_packets", "packets", "packets waiting or in service", |s| s.backlog.packets as f64;
    "queue_bytes", "bytes", "bytes waiting or in service", |s| s.backlog.bytes as f64;
    "throughput_mbps", "Mbit/s", "rate served since the last sample", |s| s.throughput_mbps;
    "dropped_packets", "packets", "packets dropped by the queue since the start of the run", |s| s.dropped as f64;
    "lost_packets", "packets", "packets lost by the loss process since the start of the run", |s| s.lost as f64;
}

/// A value that exists only once the flow has started; NaN before.
fn shown(running: bool, value: f64) -> f64 {
    if running { value } else { f64::NAN }
}

fn window(flow: &Flow) -> f64 {
    flow.sender.control().cwnd as f64 / flow.mss() as f64
}
