//! Compares learning with PyTorch's, step by step: its numbers are in tests/golden/pytorch.txt, written by
//! the script beside that file.

use super::*;
use crate::net::tests::{Sequence, network};

const GOLDEN: &str = include_str!("../../tests/golden/pytorch.txt");
const BATCH: usize = 32;

/// One case of the golden file: its lines, each split into words.
struct Case<'a>(Vec<Vec<&'a str>>);

impl Case<'_> {
    fn named(name: &str) -> Case<'static> {
        let begin = format!("case {name}");
        let lines = GOLDEN.lines().skip_while(|line| *line != begin).skip(1);
        Case(lines.take_while(|l| !l.starts_with("case")).map(|l| l.split(' ').collect()).collect())
    }

    /// Loss and sum of the squared weights after this step, if the file has them.
    fn step(&self, step: u64) -> Option<(f64, f64)> {
        let line = self.0.iter().find(|line| line[0] == "step" && line[1] == step.to_string())?;
        Some((line[2].parse().unwrap(), line[3].parse().unwrap()))
    }

    fn outputs(&self) -> Vec<f64> {
        let line = self.0.iter().find(|line| line[0] == "outputs").unwrap();
        line[1..].iter().map(|value| value.parse().unwrap()).collect()
    }
}

fn close(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    assert!((ours - theirs).abs() <= tolerance * theirs.abs().max(0.1), "{what}: {ours}, PyTorch {theirs}");
}

fn experiences(sequence: &mut Sequence, sizes: &[usize]) -> Replay {
    let (inputs, actions) = (sizes[0], sizes[sizes.len() - 1] as f32);
    let (states, after) = (sequence.take(BATCH * inputs), sequence.take(BATCH * inputs));
    let taken = sequence.take(BATCH);
    let rewards = sequence.take(BATCH);
    let mut replay = Replay::new(inputs, BATCH);
    for n in 0..BATCH {
        let (state, next_state) = (&states[n * inputs..][..inputs], &after[n * inputs..][..inputs]);
        let action = ((taken[n] + 0.5) * actions) as u32;
        replay.push(&Experience { state, action, reward: 4.0 * rewards[n], next_state });
    }
    replay
}

fn agrees(name: &str, sizes: &[usize], loss: Loss, double: bool, dropout: bool) {
    let case = Case::named(name);
    let config = DqnConfig {
        discount: 0.9,
        learning_rate: 1e-3,
        batch: BATCH,
        replay_capacity: BATCH,
        warmup: 0,
        target_sync: 20,
        dropout: if dropout { 0.1 } else { 0.0 },
        dropout_acting: false,
        loss,
        double,
        epsilon: 0.0,
        epsilon_decay: 0,
    };
    let mut dqn = Dqn::new(config.clone(), network(sizes, 1), false, Rng::named(1, "unused"));
    dqn.school.drawn = (0..BATCH).collect();
    let mut sequence = Sequence::new(2);
    for step in 1..=60 {
        let replay = experiences(&mut sequence, sizes);
        let mask = |values: &mut [f32]| {
            if dropout {
                values
                    .iter_mut()
                    .for_each(|value| *value *= if sequence.next() >= -0.4 { 1.0 / 0.9 } else { 0.0 });
            }
        };
        dqn.school.step(&mut dqn.online, &replay, &config, mask);
        if let Some((loss, norm)) = case.step(step) {
            close(f64::from(dqn.last().unwrap().loss), loss, 2e-5, &format!("{name}, loss of step {step}"));
            close(squares(dqn.network()), norm, 1e-6, &format!("{name}, weights after step {step}"));
        }
    }
    let outputs = dqn.evaluation.outputs(&dqn.online, &Sequence::new(3).take(sizes[0])).to_vec();
    for (ours, theirs) in outputs.into_iter().zip(case.outputs()) {
        close(f64::from(ours), theirs, 2e-3, &format!("{name}, outputs"));
    }
}

fn squares(mlp: &Mlp) -> f64 {
    let all = (0..mlp.layers()).map(|layer| mlp.weights(layer)).flat_map(|(w, b)| w.into_iter().chain(b));
    all.map(|weight| f64::from(weight) * f64::from(weight)).sum()
}

const SMALL: &[usize] = &[3, 8, 8, 2];
const NEWRENO: &[usize] = &[3, 30, 30, 30, 7];
const CUBIC: &[usize] = &[5, 50, 50, 50, 50, 50, 4];

#[test]
fn sixty_steps() {
    agrees("small mse", SMALL, Loss::Mse, false, false);
    agrees("small huber double", SMALL, Loss::Huber, true, false);
    agrees("newreno mse dropout", NEWRENO, Loss::Mse, false, true);
    agrees("cubic mse dropout", CUBIC, Loss::Mse, false, true);
    agrees("cubic huber double", CUBIC, Loss::Huber, true, false);
}
