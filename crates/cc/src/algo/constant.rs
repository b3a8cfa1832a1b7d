//! A window that never changes: the control that keeps learners honest.

use crate::algorithm::{Algorithm, Declaration};
use crate::contract::{Ack, CongestionControl, Context, Control, Decision, Event};
use crate::params::Parameters;
use std::sync::Arc;

crate::parameters! {
    /// The parameters.
    pub struct ConstantParams {
        cwnd: u64 = 100, "cwnd", Allowed::Count(1, 10_000_000), "segments",
            "the window", "a control of this laboratory: set it to BDP plus half the buffer";
    }
}

/// A controller that shows the same window for ever, through losses and timeouts.
pub struct Constant {
    cwnd: u64,
}

impl CongestionControl for Constant {
    fn control(&self) -> Control {
        Control::window(self.cwnd)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        Decision::NotDue
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "constant",
        summary: "a window that never changes",
        source: "a control of this laboratory",
        departures: &["a timeout does not reduce the window to RFC 5681's loss window: it is constant"],
        params: ConstantParams::specs().into(),
        declares: Declaration { bounded: true, ..Declaration::PLAIN }.into(),
        build: Arc::new(|setup, settings| {
            let params = ConstantParams::with(settings);
            Box::new(Constant { cwnd: params.cwnd * setup.mss })
        }),
    }
}
