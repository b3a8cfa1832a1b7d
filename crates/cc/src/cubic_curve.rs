//! The cubic of one epoch (RFC 9438 section 4.2): W(t) = C (t - K)^3 + origin, in segments and seconds.

use crate::units::{Span, Time};
use cwndlab_learn::math;

/// How the window moves from one congestion event to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicCurve {
    /// When the epoch began.
    pub start: Time,
    /// The plateau: W_max, or the window at the start if that is larger.
    origin: f64,
    /// How far below its plateau the cubic begins.
    rise: f64,
    c: f64,
    /// K in seconds.
    k: f64,
}

impl CubicCurve {
    /// K = cbrt((W_max - cwnd_epoch) / C), zero when the window is past W_max.
    #[must_use]
    pub fn begin(now: Time, cwnd: f64, w_max: f64, c: f64) -> Self {
        let rise = (w_max - cwnd).max(0.0);
        Self { start: now, origin: w_max.max(cwnd), rise, c, k: math::cbrt(rise / c) }
    }

    /// The same epoch with another C: steeper or flatter about the same plateau.
    #[must_use]
    pub fn with_c(self, c: f64) -> Self {
        Self { c, k: math::cbrt(self.rise / c), ..self }
    }

    /// The same epoch with the cubic beginning `rise` below its plateau; unchanged if it begins on the plateau.
    #[must_use]
    pub fn with_rise(self, rise: f64) -> Self {
        if self.rise > 0.0 { Self { rise, k: math::cbrt(rise / self.c), ..self } } else { self }
    }

    /// K in seconds.
    #[must_use]
    pub fn k_s(&self) -> f64 {
        self.k
    }

    /// W(t) in segments.
    #[must_use]
    pub fn window(&self, t: f64) -> f64 {
        self.origin + self.offset(t)
    }

    /// W(t) in whole segments, as in Linux and ns-3: the offset is truncated, not rounded.
    #[must_use]
    pub fn whole_window(&self, t: Span) -> u64 {
        let offset = self.offset(t.as_secs_f64()) as i64;
        (self.origin as i64).saturating_add(offset).max(0).cast_unsigned()
    }

    fn offset(&self, t: f64) -> f64 {
        let d = t - self.k;
        self.c * (d * d * d)
    }
}
