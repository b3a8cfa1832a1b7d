"""cwndlab: a packet-level laboratory for TCP congestion control.

>>> import cwndlab as cl
>>> result = cl.run("scenarios/two-flows.toml", seeds=20)  # doctest: +SKIP
>>> result.flows  # a polars data frame, one row per seed and flow  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cwndlab._native import Ack, Event, Facts, Lost, Random, RateSample, Sent, Setup
    from cwndlab.api.functions import compare, run, sweep
    from cwndlab.api.results import Comparison, Result, Sweep, load
    from cwndlab.controllers.declaration import controller
    from cwndlab.controllers.parameters import parameter
    from cwndlab.errors import CwndlabError, InputError, OutputError, RunFailedError
    from cwndlab.output.drawing.style import style
    from cwndlab.scenarios.scenario import ScenarioError
    from cwndlab.statistics.measure import Measure

__all__ = [
    "Ack",
    "Comparison",
    "CwndlabError",
    "Event",
    "Facts",
    "InputError",
    "Lost",
    "Measure",
    "OutputError",
    "Random",
    "RateSample",
    "Result",
    "RunFailedError",
    "ScenarioError",
    "Sent",
    "Setup",
    "Sweep",
    "__version__",
    "compare",
    "controller",
    "load",
    "parameter",
    "run",
    "style",
    "sweep",
]

_HOMES = {
    "api.functions": ("compare", "run", "sweep"),
    "api.results": ("Comparison", "Result", "Sweep", "load"),
    "controllers.declaration": ("controller",),
    "controllers.parameters": ("parameter",),
    "errors": ("CwndlabError", "InputError", "OutputError", "RunFailedError"),
    "output.drawing.style": ("style",),
    "scenarios.scenario": ("ScenarioError",),
    "statistics.measure": ("Measure",),
}
# The types of the arguments of Python controllers, from the engine in use.
_FACTS = ("Ack", "Event", "Facts", "Lost", "Random", "RateSample", "Sent", "Setup")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that `cwndlab --help` starts at once."""
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"cwndlab.{_HOME_OF[name]}"), name)
    if name in _FACTS:
        from cwndlab.engine import in_use

        return getattr(in_use().module, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("cwndlab")
    raise AttributeError(f"module 'cwndlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return what the module has, also what nobody has used yet, so that tab completion offers it."""
    return sorted({*globals(), *__all__})
