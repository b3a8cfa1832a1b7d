//! Round-trip times and the retransmission timeout (RFC 6298).

use super::options::{RtoFloor, TcpOptions};
use cwndlab_cc::{Rtt, Span, Time};

/// RFC 6298 (5.7): the timeout with which data begin after a lost SYN.
const FALLBACK: Span = Span::from_secs(3);

/// Before the first sample: RFC 6298 (2.1).
#[must_use]
pub fn unmeasured(options: &TcpOptions) -> Rtt {
    Rtt { rto: options.rto_initial, ..Rtt::default() }
}

/// The time between two moments as this flow's clock shows it: a difference of ticks.
#[inline]
#[must_use]
pub fn measure(options: &TcpOptions, from: Time, to: Time) -> Span {
    let clock = options.clock;
    if clock == Span::ZERO {
        return to.since(from);
    }
    let ticks = to.0 / clock.0 - from.0 / clock.0;
    // A sample of zero ticks is taken as a microsecond, as both Linux and ns-3 do.
    clock.times(ticks).max(Span::from_micros(1))
}

/// RFC 6298 (5.7): the SYN had to be sent again, so there is no sample, and the path may be slow.
pub fn distrust(rtt: &mut Rtt) {
    rtt.rto = rtt.rto.max(FALLBACK);
}

/// RFC 6298 (2.2), (2.3), with gains 1/8 and 1/4. `smoothed` goes into SRTT, `latest` is shown as the latest sample.
#[inline]
pub fn sample(rtt: &mut Rtt, options: &TcpOptions, smoothed: Span, latest: Span) {
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
    // (2.4): four variances, but a floor below it; Linux sets the floor under the variance term.
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

    #[test]
    fn a_coarse_clock_counts_ticks() {
        let options = TcpOptions { clock: Span::from_millis(1), ..TcpOptions::default() };
        let span = |from_us: u64, to_us: u64| measure(&options, Time(from_us * 1000), Time(to_us * 1000));
        assert_eq!(span(900, 1100), Span::from_millis(1));
        assert_eq!(span(1100, 1900), Span::from_micros(1));
    }
}
