"""Readings: a paper with the defaults for its open points, or with other answers to some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cwndlab.papers.contents.asked import alone, is_asked
from cwndlab.papers.contents.cells import cells

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.paper import Answer, Baseline, Claim, Combination, Paper
    from cwndlab.scenarios.scenario import Scenario

# The looks at the seeds: after so many of them, what is decided needs no more.
LOOKS = (5, 10, 20)
# Without `--full`, a reading that misses the gate gets no more seeds than this.
MISSING_SEEDS = 10


@dataclass(frozen=True)
class Reading:
    """The cells to run under some answers, and their seeds. The defaults have no answers.

    It judges all claims, or `only` those with these ids. For a claim whose gate it misses, it stops at the
    look of `missing_seeds`, or earlier if it misses the gate clearly. Without `missing_seeds` it does not
    stop, and is judged once, with all seeds.
    `missing` is the reason why a reading cannot be tried. A `fitted` one was found by comparing many with
    the paper's numbers.
    """

    paper: Paper
    seeds: Sequence[int]
    cells: dict[str, Cell]
    answers: tuple[Answer, ...] = ()
    missing: str | None = None
    fitted: bool = False
    missing_seeds: int | None = MISSING_SEEDS
    only: Sequence[str] = ()

    @property
    def option(self) -> str:
        """The open points with other answers, joined by `+`; empty for the defaults."""
        return " + ".join(answer.point.id for answer in self.answers)

    @property
    def value(self) -> str:
        """The other answers, joined by `+`; `default` for the defaults."""
        return " + ".join(answer.alternative.label for answer in self.answers) or "default"

    @property
    def runnable(self) -> list[Cell]:
        """The cells that can be run."""
        return [cell for cell in self.cells.values() if cell.scenario is not None]

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of seeds after which the claims are judged; the last one is all of them."""
        if self.missing_seeds is None:
            return (len(self.seeds),)
        return (*(look for look in LOOKS if look < len(self.seeds)), len(self.seeds))

    @property
    def baselines(self) -> list[Baseline]:
        """The baselines of the claims that it judges."""
        return baselines_of(self.paper, self.only) if self.only else list(self.paper.baselines)

    @property
    def baseline_cells(self) -> set[str]:
        """The cells that these baselines need."""
        return _measured_cells(self.baselines)

    def judges(self, claim: str) -> bool:
        """Whether it judges the claim with this id."""
        return not self.only or claim in self.only

    def jobs(self, keys: Collection[str], begin: int, end: int) -> list[tuple[Scenario, Sequence[int]]]:
        """Return the scenarios of these cells, with the seeds from one look to the next."""
        cells = (cell for cell in self.runnable if cell.key in keys)
        return [(cell.scenario, self.seeds[begin:end]) for cell in cells if cell.scenario]

    @property
    def most_runs(self) -> int:
        """The number of runs if every cell gets all seeds."""
        return len(self.runnable) * len(self.seeds)


def readings(
    paper: Paper,
    seeds: Sequence[int],
    *,
    quick: bool = False,
    full: bool = False,
    defaults_only: bool = False,
    asked: Collection[str] = (),
    alternative_seeds: int | None = None,
) -> list[Reading]:
    """Return the reading of the defaults, then those of the alternatives.

    By default, the telling answers are tried for the claims that they decide, and a reading that misses the
    gate has fewer seeds. The answers that `asked` names are tried for all claims; with `defaults_only`, no
    others. `full` tries all answers for all claims, with all seeds or the first `alternative_seeds` of them,
    and then the combinations that the folder has, with all seeds. `quick` tries none and leaves out the cells
    that only our findings or figures need.
    """
    if quick:
        return [Reading(paper, seeds, cells(paper, quick=True, only=claimed_cells(paper)))]
    defaults = Reading(paper, seeds, cells(paper), missing_seeds=None if full else MISSING_SEEDS)
    others = [(seeds[:alternative_seeds], each) for each in alone(paper)]
    others += [(seeds, each) for each in paper.combinations]
    found = [defaults]
    for own, each in others:
        for_all = full or is_asked(each, asked)
        if for_all or (each.telling and not defaults_only):
            only = () if for_all else each.telling
            found.append(_other(paper, own, each, only, missing_seeds=len(own) if full else MISSING_SEEDS))
    return found


def _other(
    paper: Paper, seeds: Sequence[int], other: Combination, only: Sequence[str], *, missing_seeds: int
) -> Reading:
    cells = judged_cells(paper, only) if only else claimed_cells(paper)
    found = reading(paper, seeds, other.answers, cells, fitted=bool(other.fitted))
    return replace(found, only=only, missing_seeds=missing_seeds)


def claimed_cells(paper: Paper) -> set[str]:
    """Return the cells that the paper's claims, baselines and numbers need."""
    return _cells_of(paper.claims) | numbered_cells(paper)


def judged_cells(paper: Paper, claims: Collection[str]) -> set[str]:
    """Return the cells that these claims and their baselines need."""
    own = _cells_of([claim for claim in paper.claims if claim.id in claims])
    return own | _measured_cells(baselines_of(paper, claims))


def baselines_of(paper: Paper, claims: Collection[str]) -> list[Baseline]:
    """Return the baselines that gate one of these claims."""
    return [each for each in paper.baselines if not each.claims or not set(claims).isdisjoint(each.claims)]


def numbered_cells(paper: Paper) -> set[str]:
    """Return the cells that the paper's numbers and baselines need."""
    numbers = {key for target in paper.targets if target.effect for key in target.effect.cells}
    return numbers | _measured_cells(paper.baselines)


def _measured_cells(baselines: Sequence[Baseline]) -> set[str]:
    return {key for baseline in baselines for key in baseline.effect.cells}


def _cells_of(statements: Sequence[Claim]) -> set[str]:
    effects = (part.effect for statement in statements for part in statement.parts)
    return {key for effect in effects if effect for key in effect.cells}


def reading(
    paper: Paper,
    seeds: Sequence[int],
    answers: tuple[Answer, ...],
    only: Container[str],
    *,
    fitted: bool = False,
) -> Reading:
    """Return the reading with these answers and cells.

    Raises `PaperError` if the answers make a scenario invalid.
    """
    alternatives = [answer.alternative for answer in answers]
    missing = next((each.unavailable for each in alternatives if each.unavailable is not None), None)
    if missing is not None:
        return Reading(paper, seeds, {}, answers, missing)
    return Reading(paper, seeds, cells(paper, alternatives, only=only), answers, fitted=fitted)
