//! My own congestion control: Reno that keeps most of its window on a loss. And my own queue.

mod coin;

use cwndlab_cc::params::Parameters;
use cwndlab_cc::{Algorithm, Classic, Context, Event, Window, WindowRule};
use cwndlab_lab::Extension;
use std::sync::Arc;

cwndlab_cc::parameters! {
    /// What can be set.
    pub struct GentleParams {
        keep: f64 = 0.8, "keep", Allowed::Number(0.1, 0.9), "", "share of the window kept on a loss",
            "a choice of mine";
    }
}

/// How the window grows and shrinks; the frame does slow start, undo and everything else.
struct Gentle {
    keep: f64,
}

impl WindowRule for Gentle {
    /// One segment per round trip.
    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        window.grow_one_per(window.cwnd, acked);
    }

    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        (window.cwnd as f64 * self.keep) as u64
    }

    /// Windows are whole segments, as in Linux.
    fn counts_segments(&self) -> bool {
        true
    }
}

/// How scenarios know it.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "gentle",
        summary: "Reno that keeps 0.8 of its window on a loss",
        source: "an example: AIMD with other numbers than Reno's",
        departures: &[],
        params: GentleParams::specs().into(),
        declares: Classic::<Gentle>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            let GentleParams { keep } = GentleParams::with(settings);
            Box::new(Classic::new(setup, Gentle { keep }))
        }),
    }
}

/// All that this crate adds. `cwndlab linux --with CRATE` calls it by this name.
#[must_use]
pub fn extension() -> Extension {
    Extension { algorithms: vec![algorithm()], queues: vec![coin::QUEUE] }
}

/// The module that Python loads: all of cwndlab, and what this crate adds.
#[cfg(feature = "python")]
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        cwndlab_py::fill(module, super::extension())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::testing::{Sender, check_declaration};
    use cwndlab_cc::{Registry, Setup, Span};
    use cwndlab_lab::Queues;
    use cwndlab_lab::run::{RunToken, run_seed};
    use cwndlab_lab::scenario::{Backend, Source, read};
    use cwndlab_lab::trace::Directory;

    const MSS: u64 = 1448;

    /// Without a network: a story of ACKs and losses.
    #[test]
    fn it_grows_by_a_segment_a_round_and_keeps_most_on_a_loss() {
        let setup = Setup { mss: MSS, initial_window: 100 * MSS, initial_ssthresh: u64::MAX, paced: false };
        let mut sender = Sender::new((algorithm().build)(&setup, &[]), MSS, Span::from_millis(50));
        sender.lose();
        assert_eq!(sender.cwnd_segments() as u64, 80);
        sender.round(2);
        assert_eq!(sender.cwnd_segments() as u64, 81);
    }

    /// `cwndlab show` and checks read what is declared; controllers must do the same.
    #[test]
    fn it_is_what_it_declares() {
        check_declaration(&algorithm(), &[]);
    }

    /// With one: the registry is a value, and the laboratory takes it.
    #[test]
    fn it_fills_a_link() {
        let text = r#"
            duration = "20 s"
            link = [{ name = "wan", rate = "20 Mbit/s", delay = "10 ms", queue = "1 bdp" }]
            flow = [{ cc = { name = "gentle", keep = 0.7 }, path = ["wan"] }]
        "#;
        let mut registry = Registry::built_in();
        registry.add(algorithm());
        let (queues, traces) = (Queues::built_in(), Directory::of("test.toml"));
        let source = Source {
            backend: Backend::Sim,
            file: "test.toml",
            registry: &registry,
            queues: &queues,
            traces: &traces,
        };
        let (scenario, problems) = read(text.as_bytes(), &source, &[]);
        assert!(problems.is_empty(), "{problems:?}");
        let outcome = run_seed(&scenario.unwrap(), 1, false, &RunToken::default()).unwrap();
        assert!(outcome.flows[0].goodput_mbps > 18.0, "{} Mbit/s", outcome.flows[0].goodput_mbps);
    }
}
