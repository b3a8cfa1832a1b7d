//! A window that an agent steers: it decides once per window of acknowledged data, outside (the run is suspended) or
//! inside (`on_ack` asks the same policy itself and returns its action).

use cwndlab_cc::{Ack, Agent, CongestionControl, Context, Control, Decision, Event, Setup, Time};
use std::sync::{Arc, Mutex};

/// What an action does to the window, in segments.
pub const STEPS: [i64; 3] = [-1, 0, 1];

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pilot {
    Outside,
    Inside,
}

/// What a test may see of a controller that has gone into a simulation: when it asked, and when it was steered.
#[derive(Debug, Default)]
pub struct Log {
    pub asked: Vec<Time>,
    /// The windows from which `control` was read first after an action: (time of the callback before, segments).
    pub acted: Vec<u32>,
    /// The window in force at each ACK, in segments.
    pub windows: Vec<(Time, u64)>,
}

/// A policy that depends on the whole observation, so that any difference in it would show.
pub fn policy(observation: &[f32]) -> u32 {
    let bits = observation.iter().fold(0u32, |hash, value| hash.rotate_left(5) ^ value.to_bits());
    let draw = bits.wrapping_mul(0x9E37_79B9) >> 16;
    // Up as long as the RTT is near its minimum, so that something happens.
    if observation[1] < 1.1 * observation[2] { 2 } else { draw % 3 }
}

pub struct Steered {
    mss: u64,
    cwnd: u64,
    pilot: Pilot,
    seen: View,
    log: Arc<Mutex<Log>>,
}

/// The side that an agent sees: window, latest and least RTT, and a reward.
#[derive(Default)]
struct View {
    state: [f32; 3],
    reward: f32,
    /// Acknowledged since the last decision.
    acked: u64,
}

impl Steered {
    pub fn new(setup: &Setup, pilot: Pilot, log: Arc<Mutex<Log>>) -> Self {
        Self { mss: setup.mss, cwnd: setup.initial_window, pilot, seen: View::default(), log }
    }
}

impl CongestionControl for Steered {
    fn control(&self) -> Control {
        Control::window(self.cwnd)
    }

    fn on_event(&mut self, _cx: &mut Context, event: Event) {
        match event {
            Event::LossRecovery => self.cwnd = (self.cwnd / 2).max(2 * self.mss),
            Event::Timeout => self.cwnd = self.mss,
            _ => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.seen.acked += ack.acked;
        self.log.lock().unwrap().windows.push((cx.facts.now, self.cwnd / self.mss));
        if self.seen.acked < self.cwnd {
            return Decision::NotDue;
        }
        let rtt = cx.facts.rtt;
        self.seen.state = [
            (self.cwnd / self.mss) as f32,
            rtt.latest.as_millis_f64() as f32,
            rtt.minimum.as_millis_f64() as f32,
        ];
        self.seen.reward = self.seen.acked as f32;
        self.seen.acked = 0;
        self.log.lock().unwrap().asked.push(cx.facts.now);
        match self.pilot {
            Pilot::Outside => Decision::Due,
            Pilot::Inside => {
                let mut observation = [0.0; 3];
                self.observe(&mut observation);
                Decision::Made(policy(&observation))
            }
        }
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }
}

impl Agent for Steered {
    fn observation_len(&self) -> usize {
        self.seen.state.len()
    }

    fn actions(&self) -> u32 {
        STEPS.len() as u32
    }

    fn observe(&mut self, observation: &mut [f32]) -> f32 {
        observation.copy_from_slice(&self.seen.state);
        self.seen.reward
    }

    fn act(&mut self, action: u32) {
        let step = STEPS[(action as usize).min(STEPS.len() - 1)];
        self.cwnd = self.cwnd.saturating_add_signed(step * self.mss as i64).max(self.mss);
        self.log.lock().unwrap().acted.push(action);
    }
}
