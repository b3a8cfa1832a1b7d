//! The objects that a Python controller receives: plain values with units in their names, made anew for each
//! callback, so that one that is kept does not change. A field costs nothing until it is read.

use cwndlab_cc::contract;
use cwndlab_cc::{Phase, Rng, SendLimit, Span};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::{Mutex, PoisonError};

/// Getters of a class: name, type and value of each, in terms of what the class holds.
macro_rules! getters {
    ($class:ident($held:ident): $($name:ident: $type:ty = $value:expr,)+) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> $type {
                    let $held = &self.0;
                    $value
                }
            )+
        }
    };
}

/// The state of the flow at a callback.
#[pyclass(frozen, subclass, module = "cwndlab")]
pub struct Facts(pub(super) contract::Facts);

#[pymethods]
impl Facts {
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn mss_bytes(&self) -> u64 {
        self.0.mss
    }

    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.rtt.smoothed.as_secs_f64()
    }

    #[getter]
    fn rttvar_s(&self) -> f64 {
        self.0.rtt.variance.as_secs_f64()
    }

    #[getter]
    fn min_rtt_s(&self) -> f64 {
        self.0.rtt.minimum.as_secs_f64()
    }

    #[getter]
    fn latest_rtt_s(&self) -> f64 {
        self.0.rtt.latest.as_secs_f64()
    }

    #[getter]
    fn rto_s(&self) -> f64 {
        self.0.rtt.rto.as_secs_f64()
    }

    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn flight_size_bytes(&self) -> u64 {
        self.0.flight_size
    }

    #[getter]
    fn outstanding_bytes(&self) -> u64 {
        self.0.outstanding
    }

    #[getter]
    fn phase<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0.phase {
            Phase::Open => intern!(py, "open"),
            Phase::Disorder => intern!(py, "disorder"),
            Phase::Recovery => intern!(py, "recovery"),
            Phase::Loss => intern!(py, "loss"),
        }
    }

    #[getter]
    fn limited_by<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0.limited_by {
            SendLimit::Window => intern!(py, "window"),
            SendLimit::Application => intern!(py, "application"),
            SendLimit::Receiver => intern!(py, "receiver"),
        }
    }

    #[getter]
    fn window_limited(&self) -> bool {
        self.0.window_limited
    }
}

/// One acknowledgement.
#[pyclass(frozen, extends = Facts, module = "cwndlab")]
pub struct Ack(contract::Ack);

impl Ack {
    pub(super) fn of(facts: &contract::Facts, ack: &contract::Ack) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Facts(*facts)).add_subclass(Self(*ack))
    }
}

getters! { Ack(ack):
    acked_bytes: u64 = ack.acked,
    advanced_bytes: u64 = ack.advanced,
    lost_bytes: u64 = ack.lost,
    ce_bytes: u64 = ack.ce,
    prior_in_flight_bytes: u64 = ack.prior_in_flight,
    delivered_bytes: u64 = ack.delivered,
    rtt_s: Option<f64> = ack.rtt.map(Span::as_secs_f64),
    delayed: bool = ack.delayed,
    tail_probe: bool = ack.tail_probe,
    unordered_growth: bool = ack.unordered_growth,
    sample: Option<RateSample> = ack.sample.map(RateSample),
}

/// A delivery-rate sample.
#[pyclass(frozen, module = "cwndlab")]
pub struct RateSample(contract::RateSample);

getters! { RateSample(sample):
    rate_bps: u64 = sample.rate().0,
    delivered_bytes: u64 = sample.delivered,
    interval_s: f64 = sample.interval.as_secs_f64(),
    prior_delivered_bytes: u64 = sample.prior_delivered,
    lost_bytes: u64 = sample.lost,
    ce_bytes: u64 = sample.ce,
    in_flight_at_send_bytes: u64 = sample.in_flight_at_send,
    app_limited: bool = sample.app_limited,
}

/// Something that happens at most once a round trip.
#[pyclass(frozen, extends = Facts, module = "cwndlab")]
pub struct Event(contract::Event);

impl Event {
    pub(super) fn of(facts: &contract::Facts, event: contract::Event) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Facts(*facts)).add_subclass(Self(event))
    }
}

#[pymethods]
impl Event {
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0 {
            contract::Event::LossRecovery => intern!(py, "loss-recovery"),
            contract::Event::EcnReduction => intern!(py, "ecn-reduction"),
            contract::Event::Recovered => intern!(py, "recovered"),
            contract::Event::Timeout => intern!(py, "timeout"),
            contract::Event::Undo => intern!(py, "undo"),
            contract::Event::IdleRestart(_) => intern!(py, "idle-restart"),
        }
    }

    #[getter]
    fn idle_s(&self) -> Option<f64> {
        match self.0 {
            contract::Event::IdleRestart(idle) => Some(idle.as_secs_f64()),
            _ => None,
        }
    }
}

/// Data that have just been sent.
#[pyclass(frozen, extends = Facts, module = "cwndlab")]
pub struct Sent(u64);

impl Sent {
    pub(super) fn of(facts: &contract::Facts, bytes: u64) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Facts(*facts)).add_subclass(Self(bytes))
    }
}

#[pymethods]
impl Sent {
    #[getter]
    fn sent_bytes(&self) -> u64 {
        self.0
    }
}

/// A packet that has just been marked lost.
#[pyclass(frozen, extends = Facts, module = "cwndlab")]
pub struct Lost(contract::Lost);

impl Lost {
    pub(super) fn of(facts: &contract::Facts, lost: &contract::Lost) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Facts(*facts)).add_subclass(Self(*lost))
    }
}

getters! { Lost(lost):
    lost_bytes: u64 = lost.bytes,
    in_flight_at_send_bytes: u64 = lost.in_flight_at_send,
    prior_delivered_bytes: u64 = lost.prior_delivered,
    prior_lost_bytes: u64 = lost.prior_lost,
    lost_total_bytes: u64 = lost.lost_total,
    app_limited: bool = lost.app_limited,
}

/// The settings that a controller is created with.
#[pyclass(frozen, module = "cwndlab")]
pub struct Setup {
    #[pyo3(get)]
    mss_bytes: u64,
    #[pyo3(get)]
    initial_window_bytes: u64,
    /// `None` if there is none.
    #[pyo3(get)]
    initial_ssthresh_bytes: Option<u64>,
    #[pyo3(get)]
    paced: bool,
    #[pyo3(get)]
    random: Py<Random>,
}

impl Setup {
    pub(super) fn of(setup: &cwndlab_cc::Setup, random: Py<Random>) -> Self {
        let cwndlab_cc::Setup { mss, initial_window, initial_ssthresh, paced } = *setup;
        Self {
            mss_bytes: mss,
            initial_window_bytes: initial_window,
            initial_ssthresh_bytes: (initial_ssthresh < u64::MAX).then_some(initial_ssthresh),
            paced,
            random,
        }
    }
}

/// The flow's own random stream, lent for the duration of a callback.
#[pyclass(frozen, module = "cwndlab")]
#[derive(Default)]
pub struct Random(Mutex<Option<Rng>>);

impl Random {
    /// Replaces the stream that is lent; returns the one before.
    pub(super) fn swap(&self, rng: Option<Rng>) -> Option<Rng> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), rng)
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> PyResult<T> {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outside =
            || PyRuntimeError::new_err("a flow's random stream can only be used during its callbacks");
        rng.as_mut().map(draw).ok_or_else(outside)
    }
}

#[pymethods]
impl Random {
    /// A number from 0 up to, but not including, 1.
    fn uniform(&self) -> PyResult<f64> {
        self.draw(Rng::uniform)
    }

    /// A whole number from 0 up to, but not including, n.
    fn below(&self, n: u64) -> PyResult<u64> {
        self.draw(|rng| rng.below(n))
    }

    /// An exponentially distributed number with mean 1.
    fn exponential(&self) -> PyResult<f64> {
        self.draw(Rng::exponential)
    }
}
