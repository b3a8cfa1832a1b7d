"""One JSON document on standard output and nothing else: what anything else prints goes to standard error.

The code of controllers may print, in any thread, and so may the libraries that it uses.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

import typer

# The standard output of a command with --json, while it runs.
_kept: list[TextIO] = []


def keep_output(context: typer.Context, wanted: bool) -> bool:
    """Keep standard output for the document, if one is wanted. Typer calls this with the value of --json.

    The end of the command gives it back: a program that called it goes on, perhaps with another output.
    """
    if wanted and not _kept and not context.resilient_parsing:
        _kept.append(sys.stdout)
        sys.stdout = sys.stderr
        context.call_on_close(restore_output)
    return wanted


def restore_output() -> None:
    """Give standard output back. Also called after a mistake in a command line, when no command ends."""
    if _kept:
        sys.stdout = _kept.pop()


def print_document(content: dict[str, Any]) -> None:
    """Print the document of a command with --json."""
    from cwndlab.output import files

    # Python code that delivers a result has not read the option.
    out = _kept[0] if _kept else sys.stdout
    typer.echo(files.dump(content), file=out)
    out.flush()
