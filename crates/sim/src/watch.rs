//! The tap of ordinary runs: measures and, where the specification asks for them, a recorder and timeout
//! patterns.

use crate::measures::Measures;
use crate::outcome::Outcome;
use crate::record::Recorder;
use crate::spec::SimSpec;
use crate::tap::{ConnectionEvent, FlowEvent, LinkEvent, State, Tap};
use crate::timeout_patterns::TimeoutPatterns;
use cwndlab_cc::Time;

/// Everything that the specification asks to observe of a run.
pub struct Watch {
    measures: Measures,
    recorder: Option<Recorder>,
    patterns: Option<TimeoutPatterns>,
}

impl Watch {
    /// Observes what this specification asks for, in a run that has not begun.
    #[must_use]
    pub fn new(spec: &SimSpec, state: &State<'_>) -> Self {
        Self {
            measures: Measures::new(spec.duration, state),
            recorder: spec.record.as_ref().map(|record| Recorder::new(record, spec.timeout_patterns, state)),
            patterns: spec.timeout_patterns.then(TimeoutPatterns::default),
        }
    }
}

impl Tap for Watch {
    type Outcome = Outcome;

    const IN_ORDER: bool = false;

    #[inline]
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        self.measures.on_flow(now, flow, event);
        if let Some(patterns) = &mut self.patterns {
            patterns.on_flow(flow, event);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_flow(now, flow, event);
        }
    }

    fn on_connection(&mut self, now: Time, connection: u32, event: ConnectionEvent) {
        self.measures.on_connection(now, connection, event);
    }

    #[inline]
    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        self.measures.on_link(at, link, event);
        if let Some(recorder) = &mut self.recorder {
            recorder.on_link(link, event);
        }
    }

    #[inline]
    fn fetch(&self, flow: u32) {
        self.measures.fetch(flow);
    }

    fn next_look(&self) -> Time {
        let sample = self.recorder.as_ref().map_or(Time::NEVER, Recorder::next);
        sample.min(self.measures.next_look())
    }

    fn look(&mut self, state: &State<'_>) {
        if self.measures.next_look() <= state.now {
            self.measures.look(state);
        }
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.next() <= state.now) {
            recorder.sample(state, self.patterns.as_ref());
        }
    }

    fn end_warmup(&mut self, state: &State<'_>) {
        self.measures.end_warmup(state);
        if let Some(patterns) = &mut self.patterns {
            patterns.end_warmup();
        }
    }

    fn finish(self, state: &State<'_>) -> Outcome {
        let mut outcome = self.measures.finish(state);
        if let Some(patterns) = self.patterns {
            patterns.report(state, &mut outcome);
        }
        outcome.recording = self.recorder.map(Recorder::finish);
        outcome
    }
}
