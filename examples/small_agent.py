"""A small agent in one file: linear Q-learning in `cwndlab/Window-v0`, with NumPy alone.

    python examples/small_agent.py [DECISIONS]

It learns on links that are drawn at random, then plays links that it has not seen, beside an agent that acts
at random.
"""

import sys

import gymnasium
import numpy as np

import cwndlab.gym  # tells Gymnasium of the environments

ENVIRONMENT = "cwndlab/Window-v0"
EPSILON, GAMMA, STEP = 0.1, 0.9, 0.02
HELD_OUT = range(10_001, 10_011)


def features(seen: np.ndarray) -> np.ndarray:
    """What tells a full queue from an empty link: RTT over its least, rate over what the window asks for, loss."""
    cwnd, rtt, least, rate, lost = np.maximum(seen, 1e-6)
    asked = cwnd * 1000 * 1448 * 8 / (rtt * 0.1) / 1e8
    stretch = min(rtt / least - 1, 2.0)
    return np.array([1.0, stretch, stretch < 0.1, min(rate / asked, 2.0), lost, min(cwnd, 2.0)])


def learn(decisions: int) -> np.ndarray:
    """Semi-gradient Q-learning with epsilon-greedy actions; one weight an action and feature."""
    chance = np.random.default_rng(1)
    env = gymnasium.make(ENVIRONMENT)
    state = features(env.reset(seed=1)[0])
    weights = np.zeros((int(env.action_space.n), len(state)))
    for _ in range(decisions):
        explores = chance.random() < EPSILON
        action = int(chance.integers(len(weights))) if explores else int(np.argmax(weights @ state))
        seen, reward, terminated, truncated, _ = env.step(action)
        following = features(seen)
        target = reward + GAMMA * (0.0 if terminated else np.max(weights @ following))
        weights[action] += STEP * (target - weights[action] @ state) * state
        state = features(env.reset()[0]) if terminated or truncated else following
    return weights


def play(choose, seeds) -> list[float]:
    """The mean reward of each episode."""
    env = gymnasium.make(ENVIRONMENT)
    means = []
    for seed in seeds:
        (seen, _), rewards, over = env.reset(seed=seed), [], False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(choose(seen))
            rewards.append(reward)
            over = terminated or truncated
        means.append(float(np.mean(rewards)))
    return means


def main(decisions: int) -> None:
    weights = learn(decisions)
    chance = np.random.default_rng(2)
    random = play(lambda _: int(chance.integers(len(weights))), HELD_OUT)
    learned = play(lambda seen: int(np.argmax(weights @ features(seen))), HELD_OUT)
    print(f"{ENVIRONMENT}: mean reward over {len(HELD_OUT)} links that were not learned from")
    print(f"random  {np.mean(random):.3f}")
    print(f"learned {np.mean(learned):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
