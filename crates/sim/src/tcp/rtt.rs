//! Round-trip times and the retransmission timeout (RFC 6298).

use super::options::{RtoFloor, TcpOptions};
use cwndlab_cc::{Rtt, Span, Time};

/// RFC 6298 (5.7): the timeout with which data begin after a lost SYN.
const FALLBACK: Span = Span::from_secs(3);

/// The estimator of one flow.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rtt: Rtt,
    measured: bool,
    floor: Span,
    floor_of: RtoFloor,
    ceiling: Span,
    clock: Span,
}

impl RttEstimator {
    /// No sample yet.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        Self {
            rtt: Rtt { rto: options.rto_initial, ..Rtt::default() },
            measured: false,
            floor: options.rto_min,
            floor_of: options.rto_floor,
            ceiling: options.rto_max,
            clock: options.clock,
        }
    }

    /// What is known.
    #[must_use]
    pub fn rtt(&self) -> Rtt {
        self.rtt
    }

    /// The time between two moments as this flow's clock shows it: a difference of ticks.
    #[must_use]
    pub fn measure(&self, from: Time, to: Time) -> Span {
        if self.clock == Span::ZERO {
            return to.since(from);
        }
        let ticks = to.0 / self.clock.0 - from.0 / self.clock.0;
        // A sample of zero ticks is taken as a microsecond, as both Linux and ns-3 do.
        self.clock.times(ticks).max(Span::from_micros(1))
    }

    /// RFC 6298 (5.7): the SYN had to be sent again, so there is no sample, and the path may be slow.
    pub fn distrust(&mut self) {
        if !self.measured {
            self.rtt.rto = self.rtt.rto.max(FALLBACK);
        }
    }

    /// RFC 6298 (2.2), (2.3), with gains 1/8 and 1/4.
    pub fn sample(&mut self, smoothed: Span, latest: Span) {
        let rtt = &mut self.rtt;
        rtt.latest = latest;
        rtt.minimum = if self.measured { rtt.minimum.min(latest) } else { latest };
        if self.measured {
            let error = smoothed.0.abs_diff(rtt.smoothed.0);
            rtt.variance = Span(rtt.variance.0 - rtt.variance.0 / 4 + error / 4);
            rtt.smoothed = Span(rtt.smoothed.0 - rtt.smoothed.0 / 8 + smoothed.0 / 8);
        } else {
            rtt.smoothed = smoothed;
            rtt.variance = Span(smoothed.0 / 2);
            self.measured = true;
        }
        // (2.4): four variances, but a floor below it; Linux sets the floor under the variance term.
        let variance = rtt.variance.times(4);
        rtt.rto = match self.floor_of {
            RtoFloor::Variance => rtt.smoothed + variance.max(self.floor),
            RtoFloor::Total => (rtt.smoothed + variance).max(self.floor),
        }
        .min(self.ceiling);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc6298_first_and_second_sample() {
        let options = TcpOptions { rto_floor: RtoFloor::Total, rto_min: Span::ZERO, ..TcpOptions::default() };
        let mut estimator = RttEstimator::new(&options);
        let ms = Span::from_millis;
        estimator.sample(ms(100), ms(100));
        assert_eq!((estimator.rtt().smoothed, estimator.rtt().variance), (ms(100), ms(50)));
        assert_eq!(estimator.rtt().rto, ms(300));
        estimator.sample(ms(180), ms(180));
        assert_eq!(estimator.rtt().smoothed, ms(110));
        assert_eq!(estimator.rtt().variance, Span(57_500_000));
        assert_eq!(estimator.rtt().minimum, ms(100));
    }

    #[test]
    fn the_floor_holds_for_the_variance_or_for_all() {
        let ms = Span::from_millis;
        let rto = |rto_floor| {
            let options = TcpOptions { rto_floor, rto_min: ms(200), ..TcpOptions::default() };
            let mut estimator = RttEstimator::new(&options);
            (0..100).for_each(|_| estimator.sample(ms(60), ms(60)));
            estimator.rtt().rto
        };
        assert_eq!(rto(RtoFloor::Variance), ms(260));
        assert_eq!(rto(RtoFloor::Total), ms(200));
    }

    #[test]
    fn a_coarse_clock_counts_ticks() {
        let options = TcpOptions { clock: Span::from_millis(1), ..TcpOptions::default() };
        let estimator = RttEstimator::new(&options);
        let measure = |from_us: u64, to_us: u64| estimator.measure(Time(from_us * 1000), Time(to_us * 1000));
        assert_eq!(measure(900, 1100), Span::from_millis(1));
        assert_eq!(measure(1100, 1900), Span::from_micros(1));
    }
}
