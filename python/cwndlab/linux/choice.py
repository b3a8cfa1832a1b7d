"""Which kernel runs the scenarios of an engine: one with its crate in it, if that is up to date."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.engine import SHIPPED
from cwndlab.errors import BackendWarning
from cwndlab.linux import kernel

if TYPE_CHECKING:
    from cwndlab.engine import Engine
    from cwndlab.linux.kernel import Kernel


def with_crate_of(engine: Engine) -> Kernel | None:
    """Return the newest kernel that has the crate of this engine as it is now, or None."""
    kernels = _with_crate_of(engine)
    return next((each for each in kernels if _why_not(each, engine) is None), None)


def for_runs(engine: Engine) -> Kernel:
    """Return the kernel that runs an engine's scenarios.

    Warns if the engine is of a user's crate and no kernel has that crate as it is now. Raises `InputError` if
    there is no kernel.
    """
    found = with_crate_of(engine)
    if found is not None:
        return found
    without = kernel.required()
    if engine.name != SHIPPED.name:
        warnings.warn(_slower(engine), BackendWarning, stacklevel=2)
    return without


def _with_crate_of(engine: Engine) -> list[Kernel]:
    kernels = kernel.of_these_sources()
    return [each for each in kernels if each.crate is not None and each.crate["module"] == engine.name]


def _why_not(candidate: Kernel, engine: Engine) -> str | None:
    """Return why a kernel cannot stand for the engine's module, or None if it can."""
    assert candidate.crate is not None
    files = [Path(each) for each in candidate.crate["files"]]
    if kernel.digest((str(each), each) for each in files) != candidate.crate["sources"]:
        return "it has changed since it was built into the kernel"
    if engine.file.stat().st_mtime < max(each.stat().st_mtime for each in files):
        return f"{engine.name} is older than its sources (rebuild it with maturin)"
    return None


def _slower(engine: Engine) -> str:
    found = _with_crate_of(engine)
    reason = _why_not(found[0], engine) if found else "it is not in the kernel"
    crate = found[0].crate if found else None
    folder = crate["folder"] if crate else _folder(engine)
    return (
        f"{engine.package}: {reason}, so its controllers answer Linux by messages, which is slower; "
        f"run: cwndlab linux --with {folder}"
    )


def _folder(engine: Engine) -> str:
    """Return the folder of the engine's crate, if its package is used where its source is."""
    above = (each for each in engine.file.resolve().parents if (each / "Cargo.toml").is_file())
    return str(next(above, "CRATE"))
