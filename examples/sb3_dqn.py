"""Stable-Baselines3's DQN learns in an environment; what it has learned plays in a scenario file.

    .venv/bin/pip install --require-hashes -r requirements/sb3.lock
    python examples/sb3_dqn.py [ENVIRONMENT] [DECISIONS]

It leaves its network as sb3.safetensors. On a link of ours the network is played twice: by Stable-Baselines3 from
outside, decision by decision, and by the simulator from that file. Both give the same run to the bit.
"""

import sys

import gymnasium
import torch
from safetensors.torch import save_file
from stable_baselines3 import DQN
from torch import nn

import cwndlab as cl
import cwndlab.gym  # tells Gymnasium of the environments

ENVIRONMENT, DECISIONS = "cwndlab/Window-v0", 50_000
# The algorithm whose decisions each environment hands out; three hidden layers of 30 is what all but CUBIC's have.
ALGORITHMS = {
    "cwndlab/Window-v0": ("steered", [30] * 3),
    "cwndlab/DqnNewReno-v0": ("dqn-newreno", [30] * 3),
    "cwndlab/DqnCubic-v0": ("dqn-cubic", [50] * 5),
}
WEIGHTS = "sb3.safetensors"
LINK = """
duration = "20 s"
[[link]]
name  = "bottleneck"
rate  = "20 Mbit/s"
delay = "20 ms"
queue = "60 packets"
[[flow]]
name = "learned"
cc   = {cc}
path = ["bottleneck"]
[[flow]]
name = "other"
cc   = "cubic"
path = ["bottleneck"]
"""


def learn(environment: str, decisions: int) -> DQN:
    """All settings but these are the defaults of Stable-Baselines3."""
    layers = ALGORITHMS[environment][1]
    policy = {"net_arch": layers, "activation_fn": nn.ReLU}
    env = gymnasium.make(environment)
    model = DQN("MlpPolicy", env, gamma=0.9, learning_starts=2000, policy_kwargs=policy, seed=1)
    return model.learn(decisions)


def keep(model: DQN, environment: str) -> None:
    """The network that was learned, without the target network beside it, and what it takes in."""
    inputs = gymnasium.make(environment).unwrapped.inputs
    save_file(model.q_net.state_dict(), WEIGHTS, metadata={"inputs": inputs})


def outside(model: DQN, environment: str) -> dict:
    """What is measured if Stable-Baselines3 decides."""
    algorithm = ALGORITHMS[environment][0]
    scenario = LINK.format(cc=f'"{algorithm}"')
    env = gymnasium.make(environment, scenario=scenario, flow="learned").unwrapped
    (seen, _), over = env.reset(seed=1), False
    while not over:
        action, _ = model.predict(seen, deterministic=True)
        seen, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    return env.outcome()


def inside(environment: str) -> dict:
    """What is measured if the scenario names the file."""
    algorithm = ALGORITHMS[environment][0]
    cc = f'{{ name = "{algorithm}", policy = "play", weights = "{WEIGHTS}", epsilon = 0 }}'
    return cl.run(LINK.format(cc=cc), seeds=1, record="none").runs[0].outcome


def main(environment: str, decisions: int) -> None:
    torch.set_num_threads(1)  # more cost more than they bring, with networks this small
    model = learn(environment, decisions)
    keep(model, environment)
    there, here = outside(model, environment), inside(environment)
    for flow in here["flows"]:
        print(f"{flow['name']:8} {flow['goodput_mbps']:6.3f} Mbit/s")
    print("the same run to the bit" if there == here else "another run than from outside")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0] if given else ENVIRONMENT, int(given[1]) if len(given) > 1 else DECISIONS)
