//! Round-trip times and the retransmission timeout (RFC 6298).

use super::options::{RtoFloor, TcpOptions};
use cwndlab_cc::{Rng, Rtt, Span, Time};
use std::mem::offset_of;

/// RFC 6298 rule (5.7): the RTO when data transfer begins after a lost SYN.
const FALLBACK: Span = Span::from_secs(3);

/// A clock with a tick of this length or longer has a phase.
const COARSE: Span = Span::from_millis(1);

/// Before the first sample: RFC 6298 rule (2.1).
#[must_use]
pub fn unmeasured(options: &TcpOptions) -> Rtt {
    Rtt { rto: options.rto_initial, ..Rtt::default() }
}

/// The clock that RTT samples are read from.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TimestampClock {
    /// Length of a tick; zero for an exact clock.
    tick: Span,
    /// How far into a tick the run begins.
    phase: Span,
    /// The smallest sample: the value of zero ticks.
    least: Span,
    /// SRTT and RTTVAR in ticks, where the profile keeps them so.
    estimate: Option<Estimate>,
}

/// Linux's `srtt`, eight times SRTT, and `mdev`, four times RTTVAR, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    srtt: u64,
    mdev: u64,
}

impl Estimate {
    /// Linux 2.2 `tcp_rtt_estimator`.
    fn sample(&mut self, ticks: u64) {
        if self.srtt == 0 {
            *self = Self { srtt: ticks << 3, mdev: ticks << 1 };
            return;
        }
        let (smoothed, deviation) = (self.srtt >> 3, self.mdev >> 2);
        self.srtt = self.srtt + ticks - smoothed;
        self.mdev = self.mdev + ticks.abs_diff(smoothed) - deviation;
    }
}

impl TimestampClock {
    /// Bytes at its start that are all a sample by an exact clock touches.
    pub const HOT: usize = offset_of!(Self, phase);

    /// The clock of one connection. Its phase is random, as nothing ties its host's ticks to the start of the run.
    /// Ticks below 1 ms have no phase: in a run without other randomness, only the phase would differ between seeds.
    #[must_use]
    pub fn new(options: &TcpOptions, rng: &mut Rng) -> Self {
        let tick = options.clock;
        let phase = if tick < COARSE { Span::ZERO } else { Span(rng.below(tick.0)) };
        Self { tick, phase, least: options.clock_least, estimate: options.srtt_ticks.then(Estimate::default) }
    }

    /// Adds a sample: `smoothed` goes into SRTT, `latest` is reported as the latest sample.
    #[inline(always)]
    pub fn sample(&mut self, rtt: &mut Rtt, options: &TcpOptions, smoothed: Span, latest: Span) {
        if options.srtt_ticks {
            self.sample_ticks(rtt, options, smoothed, latest);
        } else {
            sample(rtt, options, smoothed, latest);
        }
    }

    #[cold]
    #[inline(never)]
    fn sample_ticks(&mut self, rtt: &mut Rtt, options: &TcpOptions, smoothed: Span, latest: Span) {
        let Some(estimate) = &mut self.estimate else { return };
        estimate.sample((smoothed.0 / self.tick.0.max(1)).max(1));
        let first = rtt.smoothed == Span::ZERO;
        rtt.latest = latest;
        rtt.minimum = if first { latest } else { rtt.minimum.min(latest) };
        rtt.smoothed = self.tick.times(estimate.srtt >> 3);
        rtt.variance = Span(self.tick.times(estimate.mdev).0 / 4);
        set_timeout(rtt, options);
    }

    /// The time between two instants by this clock: a whole number of ticks.
    #[inline]
    #[must_use]
    pub fn between(&self, from: Time, to: Time) -> Span {
        if self.tick == Span::ZERO {
            return to.since(from);
        }
        let ticks_until = |at: Time| self.tick.whole_in(Span((at + self.phase).0));
        self.tick.times(ticks_until(to) - ticks_until(from)).max(self.least)
    }
}

/// RFC 6298 rule (5.7): the SYN had to be sent again, so there is no sample, and the path may be slow.
pub fn distrust(rtt: &mut Rtt) {
    rtt.rto = rtt.rto.max(FALLBACK);
}

/// RFC 6298 rules (2.2) and (2.3), with gains 1/8 and 1/4. `smoothed` goes into SRTT, `latest` is reported as
/// the latest sample.
#[inline]
fn sample(rtt: &mut Rtt, options: &TcpOptions, smoothed: Span, latest: Span) {
    rtt.latest = latest;
    if rtt.smoothed == Span::ZERO {
        rtt.minimum = latest;
        rtt.smoothed = smoothed;
        rtt.variance = Span(smoothed.0 / 2);
    } else {
        let error = smoothed.0.abs_diff(rtt.smoothed.0);
        rtt.minimum = rtt.minimum.min(latest);
        rtt.variance = Span(rtt.variance.0 - rtt.variance.0 / 4 + error / 4);
        rtt.smoothed = Span(rtt.smoothed.0 - rtt.smoothed.0 / 8 + smoothed.0 / 8);
    }
    set_timeout(rtt, options);
}

#[inline]
fn set_timeout(rtt: &mut Rtt, options: &TcpOptions) {
    // RFC 6298 rule (2.4): SRTT plus four RTTVAR, with a floor under the sum; Linux applies the floor to the
    // variance term.
    let variance = rtt.variance.times(4);
    let rto = match options.rto_floor {
        RtoFloor::Variance => rtt.smoothed + variance.max(options.rto_min),
        RtoFloor::Total => (rtt.smoothed + variance).max(options.rto_min),
    };
    rtt.rto = rto.min(options.rto_max);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc6298_first_and_second_sample() {
        let options = TcpOptions { rto_floor: RtoFloor::Total, rto_min: Span::ZERO, ..TcpOptions::default() };
        let mut rtt = unmeasured(&options);
        let ms = Span::from_millis;
        sample(&mut rtt, &options, ms(100), ms(100));
        assert_eq!((rtt.smoothed, rtt.variance, rtt.rto), (ms(100), ms(50), ms(300)));
        sample(&mut rtt, &options, ms(180), ms(180));
        assert_eq!((rtt.smoothed, rtt.variance, rtt.minimum), (ms(110), Span(57_500_000), ms(100)));
    }

    #[test]
    fn the_floor_holds_for_the_variance_or_for_all() {
        let ms = Span::from_millis;
        let rto = |rto_floor| {
            let options = TcpOptions { rto_floor, rto_min: ms(200), ..TcpOptions::default() };
            let mut rtt = unmeasured(&options);
            (0..100).for_each(|_| sample(&mut rtt, &options, ms(60), ms(60)));
            rtt.rto
        };
        assert_eq!((rto(RtoFloor::Variance), rto(RtoFloor::Total)), (ms(260), ms(200)));
    }

    fn clock(phase_ms: u64) -> TimestampClock {
        let ms = Span::from_millis;
        TimestampClock { tick: ms(10), phase: ms(phase_ms), least: ms(10), estimate: None }
    }

    /// By hand, after Linux 2.2: srtt 8 x 10, 83, 86, 89, 92, ... for samples of 10 and then 13 ticks.
    #[test]
    fn whole_ticks_are_what_the_kernel_sees_of_srtt() {
        let ms = Span::from_millis;
        let options = TcpOptions {
            clock: ms(10),
            srtt_ticks: true,
            rto_floor: RtoFloor::Total,
            rto_min: Span::ZERO,
            ..TcpOptions::default()
        };
        let mut clock = TimestampClock::new(&options, &mut Rng::named(1, "clock"));
        let mut rtt = unmeasured(&options);
        clock.sample(&mut rtt, &options, ms(100), ms(100));
        assert_eq!((rtt.smoothed, rtt.variance, rtt.rto), (ms(100), ms(50), ms(300)));
        let mut next = |sample| {
            clock.sample(&mut rtt, &options, ms(sample), ms(sample));
            (rtt.smoothed, rtt.rto, rtt.minimum)
        };
        // mdev 20 + 3 - 5 = 18, 18 + 3 - 4 = 17, 17 + 3 - 4 = 16; the fourth: srtt 92, read as 11.
        assert_eq!(next(130), (ms(100), ms(280), ms(100)));
        assert_eq!(next(130), (ms(100), ms(270), ms(100)));
        assert_eq!(next(130), (ms(110), ms(270), ms(100)));
        assert_eq!(next(80), (ms(100), ms(250), ms(80)));
    }

    #[test]
    fn a_coarse_clock_counts_ticks_from_its_own_phase() {
        let span = |phase_ms, from_ms: u64, to_ms: u64| {
            let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
            clock(phase_ms).between(at(from_ms), at(to_ms))
        };
        // 9 ms with a tick in them, and 9 ms without one.
        assert_eq!(span(0, 3, 12), Span::from_millis(10));
        assert_eq!(span(0, 15, 24), Span::from_millis(10));
        assert_eq!(span(0, 15, 32), Span::from_millis(20));
        assert_eq!(span(4, 15, 32), Span::from_millis(20));
        assert_eq!(span(8, 15, 42), Span::from_millis(30));
        assert_eq!(span(8, 11, 42), Span::from_millis(40));
    }

    #[test]
    fn a_sample_of_no_tick_counts_as_the_least() {
        let at = |us: u64| Time(us * 1000);
        assert_eq!(clock(0).between(at(1100), at(1900)), Span::from_millis(10));
        let options = TcpOptions { clock: Span::from_millis(1), ..TcpOptions::default() };
        let fine = TimestampClock {
            phase: Span::ZERO,
            ..TimestampClock::new(&options, &mut Rng::named(1, "clock"))
        };
        assert_eq!(fine.between(at(1100), at(1900)), Span::from_micros(1));
    }

    #[test]
    fn each_connection_has_a_phase_within_a_tick() {
        let options = TcpOptions { clock: Span::from_millis(10), ..TcpOptions::default() };
        let phase = |seed| TimestampClock::new(&options, &mut Rng::named(seed, "clock")).phase;
        let phases: Vec<_> = (0..50).map(phase).collect();
        assert!(phases.iter().all(|phase| *phase < Span::from_millis(10)));
        assert!(phases.iter().any(|phase| *phase < Span::from_millis(3)));
        assert!(phases.iter().any(|phase| *phase > Span::from_millis(7)));
    }
}
