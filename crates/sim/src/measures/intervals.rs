//! The meter: what each flow and group got in every interval of the run, whether it is recorded or not.
//!
//! It keeps the data from which measures over time are computed. The recorder cannot supply them: it runs on
//! request only, at an interval that the user chooses.

use super::flow::FlowGauge;
use super::gains::{Gain, Interval, Ran, Reached};
use super::group::GroupGauge;
use crate::flow::{Flow, SubflowPlace};
use crate::outcome::{FlowIntervals, Intervals, Series};
use crate::tap::State;
use cwndlab_cc::{Span, Time};

/// The shortest interval: long enough for a mean over some round trips, short enough to slide a window of a second.
const SHORTEST: Span = Span::from_millis(100);
/// Intervals kept of one component: enough for any plot ...
const MOST_INTERVALS: u64 = 2000;
/// ... and of all together, so that a thousand flows take half a kilobyte each ...
const MOST_ROWS: u64 = 40_000;
/// ... but no fewer than this, however many components there are.
const FEWEST_INTERVALS: u64 = 20;

/// Probes of the algorithms are kept for at most this number of flows: with more, nobody looks at each.
pub const MOST_PROBED_FLOWS: usize = 16;

/// Looks at all flows and groups at the end of each interval.
pub struct Meter {
    interval: Span,
    end: Time,
    last: Time,
    next: Time,
    ends: Vec<Time>,
    /// The totals of each flow, connection and group at the last look.
    flows: Vec<Reached>,
    connections: Vec<u64>,
    groups: Vec<u64>,
    /// Interval by interval, one row for each flow, connection or group.
    flow_rows: Vec<FlowRow>,
    connection_rows: Vec<f32>,
    group_rows: Vec<f32>,
    /// The probes of each flow's algorithm at the end of each interval; none with many flows.
    probes: Vec<Vec<f32>>,
    /// A buffer for the probes of one flow.
    probed: Vec<f64>,
}

/// A flow in one interval. A thousand flows have many rows, and the 24 bits of an `f32` are more than anybody
/// reads of a mean.
#[derive(Clone, Copy)]
struct FlowRow {
    goodput_mbps: f32,
    cwnd_segments: f32,
    loss_events: u32,
}

impl FlowRow {
    fn of(gain: &Gain) -> Self {
        Self {
            goodput_mbps: gain.goodput_mbps as f32,
            cwnd_segments: gain.cwnd_segments as f32,
            loss_events: gain.loss_events as u32,
        }
    }

    fn gain(&self) -> Gain {
        Gain {
            goodput_mbps: self.goodput_mbps.into(),
            cwnd_segments: self.cwnd_segments.into(),
            loss_events: self.loss_events.into(),
        }
    }
}

impl Meter {
    /// A meter for a run of this length that has not begun.
    #[must_use]
    pub fn new(duration: Span, state: &State<'_>) -> Self {
        let (flows, connections, groups) = (state.flows, state.connections.len(), state.arrivals.len());
        let interval = interval(duration, (flows.len() + connections + groups) as u64);
        let count = duration.0.div_ceil(interval.0) as usize;
        let probed = if flows.len() > MOST_PROBED_FLOWS { &[] } else { flows };
        let room = |flow: &Flow| Vec::with_capacity(count * flow.sender.controller().probes().len());
        let probes = probed.iter().map(room).collect();
        let flows = flows.len();
        let end = Time::ZERO + duration;
        Self {
            interval,
            end,
            last: Time::ZERO,
            next: next_end(Time::ZERO, interval, end),
            ends: Vec::with_capacity(count),
            flows: vec![Reached::default(); flows],
            connections: vec![0; connections],
            groups: vec![0; groups],
            flow_rows: Vec::with_capacity(count * flows),
            connection_rows: Vec::with_capacity(count * connections),
            group_rows: Vec::with_capacity(count * groups),
            probes,
            probed: Vec::new(),
        }
    }

    /// When it looks again.
    #[must_use]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Looks at what happened in the interval that ends now.
    pub fn look(&mut self, flows: &[FlowGauge], groups: &[GroupGauge], state: &State<'_>) {
        self.close(self.next, flows, groups, state);
        self.next = next_end(self.last, self.interval, self.end);
    }

    fn close(&mut self, at: Time, flows: &[FlowGauge], groups: &[GroupGauge], state: &State<'_>) {
        let interval = Interval { from: self.last, until: at };
        let mbps = |bytes: u64| interval.mbps(bytes) as f32;
        // The flows that arrivals started come after those of the scenario.
        for ((before, flow), gauge) in self.flows.iter_mut().zip(state.flows).zip(flows) {
            let now = reached(flow, gauge, at);
            self.flow_rows.push(FlowRow::of(&interval.gain(flow.started(), before, &now)));
            *before = now;
        }
        for (kept, flow) in self.probes.iter_mut().zip(state.flows) {
            let controller = flow.sender.controller();
            self.probed.clear();
            self.probed.resize(controller.probes().len(), f64::NAN);
            controller.probe(&mut self.probed);
            kept.extend(self.probed.iter().map(|value| *value as f32));
        }
        for (before, connection) in self.connections.iter_mut().zip(state.connections) {
            self.connection_rows.push(mbps(connection.delivered_bytes() - *before));
            *before = connection.delivered_bytes();
        }
        for (group, (before, gauge)) in self.groups.iter_mut().zip(groups).enumerate() {
            let now = gauge.delivered_bytes(group, state);
            self.group_rows.push(mbps(now - *before));
            *before = now;
        }
        self.last = at;
        self.ends.push(at);
    }

    /// The intervals up to now; the last interval may be shorter.
    #[must_use]
    pub fn finish(mut self, flows: &[FlowGauge], groups: &[GroupGauge], state: &State<'_>) -> Intervals {
        let now = state.now;
        if now > self.last {
            self.close(now, flows, groups, state);
        }
        let lasting = state.flows.iter().take(self.flows.len()).enumerate();
        let of_flow = |(n, flow): (usize, &Flow)| match flow.place {
            None => Some(self.flow(n, flow, now)),
            Some(SubflowPlace { connection, subflow: 0 }) => {
                let subflows = state.connections[connection as usize].flows.clone();
                let subflows = subflows.map(|n| self.flow(n, &state.flows[n], now)).collect();
                Some(self.connection(connection as usize, subflows))
            }
            Some(_) => None,
        };
        let groups = state
            .arrivals
            .iter()
            .enumerate()
            .map(|(n, arrivals)| self.group(n, arrivals.process.spec.active.start));
        Intervals {
            interval_s: self.interval.as_secs_f64(),
            end_s: self.ends.iter().map(|end| end.as_secs_f64()).collect(),
            flows: lasting.filter_map(of_flow).collect(),
            groups: groups.collect(),
        }
    }

    fn flow(&self, index: usize, flow: &Flow, now: Time) -> FlowIntervals {
        let ran = Ran { started: flow.started(), until: flow.measured_until(now), ends: &self.ends };
        let rows = self.flow_rows.iter().skip(index).step_by(self.flows.len().max(1));
        let names = flow.sender.controller().probes();
        let probe = |(n, name): (usize, &&'static str)| {
            let values =
                self.probes.get(index).into_iter().flat_map(|kept| kept.iter().skip(n).step_by(names.len()));
            (*name, ran.series(values.copied().map(f64::from)))
        };
        let probes = names.iter().enumerate().map(probe).filter(|(_, series)| !series.0.is_empty());
        FlowIntervals { probes: probes.collect(), ..ran.intervals(rows.map(FlowRow::gain)) }
    }

    /// A connection runs from the start of its first subflow on.
    fn connection(&self, index: usize, subflows: Vec<FlowIntervals>) -> FlowIntervals {
        let rows = self.connection_rows.iter().skip(index).step_by(self.connections.len().max(1));
        let first = &subflows[0];
        let ran = first.goodput_mbps.0.iter().map(|mbps| !mbps.is_nan());
        let goodput = rows.zip(ran).map(|(mbps, ran)| if ran { f64::from(*mbps) } else { f64::NAN });
        let whole = first.whole.clone();
        FlowIntervals::of_connection(Series(goodput.collect()), whole, subflows)
    }

    fn group(&self, index: usize, started: Time) -> Series {
        let rows = self.group_rows.iter().skip(index).step_by(self.groups.len().max(1));
        Ran { started, until: Time::NEVER, ends: &self.ends }.series(rows.copied().map(f64::from))
    }
}

fn reached(flow: &Flow, gauge: &FlowGauge, at: Time) -> Reached {
    let counters = flow.sender.counters();
    Reached {
        bytes: flow.delivered_bytes(),
        losses: counters.fast_recoveries + counters.timeouts,
        window_nanos: gauge.window_nanos(at),
    }
}

/// The end of the interval that begins at `last`. The last interval has none: it ends when the run is read
/// out, after all events of its last instant.
fn next_end(last: Time, interval: Span, end: Time) -> Time {
    if end.since(last) > interval { last + interval } else { Time::NEVER }
}

/// The shortest interval of the form 1, 2, 5 x 10^k for which the rows suffice.
#[must_use]
pub fn interval(duration: Span, components: u64) -> Span {
    let most = (MOST_ROWS / components.max(1)).clamp(FEWEST_INTERVALS, MOST_INTERVALS);
    let mut decade = SHORTEST;
    loop {
        for factor in [1, 2, 5] {
            let interval = decade.times(factor);
            if duration.0.div_ceil(interval.0) <= most {
                return interval;
            }
        }
        decade = decade.times(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_grows_with_the_run_and_with_the_flows() {
        let chosen = |seconds, flows| interval(Span::from_secs(seconds), flows).as_secs_f64();
        assert_eq!(chosen(1, 1), 0.1);
        assert_eq!(chosen(200, 1), 0.1);
        assert_eq!(chosen(201, 20), 0.2);
        assert_eq!(chosen(400, 0), 0.2);
        assert_eq!(chosen(401, 1), 0.5);
        assert_eq!(chosen(1001, 1), 1.0);
        assert_eq!(chosen(10, 1000), 0.5);
        assert_eq!(chosen(60, 1000), 2.0);
        assert_eq!(chosen(60, 1_000_000), 5.0);
    }

    #[test]
    fn no_length_of_a_run_is_too_long() {
        assert!(interval(Span(u64::MAX), 1_000_000) > Span::from_secs(86_400));
    }

    #[test]
    fn a_thousand_flows_take_half_a_kilobyte_each() {
        let rows = MOST_ROWS as usize / 1000;
        assert!(rows * size_of::<FlowRow>() + size_of::<Reached>() <= 512);
    }
}
