//! The tail-loss probe (RFC 8985 section 7).

use crate::path::Path;
use crate::script::{Script, linux, ms, ns3};
use cwndlab_cc::Phase::{Loss, Open, Recovery};
use cwndlab_cc::algorithm::Build;
use cwndlab_cc::{Ack, Agent, CongestionControl, Context, Control, Decision, Event, Setup, Span, Time};
use std::sync::Arc;

/// Ten segments of window, and a decision every 50 ms that changes nothing.
struct Ticker {
    mss: u64,
    decision: Decision,
    next: Time,
}

impl CongestionControl for Ticker {
    fn control(&self) -> Control {
        Control::window(10 * self.mss)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        Decision::NotDue
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_timer(&mut self, _cx: &mut Context) -> Decision {
        self.next += Span::from_millis(50);
        self.decision
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }
}

impl Agent for Ticker {
    fn observation_len(&self) -> usize {
        0
    }

    fn actions(&self) -> u32 {
        1
    }

    fn observe(&mut self, _observation: &mut [f32]) -> f32 {
        0.0
    }

    fn act(&mut self, _action: u32) {}
}

#[test]
fn after_two_round_trips_of_silence_new_data_probe() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // RFC 8985 section 7.2: PTO = 2 SRTT. Section 7.3: new data if there are any, beyond the window.
    tcp.at(299).expect_nothing();
    tcp.at(300).expect_sent([10]).expect_phase(Open).expect_cwnd(10);
    // One probe at a time; the retransmission timer is set anew.
    tcp.at(599).expect_nothing();
    tcp.at(600).expect_resent([0]).expect_phase(Loss);
    let counters = tcp.sender.counters();
    tcp.expect("probes and timeouts", (counters.probes, counters.timeouts), (1, 1));
}

/// RFC 8985 section 7.2: new data and ACKs restart the timer, a decision that sends nothing does not, whether a policy inside
/// makes it or an agent outside.
#[test]
fn a_decision_that_sends_nothing_does_not_put_the_probe_off() {
    for decision in [Decision::NotDue, Decision::Made(0), Decision::Due] {
        let build: Build = Arc::new(move |setup: &Setup, _: &[_]| {
            Box::new(Ticker { mss: setup.mss, decision, next: ms(120) })
        });
        let mut tcp = linux().controller(build).open();
        tcp.expect_sent(0..10);
        for tick in [120, 170, 220, 270] {
            tcp.at(tick);
            if decision == Decision::Due {
                tcp.finish_decision();
            }
        }
        tcp.at(299).expect_nothing();
        tcp.at(300).expect_sent([10]);
    }
}

#[test]
fn without_new_data_the_last_segment_probes() {
    let mut tcp = linux().segments(5).open();
    tcp.expect_sent(0..5);
    // RFC 8985 section 7.3.
    tcp.at(300).expect_resent([4]).expect_cwnd(10);
    // All but the last were lost: its SACK starts recovery (section 7.4) without a timeout.
    tcp.at(400).sack(0, [(4, 5)]).expect_resent([0]).expect_phase(Recovery).expect_ssthresh(5);
}

#[test]
fn the_probe_of_ns3_is_a_timeout() {
    let mut tcp = ns3().open();
    tcp.expect_sent(0..10);
    tcp.at(1099).expect_nothing();
    tcp.at(1100).expect_resent([0]).expect_phase(Loss).expect_cwnd(1).expect_ssthresh(5);
}

/// The receiver had room for nine; seven are acknowledged, and after two round trips the last one leaves again.
fn last_segment_probed() -> Script {
    let mut tcp = linux().room_below(9).open();
    tcp.expect_sent(0..9);
    tcp.at(200).ack(7).expect_cwnd(10);
    tcp.at(399).expect_nothing();
    tcp.at(400).expect_resent([8]);
    tcp
}

#[test]
fn a_probe_that_repaired_a_loss_costs_one_reduction() {
    let mut tcp = last_segment_probed();
    tcp.at(500).room_below(100).ack(9);
    tcp.count_sent();
    // RFC 8985 section 7.4.2: what is acknowledged beyond the probe without a DSACK shows that it repaired a loss.
    tcp.at(600).ack(11).expect_ssthresh(5);
    tcp.count_sent();
    tcp.at(601).ack(13).expect_ssthresh(5);
    tcp.count_sent();
    let timeouts = tcp.sender.counters().timeouts;
    tcp.expect("timeouts", timeouts, 0);
}

#[test]
fn a_probe_answered_with_a_dsack_costs_nothing() {
    let mut tcp = last_segment_probed();
    // RFC 8985 section 7.4.2, case 1: the original and the probe both arrived.
    tcp.at(500).dsack(9, 8, []).expect_no_ssthresh().expect_cwnd(10).expect_phase(Open);
}

#[test]
fn a_probe_of_new_data_costs_nothing() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(300).expect_sent([10]);
    // The ACKs were late; nothing was lost, and nothing was sent twice.
    tcp.at(400).ack(11).expect_no_ssthresh().expect_phase(Open);
    tcp.count_sent();
}

/// RFC 8985 section 7.2: if 2 SRTT (and the delayed ACK) end after the RTO, the probe comes *when the RTO would
/// expire*, in its place (PTO = min(PTO, RTO expiry)).
#[test]
fn on_a_lone_segment_the_probe_comes_in_place_of_the_timeout() {
    let mut tcp = linux().segments(10).open();
    tcp.expect_sent(0..10);
    tcp.at(200).ack(9);
    // One segment in flight: PTO = 200 + 200 ms, RTO = 300 ms.
    tcp.at(500).expect_resent([9]).expect_phase(Open).expect_no_ssthresh();
    let counters = tcp.sender.counters();
    tcp.expect("probes and timeouts", (counters.probes, counters.timeouts), (1, 0));
}

/// The same on any path with an RTT above 200 ms, whatever is in flight: 2 SRTT > SRTT + 200 ms, so only
/// this rule lets Linux probe there at all.
#[test]
fn a_long_path_is_probed_too() {
    let mut path = Path::of(linux().segments(200)).fates(|name, _| match name {
        "198" | "199" => vec![],
        _ => vec![150_000],
    });
    path.run(10_000).expect_finished().expect_no_timeout();
}

/// RFC 8985 section 7.4.2: an ACK that reaches just the end of the probed data may be the late original's; only
/// one beyond it shows a repaired loss. Here the original's ACK was late and the DSACK follows: no loss.
#[test]
fn a_probe_whose_original_was_late_costs_nothing() {
    let mut tcp = linux().room_below(9).open();
    tcp.expect_sent(0..9);
    tcp.at(200).ack(7).at(400).expect_resent([8]);
    tcp.at(410).ack_of_original(9, []).expect_no_ssthresh().expect_cwnd(10).expect_phase(Open);
    tcp.at(500).dsack(9, 8, []).expect_no_ssthresh().expect_cwnd(10);
}

/// RFC 8985 section 7.2: the probe is scheduled unless *loss* recovery is under way; the round after an ECN mark
/// is none (Linux: TCP_CA_CWR may probe).
#[test]
fn a_tail_lost_in_the_round_after_a_mark_is_probed() {
    let mut tcp = linux().with(|tcp| tcp.ecn = true).segments(10).open();
    tcp.expect_sent(0..10);
    tcp.at(200).echo_marks(true).ack(2).at(399).expect_nothing();
    tcp.at(400).expect_resent([9]);
}
