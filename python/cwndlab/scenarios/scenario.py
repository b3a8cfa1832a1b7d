"""A scenario as the user gave it: its text, where it came from, and what is overridden."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.engine import Engine, in_use
from cwndlab.errors import InputError
from cwndlab.system import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cwndlab.engine.origins import Origin

Override = tuple[str, str]

# Far above any scenario written by hand; a file like this is a mistake (a trace, a packet capture).
MAX_BYTES = 16 * reading.MIB

# Where the examples stand.
EXAMPLES = Path("scenarios")


@dataclass(frozen=True)
class Problem:
    """One remark of the checker.

    `line` and `column` count from 1 and are None for an override; `text` is all of it in one line.
    """

    severity: str
    line: int | None
    column: int | None
    # The key of the override that it is about.
    override: str | None
    key: str
    message: str
    text: str

    @property
    def is_error(self) -> bool:
        """Whether the scenario cannot be run."""
        return self.severity == "error"


class ScenarioError(InputError):
    """The scenario has errors; `problems` lists every one, and the warnings."""

    def __init__(self, scenario: Scenario, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.text for problem in problems))
        self.scenario = scenario
        self.problems = problems


@dataclass(frozen=True)
class Scenario:
    """The text of a scenario; `file` names it in messages and is what paths inside it are relative to."""

    text: bytes
    file: str
    overrides: tuple[Override, ...] = ()
    # The options that overrides come from, by their keys, where it is not --set.
    options: Mapping[str, str] = field(default_factory=dict, compare=False)
    # What checks it and runs it.
    engine: Engine = field(default_factory=in_use, repr=False)

    def problems(self) -> list[Problem]:
        """Everything the checker has to say, in the order of the file."""
        told = (self._as_given(Problem(**entry)) for entry in self._checked["problems"])
        # One option may have become an override of each flow.
        return list({problem.text: problem for problem in told}.values())

    def _as_given(self, problem: Problem) -> Problem:
        option = self.options.get(problem.override or "")
        if option is None:
            return problem
        return replace(problem, text=f"{option}: {problem.severity}: {problem.message}")

    @property
    def packets_expected(self) -> float:
        """About how many data packets a run has: what it costs."""
        return float(self._checked["packets_expected"])

    @property
    def packets_held(self) -> float:
        """About how many packets are in memory at once, at most: sent and not yet acknowledged."""
        return float(self._checked["packets_held"])

    @property
    def senders(self) -> float:
        """About how many senders there are at once: flows, subflows, and transfers that come and go."""
        return float(self._checked["senders"])

    @property
    def directions(self) -> int:
        """How many directions of links there are, access links included."""
        return int(self._checked["directions"])

    @cached_property
    def _checked(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.engine.check(self.text, self.file, list(self.overrides)))
        return report

    def validate(self) -> list[Problem]:
        """Return the warnings; raise `ScenarioError` if there is an error."""
        problems = self.problems()
        if any(problem.is_error for problem in problems):
            raise ScenarioError(self, problems)
        return problems

    @cached_property
    def canonical(self) -> str:
        """All that is in force, as canonical JSON: equal for scenarios that mean the same."""
        return self.engine.resolve(self.text, self.file, list(self.overrides))

    @property
    def resolved(self) -> dict[str, Any]:
        """All that is in force."""
        resolved: dict[str, Any] = json.loads(self.canonical)
        return resolved

    @cached_property
    def controllers(self) -> list[Origin]:
        """The algorithms that it names and that do not ship with this build."""
        registered = self.engine.registered
        if not registered:
            return []
        # `uncoupled:my-aimd` runs `my-aimd`.
        names = dict.fromkeys(flow["cc"]["name"].rpartition(":")[2] for flow in self.resolved["flow"])
        return [self.engine.origin(name) for name in names if name in registered]

    def has_code_as_before(self) -> bool:
        """Whether the code of its controllers is still what it was when they were looked at first."""
        return all(self.engine.origin(each.name) == each for each in self.controllers)

    def overridden(self, *overrides: Override, option: str | None = None) -> Scenario:
        """The same scenario with more overrides, after its own; messages say that `option` gave them."""
        options = {} if option is None else dict.fromkeys((key for key, _ in overrides), option)
        return replace(self, overrides=(*self.overrides, *overrides), options={**self.options, **options})

    @property
    def set_options(self) -> list[str]:
        """The overrides as words of a command line."""
        return [word for key, value in self.overrides for word in ("--set", f"{key}={value}")]

    @property
    def setting(self) -> str:
        """The overrides as one line."""
        return " ".join(f"{key}={value}" for key, value in self.overrides)

    @property
    def duration_s(self) -> float:
        """How long a run lasts."""
        return seconds(self.resolved["duration"])

    @property
    def stem(self) -> str:
        """A short name for folders and figures."""
        return Path(self.file).stem or "scenario"


def with_options(scenarios: Iterable[Scenario]) -> list[str]:
    """What loads the controllers that these scenarios name, as words of a command line."""
    loaded = dict.fromkeys(each.loaded_by for scenario in scenarios for each in scenario.controllers)
    return [word for each in loaded if each is not None for word in ("--with", each)]


def seconds(time: str) -> float:
    """A time of a resolved scenario, such as `50 s` or `40 ms`, in seconds."""
    number, unit = time.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60}[unit]


def load(path: Path, overrides: Iterable[Override] = ()) -> Scenario:
    """Read a scenario file."""
    return Scenario(_read(path), str(path), tuple(overrides))


def from_mapping(content: Mapping[str, Any], overrides: Iterable[Override] = ()) -> Scenario:
    """Make a scenario of a dictionary with the keys of a scenario file."""
    import tomli_w

    try:
        text = tomli_w.dumps(content)
    except TypeError as error:
        # None above all: what is not there is left out.
        raise InputError(f"the scenario cannot be written as TOML: {error}") from None
    return Scenario(text.encode(), "<dict>", tuple(overrides))


def parse_override(text: str) -> Override:
    """Split `key=value`; the value is read as in a scenario file, quotes around text may be left out."""
    key, sign, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not sign or not key or not value:
        raise InputError(f"--set {text}: expected key=value, for example flow.0.cc=cubic")
    return key, value


def _read(path: Path) -> bytes:
    text = reading.read(path, MAX_BYTES, "a scenario file (.toml)", instead=_instead(path))
    if not text.strip():
        raise InputError(f"{path}: is empty")
    if b"\0" in text:
        raise InputError(f"{path}: is a binary file; expected a scenario (TOML text)")
    return text


def _instead(path: Path) -> Path | None:
    """The file that was meant: one with the ending, or in the folder of the examples."""
    if path.exists():
        return None
    completed = [path, path.with_name(f"{path.name}.toml")]
    candidates = [*completed, *(EXAMPLES / each for each in completed if not each.is_absolute())]
    return next((each for each in candidates if each.is_file()), None)
