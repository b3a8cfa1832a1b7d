use super::*;

fn config() -> DqnConfig {
    DqnConfig {
        discount: 0.9,
        learning_rate: 1e-2,
        batch: 32,
        replay_capacity: 500,
        warmup: 50,
        target_sync: 20,
        dropout: 0.0,
        dropout_acting: false,
        loss: Loss::Mse,
        double: false,
        epsilon: 0.1,
        epsilon_decay: 0,
    }
}

fn learner(config: DqnConfig, seed: u64) -> Dqn {
    let mut rng = Rng::named(seed, "learner");
    let weights = Mlp::random(&[1, 16, 3], &mut rng);
    Dqn::new(config, weights, true, rng)
}

/// A walk over four places, starting at the left; a step beyond the right end is rewarded and leads back to
/// the left end.
fn walk(dqn: &mut Dqn, steps: u32) {
    let mut place = 0i32;
    for _ in 0..steps {
        let state = [place as f32 / 4.0];
        let action = dqn.choose(&state);
        let next = (place + action as i32 - 1).max(0);
        let reward = if next == 4 { 1.0 } else { 0.0 };
        place = next % 4;
        dqn.remember(&Experience { state: &state, action, reward, next_state: &[place as f32 / 4.0] });
        dqn.learn();
    }
}

fn greedy(dqn: &mut Dqn) -> Vec<usize> {
    let network = dqn.network().clone();
    let mut evaluation = Evaluation::new(&network);
    (0..4).map(|place| argmax(evaluation.outputs(&network, &[place as f32 / 4.0]).iter().copied())).collect()
}

#[test]
fn it_learns_where_the_reward_is() {
    let variants = [
        config(),
        DqnConfig { double: true, ..config() },
        DqnConfig { loss: Loss::Huber, ..config() },
        DqnConfig { dropout: 0.05, ..config() },
    ];
    for config in variants {
        let mut dqn = learner(config.clone(), 1);
        walk(&mut dqn, 3000);
        assert_eq!(greedy(&mut dqn), [2; 4], "{config:?}");
        assert!(
            dqn.last().is_some_and(|last| last.loss < 0.05 && last.mean_q > 0.3),
            "{:?} {config:?}",
            dqn.last()
        );
    }
}

/// Computed by hand: Q(s, a) of a network without a hidden layer, for one experience and one step.
#[test]
fn what_is_wanted_of_an_action() {
    let mut weights = Mlp::zero(&[1, 2]);
    weights.set_weights(0, &[1.0, 2.0], &[0.0, 0.5]);
    let wanted = |double: bool, target: [f32; 2]| {
        let config = DqnConfig { double, warmup: 0, batch: 1, ..config() };
        let mut dqn = Dqn::new(config, weights.clone(), false, Rng::named(1, "one"));
        dqn.school.target.set_weights(0, &target, &[0.0, 0.0]);
        dqn.remember(&Experience { state: &[1.0], action: 0, reward: 0.25, next_state: &[2.0] });
        dqn.learn();
        (dqn.school.wanted[0], dqn.last().unwrap())
    };
    // The target network values the next state's actions at 6 and 2; the online network would take the second.
    let (single, learned) = wanted(false, [3.0, 1.0]);
    assert_eq!(single, 0.25 + 0.9 * 6.0);
    assert_eq!(learned.mean_q, 1.0);
    assert!((learned.loss - (1.0 - single) * (1.0 - single)).abs() < 1e-5);
    assert_eq!(wanted(true, [3.0, 1.0]).0, 0.25 + 0.9 * 2.0);
}

#[test]
fn the_target_network_follows_in_its_time() {
    let mut dqn = learner(DqnConfig { warmup: 0, target_sync: 10, ..config() }, 1);
    let first = dqn.school.target.clone();
    walk(&mut dqn, 9);
    assert_eq!(dqn.school.target, first);
    walk(&mut dqn, 1);
    assert_eq!(dqn.school.target, *dqn.network());
    assert_ne!(dqn.school.target, first);
}

#[test]
fn nothing_is_learned_before_the_warm_up_is_over() {
    let mut dqn = learner(config(), 1);
    let first = dqn.network().clone();
    walk(&mut dqn, 49);
    assert_eq!((dqn.network(), dqn.last()), (&first, None));
    walk(&mut dqn, 1);
    assert_ne!(*dqn.network(), first);
}

/// Given weights act at once; only a fresh network waits for its experiences.
#[test]
fn given_weights_act_at_once() {
    let config = DqnConfig { epsilon: 0.0, ..config() };
    let mut weights = Mlp::zero(&[1, 3]);
    weights.set_weights(0, &[0.0, 0.0, 0.0], &[0.0, 1.0, 0.0]);
    let mut given = Dqn::new(config.clone(), weights.clone(), false, Rng::named(1, "x"));
    assert!((0..100).all(|_| given.choose(&[0.3]) == 1));
    let mut fresh = Dqn::new(config, weights, true, Rng::named(1, "x"));
    assert!((0..100).any(|_| fresh.choose(&[0.3]) != 1));
}

#[test]
fn dropout_leaves_its_share_out_and_keeps_the_sum() {
    let mut rng = Rng::named(1, "dropout");
    let mut values = vec![1.0f32; 100_001];
    drop_out(&mut values, 0.1, &mut rng);
    let dropped = values.iter().filter(|value| **value == 0.0).count();
    // Five standard deviations of 95.
    assert!((9525..10475).contains(&dropped), "{dropped}");
    assert!(values.iter().all(|value| *value == 0.0 || *value == (1.0f64 / 0.9) as f32));
    let before = rng.clone().bits();
    let mut untouched = vec![1.0f32; 10];
    drop_out(&mut untouched, 0.0, &mut rng);
    assert!(untouched.iter().all(|value| *value == 1.0));
    assert_eq!(rng.bits(), before, "no number is drawn for nothing");
}

/// One hidden node decides. When it is dropped, in half of all decisions, the actions are equal and the first is taken.
#[test]
fn dropout_leaves_its_share_out_while_acting_if_it_shall() {
    let chosen = |dropout_acting: bool| {
        let mut weights = Mlp::zero(&[1, 1, 2]);
        weights.set_weights(0, &[0.0], &[1.0]);
        weights.set_weights(1, &[0.0, 1.0], &[0.0; 2]);
        let config = DqnConfig { dropout: 0.5, dropout_acting, epsilon: 0.0, ..config() };
        let mut dqn = Dqn::new(config, weights, false, Rng::named(1, "x"));
        (0..1000).filter(|_| dqn.choose(&[0.0]) == 1).count()
    };
    assert_eq!(chosen(false), 1000);
    // Five standard deviations of 16.
    assert!((420..580).contains(&chosen(true)), "{}", chosen(true));
}

#[test]
fn the_same_seed_learns_the_same() {
    let run = |seed| {
        let mut dqn = learner(DqnConfig { dropout: 0.1, ..config() }, seed);
        walk(&mut dqn, 200);
        dqn.network().clone()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Saved during the warm-up, while the ring fills, and after it has wrapped around; the configuration is given again.
#[test]
fn a_learner_taken_up_again_goes_on_as_if_nothing_had_been() {
    let config = DqnConfig { dropout: 0.1, epsilon_decay: 300, ..config() };
    for walked in [10, 200, 700] {
        let mut whole = learner(config.clone(), 1);
        walk(&mut whole, walked);
        let state = whole.state();
        let mut again = learner(config.clone(), 2).restored(state.clone(), Rng::named(1, "learner")).unwrap();
        assert_eq!(again.state(), state);
        walk(&mut whole, 200);
        walk(&mut again, 200);
        assert_eq!(again.state(), whole.state(), "after {walked}");
    }
    let state = learner(config.clone(), 1).state();
    let other = Dqn::new(config, Mlp::zero(&[1, 30, 3]), true, Rng::named(1, "x"));
    assert!(other.restored(state, Rng::named(1, "learner")).is_none(), "another network");
}
