//! What is legal but odd in a scenario gets a warning, at its line, and runs.

mod common;

use common::{SOUND, after_sound, problems, small, with_line};

/// Keys, what their lines are replaced by, and messages of what is legal but odd.
const WARNINGS: &[(&str, &str, &str)] = &[
    ("link.rate", "rate = \"500 Gbit/s\"", "is the unit right?"),
    ("link.loss", "back = { rate = \"500 bit/s\" }", "is the unit right?"),
    ("link.delay", "delay = \"30 s\"", "is the unit right?"),
    ("link.queue", "queue = \"200 bdp\"", "the queue holds 200 bandwidth-delay products"),
    ("link.queue", "queue = \"200000 packets\"", "bandwidth-delay products"),
    ("duration", "duration = \"200000 s\"", "a run of 2 days is long"),
    ("tcp.mss", "mss = 1460", "a full packet has 1512 bytes (mss + header), more than an MTU of 1500"),
    ("link.loss", "jitter = \"50 ms\"", "larger than the delay of 30 ms"),
    ("flow.access", "access = { rate = \"100 Mbit/s\", delay = \"1 ms\" }", "no faster than `b`"),
    ("flow.start", "start = \"9.995 s\"", "it may start at 10.005 s, after the end"),
    ("link.rate", "trace = \"short\"", "goes through it 100.0 times"),
    ("link.rate", "trace = \"long\"", "only the first 10 s of the trace's 20 s are used"),
    ("link.rate", "trace = { file = \"long\", start = \"15 s\" }", "begins at 15 s and passes its end"),
    ("link.delay", "delay = { file = \"ramp\" }", "goes through it 20.0 times"),
    ("link.delay", "delay = { file = \"long\" }", "a delay of 10.005 s is longer than any link's"),
    (
        "record.interval",
        "interval = \"11 s\"",
        "at 11 s it is longer than the run of 10 s: the series show nothing",
    ),
    ("flow.start", "tcp = { overhead = 4 }", "applies only to the flow's access link"),
    (
        "duration",
        "duration = \"20000 s\"",
        "link.b: the run may carry 167 million data packets, which takes about 25 s of CPU; are the rate and the",
    ),
];

#[test]
fn what_is_odd_is_told_and_runs() {
    for (key, text, message) in WARNINGS {
        let told = problems(with_line(key, text).as_bytes());
        assert!(
            told.iter().any(|problem| problem.contains(": warning: ") && problem.contains(message)),
            "{text} gives {told:#?}, not {message}"
        );
        assert!(told.iter().all(|problem| !problem.contains(": error: ")), "{told:#?}");
    }
}

/// Recordings of a minute last 59.986 s or so.
#[test]
fn a_run_that_ends_just_after_its_trace_is_not_odd() {
    let with_trace = with_line("link.rate", "trace = \"long\"");
    let told = |duration: &str| {
        let text = with_trace.replace("duration = \"10 s\"", &format!("duration = \"{duration}\""));
        problems(text.as_bytes()).join("\n")
    };
    assert_eq!(told("20.19 s"), "");
    assert!(told("20.21 s").contains("the trace of 20 s repeats"), "{}", told("20.21 s"));
}

#[test]
fn packets_longer_than_an_mtu_are_odd_unless_mtu_says_so() {
    let told = |text: &str| problems(with_line("tcp.mss", text).as_bytes());
    let none: Vec<String> = Vec::new();
    assert_eq!(told("mss = 1460\nmtu = 1500"), none);
    assert_eq!(told("mss = 1460\nmtu = \"unlimited\""), none);
    assert_eq!(told("mss = 1448\nheader = 52"), none);
    let of_ns3 = with_line("duration", "duration = \"10 s\"\nprofile = \"ns3\"");
    let of_ns3 = of_ns3.replace("mss = 1448", "mss = 1460");
    let fragments =
        "a full packet has 1512 bytes (mss + header), more than mtu = 1500: it leaves in 2 fragments";
    assert!(problems(of_ns3.as_bytes()).iter().any(|problem| problem.contains(fragments)), "{of_ns3}");
    let short = told("mtu = 500");
    assert!(short[0].contains("tcp.mtu: expected a whole number from 576 on, found 500"), "{short:#?}");
}

#[test]
fn oddities_of_the_whole() {
    let unused = format!("{SOUND}[[link]]\nname = \"c\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n");
    assert_eq!(
        problems(unused.as_bytes()),
        [format!("x.toml:{}:1: warning: link.c: no flow uses this link", after_sound())]
    );
    let no_rtt = "duration = \"1 s\"\n[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
                  [[flow]]\ncc = \"reno\"\npath = [\"b\"]\n";
    assert_eq!(problems(no_rtt.as_bytes()), ["x.toml:6:1: warning: flow[0]: its base round-trip time is 0"]);
}

#[test]
fn a_step_after_the_end_is_odd() {
    let steps = |key: &str, first: &str, next: &str| {
        format!("{key} = [{{ at = \"0 s\", value = {first} }}, {{ at = \"5 s\", value = {next} }}]\n")
    };
    let told = |duration: &str, rate: &str, rest: &str| {
        let link = format!("[[link]]\nname = \"b\"\n{rate}{rest}");
        let flow = "[[flow]]\ncc = \"reno\"\npath = [\"b\"]\n";
        problems(format!("duration = \"{duration}\"\n{link}{flow}").as_bytes())
    };
    let warning = |key: &str, what: &str| {
        format!("x.toml:2:1: warning: {key}: the step of `{what}` at 5 s has no effect: the run ends at 5 s")
    };
    let rate = "rate = \"1 Mbit/s\"\n";
    let rates = steps("rate", "\"1 Mbit/s\"", "\"2 Mbit/s\"");
    let delays = steps("delay", "\"9 ms\"", "\"8 ms\"");
    assert_eq!(told("5 s", &rates, "delay = \"9 ms\"\n"), [warning("link.b", "rate")]);
    assert_eq!(told("6 s", &rates, "delay = \"9 ms\"\n"), [""; 0]);
    let back = format!("{delays}back = {{ rate = \"1 Mbit/s\" }}\n");
    assert_eq!(
        told("5 s", rate, &back),
        [warning("link.b", "delay")],
        "once, though it holds for the way back"
    );
    let up = format!("delay = \"9 ms\"\n{}", steps("up", "true", "false"));
    assert_eq!(told("5 s", rate, &up), [warning("link.b", "up")]);
    let loss = "{ kind = \"random\", rate = [{ at = \"0 s\", value = 0 }, { at = \"5 s\", value = 0.1 }] }";
    let lossy = format!("delay = \"9 ms\"\nloss = {loss}\n");
    assert_eq!(told("5 s", rate, &lossy), [warning("link.b", "loss")]);
}

#[test]
fn a_delay_of_decisions_that_nobody_makes_is_odd() {
    let told = |cc: &str| {
        let flow = format!("[[flow]]\ncc = {cc}\ndecision_delay = \"5 ms\"\npath = [\"b\"]\n");
        let link = "[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"9 ms\"\n";
        problems(format!("duration = \"1 s\"\n{link}{flow}").as_bytes())
    };
    let warning = "x.toml:6:1: warning: flow[0]: its `decision_delay` has no effect";
    for cc in ["cubic", "bbr3", "constant"] {
        let told = told(&format!("\"{cc}\""));
        assert_eq!(told, [format!("{warning}: `{cc}` takes no actions")]);
    }
    for cc in
        ["\"dqn-cubic\"", "{ name = \"dqn-newreno\", policy = \"outside\" }", "\"steered\"", "\"random\""]
    {
        assert!(told(cc).is_empty(), "{cc}");
    }
}

#[test]
fn a_run_of_very_many_packets_is_told() {
    let told = |link: &str, flow: &str| problems(small(link, flow).as_bytes());
    let many = |place: &str, millions: u32, seconds: u32| {
        vec![format!(
            "x.toml:{place}: the run may carry {millions} million data packets, which takes about {seconds} s of \
             CPU; are the rate and the duration right?"
        )]
    };
    let fast = "rate = \"24 Gbit/s\"";
    assert_eq!(told(fast, ""), many("2:1: warning: link.b", 200, 30));
    assert_eq!(told(fast, "count = 1000"), many("2:1: warning: link.b", 200, 30), "once per link");
    assert_eq!(told("rate = \"12 Gbit/s\"", ""), Vec::<String>::new(), "100 million are not more");
    let back = "rate = \"1 Mbit/s\"\nback = { rate = \"24 Gbit/s\" }";
    assert_eq!(told(back, "reverse = true"), many("6:8: warning: link.b.back", 200, 30));
    assert_eq!(told(fast, "tcp = { mss = 698 }"), many("2:1: warning: link.b", 400, 60));
    // What the flows cannot send does not come.
    let none = Vec::<String>::new();
    let slow_access = told(fast, "count = 10\naccess = { rate = \"1 Gbit/s\", delay = \"1 ms\" }");
    assert!(slow_access.len() == 1 && slow_access[0].contains("no faster than `b`"), "{slow_access:?}");
    assert_eq!(told(fast, "bytes = \"1 GB\"\ncount = 10"), none);
    assert_eq!(told(fast, "stop = \"40 s\""), none);
    assert_eq!(told(fast, "tcp = { receive_buffer = \"10 MB\" }"), none);
    assert_eq!(told(fast, "tcp = { send_buffer = \"10 MB\" }"), none);
    assert_eq!(told(fast, "arrivals = { per_second = 100, size = \"1 MB\" }"), none);
    let steps = r#"rate = [{ at = "0 s", value = "24 Gbit/s" }, { at = "40 s", value = "1 Mbit/s" }]"#;
    assert_eq!(told(steps, ""), none);
    // Two links with flows of their own add up.
    let two = small("rate = \"11 Gbit/s\"", "")
        + "[[link]]\nname = \"c\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]\ncc = \"reno\"\npath = [\"c\"]\n";
    let told = problems(two.as_bytes());
    assert!(
        told.len() == 1
            && told[0].contains("link.b: the run may carry 175 million data packets, most of them here"),
        "{told:?}"
    );
}

#[test]
fn very_many_packets_under_way_are_told() {
    let told = |rate: &str, flow: &str| {
        problems(small(&format!("rate = \"{rate}\""), flow).replace("100 s", "2 s").as_bytes())
    };
    let none = Vec::<String>::new();
    assert_eq!(
        told("300 Gbit/s", ""),
        ["x.toml:2:1: warning: link.b: its bandwidth-delay product is 1.5 million packets, all in memory \
             at once; are the rate and the delays right?"]
    );
    assert_eq!(told("200 Gbit/s", ""), none, "a million is not more");
    assert_eq!(told("300 Gbit/s", "bytes = \"1 MB\""), none);
    assert_eq!(told("300 Gbit/s", "tcp = { receive_buffer = \"10 MB\" }"), none);
    let slow_access = told("300 Gbit/s", "access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }");
    assert!(slow_access.len() == 1 && slow_access[0].contains("no faster than `b`"), "{slow_access:?}");
}

#[test]
fn a_link_is_not_called_unused_where_there_is_no_flow() {
    let told =
        problems(b"duration = \"1 s\"\n[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n");
    assert_eq!(
        told,
        ["x.toml:1:1: error: flow: there is no flow; a scenario has at least one [[flow]] table"]
    );
}
