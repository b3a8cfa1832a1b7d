//! The tap of ordinary runs: a recorder and timeout patterns, each where it was asked for.

use crate::flow::Flow;
use crate::link::Link;
use crate::mptcp::Connection;
use crate::outcome::Outcome;
use crate::record::Recorder;
use crate::spec::SimSpec;
use crate::tap::{FlowEvent, State, Tap};
use crate::timeout_patterns::TimeoutPatterns;
use cwndlab_cc::Time;

/// What was asked to be seen of a run.
#[derive(Default)]
pub struct Watch {
    recorder: Option<Recorder>,
    patterns: Option<TimeoutPatterns>,
}

impl Watch {
    /// What this specification asks for, of these components.
    #[must_use]
    pub fn new(spec: &SimSpec, flows: &[Flow], connections: &[Connection], links: &[Link]) -> Self {
        let recorder = |record| Recorder::new(record, spec.timeout_patterns, flows, connections, links);
        Self {
            recorder: spec.record.as_ref().map(recorder),
            patterns: spec.timeout_patterns.then(TimeoutPatterns::default),
        }
    }
}

impl Tap for Watch {
    #[inline]
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        if let Some(patterns) = &mut self.patterns {
            patterns.on_flow(now, flow, event);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_flow(now, flow, event);
        }
    }

    fn next_look(&self) -> Time {
        self.recorder.as_ref().map_or(Time::NEVER, Recorder::next)
    }

    fn look(&mut self, state: &mut State<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sample(state, self.patterns.as_ref());
        }
    }

    fn end_warmup(&mut self) {
        if let Some(patterns) = &mut self.patterns {
            patterns.end_warmup();
        }
    }

    fn report(self, state: &mut State<'_>, outcome: &mut Outcome) {
        if let Some(patterns) = self.patterns {
            patterns.report(state, outcome);
        }
        outcome.recording = self.recorder.map(Recorder::finish);
    }
}
