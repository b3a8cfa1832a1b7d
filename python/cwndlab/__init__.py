"""cwndlab: a packet-level laboratory for TCP congestion control.

>>> import cwndlab as cl
>>> result = cl.run("scenarios/two-flows.toml", seeds=20)  # doctest: +SKIP
>>> result.flows  # a polars data frame, one row per seed and flow  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cwndlab.api import run
    from cwndlab.result import Result

__all__ = ["Result", "__version__", "run"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `cwndlab --help` need not wait for anything."""
    if name == "run":
        from cwndlab.api import run

        return run
    if name == "Result":
        from cwndlab.result import Result

        return Result
    if name == "__version__":
        from importlib.metadata import version

        return version("cwndlab")
    raise AttributeError(f"module 'cwndlab' has no attribute {name!r}")
