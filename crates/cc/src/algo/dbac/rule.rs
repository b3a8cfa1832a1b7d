//! The window rule of a DBAC subflow: CUBIC's while it is high, otherwise LIA's.

use super::params::DbacParams;
use crate::algo::cubic::{Cubic, CubicParams, Form};
use crate::algo::lia::{Lia, LiaParams};
use crate::classic::{Window, WindowRule};
use crate::contract::{Ack, Context, Event, Setup};

/// Both rules, only one of which moves the window.
pub struct Rule {
    /// Whether CUBIC moves the window.
    pub high: bool,
    cubic: Cubic,
    lia: Lia,
}

impl Rule {
    /// A rule that starts low, because nothing is known of the path yet. CUBIC has Linux's arithmetic: the
    /// paper changed a kernel, which cuts the window, where the RFC's form cuts FlightSize, which follows the
    /// scaled window.
    pub fn new(setup: &Setup, params: &DbacParams) -> Self {
        let cubic = CubicParams { form: Form::Linux, hystart: params.hystart, ..CubicParams::default() };
        let lia =
            LiaParams { counting: params.counting, arithmetic: params.arithmetic, hystart: params.hystart };
        Self { high: false, cubic: Cubic::new(setup, cubic), lia: Lia::new(setup, &lia) }
    }

    /// Switches between the rules. CUBIC begins an epoch at the current window, with the W_max of the last loss.
    pub fn change_to(&mut self, high: bool) {
        self.high = high;
        self.cubic.end_epoch();
    }

    /// RFC 6356's alpha as a low subflow, as of the last growth.
    pub fn alpha2(&self) -> f64 {
        self.lia.alpha()
    }
}

impl WindowRule for Rule {
    fn observe(&mut self, cx: &Context, ack: &Ack) {
        self.cubic.observe(cx, ack);
        self.lia.observe(cx, ack);
    }

    fn leaves_slow_start(&mut self, cx: &Context, ack: &Ack, cwnd: u64) -> bool {
        if self.high {
            self.cubic.leaves_slow_start(cx, ack, cwnd)
        } else {
            self.lia.leaves_slow_start(cx, ack, cwnd)
        }
    }

    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        if self.high {
            self.cubic.grow(cx, window, acked);
        } else {
            self.lia.grow(cx, window, acked);
        }
    }

    /// Both rules learn of every loss, so that CUBIC has a W_max when its turn comes.
    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64 {
        let (cubic, lia) = (self.cubic.shrink(cx, window, event), self.lia.shrink(cx, window, event));
        if self.high { cubic } else { lia }
    }

    fn counts_segments(&self) -> bool {
        if self.high { self.cubic.counts_segments() } else { self.lia.counts_segments() }
    }

    fn notice(&mut self, cx: &Context, event: Event) {
        self.cubic.notice(cx, event);
        self.lia.notice(cx, event);
    }
}
