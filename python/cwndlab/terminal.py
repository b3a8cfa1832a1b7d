"""Writing to the terminal: colours only where a person reads."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from typing import NoReturn


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command line, which knows what a reader that went away means."""
        raise BrokenPipeError


def output() -> Console:
    """Standard output; 80 columns wide when it is not a terminal and $COLUMNS does not say otherwise."""
    return _Console(highlight=False, soft_wrap=False)


def errors() -> Console:
    """Standard error."""
    return _Console(file=sys.stderr, highlight=False)
