//! The gain cycle of ProbeBW: one round trip above the bandwidth, one below, six at it (Linux tcp_bbr.c
//! `bbr_update_cycle_phase`; draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4).

use crate::units::{Span, Time};
use cwndlab_learn::Rng;

const PHASES: u64 = 8;

/// The purpose of a phase's pacing gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GainPhase {
    /// Above the bandwidth: is there more?
    Up,
    /// Below it: drains the queue that Up has built.
    Down,
    Cruise,
}

/// What the current ACK says about the current phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub now: Time,
    pub min_rtt: Span,
    pub lost: bool,
    /// The data in flight has reached Up's target.
    pub high: bool,
    /// The data in flight has fallen to Down's target.
    pub low: bool,
}

/// Where in the cycle the flow is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    index: u64,
    since: Time,
}

impl Cycle {
    /// Starts in a random phase, so that flows do not probe in step; never in Down, since nothing is queued yet.
    pub fn start(now: Time, rng: &mut Rng) -> Self {
        let index = match rng.below(PHASES - 1) {
            0 => 0,
            n => n + 1,
        };
        Self { index, since: now }
    }

    pub fn phase(&self) -> GainPhase {
        match self.index {
            0 => GainPhase::Up,
            1 => GainPhase::Down,
            _ => GainPhase::Cruise,
        }
    }

    /// Goes on to the next phase if this one is over.
    pub fn update(&mut self, progress: &Progress) {
        if self.is_over(progress) {
            *self = Self { index: (self.index + 1) % PHASES, since: progress.now };
        }
    }

    fn is_over(&self, progress: &Progress) -> bool {
        let full_length = progress.now.since(self.since) > progress.min_rtt;
        match self.phase() {
            // On a short path one round trip may not be enough to reach the target; a small buffer may never
            // hold that much.
            GainPhase::Up => full_length && (progress.lost || progress.high),
            GainPhase::Down => full_length || progress.low,
            GainPhase::Cruise => full_length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(10);

    fn at(ms: u64) -> Progress {
        Progress {
            now: Time::ZERO + Span::from_millis(ms),
            min_rtt: RTT,
            lost: false,
            high: false,
            low: false,
        }
    }

    /// After more than a min RTT each phase gives way to the next, Up only when its target was met.
    #[test]
    fn up_down_and_six_times_cruise() {
        let mut cycle = Cycle::default();
        cycle.update(&at(50));
        assert_eq!(cycle.phase(), GainPhase::Up, "nothing lost, and not enough in flight");
        let phases: Vec<_> = (1..=16)
            .map(|n| {
                cycle.update(&Progress { high: true, ..at(50 + 11 * n) });
                cycle.phase()
            })
            .collect();
        let mut expected = vec![GainPhase::Down];
        expected.extend([GainPhase::Cruise; 6]);
        expected.push(GainPhase::Up);
        assert_eq!(phases, [expected.clone(), expected].concat());
    }

    #[test]
    fn a_loss_ends_up_and_a_drained_queue_ends_down() {
        let mut cycle = Cycle::default();
        cycle.update(&Progress { lost: true, ..at(10) });
        assert_eq!(cycle.phase(), GainPhase::Up, "it lasts longer than a min RTT");
        cycle.update(&Progress { lost: true, ..at(11) });
        assert_eq!(cycle.phase(), GainPhase::Down);
        cycle.update(&at(12));
        assert_eq!(cycle.phase(), GainPhase::Down);
        cycle.update(&Progress { low: true, ..at(13) });
        assert_eq!(cycle.phase(), GainPhase::Cruise);
    }

    #[test]
    fn it_starts_anywhere_but_in_down() {
        let mut rng = Rng::named(1, "cycle");
        let mut starts = [0; 8];
        for _ in 0..7000 {
            starts[Cycle::start(Time::ZERO, &mut rng).index as usize] += 1;
        }
        assert_eq!(starts[1], 0);
        // Each of the seven phases is expected a thousand times; five standard deviations are 146.
        assert!((0..8).filter(|n| *n != 1).all(|n| (854..1146).contains(&starts[n])), "{starts:?}");
    }
}
