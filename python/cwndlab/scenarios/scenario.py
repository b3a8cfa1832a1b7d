"""A scenario as the user gave it: its text, its origin, and its overrides."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.engine import SHIPPED, Engine, in_use
from cwndlab.errors import InputError
from cwndlab.scenarios import examples
from cwndlab.scenarios.axis import split
from cwndlab.scenarios.waiting import waiting
from cwndlab.system import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cwndlab.engine.origins import Origin
    from cwndlab.scenarios.overrides import Override

# Far above any scenario written by hand. A larger file is something else: a trace, or a packet capture.
MAX_BYTES = 16 * reading.MIB


@dataclass(frozen=True)
class Problem:
    """One error or warning of the checker.

    `line` and `column` count from 1, and are None for an override. `text` is the whole message in one line.
    """

    severity: str
    line: int | None
    column: int | None
    # The key of the override that caused it.
    override: str | None
    key: str
    message: str
    text: str

    @property
    def is_error(self) -> bool:
        """Whether this problem prevents a run."""
        return self.severity == "error"


class ScenarioError(InputError):
    """The scenario has errors. `problems` lists all of them, and the warnings."""

    def __init__(self, scenario: Scenario, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.text for problem in problems))
        self.scenario = scenario
        self.problems = problems

    def reword(self, worded: Callable[[str], str]) -> None:
        """Say the same of each problem in other words."""
        self.problems = [replace(problem, text=worded(problem.text)) for problem in self.problems]
        self.args = ("\n".join(problem.text for problem in self.problems),)


@dataclass(frozen=True)
class InForce:
    """The settings, as canonical JSON, and the controllers of a scenario when it was run."""

    canonical: str
    controllers: list[Origin]


@dataclass(frozen=True)
class Scenario:
    """The text of a scenario. `file` names it in messages, and paths in the text are relative to it."""

    text: bytes
    file: str
    overrides: tuple[Override, ...] = ()
    # The options that gave the overrides, by key, unless it was --set.
    options: Mapping[str, str] = field(default_factory=dict, compare=False)
    # The engine that checks and runs it.
    engine: Engine = field(default_factory=in_use, repr=False)
    # Known of a scenario that is read back with its results: its traces and controllers may be gone.
    in_force: InForce | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs. Its traces and controllers may be gone there."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        if "canonical" in self.__dict__:
            state["in_force"] = InForce(self.canonical, self.controllers)
        return state

    def problems(self) -> list[Problem]:
        """Return all errors and warnings of the checker, in the order of the file."""
        return self._told(self._checked["problems"])

    def _told(self, entries: Iterable[dict[str, Any]]) -> list[Problem]:
        found = (self._as_given(Problem(**entry)) for entry in entries)
        # One option may become an override of each flow, and so repeat a problem.
        return list({problem.text: problem for problem in found}.values())

    def _as_given(self, problem: Problem) -> Problem:
        option = self.options.get(problem.override or "")
        if option is None:
            return problem
        inside = _inside(problem.override or "", problem.key)
        return replace(problem, text=f"{option}: {problem.severity}: {inside}{problem.message}")

    @property
    def packets_expected(self) -> float:
        """The approximate number of data packets of a run, which determines its cost."""
        return float(self._checked["packets_expected"])

    @property
    def connections(self) -> float:
        """The approximate number of connections of a run, each transfer and subflow by itself."""
        return float(self._checked["connections"])

    @property
    def hosts(self) -> float:
        """The approximate number of pairs of hosts of a run in Linux, each path by itself."""
        return float(self._checked["hosts"])

    @property
    def packets_held(self) -> float:
        """The approximate maximum number of packets in memory: those sent and not yet acknowledged."""
        return float(self._checked["packets_held"])

    @property
    def senders(self) -> float:
        """The approximate number of concurrent senders: flows, subflows, transfers of arrival processes."""
        return float(self._checked["senders"])

    @property
    def directions(self) -> int:
        """The number of directions of links, including access links."""
        return int(self._checked["directions"])

    @cached_property
    def _checked(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.engine.check(self.text, self.file, list(self.overrides)))
        return report

    def validate(self, *, runs: bool = True) -> list[Problem]:
        """Return the warnings. Raises `ScenarioError` if there is an error.

        One that `runs` may have no flow that waits for an agent outside. The base of a comparison or a sweep
        may: its variants run.
        """
        problems = self.problems()
        if runs and not any(problem.is_error for problem in problems):
            given = (self.text, self.file, list(self.overrides))
            problems += self._told(waiting(self.engine, *given, self.canonical))
        if any(problem.is_error for problem in problems):
            raise ScenarioError(self, problems)
        return problems

    @cached_property
    def canonical(self) -> str:
        """All settings in force, as canonical JSON, which is equal for scenarios with the same meaning."""
        if self.in_force is not None:
            return self.in_force.canonical
        return self.engine.resolve(self.text, self.file, list(self.overrides))

    @property
    def resolved(self) -> dict[str, Any]:
        """All settings in force, as a dictionary."""
        resolved: dict[str, Any] = json.loads(self.canonical)
        return resolved

    @cached_property
    def controllers(self) -> list[Origin]:
        """The algorithms of its flows that do not ship with this build."""
        if self.in_force is not None:
            return self.in_force.controllers
        registered = self.engine.registered
        if not registered:
            return []
        # `uncoupled:my-aimd` runs `my-aimd`.
        names = dict.fromkeys(flow["cc"]["name"].rpartition(":")[2] for flow in self.resolved["flow"])
        return [self.engine.origin(name) for name in names if name in registered]

    def has_code_as_before(self) -> bool:
        """Return whether the code of its controllers is unchanged since `controllers` was first read."""
        return all(self.engine.origin(each.name) == each for each in self.controllers)

    def overridden(self, *overrides: Override, option: str | None = None) -> Scenario:
        """Return this scenario with more overrides, after its own. Messages name `option` as their source."""
        options = {} if option is None else dict.fromkeys((key for key, _ in overrides), option)
        overrides = (*self.overrides, *overrides)
        return replace(self, overrides=overrides, options={**self.options, **options}, in_force=None)

    @cached_property
    def components(self) -> dict[str, Any]:
        """The names in a run, by kind (`flow`, `subflow`, `group`, `link`), and the `probes` of each flow."""
        text = self.engine.components(self.text, self.file, list(self.overrides))
        components: dict[str, Any] = json.loads(text)
        return components

    @property
    def set_options(self) -> list[str]:
        """The overrides as arguments of a command line."""
        return [word for key, value in self.overrides for word in ("--set", f"{key}={value}")]

    @property
    def setting(self) -> str:
        """The overrides as one line."""
        return " ".join(f"{key}={value}" for key, value in self.overrides)

    @property
    def duration_s(self) -> float:
        """The simulated duration of a run, in seconds."""
        return seconds(self.resolved["duration"])

    @property
    def stem(self) -> str:
        """A short name for folders and figures."""
        return (self.is_file and Path(self.file).stem) or "scenario"

    @property
    def is_file(self) -> bool:
        """Whether it was read from a file, and not from a dictionary or a text."""
        return not self.file.startswith("<")


def with_options(scenarios: Iterable[Scenario]) -> list[str]:
    """Return the `--with` arguments of a command line that load the controllers of these scenarios."""
    loaded = dict.fromkeys(each.loaded_by for scenario in scenarios for each in scenario.controllers)
    return [word for each in loaded if each is not None for word in ("--with", each)]


def seconds(time: str) -> float:
    """Convert a time of a resolved scenario, such as `50 s` or `40 ms`, to seconds."""
    number, unit = time.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60}[unit]


def _inside(override: str, key: str) -> str:
    """Return the rest of a key inside the value that an override gave, such as `name: `."""
    given, found = split(override, "."), split(key, ".")
    rest = found[len(given) :]
    return f"{'.'.join(rest)}: " if rest and found[len(given) - 1] == given[-1] else ""


def load(path: Path, overrides: Iterable[Override] = ()) -> Scenario:
    """Read a scenario file, or the example of this name where there is no such file.

    Raises `InputError` if it cannot be read, is empty or is not text.
    """
    return Scenario(_read(path), str(path), tuple(overrides))


def from_mapping(content: Mapping[str, Any], overrides: Iterable[Override] = ()) -> Scenario:
    """Make a scenario from a dictionary with the keys of a scenario file.

    Raises `InputError` if TOML cannot express a value.
    """
    import tomli_w

    try:
        text = tomli_w.dumps(content)
    except (TypeError, RecursionError) as error:
        # Mostly None, which TOML lacks: leave such a key out. A dictionary may contain itself.
        raise InputError(f"the scenario cannot be written as TOML: {error}") from None
    return Scenario(text.encode(), "<dict>", tuple(overrides))


def _read(path: Path) -> bytes:
    example = None if os.path.lexists(path) else examples.file_of(str(path))
    text = reading.read(example or path, MAX_BYTES, "a scenario file (.toml)", instead=_instead(path))
    if not text.strip():
        raise InputError(f"{path}: expected a scenario file (.toml), found an empty file")
    if b"\0" in text:
        raise InputError(f"{path}: expected a scenario file (.toml), found a binary file")
    return text


def _instead(path: Path) -> str | None:
    """Return what was probably meant: the file with the ending, one in `scenarios/`, or an example."""
    try:
        if path.exists():
            return None
    except OSError:
        # The name is too long, or leads into a folder that may not be read.
        return None
    completed = [path, path.with_name(f"{path.name}.toml")]
    candidates = [*completed, *(Path("scenarios") / each for each in completed if not each.is_absolute())]
    found = next((str(each) for each in candidates if reading.is_file(each)), None)
    if found is None and examples.file_of(path.stem) is not None:
        return f"the example {path.stem}, without folder and ending"
    if found is None:
        near = SHIPPED.nearest(path.name.removesuffix(".toml"), examples.names())
        return " or ".join(f"the example {name}" for name in near) or None
    return found
