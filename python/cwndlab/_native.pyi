"""The simulator: what `crates/py` offers. All strings returned are JSON."""

from typing import Any

from numpy import float64
from numpy.typing import NDArray

Column = NDArray[float64]

class RunToken:
    """A handle on one running seed, safe to use from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...

def check(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def resolve(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def run_seed(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int,
    record: bool,
    token: RunToken,
) -> tuple[str, dict[str, Any] | None]: ...
def catalogue() -> str: ...
def bench_cases() -> list[str]: ...
def bench(case: str, repeats: int) -> str: ...
