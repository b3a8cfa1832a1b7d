//! What a controller is told, and in which order (rules 1 to 6 of the contract).

use crate::script::{Script, linux};
use cwndlab_cc::algorithm::Build;
use cwndlab_cc::{
    Ack, CongestionControl, Context, Control, Decision, Event, Lost, Needs, Phase, Registry, Setup,
};
use cwndlab_sim::tcp::TcpOptions;
use std::sync::{Arc, Mutex};

/// What was called, in words, one after the other.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: String) {
        let mut calls = self.0.lock().unwrap();
        // Reading the decision twice in a row says nothing new.
        if what != "control" || calls.last().is_none_or(|last| last != "control") {
            calls.push(what);
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Reno, with everything that it is told written down.
struct Spy {
    reno: Box<dyn CongestionControl>,
    log: Log,
    needs: Needs,
    decide: bool,
}

impl CongestionControl for Spy {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn control(&self) -> Control {
        self.log.note("control".into());
        self.reno.control()
    }

    fn on_lost(&mut self, _cx: &mut Context, _lost: &Lost) {
        self.log.note("on_lost".into());
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.log.note(format!("{event:?} in {:?}", cx.facts.phase));
        self.reno.on_event(cx, event);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.log.note("on_ack".into());
        self.reno.on_ack(cx, ack);
        if self.decide { Decision::Due } else { Decision::NotDue }
    }

    fn on_sent(&mut self, _cx: &mut Context, _bytes: u64) {
        self.log.note("on_sent".into());
    }
}

fn spy(needs: Needs, decide: bool) -> (Build, Log) {
    let log = Log::default();
    let shared = log.clone();
    let build: Build = Arc::new(move |setup: &Setup, settings: &[_]| {
        let reno = (Registry::built_in().get("reno").unwrap().build)(setup, settings);
        Box::new(Spy { reno, log: shared.clone(), needs, decide })
    });
    (build, log)
}

fn watched() -> (Script, Log) {
    watched_with(|tcp| tcp.tail_loss_probe = false)
}

fn watched_with(change: impl FnOnce(&mut TcpOptions)) -> (Script, Log) {
    let (build, log) = spy(Needs { sent_packets: true, lost_packets: true, ..Needs::default() }, false);
    let mut tcp = linux().controller(build).with(change).open();
    tcp.expect_sent(0..10);
    (tcp, log)
}

/// The calls of what comes next; the harness itself reads the decision, too, so repeated readings are left out.
fn calls(tcp: &mut Script, log: &Log, what: impl FnOnce(&mut Script)) -> Vec<String> {
    log.take();
    what(tcp);
    tcp.count_sent();
    let mut calls = log.take();
    // The harness reads the decision first, for its story.
    if calls.first().is_some_and(|call| call == "control") {
        calls.remove(0);
    }
    calls
}

#[test]
fn on_one_ack_losses_come_first_then_events_then_the_ack_then_control_is_read() {
    let (mut tcp, log) = watched();
    tcp.at(200).sack(0, [(2, 3)]).count_sent();
    tcp.sack(0, [(2, 4)]).count_sent();
    // Rule 1. The decision is read after the event, too: it is PRR's ssthresh (rule 3).
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.sack(0, [(2, 5)]);
    });
    let expected = [
        "on_lost",
        "on_lost",
        "LossRecovery in Disorder",
        "control",
        "on_ack",
        "control",
        "on_sent",
        "control",
    ];
    assert_eq!(heard, expected);
}

#[test]
fn a_timeout_tells_the_losses_then_the_event_then_reads_control() {
    let (mut tcp, log) = watched();
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.at(400);
    });
    let mut expected = vec!["on_lost"; 10];
    expected.extend(["Timeout in Open", "control", "on_sent", "control"]);
    assert_eq!(heard, expected);
    // Rule 5: a rule can tell a first timeout from the next.
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.at(1000);
    });
    assert_eq!(heard, ["on_lost", "Timeout in Loss", "control", "on_sent", "control"]);
}

#[test]
fn the_reordering_timer_tells_the_losses_then_the_event_then_reads_control() {
    let (mut tcp, log) = watched();
    tcp.at(200).sack(0, [(1, 2)]).count_sent();
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.at(230);
    });
    assert_eq!(heard, ["on_lost", "LossRecovery in Disorder", "control", "on_sent", "control"]);
}

#[test]
fn undo_comes_before_recovered() {
    let (mut tcp, log) = watched();
    tcp.at(200).sack(0, [(1, 4)]).count_sent();
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.at(230).ack_of_original(4, []);
    });
    assert_eq!(heard[..4], ["Undo in Recovery", "Recovered in Recovery", "on_ack", "control"]);
}

#[test]
fn each_event_is_told_in_the_phase_before_it() {
    let (mut tcp, log) = watched();
    let events =
        |calls: Vec<String>| calls.into_iter().filter(|call| call.contains(" in ")).collect::<Vec<_>>();
    // Rule 5.
    tcp.at(200).sack(0, [(1, 4)]).count_sent();
    assert_eq!(events(log.take()), ["LossRecovery in Open"]);
    tcp.at(500).count_sent();
    assert_eq!(events(log.take()), ["Timeout in Recovery"]);
    tcp.at(600).ack(12).count_sent();
    assert_eq!(events(log.take()), ["Recovered in Loss"]);
}

#[test]
fn the_window_does_not_grow_between_loss_recovery_and_recovered() {
    for algorithm in ["reno", "newreno", "cubic"] {
        let mut tcp = linux().cc(algorithm).open();
        tcp.expect_sent(0..10);
        tcp.at(200).sack(0, [(1, 4)]).count_sent();
        let reduced = tcp.sender.control().cwnd;
        // Rule 4, with partial ACKs and SACKs: 4 and 6 are missing as well.
        for (at, cumulative, block) in
            [(210, 0, (7, 10)), (300, 4, (7, 10)), (310, 4, (7, 12)), (320, 6, (7, 12))]
        {
            tcp.at(at).count_sent();
            tcp.sack(cumulative, [block, (5, 6)]).expect_phase(Phase::Recovery);
            tcp.count_sent();
            let cwnd = tcp.sender.control().cwnd;
            tcp.expect("cwnd in bytes", cwnd, reduced);
        }
        // After a timeout the window grows at once.
        let mut tcp = linux().cc(algorithm).with(|tcp| tcp.tail_loss_probe = false).open();
        tcp.expect_sent(0..10);
        tcp.at(400).expect_resent([0]).at(500).ack(1).expect_phase(Phase::Loss).expect_cwnd(2);
        tcp.count_sent();
    }
}

#[test]
fn a_window_of_its_own_is_obeyed_in_recovery() {
    let third_duplicate = |own_window_in_recovery| {
        let (build, _) = spy(Needs { own_window_in_recovery, ..Needs::default() }, false);
        let mut tcp = linux().controller(build).with(|tcp| tcp.initial_window = 20).open();
        tcp.expect_sent(0..20);
        // Six are lost: 20 less 6 lost and 6 SACKed leave 8 in flight, below the new window of ten.
        tcp.at(200).sack(0, [(6, 12)]);
        tcp.expect_phase(Phase::Recovery).expect_cwnd(10);
        tcp.count_sent();
        tcp.sender.in_flight()
    };
    // Rule 6: the window of ten is filled at once.
    assert_eq!(third_duplicate(true), 10);
    // Otherwise PRR decides; six were delivered, so it may be as much here, and never more.
    assert!(third_duplicate(false) <= 10);
}

#[test]
fn prr_holds_back_what_a_window_of_its_own_sends() {
    let first_duplicates = |own_window_in_recovery| {
        let (build, _) = spy(Needs { own_window_in_recovery, ..Needs::default() }, false);
        let mut tcp = linux().controller(build).open();
        tcp.expect_sent(0..10);
        // Seven are lost, three delivered; the new window is five.
        tcp.at(200).sack(0, [(7, 8)]).count_sent();
        tcp.sack(0, [(7, 9)]).count_sent();
        tcp.sack(0, [(7, 10)]);
        tcp.count_sent()
    };
    // RFC 9937 section 6.2: conservation lets one go for one delivered. Rule 6: the window of five has room for
    // three beside the two of limited transmit.
    assert_eq!((first_duplicates(false), first_duplicates(true)), (1, 3));
}

#[test]
fn a_decision_comes_between_the_ack_and_the_reading_of_control() {
    let (build, log) = spy(Needs::default(), true);
    let opening = linux().controller(build);
    let mut tcp = opening.open();
    tcp.expect_sent(0..10);
    // Rule 2: nothing leaves until the agent has acted.
    let heard = calls(&mut tcp, &log, |tcp| {
        tcp.at(200).ack(2).expect_nothing();
    });
    assert_eq!(heard[0], "on_ack");
    tcp.finish_decision().expect_sent(10..14);
}

/// Contract, `on_lost`: "each packet marked lost", without SACK as well.
#[test]
fn without_sack_losses_are_told_too() {
    let (mut tcp, log) = watched_with(|tcp| tcp.sack = false);
    for _ in 0..3 {
        tcp.at(200).ack(0).count_sent();
    }
    assert!(log.take().contains(&"on_lost".to_owned()));
}
