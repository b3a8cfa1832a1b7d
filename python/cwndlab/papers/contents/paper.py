"""The definition of a paper in its folder: experiments, numbers, claims, open points, errata."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.papers.language.place import NOWHERE, Place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.papers.contents.figure import PaperFigure
    from cwndlab.papers.language.expression import Expression
    from cwndlab.statistics.estimate import Statistic

Settings = dict[str, str]


@dataclass(frozen=True)
class Variant:
    """One way to run an experiment. A `control` is ours, not the paper's.

    `fitted` describes which value was fitted to the paper.
    """

    label: str
    set: Settings = field(default_factory=dict)
    control: bool = False
    fitted: str | None = None
    source: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper, and its scenario file.

    `unavailable` is the reason why the scenario cannot be read yet.
    """

    id: str
    title: str
    paper: str
    scenario: Path
    variants: tuple[Variant, ...]
    set: Settings = field(default_factory=dict)
    unavailable: str | None = None


@dataclass(frozen=True)
class Alternative:
    """Another answer to an open point of a paper. `unavailable` is the reason why it cannot be tried yet.

    It changes every experiment, or `only` those with these ids, or `each` experiment in its own way. With
    `algorithms`, `set` holds parameters of these algorithms, and changes every variant that uses one of them.
    `telling` names the claims whose verdicts it decides: `cwndlab reproduce` tries it for these alone, and
    answers that decide none only with `--full` or `--try`.
    """

    label: str
    set: Settings = field(default_factory=dict)
    only: Sequence[str] = ()
    each: Mapping[str, Settings] = field(default_factory=dict)
    algorithms: Sequence[str] = ()
    unavailable: str | None = None
    telling: Sequence[str] = ()
    source: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class OpenPoint:
    """A point that a paper leaves open, our default and its reason."""

    id: str
    point: str
    default: str
    reason: str
    alternatives: tuple[Alternative, ...] = ()

    @property
    def telling(self) -> bool:
        """Whether one of its alternatives decides a verdict."""
        return any(each.telling for each in self.alternatives)


@dataclass(frozen=True)
class Answer:
    """An open point with another answer than the default. Its label tells it from the others."""

    point: OpenPoint
    alternative: Alternative

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{self.point.id}: {self.alternative.label}"


@dataclass(frozen=True)
class Combination:
    """Several answers that decide a verdict only together.

    `fitted` describes how they were chosen to come close to the paper's numbers. `telling` names the claims
    that `cwndlab reproduce` tries them for, as in an `Alternative`; without it, only `--full` and `--try` do.
    """

    answers: tuple[Answer, ...]
    fitted: str = ""
    telling: Sequence[str] = ()
    source: Place = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return " with ".join(map(str, self.answers))


@dataclass(frozen=True)
class Erratum:
    """A mistake or contradiction in the paper."""

    where: str
    text: str


@dataclass(frozen=True)
class Target:
    """A number that the paper reports. A `setting` is one of its inputs.

    `effect` computes the same quantity here. `key` is the scenario's key that holds the setting.
    """

    id: str
    place: str
    experiment: str
    variant: str
    flow: str
    metric: str
    value: str
    unit: str
    kind: str
    notes: str
    effect: Expression | None = None
    key: str = ""
    source: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def number(self) -> float | None:
        """The value, if it is one number."""
        try:
            return float(self.value)
        except ValueError:
            return None


class Expect(StrEnum):
    """The direction or range that a claim expects of its effect."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    SAME = "same"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    BETWEEN = "between"


@dataclass(frozen=True)
class Part:
    """A testable part of a claim: an effect for each seed, and its expected range.

    `paper` is the effect that the paper reports. `margin` belongs to `same`, `value` to `at least` and `at
    most`, `low` and `high` to `between`.
    """

    text: str
    experiment: str
    effect: Expression | None = None
    expect: Expect = Expect.POSITIVE
    unit: str = ""
    paper: float | None = None
    value: float = 0
    margin: float | None = None
    low: float | None = None
    high: float | None = None
    statistic: Statistic = "mean"
    unavailable: str | None = None
    source: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Baseline:
    """A number of the paper's own baseline, and how far ours may be off in a reading that counts.

    The tolerance was fixed before the claims were judged; `why` says from what it follows. It is a gate of
    all claims, or only of `claims`.
    """

    text: str
    experiment: str
    effect: Expression
    paper: float
    tolerance: float
    why: str
    unit: str = ""
    claims: Sequence[str] = ()
    source: Place = field(default=NOWHERE, compare=False, repr=False)

    def admits(self, value: float) -> bool:
        """Whether a value is close enough to the paper's."""
        return abs(value - self.paper) <= self.tolerance


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in one sentence, and its parts, which must all hold."""

    id: str
    text: str
    quote: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Paper:
    """A paper.

    `findings` are our own statements about it, tested like its claims. `baselines` are the gate that a
    reading has to pass.
    """

    folder: Path
    id: str
    title: str
    authors: str
    year: int
    venue: str
    summary: str
    experiments: tuple[Experiment, ...]
    open_points: tuple[OpenPoint, ...]
    errata: tuple[Erratum, ...]
    targets: tuple[Target, ...]
    claims: tuple[Claim, ...]
    findings: tuple[Claim, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    figures: tuple[PaperFigure, ...] = ()
    combinations: tuple[Combination, ...] = ()

    def experiment(self, name: str) -> Experiment | None:
        """Return the experiment with this id."""
        return next((each for each in self.experiments if each.id == name), None)
