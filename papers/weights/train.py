"""Trains the weights beside this file: .venv/bin/python papers/weights/train.py

One flow learns by the defaults of its algorithm for a minute on each of twelve links, twice over, each time with the
weights that it had at the end of the last minute. No link is one of the papers': rates, round-trip times and queues were
fixed before anything was run, and nothing is chosen by a result.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import cwndlab as cl

ALGORITHMS = ("dqn-newreno", "dqn-cubic")
RATES = ("20 Mbit/s", "40 Mbit/s", "80 Mbit/s", "160 Mbit/s")
DELAYS = ("10 ms", "25 ms", "40 ms")
QUEUES = ("0.5 bdp", "1 bdp", "ns3-default")
ROUNDS = 2

LINK = """
name     = "a lesson"
duration = "60 s"
profile  = "ns3"

[tcp]
mss = 1460

[[link]]
name  = "bottleneck"
rate  = "10 Mbit/s"
delay = "10 ms"

[[flow]]
name = "a"
cc   = "cubic"
path = ["bottleneck"]
"""


def lessons() -> list[dict[str, str]]:
    """All rates with all delays; each with the queue whose turn it is."""
    links = itertools.product(RATES, DELAYS)
    return [
        {"link.0.rate": rate, "link.0.delay": delay, "link.0.queue": QUEUES[n % len(QUEUES)]}
        for n, (rate, delay) in enumerate(links)
    ]


def trained(algorithm: str, folder: Path) -> bytes:
    """The weights after all lessons."""
    file = folder / f"{algorithm}.safetensors"
    weights = "fresh"
    for seed, lesson in enumerate(lessons() * ROUNDS, start=1):
        cc = f'{{ name = "{algorithm}", weights = "{weights}" }}'
        result = cl.run(LINK, [seed], {**lesson, "flow.0.cc": cc}, record="none", fresh=True)
        file.write_bytes(result.weights["a", seed])
        weights = str(file)
    return file.read_bytes()


if __name__ == "__main__":
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as scratch:
        for name in ALGORITHMS:
            (here / f"{name}.safetensors").write_bytes(trained(name, Path(scratch)))
