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
    from cwndlab.api import compare, run, sweep
    from cwndlab.comparison import Comparison
    from cwndlab.controllers.declaration import controller
    from cwndlab.controllers.parameters import parameter
    from cwndlab.errors import CwndlabError, InputError, OutputError, RunFailedError
    from cwndlab.figures.style import style
    from cwndlab.result import Result
    from cwndlab.saved import load
    from cwndlab.scenario import ScenarioError
    from cwndlab.summary import Measure
    from cwndlab.swept import Sweep

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
    "_native": ("Ack", "Event", "Facts", "Lost", "Random", "RateSample", "Sent", "Setup"),
    "api": ("compare", "run", "sweep"),
    "comparison": ("Comparison",),
    "controllers.declaration": ("controller",),
    "controllers.parameters": ("parameter",),
    "errors": ("CwndlabError", "InputError", "OutputError", "RunFailedError"),
    "figures.style": ("style",),
    "result": ("Result",),
    "saved": ("load",),
    "scenario": ("ScenarioError",),
    "summary": ("Measure",),
    "swept": ("Sweep",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `cwndlab --help` need not wait for anything."""
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"cwndlab.{_HOME_OF[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("cwndlab")
    raise AttributeError(f"module 'cwndlab' has no attribute {name!r}")
