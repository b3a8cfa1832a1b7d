//! Many environments that step together, on several threads.

use super::{Course, Info, Mark, Player, Step};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

/// One environment of a fleet, and the result of its last step, if there was one.
struct Member {
    player: Player,
    last: Option<Result<(Step, Info), String>>,
}

/// Steps all of its environments at once. An environment whose episode is over begins a new one at the next
/// step and ignores that action (Gymnasium's `NEXT_STEP`).
pub struct Fleet {
    members: Vec<Member>,
    threads: usize,
}

/// What one environment returns after a step.
pub struct StepResult<'a> {
    /// The observation.
    pub observation: &'a [f32],
    /// The result of the step.
    pub step: Step,
    /// What the flow did.
    pub info: Info,
}

impl Fleet {
    /// Makes `count` environments of one course, on `threads` threads; by default one thread per core.
    #[must_use]
    pub fn new(course: &Arc<Course>, count: usize, threads: Option<usize>) -> Self {
        let member = || Member { player: Player::new(course.clone()), last: None };
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { members: (0..count).map(|_| member()).collect(), threads: threads.unwrap_or_else(cores) }
    }

    /// Begins an episode in each environment, with these seeds.
    ///
    /// # Errors
    /// A run failed.
    pub fn reset(&mut self, seeds: &[Option<u64>]) -> Result<(), String> {
        self.each(|n, member| member.last = Some(member.player.reset(seeds.get(n).copied().flatten())))
    }

    /// Steps each environment with its action.
    ///
    /// # Errors
    /// A run failed.
    pub fn step(&mut self, actions: &[u32]) -> Result<(), String> {
        self.each(|n, member| match &member.last {
            Some(Ok((step, _))) if step.end.is_some() => member.last = Some(member.player.reset(None)),
            Some(Err(_)) => {}
            _ => member.last = Some(member.player.step(actions.get(n).copied().unwrap_or_default())),
        })
    }

    /// Ends the episodes.
    pub fn close(&mut self) {
        for member in &mut self.members {
            member.player.close();
            member.last = None;
        }
    }

    /// The state of each environment.
    #[must_use]
    pub fn marks(&self) -> Vec<Mark> {
        self.members.iter().map(|member| member.player.mark()).collect()
    }

    /// Brings each environment to the state of one of another fleet, as [`Player::go_to`] does.
    ///
    /// # Errors
    /// An episode cannot be reproduced, or a run failed.
    pub fn go_to(&mut self, marks: &[Mark]) -> Result<(), String> {
        self.each(|n, member| {
            member.last = marks.get(n).and_then(|mark| member.player.go_to(mark).transpose())
        })
    }

    /// The results of all environments, in order.
    pub fn results(&self) -> impl Iterator<Item = StepResult<'_>> {
        self.members.iter().filter_map(|member| {
            let (step, info) = *member.last.as_ref()?.as_ref().ok()?;
            Some(StepResult { observation: member.player.observation(), step, info })
        })
    }

    /// Does `work` on each environment, divided among the threads; returns the first error.
    fn each(&mut self, work: impl Fn(usize, &mut Member) + Sync) -> Result<(), String> {
        let share = self.members.len().div_ceil(self.threads.max(1)).max(1);
        let do_share = |first: usize, members: &mut [Member]| {
            members.iter_mut().enumerate().for_each(|(n, member)| work(first + n, member));
        };
        if share >= self.members.len() {
            do_share(0, &mut self.members);
        } else {
            let do_share = &do_share;
            thread::scope(|scope| {
                for (n, members) in self.members.chunks_mut(share).enumerate() {
                    scope.spawn(move || do_share(n * share, members));
                }
            });
        }
        let failed = self.members.iter().find_map(|member| member.last.as_ref()?.as_ref().err());
        failed.map_or(Ok(()), |why| Err(why.clone()))
    }
}
