"""Points drawn from ranges and choices, by a design that covers them evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.design import (
    DRAWING,
    MAX_POINTS,
    Design,
    Method,
    Plan,
    Row,
    require_different,
    require_few,
)
from cwndlab.scenarios.ranges import fitted
from cwndlab.statistics.sobol import saltelli

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cwndlab.scenarios.ranges import Source
    from cwndlab.scenarios.scenario import Scenario

    Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many points are drawn, by which method, and the seed of the draw."""

    size: int
    method: Method = Method.LHS
    seed: int = 1


def sampling(
    size: int | None, method: str | None, seed: int | None, *, mixed: bool = False
) -> Sampling | None:
    """Return what `--sample`, `--design` and `--sample-seed` ask for; None without `--sample`.

    `mixed` asks for the design of `--sensitivity`. Raises `InputError` if they do not fit together, or one is
    out of range.
    """
    if size is None:
        _require_nothing(method, seed, mixed=mixed)
        return None
    if not 1 <= size <= MAX_POINTS:
        raise InputError(f"--sample {size}: expected 1 to {MAX_POINTS}")
    if mixed and method is not None:
        raise InputError(f"--design {method}: expected none with --sensitivity, which has its own")
    if method not in (None, *DRAWING):
        raise InputError(f"--design {method}: expected {' or '.join(DRAWING)}")
    if seed is not None and seed < 0:
        raise InputError(f"--sample-seed {seed}: expected a whole number from 0 on")
    if mixed:
        _require_power_of_two(size, "--sensitivity")
        if size == 1:
            raise InputError("--sensitivity: expected --sample with 2 points or more, found 1")
    if method == Method.SOBOL:
        _require_power_of_two(size, "--design sobol")
    chosen = Method.SALTELLI if mixed else Method(method or Method.LHS)
    return Sampling(size, chosen, 1 if seed is None else seed)


def _require_nothing(method: str | None, seed: int | None, *, mixed: bool) -> None:
    """Raise `InputError` if there is something that only a sample has."""
    if mixed:
        raise InputError("--sensitivity: expected --sample N with it, found none")
    for option, given in (("--design", method), ("--sample-seed", seed)):
        if given is not None:
            raise InputError(f"{option} {given}: expected --sample N with it, found none")


def _require_power_of_two(size: int, option: str) -> None:
    """Raise `InputError` unless a Sobol' sequence of this length covers the ranges evenly."""
    below = 2 ** (size.bit_length() - 1)
    if size != below:
        raise InputError(
            f"{option}: expected --sample with a power of 2, such as {below} or {2 * below}, found {size}"
        )


def drawn(scenario: Scenario, sources: Sequence[Source], over: Sequence[str], wanted: Sampling) -> Plan:
    """Draw points from these sources, one for each axis. `over` is what they were written as.

    Points that come out equal, as with a few choices, are one point.
    """
    shares = _shares(len(sources), wanted)
    require_few(len(shares), f"--sample {wanted.size}")
    sources = [fitted(scenario, each) for each in sources]
    columns = [each.drawn(column) for each, column in zip(sources, shares.T.tolist(), strict=True)]
    axes = tuple(each.axis(column) for each, column in zip(sources, columns, strict=True))
    require_different(axes, "--over")
    places = tuple(f"--over {axis.key}" for axis in axes)
    rows = list(zip(*columns, strict=True))
    different = {labels: place for place, labels in enumerate(dict.fromkeys(rows))}
    order = [different[labels] for labels in rows] if wanted.method is Method.SALTELLI else ()
    design = Design(wanted.method, tuple(over), wanted.size, wanted.seed, tuple(order))
    return Plan(axes, tuple(Row(labels, places) for labels in different), design)


def _shares(keys: int, wanted: Sampling) -> Shares:
    from scipy.stats import qmc

    if wanted.method is Method.SALTELLI:
        # The halves of one sequence with two columns for each key are two samples that do not depend.
        both = qmc.Sobol(2 * keys, rng=wanted.seed).random(wanted.size)
        return saltelli(both[:, :keys], both[:, keys:])
    if wanted.method is Method.SOBOL:
        return qmc.Sobol(keys, rng=wanted.seed).random(wanted.size)
    return qmc.LatinHypercube(keys, rng=wanted.seed).random(wanted.size)
