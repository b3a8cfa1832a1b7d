"""The options of `cwndlab reproduce` that give a reproduction its extent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.papers.contents.backends import SIM

if TYPE_CHECKING:
    from collections.abc import Sequence


def extent_options(
    *,
    quick: bool,
    full: bool,
    explained: bool,
    defaults_only: bool,
    asked: Sequence[str],
    backend: str,
    alternative_seeds: int | None,
) -> list[str]:
    """Return the words of the command line that ask for this extent."""
    options = ["--quick"] * quick + ["--full"] * full + ["--explain"] * explained
    options += ["--defaults"] * defaults_only
    options += [word for name in asked for word in ("--try", name)]
    options += backend_option(backend)
    if alternative_seeds is not None:
        options += ["--alternative-seeds", str(alternative_seeds)]
    return options


def backend_option(backend: str) -> list[str]:
    """Return the option that names the backend, unless that is the default."""
    return [] if backend == SIM else ["--backend", backend]
