"""The manifest of a result: enough to repeat it, and to explain a difference on another machine."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.system import checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.engine import Engine
    from cwndlab.scenarios.scenario import Scenario


# The version of the documents that `run`, `compare` and `sweep` print.
SCHEMA = 1


def manifest(scenario: Scenario, seeds: Sequence[int]) -> dict[str, Any]:
    """Describe the program, the machine and the input. Repeating the same run gives the same manifest."""
    controllers = {each.name: each.code_sha256 for each in scenario.controllers}
    return {
        **builder(seeds, scenario.engine),
        "scenario_file": scenario.file,
        "scenario_sha256": hashlib.sha256(scenario.canonical.encode()).hexdigest(),
        **({"controllers_sha256": controllers} if controllers else {}),
        "overrides": [f"{key}={value}" for key, value in scenario.overrides],
    }


def document_head(
    name: str, scenario: Scenario, seeds: Sequence[int], *, interrupted: bool
) -> dict[str, Any]:
    """Return the beginning of the documents of runs, comparisons and sweeps."""
    return {
        "schema": SCHEMA,
        "scenario": name,
        "seeds": list(seeds),
        "interrupted": interrupted,
        "manifest": manifest(scenario, seeds),
    }


def builder(seeds: Sequence[int], engine: Engine) -> dict[str, Any]:
    """Describe the program, with the engine that ran, and the machine."""
    return {
        "version": version("cwndlab"),
        "commit": commit(),
        "backend": engine.backend,
        "extension_sha256": engine.sha256,
        "seeds": list(seeds),
        "cpu": cpu(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


@cache
def commit() -> str | None:
    """Return the commit of the source checkout, with `+changes` if files differ; without a checkout, None."""
    root = checkout.root()
    if not (root / ".git").exists():
        return None
    described = [
        "git",
        "-C",
        str(root),
        "describe",
        "--always",
        "--abbrev=40",
        "--exclude=*",
        "--dirty=+changes",
    ]
    try:
        answer = subprocess.run(described, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def cpu() -> str:
    """Return the name of the processor, as far as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
