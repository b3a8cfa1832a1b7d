"""Reads a paper from its files: checks every key and parses every expression."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cwndlab.errors import InputError
from cwndlab.papers.contents.figure import (
    SETTING,
    EffectLine,
    FlowLine,
    Panel,
    PaperFigure,
    SettingFigure,
    TimeFigure,
)
from cwndlab.papers.contents.paper import (
    Alternative,
    Answer,
    Baseline,
    Claim,
    Combination,
    Erratum,
    Expect,
    Experiment,
    OpenPoint,
    Paper,
    Part,
    Target,
    Variant,
)
from cwndlab.papers.language.expression import COMBINE, Expression
from cwndlab.papers.language.parsing import Effect, Effects, effect, parse
from cwndlab.papers.language.quantities import JAIN, QUANTITIES
from cwndlab.papers.language.units import UNITS, check_unit
from cwndlab.papers.reading.content import (
    Entry,
    check_keys,
    choice,
    chosen,
    flag,
    number,
    positive,
    record,
    settings,
    shown,
    tables_of_settings,
    text,
    texts,
)
from cwndlab.system.reading import is_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from cwndlab.papers.reading.content import Readers

Made = TypeVar("Made")

COLUMNS = (
    *("id", "place", "experiment", "variant", "flow", "metric", "value", "unit", "kind", "statistic"),
    "notes",
)
MEASURED, SETTING_ROW = "measured", "setting"
# How the effects of all seeds become one value, in a part and in a figure over settings.
_STATISTIC: Readers = {"statistic": choice("mean", "median")}
# The keys that say what a claim expects, beyond a direction.
_BOUNDS = {
    Expect.SAME: ("margin",),
    Expect.AT_LEAST: ("value",),
    Expect.AT_MOST: ("value",),
    Expect.BETWEEN: ("low", "high"),
}


def read_paper(folder: Path, about: Entry, claims: Entry, targets: Sequence[Entry]) -> Paper | None:
    """Return the paper, or None if the experiments have a mistake. The entries record the mistakes."""
    check_keys(claims, ("effect", "baseline", "claim", "finding"))
    before = len(about.mistakes)
    experiments = _all(about.tables("experiment"), partial(_experiment, folder))
    are_complete = len(about.mistakes) == before
    open_points = _all(about.tables("open"), _open_point)
    # Without all answers, correct ones would look unknown.
    combined = about.tables("combination") if len(about.mistakes) == before else []
    own = about.key("units").read(texts) if "units" in about.value else None
    reader = _Reader((*UNITS, *(own or ())), _effects(claims))
    paper = record(
        Paper,
        about,
        {
            "id": partial(_exactly, folder.resolve().name),
            "title": text,
            "authors": text,
            "year": number,
            "venue": text,
            "summary": text,
        },
        also=("units", "experiment", "open", "combination", "erratum", "figure"),
        folder=folder,
        experiments=experiments,
        open_points=open_points,
        combinations=_all(combined, partial(_combination, open_points)),
        errata=_all(about.tables("erratum"), _erratum),
        figures=_all(about.tables("figure"), reader.figure),
        targets=_all(targets, reader.target),
        claims=_all(claims.tables("claim"), reader.claim),
        findings=_all(claims.tables("finding"), reader.claim),
        baselines=_all(claims.tables("baseline"), reader.baseline),
    )
    # Without all experiments, correct names would look unknown.
    return paper if are_complete else None


def _all(entries: Iterable[Entry], make: Callable[[Entry], Made | None]) -> tuple[Made, ...]:
    """Return the values of the entries without mistakes. The mistakes of the others are recorded."""
    made = (entry.read(make) for entry in entries)
    return tuple(each for each in made if each is not None)


def _exactly(wanted: str, entry: Entry) -> str:
    if entry.value != wanted:
        raise InputError(f'expected "{wanted}", the name of the folder, found {shown(entry.value)}')
    return wanted


def _effects(claims: Entry) -> Effects:
    """Return the named effects."""
    table = claims.key("effect")
    if table.value is None:
        return {}
    if not isinstance(table.value, dict):
        table.refuse(f"expected a table of expressions, found {shown(table.value)}")
        return {}
    # An effect with a mistake stays known, so that its uses are not reported as mistakes, too.
    unknown = effect("0", QUANTITIES)
    return {name: table.key(name).read(partial(_effect, name)) or unknown for name in table.value}


def _effect(name: str, entry: Entry) -> Effect:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError("expected a name of letters, digits and underscores")
    if name in QUANTITIES or name in COMBINE:
        raise InputError("expected a new name, found the name of a function")
    return effect(text(entry), QUANTITIES)


def _experiment(folder: Path, entry: Entry) -> Experiment | None:
    return record(
        Experiment,
        entry,
        {
            "id": text,
            "title": text,
            "paper": text,
            "scenario": partial(_file, folder),
            "set": settings,
            "unavailable": text,
        },
        also=("variant",),
        variants=_all(entry.tables("variant"), _variant),
    )


def _file(folder: Path, entry: Entry) -> Path:
    path = folder / text(entry)
    if not is_file(path):
        raise InputError(f"no such file: {path}")
    return path


def _variant(entry: Entry) -> Variant | None:
    return record(Variant, entry, {"label": text, "set": settings, "control": flag, "fitted": text})


def _open_point(entry: Entry) -> OpenPoint | None:
    readers = {"id": text, "point": text, "default": text, "reason": text}
    alternatives = _all(entry.tables("alternative"), _alternative)
    return record(OpenPoint, entry, readers, also=("alternative",), alternatives=alternatives)


def _alternative(entry: Entry) -> Alternative | None:
    readers = {
        "label": text,
        "set": settings,
        "only": _text_or_texts,
        "each": tables_of_settings,
        "algorithms": texts,
        "unavailable": text,
        "telling": texts,
    }
    return record(Alternative, entry, readers)


def _combination(points: Sequence[OpenPoint], entry: Entry) -> Combination | None:
    readers: Readers = {"answers": partial(_answers, points), "fitted": text, "telling": texts}
    return record(Combination, entry, readers)


def _answers(points: Sequence[OpenPoint], entry: Entry) -> tuple[Answer, ...]:
    known = {str(answer): answer for point in points for answer in _answers_to(point)}
    answers = [known[chosen(list(known), name)] for name in texts(entry)]
    if len({answer.point.id for answer in answers}) < max(len(answers), 2):
        raise InputError("expected answers to two or more points")
    return tuple(answers)


def _answers_to(point: OpenPoint) -> Iterator[Answer]:
    return (Answer(point, each) for each in point.alternatives)


def _text_or_texts(entry: Entry) -> tuple[str, ...]:
    return (entry.value,) if isinstance(entry.value, str) else texts(entry)


def _erratum(entry: Entry) -> Erratum | None:
    return record(Erratum, entry, {"where": text, "text": text})


@dataclass(frozen=True)
class _Reader:
    """Reads entries with expressions and units, for which it knows the paper's units and named effects."""

    units: Sequence[str]
    effects: Effects

    def expression(self, experiment: str, entry: Entry) -> Expression:
        return parse(text(entry), QUANTITIES, experiment, self.effects, entry.place)

    def unit(self, entry: Entry) -> str:
        return chosen(self.units, text(entry)) if entry.value != "" else ""

    def baseline(self, entry: Entry) -> Baseline | None:
        experiment = str(entry.value.get("experiment", ""))
        baseline = record(
            Baseline,
            entry,
            {
                "text": text,
                "experiment": text,
                "effect": partial(self.expression, experiment),
                "paper": number,
                "tolerance": positive,
                "why": text,
                "unit": self.unit,
                "claims": texts,
            },
        )
        if baseline is not None:
            _check_measured(entry.key("unit"), baseline.effect)
        return baseline

    def claim(self, entry: Entry) -> Claim | None:
        parts = _all(entry.tables("part"), self.part)
        return record(Claim, entry, {"id": text, "text": text, "quote": text}, also=("part",), parts=parts)

    def part(self, entry: Entry) -> Part | None:
        experiment = str(entry.value.get("experiment", ""))
        numbers = dict.fromkeys(("paper", "value", "margin", "low", "high"), number) | {"margin": positive}
        part = record(
            Part,
            entry,
            {
                "text": text,
                "experiment": text,
                "effect": partial(self.expression, experiment),
                "expect": _expect,
                "unit": self.unit,
                "unavailable": text,
                **numbers,
                **_STATISTIC,
            },
        )
        if part is None:
            return None
        if part.effect is None and part.unavailable is None:
            raise InputError("expected effect, or unavailable with the reason; found neither")
        own = _BOUNDS.get(part.expect, ())
        missing = [key for key in own if key not in entry.value]
        if missing and part.unavailable is None:
            raise InputError(f'expect = "{part.expect.value}" needs {" and ".join(missing)}')
        bounds = dict.fromkeys(key for keys in _BOUNDS.values() for key in keys)
        unused = [key for key in bounds if key in entry.value and key not in own]
        if unused:
            raise InputError(f'expect = "{part.expect.value}" does not use {" and ".join(unused)}')
        if part.low is not None and part.high is not None and part.low >= part.high:
            raise InputError(f"expected low below high, found {part.low:g} and {part.high:g}")
        _check_measured(entry.key("unit"), part.effect)
        return part

    def figure(self, entry: Entry) -> PaperFigure | None:
        if "kind" not in entry.value:
            raise InputError("kind is missing")
        kind = entry.key("kind").read(choice("time", "settings"))
        if kind is None:
            return None
        return self.time_figure(entry) if kind == "time" else self.setting_figure(entry)

    def time_figure(self, entry: Entry) -> TimeFigure | None:
        panels = _all(entry.tables("panel"), self.panel)
        lines = _all(entry.tables("line"), _flow_line)
        figure = record(
            TimeFigure,
            entry,
            {"id": text, "title": text, "paper": text, "seeds": choice("all", "first"), "mean_s": number},
            also=("kind", "panel", "line"),
            panels=panels,
            lines=lines,
        )
        for line in lines:
            if not line.flow and all(panel.column != JAIN for panel in panels):
                raise InputError(f"line {line.label}: flow is missing; only panels of {JAIN} need no flow")
        return figure

    def panel(self, entry: Entry) -> Panel | None:
        return record(Panel, entry, {"column": text, "y": text, "unit": self.unit})

    def setting_figure(self, entry: Entry) -> SettingFigure | None:
        settings = entry.key("at").read(texts) if "at" in entry.value else None
        lines = _all(entry.tables("line"), partial(self.effect_line, settings or (), entry.key("unit")))
        return record(
            SettingFigure,
            entry,
            {
                "id": text,
                "title": text,
                "paper": text,
                "x": text,
                "at": texts,
                "y": text,
                "unit": self.unit,
                **_STATISTIC,
            },
            also=("kind", "line"),
            lines=lines,
        )

    def effect_line(self, settings: Sequence[str], unit: Entry, entry: Entry) -> EffectLine | None:
        line = record(EffectLine, entry, {"label": text}, also=("effect",), effects=())
        if "effect" not in entry.value:
            raise InputError("effect is missing")
        found = entry.key("effect").read(partial(self.effects_at, settings))
        if line is None or found is None:
            return None
        for each in found:
            _check_measured(unit, each)
        return EffectLine(line.label, found)

    def effects_at(self, settings: Sequence[str], entry: Entry) -> tuple[Expression, ...]:
        """Return one expression for each setting. They belong to no experiment and name cells in full."""
        written = text(entry)
        found = []
        for setting in settings:
            at = parse(written.replace(SETTING, setting), QUANTITIES, "", self.effects, entry.place)
            for cell in at.cells:
                if cell.startswith("/"):
                    raise InputError(f'cell: expected "EXPERIMENT/label", found "{cell[1:]}"')
            found.append(at)
        return tuple(found)

    def target(self, entry: Entry) -> Target | None:
        kind, written, experiment = (entry.value[key] for key in ("kind", "statistic", "experiment"))
        statistic = entry.key("statistic")
        measured = kind == MEASURED and bool(written)
        found = statistic.read(partial(self.expression, experiment)) if measured else None
        target = record(
            Target,
            entry,
            {
                **dict.fromkeys(("id", "place", "experiment", "variant", "flow", "metric", "value"), text),
                "unit": self.unit,
                "kind": choice(MEASURED, SETTING_ROW),
                "notes": text,
            },
            also=("statistic",),
            effect=found,
            key="" if kind == MEASURED else written,
        )
        if target is not None:
            _check_measured(entry.key("unit"), found)
        return target


def _expect(entry: Entry) -> Expect:
    return Expect(chosen([each.value for each in Expect], text(entry)))


def _check_measured(unit: Entry, measured: Expression | None) -> None:
    """Record a mistake if the unit does not fit the expression. The paper's own units are not checked."""
    if measured is not None and isinstance(unit.value, str) and unit.value in UNITS:
        unit.read(lambda entry: check_unit(measured.tree.measures(), entry.value))


def _flow_line(entry: Entry) -> FlowLine | None:
    return record(FlowLine, entry, {"label": text, "cell": text, "flow": text})
