//! Numbers from the sources: what RFC 5681, RFC 3465, RFC 9438, Linux, ns-3 and HyStart's authors say that a window
//! must be, computed here without the code under test.

#[path = "../common/mod.rs"]
mod common;

mod cubic;
mod cubic_counting;
mod growth;
mod hystart;
mod reductions;
mod vegas;

use common::{MSS, sender};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Event, Span};

const RTT: Span = Span::from_millis(100);

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

/// Acknowledges whole windows of exactly `segments` without letting time pass.
fn acknowledge(sender: &mut Sender, segments: u64, per_ack: u64) {
    for _ in 0..segments / per_ack {
        sender.ack(per_ack);
    }
}

/// Reports an event with this FlightSize and this pipe, in segments.
fn event_with(sender: &mut Sender, event: Event, flight: u64, pipe: u64) {
    sender.facts.flight_size = flight * MSS;
    sender.facts.in_flight = pipe * MSS;
    sender.facts.outstanding = flight * MSS;
    sender.call(|cc, cx| cc.on_event(cx, event));
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

const PURE: (&str, Value) = ("reno_friendly", Value::Flag(false));

fn cubic_sender(form: &'static str, settings: &[(&str, Value)], initial_window: u64, rtt: Span) -> Sender {
    let mut all = vec![("form", word(form))];
    all.extend_from_slice(settings);
    sender("cubic", &all, initial_window, rtt)
}

/// After how many ACKs of one segment the window grows, time standing still.
fn acks_to_grow(sender: &mut Sender, most: u32) -> Option<u32> {
    let before = sender.cwnd_segments();
    (1..=most).find(|_| {
        sender.ack(1);
        sender.cwnd_segments() > before
    })
}

/// A rise of the delay ends slow start without a loss and without growth.
fn leave_slow_start(sender: &mut Sender) {
    sender.facts.window_limited = false;
    sender.ack(1);
    sender.facts.rtt.latest = RTT + RTT + RTT;
    sender.facts.rtt.smoothed = sender.facts.rtt.latest;
    // The rest of this round, which has seen the short delay, and nine samples of the next.
    for _ in 0..sender.cwnd_segments() as u64 + 10 {
        sender.wait(Span::from_millis(3)).ack(1);
    }
    sender.facts.rtt.latest = RTT;
    sender.facts.window_limited = true;
    assert_eq!(sender.probe("ssthresh_bytes"), sender.cwnd_segments() * MSS as f64);
}
