"""The command line. Exit status: 0 success, 1 a run failed, 2 wrong input, 130 Ctrl-C, 143 SIGTERM."""

from __future__ import annotations

import errno
import re
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cwndlab.commands.bench import bench
from cwndlab.commands.check import check
from cwndlab.commands.compare import compare
from cwndlab.commands.convert import convert
from cwndlab.commands.copy import copy
from cwndlab.commands.diff import diff
from cwndlab.commands.document import restore_output
from cwndlab.commands.linux import linux
from cwndlab.commands.listing import list_
from cwndlab.commands.plot import plot
from cwndlab.commands.problems import print_lines, print_message, print_problems
from cwndlab.commands.refusals import refusal
from cwndlab.commands.reproduce import reproduce
from cwndlab.commands.run import run
from cwndlab.commands.score import score
from cwndlab.commands.serve import serve
from cwndlab.commands.show import show
from cwndlab.commands.sweep import sweep
from cwndlab.commands.table import table
from cwndlab.commands.train import train
from cwndlab.errors import (
    INTERRUPTED,
    BackendWarning,
    CacheWarning,
    ClusterWarning,
    CwndlabError,
    InputError,
    OutputError,
    ReportedError,
)
from cwndlab.system import out_of_memory
from cwndlab.system.given import require_utf8
from cwndlab.system.terminal import ReaderGoneError, guard_streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO


class _Commands(TyperGroup):
    """Turns an exception of a command into a message and an exit status."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        try:
            try:
                given = sys.argv[1:] if args is None else args
                for argument in given:
                    require_utf8(argument)
                return super().main(given, *rest, **options)
            finally:
                restore_output()
                sys.stdout.flush()
        except CwndlabError as error:
            _print_error(error)
            sys.exit(error.exit_status)
        except ReaderGoneError:
            sys.exit(0)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if out_of_memory.ran_out(error):
                print_message("error", out_of_memory.message(error))
            elif isinstance(error, OSError):
                print_message("error", _system_error(error))
                # Only the caller gives names that are too long.
                sys.exit(InputError.exit_status if error.errno == errno.ENAMETOOLONG else 1)
            else:
                raise
            sys.exit(1)

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _telling_of_ctrl_c(), _in_our_words():
            return super().make_context(*args, **options)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        with _telling_of_ctrl_c(), _in_our_words():
            return super().invoke(ctx)


@contextmanager
def _telling_of_ctrl_c() -> Iterator[None]:
    """End the command after Ctrl-C. Typer would do it without a word."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Raise `InputError` for a value that Typer refuses; it keeps its own words for missing ones."""
    try:
        yield
    except typer.BadParameter as error:
        if type(error) is typer.BadParameter:
            raise refusal(error) from None
        raise


app = typer.Typer(
    cls=_Commands,
    name="cwndlab",
    help="A packet-level laboratory for TCP congestion control.",
    no_args_is_help=True,
    add_completion=False,
    # Rich help pages would double the time of --help.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("compare")(compare)
app.command("sweep")(sweep)
app.command("plot")(plot)
app.command("table")(table)
app.command("reproduce")(reproduce)
app.command("serve")(serve)
app.command("diff")(diff)
app.command("check")(check)
app.command("list")(list_)
app.command("show")(show)
app.command("convert")(convert)
app.command("copy")(copy)
app.command("train")(train)
app.command("score")(score)
app.command("bench")(bench)
app.command("linux")(linux)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cwndlab {version('cwndlab')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line."""
    try:
        guard_streams()
    except OutputError as error:
        _print_error(error)
        sys.exit(error.exit_status)
    warnings.showwarning = _show_warning
    app()


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print our own warnings as messages. A user of the command line does not need the place in the code."""
    if _MISSING_LETTER.match(str(message)):
        _tell_of_letters()
    elif issubclass(category, (BackendWarning, CacheWarning, ClusterWarning)):
        print_message("warning", str(message))
    else:
        shown = warnings.formatwarning(str(message), category, filename, lineno, line)
        typer.echo(shown, file=file, err=True, nl=False)


# Matplotlib says it for each letter and each file.
_MISSING_LETTER = re.compile(r"Glyph \d+ .* missing from ")


@cache
def _tell_of_letters() -> None:
    """Say once that figures show boxes in place of some letters."""
    print_message(
        "warning",
        "the font of the figures lacks letters of a name or title: PNG and PDF show boxes, SVG has the text; "
        "with --no-style, font.family of your matplotlibrc chooses another font",
    )


def _print_error(error: CwndlabError) -> None:
    from cwndlab.papers.language.place import PaperError
    from cwndlab.scenarios.scenario import ScenarioError

    if isinstance(error, ScenarioError):
        print_problems(error.scenario, error.problems)
    elif isinstance(error, PaperError):
        for mistake in error.mistakes:
            print_message("error", mistake.text, f"{mistake.place.file}:{mistake.place.line}: ")
    elif isinstance(error, ReportedError):
        print_lines(str(error))
    else:
        print_message("error", str(error))


def _system_error(error: OSError) -> str:
    """Return the reason, and the file if the system names one."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
