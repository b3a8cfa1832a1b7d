//! Many environments that step together, on several threads.

use super::{Course, Info, Player, Step};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

/// One environment of a fleet, and what its last step led to.
struct Place {
    player: Player,
    step: Result<Step, String>,
    info: Info,
}

/// Steps all of its environments at once. One whose episode is over begins a new one at the next step, whatever its
/// action (Gymnasium's `NEXT_STEP`).
pub struct Fleet {
    places: Vec<Place>,
    threads: usize,
}

/// What one environment tells after a step.
pub struct Told<'a> {
    /// What is seen.
    pub observation: &'a [f32],
    /// What the step led to.
    pub step: Step,
    /// What the flow did.
    pub info: Info,
}

impl Fleet {
    /// So many environments of one course, on so many threads; on all cores if that is not said.
    #[must_use]
    pub fn new(course: &Arc<Course>, observation_len: usize, count: usize, threads: Option<usize>) -> Self {
        let place = || Place {
            player: Player::new(course.clone(), observation_len),
            step: Err("there is no episode yet: call reset".to_owned()),
            info: Info::default(),
        };
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { places: (0..count).map(|_| place()).collect(), threads: threads.unwrap_or_else(cores) }
    }

    /// Begins an episode in each, with these seeds.
    ///
    /// # Errors
    /// A run failed.
    pub fn reset(&mut self, seeds: &[Option<u64>]) -> Result<(), String> {
        self.each(|n, place| place.reset(seeds.get(n).copied().flatten()))
    }

    /// Steps each with its action.
    ///
    /// # Errors
    /// A run failed.
    pub fn step(&mut self, actions: &[u32]) -> Result<(), String> {
        self.each(|n, place| match &place.step {
            Ok(step) if step.end.is_some() => place.reset(None),
            Ok(_) => place.act(actions.get(n).copied().unwrap_or_default()),
            Err(_) => {}
        })
    }

    /// What each tells, in order.
    pub fn told(&self) -> impl Iterator<Item = Told<'_>> {
        self.places.iter().filter_map(|place| {
            let step = *place.step.as_ref().ok()?;
            Some(Told { observation: place.player.observation(), step, info: place.info })
        })
    }

    /// Does this with each, a share of them on each thread; the first error.
    fn each(&mut self, work: impl Fn(usize, &mut Place) + Sync) -> Result<(), String> {
        let share = self.places.len().div_ceil(self.threads.max(1)).max(1);
        let do_share = |first: usize, places: &mut [Place]| {
            places.iter_mut().enumerate().for_each(|(n, place)| work(first + n, place));
        };
        if share >= self.places.len() {
            do_share(0, &mut self.places);
        } else {
            let do_share = &do_share;
            thread::scope(|scope| {
                for (n, places) in self.places.chunks_mut(share).enumerate() {
                    scope.spawn(move || do_share(n * share, places));
                }
            });
        }
        self.places.iter().find_map(|place| place.step.as_ref().err()).map_or(Ok(()), |why| Err(why.clone()))
    }
}

impl Place {
    fn reset(&mut self, seed: Option<u64>) {
        // The reward of a step that only begins an episode is none.
        self.step = self.player.reset(seed).map(|step| Step { reward: 0.0, end: None, ..step });
        self.info = self.player.info(0);
    }

    fn act(&mut self, action: u32) {
        self.step = self.player.step(action);
        self.info = self.player.info(0);
    }
}
