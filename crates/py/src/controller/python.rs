//! A controller written in Python. The interpreter's lock is held for a callback, and no longer.

use super::facts::{Ack, Event, Facts, Lost, Random, Sent};
use super::values;
use cwndlab_cc::{
    CongestionControl, Context, Control, Decision, Declaration, Needs, Rate, Span, Time, break_off, contract,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyClass, intern};
use std::sync::Arc;

/// The send quantum of a paced controller that does not set one: a millisecond's worth, at least two
/// segments, as in Linux (sk_pacing_shift).
const SEND_QUANTUM: Span = Span::from_millis(1);

/// What the controllers of one class have in common.
pub(super) struct ControllerClass {
    pub(super) declares: Declaration,
    pub(super) has_timer: bool,
    /// The declaration: it makes controllers, and describes their errors.
    pub(super) declared: Py<PyAny>,
}

impl ControllerClass {
    /// Ends the run with Python's description of an error in this method.
    pub(super) fn break_off(&self, py: Python<'_>, method: &str, error: &PyErr) -> ! {
        // With its traceback, which the value alone does not have in every version of Python.
        let value = error.clone_ref(py).into_value(py);
        let told = self.declared.call_method1(py, "told", (value, method));
        break_off(match told.and_then(|told| told.extract::<String>(py)) {
            Ok(told) => told,
            Err(_) => error.to_string(),
        })
    }
}

/// One flow's controller.
pub(super) struct PythonController {
    class: Arc<ControllerClass>,
    instance: Py<PyAny>,
    /// Bound once: it is called for every ACK.
    on_ack: Py<PyAny>,
    random: Py<Random>,
    mss: u64,
    control: Control,
    timer: Option<Time>,
}

impl PythonController {
    /// Wraps an object that has just been made.
    pub(super) fn of(
        class: Arc<ControllerClass>,
        instance: Bound<'_, PyAny>,
        mss: u64,
        random: Py<Random>,
    ) -> PyResult<Self> {
        let on_ack = instance.getattr(intern!(instance.py(), "on_ack"))?.unbind();
        let (instance, control) = (instance.unbind(), Control::window(0));
        let mut made = Self { class, instance, on_ack, random, mss, control, timer: None };
        Python::attach(|py| made.read_decision(py))?;
        Ok(made)
    }

    /// Calls a method with the object that describes the event, and reads the decision.
    fn call<T: PyClass>(
        &mut self,
        cx: &mut Context,
        method: &'static str,
        what: impl Into<PyClassInitializer<T>>,
    ) {
        let what = what.into();
        Python::attach(|py| {
            let function = match method {
                "on_ack" => Ok(self.on_ack.bind(py).clone()),
                _ => self.instance.bind(py).getattr(method),
            };
            let call = || function?.call1((Py::new(py, what)?,));
            let done = self.lending(cx, call).and_then(|answer| {
                refuse_answer(&answer)?;
                self.read_decision(py)
            });
            if let Err(error) = done {
                self.class.break_off(py, method, &error);
            }
        });
    }

    /// Calls a function while the flow's random stream is lent to Python.
    fn lending<T>(&self, cx: &mut Context, call: impl FnOnce() -> T) -> T {
        let random = self.random.get();
        random.swap(Some(cx.rng.clone()));
        let answer = call();
        if let Some(rng) = random.swap(None) {
            *cx.rng = rng;
        }
        answer
    }

    fn read_decision(&mut self, py: Python<'_>) -> PyResult<()> {
        let instance = self.instance.bind(py);
        self.control = Control::window(values::whole(instance, intern!(py, "cwnd_bytes"), 0)?);
        if let Some(rate) = values::optional(instance, intern!(py, "pacing_rate_bps"), 1)? {
            let rate = Rate(rate);
            let own = values::optional(instance, intern!(py, "send_quantum_bytes"), 0)?;
            let send_quantum = own.unwrap_or_else(|| rate.bytes_in(SEND_QUANTUM).max(2 * self.mss));
            self.control = Control { pacing_rate: Some(rate), send_quantum, ..self.control };
        }
        if self.class.has_timer {
            self.timer = values::moment(instance, intern!(py, "next_timer_s"))?;
        }
        Ok(())
    }

    /// A timer that is not set again would expire at once, for ever.
    fn refuse_timer_of_the_past(&self, now: Time) {
        if self.timer.is_some_and(|timer| timer <= now) {
            Python::attach(|py| {
                let message = "self.next_timer_s must be later than now_s; set it again, or to None";
                self.class.break_off(py, "on_timer", &PyValueError::new_err(message));
            });
        }
    }
}

/// A controller decides by its attributes. A returned value would have no effect, so it is refused.
fn refuse_answer(answer: &Bound<'_, PyAny>) -> PyResult<()> {
    if answer.is_none() {
        return Ok(());
    }
    let message = format!("returned {}; a controller decides by setting self.cwnd_bytes", answer.repr()?);
    Err(PyValueError::new_err(message))
}

impl CongestionControl for PythonController {
    fn needs(&self) -> Needs {
        self.class.declares.needs
    }

    fn control(&self) -> Control {
        self.control
    }

    fn on_sent(&mut self, cx: &mut Context, bytes: u64) {
        let sent = Sent::of(cx.facts, bytes);
        self.call(cx, "on_sent", sent);
    }

    fn on_lost(&mut self, cx: &mut Context, lost: &contract::Lost) {
        let lost = Lost::of(cx.facts, lost);
        self.call(cx, "on_lost", lost);
    }

    fn on_event(&mut self, cx: &mut Context, event: contract::Event) {
        let event = Event::of(cx.facts, event);
        self.call(cx, "on_event", event);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &contract::Ack) -> Decision {
        let ack = Ack::of(cx.facts, ack);
        self.call(cx, "on_ack", ack);
        Decision::NotDue
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        let now = cx.facts.now;
        let facts = Facts(*cx.facts);
        self.call(cx, "on_timer", facts);
        self.refuse_timer_of_the_past(now);
        Decision::NotDue
    }

    fn probes(&self) -> &'static [&'static str] {
        self.class.declares.probes
    }

    fn probe(&self, out: &mut [f64]) {
        if self.class.declares.probes.is_empty() {
            return;
        }
        Python::attach(|py| {
            let instance = self.instance.bind(py);
            for (name, value) in self.class.declares.probes.iter().zip(out) {
                match values::probe(instance, &PyString::intern(py, name)) {
                    Ok(read) => *value = read,
                    Err(error) => self.class.break_off(py, "probes", &error),
                }
            }
        });
    }
}
