//! Settings that the Linux backend cannot serve: each is an error at its key.

use super::Scenario;
use super::arrivals::Arrivals;
use super::flow::Flow;
use super::problem::{Place, Problems};
use super::settings::UNLIMITED;
use super::tree::{Kind, Node};
use cwndlab_cc::Span;
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_sim::mptcp::{MptcpOptions, Scheduler};
use cwndlab_sim::spec::ArrivalProcess;
use cwndlab_sim::tcp::{PROFILES, TcpOptions};

/// TCP options that can be set by a sysctl or a socket option. The others must be as in Linux.
const SERVED: [&str; 20] = [
    "mss",
    "header",
    "overhead",
    "initial_window",
    "initial_ssthresh",
    "metrics",
    "rto_min",
    "delayed_ack",
    "write_size",
    "send_buffer",
    "receive_buffer",
    "window_tuning",
    "sack",
    "sack_compression",
    "loss_detection",
    "timestamps",
    "tail_loss_probe",
    "pacing",
    "ecn",
    "window_validation",
];
/// Bytes of a data segment's headers: IPv4 and TCP, and timestamps (RFC 7323).
const HEADERS: u64 = 40;
const TIMESTAMPS: u64 = 12;
/// The most segments that a delayed ACK of Linux acknowledges.
const EVERY_SECOND: u64 = 2;
/// The most paths, over all flows, for which the kernel has devices.
const MOST_PARTS: usize = 8192;
/// In a run with more, the transfers of a flow that arrive at random take turns on this number of pairs of hosts.
const SHARED_HOSTS: usize = 1024;
/// The most subflows of a connection (MPTCP_PM_ADDR_MAX).
const MOST_PATHS: usize = 8;

/// Reports everything that Linux cannot serve, and warns of what it serves only approximately. With
/// `agents`, external agents decide.
pub(crate) fn check(scenario: &Scenario, root: &Node, agents: bool, problems: &Problems) {
    let report = |path: &[Step], message: String| {
        problems.error(&place(root, path), &dotted(path), message);
    };
    let linux = PROFILES[0].name;
    if scenario.profile != linux {
        let message = format!(
            "expected {linux} on the Linux backend, whose stack is Linux itself, found {}",
            scenario.profile
        );
        report(&[Step::Key("profile")], message);
        // Otherwise the options that the profile sets would be refused one by one.
        return;
    }
    if scenario.send_jitter.is_some_and(|jitter| jitter > Span::ZERO) {
        report(
            &[Step::Key("send_jitter")],
            "expected 0 s on the Linux backend, whose hosts take no time for an ACK".to_owned(),
        );
    }
    let parts = scenario.hosts();
    if parts > MOST_PARTS as f64 {
        report(
            &[Step::Key("flow")],
            format!(
                "the Linux backend has at most {MOST_PARTS} pairs of hosts, one for each flow and subflow; found about {parts:.0}"
            ),
        );
    }
    for (index, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| flow.enabled) {
        let at = [Step::Key("flow"), Step::Index(index)];
        check_flow(flow, &at, agents, &report);
        for (path, message) in approximations(flow, &at) {
            problems.warn(&place(root, &path), &dotted(&path), message);
        }
    }
}

/// Reports what only Linux can serve.
pub(crate) fn check_elsewhere(scenario: &Scenario, root: &Node, problems: &Problems) {
    let is_linuxs = |options: &MptcpOptions| options.scheduler == Scheduler::Linux;
    for (index, flow) in scenario.flows.iter().enumerate() {
        if flow.enabled && flow.mptcp.as_ref().is_some_and(is_linuxs) {
            let path = [Step::Key("flow"), Step::Index(index), Step::Key("mptcp"), Step::Key("scheduler")];
            let message =
                "the simulator does not have Linux's scheduler; run the scenario with --backend linux";
            problems.error(&place(root, &path), &dotted(&path), message.to_owned());
        }
    }
}

impl Scenario {
    /// In Linux, on how many pairs of hosts the transfers of a flow that arrive at random take turns; `None`: each has its
    /// own.
    #[must_use]
    pub fn shared_hosts(&self) -> Option<usize> {
        let own: f64 = self.running().map(|flow| self.connections_of(flow) * parts_of(flow)).sum();
        (own > MOST_PARTS as f64).then_some(SHARED_HOSTS)
    }

    /// The most pairs of hosts of a run in Linux, counting each path.
    #[must_use]
    pub fn hosts(&self) -> f64 {
        let shared = self.shared_hosts();
        let of = |flow: &Flow| {
            let connections = self.connections_of(flow);
            let at_random =
                matches!(&flow.arrivals, Some(Arrivals { process: ArrivalProcess::PerSecond(_), .. }));
            let turns =
                shared.filter(|_| at_random).map_or(f64::INFINITY, |hosts| (flow.names.len() * hosts) as f64);
            connections.min(turns) * parts_of(flow)
        };
        self.running().map(of).sum()
    }
}

/// The pairs of devices that each connection needs; for parallel transfers, as many as run at once.
fn parts_of(flow: &Flow) -> f64 {
    match &flow.arrivals {
        Some(Arrivals { process: ArrivalProcess::Parallel { transfers, .. }, .. }) => *transfers as f64,
        _ => flow.paths.len() as f64,
    }
}

fn check_flow(flow: &Flow, at: &[Step], agents: bool, report: &impl Fn(&[Step], String)) {
    let key = |name: &'static str| [at, &[Step::Key(name)]].concat();
    if flow.paths.len() > MOST_PATHS {
        let message =
            format!("Linux opens at most {MOST_PATHS} subflows of a connection, found {}", flow.paths.len());
        report(&key("paths"), message);
    }
    if !agents && flow.waits_for_agent() {
        report(
            &key("cc"),
            "an agent outside decides only in an environment (FlowEnv with backend=\"linux\"); \
             expected another policy"
                .to_owned(),
        );
    }
    check_tcp(&flow.kind.tcp, &key("tcp"), report);
}

/// The settings that Linux serves only approximately.
fn approximations(flow: &Flow, at: &[Step]) -> Vec<(Vec<Step>, &'static str)> {
    let key = |names: &[&'static str]| {
        let names: Vec<_> = names.iter().map(|name| Step::Key(name)).collect();
        [at, &names].concat()
    };
    let mut found = Vec::new();
    if let Some(options) = &flow.mptcp {
        found.push((key(&["paths"]), "Linux's segments are shorter than mss by its MPTCP options"));
        if !options.push_bursts {
            let message = "Linux pushes every burst of a subflow, so its receiver acknowledges the last segment at once, if no data wait for another path";
            found.push((key(&["mptcp", "push_bursts"]), message));
        }
    }
    if flow.active.stop.is_some() {
        found.push((key(&["stop"]), "Linux sends up to 16 kB after the stop, which were written before it"));
    }
    if flow.kind.tcp.write_size < u64::MAX {
        let message = "Linux's applications write at most 128 kB at a time, and it also pushes where the send buffer is full";
        found.push((key(&["tcp", "write_size"]), message));
    }
    if flow.kind.tcp.receive_buffer < u64::MAX {
        let message =
            "Linux's buffer also holds the kernel's overhead, so the window is smaller than in the simulator";
        found.push((key(&["tcp", "receive_buffer"]), message));
    }
    found
}

/// As a scenario file has it.
fn shown(value: &Value) -> String {
    if *value == Value::Count(u64::MAX) { UNLIMITED.to_owned() } else { value.to_string() }
}

fn check_tcp(tcp: &TcpOptions, at: &[Step], report: &impl Fn(&[Step], String)) {
    let linux = PROFILES[0].options();
    let key = |name: &'static str| [at, &[Step::Key(name)]].concat();
    for spec in TcpOptions::specs().iter().filter(|spec| !SERVED.contains(&spec.name)) {
        let (Some(asked), Some(given)) = (tcp.get(spec.name), linux.get(spec.name)) else { continue };
        if asked != given {
            report(
                &key(spec.name),
                format!(
                    "the Linux backend cannot change this; expected {}, found {}",
                    shown(&given),
                    shown(&asked)
                ),
            );
        }
    }
    if tcp.delayed_ack > EVERY_SECOND {
        report(
            &key("delayed_ack"),
            format!(
                "Linux acknowledges every segment or every second one; expected 1 or 2, found {}",
                tcp.delayed_ack
            ),
        );
    }
    let header = HEADERS + if tcp.timestamps { TIMESTAMPS } else { 0 };
    if tcp.header != header {
        let with = if tcp.timestamps { "with" } else { "without" };
        report(&key("header"), format!("Linux sends {header} bytes {with} timestamps, found {}", tcp.header));
    }
}

/// A step from a table or list to one of its values.
#[derive(Clone, Copy)]
enum Step {
    Key(&'static str),
    Index(usize),
}

fn dotted(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => (*key).to_owned(),
        Step::Index(index) => index.to_string(),
    };
    path.iter().map(step).collect::<Vec<_>>().join(".")
}

/// The place of a value. A TCP option of a flow may be in `[tcp]`; a missing value has the place
/// of the table that lacks it.
fn place(root: &Node, path: &[Step]) -> Place {
    let shared = path.iter().position(|step| matches!(step, Step::Key("tcp")));
    let own = walk(root, path);
    match shared {
        Some(from) if own.1 < path.len() && walk(root, &path[from..]).1 == path.len() - from => {
            walk(root, &path[from..]).0
        }
        _ => own.0,
    }
}

/// The place of the last step of the path that exists, and the number of steps that exist.
fn walk(root: &Node, path: &[Step]) -> (Place, usize) {
    let mut node = root;
    let mut at = Place::TOP;
    for (taken, step) in path.iter().enumerate() {
        let next = match (&node.kind, step) {
            (Kind::Table(table), Step::Key(key)) => table.get(key).map(|(key, node)| (&key.at, node)),
            (Kind::List(items), Step::Index(index)) => items.get(*index).map(|node| (&node.at, node)),
            _ => None,
        };
        let Some((found, below)) = next else { return (at, taken) };
        at = found.clone();
        node = below;
    }
    (at, path.len())
}
