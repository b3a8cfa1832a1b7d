"""Stable-Baselines3's DQN in `cwndlab/DqnNewReno-v0`; what it learned plays in a scenario file.

pip install 'cwndlab[gym]' stable-baselines3
python examples/sb3_dqn.py [DECISIONS]
cwndlab run scenarios/one-flow.toml --set 'flow.0.cc={ name = "dqn-newreno", policy = "play", weights = "sb3.safetensors", epsilon = 0 }'
"""

import sys

import gymnasium
import numpy as np
from safetensors.torch import save_file
from stable_baselines3 import DQN
from torch import nn

import cwndlab as cl
import cwndlab.gym

ENVIRONMENT = "cwndlab/DqnNewReno-v0"
INPUTS = "ssthresh_segments/1000,cwnd_segments/1000,rtt_ms/100"
WEIGHTS = "sb3.safetensors"


def main(decisions: int) -> None:
    # The network of dqn-newreno: three hidden layers of 30 with ReLU.
    network = {"net_arch": [30, 30, 30], "activation_fn": nn.ReLU}
    env = gymnasium.make(ENVIRONMENT)
    model = DQN("MlpPolicy", env, policy_kwargs=network, learning_starts=1000, gamma=0.9, seed=1)
    model.learn(decisions)

    save_file(model.q_net.q_net.state_dict(), WEIGHTS, metadata={"inputs": INPUTS})
    print(f"{WEIGHTS} holds what it learned")

    # The same network, by Stable-Baselines3 in the environment and by cwndlab in a run, on the same link.
    link = {
        "duration": "20 s",
        "link": [{"name": "bottleneck", "rate": "20 Mbit/s", "delay": "20 ms"}],
        "flow": [{"name": "a", "cc": "dqn-newreno", "path": ["bottleneck"]}],
    }
    pinned = gymnasium.make(ENVIRONMENT, scenario=link).unwrapped
    seen, _ = pinned.reset(seed=1)
    over = False
    while not over:
        action, _ = model.predict(seen, deterministic=True)
        seen, _, terminated, truncated, _ = pinned.step(int(action))
        over = terminated or truncated
    outside = pinned.outcome()["flows"][0]["goodput_mbps"]
    settings = f'{{ name = "dqn-newreno", policy = "play", epsilon = 0, weights = "{WEIGHTS}" }}'
    inside = cl.run(link, seeds=1, overrides={"flow.0.cc": settings}).flows["goodput_mbps"][0]
    print(f"goodput in Mbit/s: {outside:.3f} steered from outside, {inside:.3f} played in a run")
    assert np.isclose(outside, inside)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
