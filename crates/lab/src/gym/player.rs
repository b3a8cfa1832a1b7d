//! One environment: episode after episode, each with a seed of its own.

use super::{Course, Episode, Info, Step};
use crate::Scenario;
use cwndlab_cc::{Rng, Spaces};
use std::sync::Arc;

/// The random numbers that seeds of episodes are.
const STREAM: &str = "episodes";

/// Plays the episodes of a course, for one agent or several.
pub struct Player {
    course: Arc<Course>,
    /// The seeds of the episodes that are reset without one, and the seed that decides them.
    seeds: Rng,
    first: u64,
    seed: u64,
    playing: Option<Playing>,
    observation: Vec<f32>,
}

/// An episode under way, or at its end.
struct Playing {
    scenario: Arc<Scenario>,
    episode: Episode,
    /// What was done in it, a byte each.
    actions: Vec<u8>,
    /// The end has been reported.
    over: bool,
}

/// Where a player stands. Another player of the same course that goes there gives the same bits from then on.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The seed that decides the episodes that are reset without one.
    pub first: u64,
    /// How many of those it has drawn.
    pub drawn: u64,
    /// The seed of the episode.
    pub seed: u64,
    /// The episode, if there is one.
    pub played: Option<Played>,
}

/// What was done in an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The actions.
    pub actions: Vec<u8>,
    /// What was seen last.
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

    /// What was done in the episode.
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

    /// Begins an episode and runs it to its first decision. A seed decides it and all that follow. There is nothing to
    /// reward yet, and the next step reports an end that came before the first decision.
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

    /// Lets the episodes to come have the seeds of another player: one that began with `first` and has drawn this many.
    pub(super) fn follow(&mut self, first: u64, drawn: u64) {
        self.first = first;
        self.seeds = Rng::named(first, STREAM).after(drawn);
    }

    /// Lets the agent whose turn it is act, and runs to the next decision: what it led to, and what the flow of the
    /// agent whose turn it is then did since its last one.
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

    /// Where it stands.
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

    /// Goes where another player stood, by playing its episode again: what its last step led to.
    ///
    /// # Errors
    /// The episode does not repeat itself, or the run failed.
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

    /// Ends the episode, and gives its measures as JSON.
    ///
    /// # Errors
    /// There is none, its run has failed, or it is a kernel's and not over.
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
