"""Progress of long work, shown on standard error: a bar on a terminal, now and then a line in a log."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# When a log gets its first line, and the longest time without one. Each wait is twice the one before.
FIRST_LINE_S = 30.0
LONGEST_WAIT_S = 600.0


@contextmanager
def progress(what: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes the share done, 0 to 1.

    On a terminal, the function shows a bar and the remaining time. Elsewhere it writes a line after half
    a minute, and then less and less often, but at least every ten minutes: the reader of a log sees that
    the work goes on.
    """
    if not sys.stderr.isatty():
        yield _Lines(what, clock).tell
        return

    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from cwndlab.system.terminal import errors

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


class _Lines:
    """Lines of progress in a log."""

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self.what = what
        self.clock = clock
        self.began = clock()
        self.wait = FIRST_LINE_S
        self.next = self.began + self.wait

    def tell(self, share: float) -> None:
        now = self.clock()
        if now < self.next or share >= 1:
            return
        took = now - self.began
        left = f", about {_rounded(took * (1 - share) / share)} left" if share > 0 else ""
        print(f"{self.what}: {share:.0%} after {_rounded(took)}{left}", file=sys.stderr, flush=True)
        self.wait = min(2 * self.wait, LONGEST_WAIT_S)
        self.next = now + self.wait


def _rounded(seconds: float) -> str:
    """Return a time as hours, minutes and seconds: 0:02:30."""
    return str(timedelta(seconds=round(seconds)))
