//! One file of qlog 0.3, in the streaming form (JSON-SEQ, RFC 7464).
//!
//! qlog was made for QUIC, which numbers packets. TCP numbers bytes, and a retransmission repeats the
//! original numbers. Here each transmission of a connection has the next packet number; an ACK acknowledges
//! the last transmission of each segment that it covers.

use super::super::{Guarded, Output, file, file_name, folder};
use cwndlab_cc::{Span, Time};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::path::Path;

/// The newest version that qvis loads.
const VERSION: &str = "0.3";
/// The byte before each record (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;
const NANOS_PER_MS: f64 = 1e6;

/// The values of `recovery:metrics_updated`, in the order of [`Metrics::values`].
const METRICS: [&str; 8] = [
    "min_rtt",
    "smoothed_rtt",
    "latest_rtt",
    "rtt_variance",
    "congestion_window",
    "bytes_in_flight",
    "ssthresh",
    "pacing_rate",
];

/// The state of a sender, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics {
    /// The smallest RTT.
    pub min_rtt: Option<Span>,
    /// The smoothed RTT.
    pub smoothed_rtt: Option<Span>,
    /// The last RTT sample.
    pub latest_rtt: Option<Span>,
    /// The variance of the RTT (RTTVAR).
    pub rtt_variance: Option<Span>,
    /// The congestion window in bytes.
    pub window: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// The slow-start threshold in bytes.
    pub ssthresh: Option<f64>,
    /// The pacing rate in bit/s.
    pub pacing_rate: Option<u64>,
}

impl Metrics {
    /// Times in ms, amounts in bytes, the rate in bit/s; NaN where a value is unknown.
    fn values(&self) -> [f64; METRICS.len()] {
        let time = |span: Option<Span>| span.map_or(f64::NAN, ms);
        let amount = |amount: Option<u64>| amount.map_or(f64::NAN, |amount| amount as f64);
        [
            time(self.min_rtt),
            time(self.smoothed_rtt),
            time(self.latest_rtt),
            time(self.rtt_variance),
            amount(self.window),
            amount(self.in_flight),
            self.ssthresh.unwrap_or(f64::NAN),
            amount(self.pacing_rate),
        ]
    }
}

/// A data segment that is sent. Offsets count bytes from the start of the stream.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The first byte of its payload.
    pub offset: u64,
    /// Its payload in bytes.
    pub payload: u64,
    /// Length of the IP packet in bytes.
    pub length: u32,
    /// Whether it is a tail-loss probe, if that is known.
    pub probe: Option<bool>,
    /// The flag CWR (RFC 3168).
    pub cwr: bool,
}

/// An ACK that arrives. Offsets count bytes from the start of the stream.
#[derive(Clone, Debug)]
pub struct Acknowledgement {
    /// Length of the IP packet in bytes.
    pub length: u32,
    /// The next byte expected.
    pub ack: u64,
    /// SACK blocks, the newest first.
    pub sack: Vec<Range<u64>>,
    /// The first block reports a duplicate (DSACK, RFC 2883).
    pub dsack: bool,
    /// The flag ECE (RFC 3168).
    pub ece: bool,
}

/// The file of one flow.
pub struct Log {
    out: Guarded<Output>,
    /// Numbers of the next packet sent and the next one received.
    sent: u64,
    received: u64,
    /// All bytes below this one were sent; the next new byte.
    next: u64,
    /// The packet number of the last transmission of each unacknowledged segment, by its first byte.
    under_way: BTreeMap<u64, u64>,
    metrics: [f64; METRICS.len()],
    probes: Vec<f64>,
}

impl Log {
    /// Creates one file for each of these flows in this folder.
    ///
    /// # Errors
    /// There are too many files, or one cannot be written.
    pub fn create(at: &Path, flows: &[String], seed: u64, system: &str) -> Result<Vec<Self>, String> {
        folder(at, flows.len(), "qlog")?;
        let create = |(index, flow): (usize, &String)| {
            let at = at.join(format!("flow-{}-{}.sqlog", index + 1, file_name(flow)));
            let mut log = Self {
                out: Guarded::new(at.clone(), file(&at)?),
                sent: 0,
                received: 0,
                next: 0,
                under_way: BTreeMap::new(),
                metrics: [f64::NAN; METRICS.len()],
                probes: Vec::new(),
            };
            log.record(&heading(flow, seed, system));
            Ok(log)
        };
        flows.iter().enumerate().map(create).collect()
    }

    /// The first SYN leaves, from one end to the other.
    pub fn started(&mut self, now: Time, from: SocketAddrV4, to: SocketAddrV4) {
        let started = json!({
            "ip_version": "v4",
            "src_ip": from.ip().to_string(),
            "dst_ip": to.ip().to_string(),
            "src_port": from.port(),
            "dst_port": to.port(),
            "protocol": "TCP",
        });
        self.event(now, "connectivity:connection_started", &started);
    }

    /// A SYN of this length leaves.
    pub fn syn_sent(&mut self, now: Time, length: u32) {
        self.event(now, "cwndlab:syn_sent", &json!({ "raw": raw(length) }));
    }

    /// A SYN-ACK of this length arrives.
    pub fn syn_ack_received(&mut self, now: Time, length: u32) {
        self.event(now, "cwndlab:syn_ack_received", &json!({ "raw": raw(length) }));
    }

    /// A data segment leaves.
    pub fn data_sent(&mut self, now: Time, segment: &Segment) {
        let Segment { offset, payload, length, probe, cwr } = *segment;
        let number = self.sent;
        self.sent += 1;
        let mut tcp = json!({ "retransmission": offset < self.next, "cwr": cwr });
        if let Some(probe) = probe {
            tcp["tail_loss_probe"] = probe.into();
        }
        self.next = self.next.max(offset + payload);
        self.under_way.insert(offset, number);
        let sent = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": raw(length),
            "frames": [{ "frame_type": "stream", "stream_id": 0, "offset": offset, "length": payload }],
            "tcp": tcp,
        });
        self.event(now, "transport:packet_sent", &sent);
    }

    /// An ACK arrives.
    pub fn ack_received(&mut self, now: Time, ack: &Acknowledgement) {
        let arrived = self.arrived(ack);
        let blocks: Vec<_> = ack.sack.iter().map(|block| [block.start, block.end]).collect();
        let frames = if arrived.is_empty() {
            json!([])
        } else {
            json!([{ "frame_type": "ack", "acked_ranges": ranges(arrived) }])
        };
        let number = self.received;
        self.received += 1;
        let received = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": raw(ack.length),
            "frames": frames,
            "tcp": { "ack": ack.ack, "sack": blocks, "dsack": ack.dsack, "ece": ack.ece },
        });
        self.event(now, "transport:packet_received", &received);
    }

    /// The packet numbers that this ACK is the first to acknowledge.
    fn arrived(&mut self, ack: &Acknowledgement) -> Vec<u64> {
        let above = self.under_way.split_off(&ack.ack);
        let mut arrived: Vec<u64> = std::mem::replace(&mut self.under_way, above).into_values().collect();
        for block in &ack.sack {
            let named: Vec<u64> = self.under_way.range(block.clone()).map(|(offset, _)| *offset).collect();
            arrived.extend(named.iter().filter_map(|offset| self.under_way.remove(offset)));
        }
        arrived.sort_unstable();
        arrived
    }

    /// The segments that begin within these bytes are marked lost.
    pub fn lost(&mut self, now: Time, bytes: Range<u64>) {
        let numbers: Vec<u64> = self.under_way.range(bytes).map(|(_, number)| *number).collect();
        for number in numbers {
            let lost = json!({ "header": { "packet_type": "1RTT", "packet_number": number } });
            self.event(now, "recovery:packet_lost", &lost);
        }
    }

    /// The state of loss recovery changes.
    pub fn state_changed(&mut self, now: Time, old: &str, new: &str) {
        self.event(now, "recovery:congestion_state_updated", &json!({ "old": old, "new": new }));
    }

    /// The window is reduced from `before` to `after` segments.
    pub fn reduced(&mut self, now: Time, by: &str, before: u64, after: u64) {
        let reduced = json!({ "by": by, "before_segments": before, "after_segments": after });
        self.event(now, "cwndlab:window_reduced", &reduced);
    }

    /// A reduction was spurious and is undone.
    pub fn undone(&mut self, now: Time) {
        self.event(now, "cwndlab:reduction_undone", &json!({}));
    }

    /// A tail-loss probe was sent, but it is not known which segment it was.
    pub fn tail_loss_probe_sent(&mut self, now: Time) {
        self.event(now, "cwndlab:tail_loss_probe_sent", &json!({}));
    }

    /// An action takes effect.
    pub fn decided(&mut self, now: Time, action: u32) {
        self.event(now, "cwndlab:decided", &json!({ "action": action }));
    }

    /// Writes the metrics that have changed.
    pub fn measured(&mut self, now: Time, metrics: &Metrics) {
        let values = metrics.values();
        if let Some(changed) = changes(&METRICS, &self.metrics, &values) {
            self.event(now, "recovery:metrics_updated", &changed);
        }
        self.metrics = values;
    }

    /// Writes the controller's own values that have changed.
    pub fn probed(&mut self, now: Time, names: &[&str], values: Vec<f64>) {
        if let Some(changed) = changes(names, &self.probes, &values) {
            self.event(now, "cwndlab:controller_updated", &changed);
        }
        self.probes = values;
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// Why the file is not complete.
    pub fn finish(self) -> Result<(), String> {
        self.out.finish(Write::flush)
    }

    fn event(&mut self, now: Time, name: &str, data: &Value) {
        self.record(&json!({ "time": ms(Span(now.0)), "name": name, "data": data }));
    }

    fn record(&mut self, record: &Value) {
        self.out.write(|out| {
            out.write_all(&[RECORD_SEPARATOR])?;
            serde_json::to_writer(&mut *out, record)?;
            out.write_all(b"\n")
        });
    }
}

fn heading(flow: &str, seed: u64, system: &str) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "qlog_version": VERSION,
        "qlog_format": "JSON-SEQ",
        "title": format!("{flow}, seed {seed}"),
        "description": format!("{system}, cwndlab {version}: packet numbers count transmissions"),
        "trace": {
            "title": flow,
            "vantage_point": { "name": flow, "type": "client" },
            "common_fields": { "protocol_type": ["TCP"], "time_format": "relative", "reference_time": 0 },
        },
    })
}

/// The values that have changed, by name; `None` if none has.
fn changes(names: &[&str], before: &[f64], now: &[f64]) -> Option<Value> {
    let differs = |(at, value): &(usize, &f64)| {
        before.get(*at).map_or(f64::NAN, |old| *old).to_bits() != value.to_bits()
    };
    let changed: Map<String, Value> = now
        .iter()
        .enumerate()
        .filter(differs)
        .map(|(at, value)| (names[at].to_owned(), number(*value)))
        .collect();
    (!changed.is_empty()).then(|| changed.into())
}

/// A value as JSON: whole numbers without a fraction, NaN as null.
fn number(value: f64) -> Value {
    /// Below this (2^53) every whole number is exact as an `f64`.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() < WHOLE { json!(value as i64) } else { json!(value) }
}

/// Sorted numbers as ranges with inclusive ends.
fn ranges(numbers: Vec<u64>) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => ranges.push([number, number]),
        }
    }
    ranges
}

fn raw(length: u32) -> Value {
    json!({ "length": length })
}

fn ms(span: Span) -> f64 {
    span.0 as f64 / NANOS_PER_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_range() {
        assert_eq!(ranges(vec![1, 2, 3, 7, 9, 10]), [[1, 3], [7, 7], [9, 10]]);
    }

    #[test]
    fn only_what_changed_is_written() {
        let none = f64::NAN;
        assert_eq!(changes(&["a", "b"], &[1.0, none], &[1.0, none]), None);
        assert_eq!(changes(&["a", "b"], &[], &[2.0, 0.5]), Some(json!({ "a": 2, "b": 0.5 })));
        assert_eq!(changes(&["a", "b"], &[2.0, 0.5], &[2.0, none]), Some(json!({ "b": null })));
    }
}
