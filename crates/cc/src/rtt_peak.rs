//! The peak ratio of the RTT (Lim et al. 2004 section 3): a loss after a sudden rise in traffic comes with an
//! RTT peak, one after a slow rise does not.

use crate::units::Span;

/// An RTT with this ratio or a larger one is a peak (Lim et al. 2004 section 3.2; untuned, as they say).
pub const PEAK: f64 = 2.0;

/// (RTT - base) / (average - base), equation (1); `None` where the average is no more than the base: the RTT
/// has not risen, and there is nothing to compare a peak with.
#[inline]
#[must_use]
pub fn ratio(rtt: Span, base: Span, average: Span) -> Option<f64> {
    let usual = average.saturating_sub(base);
    (usual > Span::ZERO).then(|| rtt.saturating_sub(base).0 as f64 / usual.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_1_of_the_paper() {
        let ms = Span::from_millis;
        let at = |rtt, base, average| ratio(ms(rtt), ms(base), ms(average));
        assert_eq!(at(250, 200, 225), Some(2.0));
        assert_eq!(at(225, 200, 225), Some(1.0));
        assert_eq!(at(200, 200, 225), Some(0.0));
        // A new minimum has not risen.
        assert_eq!(at(190, 200, 225), Some(0.0));
        // Without a base two paths of 10 and 200 ms with the same queue would not compare.
        assert_eq!(at(60, 10, 35), at(250, 200, 225));
    }

    #[test]
    fn where_nothing_has_risen_there_is_no_ratio() {
        let ms = Span::from_millis;
        assert_eq!(ratio(ms(30), ms(20), ms(20)), None);
        assert_eq!(ratio(ms(30), ms(20), ms(10)), None);
    }
}
