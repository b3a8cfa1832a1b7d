//! Every kind of mistake in a scenario is told: at its line, with its key, with what is allowed.

mod common;

use common::{SOUND, accepted, after_sound, line_of, problems, problems_with, small, with_line};
use proptest::prelude::*;
use proptest::sample::select;

/// The key of a line, what it is replaced by, and what the message at that line must hold.
const ERRORS: &[(&str, &str, &str)] = &[
    // TOML.
    ("duration", "duration = 10 s", "not TOML: string values must be quoted"),
    ("duration", "duration = \"10 s", "not TOML"),
    ("warmup", "profile = \"linux\"", "not TOML: duplicate key"),
    // Unknown keys and words.
    ("duration", "durations = \"10 s\"", "durations: unknown key `durations`; did you mean `duration`?"),
    ("link.queue", "buffer = \"1 bdp\"", "link.b.buffer: unknown key `buffer`; did you mean `queue`?"),
    (
        "link.delay",
        "rtt = \"60 ms\"",
        "unknown key `rtt`; did you mean `delay` (one way: half of the round trip)?",
    ),
    ("warmup", "cc = \"reno\"", "cc: unknown key `cc`; did you mean `cc` in a [[flow]]? Allowed: duration"),
    ("warmup", "bandwidth = \"1 Mbit/s\"", "unknown key `bandwidth`; did you mean `rate` in a [[link]]?"),
    ("warmup", "sack = true", "unknown key `sack`; did you mean `sack` in [tcp]?"),
    ("warmup", "time = \"1 s\"", "unknown key `time`; did you mean `duration`?"),
    ("flow.cc", "cc = \"bbr\"", "unknown algorithm `bbr`; did you mean `bbr1`, `bbr2` or `bbr3`?"),
    ("link.delay", "dealy = \"30 ms\"", "link.b.dealy: unknown key `dealy`; did you mean `delay`?"),
    (
        "profile",
        "profile = \"linus\"",
        "profile: unknown profile `linus`; did you mean `linux`? Allowed: linux",
    ),
    ("flow.cc", "cc = \"cubik\"", "flow.a.cc: unknown algorithm `cubik`; did you mean `cubic`?"),
    ("flow.cc", "cc = { name = \"cubic\", c = 1.2 }", "flow.a.cc.c: unknown key `c`; did you mean `C`?"),
    ("flow.cc", "cc = { C = 1.2 }", "flow.a.cc.name: this key is missing"),
    ("flow.cc", "cc = { name = \"cubic\", beta = 7 }", "expected a number from 0.1 to 0.99, found 7"),
    ("flow.cc", "cc = { name = \"cubic\", form = \"lunix\" }", "unknown word `lunix`; did you mean `linux`?"),
    ("flow.cc", "cc = 3", "expected an algorithm's name, or { name = ... } with its parameters, found 3"),
    (
        "flow.cc",
        "cc = { name = \"dqn-cubic\", weights = 3 }",
        "expected the name of a safetensors file, or \"fresh\", found 3",
    ),
    (
        "flow.cc",
        "cc = { name = \"dqn-cubic\", weights = \"none\" }",
        "flow.a.cc.weights: there is no file `none`",
    ),
    (
        "flow.cc",
        "cc = { name = \"dqn-cubic\", weights = \"short\" }",
        "weights: short: it is not a safetensors file",
    ),
    (
        "flow.cc",
        "cc = { name = \"dqn-cubic\", policy = \"plays\" }",
        "unknown word `plays`; did you mean `play`?",
    ),
    ("flow.path", "path = [\"c\"]", "flow.a.path[0]: unknown link `c`; did you mean `b`?"),
    ("link.queue", "queue = \"fq_codel\"", "unknown queue `fq_codel`; did you mean `fq-codel`?"),
    ("link.queue", "queue = { kind = \"red\" }", "unknown queue `red`"),
    ("link.queue", "queue = { kind = \"droptail\", ecn = true }", "unknown key `ecn`"),
    (
        "link.queue",
        "queue = { kind = \"codel\", target = 5 }",
        "expected a time with its unit, such as \"30 ms\", found 5",
    ),
    ("link.queue", "queue = \"host\"", "only an access link"),
    ("tcp.mss", "mss = 10", "tcp.mss: expected a whole number from 64 to 9000, found 10"),
    ("tcp.mss", "mss = 1448.5", "found 1448.5"),
    ("tcp.mss", "sack = \"yes\"", "expected true or false, found \"yes\""),
    ("tcp.mss", "rto_min = 200", "expected a time with its unit"),
    ("tcp.mss", "recovery = \"ptr\"", "did you mean `prr`?"),
    ("tcp.mss", "rto_minn = \"1 s\"", "did you mean `rto_min`?"),
    ("record.interval", "intervall = \"10 ms\"", "record.intervall: unknown key"),
    ("record.interval", "interval = \"0 s\"", "must be above zero"),
    // Units.
    (
        "link.rate",
        "rate = 100",
        "expected a rate with its unit, such as \"100 Mbit/s\", found 100; units: bit/s",
    ),
    ("link.rate", "rate = 1_000bit/s", "such as \"100 Mbit/s\", found 1000bit/s without quotes"),
    ("link.rate", "rate = \"100\"", "found \"100\" without one; units: bit/s, kbit/s"),
    ("link.rate", "rate = \"100 Mbps\"", "unknown unit `Mbps`; did you mean `Mbit/s`?"),
    ("link.rate", "rate = \"100 mbit/s\"", "did you mean `Mbit/s`?"),
    ("link.rate", "rate = \"100 ms\"", "unknown unit `ms`"),
    ("link.rate", "rate = \"fast\"", "expected a rate with its unit, such as \"100 Mbit/s\", found \"fast\""),
    ("link.rate", "rate = true", "expected a rate with its unit, such as \"100 Mbit/s\", found true"),
    ("link.delay", "delay = \"30 msec\"", "did you mean `ms`?"),
    ("duration", "duration = \"2 h\"", "unknown unit `h`; did you mean `min`? Allowed: ns, us, ms, s, min"),
    (
        "duration",
        "duration = \"2 hours\"",
        "unknown unit `hours`; did you mean `min`? Allowed: ns, us, ms, s, min",
    ),
    ("link.delay", "delay = 2026-11-21", "expected a time with its unit, such as \"30 ms\", found a date"),
    ("link.queue", "queue = 100", "expected a queue size with its unit, such as \"1 bdp\", found 100"),
    ("link.queue", "queue = \"100 packet\"", "did you mean `packets`?"),
    // Values.
    ("link.rate", "rate = \"0 Mbit/s\"", "at least 1 bit/s"),
    ("link.rate", "rate = \"-5 Mbit/s\"", "a rate cannot be negative"),
    ("link.rate", "rate = \"1e9 Gbit/s\"", "too large"),
    ("link.rate", "rate = \"inf Mbit/s\"", "found \"inf Mbit/s\""),
    ("link.rate", "rate = \"1e999 Mbit/s\"", "found \"1e999 Mbit/s\""),
    ("link.delay", "delay = \"-1 ms\"", "a time cannot be negative"),
    ("link.delay", "delay = \"1e12 s\"", "too large"),
    ("link.delay", "", "link.b.delay: this key is missing"),
    ("link.rate", "", "link.b.rate: this key is missing"),
    ("link.name", "", "this key is missing"),
    ("link.name", "name = \"\"", "a name of 1 to 100 visible characters"),
    ("link.name", "name = \"a.b\"", "without dots"),
    (
        "link.name",
        "name = \"=1+1\"",
        "a name that does not begin like a spreadsheet formula, with =, +, - or @, found \"=1+1\"",
    ),
    ("flow.name", "name = \"a\\u200bb\"", "expected a name of 1 to 100 visible characters without dots"),
    ("name", "name = \"a\\u001bb\"", "name: expected a text of 1 to 200 visible characters"),
    ("name", "name = \"\"", "name: expected a text of 1 to 200 visible characters, found \"\""),
    ("name", "name = \"=1+1\"", "name: expected a name that does not begin like a spreadsheet formula"),
    ("flow.cc", "", "flow.a.cc: this key is missing"),
    ("flow.path", "", "flow.a.path: this key is missing"),
    ("duration", "", "duration: this key is missing"),
    ("duration", "duration = \"0 s\"", "must be above zero"),
    ("duration", "duration = \"1e30 s\"", "too large"),
    ("warmup", "warmup = \"10 s\"", "expected a time shorter than the run of 10 s, found 10 s"),
    ("link.loss", "loss = 1.5", "link.b.loss: expected a number from 0 to 1, found 1.5"),
    ("link.loss", "loss = -0.1", "found -0.1"),
    ("link.loss", "loss = nan", "found NaN"),
    ("link.loss", "loss = inf", "found inf"),
    (
        "link.loss",
        "loss = \"1 %\"",
        "expected a number from 0 to 1, steps of numbers, or { kind = ... }, found \"1 %\"",
    ),
    (
        "link.loss",
        "loss = { kind = \"bursty\" }",
        "unknown kind of loss `bursty`; allowed: random, gilbert-elliott, periodic",
    ),
    (
        "link.loss",
        "loss = { kind = \"periodic\", every = 0 }",
        "loss.every: expected a whole number from 1 on, found 0",
    ),
    ("link.loss", "loss = { kind = \"gilbert-elliott\", to_bad = 0.1 }", "loss.to_good: this key is missing"),
    (
        "link.loss",
        "loss = { kind = \"random\", rate = 0.1, place = \"behind\" }",
        "unknown place `behind`; allowed: before, after",
    ),
    (
        "link.loss",
        "reorder = { probability = 2, delay = \"1 ms\" }",
        "reorder.probability: expected a number from 0 to 1, found 2",
    ),
    ("link.loss", "jitter = -3", "expected a time with its unit"),
    ("link.loss", "overhead = -3", "expected a whole number from 0 to 1000, found -3"),
    ("link.loss", "trace = \"short\"", "expected a `rate` or a `trace`, found both"),
    // Queues.
    ("link.queue", "queue = \"0 packets\"", "at least one packet"),
    ("link.queue", "queue = \"1.5 packets\"", "expected a whole number of packets"),
    ("link.queue", "queue = \"0 bdp\"", "at least one packet"),
    ("link.queue", "queue = \"0.0001 bdp\"", "link.b.queue: 0.0001 bdp is 0.0517 packets here"),
    ("link.queue", "queue = \"0.0001 bdp\"", "here; 1 bdp is 517 packets; a queue holds at least one packet"),
    (
        "link.queue",
        "queue = { size = \"1e-9 bdp\" }",
        "link.b.queue.size: 0.000000001 bdp is 0.000000517 packets here",
    ),
    ("link.queue", "queue = { kind = \"codel\", size = \"0.0009 bdp\" }", "0.0009 bdp is 0.465 packets here"),
    (
        "link.loss",
        "back = { rate = \"1 kbit/s\", queue = \"1 bdp\" }",
        "link.b.back.queue: 1 bdp is 0.00517 packets here",
    ),
    (
        "link.queue",
        "queue = \"1000 B\"",
        "expected at least one full packet, 1500 bytes on this link, found 1000 bytes",
    ),
    ("link.queue", "queue = { kind = \"codel\", size = \"1 MB\" }", "this queue counts packets"),
    (
        "link.queue",
        "queue = { kind = \"codel\", size = \"200000000 packets\" }",
        "link.b.queue.size: expected a whole number from 1 to 100000000, found 200000000 packets",
    ),
    (
        "link.queue",
        "queue = { kind = \"codel\", size = \"1 bdp\", limit = 5 }",
        "expected `size` or `limit`, which mean the same, found both",
    ),
    ("link.queue", "queue = { kind = \"ns3-default\", size = \"1 bdp\" }", "unknown key `size`"),
    ("link.queue", "queue = [\"1 bdp\"]", "expected a size such as \"1 bdp\", the name of a queue"),
    // Steps.
    ("link.rate", "rate = []", "a list of steps needs at least one"),
    (
        "link.rate",
        "rate = [{ at = \"1 s\", value = \"1 Mbit/s\" }]",
        "rate[0]: expected the first step at \"0 s\", found 1 s",
    ),
    ("link.rate", "rate = [{ at = \"0 s\" }]", "rate[0].value: this key is missing"),
    ("link.rate", "rate = [1]", "expected a table, found 1"),
    (
        "link.rate",
        "rate = [{ at = \"0 s\", value = \"1 Mbit/s\" }, { at = \"0 s\", value = \"2 Mbit/s\" }]",
        "rate[1]: the times of steps must increase: 0 s comes after 0 s",
    ),
    (
        "link.delay",
        "delay = [{ at = \"0 s\", value = \"1\" }]",
        "delay[0].value: expected a time with its unit",
    ),
    ("link.loss", "up = 1", "link.b.up: expected true or false, found 1"),
    (
        "link.loss",
        "up = [{ at = \"1 s\", value = false }]",
        "link.b.up[0]: expected the first step at \"0 s\", found 1 s",
    ),
    (
        "link.loss",
        "up = [{ at = \"0 s\", value = 0 }]",
        "link.b.up[0].value: expected true or false, found 0",
    ),
    // Flows.
    ("flow.path", "path = []", "at least one link"),
    ("flow.path", "path = \"b\"", "expected a list of links such as [\"bottleneck\"], found \"b\""),
    ("flow.path", "path = [\"b\", \"b\"]", "flow.a.path[1]: a path crosses each link at most once"),
    ("flow.path", "path = [1]", "expected a text in quotes, found 1"),
    ("flow.path", "paths = []", "flow.a.paths: expected 1 to 32 paths, found 0"),
    ("flow.path", "paths = [\"b\"]", "flow.a.paths[0]: expected a list of links such as"),
    ("flow.path", "paths = \"b\"", "expected a list of paths such as [[\"long\"], [\"short\"]], found \"b\""),
    ("flow.path", "paths = [[\"b\"], [\"c\"]]", "flow.a.paths[1][0]: unknown link `c`; did you mean `b`?"),
    (
        "flow.path",
        "paths = [[\"b\"], [\"b\", \"b\"]]",
        "flow.a.paths[1][1]: a path crosses each link at most once",
    ),
    (
        "flow.path",
        "paths = [[\"b\"]]\npath = [\"b\"]",
        "expected one `path`, or the `paths` of the subflows, found both",
    ),
    ("flow.cc", "cc = \"my-aimd\"", "steered; one of your own is loaded with --with"),
    ("flow.cc", "cc = \"uncoupled:cubik\"", "flow.a.cc: unknown algorithm `cubik`; did you mean `cubic`?"),
    ("flow.cc", "cc = { name = \"uncoupled:cubic\", c = 1.2 }", "unknown key `c`; did you mean `C`?"),
    (
        "flow.path",
        "mptcp = { scheduler = \"fastest\" }\npaths = [[\"b\"]]",
        "flow.a.mptcp.scheduler: unknown word `fastest`; allowed: saturate, min-rtt, round-robin, linux",
    ),
    (
        "flow.path",
        "paths = [[\"b\"]]\narrivals = { per_second = 20, size = \"30 kB\" }",
        "a flow with `arrivals` has a single path: give `path`",
    ),
    ("flow.access", "access = [{ delay = \"1 ms\" }]", "flow.a.access: expected a table, found a list"),
    (
        "flow.start",
        "mptcp = { scheduler = \"saturate\" }",
        "a flow with one `path` has no subflows; give `paths`",
    ),
    ("flow.start", "start = \"10 s\"", "expected a start before the end of the run at 10 s, found 10 s"),
    ("flow.start", "stop = \"0 s\"", "expected a time after the start at 0 s, found 0 s"),
    ("flow.start", "bytes = \"0 B\"", "at least 1 B"),
    ("flow.start", "bytes = \"900000 GB\"", "segments are too many"),
    ("flow.start", "count = 0", "expected a whole number from 1 to 1000000, found 0"),
    ("flow.start", "count = 2000000", "found 2000000"),
    ("flow.start", "reverse = 1", "expected true or false, found 1"),
    ("flow.start", "tcp = { mss = 0 }", "flow.a.tcp.mss: expected a whole number from 64 to 9000, found 0"),
    ("flow.access", "access = { rate = \"1 Gbit/s\" }", "flow.a.access.delay: this key is missing"),
    ("flow.access", "access = { delay = \"1 ms\", name = \"x\" }", "flow.a.access.name: unknown key"),
    ("flow.access", "access = { delay = \"1 ms\", queue = \"1 bdp\" }", "a size in bdp needs a rate"),
    ("flow.access", "access = \"fast\"", "expected a table, found \"fast\""),
    (
        "flow.access",
        "arrivals = { per_second = 0, size = \"30 kB\" }",
        "arrivals.per_second: must be above zero",
    ),
    ("flow.access", "arrivals = { per_second = 20 }", "arrivals.size: this key is missing"),
    ("flow.access", "arrivals = { size = \"1 kB\" }", "arrivals.per_second: this key is missing"),
    (
        "flow.access",
        "arrivals = { parallel = 0, size = \"1 kB\" }",
        "arrivals.parallel: expected a whole number from 1 to 1000000, found 0",
    ),
    (
        "flow.access",
        "arrivals = { parallel = 2, per_second = 2, size = \"1 kB\" }",
        "a fixed number of flows), found both",
    ),
    (
        "flow.access",
        "arrivals = { per_second = 2, pause = \"1 s\", size = \"1 kB\" }",
        "`pause` needs `parallel`",
    ),
    (
        "flow.access",
        "arrivals = { per_second = 20, size = 30 }",
        "expected a size with its unit, such as \"30 kB\"",
    ),
    (
        "flow.access",
        "arrivals = { per_second = 20, size = { kind = \"normal\", mean = \"1 kB\" } }",
        "unknown distribution `normal`",
    ),
    (
        "flow.access",
        "arrivals = { per_second = 20, size = { kind = \"pareto\", mean = \"1 kB\", shape = 1 } }",
        "shape: expected a number from 1.001 to 100, found 1",
    ),
    (
        "flow.access",
        "arrivals = { per_second = 20, size = { kind = \"constant\", mean = \"1 kB\", shape = 2 } }",
        "unknown key `shape`",
    ),
    // Traces.
    ("link.rate", "trace = \"none\"", "there is no file `none`"),
    (
        "link.rate",
        "trace = \"synthetic:lte\"",
        "unknown trace `synthetic:lte`; did you mean `synthetic:lte-up`? Allowed: synthetic:lte-down,",
    ),
    (
        "link.rate",
        "trace = \"syntetic:lte-down\"",
        "there is no file `syntetic:lte-down`; did you mean `synthetic:lte-down`?",
    ),
    ("link.rate", "trace = \"empty\"", "empty: it is empty"),
    ("link.rate", "trace = \"unsorted\"", "line 2: 3 ms comes after 5 ms"),
    ("link.rate", "trace = \"words\"", "line 2: expected a whole number of milliseconds, found `many`"),
    ("link.rate", "trace = \"negative\"", "line 1: expected a whole number of milliseconds, found `-1`"),
    ("link.rate", "trace = \"dead.csv\"", "every rate is 0"),
    ("link.rate", "trace = \"semicolons.csv\"", "semicolons.csv: line 1: expected a comma"),
    ("link.rate", "trace = 3", "expected a text in quotes, found 3"),
    ("link.rate", "trace = { start = \"1 s\" }", "trace.file: this key is missing"),
    ("link.rate", "trace = { file = \"none\" }", "link.b.trace.file: there is no file `none`"),
    ("link.rate", "trace = { file = \"short\", at = \"1 s\" }", "unknown key `at`"),
    ("link.rate", "trace = { file = \"short\", every = \"1 s\" }", "unknown key `every`"),
    (
        "link.rate",
        "trace = { file = \"short\", start = \"rnd\" }",
        "trace.start: expected a time such as \"12 s\", or \"random\", found \"rnd\"",
    ),
    ("link.rate", "trace = { file = \"short\", start = 12 }", "trace.start: expected a time with its unit"),
    (
        "link.rate",
        "trace = { file = \"short\", start = \"100 ms\" }",
        "trace.start: expected a start before the end of the file at 100 ms, found 100 ms",
    ),
    (
        "link.rate",
        "trace = { file = \"one.csv\", start = \"random\" }",
        "trace.start: the file has a single value and no end, so a start has no effect",
    ),
    // Delays from a file.
    ("link.delay", "delay = { file = \"none\" }", "link.b.delay.file: there is no file `none`"),
    ("link.delay", "delay = { every = \"10 ms\" }", "delay.file: this key is missing"),
    ("link.delay", "delay = { file = \"ramp\", every = \"0 s\" }", "delay.every: must be above zero"),
    ("link.delay", "delay = { file = \"ramp\", every = \"1 ns\" }", "expected at most 20000000 steps"),
    ("link.delay", "delay = { file = \"delays.csv\", every = \"1 s\" }", "leave `every` out"),
    ("link.delay", "delay = { file = \"words\" }", "words: line 2: expected a delay in ms, found `many`"),
    ("link.delay", "delay = { file = \"negative\" }", "line 1: a delay cannot be negative, found -1 ms"),
    ("link.delay", "delay = { file = \"gap\" }", "line 2: expected a delay in ms, found an empty line"),
    (
        "link.delay",
        "delay = { file = \"ramp\", start = \"1 min\" }",
        "expected a start before the end of the file at 500 ms, found 60 s",
    ),
];

#[test]
fn the_base_of_the_cases_is_sound() {
    assert_eq!(problems(SOUND.as_bytes()), Vec::<String>::new());
}

#[test]
fn every_mistake_is_told_at_its_line() {
    let untold: Vec<String> = ERRORS.iter().filter_map(untold).collect();
    assert!(untold.is_empty(), "{}", untold.join("\n"));
}

/// What is wrong about what is said of a case.
fn untold((key, text, message): &(&str, &str, &str)) -> Option<String> {
    let told = problems(with_line(key, text).as_bytes());
    // A key that is missing is told where its table begins.
    let missing = message.ends_with("this key is missing");
    let here = format!("x.toml:{}:", line_of(key));
    let right = |problem: &String| {
        problem.contains(": error: ") && problem.contains(message) && (missing || problem.starts_with(&here))
    };
    let found = told.iter().any(right);
    (!found).then(|| format!("`{text}` in place of `{key}` gives {told:#?}, not {message}"))
}

#[test]
fn options_that_do_not_go_together() {
    let told = |key: &str, text: &str| problems(with_line(key, text).as_bytes()).join("\n");
    let ticks = told("tcp.mss", "srtt_ticks = true\nclock = \"0 s\"");
    assert!(
        ticks.contains("error: tcp: srtt_ticks = true needs a clock with ticks, found clock = \"0 s\""),
        "{ticks}"
    );
    let rto = told("tcp.mss", "rto_min = \"3 s\"\nrto_max = \"2 s\"");
    let expected = "error: tcp.rto_min: expected rto_min of at most rto_max = 2 s, found rto_min = 3 s";
    assert!(rto.contains(expected), "{rto}");
    let vegas = told("flow.cc", "cc = { name = \"vegas\", alpha = 5 }");
    let expected = "error: flow.a.cc.alpha: expected alpha of at most beta = 4, found alpha = 5";
    assert!(vegas.contains(expected), "{vegas}");
    let vegas = told("flow.cc", "cc = { name = \"vegas\", beta = 1 }");
    let expected = "error: flow.a.cc.beta: expected alpha of at most beta = 1, found alpha = 2";
    assert!(vegas.contains(expected), "{vegas}");
    assert_eq!(told("flow.cc", "cc = { name = \"vegas\", alpha = 4 }"), "");
    let web =
        told("flow.start", "tcp = { metrics = \"saved\" }\narrivals = { per_second = 3, size = \"30 kB\" }");
    assert!(web.contains("with `arrivals`, a flow cannot have tcp.metrics = \"saved\""), "{web}");
}

#[test]
fn files_that_are_no_scenarios() {
    assert_eq!(problems(b""), ["x.toml:1:1: error: the file is empty"]);
    assert_eq!(problems(b" \n\n"), ["x.toml:1:1: error: the file is empty"]);
    assert_eq!(problems(b"a\n\xff"), ["x.toml:1:1: error: not a text file: byte 3 is not UTF-8"]);
    let told = problems(b"duration = \"1 s\"");
    assert!(
        told[0].contains("link: there is no link; a scenario has at least one [[link]] table"),
        "{told:?}"
    );
    assert!(problems(b"flow = []\nlink = []\nduration = \"1 s\"").len() == 2);
    assert!(
        problems(b"[link]\nname = \"b\"")[0]
            .contains("expected a table in double brackets: [[link]], found a table")
            || problems(b"[link]\nname = \"b\"")[1].contains("double brackets: [[link]]")
    );
}

#[test]
fn what_the_simulator_cannot_hold() {
    let told = problems(with_line("flow.start", "count = 1000001").as_bytes());
    assert!(told[0].contains("expected a whole number from 1 to 1000000, found 1000001"), "{told:?}");
    let told = problems(with_line("duration", "duration = \"1000000 s\"").as_bytes());
    assert!(
        told.iter().any(|problem| problem.contains("it may send more than 4000000000 segments")),
        "{told:?}"
    );
}

#[test]
fn only_flows_with_one_path_have_a_send_buffer() {
    let text = format!(
        "{}[[link]]\nname = \"c\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"m\"\ncc = \"lia\"\n\
         paths = [[\"b\"], [\"c\"]]\ntcp = {{ send_buffer = \"1 MB\" }}\n",
        small("rate = \"1 Mbit/s\"", "")
    );
    assert_eq!(
        problems(text.as_bytes()),
        [
            "x.toml:15:1: error: flow.m: a multipath connection has no send buffer: its data are all written at once; set \
          tcp.send_buffer only for flows with one `path`, each in its own `tcp`"
        ]
    );
}

#[test]
fn a_window_that_nothing_limits_is_refused() {
    let error = |line: usize| {
        format!(
            "x.toml:{line}:11: error: flow.a.reverse: nothing limits the rate of its data on the return path over `b`, so its \
             window would grow without end; give a `rate` (or `trace`) in [link.back] of `b` or in the flow's \
             `access`, or bound the flow with `bytes`, tcp.receive_buffer or tcp.send_buffer"
        )
    };
    let plain = "rate = \"1 Mbit/s\"";
    assert_eq!(problems(small(plain, "reverse = true").as_bytes()), [error(10)]);
    let lossy = "rate = \"1 Mbit/s\"\nback = { loss = 0.01 }";
    assert_eq!(problems(small(lossy, "reverse = true").as_bytes()), [error(11)]);
    let access = "reverse = true\naccess = { delay = \"1 ms\" }";
    assert_eq!(problems(small(plain, access).as_bytes()), [error(10)]);
    let told_after = "reverse = true\nstop = \"9 s\"";
    assert_eq!(problems(small(plain, told_after).as_bytes()), [error(10)]);
    assert_eq!(problems(small(plain, "access = { delay = \"1 ms\" }").as_bytes()), Vec::<String>::new());
    // A link that could not be read may have a rate.
    assert_eq!(problems(small("rate = 1", "reverse = true").as_bytes()).len(), 1);
}

#[test]
fn names_are_unique() {
    let flow = "[[flow]]\nname = \"a\"\ncc = \"reno\"\npath = [\"b\"]\n";
    assert_eq!(
        problems(format!("{SOUND}{flow}").as_bytes()),
        [format!("x.toml:{}:1: error: flow.a.name: another flow is already called `a`", after_sound())]
    );
    let counted = "[[flow]]\nname = \"a\"\ncount = 2\ncc = \"reno\"\npath = [\"b\"]\n\
                   [[flow]]\nname = \"a-2\"\ncc = \"reno\"\npath = [\"b\"]\n";
    assert!(
        problems(format!("{SOUND}{counted}").as_bytes())[0].contains("another flow is already called `a-2`")
    );
    let link = "[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    assert!(problems(format!("{SOUND}{link}").as_bytes())[0].contains("another link is already called `b`"));
}

#[test]
fn all_mistakes_are_told_at_once() {
    let many =
        SOUND.replace("30 ms", "30").replace("cubic", "cubik").replace("1448", "0").replace("1 bdp", "1");
    let lines: Vec<String> = problems(many.as_bytes())
        .iter()
        .map(|problem| problem.split(':').nth(1).unwrap_or_default().into())
        .collect();
    let expected = ["tcp.mss", "link.delay", "link.queue", "flow.cc"].map(|key| line_of(key).to_string());
    assert_eq!(lines, expected);
}

#[test]
fn a_syntax_error_hides_no_other_mistake_and_makes_up_none() {
    let told = problems(with_line("link.rate", "rate = 100 Mbit/s").replace("cubic", "cubik").as_bytes());
    assert_eq!(told.len(), 2, "{told:#?}");
    let syntax = format!("x.toml:{}:8: error: not TOML", line_of("link.rate"));
    assert!(told[0].starts_with(&syntax) && told[1].contains("cubik"));
    for (key, text) in [
        ("link.rate", "[link.rate] = \"2 s\""),
        ("link.rate", "= \"2 s\""),
        ("link.rate", "[] = \"2 s\""),
        ("link.rate", "[link.] = 3"),
        ("link.rate", "rate. = 3"),
        ("link.rate", "[link.rate] = { = 3"),
        ("link.loss", "back = { = \"2 s\" }"),
        ("duration", "= \"2 s\""),
        ("flow.access", "[[flow]] = 3"),
    ] {
        let told = problems(with_line(key, text).as_bytes());
        assert!(told.len() == 1 && told[0].contains("error: not TOML"), "{text} gives {told:#?}");
    }
}

#[test]
fn who_makes_many_mistakes_is_told_the_first_and_their_number() {
    let many: String = (0..5000).map(|n| format!("k{n} = 1\n")).collect();
    let told = problems(many.as_bytes());
    assert_eq!(told.len(), 21);
    assert_eq!(told[20], "x.toml: error: and 4983 more errors");
}

#[test]
fn columns_count_characters() {
    let told = problems(with_line("flow.cc", "cc = { \"name\" = \"ä\", x = \"ü\", y = 1 }").as_bytes());
    assert!(told[0].starts_with(&format!("x.toml:{}:17:", line_of("flow.cc"))), "{told:?}");
}

#[test]
fn overrides_are_told_by_their_key() {
    let cases = [
        ("flow.9.cc", "reno", "--set flow.9.cc: error: there is 1 flow (0)"),
        (
            "flow.A.cc",
            "reno",
            "--set flow.A.cc: error: unknown flow `A`; did you mean `a`? Allowed: a; there is 1 flow (0)",
        ),
        ("flow.a.cc", "renno", "--set flow.a.cc: error: unknown algorithm `renno`; did you mean `reno`?"),
        ("flow.0.cc", "renno", "--set flow.0.cc: error: flow.a.cc: unknown algorithm `renno`"),
        ("link.b.rat", "1 Mbit/s", "--set link.b.rat: error: unknown key `rat`; did you mean `rate`?"),
        ("link.b.rate", "fast", "--set link.b.rate: error: expected a rate with its unit"),
        ("link.b.rtt", "9 ms", "--set link.b.rtt: error: unknown key `rtt`; did you mean `delay` (one way"),
        ("cc", "reno", "--set cc: error: unknown key `cc`; did you mean `flow.*.cc`? Allowed: duration"),
        ("buffer", "1 bdp", "--set buffer: error: unknown key `buffer`; did you mean `link.*.queue`?"),
        (
            "jitter",
            "1 ms",
            "--set jitter: error: unknown key `jitter`; did you mean `flow.*.jitter` or `link.*.jitter`?",
        ),
        ("mss", "500", "--set mss: error: unknown key `mss`; did you mean `tcp.mss`?"),
        ("flow.*.cc", "renno", "--set flow.*.cc: error: flow.a.cc: unknown algorithm `renno`"),
        ("flow.*.rat", "1", "--set flow.*.rat: error: flow.a.rat: unknown key `rat`"),
        ("flows.*.cc", "reno", "--set flows.*.cc: error: there is no list `flows`"),
        ("link.*.rate.*.value", "1 Mbit/s", "--set link.*.rate.*.value: error: there is no `*` in a text"),
        ("flow.*.path.*.x", "1", "--set flow.*.path.*.x: error: `x` cannot be set in a text"),
        ("tcp.*", "1", "--set tcp.*: error: `*` stands for every entry of a list, as in `flow.*.cc`"),
        ("flow.a.enabled", "no", "--set flow.a.enabled: error: expected true or false, found \"no\""),
        ("link.b.rate.x.y", "1", "--set link.b.rate.x.y: error: there is no `x` in a text"),
        ("duration.x", "1", "--set duration.x: error: `x` cannot be set in a text"),
        ("tcp.mss", "huge", "--set tcp.mss: error: expected a size with its unit"),
        ("tpc.mss", "500", "--set tpc.mss: error: tpc: unknown key `tpc`; did you mean `tcp`?"),
        (
            "duration",
            "",
            "--set duration: error: expected a time with its unit, such as \"30 ms\", found \"\"",
        ),
        (
            "flow.a.cc",
            "{name=\"cubic\" C=1}",
            "--set flow.a.cc: error: not TOML: missing comma between key-value pairs",
        ),
        (
            "link.b.delay",
            "[{at=\"0 s\",value=\"3 ms\"}",
            "--set link.b.delay: error: not TOML: unclosed array",
        ),
        ("flow..cc", "reno", "--set flow..cc: error: expected a key such as `duration`"),
        ("", "reno", "--set : error: expected a key such as"),
    ];
    for (key, value, message) in cases {
        let told = problems_with(SOUND.as_bytes(), &[(key, value)]);
        assert!(told.iter().any(|problem| problem.starts_with(message)), "{key}={value} gives {told:#?}");
    }
}

#[test]
fn a_rate_and_a_trace_that_are_both_set() {
    let message = "--set link.b.trace: error: expected a `rate` or a `trace`, found both".to_owned();
    let in_steps = with_line("link.rate", "rate = [{ at = \"0 s\", value = \"1 Mbit/s\" }]");
    for (text, rate) in [(SOUND, "link.b.rate"), (&in_steps, "link.b.rate.0.value")] {
        let told = problems_with(text.as_bytes(), &[(rate, "2 Mbit/s"), ("link.b.trace", "long")]);
        assert!(told.contains(&message), "{rate} gives {told:#?}");
    }
}

#[test]
fn a_rate_or_a_trace_that_is_set_replaces_the_other_of_the_file() {
    let traced = with_line("link.rate", "trace = \"long\"");
    let replaced = accepted(SOUND, &[("link.b.trace", "long")]).resolve();
    assert_eq!(replaced, accepted(&traced, &[]).resolve());
    let replaced = accepted(&traced, &[("link.*.rate", "100 Mbit/s")]).resolve();
    assert_eq!(replaced, accepted(SOUND, &[]).resolve());
}

#[test]
fn only_a_link_has_either_a_rate_or_a_trace() {
    let told = problems_with(
        with_line("flow.cc", "cc = { name = \"cubic\", trace = true }").as_bytes(),
        &[("flow.a.cc.rate", "2")],
    );
    assert!(told.iter().any(|line| line.contains("unknown key `trace`")), "{told:#?}");
}

#[test]
fn every_entry_of_no_list() {
    let without_flows = SOUND.split("[[flow]]").next().expect("what stands before the flow");
    let told = problems_with(without_flows.as_bytes(), &[("flow.*.cc", "reno")]);
    assert!(told.contains(&"--set flow.*.cc: error: there is no list `flow`".to_owned()), "{told:#?}");
    let told = problems_with(format!("flow = []\n{without_flows}").as_bytes(), &[("flow.*.cc", "reno")]);
    assert!(told.contains(&"--set flow.*.cc: error: there is no flow".to_owned()), "{told:#?}");
}

#[test]
fn a_flow_that_does_not_run_is_checked_and_another_must_run() {
    let disabled = with_line("flow.start", "enabled = false");
    let message = format!("x.toml:{}:1: error: flow.a: no flow is enabled", line_of("flow.name") - 1);
    let told = problems(disabled.as_bytes());
    assert!(told.len() == 1 && told[0].starts_with(&message), "{told:#?}");
    let with_other = format!("{disabled}[[flow]]\ncc = \"reno\"\npath = [\"b\"]\n");
    assert_eq!(problems(with_other.as_bytes()), Vec::<String>::new());
    let told = problems(with_other.replace("\"cubic\"", "\"cubik\"").as_bytes());
    assert!(told.len() == 1 && told[0].contains("unknown algorithm `cubik`"), "{told:#?}");
    let same_name = with_other.replace("cc = \"reno\"", "name = \"a\"\ncc = \"reno\"");
    assert!(problems(same_name.as_bytes())[0].contains("another flow is already called `a`"));
}

#[test]
fn no_number_of_warnings_hides_an_error() {
    let late = "[[flow]]\ncc = \"reno\"\npath = [\"b\"]\nstart = \"9.995 s\"\n".repeat(50);
    let (scenario, told) = common::read_with(format!("{SOUND}{late}oops = 1\n").as_bytes(), &[]);
    assert!(scenario.is_none());
    assert!(told.iter().any(|problem| problem.contains("error: flow[50].oops: unknown key")), "{told:#?}");
    assert_eq!(told.last().map(String::as_str), Some("x.toml: warning: and 29 more warnings"));
}

#[test]
fn one_override_of_many_entries_is_wrong_once() {
    let two = format!("{SOUND}[[flow]]\nname = \"c\"\ncc = \"reno\"\npath = [\"b\"]\n");
    let told = problems_with(two.as_bytes(), &[("flow.*.cc", "renno")]);
    assert!(told.len() == 1 && told[0].contains("unknown algorithm `renno`"), "{told:#?}");
}

#[test]
fn a_trace_in_the_place_of_a_scenario_is_told_in_one_line() {
    let opportunities: String = (0..3000).map(|n| format!("{n}\n")).collect();
    for trace in [&opportunities, "seconds,Mbit/s\n0,10\n5,30\n", "0.5,3\n", "\n\n7\n", "0;1,5\n1;2\n"] {
        let message = "x.toml: error: this is a trace, not a scenario; a scenario names a trace in a [[link]], by its path from \
                       the scenario's folder: trace = \"x.toml\"";
        assert_eq!(problems(trace.as_bytes()), [message]);
    }
    // A list of numbers over several lines is TOML.
    let told = problems(b"k = [\n1,\n2\n]\n");
    assert!(told.iter().all(|problem| !problem.contains("trace")), "{told:#?}");
}

/// A letter, and a character that is not seen: controls, marks of direction, joiners, fillers, separators.
const UNSEEN: &str = "\u{1}\u{7f}\u{85}\u{a0}\u{ad}\u{34f}\u{600}\u{61c}\u{115f}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\
    \u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{3000}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{e000}\u{e0001}\u{e0100}";

proptest! {
    #[test]
    fn a_name_is_seen_as_it_is_and_begins_no_formula(
        name in "[a-zäß中é_:/][a-z0-9 äß中é_:;#'()+=@\u{301}\u{94d}-]{0,20}[a-zäß中]",
        at in 0_usize..3,
        unseen in select(UNSEEN.chars().collect::<Vec<_>>()),
        formula in select(vec!['=', '+', '-', '@', '＝', '＋', '－', '＠']),
    ) {
        let named = |name: &str| {
            let quoted = format!("name = {}", toml_text(name));
            problems(with_line("flow.name", &quoted).as_bytes())
        };
        prop_assert_eq!(named(&name), Vec::<String>::new());
        let begins = named(&format!("{formula}{name}"));
        prop_assert!(begins.len() == 1 && begins[0].contains("does not begin like"), "{begins:?}");
        let at = name.char_indices().nth(at).map_or(name.len(), |(at, _)| at);
        let hidden = named(&format!("{}{unseen}{}", &name[..at], &name[at..]));
        prop_assert!(hidden.len() == 1 && hidden[0].contains("visible characters"), "{hidden:?}");
        prop_assert!(!hidden[0].contains(unseen), "{hidden:?}");
    }
}

/// A text as TOML has it, with every character by its number.
fn toml_text(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}
