//! The probes of controllers at the end of each interval, as the simulator's meter keeps them.

use crate::controller::Controller;
use cwndlab_sim::measures::MOST_PROBED_FLOWS;
use cwndlab_sim::outcome::{FlowIntervals, Series};
use cwndlab_sim::spec::FlowSpec;

/// The probes of each part of the scenario's flows.
pub struct Probed {
    names: Vec<&'static [&'static str]>,
    rows: Vec<Vec<Vec<f64>>>,
    kept: bool,
}

impl Probed {
    /// The probes of these flows before the run. With too many parts, none are kept.
    #[must_use]
    pub fn new(flows: &[FlowSpec]) -> Self {
        let names: Vec<_> = flows.iter().flat_map(|flow| flow.paths.iter().map(|_| names_of(flow))).collect();
        Self { rows: vec![Vec::new(); names.len()], kept: names.len() <= MOST_PROBED_FLOWS, names }
    }

    /// The names of a part's probes.
    #[must_use]
    pub fn names(&self, part: usize) -> &'static [&'static str] {
        self.names[part]
    }

    /// An interval of the run ends.
    pub fn close_interval(&mut self, controllers: &[Option<Controller>]) {
        if !self.kept {
            return;
        }
        for ((rows, names), controller) in self.rows.iter_mut().zip(&self.names).zip(controllers) {
            rows.push(controller.as_ref().map_or_else(|| vec![f64::NAN; names.len()], Controller::probed));
        }
    }

    /// Adds a part's probes to its intervals; not a number where it did not run.
    pub fn show(&self, part: usize, intervals: &mut FlowIntervals) {
        if !self.kept {
            return;
        }
        let ran = intervals.goodput_mbps.0.iter().map(|goodput| !goodput.is_nan());
        let column = |probe: usize| {
            let rows = self.rows[part].iter().zip(ran.clone());
            Series(rows.map(|(row, ran)| if ran { row[probe] } else { f64::NAN }).collect())
        };
        let names = self.names[part].iter().enumerate();
        intervals.probes = names.map(|(probe, name)| (*name, column(probe))).collect();
    }
}

/// The probes that the controllers of a flow have.
#[must_use]
pub fn names_of(flow: &FlowSpec) -> &'static [&'static str] {
    flow.kind.algorithm.declaration(&flow.kind.settings).probes
}
