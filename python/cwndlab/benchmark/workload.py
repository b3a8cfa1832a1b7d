"""What a profile-guided build runs to learn which code is hot: `python -m cwndlab.benchmark.workload`.

`make fast` calls it. Code that never runs here is optimised for size, so it runs every algorithm, every
queue, and the papers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cwndlab as cl
from cwndlab.engine import in_use
from cwndlab.papers.reproducing.reproduce import plan, reproduce
from cwndlab.scenarios import examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Cases of `cwndlab bench`: many flows, transfers from one host, a trace, steps of learning.
CASES = ("flows-100", "flows-1000", "hosts-10", "lte-trace", "dqn-train-30x3", "dqn-train-50x5")
SEED = 1


def scenarios() -> Iterator[dict[str, Any] | Path]:
    """Yield a flow of each algorithm in Rust, a flow on each queue, and the examples."""
    catalogue = in_use().read_catalogue()
    for algorithm in catalogue["algorithms"]:
        if algorithm["name"] in in_use().in_python():
            continue
        has_policy = any(each["name"] == "policy" for each in algorithm["params"])
        # No agent outside waits for the questions of those that ask one.
        yield _one_flow({"name": algorithm["name"], **({"policy": "learn"} if has_policy else {})})
    for queue in catalogue["queues"]:
        yield _one_flow({"name": "cubic"}, queue={"kind": queue["name"]})
    for name in examples.names():
        if (file := examples.file_of(name)) is not None:
            yield file


def _one_flow(cc: dict[str, str], **link: Any) -> dict[str, Any]:
    """Return a flow on a link whose rate changes once."""
    rates = [{"at": "0 s", "value": "20 Mbit/s"}, {"at": "10 s", "value": "40 Mbit/s"}]
    return {
        "duration": "20 s",
        "link": [{"name": "bottleneck", "rate": rates, "delay": "10 ms", **link}],
        "flow": [{"name": "a", "cc": cc, "path": ["bottleneck"]}],
    }


def main() -> None:
    """Run everything once."""
    for scenario in scenarios():
        cl.run(scenario, seeds=[SEED], fresh=True)
    for case in CASES:
        in_use().bench(case, 1, [])
    reproduce(plan([], [SEED], quick=True, full=False), [SEED], quick=True, fresh=True)


if __name__ == "__main__":
    main()
