"""The command line. Exit status: 0 done, 1 a run failed, 2 the input is wrong, 130 interrupted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cwndlab.commands.bench import bench
from cwndlab.commands.check import check
from cwndlab.commands.compare import compare
from cwndlab.commands.listing import list_
from cwndlab.commands.reproduce import reproduce
from cwndlab.commands.run import run
from cwndlab.commands.score import score
from cwndlab.commands.show import show
from cwndlab.commands.sweep import sweep
from cwndlab.commands.train import train
from cwndlab.errors import CwndlabError

if TYPE_CHECKING:
    from io import TextIOWrapper

INTERRUPTED = 130


class _Commands(TyperGroup):
    """Turns what a command raises into a message and an exit status."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except CwndlabError as error:
            _tell(error)
            raise typer.Exit(error.exit_status) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader has seen enough (`| head`): nothing went wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return result


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
app.command("reproduce")(reproduce)
app.command("check")(check)
app.command("list")(list_)
app.command("show")(show)
app.command("train")(train)
app.command("score")(score)
app.command("bench")(bench)


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
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show ± gets a question mark, not a traceback.
        _as_text(stream).reconfigure(errors="replace")
    app()


def _as_text(stream: Any) -> TextIOWrapper:
    text: TextIOWrapper = stream
    return text


def _tell(error: CwndlabError) -> None:
    from cwndlab.commands.problems import print_message, print_problems
    from cwndlab.papers.place import PaperError
    from cwndlab.scenario import ScenarioError

    if isinstance(error, ScenarioError):
        print_problems(error.scenario, error.problems)
    elif isinstance(error, PaperError):
        for mistake in error.mistakes:
            print_message("error", mistake.told, f"{mistake.place.file}:{mistake.place.line}: ")
    else:
        print_message("error", str(error))
