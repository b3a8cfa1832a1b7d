//! Text snapshots: the window of each algorithm, round trip by round trip, under scripted losses.
//!
//! `CWNDLAB_BLESS=1 cargo test -p cwndlab-cc --test rounds` writes them anew; a change of behaviour is then seen as a
//! change of text. Windows are whole segments, so that a last bit of a real number does not matter.
mod common;

use common::connection::{Connection, Start};
use common::{check_golden, sender};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Event, Phase, Span};
use std::fmt::Write as _;

const ROUNDS: u32 = 100;
const RTT: Span = Span::from_millis(100);
/// Delayed ACKs: each for two segments.
const PER_ACK: u64 = 2;

/// What happens at the end of a round.
fn script(round: u32) -> Option<&'static str> {
    match round {
        // The first loss, at the end of slow start; the second soon after it; the third after a long while.
        4 | 12 | 60 => Some("loss"),
        // Six round trips of it are in the next round.
        20 => Some("timeout"),
        34 => Some("timeout, spurious"),
        44 => Some("ECN mark"),
        50 => Some("loss, spurious"),
        70 => Some("silence of 1 s"),
        80 => Some("application has nothing to send until round 85"),
        _ => None,
    }
}

fn play(sender: &mut Sender, event: &str) {
    match event {
        "loss" => {
            sender.lose();
        }
        "ECN mark" => {
            sender.event(Event::EcnReduction).event(Event::Recovered);
        }
        "timeout" => {
            sender.event(Event::Timeout);
            sender.round(PER_ACK).event(Event::Recovered);
        }
        "loss, spurious" => {
            sender.event(Event::LossRecovery).event(Event::Undo).event(Event::Recovered);
        }
        "timeout, spurious" => {
            sender.event(Event::Timeout).event(Event::Undo).event(Event::Recovered);
        }
        "silence of 1 s" => {
            sender.wait(Span::from_secs(1)).event(Event::IdleRestart(Span::from_secs(1)));
        }
        _ => sender.facts.window_limited = false,
    }
    sender.facts.phase = Phase::Open;
}

fn snapshot(name: &str, settings: &[(&str, Value)]) -> String {
    let mut sender = sender(name, settings, 10, RTT);
    sender.facts.rtt.rto = Span::from_millis(300);
    let mut text = String::new();
    let set: Vec<_> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let _ =
        writeln!(text, "# {name}, {}", if set.is_empty() { "defaults".to_owned() } else { set.join(", ") });
    let _ =
        writeln!(text, "# RTT 100 ms, an ACK for every 2 segments of 1000 bytes, initial window 10 segments");
    let _ = writeln!(text, "# end of round [100 ms]  window [whole segments]  then");
    for round in 0..=ROUNDS {
        if round > 0 {
            sender.round(PER_ACK);
        }
        if round == 85 {
            sender.facts.window_limited = true;
        }
        let line =
            format!("{round:4} {:6} {}", sender.cwnd_segments() as u64, script(round).unwrap_or_default());
        let _ = writeln!(text, "{}", line.trim_end());
        if let Some(event) = script(round) {
            play(&mut sender, event);
        }
    }
    text
}

#[track_caller]
fn check(file: &str, name: &str, settings: &[(&str, Value)]) {
    check_golden(file, &snapshot(name, settings));
}

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

#[test]
fn reno() {
    check("reno.txt", "reno", &[]);
}

#[test]
fn newreno() {
    check("newreno.txt", "newreno", &[]);
}

#[test]
fn newreno_counting_acks() {
    check("newreno-acks.txt", "newreno", &[("counting", word("acks"))]);
}

#[test]
fn cubic() {
    check("cubic.txt", "cubic", &[]);
}

#[test]
fn cubic_linux() {
    check("cubic-linux.txt", "cubic", &[("form", word("linux"))]);
}

#[test]
fn cubic_ns3() {
    check("cubic-ns3.txt", "cubic", &[("form", word("ns3")), ("reno_friendly", Value::Flag(false))]);
}

#[test]
fn vegas() {
    check("vegas.txt", "vegas", &[]);
}

#[test]
fn vegas_doubling_every_other_round_trip() {
    check("vegas-every-other-rtt.txt", "vegas", &[("slow_start", word("every-other-rtt"))]);
}

#[test]
fn constant() {
    check("constant.txt", "constant", &[]);
}

#[test]
fn random_newreno() {
    check("random-newreno.txt", "random", &[]);
}

#[test]
fn random_cubic() {
    check("random-cubic.txt", "random", &[("actions", word("cubic"))]);
}

#[test]
fn dqn_newreno() {
    check("dqn-newreno.txt", "dqn-newreno", &[("warmup", Value::Count(300))]);
}

#[test]
fn dqn_cubic() {
    check("dqn-cubic.txt", "dqn-cubic", &[("warmup", Value::Count(300))]);
}

/// It doubles and halves by chance for 30 decisions; then a network decides.
#[test]
fn steered() {
    let learns = ("policy", word("learn"));
    check("steered.txt", "steered", &[learns, ("warmup", Value::Count(30)), ("max_cwnd", Value::Count(200))]);
}

#[test]
fn always_the_steeper_cubic() {
    check("always-cubic.txt", "always", &[("actions", word("cubic"))]);
}

// ---------------------------------------------------------------------------------------------------------------
// Two subflows
// ---------------------------------------------------------------------------------------------------------------

const LONG: Span = Span::from_millis(100);
const SHORT: Span = Span::from_millis(20);

/// What happens to a subflow at the end of a tenth of a second.
fn losses(tenth: u32) -> &'static [usize] {
    match tenth {
        // Both at the end of slow start; then the long path loses seldom and the short one often.
        1 => &[1],
        6 | 120 => &[0],
        20 | 35 | 50 | 65 | 80 | 95 | 110 => &[1],
        // Both at once.
        140 => &[0, 1],
        _ => &[],
    }
}

fn snapshot_of_two(name: &str) -> String {
    let start = |rtt| Start { name, settings: &[], window: 10, rtt };
    let mut both = Connection::new(&[start(LONG), start(SHORT)]);
    both.segments_per_ack = PER_ACK;
    let mut text = format!("# {name}, defaults, on a path of 100 ms and one of 20 ms\n");
    text += "# an ACK for every 2 segments of 1000 bytes, initial windows 10 segments\n";
    text += "# time [100 ms]  long, short, long as shown [whole segments]  losses on\n";
    for tenth in 0..=160 {
        both.pass(Span::from_millis(100 * u64::from(tenth > 0)), &[0, 0]);
        let windows = both.windows();
        let shown = both.subflows[0].sender.cc.control().shown_window / common::MSS;
        let lost: Vec<_> = losses(tenth).iter().map(|subflow| ["long", "short"][*subflow]).collect();
        let (long, short) = (windows[0] as u64, windows[1] as u64);
        let line = format!("{tenth:4} {long:6} {short:6} {shown:6}  {}", lost.join(", "));
        let _ = writeln!(text, "{}", line.trim_end());
        losses(tenth).iter().for_each(|subflow| both.lose(*subflow));
    }
    text
}

#[test]
fn coupled_algorithms_over_two_paths() {
    for name in ["lia", "olia", "balia", "dbac"] {
        check_golden(&format!("{name}.txt"), &snapshot_of_two(name));
    }
}
