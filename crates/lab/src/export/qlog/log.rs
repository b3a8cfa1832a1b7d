//! qlog 0.3, one file for each flow, in the form that grows (JSON-SEQ, RFC 7464).
//!
//! qlog was made for QUIC, which numbers packets. TCP numbers bytes, and a segment that is sent again has the numbers it had. Here the
//! nth transmission of a connection has packet number n; an ACK acknowledges the last transmission of each segment that it names.

use super::bytes::Bytes;
use super::connection::endpoints;
use super::{Guarded, Output, file, file_name, folder};
use cwndlab_cc::{Phase, Span, Time};
use cwndlab_sim::SimSpec;
use cwndlab_sim::flow::Flow;
use cwndlab_sim::packet::{AckHeader, Body, Data, Packet};
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tap::{FlowEvent, Reduction};
use cwndlab_sim::tcp::Sender;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The newest version that qvis loads.
const VERSION: &str = "0.3";
/// What each record begins with (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;
const NANOS_PER_MS: f64 = 1e6;
/// The probe that says the slow-start threshold.
const SSTHRESH: &str = "ssthresh_bytes";

/// The values of `recovery:metrics_updated`, times in ms, amounts in bytes, the rate in bit/s.
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

/// The files of a run: of each flow of the scenario, and each subflow.
pub(super) struct Qlog {
    traces: Vec<Trace>,
}

impl Qlog {
    pub(super) fn create(at: &Path, spec: &SimSpec) -> Result<Self, String> {
        let names: Vec<String> = spec.flows.iter().flat_map(FlowSpec::parts).map(|(name, _)| name).collect();
        folder(at, names.len(), "qlog")?;
        let create = |(index, name): (usize, &String)| {
            let at = at.join(format!("flow-{}-{}.sqlog", index + 1, file_name(name)));
            let mut trace = Trace::new(Guarded::new(at.clone(), file(&at)?));
            trace.record(&heading(name, spec.seed));
            Ok(trace)
        };
        Ok(Self { traces: names.iter().enumerate().map(create).collect::<Result<_, String>>()? })
    }

    pub(super) fn on_packet(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        if let Some(trace) = self.traces.get_mut(packet.flow as usize) {
            trace.on_packet(now, flow, packet);
        }
    }

    pub(super) fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        if let Some(trace) = self.traces.get_mut(flow as usize) {
            trace.on_flow(now, event);
        }
    }

    pub(super) fn on_turn(&mut self, now: Time, flow: u32, sender: &Sender) {
        if let Some(trace) = self.traces.get_mut(flow as usize) {
            trace.on_turn(now, sender);
        }
    }

    pub(super) fn finish(self) -> Result<(), String> {
        self.traces.into_iter().try_for_each(|trace| trace.out.finish(Write::flush))
    }
}

fn heading(flow: &str, seed: u64) -> Value {
    json!({
        "qlog_version": VERSION,
        "qlog_format": "JSON-SEQ",
        "title": format!("{flow}, seed {seed}"),
        "description": format!("TCP of cwndlab {}: packet numbers count transmissions", env!("CARGO_PKG_VERSION")),
        "trace": {
            "title": flow,
            "vantage_point": { "name": flow, "type": "client" },
            "common_fields": { "protocol_type": ["TCP"], "time_format": "relative", "reference_time": 0 },
        },
    })
}

/// The file of one flow.
struct Trace {
    out: Guarded<Output>,
    bytes: Option<Bytes>,
    /// Numbers of the next packet sent and the next one received.
    sent: u64,
    received: u64,
    /// Segments that were sent, below this one.
    next: u32,
    /// The last transmission of each segment that has not arrived, as far as the sender knows.
    under_way: BTreeMap<u32, u64>,
    metrics: Vec<f64>,
    probes: Vec<f64>,
    /// The next transmission is a tail-loss probe.
    probing: bool,
}

impl Trace {
    fn new(out: Guarded<Output>) -> Self {
        Self {
            out,
            bytes: None,
            sent: 0,
            received: 0,
            next: 0,
            under_way: BTreeMap::new(),
            metrics: vec![f64::NAN; METRICS.len()],
            probes: Vec::new(),
            probing: false,
        }
    }

    fn on_packet(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        match &packet.body {
            Body::Syn => self.on_syn(now, flow, packet),
            Body::SynAck { .. } => self.event(now, "cwndlab:syn_ack_received", json!({ "raw": raw(packet) })),
            Body::Data(data) => self.on_sent(now, flow, packet, data),
            Body::Ack(header) => self.on_ack(now, packet, header),
        }
    }

    fn on_syn(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        if self.bytes.is_none() {
            self.bytes = Some(Bytes::new(flow.mss()));
            let [sender, receiver] = endpoints(packet.flow, packet.generation);
            let started = json!({
                "ip_version": "v4",
                "src_ip": sender.address.to_string(),
                "dst_ip": receiver.address.to_string(),
                "src_port": sender.port,
                "dst_port": receiver.port,
                "protocol": "TCP",
            });
            self.event(now, "connectivity:connection_started", started);
        }
        self.event(now, "cwndlab:syn_sent", json!({ "raw": raw(packet) }));
    }

    fn on_sent(&mut self, now: Time, flow: &Flow, packet: &Packet, data: &Data) {
        let Some(bytes) = &mut self.bytes else { return };
        let payload = u64::from(packet.size) - flow.header();
        bytes.note(data.seq, payload);
        let offset = bytes.below(data.seq);
        let number = self.sent;
        self.sent += 1;
        let again = data.seq < self.next;
        self.next = self.next.max(data.seq + 1);
        self.under_way.insert(data.seq, number);
        let probe = std::mem::take(&mut self.probing);
        let sent = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": raw(packet),
            "frames": [{ "frame_type": "stream", "stream_id": 0, "offset": offset, "length": payload }],
            "tcp": { "retransmission": again, "tail_loss_probe": probe, "cwr": data.cwr },
        });
        self.event(now, "transport:packet_sent", sent);
    }

    fn on_ack(&mut self, now: Time, packet: &Packet, header: &AckHeader) {
        let arrived = self.arrived(header);
        let Some(bytes) = &self.bytes else { return };
        let blocks = header.sack.iter().filter(|block| block.end > block.start);
        let blocks: Vec<_> = blocks.map(|block| [bytes.below(block.start), bytes.below(block.end)]).collect();
        let cumulative = bytes.below(header.cumulative);
        let frames = if arrived.is_empty() {
            json!([])
        } else {
            json!([{ "frame_type": "ack", "acked_ranges": ranges(arrived) }])
        };
        let number = self.received;
        self.received += 1;
        let received = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": raw(packet),
            "frames": frames,
            "tcp": { "ack": cumulative, "sack": blocks, "dsack": header.dsack, "ece": header.ece },
        });
        self.event(now, "transport:packet_received", received);
    }

    /// The packet numbers that this ACK is the first to acknowledge.
    fn arrived(&mut self, header: &AckHeader) -> Vec<u64> {
        let above = self.under_way.split_off(&header.cumulative);
        let mut arrived: Vec<u64> = std::mem::replace(&mut self.under_way, above).into_values().collect();
        for block in header.sack.iter().filter(|block| block.end > block.start) {
            let named: Vec<u32> = self.under_way.range(block.start..block.end).map(|(seq, _)| *seq).collect();
            arrived.extend(named.iter().filter_map(|seq| self.under_way.remove(seq)));
        }
        arrived.sort_unstable();
        arrived
    }

    fn on_flow(&mut self, now: Time, event: FlowEvent<'_>) {
        match event {
            FlowEvent::Lost { seq } => {
                if let Some(number) = self.under_way.get(&seq) {
                    let lost = json!({ "header": { "packet_type": "1RTT", "packet_number": number } });
                    self.event(now, "recovery:packet_lost", lost);
                }
            }
            FlowEvent::PhaseChanged { from, to } => {
                let change = json!({ "old": phase(from), "new": phase(to) });
                self.event(now, "recovery:congestion_state_updated", change);
            }
            FlowEvent::Reduced { by, before, after } => {
                let reduced = json!({ "by": cause(by), "before_segments": before, "after_segments": after });
                self.event(now, "cwndlab:window_reduced", reduced);
            }
            FlowEvent::Undone => self.event(now, "cwndlab:reduction_undone", json!({})),
            FlowEvent::Decided { action } => self.event(now, "cwndlab:decided", json!({ "action": action })),
            FlowEvent::TailLossProbe => self.probing = true,
            FlowEvent::Begin { .. }
            | FlowEvent::SynSent
            | FlowEvent::Sent { .. }
            | FlowEvent::Acked { .. }
            | FlowEvent::RttSampled { .. }
            | FlowEvent::WindowChanged { .. }
            | FlowEvent::End { .. } => {}
        }
    }

    /// Writes the metrics and the controller's values that have changed.
    fn on_turn(&mut self, now: Time, sender: &Sender) {
        let controller = sender.controller();
        let names = controller.probes();
        let mut probes = vec![f64::NAN; names.len()];
        controller.probe(&mut probes);
        let metrics = metrics(sender, names.iter().position(|name| *name == SSTHRESH).map(|at| probes[at]));
        if let Some(changed) = changes(&METRICS, &self.metrics, &metrics) {
            self.event(now, "recovery:metrics_updated", changed);
        }
        if let Some(changed) = changes(names, &self.probes, &probes) {
            self.event(now, "cwndlab:controller_updated", changed);
        }
        (self.metrics, self.probes) = (metrics, probes);
    }

    fn event(&mut self, now: Time, name: &str, data: Value) {
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

/// Values of [`METRICS`]; NaN where there is none.
fn metrics(sender: &Sender, ssthresh: Option<f64>) -> Vec<f64> {
    let rtt = sender.rtt();
    let control = sender.control();
    let measured = |span| if rtt.smoothed == Span::ZERO { f64::NAN } else { ms(span) };
    let mss = sender.options().mss;
    vec![
        measured(rtt.minimum),
        measured(rtt.smoothed),
        measured(rtt.latest),
        measured(rtt.variance),
        control.cwnd as f64,
        (u64::from(sender.in_flight()) * mss) as f64,
        ssthresh.unwrap_or(f64::NAN),
        control.pacing_rate.map_or(f64::NAN, |rate| rate.0 as f64),
    ]
}

/// The values that differ from those before, by name; `None` if none does.
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

/// A number; whole ones without a fraction, and null for none.
fn number(value: f64) -> Value {
    /// Up to here every whole number is a floating-point number.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() < WHOLE { json!(value as i64) } else { json!(value) }
}

/// Sorted numbers as ranges, ends included.
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

fn raw(packet: &Packet) -> Value {
    json!({ "length": packet.size })
}

fn ms(span: Span) -> f64 {
    span.0 as f64 / NANOS_PER_MS
}

/// The names of Linux (`enum tcp_ca_state`).
fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Disorder => "disorder",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

fn cause(by: Reduction) -> &'static str {
    match by {
        Reduction::FastRecovery => "fast_recovery",
        Reduction::Timeout => "timeout",
        Reduction::EcnMark => "ecn_mark",
        Reduction::ProbedLoss => "probed_loss",
    }
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
