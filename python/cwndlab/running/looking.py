"""Adds seeds to each scenario until a total is precise enough, look by look."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cwndlab.results.result import Result
from cwndlab.results.totals import busiest_link, total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab.results.until import Until
    from cwndlab.scenarios.scenario import Scenario

    # Runs each scenario with each seed.
    Make = Callable[[Sequence[Scenario], Sequence[int]], list[Result]]


def run_until(
    scenarios: Sequence[Scenario], until: Until, link: str | None, make: Make
) -> tuple[list[Result], str | None]:
    """Run the scenarios, and return their results and the link whose queue the totals describe.

    Without a `link`, it is the one that delayed packets most at the first look. After Ctrl-C, the results
    have the finished runs.
    """
    results = [Result(scenario, []) for scenario in scenarios]
    looks = until.looks
    for begin, end in pairwise((0, *looks)):
        needed = [
            index
            for index, result in enumerate(results)
            if not begin or not until.is_reached(total_of(result, link, len(looks)).measures[until.key])
        ]
        if not needed:
            break
        more = make([scenarios[index] for index in needed], until.seeds[begin:end])
        for index, new in zip(needed, more, strict=True):
            # How many seeds it will need is not known before the last look.
            results[index] = replace(new, runs=[*results[index].runs, *new.runs], asked=None)
        if any(result.interrupted for result in more):
            break
        link = link or busiest_link(results)
    return results, link
