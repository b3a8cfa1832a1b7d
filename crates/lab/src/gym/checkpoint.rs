//! A saved training: a safetensors file with the whole state from which a [`Trainer`](super::Trainer) resumes.

use crate::safetensors::{METADATA, Number, Writer, numbers, split};
use cwndlab_learn::dqn::DqnState;
use serde_json::{Map, Value};

/// The saved state of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Identifies the training: [`Course::identity`](super::Course::identity) and the seed.
    pub training: String,
    /// The learner.
    pub dqn: DqnState,
    /// The seed of the current episode.
    pub episode: u64,
    /// The actions taken in it, so that it can be replayed up to here.
    pub actions: Vec<u32>,
    /// The number of episode seeds drawn so far.
    pub seeds: u64,
}

const TRAINING: &str = "training";
const COUNTERS: &str = "counters";

impl Checkpoint {
    /// Encodes it as a file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let dqn = &self.dqn;
        let mut file = Writer::new(&[(TRAINING, &self.training)]);
        add(&mut file, "online", &dqn.online);
        add(&mut file, "target", &dqn.target);
        add(&mut file, "first_moments", &dqn.first_moments);
        add(&mut file, "second_moments", &dqn.second_moments);
        add(&mut file, "powers", &dqn.powers);
        add(&mut file, "states", &dqn.states);
        add(&mut file, "actions", &dqn.actions);
        add(&mut file, "rewards", &dqn.rewards);
        add(&mut file, "episode_actions", &self.actions);
        let counters = [dqn.steps, dqn.made, dqn.warmup, dqn.decided, dqn.drawn, self.episode, self.seeds];
        add(&mut file, COUNTERS, &counters);
        file.finish()
    }

    /// Decodes a file.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub fn decode(file: &[u8]) -> Result<Self, String> {
        let (header, data) = split(file)?;
        let file = Tensors { header: &header, data };
        let training = header.get(METADATA).and_then(|metadata| metadata.get(TRAINING)?.as_str());
        let counters = file.take::<u64, 8>(COUNTERS)?;
        let [steps, made, warmup, decided, drawn, episode, seeds] = counters[..] else {
            return Err(format!("its tensor `{COUNTERS}`: expected 7 numbers, found {}", counters.len()));
        };
        let powers = file.take::<f64, 8>("powers")?;
        let dqn = DqnState {
            online: file.take("online")?,
            target: file.take("target")?,
            first_moments: file.take("first_moments")?,
            second_moments: file.take("second_moments")?,
            powers: powers.try_into().map_err(|_| "its tensor `powers`: expected two numbers")?,
            states: file.take("states")?,
            actions: file.take("actions")?,
            rewards: file.take("rewards")?,
            steps,
            made,
            warmup,
            decided,
            drawn,
        };
        let actions = file.take("episode_actions")?;
        Ok(Self { training: training.unwrap_or_default().to_owned(), dqn, episode, actions, seeds })
    }
}

fn add<T: Number<B>, const B: usize>(file: &mut Writer, name: &str, values: &[T]) {
    file.add(name, &[values.len()], values);
}

struct Tensors<'a> {
    header: &'a Map<String, Value>,
    data: &'a [u8],
}

impl Tensors<'_> {
    fn take<T: Number<B>, const B: usize>(&self, name: &str) -> Result<Vec<T>, String> {
        let about = self.header.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))?;
        numbers(about, self.data)
            .map(|(_, values)| values)
            .map_err(|why| format!("its tensor `{name}` {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_down_is_taken_up() {
        let dqn = DqnState {
            online: vec![1.5, -2.0],
            powers: [0.9, 0.999],
            actions: vec![3],
            made: u64::MAX,
            drawn: 7,
            ..DqnState::default()
        };
        let training = "a hash".to_owned();
        let checkpoint =
            Checkpoint { training, dqn, episode: 1 << 63, actions: vec![4, 0, u32::MAX], seeds: 2 };
        let file = checkpoint.encode();
        assert_eq!(Checkpoint::decode(&file), Ok(checkpoint));
        assert_eq!(Checkpoint::decode(b"no"), Err("it is not a safetensors file".to_owned()));
        let weights = Writer::new(&[]).finish();
        assert_eq!(Checkpoint::decode(&weights), Err("it has no tensor `counters`".to_owned()));
        for cut in 0..file.len() {
            assert!(Checkpoint::decode(&file[..cut]).is_err(), "cut off at {cut}");
        }
    }
}
