"""The folder of papers, read strictly: an unknown or a missing key is an error that names its place."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from cwndlab import reading
from cwndlab.errors import InputError
from cwndlab.papers.expression import parse
from cwndlab.papers.figure import (
    JAIN,
    EffectLine,
    FlowLine,
    Panel,
    PaperFigure,
    SettingFigure,
    TimeFigure,
)
from cwndlab.papers.paper import (
    Alternative,
    Claim,
    Erratum,
    Expect,
    Experiment,
    OpenPoint,
    Paper,
    Part,
    Target,
    Variant,
)
from cwndlab.papers.quantities import QUANTITIES
from cwndlab.suggestions import did_you_mean

Made = TypeVar("Made")
Content = Mapping[str, Any]

# Far above any file of a paper.
MAX_BYTES = 16 * reading.MIB


def folder() -> Path:
    """$CWNDLAB_PAPERS, else `papers/` where the command is run, else that of the source checkout."""
    named = os.environ.get("CWNDLAB_PAPERS")
    checkout = Path(__file__).resolve().parents[3] / "papers"
    found = [Path(named)] if named else [Path("papers"), checkout]
    for path in found:
        if any(path.glob("*/paper.toml")):
            return path
    raise InputError(f"no papers in {' or '.join(map(str, found))}; they are in a checkout of the source")


def names() -> list[str]:
    """The papers that there are, by their folders, in the order of their claims."""
    found = [path.parent for path in folder().glob("*/paper.toml")]
    return [path.name for path in sorted(found, key=lambda path: (_first_claim(path), path.name))]


def read(name: str) -> Paper:
    """Read one paper; raises `InputError` if there is none of this name, or if its folder has a mistake."""
    known = names()
    if name not in known:
        hint = did_you_mean(name, known, f"there are: {', '.join(known)}")
        raise InputError(f"no paper is called {name!r}; {hint}")
    return _paper(folder() / name)


def _first_claim(path: Path) -> int:
    """The number of the first claim, such as 9 of `Q9`."""
    claims = _toml(path / "claims.toml").get("claim") or [{}]
    digits = "".join(filter(str.isdigit, str(claims[0].get("id", ""))))
    return int(digits or 0)


def _paper(path: Path) -> Paper:
    content, claims = _toml(path / "paper.toml"), _toml(path / "claims.toml")
    where = str(path / "paper.toml")
    _only(claims, ("claim", "finding"), str(path / "claims.toml"))
    parts = {
        "experiments": _entries(content, "experiment", where, lambda each, at: _experiment(path, each, at)),
        "open_points": _entries(content, "open", where, _open_point),
        "errata": _entries(content, "erratum", where, lambda each, at: _make(Erratum, each, at)),
        "figures": _entries(content, "figure", where, _figure),
        "targets": _targets(path / "targets.csv"),
        "claims": _entries(claims, "claim", str(path / "claims.toml"), _claim),
        "findings": _entries(claims, "finding", str(path / "claims.toml"), _claim),
    }
    read = ("experiment", "open", "erratum", "figure")
    rest = {key: value for key, value in content.items() if key not in read}
    return _make(Paper, {"folder": path, **rest, **parts}, where)


def _only(content: Content, allowed: tuple[str, ...], where: str) -> None:
    unknown = [key for key in content if key not in allowed]
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}; allowed: {', '.join(allowed)}")


def _experiment(path: Path, content: Content, where: str) -> Experiment:
    variants = _entries(content, "variant", where, lambda each, at: _make(Variant, each, at))
    rest = {key: value for key, value in content.items() if key != "variant"}
    scenario = path / str(rest.get("scenario", ""))
    if not scenario.is_file():
        raise InputError(f"{where}: scenario: no such file: {scenario}")
    return _make(Experiment, {**rest, "scenario": scenario, "variants": variants}, where)


def _open_point(content: Content, where: str) -> OpenPoint:
    alternatives = _entries(content, "alternative", where, _alternative)
    rest = {key: value for key, value in content.items() if key != "alternative"}
    return _make(OpenPoint, {**rest, "alternatives": alternatives}, where)


def _alternative(content: Content, where: str) -> Alternative:
    only = content.get("only", ())
    return _make(Alternative, {**content, "only": (only,) if isinstance(only, str) else only}, where)


def _claim(content: Content, where: str) -> Claim:
    parts = _entries(content, "part", where, _part)
    rest = {key: value for key, value in content.items() if key != "part"}
    return _make(Claim, {**rest, "parts": parts}, where)


def _part(content: Content, where: str) -> Part:
    known = {each.value: each for each in Expect}
    expect = content.get("expect", Expect.POSITIVE)
    if expect not in known:
        raise InputError(f"{where}: expect = {expect!r}; allowed: {', '.join(known)}")
    part = _make(Part, {**content, "expect": known[expect]}, where)
    if not part.effect and part.unavailable is None:
        raise InputError(f"{where}: neither an effect nor the reason why it is unavailable")
    _check_method(part, where)
    needed = {Expect.SAME: ("margin",), Expect.BETWEEN: ("low", "high")}.get(part.expect, ())
    missing = [key for key in needed if getattr(part, key) is None]
    if missing and part.unavailable is None:
        raise InputError(f"{where}: expect = {part.expect.value!r} needs {' and '.join(missing)}")
    return part


def _check_method(made: Part | SettingFigure, where: str) -> None:
    _check_choice(where, "interval", made.interval, ("t", "bootstrap"))
    _check_choice(where, "statistic", made.statistic, ("mean", "median"))
    if made.statistic == "median" and made.interval == "t":
        raise InputError(f"{where}: the interval of a median is a bootstrap")


def _check_choice(where: str, key: str, found: object, allowed: tuple[str, ...]) -> None:
    if found not in allowed:
        raise InputError(f"{where}: {key} = {found!r}; allowed: {', '.join(allowed)}")


def _figure(content: Content, where: str) -> PaperFigure:
    _check_choice(where, "kind", content.get("kind"), ("time", "settings"))
    rest = {key: value for key, value in content.items() if key != "kind"}
    return _time_figure(rest, where) if content["kind"] == "time" else _setting_figure(rest, where)


def _time_figure(content: Content, where: str) -> TimeFigure:
    panels = _entries(content, "panel", where, lambda each, at: _make(Panel, each, at))
    lines = _entries(content, "line", where, lambda each, at: _make(FlowLine, each, at))
    rest = {key: value for key, value in content.items() if key not in ("panel", "line")}
    figure = _make(TimeFigure, {**rest, "panels": panels, "lines": lines}, where)
    _check_choice(where, "seeds", figure.seeds, ("all", "first"))
    for line in lines:
        if not line.flow and all(panel.column != JAIN for panel in panels):
            raise InputError(f"{where}: line {line.label}: flow is missing; only panels of {JAIN} need none")
    return figure


def _setting_figure(content: Content, where: str) -> SettingFigure:
    lines = _entries(content, "line", where, lambda each, at: _make(EffectLine, each, at))
    rest = {key: value for key, value in content.items() if key != "line"}
    figure = _make(SettingFigure, {**rest, "lines": lines}, where)
    _check_method(figure, where)
    if not figure.at or not all(isinstance(each, str) for each in figure.at):
        raise InputError(f"{where}: at = {figure.at!r}; expected a list of texts")
    for line in lines:
        _check_effect(line.effect_at(figure.at[0]), f"{where}: line {line.label}")
    return figure


def _check_effect(effect: str, where: str) -> None:
    """An effect of a figure belongs to no experiment, so it names its cells in full."""
    try:
        cells = parse(effect, QUANTITIES).cells()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    for cell in cells:
        if "/" not in cell:
            raise InputError(f"{where}: cell {cell!r}: expected EXPERIMENT/label")


def _targets(path: Path) -> tuple[Target, ...]:
    text = _text(path, "a table of numbers (CSV)")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return tuple(_target(row, f"{path}: row {index}") for index, row in enumerate(rows, start=2))


def _target(row: Content, where: str) -> Target:
    target = _make(Target, row, where)
    if target.kind not in ("measured", "setting"):
        raise InputError(f"{where}: kind = {target.kind!r}; allowed: measured, setting")
    return target


def _toml(path: Path) -> Content:
    try:
        return tomllib.loads(_text(path, "a file of a paper (TOML)"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None


def _text(path: Path, expected: str) -> str:
    try:
        return reading.read(path, MAX_BYTES, expected).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start + 1} is not UTF-8; expected {expected}") from None


def _entries(
    content: Content, key: str, where: str, make: Callable[[Content, str], Made]
) -> tuple[Made, ...]:
    """One value for each table of an array; its place is told by its id or label, or by its number."""
    entries = content.get(key, [])
    if not isinstance(entries, list):
        raise InputError(f"{where}: {key}: expected [[{key}]] tables")
    named = ((entry.get("id") or entry.get("label") or number, entry) for number, entry in enumerate(entries))
    return tuple(make(entry, f"{where}: {key} {name}") for name, entry in named)


def _make(kind: Callable[..., Made], content: Content, where: str) -> Made:
    """Fill in a dataclass; every key must be a field, and every field without a default a key."""
    fields = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = [key for key in content if key not in fields]
    if unknown:
        hint = did_you_mean(str(unknown[0]), fields, f"allowed: {', '.join(fields)}")
        raise InputError(f"{where}: unknown key {unknown[0]!r}; {hint}")
    required = [
        name
        for name, each in fields.items()
        if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in required if name not in content]
    if missing:
        raise InputError(f"{where}: {missing[0]} is missing")
    return kind(**content)
