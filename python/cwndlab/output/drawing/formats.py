"""The formats in which figures are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = ("png", "svg", "pdf")
# Drawing a figure takes most of the time that a command needs after its runs, so it is drawn once.
DEFAULT = ("png",)


def formats(wanted: str | Iterable[str], where: str = "--format") -> tuple[str, ...]:
    """Return the formats of `png,svg`, or of a list of them. Raises `InputError` for an unknown one."""
    names = wanted.split(",") if isinstance(wanted, str) else wanted
    found = tuple(dict.fromkeys(name.strip() for name in names))
    unknown = [name for name in found if name not in FORMATS]
    if unknown or not found:
        raise InputError(f"{where}: expected {', '.join(FORMATS)}; found {', '.join(unknown) or 'nothing'}")
    return found
