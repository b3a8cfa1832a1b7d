//! A simulated transfer, captured at either end: what the capture shows is what the simulator knows.

mod common;

use common::{Frame, ack, data, pcap, syn};
use cwndlab_capture::{Side, read};
use cwndlab_cc::{Registry, Time};
use cwndlab_lab::scenario::{Backend, Source, read as read_scenario};
use cwndlab_lab::trace::Memory;
use cwndlab_sim::outcome::{FlowOutcome, Outcome};
use cwndlab_sim::packet::{Body, Packet};
use cwndlab_sim::queue::Queues;
use cwndlab_sim::tap::{LinkEvent, State, Tap};
use cwndlab_sim::{Sim, Watch};

/// Bytes of a segment and of its headers.
const MSS: u64 = 1448;
const LINK: u32 = 0;
const BACK: u32 = 1;

/// Captures at both ends: packets that leave or reach the sender, and the receiver.
#[derive(Default)]
struct Capture {
    sender: Vec<(Time, Packet)>,
    receiver: Vec<(Time, Packet)>,
}

impl Tap for Capture {
    type Outcome = Self;

    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        match (link, event) {
            (LINK, LinkEvent::Enqueued { packet, .. }) | (BACK, LinkEvent::Delivered { packet }) => {
                self.sender.push((at, *packet));
            }
            (LINK, LinkEvent::Delivered { packet }) | (BACK, LinkEvent::Enqueued { packet, .. }) => {
                self.receiver.push((at, *packet));
            }
            _ => {}
        }
    }

    fn finish(self, _state: &State<'_>) -> Self {
        self
    }
}

fn file(mut packets: Vec<(Time, Packet)>, data_first: bool) -> Vec<u8> {
    packets.sort_by_key(|(at, packet)| (*at, packet.is_data() != data_first));
    let frames = packets.iter().map(|(at, packet)| match packet.body {
        Body::Data(sent) => data(at.0, u64::from(sent.seq) * MSS, MSS as usize),
        Body::Ack(header) => {
            let byte = |segment: u32| u64::from(segment) * MSS;
            let blocks = header.sack.iter().filter(|block| block.start < block.end && !header.dsack);
            let blocks: Vec<_> = blocks.map(|block| (byte(block.start), byte(block.end))).collect();
            ack(at.0, byte(header.cumulative), &blocks)
        }
        Body::Syn => syn(at.0, false),
        Body::SynAck { .. } => syn(at.0, true),
    });
    pcap(&frames.collect::<Vec<Frame>>())
}

fn run(link: &str, cc: &str) -> (Outcome, Capture) {
    let text = format!(
        "duration = \"60 s\"\ntimeout_patterns = true\nsend_jitter = \"0 s\"\n[[link]]\nname = \"b\"\n{link}\n\
         [link.back]\nrate = \"10 Gbit/s\"\n[[flow]]\nname = \"a\"\ncc = \"{cc}\"\npath = [\"b\"]\n"
    );
    let (registry, queues) = (Registry::built_in(), Queues::built_in());
    let source = Source {
        backend: Backend::Sim,
        file: "x.toml",
        registry: &registry,
        queues: &queues,
        traces: &Memory::default(),
    };
    let (scenario, problems) = read_scenario(text.as_bytes(), &source, &[]);
    let spec = scenario.unwrap_or_else(|| panic!("{problems:?}")).spec(3, false);
    let mut sim = Sim::with_tap(&spec, |state| (Watch::new(&spec, state), Capture::default()));
    sim.run();
    sim.outcome()
}

fn count(facts: &serde_json::Value, key: &str) -> u64 {
    facts[key].as_u64().unwrap_or_else(|| panic!("{key}: {}", facts[key]))
}

/// What the simulator and the capture count.
struct Counts {
    simulated: [u64; 7],
    captured: [u64; 7],
}

/// Retransmissions, timeouts, those at peaks, fast recoveries, those at peaks, RTT samples, peaks.
fn counts(link: &str, cc: &str) -> Counts {
    let (outcome, capture) = run(link, cc);
    let flow: &FlowOutcome = &outcome.flows[0];
    let patterns = flow.patterns.as_ref().expect("patterns");
    let analysis = read(&file(capture.sender, false)[..]).expect("a capture");
    assert_eq!(analysis.side, Side::Sender);
    let facts = &analysis.facts;
    assert_eq!(count(facts, "data_segments"), flow.sent_packets);
    let names = [
        "retransmitted_packets",
        "timeouts",
        "timeouts_at_peak",
        "fast_recoveries",
        "fast_recoveries_at_peak",
        "rtt_samples",
        "rtt_peaks",
    ];
    let simulated = [
        flow.retransmitted_packets,
        flow.timeouts,
        patterns.timeouts_at_peak,
        flow.fast_recoveries,
        patterns.fast_recoveries_at_peak,
        patterns.rtt_samples,
        patterns.rtt_peaks,
    ];
    Counts { simulated, captured: names.map(|name| count(facts, name)) }
}

#[test]
fn a_capture_beside_the_sender_shows_what_the_sender_did() {
    let bursts = "loss = { kind = \"gilbert-elliott\", to_bad = 0.003, to_good = 0.1 }";
    for (link, cc) in [
        ("rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nloss = 0.002", "cubic"),
        ("rate = \"5 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"8 packets\"", "reno"),
        (&format!("rate = \"3 Mbit/s\"\ndelay = \"50 ms\"\n{bursts}"), "reno"),
        ("trace = \"synthetic:lte-down\"\ndelay = \"20 ms\"\nqueue = \"100 kB\"", "cubic"),
    ] {
        let Counts { simulated, captured } = counts(link, cc);
        // Packets and timers show for certain; where a recovery ends, and another begins, does not always.
        assert_eq!(simulated[..3], captured[..3], "{cc} over {link}");
        // Timestamps, which the simulator's segments have and these packets lack, give samples of segments that were sent again.
        let [fast, at_peak, peaks] = [3, 4, 6].map(|n| simulated[n].abs_diff(captured[n]));
        let shown = format!("{cc} over {link}: {simulated:?}, {captured:?}");
        assert!(fast <= 2 && at_peak == 0 && peaks <= simulated[6] / 6, "{shown}");
    }
}

#[test]
fn the_trace_of_a_capture_is_the_trace_of_the_link() {
    let (_, capture) = run("trace = \"synthetic:lte-down\"\ndelay = \"20 ms\"\nqueue = \"1 MB\"", "cubic");
    let at_receiver = read(&file(capture.receiver, true)[..]).expect("a capture");
    let at_sender = read(&file(capture.sender, false)[..]).expect("a capture");
    assert_eq!((at_receiver.side, at_sender.side), (Side::Receiver, Side::Sender));
    let total = |arrivals: &[(u64, f64)]| arrivals.iter().map(|(_, bytes)| bytes).sum::<f64>();
    let [near, far] = [&at_receiver, &at_sender].map(|analysis| total(&analysis.arrivals));
    // 43 798 opportunities of 1504 bytes, of which slow start leaves some unused.
    let capacity = 43_798.0 * 1504.0;
    assert!((0.98..=1.0).contains(&(near / capacity)), "{near} of {capacity} bytes");
    assert!((0.98..=1.0).contains(&(far / near)), "{far} of {near} bytes");
}
