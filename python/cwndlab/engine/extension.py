"""An extension module as a value: ours, or a user's module with algorithms in Rust."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cwndlab import _native
from cwndlab.engine.origins import Origin, Registration

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")


class Offered(Generic[T]):
    """An attribute of the engine's module, with the type of the same attribute in our module."""

    def __init__(self, ours: T) -> None:
        del ours

    def __set_name__(self, engine: type, name: str) -> None:
        self._name = name

    def __get__(self, engine: Engine, owner: type) -> T:
        offered: T = getattr(engine.module, self._name)
        return offered


@dataclass(frozen=True, eq=False)
class Engine:
    """An extension module filled by `cwndlab_py::fill`, and the algorithms registered in it.

    `registered` maps the names of algorithms that do not ship to their registrations.
    """

    module: ModuleType
    registered: dict[str, Registration] = field(default_factory=dict, repr=False)

    check = Offered(_native.check)
    resolve = Offered(_native.resolve)
    components = Offered(_native.components)
    run_seed = Offered(_native.run_seed)
    RunToken = Offered(_native.RunToken)
    catalogue = Offered(_native.catalogue)
    trace = Offered(_native.trace)
    describe_trace = Offered(_native.describe_trace)
    read_capture = Offered(_native.read_capture)
    nearest = Offered(_native.nearest)
    toml_lines = Offered(_native.toml_lines)
    bench_cases = Offered(_native.bench_cases)
    bench = Offered(_native.bench)
    WEIGHTS_BYTES = Offered(_native.WEIGHTS_BYTES)
    EnvironmentCourse = Offered(_native.EnvironmentCourse)
    Episodes = Offered(_native.Episodes)
    EpisodeFleet = Offered(_native.EpisodeFleet)
    Trainer = Offered(_native.Trainer)
    Policy = Offered(_native.Policy)

    @property
    def backend(self) -> str:
        """Where it runs scenarios: `sim`, the simulator, or `linux`."""
        return "sim"

    @property
    def relative_cost(self) -> float:
        """How long a packet takes, relative to the simulator."""
        return 1.0

    @property
    def name(self) -> str:
        """The name of its module."""
        return self.module.__name__

    @property
    def package(self) -> str:
        """The package of its module. Importing the package puts the engine into use."""
        return self.name.partition(".")[0]

    @property
    def file(self) -> Path:
        """The file of its module."""
        return Path(str(self.module.__file__))

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of that file, in hexadecimal."""
        with self.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def read_catalogue(self, backend: str | None = None) -> dict[str, Any]:
        """Return the current algorithms, queues, profiles, TCP options, traces, environments and measures."""
        catalogue: dict[str, Any] = json.loads(self.catalogue(backend or self.backend))
        return catalogue

    @cached_property
    def measures(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The declaration of each measure, by the kind of its component, then by its name."""
        declared: dict[str, list[dict[str, Any]]] = self.read_catalogue()["measures"]
        return {kind: {each["name"]: each for each in entries} for kind, entries in declared.items()}

    def register(self, name: str, registration: Registration) -> None:
        """Add a controller in Python. It replaces one of the same name."""
        self.module.register(registration.declaration)
        self.registered[name] = registration

    def in_python(self) -> dict[str, Registration]:
        """Return the controllers in Python, in the order of their registration."""
        return {name: each for name, each in self.registered.items() if each.declaration is not None}

    def origin(self, name: str) -> Origin:
        """Return the origin of a registered algorithm."""
        found = self.registered[name]
        return Origin(name, found.sha256(), found.loaded_by)

    def origins(self) -> list[Origin]:
        """Return the origins of all registered algorithms."""
        return [self.origin(name) for name in self.registered]
