//! What each key means: defaults, sizes in bdp, steps, traces, overrides.

mod common;

use common::accepted;
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_cc::{Rate, Span, Time};
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_lab::scenario::Scenario;
use cwndlab_sim::queue::codel::CodelParams;
use cwndlab_sim::queue::{Limit, QueueSpec};
use cwndlab_sim::spec::{ArrivalProcess, Capacity, LossKind, SizeSpec};
use cwndlab_sim::{Sim, SimSpec};

const ONE: &str = r#"
duration = "10 s"
[[link]]
name = "b"
rate = "100 Mbit/s"
delay = "30 ms"
[[flow]]
cc = "cubic"
path = ["b"]
"#;

fn spec(text: &str, overrides: &[(&str, &str)]) -> SimSpec {
    accepted(text, overrides).spec(7, false)
}

fn limit(queue: &QueueSpec) -> Limit {
    assert_eq!(queue.kind.name, "droptail");
    queue.limit
}

/// The limit of the first link's queue.
fn first_limit(overrides: &[(&str, &str)]) -> Limit {
    limit(&spec(ONE, overrides).links[0].queue)
}

#[test]
fn defaults() {
    let spec = spec(ONE, &[]);
    assert_eq!((spec.seed, spec.duration, spec.warmup), (7, Span::from_secs(10), Span::ZERO));
    assert_eq!((spec.send_jitter, spec.record), (None, None));
    let link = &spec.links[0];
    assert!(matches!(link.loss.kind, LossKind::None) && link.back.is_none() && link.reorder.is_none());
    assert_eq!((link.overhead, link.jitter), (0, Span::ZERO));
    let flow = &spec.flows[0];
    assert_eq!(flow.name, "cubic-1");
    assert_eq!((flow.active.start, flow.active.start_jitter), (Time::ZERO, Span::from_millis(10)));
    assert!(
        flow.paths[0].access.is_none()
            && flow.active.stop.is_none()
            && flow.bytes.is_none()
            && !flow.kind.reverse
    );
    assert_eq!(flow.kind.settings, [("form".to_owned(), Value::Word("linux"))]);
    assert_eq!(flow.kind.tcp.mss, 1448);
}

#[test]
fn a_recording_is_bounded() {
    let record = |overrides: &[(&str, &str)]| accepted(ONE, overrides).spec(1, true).record.unwrap();
    assert_eq!(record(&[]).interval, Span::from_millis(10));
    assert_eq!(record(&[]).max_samples, 10_000);
    assert_eq!(record(&[("record.interval", "1 ms")]).interval, Span::from_millis(1));
    assert!(record(&[("flow.0.count", "20000")]).max_samples < 200);
}

#[test]
fn one_bdp_is_the_first_rate_times_the_base_round_trip() {
    // 100 Mbit/s x 60 ms = 750 kB = 500 packets of 1500 bytes.
    assert_eq!(first_limit(&[]), Limit::Packets(500));
    assert_eq!(first_limit(&[("link.b.queue", "4 bdp")]), Limit::Packets(2000));
    assert_eq!(first_limit(&[("link.b.queue", "0.001 bdp")]), Limit::Packets(1), "0.5 is rounded up");
    assert_eq!(
        first_limit(&[("link.b.delay", "0.001 ms")]),
        Limit::Packets(1),
        "the default is at least one"
    );
    assert_eq!(
        first_limit(&[("link.b.delay", "0.001 ms"), ("link.b.queue.kind", "droptail")]),
        Limit::Packets(1),
        "as it is in a table"
    );
    assert_eq!(first_limit(&[("link.b.queue", "0.0031 bdp")]), Limit::Packets(2), "1.55 is rounded up");
    assert_eq!(
        first_limit(&[("flow.0.access.delay", "5 ms")]),
        Limit::Packets(583),
        "the access delay counts"
    );
    assert_eq!(first_limit(&[("link.b.back.delay", "90 ms")]), Limit::Packets(1000), "as does the way back");
    let steps = r#"[{ at = "0 s", value = "50 Mbit/s" }, { at = "5 s", value = "1 Gbit/s" }]"#;
    assert_eq!(first_limit(&[("link.b.rate", steps)]), Limit::Packets(250), "the first rate");
}

#[test]
fn one_bdp_is_that_of_the_nearest_flow() {
    let far = "[[flow]]\ncc = \"reno\"\npath = [\"b\"]\naccess = { delay = \"100 ms\" }\n";
    assert_eq!(limit(&spec(&format!("{ONE}{far}"), &[]).links[0].queue), Limit::Packets(500));
    let by_two = spec(&format!("{ONE}{far}"), &[("flow.0.access.delay", "50 ms")]);
    assert_eq!(limit(&by_two.links[0].queue), Limit::Packets(1333));
}

#[test]
fn sizes_of_queues() {
    assert_eq!(first_limit(&[("link.b.queue", "250 kB")]), Limit::Bytes(250_000));
    assert_eq!(first_limit(&[("link.b.queue", "64 KiB")]), Limit::Bytes(65_536));
    assert_eq!(first_limit(&[("link.b.queue", "100 packets")]), Limit::Packets(100));
    assert_eq!(first_limit(&[("link.b.queue", "1 packet")]), Limit::Packets(1));
    assert_eq!(first_limit(&[("link.b.queue", "unlimited")]), Limit::Unlimited);
    assert_eq!(first_limit(&[("link.b.queue.size", "9 packets")]), Limit::Packets(9));
    let codel = |overrides: &[(&str, &str)]| {
        let queue = &spec(ONE, overrides).links[0].queue;
        assert_eq!(queue.kind.name, "codel");
        CodelParams::with(&queue.settings)
    };
    assert_eq!(codel(&[("link.b.queue", "codel")]).limit, 1000);
    let set =
        codel(&[("link.b.queue", "{ kind = \"codel\", size = \"2 bdp\", target = \"7 ms\", ecn = true }")]);
    assert_eq!((set.limit, set.target, set.ecn), (1000, Span::from_millis(7), true));
    let refined = codel(&[("link.b.queue", "codel"), ("link.b.queue.target", "9 ms")]);
    assert_eq!(refined.target, Span::from_millis(9));
}

#[test]
fn access_links() {
    let access =
        |value: &str| spec(ONE, &[("flow.0.access", value)]).flows[0].paths[0].access.clone().unwrap();
    let host = access("{ rate = \"1 Gbit/s\", delay = \"1 ms\" }");
    assert_eq!((host.hold_back, limit(&host.link.queue)), (true, Limit::Unlimited));
    assert_eq!(host.link.name, "cubic-1.access");
    let own = access("{ rate = \"1 Gbit/s\", delay = \"1 ms\", queue = \"1 bdp\" }");
    // 1 Gbit/s x 62 ms.
    assert_eq!((own.hold_back, limit(&own.link.queue)), (false, Limit::Packets(5167)));
    let unlimited = access("{ rate = \"1 Gbit/s\", delay = \"1 ms\", queue = \"unlimited\" }");
    assert_eq!((unlimited.hold_back, limit(&unlimited.link.queue)), (false, Limit::Unlimited));
    let pure_delay = access("{ delay = \"1 ms\" }");
    assert!(matches!(pure_delay.link.capacity, Capacity::Unlimited) && pure_delay.hold_back);
}

#[test]
fn the_way_back() {
    let back = |key: &str, value: &str| spec(ONE, &[(key, value)]).links[0].back.clone().unwrap();
    let lossy = back("link.b.back.loss", "0.01");
    assert_eq!((lossy.delay.first(), lossy.name.as_str()), (Span::from_millis(30), "b.back"));
    assert!(matches!(lossy.capacity, Capacity::Unlimited));
    assert_eq!(limit(&lossy.queue), Limit::Unlimited);
    let slow = back("link.b.back.rate", "10 Mbit/s");
    assert_eq!(limit(&slow.queue), Limit::Packets(50));
}

#[test]
fn data_that_go_back_need_a_rate_only_where_nothing_else_bounds_them() {
    let reverse = |key: &str, value: &str| spec(ONE, &[("flow.0.reverse", "true"), (key, value)]).flows.len();
    assert_eq!(reverse("link.b.back.rate", "10 Mbit/s"), 1);
    assert_eq!(reverse("link.b.back.trace", "short"), 1);
    assert_eq!(reverse("flow.0.access", "{ rate = \"1 Mbit/s\", delay = \"1 ms\" }"), 1);
    assert_eq!(reverse("flow.0.bytes", "1 MB"), 1);
    assert_eq!(reverse("flow.0.tcp.receive_buffer", "1 MB"), 1);
    assert_eq!(reverse("tcp.receive_buffer", "1 MB"), 1);
    assert_eq!(reverse("tcp.send_buffer", "1 MB"), 1);
    assert_eq!(reverse("flow.0.cc", "constant"), 1);
    assert_eq!(reverse("flow.0.arrivals", "{ per_second = 2, size = \"30 kB\" }"), 0, "they are in arrivals");
}

#[test]
fn profiles_and_options() {
    let ns3 = spec(ONE, &[("profile", "ns3")]);
    assert_eq!((ns3.links[0].overhead, ns3.flows[0].kind.tcp.rto_min), (2, Span::from_secs(1)));
    assert!(ns3.flows[0].kind.settings.contains(&("form".to_owned(), Value::Word("ns3"))));
    let over = spec(
        ONE,
        &[("profile", "ns3"), ("tcp.mss", "500"), ("tcp.overhead", "9"), ("flow.0.tcp.mss", "600")],
    );
    assert_eq!(
        (over.links[0].overhead, over.flows[0].kind.tcp.mss, over.flows[0].kind.tcp.overhead),
        (9, 600, 9)
    );
    let own = spec(ONE, &[("profile", "ns3"), ("link.b.overhead", "0"), ("flow.0.cc.form", "rfc9438")]);
    assert_eq!(own.links[0].overhead, 0);
    assert!(own.flows[0].kind.settings.contains(&("form".to_owned(), Value::Word("rfc9438"))));
    let buffer = |value: &str| spec(ONE, &[("tcp.receive_buffer", value)]).flows[0].kind.tcp.receive_buffer;
    assert_eq!([buffer("64 KiB"), buffer("70000"), buffer("unlimited")], [65_536, 70_000, u64::MAX]);
}

#[test]
fn names_of_flows() {
    let names = |overrides: &[(&str, &str)], more: &str| -> Vec<String> {
        spec(&format!("{ONE}{more}"), overrides).flows.into_iter().map(|flow| flow.name).collect()
    };
    let more = "[[flow]]\ncc = \"reno\"\npath = [\"b\"]\n[[flow]]\ncc = \"cubic\"\npath = [\"b\"]\n";
    assert_eq!(names(&[], more), ["cubic-1", "reno-1", "cubic-2"]);
    assert_eq!(
        names(&[("flow.1.count", "2"), ("flow.1.name", "r")], more),
        ["cubic-1", "r-1", "r-2", "cubic-2"]
    );
    assert_eq!(names(&[("flow.0.count", "2")], more), ["cubic-1", "cubic-2", "reno-1", "cubic-3"]);
}

#[test]
fn losses() {
    let loss = |value: &str| spec(ONE, &[("link.b.loss", value)]).links[0].loss.clone();
    assert!(matches!(loss("0").kind, LossKind::None));
    assert!(matches!(&loss("1e-3").kind, LossKind::Random(rate) if rate.first() == 1e-3));
    assert!(loss("{ kind = \"random\", rate = 0.1, place = \"before\" }").before_queue);
    assert!(matches!(loss("{ kind = \"periodic\", every = 10 }").kind, LossKind::Periodic { every: 10 }));
    let bursts = loss("{ kind = \"gilbert-elliott\", to_bad = 0.1, to_good = 0.2 }").kind;
    assert!(matches!(bursts, LossKind::GilbertElliott { loss_good: 0.0, loss_bad: 1.0, .. }));
    let steps = loss("[{ at = \"0 s\", value = 0 }, { at = \"2 s\", value = 0.5 }]").kind;
    assert!(matches!(&steps, LossKind::Random(rate) if rate.at(Time(2_000_000_000)) == 0.5));
}

#[test]
fn units() {
    let rate = |value: &str| match &spec(ONE, &[("link.b.rate", value)]).links[0].capacity {
        Capacity::Rate(rates) => rates.first(),
        other => panic!("{other:?} is no rate"),
    };
    let rates =
        ["8000 kbit/s", "8 Mbit/s", "0.008 Gbit/s", "1 MB/s", "1000 kB/s", "8e6 bit/s", " 8_000_000bit/s "];
    for value in rates {
        assert_eq!(rate(value), Rate(8_000_000), "{value}");
    }
    let delay = |value: &str| spec(ONE, &[("link.b.delay", value)]).links[0].delay.first();
    for value in ["0.05 s", "50 ms", "50000 us", "5e7 ns", "5e1ms"] {
        assert_eq!(delay(value), Span::from_millis(50), "{value}");
    }
    assert_eq!(spec(ONE, &[("duration", "1.5 min")]).duration, Span::from_secs(90));
}

#[test]
fn traces() {
    let with = |trace: &str, duration: &str| {
        let text = ONE.replace("rate = \"100 Mbit/s\"", &format!("trace = \"{trace}\""));
        spec(&text, &[("duration", duration)]).links.remove(0)
    };
    let link = with("short", "10 s");
    let Capacity::Trace(trace) = &link.capacity else { panic!("no trace") };
    assert_eq!((trace.at.len(), trace.period, trace.bytes), (2, Span::from_millis(100), 1504));
    // 2 x 1504 bytes in 100 ms, for 60 ms: 1805 bytes are one packet.
    assert_eq!(limit(&link.queue), Limit::Packets(1));
    let link = with("steps.csv", "20 s");
    let Capacity::Rate(rates) = &link.capacity else { panic!("no rates") };
    let starts: Vec<u64> = rates.iter().map(|(at, _)| at.0 / 1_000_000_000).collect();
    assert_eq!(starts, [0, 5, 10, 15]);
    // A mean of 20 Mbit/s for 60 ms.
    assert_eq!(limit(&link.queue), Limit::Packets(100));
}

#[test]
fn arrivals_and_sized_flows() {
    let text = format!("{ONE}name = \"web\"\n");
    let arrivals = |size: &str| {
        let value = format!("{{ per_second = 20, size = {size} }}");
        let spec = spec(&text, &[("flow.0.arrivals", &value)]);
        assert!(spec.flows.is_empty());
        (spec.arrivals[0].name.clone(), spec.arrivals[0].process, spec.arrivals[0].size)
    };
    assert_eq!(
        arrivals("\"30 kB\""),
        ("web".to_owned(), ArrivalProcess::PerSecond(20.0), SizeSpec::Constant(30_000))
    );
    let parallel = |value: &str| spec(&text, &[("flow.0.arrivals", value)]).arrivals[0].process;
    let transfers = |transfers, pause| ArrivalProcess::Parallel { transfers, pause };
    assert_eq!(parallel("{ parallel = 8, size = \"10 MB\" }"), transfers(8, Span::ZERO));
    assert_eq!(
        parallel("{ parallel = 8, size = \"10 MB\", pause = \"2 s\" }"),
        transfers(8, Span::from_secs(2))
    );
    let pareto = arrivals("{ kind = \"pareto\", mean = \"30 kB\", shape = 1.3 }").2;
    assert_eq!(pareto, SizeSpec::Pareto { mean: 30_000.0, shape: 1.3 });
    let exponential = arrivals("{ kind = \"exponential\", mean = \"30 kB\" }").2;
    assert_eq!(exponential, SizeSpec::Exponential { mean: 30_000.0 });
    assert_eq!(spec(&text, &[("flow.web.bytes", "10 MB")]).flows[0].bytes, Some(10_000_000));
}

#[test]
fn overrides_change_what_they_name() {
    let set = spec(
        &format!("{ONE}name = \"a\"\n"),
        &[
            ("duration", "20 s"),
            ("link.0.delay", "\"10 ms\""),
            ("flow.a.cc.C", "1.2"),
            ("flow.0.start", "1 s"),
        ],
    );
    assert_eq!((set.duration, set.links[0].delay.first()), (Span::from_secs(20), Span::from_millis(10)));
    assert_eq!(set.flows[0].active.start, Time(1_000_000_000));
    assert!(set.flows[0].kind.settings.contains(&("C".to_owned(), Value::Number(1.2))));
    assert_eq!(spec(ONE, &[("flow.0.cc", "reno")]).flows[0].kind.algorithm.name, "reno");
    assert_eq!(
        spec(ONE, &[("flow.0.cc", "reno"), ("flow.0.cc", "cubic")]).flows[0].kind.algorithm.name,
        "cubic"
    );
    assert_eq!(spec(ONE, &[("flow.0.path.0", "b")]).flows[0].paths[0].links, [0]);
}

#[test]
fn a_star_sets_the_key_in_every_entry() {
    let two = format!("{ONE}name = \"a\"\n[[flow]]\ncc = \"cubic\"\npath = [\"b\"]\n");
    let names = |overrides: &[(&str, &str)]| {
        spec(&two, overrides).flows.iter().map(|flow| flow.kind.algorithm.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[("flow.*.cc", "reno")]), ["reno", "reno"]);
    assert_eq!(names(&[("flow.*.cc", "reno"), ("flow.a.cc", "newreno")]), ["newreno", "reno"]);
    let short_form = spec(&two, &[("flow.*.cc.C", "1.2")]);
    assert!(short_form.flows.iter().all(|f| f.kind.settings.contains(&("C".to_owned(), Value::Number(1.2)))));
    assert_eq!(spec(&two, &[("link.*.delay", "7 ms")]).links[0].delay.first(), Span::from_millis(7));
    assert_eq!(spec(&two, &[("flow.*.path.*", "b")]).flows[1].paths[0].links, [0]);
}

/// What a flow would do alone, in a world that is otherwise the same: as harm is measured.
#[test]
fn a_disabled_flow_leaves_the_rest_as_it_was() {
    let near = format!("{ONE}name = \"a\"\n[[flow]]\ncc = \"cubic\"\npath = [\"b\"]\n");
    let far = "name = \"a\"\naccess = { delay = \"20 ms\" }\n";
    let two = near.replace("name = \"a\"\n", far);
    let (both, alone) = (spec(&two, &[]), spec(&two, &[("flow.1.enabled", "false")]));
    assert_eq!(limit(&both.links[0].queue), Limit::Packets(500), "by the flow that is nearer");
    assert_eq!(limit(&alone.links[0].queue), Limit::Packets(500), "though it does not run");
    assert_eq!((alone.flows.len(), alone.flows[0].name.as_str()), (1, "a"));
    let second = spec(&two, &[("flow.0.enabled", "false"), ("flow.0.cc", "cubic")]);
    assert_eq!(second.flows[0].name, "cubic-2", "the names do not move up");
    let resolved = |overrides: &[(&str, &str)]| accepted(&two, overrides).resolve();
    assert_eq!(resolved(&[]), resolved(&[("flow.1.enabled", "true")]));
    assert_ne!(resolved(&[]), resolved(&[("flow.1.enabled", "false")]));
    let start_s = |spec: &SimSpec| {
        let mut sim = Sim::new(spec);
        sim.run_until(Time(1_000_000_000));
        sim.outcome().flows[0].start_s
    };
    assert_eq!(start_s(&both), start_s(&alone), "its jitter is its own");
    let web = ("flow.1.arrivals", "{ per_second = 20, size = \"30 kB\" }");
    assert_eq!(spec(&two, &[web]).arrivals.len(), 1);
    assert!(spec(&two, &[web, ("flow.1.enabled", "false")]).arrivals.is_empty());
}

#[test]
fn the_work_of_a_run_is_known_before() {
    let packets = |overrides: &[(&str, &str)]| accepted(ONE, overrides).packets_expected();
    // 100 Mbit/s for 10 s in packets of 1500 bytes.
    assert_eq!(packets(&[]).round(), 83_333.0);
    assert_eq!(packets(&[("duration", "20 s")]).round(), 166_667.0);
    assert_eq!(packets(&[("flow.0.bytes", "1448 kB")]).round(), 1000.0);
    let two = format!("{ONE}bytes = \"1448 kB\"\n[[flow]]\ncc = \"reno\"\npath = [\"b\"]\n");
    assert_eq!(accepted(&two, &[("flow.1.enabled", "false")]).packets_expected().round(), 1000.0);
    assert!(!accepted(ONE, &[]).resolve().to_string().contains("packets_expected"));
}

#[test]
fn the_room_of_a_run_is_known_before() {
    let of = |overrides: &[(&str, &str)]| {
        let scenario = accepted(ONE, overrides);
        (scenario.packets_held().round(), scenario.senders().round(), scenario.directions())
    };
    let (rate, queue) = (("link.0.rate", "12 Mbit/s"), ("link.0.queue", "50 packets"));
    // 1000 packets a second for a round trip of 60 ms, and the queue.
    assert_eq!(of(&[rate, queue]), (110.0, 1.0, 1));
    assert_eq!(of(&[rate, queue, ("flow.0.count", "300")]), (110.0, 300.0, 1));
    assert_eq!(of(&[rate, queue, ("flow.0.bytes", "14480 B")]), (10.0, 1.0, 1), "no more than is sent");
    let unlimited = ("link.0.queue", "unlimited");
    assert_eq!(of(&[rate, unlimited]), (10_000.0, 1.0, 1), "all that the link carries in the run");
    assert_eq!(of(&[rate, unlimited, ("flow.0.count", "3")]).0, 10_000.0, "of all flows together");
    let access = ("flow.0.access", "{ delay = \"1 ms\" }");
    assert_eq!(of(&[rate, queue, access, ("flow.0.count", "30")]).2, 31);
    let arrivals = |text| of(&[rate, queue, ("flow.0.arrivals", text)]).1;
    assert_eq!(arrivals("{ parallel = 70, size = \"1 MB\" }"), 70.0);
    assert_eq!(arrivals("{ per_second = 20, size = \"15 kB\" }"), 20.0, "a second of them");
    // 24 Mbit/s are offered to 12: of 200 transfers half are left over.
    assert_eq!(arrivals("{ per_second = 20, size = \"150 kB\" }"), 120.0);
}

#[test]
fn what_is_resolved_depends_on_what_is_in_force_only() {
    let resolved = |text: &str, overrides: &[(&str, &str)]| accepted(text, overrides).resolve().to_string();
    let explicit = ONE.replace(
        "cc = \"cubic\"",
        "jitter = \"10 ms\"\nname = \"cubic-1\"\ncc = { name = \"cubic\", beta = 0.7 }",
    );
    assert_eq!(resolved(ONE, &[]), resolved(&explicit, &[]));
    assert_eq!(
        resolved(ONE, &[]),
        resolved(ONE, &[("duration", "10000 ms"), ("link.b.queue", "500 packets")])
    );
    assert_ne!(resolved(ONE, &[]), resolved(ONE, &[("flow.0.cc.beta", "0.8")]));
    let trace =
        |name: &str| resolved(&ONE.replace("rate = \"100 Mbit/s\"", &format!("trace = \"{name}\"")), &[]);
    assert_ne!(trace("short"), trace("long"));
}

/// A connection over two paths, with a flow beside it. Both overshoot in slow start.
const SAVING: &str = r#"
duration = "8 s"
[[link]]
name = "long"
rate = "20 Mbit/s"
delay = "40 ms"
[[link]]
name = "short"
rate = "10 Mbit/s"
delay = "10 ms"
[[flow]]
name = "m"
cc = "lia"
paths = [["long"], ["short"]]
tcp = { metrics = "saved" }
[[flow]]
name = "s"
cc = "reno"
path = ["short"]
"#;

fn outcome(scenario: &Scenario) -> String {
    let outcome = run_seed(scenario, 7, false, &RunToken::default()).expect("a run");
    outcome_json(&outcome, &OverTime::of(scenario, 7, &outcome)).to_string()
}

/// A run with saved metrics equals a run whose subflows begin with the ssthresh that the previous run saved. The other flow saves nothing.
#[test]
fn saved_metrics_are_what_an_equal_run_ended_with() {
    let scenario = accepted(SAVING, &[]);
    let mut spec = scenario.spec(7, false);
    let mut before = Sim::untapped(&spec);
    before.run();
    let saved = before.saved_ssthresh();
    assert!(saved.len() == 3 && saved.iter().all(Option::is_some) && saved[0] != saved[1], "{saved:?}");
    for (path, saved) in spec.flows[0].paths.iter_mut().zip(&saved) {
        path.initial_ssthresh = *saved;
    }
    let mut told = Sim::new(&spec);
    told.run();
    let told = told.outcome();
    assert_eq!(outcome(&scenario), outcome_json(&told, &OverTime::of(&scenario, 7, &told)).to_string());
    let without = accepted(SAVING, &[("flow.m.tcp.metrics", "none")]);
    assert_ne!(outcome(&scenario), outcome(&without));
    assert_eq!(scenario.packets_expected(), 2.0 * without.packets_expected());
    let one =
        |metrics| accepted(ONE, &[("tcp.metrics", metrics), ("flow.0.cc", "reno"), ("duration", "20 s")]);
    let mut before = Sim::untapped(&one("none").spec(7, false));
    before.run();
    let by_hand = before.saved_ssthresh()[0].expect("it overshoots").to_string();
    let by_hand =
        accepted(ONE, &[("tcp.initial_ssthresh", &by_hand), ("flow.0.cc", "reno"), ("duration", "20 s")]);
    assert_eq!(outcome(&one("saved")), outcome(&by_hand));
}

/// Data packets that a flow of one segment at a time sends on the short path, in 20 s.
fn lone_segments(path: &str) -> u64 {
    let text = format!(
        r#"
        duration = "20 s"
        send_jitter = "0 s"
        link = [{{ name = "long", rate = "1 Gbit/s", delay = "50 ms" }}, {{ name = "short", rate = "1 Gbit/s", delay = "10 ms" }}]
        [[flow]]
        name = "m"
        cc = {{ name = "constant", cwnd = 1 }}
        {path}
        "#
    );
    let told: serde_json::Value = serde_json::from_str(&outcome(&accepted(&text, &[]))).expect("JSON");
    let flow = &told["flows"][0];
    let on_short = if flow["subflows"].is_null() { flow } else { &flow["subflows"][1] };
    on_short["sent_packets"].as_u64().expect("a count")
}

/// With a segment in flight, an ACK at once takes 20 ms, a delayed one 60. Beside a long path, each segment waits for one
/// there: three of the short path's in 100 ms.
#[test]
fn psh_brings_an_ack_when_all_data_of_the_connection_are_read() {
    let paths = r#"paths = [["long"], ["short"]]"#;
    let at_once = lone_segments("path = [\"short\"]\ntcp = { write_size = 1448 }");
    let delayed = lone_segments(paths);
    let pushed = lone_segments(&format!("{paths}\nmptcp = {{ push_bursts = true }}"));
    assert!((980..=1000).contains(&at_once), "{at_once}");
    assert!((320..=350).contains(&delayed), "{delayed}");
    assert!((590..=615).contains(&pushed), "{pushed}");
}

#[test]
fn a_size_in_bdp_counts_fragments() {
    let ns3 = |more: &[(&str, &str)]| first_limit(&[&[("profile", "ns3")], more].concat());
    assert_eq!(ns3(&[]), Limit::Packets(500));
    assert_eq!(ns3(&[("tcp.mss", "1460")]), Limit::Packets(1000));
    assert_eq!(ns3(&[("tcp.mss", "1460"), ("tcp.mtu", "unlimited")]), Limit::Packets(500));
    assert_eq!(ns3(&[("tcp.mss", "1460"), ("link.b.queue", "0.5 bdp")]), Limit::Packets(500));
    assert_eq!(ns3(&[("tcp.mss", "1460"), ("link.b.queue", "80 packets")]), Limit::Packets(80));
}
