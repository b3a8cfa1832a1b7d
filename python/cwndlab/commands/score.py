"""`cwndlab score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import (
    AsJson,
    EpisodeBackend,
    EpisodeBackendName,
    EpisodeScenario,
    Overrides,
    Seeds,
    SteeredFlow,
    as_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.learning.scores import Score

# Heading, attribute and factor of each column. Those of the scenario are shown without a drawn link.
OF_SCENARIO = (("goodput\nMbit/s", "goodput_mbps", 1), ("RTT\nms", "rtt_ms", 1))
COLUMNS = (
    ("goodput\n% of link", "goodput_share", 100),
    ("RTT over\nminimum", "rtt_ratio", 1),
    ("retrans.\n%", "retransmitted_share", 100),
    ("reward", "mean_reward", 1),
)


def score(
    environment: Annotated[
        str, typer.Argument(metavar="ENV", help="An environment; see `cwndlab list environments`.")
    ],
    seeds: Seeds = "20",
    weights: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=as_path, help="The weights of a trained agent (safetensors)."),
    ] = None,
    scenario: EpisodeScenario = None,
    flow: SteeredFlow = None,
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    backend: EpisodeBackend = EpisodeBackendName.SIM,
    as_json: AsJson = False,
) -> None:
    """Compare agents and algorithms in an environment.

    All play the same episodes: constant, cubic and bbr3, an agent with random actions, the agent with the
    highest mean reward among those that always repeat one action, and with --weights a trained agent. Prints
    means over the seeds with their 95 % intervals, and whether the trained agent gets more reward than the
    others.
    """
    from cwndlab.commands.naming import named
    from cwndlab.commands.train import read_weights
    from cwndlab.learning.scores import score as play
    from cwndlab.scenarios.overrides import parse_overrides
    from cwndlab.scenarios.seeds import parse_seeds
    from cwndlab.system.progress import progress

    changes = dict(parse_overrides(overrides))
    trained = None if weights is None else read_weights(weights)
    chosen = parse_seeds(seeds)
    options = {"weights": f"--weights {weights}", "flow": f"--flow {flow}"}
    with progress("score") as watch, named(**options):
        scores = play(
            environment, chosen, trained, changes, watch, scenario=scenario, flow=flow, backend=backend
        )
    if as_json:
        rows = [row.to_json() for row in scores]
        head = {"schema": 1, "environment": environment, "backend": backend, "seeds": chosen}
        print_document({**head, "scores": rows})
    else:
        for line in _beside_others(scores):
            typer.echo(line)
        _print(scores)


def _beside_others(scores: list[Score]) -> Iterator[str]:
    """Say beside each other agent how much more reward the trained one gets, if its interval shows it."""
    from cwndlab.learning.scores import TRAINED
    from cwndlab.statistics.numbers import with_interval

    *others, last = (each for each in scores if each.mean_reward.n)
    if last.name != TRAINED:
        return
    for other in others:
        found = last.more_reward(other)
        is_shown = found.n > 1 and found.excludes_zero
        told = f"Reward of {last.name} less {other.name}: {with_interval(found, signed=True)}"
        yield f"{told}, paired by seed{'' if is_shown else '; no difference is shown'}."


def _print(scores: list[Score]) -> None:
    from rich.table import Table

    from cwndlab.statistics.numbers import with_interval
    from cwndlab.system.terminal import output

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("controller", no_wrap=True)
    drawn = any(row.goodput_share.n for row in scores)
    columns = COLUMNS if drawn else (*OF_SCENARIO, *COLUMNS[2:])
    for heading, *_ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in scores:
        table.add_row(
            row.name, *(with_interval(getattr(row, name).scaled(factor)) for _, name, factor in columns)
        )
    output().print(table)
