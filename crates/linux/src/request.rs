//! What the kernel is asked to run: a file that the front end writes.

use cwndlab_cc::{Algorithm, Ecn, Registry};
use cwndlab_lab::linux::{self, remote};
use cwndlab_lab::scenario::read;
use cwndlab_lab::trace::Directory;
use cwndlab_lab::{Backend, Queues, Scenario, Source};
#[cfg(test)]
use cwndlab_sim::spec::FlowSpec;
use serde_json::Value;
use std::path::PathBuf;

/// A run to make.
pub struct Request {
    /// The scenario.
    pub scenario: Scenario,
    /// The seed of every random stream.
    pub seed: u64,
    /// Whether samples are kept.
    pub record: bool,
    /// The file that the result is written to.
    pub output: String,
    /// The file that says how much is done, in thousandths.
    pub progress: String,
    /// The folder that captures are written to, if they are wanted.
    pub pcap: Option<PathBuf>,
    /// The same for qlog.
    pub qlog: Option<PathBuf>,
    /// The algorithms whose controllers the front end has.
    pub remote: Vec<&'static str>,
    /// The names of the flows that external agents steer.
    pub agents: Vec<String>,
    /// The ssthresh that an equal run before this one has saved, of each path of each flow, in segments;
    /// empty if there was none.
    pub saved: Vec<Option<u64>>,
}

impl Request {
    /// Reads a request, whose scenario may name these algorithms and queues: `{"text", "file", "overrides":
    /// [[key, value]], "seed", "record", "output", "progress", "remote": [{"name", "probes", "ecn"}], "agents":
    /// [name], "saved": [segments or null], "pcap": folder or null, "qlog": folder or null}`.
    ///
    /// # Errors
    /// The text is not a request, or the scenario has a mistake. The front end has checked both, so this is a
    /// bug.
    pub fn parse(text: &str, registry: &Registry, queues: &Queues) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let string = |key: &str| {
            let found = value[key].as_str().map(str::to_owned);
            found.ok_or_else(|| format!("the request lacks {key}"))
        };
        let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        let overrides = value["overrides"].as_array().and_then(|all| all.iter().map(pair).collect());
        let overrides: Vec<(String, String)> = overrides.ok_or("the request lacks overrides")?;
        let remote = value["remote"].as_array().ok_or("the request lacks remote")?.iter();
        // A kernel handles only one request in its life.
        let kept = |text: &str| -> &'static str { text.to_owned().leak() };
        let remote = remote.filter_map(|one| {
            let probes = one["probes"].as_array()?.iter().filter_map(Value::as_str).map(kept);
            let ecn = one["ecn"].as_str()?;
            let ecn = Ecn::ALL.into_iter().find(|codepoint| codepoint.word() == ecn)?;
            Some(remote::stand_in(kept(one["name"].as_str()?), probes.collect::<Vec<_>>().leak(), ecn))
        });
        let saved = value["saved"].as_array().ok_or("the request lacks saved")?;
        let mut registry = linux::with_algorithms(registry);
        let add = |algorithm: Algorithm| {
            let name = algorithm.name;
            registry.add(algorithm);
            name
        };
        let remote = remote.map(add).collect();
        let agents = value["agents"].as_array().ok_or("the request lacks agents")?.iter();
        let agents: Vec<String> = agents.filter_map(Value::as_str).map(str::to_owned).collect();
        let file = string("file")?;
        let source = Source {
            backend: Backend::Linux { agents: !agents.is_empty() },
            file: &file,
            registry: &registry,
            queues,
            traces: &Directory::of(&file),
        };
        let (scenario, problems) = read(string("text")?.as_bytes(), &source, &overrides);
        let messages = || problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        Ok(Self {
            scenario: scenario.ok_or_else(messages)?,
            seed: value["seed"].as_u64().ok_or("the request lacks seed")?,
            record: value["record"].as_bool().unwrap_or(false),
            output: string("output")?,
            progress: string("progress")?,
            pcap: value["pcap"].as_str().map(PathBuf::from),
            qlog: value["qlog"].as_str().map(PathBuf::from),
            remote,
            agents,
            saved: saved.iter().map(Value::as_u64).collect(),
        })
    }
}

/// The only flow of a scenario, with this line in its table.
///
/// # Panics
/// If the line is a mistake.
#[cfg(test)]
pub(crate) fn a_flow(line: &str) -> FlowSpec {
    let link = "[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"9 ms\"\nqueue = \"1 bdp\"\n";
    let text =
        format!("duration = \"1 s\"\n{link}[[flow]]\nname = \"a\"\ncc = \"reno\"\npath = [\"b\"]\n{line}\n");
    let request = serde_json::json!({
        "text": text, "file": "x.toml", "overrides": [], "remote": [], "agents": [], "saved": [], "seed": 1, "output": "",
        "progress": "",
    });
    let request = Request::parse(&request.to_string(), &Registry::built_in(), &Queues::built_in());
    request.unwrap_or_else(|error| panic!("{error}")).scenario.spec(1, false).flows.remove(0)
}
