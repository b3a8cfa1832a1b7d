//! qlog of the kernel's TCP: its packets, what its sockets show after every ACK, and the values of our controllers.

use crate::facts::Facts;
use crate::flow::rtt_sample;
use crate::headers::{CWR, ECE, Headers, SYN};
use crate::network::{Sent, Way};
use crate::slots::Handle;
use cwndlab_cc::{Span, Time};
use cwndlab_lab::export::{Acknowledgement, Log, Metrics, Segment};
use std::collections::BTreeMap;
use std::path::Path;

/// `enum tcp_ca_state`, in its order.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// The files of a run: one for each part of the scenario's flows.
pub(crate) struct Qlog {
    traces: Vec<Trace>,
    /// The packets on the way to senders. A lost packet stays until another packet gets its place in memory.
    acks: BTreeMap<Handle, Headers>,
}

impl Qlog {
    /// Creates the files of parts with these names.
    ///
    /// # Errors
    /// A message: there are too many parts, or a file cannot be written.
    pub(crate) fn create(at: &Path, names: &[String], seed: u64) -> Result<Self, String> {
        let logs = Log::create(at, names, seed, "TCP of Linux")?;
        let trace = |log| Trace { log, first: None, highest: 0 };
        Ok(Self { traces: logs.into_iter().map(trace).collect(), acks: BTreeMap::new() })
    }

    /// A packet with these headers leaves its end.
    pub(crate) fn sent(&mut self, now: Time, sent: &Sent, headers: &[u8]) {
        let Some(trace) = self.traces.get_mut(sent.part as usize) else { return };
        let Some(headers) = Headers::of(headers, sent.bytes) else { return };
        match sent.way {
            Way::Data => trace.sent(now, &headers),
            Way::Acks => {
                self.acks.insert(sent.handle, headers);
            }
        }
    }

    /// A packet arrives at the sender of a part.
    pub(crate) fn arrived(&mut self, now: Time, part: u32, handle: Handle) {
        let Some(headers) = self.acks.remove(&handle) else { return };
        self.traces[part as usize].arrived(now, &headers);
    }

    /// The kernel has marked data as lost.
    pub(crate) fn lost(&mut self, now: Time, part: usize, seq: u32, end_seq: u32) {
        if let Some(trace) = self.traces.get_mut(part) {
            let bytes = trace.offset(seq)..trace.offset(end_seq);
            trace.log.lost(now, bytes);
        }
    }

    /// Records the state that the socket of a part shows, and its changes since the state before.
    pub(crate) fn look(&mut self, now: Time, part: usize, before: &Facts, facts: &Facts, mss: u64) {
        if let Some(trace) = self.traces.get_mut(part) {
            trace.look(now, before, facts, mss);
        }
    }

    /// Records the values of the controller of a part.
    pub(crate) fn probed(&mut self, now: Time, part: usize, names: &[&str], values: Vec<f64>) {
        if let Some(trace) = self.traces.get_mut(part) {
            trace.log.probed(now, names, values);
        }
    }

    /// Writes the rest of the files.
    ///
    /// # Errors
    /// A message that says why a file is not complete.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.traces.into_iter().try_for_each(|trace| trace.log.finish())
    }
}

/// The file of one part.
struct Trace {
    log: Log,
    /// The sequence number of the first byte of its stream.
    first: Option<u32>,
    /// Bytes of the stream that were sent.
    highest: u64,
}

impl Trace {
    /// The byte of the stream with this sequence number, which is less than 2^31 from the highest byte sent.
    fn offset(&self, seq: u32) -> u64 {
        let byte = seq.wrapping_sub(self.first.unwrap_or(seq));
        self.highest.saturating_add_signed(i64::from(byte.wrapping_sub(self.highest as u32) as i32))
    }

    fn sent(&mut self, now: Time, headers: &Headers) {
        if headers.flags & SYN != 0 {
            if self.first.is_none() {
                self.first = Some(headers.seq.wrapping_add(1));
                self.log.started(now, headers.from, headers.to);
            }
            self.log.syn_sent(now, headers.length);
        } else if headers.payload > 0 {
            let (offset, payload) = (self.offset(headers.seq), u64::from(headers.payload));
            let cwr = headers.flags & CWR != 0;
            self.log.data_sent(now, &Segment { offset, payload, length: headers.length, probe: None, cwr });
            self.highest = self.highest.max(offset + payload);
        }
    }

    fn arrived(&mut self, now: Time, headers: &Headers) {
        if headers.flags & SYN != 0 {
            self.log.syn_ack_received(now, headers.length);
            return;
        }
        let ack = Acknowledgement {
            length: headers.length,
            ack: self.offset(headers.ack),
            sack: headers.sack.iter().map(|[start, end]| self.offset(*start)..self.offset(*end)).collect(),
            dsack: headers.has_dsack(),
            ece: headers.flags & ECE != 0,
        };
        self.log.ack_received(now, &ack);
    }

    fn look(&mut self, now: Time, before: &Facts, facts: &Facts, mss: u64) {
        let log = &mut self.log;
        if facts.ca_state != before.ca_state {
            log.state_changed(now, state(before), state(facts));
        }
        let (counts, counted) = (&facts.counts, &before.counts);
        let reductions = [
            ("fast_recovery", counts.fast_recoveries > counted.fast_recoveries),
            ("timeout", counts.timeouts > counted.timeouts),
            ("cwr", state(facts) == "cwr" && state(before) != "cwr"),
        ];
        for (by, _) in reductions.into_iter().filter(|(_, happened)| *happened) {
            log.reduced(now, by, before.cwnd, facts.decided);
        }
        if counts.undos > counted.undos {
            log.undone(now);
        }
        if counts.probes > counted.probes {
            log.tail_loss_probe_sent(now);
        }
        log.measured(now, &metrics(before, facts, mss));
    }
}

fn state(facts: &Facts) -> &'static str {
    STATES.get(facts.ca_state as usize).copied().unwrap_or("unknown")
}

fn metrics(before: &Facts, facts: &Facts, mss: u64) -> Metrics {
    let time = |us: u64| (us > 0).then(|| Span::from_micros(us));
    Metrics {
        min_rtt: time(facts.min_rtt_us),
        smoothed_rtt: (facts.srtt_ns > 0).then_some(Span(facts.srtt_ns)),
        latest_rtt: rtt_sample(before, facts),
        rtt_variance: None,
        window: Some(facts.cwnd * mss),
        in_flight: Some(facts.in_flight * mss),
        ssthresh: facts.known_ssthresh().map(|segments| (segments * mss) as f64),
        pacing_rate: facts.known_pacing_rate().map(|bytes| 8 * bytes),
    }
}
