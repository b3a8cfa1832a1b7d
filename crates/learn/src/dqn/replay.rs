//! The ring of experiences that a learner draws its batches from.

/// What an action led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experience<'a> {
    /// The state in which it was taken.
    pub state: &'a [f32],
    /// The action.
    pub action: u32,
    /// The reward.
    pub reward: f32,
    /// The state that followed.
    pub next_state: &'a [f32],
}

/// The last n experiences; the next one takes the place of the oldest.
#[derive(Clone, Debug)]
pub struct Replay {
    pub(super) state_len: usize,
    pub(super) capacity: usize,
    /// Number of experiences ever stored.
    pub(super) made: u64,
    /// For each experience its state and the state that followed.
    pub(super) states: Vec<f32>,
    pub(super) actions: Vec<u32>,
    pub(super) rewards: Vec<f32>,
}

impl Replay {
    /// An empty ring for states of this length.
    #[must_use]
    pub fn new(state_len: usize, capacity: usize) -> Self {
        Self {
            state_len,
            capacity: capacity.max(1),
            made: 0,
            states: Vec::new(),
            actions: Vec::new(),
            rewards: Vec::new(),
        }
    }

    /// How many experiences are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether the ring holds no experience.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// How many experiences were ever stored.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The place in the ring of the experience with this number.
    fn place(&self, number: u64) -> usize {
        (number % self.capacity as u64) as usize
    }

    /// Keeps an experience.
    pub fn push(&mut self, experience: &Experience) {
        let place = self.place(self.made);
        self.made += 1;
        if place == self.len() {
            self.states.extend(experience.state.iter().chain(experience.next_state));
            self.actions.push(experience.action);
            self.rewards.push(experience.reward);
        } else {
            let (before, after) =
                self.states[2 * place * self.state_len..][..2 * self.state_len].split_at_mut(self.state_len);
            before.copy_from_slice(experience.state);
            after.copy_from_slice(experience.next_state);
            self.actions[place] = experience.action;
            self.rewards[place] = experience.reward;
        }
    }

    /// Gives the last n experiences this reward, except those no longer held.
    pub fn reward_again(&mut self, experiences: usize, reward: f32) {
        for back in 1..=experiences.min(self.len()) as u64 {
            let place = self.place(self.made - back);
            self.rewards[place] = reward;
        }
    }

    /// The state in which the action was taken, of the experience in this place.
    #[must_use]
    pub fn state(&self, place: usize) -> &[f32] {
        &self.states[2 * place * self.state_len..][..self.state_len]
    }

    /// The state that followed.
    #[must_use]
    pub fn next_state(&self, place: usize) -> &[f32] {
        &self.states[(2 * place + 1) * self.state_len..][..self.state_len]
    }

    /// The action.
    #[must_use]
    pub fn action(&self, place: usize) -> u32 {
        self.actions[place]
    }

    /// The reward.
    #[must_use]
    pub fn reward(&self, place: usize) -> f32 {
        self.rewards[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(replay: &mut Replay, n: u32) {
        let n_f32 = n as f32;
        replay.push(&Experience {
            state: &[n_f32],
            action: n,
            reward: 10.0 * n_f32,
            next_state: &[n_f32 + 0.5],
        });
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut replay = Replay::new(1, 3);
        assert!(replay.is_empty());
        (0..5).for_each(|n| push(&mut replay, n));
        assert_eq!((replay.len(), replay.made()), (3, 5));
        let mut held: Vec<u32> = (0..3).map(|place| replay.action(place)).collect();
        for place in 0..3 {
            let n = replay.action(place) as f32;
            assert_eq!(replay.state(place), [n]);
            assert_eq!((replay.reward(place), replay.next_state(place)), (10.0 * n, &[n + 0.5][..]));
        }
        held.sort_unstable();
        assert_eq!(held, [2, 3, 4]);
    }

    #[test]
    fn rewards_are_given_again_to_the_last() {
        let mut replay = Replay::new(1, 3);
        (0..5).for_each(|n| push(&mut replay, n));
        replay.reward_again(2, -1.0);
        let reward =
            |n: u32| (0..3).find(|&place| replay.action(place) == n).map(|place| replay.reward(place));
        assert_eq!([2, 3, 4].map(reward), [Some(20.0), Some(-1.0), Some(-1.0)]);
        replay.reward_again(100, 0.0);
        assert!((0..3).all(|place| replay.reward(place) == 0.0));
    }
}
