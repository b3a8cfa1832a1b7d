//! Timers that count ticks of a host's clock, as Linux's do (kernel/time/timer.c).

use cwndlab_cc::{Span, Time};

/// A wait of fewer ticks ends at any tick, one of fewer than 8 times as many at a multiple of 8 ticks, one of fewer
/// than 64 times as many at a multiple of 64, and so on (Linux `LVL_START`).
const FINE_TICKS: u64 = 63;
/// Each of these levels is coarser than the one before by this power of two (Linux `LVL_CLK_SHIFT`).
const LEVEL_BITS: u32 = 3;

/// When a timer expires that was set at `set_at` and must not expire before `due`, with ticks of this length;
/// zero for exact timers.
///
/// The wait counts whole ticks, from the next tick on, and long waits go on to the next multiple of 8, 64, ...
/// ticks (Linux `calc_wheel_index`).
#[must_use]
pub fn expiry(tick: Span, set_at: Time, due: Time) -> Time {
    if tick == Span::ZERO {
        return due;
    }
    let wait = tick.whole_in(Span(due.since(set_at).0 + tick.0 - 1));
    let mut level = 0;
    while wait >= FINE_TICKS << level {
        level += LEVEL_BITS;
    }
    let end = tick.whole_in(Span(set_at.0)) + wait;
    Time((((end >> level) + 1) << level) * tick.0)
}

/// A timer. It keeps its exact deadline until that is reached, because most are set again before.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    due: Time,
    /// When it was set; [`Time::NEVER`] once `due` is the tick at which it expires.
    set_at: Time,
}

impl Timer {
    /// A timer that is off.
    pub const OFF: Self = Self { due: Time::NEVER, set_at: Time::NEVER };

    /// A timer that must not expire before `due`.
    #[inline]
    #[must_use]
    pub fn until(now: Time, due: Time) -> Self {
        Self { due, set_at: now }
    }

    /// When to ask [`Timer::expires`]; [`Time::NEVER`] if it is off.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        self.due
    }

    /// Whether it is on.
    #[inline]
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.due != Time::NEVER
    }

    /// Whether it expires now. If its deadline has come but not its tick, it goes on to that.
    #[must_use]
    pub fn expires(&mut self, now: Time, tick: Span) -> bool {
        if self.due > now {
            return false;
        }
        if self.set_at != Time::NEVER {
            *self = Self { due: expiry(tick, self.set_at, self.due), set_at: Time::NEVER };
        }
        self.due <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn expires_at_ms(tick_ms: u64, set_at_us: u64, wait_us: u64) -> f64 {
        let set_at = Time(set_at_us * 1000);
        let at = expiry(Span::from_millis(tick_ms), set_at, set_at + Span(wait_us * 1000));
        at.0 as f64 / MS as f64
    }

    /// By hand, after `calc_index`: (ticks of ms, set at, wait, expires in ms).
    #[test]
    fn long_waits_are_coarser() {
        for (tick, set_at, wait, expected) in [
            (0, 999, 40_000, 40.999),
            (1, 0, 40_000, 41.0),
            (1, 999, 40_000, 41.0),
            (1, 1000, 40_000, 42.0),
            (1, 1000, 40_001, 43.0),
            (1, 0, 62_000, 63.0),
            (1, 0, 63_000, 64.0),
            (1, 1000, 63_000, 72.0),
            (1, 5000, 200_000, 208.0),
            (1, 0, 503_000, 504.0),
            (1, 0, 504_000, 512.0),
            (1, 8000, 504_000, 576.0),
            (1, 0, 1_000_000, 1024.0),
            (4, 999, 40_000, 44.0),
            (4, 0, 252_000, 256.0),
            (4, 0, 256_000, 288.0),
        ] {
            assert_eq!(expires_at_ms(tick, set_at, wait), expected, "{tick} ms, {set_at} us, {wait} us");
        }
    }

    #[test]
    fn a_timer_waits_for_its_tick() {
        let tick = Span::from_millis(1);
        let mut timer = Timer::until(Time(MS / 2), Time(3 * MS));
        assert!(!timer.expires(Time(3 * MS - 1), tick));
        assert!(!timer.expires(Time(3 * MS), tick));
        assert_eq!(timer.due(), Time(4 * MS));
        assert!(timer.expires(Time(4 * MS), tick));
        assert!(!Timer::OFF.is_on() && !Timer::OFF.clone().expires(Time(MS), tick));
    }
}
