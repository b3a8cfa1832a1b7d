//! Small captures by hand: each kind of loss, both formats, damaged files.

mod common;

use common::{Frame, ack, data, opening, pcap, pcapng};
use cwndlab_capture::{Analysis, Side, read};
use proptest::prelude::*;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
const MSS: u64 = 1000;

/// Ten segments a round trip of 100 ms, each acknowledged, from `from_ms` on; returns when the next one may begin.
fn round(frames: &mut Vec<Frame>, from_ms: u64, first: u64) -> u64 {
    for n in 0..10 {
        frames.push(data(from_ms * MS + n * 1000, (first + n) * MSS, MSS as usize));
    }
    for n in 0..10 {
        frames.push(ack((from_ms + 100) * MS + n * 1000, (first + n + 1) * MSS, &[]));
    }
    from_ms + 101
}

fn analysed(frames: &[Frame]) -> Analysis {
    read(&pcap(frames)[..]).expect("a capture")
}

fn kinds(facts: &Value) -> Vec<(f64, String)> {
    let losses = facts["losses"].as_array().expect("a list");
    losses
        .iter()
        .map(|loss| (loss[0].as_f64().expect("a time"), loss[1].as_str().expect("a kind").into()))
        .collect()
}

#[test]
fn a_transfer_without_losses() {
    let mut frames = Vec::new();
    let next = round(&mut frames, 0, 0);
    round(&mut frames, next, 10);
    let Analysis { side, arrivals, facts } = analysed(&frames);
    assert_eq!(side, Side::Sender);
    assert_eq!((&facts["data_segments"], &facts["payload_bytes"]), (&json!(20), &json!(20_000)));
    assert_eq!((&facts["from"], &facts["to"]), (&json!("10.0.0.1:443"), &json!("192.168.1.2:50000")));
    assert_eq!((&facts["rtt_ms"], &facts["rtt_samples"]), (&json!(100.0), &json!(20)));
    assert_eq!((&facts["retransmitted_packets"], &facts["losses"]), (&json!(0), &json!([])));
    // Of each segment the IP packet: 1000 bytes, 20 + 20 of headers, 12 of the timestamps.
    assert_eq!(arrivals.len(), 20);
    assert!(arrivals.iter().all(|(_, bytes)| (bytes - 1052.0).abs() < 1e-6), "{arrivals:?}");
}

#[test]
fn duplicate_acks_and_sack_make_a_fast_recovery() {
    for blocks in [false, true] {
        let mut frames = Vec::new();
        let at = round(&mut frames, 0, 0);
        for n in 10..20 {
            frames.push(data(at * MS + n, n * MSS, MSS as usize));
        }
        // Segments 10 and 12 are lost.
        for n in [11, 13, 14, 15] {
            let sack: &[(u64, u64)] = if blocks { &[(n * MSS, (n + 1) * MSS)] } else { &[] };
            frames.push(ack((at + 100) * MS + n * 1000, 10 * MSS, sack));
        }
        frames.push(data((at + 100) * MS + 20_000, 10 * MSS, MSS as usize));
        frames.push(ack((at + 200) * MS, 12 * MSS, &[]));
        frames.push(data((at + 200) * MS + 1000, 12 * MSS, MSS as usize));
        frames.push(ack((at + 300) * MS, 20 * MSS, &[]));
        let facts = analysed(&frames).facts;
        let time = ((at + 100) * MS + 20_000) as f64 / 1e9;
        assert_eq!(kinds(&facts), [(time, "fast recovery".to_owned())], "SACK {blocks}");
        assert_eq!((&facts["retransmitted_packets"], &facts["fast_recoveries"]), (&json!(2), &json!(1)));
    }
}

#[test]
fn silence_makes_a_timeout_and_backed_off_ones() {
    let mut frames = Vec::new();
    let at = round(&mut frames, 0, 0);
    frames.push(data(at * MS, 10 * MSS, MSS as usize));
    frames.push(data(at * MS + 1, 11 * MSS, MSS as usize));
    // SRTT is 100 ms, and the deviation has faded: an RTO of 300 ms or a little more.
    frames.push(data((at + 330) * MS, 10 * MSS, MSS as usize));
    frames.push(data((at + 1000) * MS, 10 * MSS, MSS as usize));
    frames.push(ack((at + 1100) * MS, 11 * MSS, &[]));
    // What follows in slow start belongs to the timeout.
    frames.push(data((at + 1100) * MS + 1000, 11 * MSS, MSS as usize));
    frames.push(ack((at + 1200) * MS, 12 * MSS, &[]));
    let facts = analysed(&frames).facts;
    let names: Vec<String> = kinds(&facts).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["timeout", "timeout"]);
    assert_eq!((&facts["retransmitted_packets"], &facts["rtt_samples"]), (&json!(3), &json!(10)), "Karn");
}

#[test]
fn the_last_segment_again_is_a_probe() {
    let mut frames = Vec::new();
    let at = round(&mut frames, 0, 0);
    frames.push(data(at * MS, 10 * MSS, MSS as usize));
    frames.push(data(at * MS + 1, 11 * MSS, MSS as usize));
    frames.push(data((at + 210) * MS, 11 * MSS, MSS as usize));
    frames.push(ack((at + 310) * MS, 12 * MSS, &[]));
    let facts = analysed(&frames).facts;
    assert_eq!((&facts["tail_loss_probes"], &facts["timeouts"]), (&json!(1), &json!(0)));
}

#[test]
fn a_peak_of_the_rtt_before_a_loss() {
    let mut frames = Vec::new();
    let mut at = 0;
    for n in 0..5 {
        at = round(&mut frames, at, 10 * n);
    }
    // SRTT rises above the least RTT, then one sample has 1.9 times its rise.
    let slow = |frames: &mut Vec<Frame>, at: u64, first: u64, rtt_ms: u64| {
        frames.push(data(at * MS, first * MSS, MSS as usize));
        frames.push(ack((at + rtt_ms) * MS, (first + 1) * MSS, &[]));
        at + rtt_ms + 1
    };
    for n in 50..70 {
        at = slow(&mut frames, at, n, 120);
    }
    at = slow(&mut frames, at, 70, 150);
    frames.push(data(at * MS, 71 * MSS, MSS as usize));
    frames.push(data((at + 500) * MS, 71 * MSS, MSS as usize));
    let facts = analysed(&frames).facts;
    assert_eq!((&facts["timeouts"], &facts["timeouts_at_peak"]), (&json!(1), &json!(1)), "{facts}");
}

#[test]
fn beside_the_receiver_there_are_arrivals_and_no_table() {
    let mut frames = Vec::new();
    for n in 0..20_u64 {
        frames.push(data(n * 10 * MS, n * MSS, MSS as usize));
        frames.push(ack(n * 10 * MS + 20_000, (n + 1) * MSS, &[]));
    }
    let Analysis { side, arrivals, facts } = analysed(&frames);
    assert_eq!(
        (side, &facts["captured_at"], facts.get("timeouts")),
        (Side::Receiver, &json!("receiver"), None)
    );
    assert_eq!((arrivals.len(), arrivals[1]), (20, (10 * MS, 1052.0)));
}

/// The three packets that open the connection, as the client (the receiver of the data) or the server captures them.
#[test]
fn the_opening_tells_the_end_where_the_path_is_short() {
    for (side, gaps) in [(Side::Receiver, [300_000, 10_000]), (Side::Sender, [10_000, 300_000])] {
        let mut frames = opening(gaps);
        for n in 0..20_u64 {
            frames.push(data((n + 1) * MS, n * MSS, MSS as usize));
            frames.push(ack((n + 1) * MS + 300_000, (n + 1) * MSS, &[]));
        }
        assert_eq!(analysed(&frames).side, side);
    }
}

#[test]
fn both_formats_are_the_same() {
    let mut frames = Vec::new();
    round(&mut frames, 0, 0);
    let [old, new] = [pcap(&frames), pcapng(&frames)].map(|file| read(&file[..]).expect("a capture"));
    assert_eq!((old.facts, old.arrivals), (new.facts, new.arrivals));
}

#[test]
fn what_is_no_capture_is_told() {
    let told = |file: &[u8]| read(file).map(|_| ()).expect_err("a mistake");
    assert_eq!(told(b""), "it is empty");
    assert_eq!(
        told(b"seconds,bytes\n0,1\n"),
        "expected a capture in the format pcap or pcapng, found neither"
    );
    assert_eq!(told(&pcap(&[])), "expected a TCP connection with data, found none among 0 packets");
    let mut frames = Vec::new();
    round(&mut frames, 0, 0);
    let whole = pcap(&frames);
    let facts = read(&whole[..whole.len() - 50]).expect("a capture that was broken off").facts;
    assert_eq!(facts["packets"], json!(19));
    let mut wrong = pcapng(&frames);
    let second = wrong.len() - 200;
    wrong[second..second + 100].fill(0xee);
    let _any = read(&wrong[..]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damaged_capture_is_read_or_refused(
        new in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        cuts in prop::bool::weighted(0.3),
    ) {
        let mut frames = Vec::new();
        let at = round(&mut frames, 0, 0);
        frames.push(data(at * MS, 10 * MSS, MSS as usize));
        frames.push(ack((at + 100) * MS, 10 * MSS, &[(11 * MSS, 12 * MSS), (13 * MSS, 15 * MSS)]));
        frames.push(data((at + 400) * MS, 10 * MSS, MSS as usize));
        let mut file = if new { pcapng(&frames) } else { pcap(&frames) };
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if cuts {
            file.truncate(cut.index(file.len()));
        }
        match read(&file[..]) {
            Err(message) => prop_assert!(!message.is_empty() && !message.contains('\n')),
            Ok(analysis) => prop_assert!(analysis.arrivals.iter().all(|(_, bytes)| bytes.is_finite() && *bytes >= 0.0)),
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes[..]).is_err());
    }
}
