//! Flows: `[[flow]]`.

use super::arrivals::{Arrivals, arrivals};
use super::context::Context;
use super::limits;
use super::link::Link;
use super::names;
use super::paths;
use super::problem::Checked;
use super::quantity;
use super::section::{Item, Origin, Section};
use super::settings::{in_force, in_order, setting, settings, settings_by};
use super::tree::Kind;
use super::weights;
use super::words;
use crate::linux;
use cwndlab_cc::params::{Allowed, Parameters, Value};
use cwndlab_cc::registry::UNCOUPLED;
use cwndlab_cc::{Algorithm, Span, Time};
use cwndlab_sim::mptcp::MptcpOptions;
use cwndlab_sim::spec::{ActiveTime, FlowKind};
use cwndlab_sim::tcp::{Metrics, TcpOptions};
use std::collections::BTreeMap;

/// The numbers of the links, by name.
pub(crate) type LinkNumbers<'a> = BTreeMap<&'a str, usize>;

/// Default start jitter.
const START_JITTER: Span = Span::from_millis(10);
/// The usual MTU, headers included, in bytes.
const MTU: u64 = 1500;

/// One `[[flow]]` table: a flow, several equal ones, or an arrival process.
pub(crate) struct Flow {
    pub(crate) origin: Origin,
    /// Whether it runs. A disabled flow still counts for names and for sizes in bdp.
    pub(crate) enabled: bool,
    /// The name as written.
    pub(crate) given_name: Option<String>,
    /// The number of flows, if it was written.
    pub(crate) count: Option<u64>,
    /// The names in force; known when all flows have been read.
    pub(crate) names: Vec<String>,
    /// What runs at the two ends of each flow.
    pub(crate) kind: FlowKind,
    /// When the flows send.
    pub(crate) active: ActiveTime,
    /// How many bytes each sends; `None`: without end.
    pub(crate) bytes: Option<u64>,
    /// One path, or the paths of the subflows.
    pub(crate) paths: Vec<Path>,
    /// The options of a multipath connection.
    pub(crate) mptcp: Option<MptcpOptions>,
    /// Where `reverse` was written.
    pub(crate) reversed: Option<Origin>,
    pub(crate) arrivals: Option<Arrivals>,
}

/// A path of a flow.
pub(crate) struct Path {
    /// The numbers of its links.
    pub(crate) links: Vec<usize>,
    /// The access link at the sender, if there is one.
    pub(crate) access: Option<Link>,
}

/// The parameter that selects who decides, and its value for an external agent.
const POLICY: &str = "policy";
const OUTSIDE: &str = "outside";

impl Flow {
    /// Whether one of its paths contains this link.
    pub(crate) fn crosses(&self, link: usize) -> bool {
        self.paths.iter().any(|path| path.links.contains(&link))
    }

    /// Whether its algorithm leaves the decisions to an external agent.
    pub(crate) fn waits_for_agent(&self) -> bool {
        let FlowKind { algorithm, settings, .. } = &self.kind;
        let set = settings.iter().find(|(name, _)| name == POLICY).map(|(_, value)| value);
        let declared = algorithm.params.iter().find(|param| param.name == POLICY);
        matches!(set.or(declared.map(|param| &param.default)), Some(Value::Word(OUTSIDE)))
    }

    /// The paths of one of its flows with their names: the flow's own name, or those of the subflows.
    pub(crate) fn parts(&self, name: &str) -> impl Iterator<Item = (String, &Path)> {
        let multipath = self.mptcp.is_some();
        let part = move |n| if multipath { format!("{name}/{}", n + 1) } else { name.to_owned() };
        self.paths.iter().enumerate().map(move |(n, path)| (part(n), path))
    }

    /// The direction of a link that its data cross; `None` for a return direction that limits nothing.
    pub(crate) fn data_direction<'a>(&self, link: &'a Link) -> Option<&'a Link> {
        if self.kind.reverse { link.back.as_deref() } else { Some(link) }
    }

    /// Whether its transfers are finite, or its window stays bounded even if no link limits it.
    pub(crate) fn bounded(&self) -> bool {
        let FlowKind { tcp, algorithm, settings, .. } = &self.kind;
        let window =
            tcp.receive_buffer.min(tcp.send_buffer) < u64::MAX || algorithm.declaration(settings).bounded;
        self.bytes.is_some() || self.arrivals.is_some() || window
    }
}

const NO_SEND_BUFFER: &str = "a multipath connection has no send buffer: its data are all written at once; set \
    tcp.send_buffer only for flows with one `path`, each in its own `tcp`";

/// Reads a flow.
pub(crate) fn flow(item: &Item, links: &LinkNumbers, cx: &Context) -> Checked<Flow> {
    let (given_name, mut section) = names::named(item, "flow")?;
    let origin = section.origin();
    let enabled = section.get("enabled", Item::flag);
    let algorithm = section.require("cc", |item| algorithm(item, cx));
    let paths = paths::links(&mut section, links);
    let tcp = section.get("tcp", |item| tcp(item, cx)).map(|own| own.unwrap_or_else(|| cx.tcp.clone()));
    let overhead = tcp.as_ref().map_or(cx.tcp.overhead, |tcp| tcp.overhead);
    let access = paths::access(&mut section, &paths, overhead, cx);
    let mptcp = paths::options(&mut section, &paths);
    let start = section.get("start", |item| start(item, cx));
    let start_jitter = section.get("jitter", quantity::time);
    let stop = section.get("stop", |item| stop(item, start));
    let mss = tcp.as_ref().map_or(cx.tcp.mss, |tcp| tcp.mss);
    let bytes = section.get("bytes", |item| limits::bytes(item, mss));
    let count = section.get("count", |item| item.whole_within(1, limits::FLOWS));
    let reverse = section.get("reverse", |item| Ok((item.flag()?, item.origin())));
    let decision_delay = section.get("decision_delay", quantity::time);
    let arrivals = section.get("arrivals", arrivals);
    if arrivals.is_ok_and(|arrivals| arrivals.is_some()) {
        refuse_with_arrivals(&mut section, tcp.as_ref().ok())?;
    }
    if mptcp.as_ref().is_ok_and(Option::is_some) && tcp.as_ref().is_ok_and(|tcp| tcp.send_buffer < u64::MAX) {
        return Err(section.error(NO_SEND_BUFFER));
    }
    section.finish()?;

    let Chosen { algorithm, uncoupled, settings } = algorithm?;
    let mptcp = mptcp?;
    let links = paths?.links;
    let reversed = reverse?.filter(|(flag, _)| *flag).map(|(_, origin)| origin);
    let kind = FlowKind {
        algorithm,
        uncoupled,
        settings,
        reverse: reversed.is_some(),
        tcp: tcp?,
        decision_delay: decision_delay?.unwrap_or(Span::ZERO),
    };
    let active = ActiveTime {
        start: Time(start?.unwrap_or(Span::ZERO).0),
        start_jitter: start_jitter?.unwrap_or(START_JITTER),
        stop: stop?.map(|stop| Time(stop.0)),
    };
    Ok(Flow {
        origin,
        enabled: enabled?.unwrap_or(true),
        given_name,
        count: count?,
        names: Vec::new(),
        kind,
        active,
        bytes: bytes?,
        paths: links.into_iter().zip(access?).map(|(links, access)| Path { links, access }).collect(),
        mptcp,
        reversed,
        arrivals: arrivals?,
    })
}

/// The value of `cc`.
struct Chosen {
    algorithm: Algorithm,
    uncoupled: bool,
    settings: Vec<(String, Value)>,
}

/// An algorithm's name, or a table of its name and parameters.
fn algorithm(item: &Item, cx: &Context) -> Checked<Chosen> {
    match &item.node.kind {
        Kind::Text(_) => {
            let (algorithm, uncoupled) = registered(item, cx)?;
            let settings = cx.profile.dialect(algorithm.name);
            Ok(Chosen { algorithm: algorithm.clone(), uncoupled, settings })
        }
        Kind::Table(_) => {
            let mut section = item.section()?;
            let (algorithm, uncoupled) = section.require("name", |item| registered(item, cx))?;
            let own = settings_by(&mut section, &algorithm.params, |item, spec| match spec.allowed {
                Allowed::File(kind) => weights::given(item, kind, spec, cx),
                _ => setting(item, spec),
            });
            let all = own.map(|own| over(cx.profile.dialect(algorithm.name), own));
            let suited = all.as_ref().map_or(Ok(()), |all| go_together(&mut section, algorithm, all));
            section.finish()?;
            suited?;
            Ok(Chosen { algorithm: algorithm.clone(), uncoupled, settings: all? })
        }
        _ => Err(item.needs("an algorithm's name, or { name = ... } with its parameters")),
    }
}

/// Checks an algorithm's parameters against each other.
fn go_together(section: &mut Section, algorithm: &Algorithm, settings: &[(String, Value)]) -> Checked<()> {
    let specs = &algorithm.params;
    in_order(section, specs, |name| in_force(specs, settings, name))?;
    weights::suit(section, specs, settings)
}

/// The algorithm, and whether it runs uncoupled.
fn registered<'a>(item: &Item, cx: &Context<'a>) -> Checked<(&'a Algorithm, bool)> {
    let word = item.text()?;
    cx.registry.find(word).ok_or_else(|| {
        let known: Vec<&str> = cx.registry.iter().map(|algorithm| algorithm.name).collect();
        let name = word.strip_prefix(UNCOUPLED).unwrap_or(word);
        if let Some(hint) = linux::elsewhere(name) {
            return item.error(hint);
        }
        let own = if words::nearest(name, &known).is_empty() {
            "; one of your own is loaded with --with"
        } else {
            ""
        };
        item.error(words::unknown("algorithm", name, &known) + own)
    })
}

/// The profile's settings, overridden by the scenario's.
fn over(dialect: Vec<(String, Value)>, own: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let kept = dialect.into_iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
    let mut settings: Vec<_> = kept.collect();
    settings.extend(own.iter().cloned());
    settings
}

fn tcp(item: &Item, cx: &Context) -> Checked<TcpOptions> {
    let own = options(item, &cx.tcp)?;
    if own.overhead != cx.tcp.overhead {
        item.warn("`overhead` here applies only to the flow's access link; other links use that of [tcp] or their own");
    }
    Ok(own)
}

/// A table of TCP options that overrides `base`.
pub(crate) fn options(item: &Item, base: &TcpOptions) -> Checked<TcpOptions> {
    let mut section = item.section()?;
    let mtu_given = section.has("mtu");
    let specs = TcpOptions::specs();
    let settings = settings(&mut section, &specs);
    let mut options = base.clone();
    for (name, value) in settings.iter().flatten() {
        options.set(name, value).map_err(|_| item.error(format!("`{name}` cannot be {value}")))?;
    }
    let ordered = in_order(&mut section, &specs, |name| options.get(name));
    section.finish()?;
    settings?;
    ordered?;
    if options.srtt_ticks && options.clock == Span::ZERO {
        return Err(item.error("srtt_ticks = true needs a clock with ticks, found clock = \"0 s\""));
    }
    warn_of_long_packets(item, &options, mtu_given);
    Ok(options)
}

/// Warns if a full packet exceeds an MTU, unless `mtu` was set explicitly.
fn warn_of_long_packets(item: &Item, options: &TcpOptions, mtu_given: bool) {
    let packet = options.mss + options.header;
    if mtu_given || packet <= MTU.min(options.mtu) {
        return;
    }
    item.warn(match options.fragments() {
        1 => format!("a full packet has {packet} bytes (mss + header), more than an MTU of {MTU}"),
        fragments => format!(
            "a full packet has {packet} bytes (mss + header), more than mtu = {}: it leaves in {fragments} fragments",
            options.mtu
        ),
    });
}

fn start(item: &Item, cx: &Context) -> Checked<Span> {
    let start = quantity::time(item)?;
    match cx.duration {
        Some(duration) if start >= duration => {
            Err(item
                .error(format!("expected a start before the end of the run at {duration}, found {start}")))
        }
        _ => Ok(start),
    }
}

fn stop(item: &Item, start: Checked<Option<Span>>) -> Checked<Span> {
    let stop = quantity::time(item)?;
    let start = start?.unwrap_or(Span::ZERO);
    if stop <= start {
        Err(item.error(format!("expected a time after the start at {start}, found {stop}")))
    } else {
        Ok(stop)
    }
}

fn refuse_with_arrivals(section: &mut Section, tcp: Option<&TcpOptions>) -> Checked<()> {
    if tcp.is_some_and(|tcp| tcp.metrics == Metrics::Saved) {
        return Err(section.error(
            "with `arrivals`, a flow cannot have tcp.metrics = \"saved\"; give it tcp = { metrics = \"none\" }",
        ));
    }
    if let Some(item) = section.item("paths") {
        return Err(item.error("a flow with `arrivals` has a single path: give `path`"));
    }
    for key in ["bytes", "count"] {
        if let Some(item) = section.item(key) {
            return Err(item.error("with `arrivals`, the sizes and the number of the flows come from there"));
        }
    }
    Ok(())
}
