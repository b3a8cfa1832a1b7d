//! One environment: episode after episode, each with a seed of its own.

use super::{Course, Episode, Info, Step};
use cwndlab_cc::Rng;
use std::sync::Arc;

/// The random numbers that seeds of episodes are.
const STREAM: &str = "episodes";

/// Plays the episodes of a course, for one agent or several.
pub struct Player {
    course: Arc<Course>,
    /// The seeds of the episodes that are reset without one.
    seeds: Rng,
    seed: u64,
    episode: Option<Episode>,
    observation: Vec<f32>,
    /// The end has been told.
    over: bool,
}

impl Player {
    /// A player whose first episode is still to come.
    #[must_use]
    pub fn new(course: Arc<Course>, observation_len: usize) -> Self {
        let seeds = Rng::named(0, STREAM);
        Self { course, seeds, seed: 0, episode: None, observation: vec![0.0; observation_len], over: false }
    }

    /// The course.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// The seed of the episode.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the agent whose turn it is has seen last.
    #[must_use]
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// Begins an episode and runs it to its first decision. A seed decides it and all that follow.
    ///
    /// # Errors
    /// Its scenario has mistakes, or the run failed.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<Step, String> {
        if let Some(seed) = seed {
            self.seeds = Rng::named(seed, STREAM);
        }
        self.seed = seed.unwrap_or_else(|| self.seeds.bits());
        self.observation.fill(0.0);
        self.over = false;
        let scenario = self.course.scenario(self.seed)?;
        let mut episode = Episode::new(&scenario.spec(self.seed, false), self.course.agents());
        episode.advance().map_err(|failure| failure.to_string())?;
        let step = episode.observe(&mut self.observation);
        self.episode = Some(episode);
        Ok(step)
    }

    /// How many seeds were drawn for episodes that were reset without one.
    #[must_use]
    pub fn seeds_drawn(&self) -> u64 {
        self.seeds.drawn()
    }

    /// Lets the episodes to come have the seeds of another player: one that began with `first`, and has drawn so many.
    pub fn follow(&mut self, first: u64, drawn: u64) {
        self.seeds = Rng::named(first, STREAM).after(drawn);
    }

    /// Lets the agent whose turn it is act, and runs to the next decision.
    ///
    /// # Errors
    /// There is no episode, it is over, or the run failed.
    pub fn step(&mut self, action: u32) -> Result<Step, String> {
        let episode = self.episode.as_mut().ok_or("there is no episode yet: call reset")?;
        if self.over {
            return Err("the episode is over: call reset".to_owned());
        }
        // An episode may end before its first decision.
        if episode.end().is_none() {
            episode.act(action);
            if let Err(failure) = episode.advance() {
                self.episode = None;
                return Err(failure.to_string());
            }
        }
        self.over = episode.end().is_some();
        Ok(episode.observe(&mut self.observation))
    }

    /// What the agent's flow did since its last decision.
    pub fn info(&mut self, agent: usize) -> Info {
        self.episode.as_mut().map(|episode| episode.info(agent)).unwrap_or_default()
    }

    /// The episode.
    pub fn episode(&mut self) -> Option<&mut Episode> {
        self.episode.as_mut()
    }

    /// Ends the episode.
    pub fn take(&mut self) -> Option<Episode> {
        self.episode.take()
    }
}
