//! LIA (RFC 6356 section 3) over sibling views: a rule on the shared frame, and one line more for what it shows.

use cwndlab_cc::{Ack, Classic, CongestionControl, Context, Control, Event, Setup, Step, Window, WindowRule};

/// Grows by min(alpha / W, 1 / w_r) a segment acknowledged; halves on a loss.
pub struct Lia {
    /// Fractions of a byte that have not been added yet.
    fraction: f64,
}

/// RFC 6356 equation (2), with the windows that the siblings show: alpha = W max(w / rtt^2) / (sum w / rtt)^2.
pub fn alpha(cx: &Context) -> (f64, f64) {
    let (mut total, mut best, mut sum) = (0.0, 0.0f64, 0.0);
    for view in cx.subflows.iter().filter(|view| view.usable) {
        let (window, rtt) = (view.window as f64 / view.mss as f64, view.srtt.as_secs_f64());
        total += window;
        best = best.max(window / (rtt * rtt));
        sum += window / rtt;
    }
    (total * best / (sum * sum), total)
}

impl WindowRule for Lia {
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (alpha, total) = alpha(cx);
        let acked = acked as f64 / window.mss as f64;
        let grown = (alpha / total).min(1.0 / window.segments()) * acked * window.mss as f64 + self.fraction;
        window.cwnd += grown as u64;
        self.fraction = grown - (grown as u64) as f64;
    }

    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        window.cwnd / 2
    }
}

/// LIA on the frame that owns slow start, counting, window validation and undo.
pub fn lia(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(Classic::new(setup, Lia { fraction: 0.0 }))
}

/// A controller that shows its siblings another window than its own, as DBAC does.
pub struct Showing {
    pub inner: Box<dyn CongestionControl>,
    pub shown: fn(u64) -> u64,
}

impl CongestionControl for Showing {
    fn control(&self) -> Control {
        let control = self.inner.control();
        Control { shown_window: (self.shown)(control.cwnd), ..control }
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.inner.on_event(cx, event);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Step {
        self.inner.on_ack(cx, ack)
    }
}
