//! qlog files of a simulation: one for each flow and subflow of the scenario.

use super::super::bytes::Bytes;
use super::super::connection::endpoints;
use super::{Acknowledgement, Log, Metrics, Segment};
use cwndlab_cc::{Phase, Span, Time};
use cwndlab_sim::SimSpec;
use cwndlab_sim::flow::Flow;
use cwndlab_sim::packet::{AckHeader, Body, Data, Packet};
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tap::{FlowEvent, Reduction};
use cwndlab_sim::tcp::Sender;
use std::net::SocketAddrV4;
use std::path::Path;

/// The probe that reports the slow-start threshold.
const SSTHRESH: &str = "ssthresh_bytes";

/// The files of a run.
pub(crate) struct Qlog {
    traces: Vec<Trace>,
}

impl Qlog {
    pub(crate) fn create(at: &Path, spec: &SimSpec) -> Result<Self, String> {
        let names: Vec<String> = spec.flows.iter().flat_map(FlowSpec::parts).map(|(name, _)| name).collect();
        let logs = Log::create(at, &names, spec.seed, "Simulated TCP")?;
        Ok(Self { traces: logs.into_iter().map(Trace::new).collect() })
    }

    pub(crate) fn on_packet(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        if let Some(trace) = self.traces.get_mut(packet.flow as usize) {
            trace.on_packet(now, flow, packet);
        }
    }

    pub(crate) fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        if let Some(trace) = self.traces.get_mut(flow as usize) {
            trace.on_flow(now, event);
        }
    }

    pub(crate) fn on_turn(&mut self, now: Time, flow: u32, sender: &Sender) {
        if let Some(trace) = self.traces.get_mut(flow as usize) {
            trace.on_turn(now, sender);
        }
    }

    pub(crate) fn finish(self) -> Result<(), String> {
        self.traces.into_iter().try_for_each(|trace| trace.log.finish())
    }
}

/// The file of one flow, with the state for writing it.
struct Trace {
    log: Log,
    bytes: Option<Bytes>,
    /// Whether the next transmission is a tail-loss probe.
    probing: bool,
}

impl Trace {
    fn new(log: Log) -> Self {
        Self { log, bytes: None, probing: false }
    }

    fn on_packet(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        match &packet.body {
            Body::Syn => self.on_syn(now, flow, packet),
            Body::SynAck { .. } => self.log.syn_ack_received(now, packet.size),
            Body::Data(data) => self.on_sent(now, flow, packet, data),
            Body::Ack(header) => self.on_ack(now, packet, header),
        }
    }

    fn on_syn(&mut self, now: Time, flow: &Flow, packet: &Packet) {
        if self.bytes.is_none() {
            self.bytes = Some(Bytes::new(flow.mss()));
            let [from, to] =
                endpoints(packet.flow, packet.generation).map(|end| SocketAddrV4::new(end.address, end.port));
            self.log.started(now, from, to);
        }
        self.log.syn_sent(now, packet.size);
    }

    fn on_sent(&mut self, now: Time, flow: &Flow, packet: &Packet, data: &Data) {
        let Some(bytes) = &mut self.bytes else { return };
        let payload = u64::from(packet.size) - flow.header();
        bytes.note(data.seq, payload);
        let segment = Segment {
            offset: bytes.below(data.seq),
            payload,
            length: packet.size,
            probe: Some(std::mem::take(&mut self.probing)),
            cwr: data.cwr,
        };
        self.log.data_sent(now, &segment);
    }

    fn on_ack(&mut self, now: Time, packet: &Packet, header: &AckHeader) {
        let Some(bytes) = &self.bytes else { return };
        let blocks = header.sack.iter().filter(|block| block.end > block.start);
        let ack = Acknowledgement {
            length: packet.size,
            ack: bytes.below(header.cumulative),
            sack: blocks.map(|block| bytes.below(block.start)..bytes.below(block.end)).collect(),
            dsack: header.dsack,
            ece: header.ece,
        };
        self.log.ack_received(now, &ack);
    }

    fn on_flow(&mut self, now: Time, event: FlowEvent<'_>) {
        match event {
            FlowEvent::Lost { seq } => {
                let Some(bytes) = &self.bytes else { return };
                let offset = bytes.below(seq);
                self.log.lost(now, offset..offset + 1);
            }
            FlowEvent::PhaseChanged { from, to } => self.log.state_changed(now, phase(from), phase(to)),
            FlowEvent::Reduced { by, before, after } => {
                self.log.reduced(now, cause(by), before.into(), after.into());
            }
            FlowEvent::Undone => self.log.undone(now),
            FlowEvent::Decided { action } => self.log.decided(now, action),
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

    fn on_turn(&mut self, now: Time, sender: &Sender) {
        let controller = sender.controller();
        let names = controller.probes();
        let mut probes = vec![f64::NAN; names.len()];
        controller.probe(&mut probes);
        let ssthresh = names.iter().position(|name| *name == SSTHRESH).map(|at| probes[at]);
        self.log.measured(now, &metrics(sender, ssthresh));
        self.log.probed(now, names, probes);
    }
}

fn metrics(sender: &Sender, ssthresh: Option<f64>) -> Metrics {
    let rtt = sender.rtt();
    let control = sender.control();
    let measured = |span| (rtt.smoothed != Span::ZERO).then_some(span);
    let mss = sender.options().mss;
    Metrics {
        min_rtt: measured(rtt.minimum),
        smoothed_rtt: measured(rtt.smoothed),
        latest_rtt: measured(rtt.latest),
        rtt_variance: measured(rtt.variance),
        window: Some(control.cwnd),
        in_flight: Some(u64::from(sender.in_flight()) * mss),
        ssthresh,
        pacing_rate: control.pacing_rate.map(|rate| rate.0),
    }
}

/// The phase under its Linux name (`enum tcp_ca_state`).
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
