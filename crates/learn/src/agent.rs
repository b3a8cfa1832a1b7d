//! The interface through which a policy steers: one inside the simulation, in Python or in another process.

/// One decision maker: `observe` returns the state and the reward since the last decision, `act` applies an action.
///
/// Training, evaluation and export use the same two functions, so a policy plays exactly as it was trained.
pub trait Agent: Send {
    /// Length of the observation.
    fn observation_len(&self) -> usize;

    /// Number of discrete actions, which are numbered from 0.
    fn actions(&self) -> u32;

    /// Fills `observation` (of [`Agent::observation_len`] values) and returns the reward since the last decision.
    fn observe(&mut self, observation: &mut [f32]) -> f32;

    /// The same at the end of a run, where no decision is due.
    fn observe_end(&mut self, observation: &mut [f32]) -> f32 {
        self.observe(observation)
    }

    /// Applies an action; one that is out of range counts as the one with the highest number.
    fn act(&mut self, action: u32);
}
