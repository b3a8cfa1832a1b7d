"""`cwndlab train`."""

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
    Out,
    Overrides,
    Replace,
    SteeredFlow,
    as_path,
)
from cwndlab.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.learning.training import Training
    from cwndlab.output.about import About
    from cwndlab.results.request import Request

WEIGHTS = "weights.safetensors"
CHECKPOINT = "checkpoint.safetensors"
DOCUMENT = "training.json"
# The replay memory, at most ten million tuples, takes most of it.
CHECKPOINT_BYTES = 8 * 2**30
# The first and the last episodes whose mean rewards are printed.
EPISODES_SHOWN = 10


def train(
    environment: Annotated[
        str, typer.Argument(metavar="ENV", help="An environment; see `cwndlab list environments`.")
    ],
    decisions: Annotated[
        int, typer.Option(min=1, metavar="N", help="The number of decisions to learn from.")
    ] = 20_000,
    seed: Annotated[
        int, typer.Option(min=0, metavar="SEED", help="The seed of weights, actions and episodes.")
    ] = 1,
    scenario: EpisodeScenario = None,
    flow: SteeredFlow = None,
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    backend: EpisodeBackend = EpisodeBackendName.SIM,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", parser=as_path, help="Start from these weights (safetensors)."
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=as_path,
            help="Continue the training in this folder, with the same settings.",
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
    replace: Replace = False,
) -> None:
    """Train a DQN in an environment and save its weights.

    Ctrl-C saves what was learned so far. A training continued with --resume gives the same weights as one
    without interruption.
    """
    from cwndlab.commands.deliver import completing, prepared
    from cwndlab.commands.naming import named
    from cwndlab.errors import InputError
    from cwndlab.learning.training import begun
    from cwndlab.output import about, files
    from cwndlab.scenarios.overrides import parse_overrides
    from cwndlab.system import writing
    from cwndlab.system.progress import progress
    from cwndlab.system.reading import read

    if start is not None and resume is not None:
        raise InputError("--from and --resume: expected one of the two")
    changes = dict(parse_overrides(overrides))
    weights = None if start is None else read_weights(start)
    checkpoint = None if resume is None else read(resume / CHECKPOINT, CHECKPOINT_BYTES, "a checkpoint")
    goes_on = out is None and resume is not None
    request = _request(environment, decisions, seed, scenario, flow, changes, backend, weights, checkpoint)
    names = {"weights": f"--from {start}", "checkpoint": f"--resume {resume}", "flow": f"--flow {flow}"}
    with named(**names):
        learner = begun(environment, seed, scenario, flow, changes, weights, checkpoint, backend=backend)
    folder = prepared(
        resume if goes_on else out,
        backend.folder(f"train-{environment.rpartition('/')[2]}"),
        request,
        replace=replace or goes_on,
    )
    given = {"--scenario": scenario, "--flow": flow, "--from": start, "--resume": resume}
    options = [(name, str(value)) for name, value in given.items() if value is not None]
    options += [("--set", text) for text in overrides]
    with progress("train") as watch:
        training = learner.learn(decisions, watch)
    command = _command(training, options)
    with completing(folder):
        writing.write_bytes(folder / WEIGHTS, training.weights)
        writing.write_bytes(folder / CHECKPOINT, training.checkpoint)
        writing.write_text(folder / DOCUMENT, files.dump(training.to_json()) + "\n")
        about.write(_about(training, request, scenario, command), folder)
    if as_json:
        print_document(training.to_json())
    else:
        typer.echo(_summary(training))
    typer.echo(f"weights in {folder / WEIGHTS}", err=as_json)
    if training.interrupted:
        raise typer.Exit(INTERRUPTED)


def _request(
    environment: str,
    decisions: int,
    seed: int,
    scenario: Path | None,
    flow: str | None,
    changes: Mapping[str, str],
    backend: EpisodeBackendName,
    *before: bytes | None,
) -> Request:
    """Return the request for a training. `before` are the weights and the checkpoint that it begins with."""
    import hashlib

    from cwndlab.results.request import Request
    from cwndlab.scenarios.scenario import load

    text = None if scenario is None else load(scenario).text.decode(errors="replace")
    hashes = [None if file is None else hashlib.sha256(file).hexdigest() for file in before]
    return Request.of("train", [environment, decisions, seed, text, flow, changes, backend, hashes])


def _command(training: Training, options: Sequence[tuple[str, str]]) -> str:
    """Return the command line that repeats a training with these options."""
    import shlex

    known = [("--seed", str(training.seed)), ("--decisions", str(training.decisions))]
    backend = training.engine.backend
    known += [] if backend == EpisodeBackendName.SIM else [("--backend", backend)]
    words = [word for option in (*known, *options) for word in option]
    return shlex.join(["cwndlab", "train", training.environment, *words])


def _about(training: Training, request: Request, scenario: Path | None, command: str) -> About:
    from cwndlab.output.about import About

    return About(
        kind=request.kind,
        name=training.environment,
        scenario="" if scenario is None else str(scenario),
        backend=training.engine.backend,
        seeds=(training.seed,),
        interrupted=training.interrupted,
        command=command,
        answer=(f"{_summary(training)}.",),
        request_sha256=request.sha256,
    )


def read_weights(file: Path) -> bytes:
    """Read a file of weights."""
    from cwndlab.engine import SHIPPED
    from cwndlab.system.reading import read

    return read(file, SHIPPED.WEIGHTS_BYTES, "a file of weights (safetensors)")


def _summary(training: Training) -> str:
    rewards = [episode.mean_reward for episode in training.episodes]
    before = f" after {training.decisions_before}" if training.decisions_before else ""
    counts = f"{training.decisions} decisions{before}, {len(rewards)} episodes"
    if not rewards:
        return counts

    def mean(values: list[float]) -> str:
        return f"{sum(values) / len(values):.3f}"

    first, last = rewards[:EPISODES_SHOWN], rewards[-EPISODES_SHOWN:]
    return (
        f"{counts}; mean reward {mean(first)} in the first {len(first)}, {mean(last)} in the last {len(last)}"
    )
