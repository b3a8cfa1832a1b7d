"""The sentences that begin the output of a sweep over conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.output.answers.choice import Candidate, Choice
from cwndlab.output.answers.drawn import drawn_conditions
from cwndlab.output.answers.goal import goal
from cwndlab.output.answers.order import headline
from cwndlab.output.answers.sentences import cheaper, of_precision, of_sweep, values_in_words
from cwndlab.output.answers.words import in_words, listed, noun, value_in_words, with_article
from cwndlab.results.conditions import over_conditions
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.answers.goal import Goal, Limit
    from cwndlab.results.conditions import OverConditions
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.wanted import Wanted
    from cwndlab.statistics.measure import Measure


@dataclass(frozen=True)
class InConditions(Candidate):
    """A choice with its means over the conditions by seed, to find what is the best on average."""

    over: OverConditions

    # The share of the means would be another one.
    of_share = ", the mean of the shares in each condition"

    def keeps(self, limit: Limit) -> bool:
        """Whether its mean keeps the limit in every condition."""
        return all(limit.admits(totals[limit.key]) for totals in self.over.totals.values())

    def less(self, other: Candidate, key: str) -> Measure:
        """A total of this less that of another, as a share of it if there is any, paired by seed."""
        shares = self.over.beside(other.over, key) if isinstance(other, InConditions) else None
        return shares if shares is not None and shares.n else super().less(other, key)

    def share_less(self, other: Candidate, key: str) -> Measure:
        """A total of this less that of another as a share of its own in each condition, paired by seed."""
        if not isinstance(other, InConditions):
            return super().share_less(other, key)
        return other.over.beside(self.over, key).scaled(-1)

    def kept_in(self, limits: Sequence[Limit]) -> int:
        """The number of conditions in which its means keep all limits."""
        totals = self.over.totals.values()
        return sum(all(limit.admits(each[limit.key]) for limit in limits) for each in totals)

    def beyond(self, limit: Limit) -> list[str]:
        """The conditions in which its 95 % interval over seeds goes beyond the limit."""
        return [name for name, totals in self.over.totals.items() if not limit.is_sure(totals[limit.key])]


def of_sweep_or_conditions(sweep: Sweep, wanted: Wanted | None = None) -> list[str]:
    """Say which point of a sweep to take, with conditions which choice over all of them."""
    if not sweep.across or drawn_conditions(sweep):
        return [*of_sweep(sweep, wanted), *of_precision(sweep)]
    asked = wanted or sweep.wanted
    return [*_Answer(sweep, goal(asked.best, asked.limits)).sentences(), *of_precision(sweep)]


@dataclass(frozen=True)
class _Answer:
    sweep: Sweep
    goal: Goal

    @property
    def _count(self) -> int:
        return len(self.sweep.conditions)

    @property
    def _limits(self) -> str:
        return " and ".join(map(str, self.goal.limits))

    @cached_property
    def _choice(self) -> Choice:
        """The choices that have results in every condition. The others might have the easy ones only."""
        complete = [each for each in self.sweep.choices if len(each.totals) == self._count]
        return Choice(self.goal, [_candidate(each) for each in complete])

    @cached_property
    def _named(self) -> dict[str, str]:
        """Each condition in words: `trace monday.down`."""
        keys = [axis.key for axis in self.sweep.across]
        settings = (settings for settings, _ in self.sweep.points)
        return {
            label: in_words({key: known[key] for key in keys})
            for label, known in zip(self.sweep.point_conditions, settings, strict=True)
        }

    def _worst(self, choice: InConditions) -> str:
        key = self.goal.best
        label, value = choice.over.worst(key) or ("", choice.totals[key])
        return f"{value_in_words(value, key)} with {self._named[label]}"

    def sentences(self) -> Iterator[str]:
        choice = self._choice
        best = choice.best
        if not isinstance(best, InConditions):
            yield self._none()
            return
        if len(self.sweep.choices) == 1:
            yield self._alone(best)
            return
        yield from self._on_average(best)
        eligible = {each.label: each for each in choice.eligible if isinstance(each, InConditions)}
        yield from self._in_each(best, eligible)
        if choice.cheaper is not None:
            yield cheaper(choice.cheaper, best)

    def _none(self) -> str:
        known = [each for each in self._choice.candidates if isinstance(each, InConditions)]
        if not known or not self.goal.limits:
            return f"No choice has {with_article(self.goal.best)} in every condition."
        kept = max(each.kept_in(self.goal.limits) for each in known)
        nearest = [each.label for each in known if each.kept_in(self.goal.limits) == kept]
        do = "does" if len(nearest) == 1 else "each do"
        most = (
            f"; {listed(nearest, 'choices')} {do} in {kept} of {self._count}"
            if kept
            else ", and none does in any"
        )
        return f"No choice keeps {self._limits} in every condition{most}."

    def _alone(self, only: InConditions) -> str:
        key = self.goal.best
        over = counted(self._count, "condition")
        mean = value_in_words(only.totals[key], key)
        keeps = f"It keeps {self._limits} in every condition{self._unsure(only)}. " if self._limits else ""
        title = noun(key)
        return f"{keeps}The mean {title} over {over} is {mean}; the worst is {self._worst(only)}."

    def _on_average(self, best: InConditions) -> Iterator[str]:
        choices = self._choice
        count = f"the {len(choices.eligible)} of {counted(len(choices.candidates), 'choice')}"
        among = f" among {count} with {self._limits} in every condition" if self._limits else ""
        over = f"over {counted(self._count, 'condition')}"
        values = f"{values_in_words(best, self.goal)}{self._unsure(best)}"
        yield from headline(choices, best, f" on average {over}{among}", values)

    def _in_each(self, best: InConditions, eligible: dict[str, InConditions]) -> Iterator[str]:
        """Say how often its mean is the best, and which choice has the best worst case by its mean."""
        key = self.goal.best
        if len(eligible) == 1:
            yield f"In its worst condition it has {self._worst(best)}."
            return
        ranked = {each.label: each for each in _ranked(list(eligible.values()))}[best.over.label]
        rank = f"mean rank {ranked.rank(key).mean:.3g} of {len(eligible)}"
        often = f"{ranked.firsts[key]} of {self._count} conditions"
        mean = f"The mean of {best.label} is the best in {often} ({rank})"
        yield f"{mean}, and in its worst one it is {self._worst(best)}."
        sign = 1 if self.goal.more_is_better else -1
        safest = max(eligible.values(), key=lambda each: (sign * _worst_mean(each, key), each is best))
        if safest is best:
            yield "No other choice has a better mean in its own worst condition."
        else:
            yield f"The best mean in a worst condition is that of {safest.label}: {self._worst(safest)}."

    def _unsure(self, best: InConditions) -> str:
        beyond = [
            f"{limit} with {', '.join(self._named[name] for name in names)}"
            for limit in self.goal.limits
            if (names := best.beyond(limit))
        ]
        return f"; its 95 % interval over seeds goes beyond {' and '.join(beyond)}" if beyond else ""


def _candidate(choice: OverConditions) -> InConditions:
    return InConditions(in_words(choice.settings) or choice.label, choice.by_seed, choice)


def _ranked(candidates: Sequence[InConditions]) -> list[OverConditions]:
    """Return these choices with their ranks among themselves."""
    names = next(iter(candidates)).over.rows
    rows = {name: {each.over.label: each.over.rows[name] for each in candidates} for name in names}
    return over_conditions({each.over.label: each.over.settings for each in candidates}, rows)


def _worst_mean(choice: InConditions, key: str) -> float:
    _, value = choice.over.worst(key) or ("", choice.totals[key])
    return value.mean or 0.0
