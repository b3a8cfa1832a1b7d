//! One environment: episode after episode, each with a seed of its own.

use super::{Course, Episode, Info, Step};
use crate::Scenario;
use cwndlab_cc::{Rng, Spaces};
use std::sync::Arc;

/// The random stream of episode seeds.
const STREAM: &str = "episodes";

/// Plays the episodes of a course, for one agent or several.
pub struct Player {
    course: Arc<Course>,
    /// Draws the seeds of episodes that are reset without one; `first` is the seed of this stream.
    seeds: Rng,
    first: u64,
    seed: u64,
    playing: Option<Playing>,
    observation: Vec<f32>,
}

/// An episode in progress or at its end.
struct Playing {
    scenario: Arc<Scenario>,
    episode: Episode,
    /// The actions taken in it, a byte each.
    actions: Vec<u8>,
    /// Whether the end has been reported.
    over: bool,
}

/// The state of a player. Another player of the same course that goes there continues bit for bit the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The seed of the stream from which later episode seeds are drawn.
    pub first: u64,
    /// How many episode seeds it has drawn.
    pub drawn: u64,
    /// The seed of the current episode.
    pub seed: u64,
    /// The current episode, if there is one.
    pub played: Option<Played>,
}

/// The course of an episode so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The actions taken.
    pub actions: Vec<u8>,
    /// The last observation.
    pub observation: Vec<f32>,
}

const NO_EPISODE: &str = "there is no episode yet: call reset";

impl Player {
    /// A player whose first episode is still to come.
    #[must_use]
    pub fn new(course: Arc<Course>) -> Self {
        let Spaces { observation, .. } = course.spaces().unwrap_or_default();
        let seeds = Rng::named(0, STREAM);
        Self { course, seeds, first: 0, seed: 0, playing: None, observation: vec![0.0; observation] }
    }

    /// The course.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// The seed of the current episode.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The last observation of the agent whose turn it is.
    #[must_use]
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// The actions taken in the episode.
    #[must_use]
    pub fn actions(&self) -> &[u8] {
        self.playing.as_ref().map_or(&[], |playing| &playing.actions)
    }

    /// The link of the episode, as [`Course::link`] returns it.
    ///
    /// # Errors
    /// There is no episode.
    pub fn link(&self) -> Result<Vec<(&'static str, f64)>, String> {
        self.course.link(&self.playing.as_ref().ok_or(NO_EPISODE)?.scenario)
    }

    /// Begins an episode and runs it to its first decision. A given seed determines this episode and all that
    /// follow. The reward is 0, and if the episode ends before its first decision, the next step reports that.
    ///
    /// # Errors
    /// Its scenario has mistakes, or the run failed.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(Step, Info), String> {
        if let Some(seed) = seed {
            self.follow(seed, 0);
        }
        self.seed = seed.unwrap_or_else(|| self.seeds.bits());
        self.observation.fill(0.0);
        self.playing = None;
        let scenario = self.course.scenario(self.seed)?;
        let mut episode = self.course.begin(&scenario, self.seed)?;
        episode.advance().map_err(|failure| failure.to_string())?;
        let step = episode.observe(&mut self.observation);
        let info = episode.info(step.agent);
        self.playing = Some(Playing { scenario, episode, actions: Vec::new(), over: false });
        Ok((Step { reward: 0.0, end: None, ..step }, info))
    }

    /// Makes later episodes use the seeds of a player that began with `first` and has drawn `drawn` of them.
    pub(super) fn follow(&mut self, first: u64, drawn: u64) {
        self.first = first;
        self.seeds = Rng::named(first, STREAM).after(drawn);
    }

    /// Takes the action of the agent whose turn it is and runs to the next decision. Returns the result for
    /// the agent whose turn it is then, and what its flow did since its last decision.
    ///
    /// # Errors
    /// There is no episode, it is over, or the run failed.
    pub fn step(&mut self, action: u32) -> Result<(Step, Info), String> {
        let Playing { episode, actions, over, .. } = self.playing.as_mut().ok_or(NO_EPISODE)?;
        if *over {
            return Err("the episode is over: call reset".to_owned());
        }
        actions.push(u8::try_from(action).map_err(|_| format!("there is no action {action}"))?);
        // An episode may end before its first decision.
        if episode.end().is_none() {
            episode.act(action);
            if let Err(failure) = episode.advance() {
                self.playing = None;
                return Err(failure.to_string());
            }
        }
        *over = episode.end().is_some();
        let step = episode.observe(&mut self.observation);
        Ok((step, episode.info(step.agent)))
    }

    /// Its current state.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let played = |playing: &Playing| Played {
            actions: playing.actions.clone(),
            observation: self.observation.clone(),
        };
        Mark {
            first: self.first,
            drawn: self.seeds.drawn(),
            seed: self.seed,
            played: self.playing.as_ref().map(played),
        }
    }

    /// Brings it to another player's state by replaying that episode; returns the result of the last step.
    ///
    /// # Errors
    /// The episode cannot be reproduced, or the run failed.
    pub fn go_to(&mut self, mark: &Mark) -> Result<Option<(Step, Info)>, String> {
        let last = mark.played.as_ref().map(|played| self.play_again(mark.seed, played)).transpose()?;
        self.follow(mark.first, mark.drawn);
        self.seed = mark.seed;
        Ok(last)
    }

    fn play_again(&mut self, seed: u64, played: &Played) -> Result<(Step, Info), String> {
        let mut last = self.reset(Some(seed))?;
        for action in &played.actions {
            last = self.step(u32::from(*action))?;
        }
        let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        if bits(&self.observation) != bits(&played.observation) {
            return Err(format!(
                "the episode with seed {seed} does not repeat itself: the simulator or the kernel has another version, or a \
                 controller depends on more than its facts"
            ));
        }
        Ok(last)
    }

    /// The episode.
    pub fn episode(&mut self) -> Option<&mut Episode> {
        self.playing.as_mut().map(|playing| &mut playing.episode)
    }

    /// Ends the episode and returns its measures as JSON.
    ///
    /// # Errors
    /// There is no episode, its run has failed, or it runs in a kernel and is not over.
    pub fn finish(&mut self) -> Result<String, String> {
        let playing = self.playing.take_if(|playing| playing.episode.is_measured());
        match (playing, &self.playing) {
            (Some(playing), _) => playing.episode.measures(&playing.scenario),
            (None, Some(_)) => Err("the episode is not over: Linux measures the whole run".to_owned()),
            (None, None) => Err(NO_EPISODE.to_owned()),
        }
    }

    /// Ends the episode, if there is one.
    pub fn close(&mut self) {
        self.playing = None;
    }
}
