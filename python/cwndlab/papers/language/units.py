"""The units of papers and quantities, and their dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from cwndlab.errors import InputError

# A product of powers of kinds, such as ((rate, 1), (time, -1)), in order of the kinds; empty for a share.
Dimension = tuple[tuple[str, int], ...]
# The possible dimensions of an expression, in which a number may have an unwritten unit. None: any.
Dimensions = frozenset[Dimension] | None

SHARE: Dimension = ()


@dataclass(frozen=True)
class Unit:
    """A unit: the kind of quantity, and its size in the first unit of its kind."""

    kind: str
    size: float = 1

    @property
    def dimensions(self) -> Dimensions:
        """The dimensions of the unit."""
        return frozenset({SHARE if self.kind == "share" else ((self.kind, 1),)})


_SIZES: dict[str, dict[str, float]] = {
    "time": {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60},
    "rate": {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "B/s": 8, "kB/s": 8e3, "MB/s": 8e6}
    | {"Mbps": 1e6, "Gbps": 1e9, "KBps": 8e3, "MBps": 8e6},
    "data": {"bytes": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6},
    "count": dict.fromkeys(("packets", "segments", "samples", "timeouts", "losses", "count"), 1),
    "share": dict.fromkeys(("ratio", "x", "index", "Jain's index", "probability", "per packet"), 1)
    | dict.fromkeys(("%", "% of the time", "% of the link", "% of samples", "% of peaks"), 1e-2),
}
UNITS = {name: Unit(kind, size) for kind, sizes in _SIZES.items() for name, size in sizes.items()}


def product(left: Dimensions, right: Dimensions, power: int = 1) -> Dimensions:
    """Return the dimensions of a product, or with `power` -1 of a quotient."""
    if left is None or right is None:
        return None
    return frozenset(_product(one, other, power) for one in left for other in right)


def _product(one: Dimension, other: Dimension, power: int) -> Dimension:
    exponents = dict(one)
    for kind, exponent in other:
        exponents[kind] = exponents.get(kind, 0) + power * exponent
    return tuple(sorted((kind, exponent) for kind, exponent in exponents.items() if exponent))


def common(left: Dimensions, right: Dimensions) -> Dimensions:
    """Return the dimensions that both may have; empty if there are none."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def check_unit(measured: Dimensions, unit: str) -> None:
    """Raise `InputError` if the unit does not fit the dimensions."""
    both = common(measured, UNITS[unit].dimensions)
    if both is not None and not both:
        raise InputError(f'expected a unit of {shown(measured)} for this effect, found "{unit}"')


def shown(dimensions: Dimensions) -> str:
    """Return dimensions in words."""
    if dimensions is None:
        return "anything"
    return " or ".join(sorted(map(_shown, dimensions)))


def _shown(dimension: Dimension) -> str:
    words = [kind if exponent == 1 else f"{kind}^{exponent}" for kind, exponent in dimension]
    return " * ".join(words) if words else "a share"
