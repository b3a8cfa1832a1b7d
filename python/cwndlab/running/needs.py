"""What a run needs of the process that makes it, and what is sent there with it."""

from __future__ import annotations

import hashlib
import io
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers.places import UnknowableError
from cwndlab.errors import InputError
from cwndlab.running.named_files import content, meaning, named_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cwndlab.engine.origins import Origin, Registration
    from cwndlab.scenarios.scenario import Scenario

CANNOT_TRAVEL = "a worker cannot load this controller"


@dataclass(frozen=True)
class NeededController:
    """A controller in Python: the hash of its code, and the file or module that registers it."""

    name: str
    sha256: str
    registered_by: str


@dataclass(frozen=True)
class Needs:
    """The needs of a scenario's runs: the engine, the scenario's files, its controllers in Python.

    `meaning` is a hash of the scenario in force, whatever its files are called; empty if it has none.
    `archive` is the hash of a zip file with the user's modules that the controllers consist of; None if all
    of them are in installed packages.
    """

    engine: str
    backend: str
    engine_sha256: str
    files: tuple[tuple[str, str], ...]
    meaning: str
    controllers: tuple[NeededController, ...]
    archive: str | None

    @property
    def contents(self) -> set[str]:
        """The hashes of all that is sent."""
        return {sha256 for _, sha256 in self.files} | ({self.archive} if self.archive is not None else set())


@dataclass
class Luggage:
    """The needs of scenarios, and the contents that are sent when a worker lacks them, by their hashes.

    Raises `InputError` if a worker could not load the controllers of a scenario.
    """

    needs: dict[Scenario, Needs] = field(default_factory=dict)
    _contents: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    # The controllers of a scenario are mostly those of the next.
    _packed: dict[tuple[Origin, ...], tuple[tuple[NeededController, ...], str | None]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, scenarios: Iterable[Scenario]) -> Luggage:
        """Pack for these scenarios."""
        luggage = cls()
        for scenario in scenarios:
            luggage.needs[scenario] = luggage._pack(scenario)
        return luggage

    def content(self, sha256: str) -> bytes:
        """Return a content. Raises `InputError` if its file has changed."""
        return self._contents[sha256]()

    def _pack(self, scenario: Scenario) -> Needs:
        engine = scenario.engine
        files = named_files(scenario.resolved)
        for name, sha256 in files.items():
            self._contents[sha256] = partial(content, scenario, name, sha256)
        return Needs(
            engine.name,
            engine.backend,
            engine.sha256,
            tuple(files.items()),
            meaning(scenario.canonical) if files else "",
            *self._controllers(scenario),
        )

    def _controllers(self, scenario: Scenario) -> tuple[tuple[NeededController, ...], str | None]:
        """Return the controllers in Python of a scenario, and the hash of the archive with their code."""
        in_python = scenario.engine.in_python()
        origins = tuple(each for each in scenario.controllers if each.name in in_python)
        if origins not in self._packed:
            self._packed[origins] = self._pack_code([(each, in_python[each.name]) for each in origins])
        return self._packed[origins]

    def _pack_code(
        self, registered: Sequence[tuple[Origin, Registration]]
    ) -> tuple[tuple[NeededController, ...], str | None]:
        needed = []
        together: dict[str, bytes] = {}
        for origin, registration in registered:
            texts = _texts(origin, registration)
            for path in together.keys() & texts.keys():
                if together[path] != texts[path]:
                    reason = f"another controller of the scenario comes from another {path}; rename one"
                    raise InputError(f"{origin.name}: {CANNOT_TRAVEL}: {reason}")
            together |= texts
            entry = str(registration.registered_by)
            # A file that was loaded by its path is at the top of the archive.
            shown = Path(entry).name if texts and entry.endswith(".py") else entry
            needed.append(NeededController(origin.name, origin.code_sha256, shown))
        if not together:
            return tuple(needed), None
        archive = _archive(together)
        sha256 = hashlib.sha256(archive).hexdigest()
        self._contents[sha256] = lambda: archive
        return tuple(needed), sha256


def _texts(origin: Origin, registration: Registration) -> dict[str, bytes]:
    """Return the user's modules that a controller consists of. Raises `InputError` if that is not known."""
    if registration.registered_by is None:
        reason = "it is defined in a script or at a prompt; put it into its own file and import that"
        raise InputError(f"{origin.name}: {CANNOT_TRAVEL}: {reason}")
    with suppress(UnknowableError):
        # Code that cannot be known has another hash each time.
        if registration.texts is not None and registration.sha256() == origin.code_sha256:
            return registration.texts()
    reason = "its code cannot be hashed, because it may execute text that is not in a module"
    raise InputError(f"{origin.name}: {CANNOT_TRAVEL}: {reason}")


def _archive(texts: Mapping[str, bytes]) -> bytes:
    """Return a zip file with these files. The same files give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(texts.items()):
            # Its time is fixed: 1980.
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)
    return file.getvalue()
