"""Arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cwndlab.commands.document import keep_output
from cwndlab.system.given import NO_NAME
from cwndlab.system.threads import MOST


def as_name(text: str) -> str:
    """Read a name, which is not empty."""
    if text == "":
        raise typer.BadParameter(NO_NAME)
    return text


def as_path(text: str) -> Path:
    """Read the path of a file or folder. An empty one, as of a variable that is not set, is none."""
    return Path(as_name(text))


class _Name(StrEnum):
    """The name of a backend."""

    def folder(self, name: str) -> str:
        """Return the default folder of results: those of one backend do not replace those of the other."""
        return name if self == "sim" else f"{name}-{self}"


class BackendName(_Name):
    """Where scenarios run."""

    SIM = "sim"
    LINUX = "linux"
    BOTH = "both"


class EpisodeBackendName(_Name):
    """Where the episodes of an environment play."""

    SIM = "sim"
    LINUX = "linux"


File = Annotated[Path, typer.Argument(metavar="FILE", parser=as_path, help="A scenario (TOML).")]
ScenarioOrPaper = Annotated[
    Path, typer.Argument(metavar="FILE", parser=as_path, help="A scenario (TOML), or the folder of a paper.")
]
Overrides = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one key, as in flow.0.cc=cubic. May be repeated."
    ),
]
Controllers = Annotated[
    list[str],
    typer.Option(
        "--with",
        metavar="FILE.py",
        parser=as_name,
        help="A Python file with your own controllers, or a package with controllers in Rust. "
        "May be repeated.",
    ),
]
Seeds = Annotated[
    str,
    typer.Option(
        metavar="SEEDS", help="The number of seeds (5 means 1 to 5), a range (1-20) or a list (3,5,8-10)."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=MOST, metavar="N", help="Number of runs in parallel. Default: all cores."),
]
OnCluster = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="dask[:ADDRESS]",
        help="Make the runs on a Dask cluster: dask starts one on this machine, dask:ADDRESS takes one that "
        "runs. Default: threads of this process.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", parser=as_path, help="Folder for the results. Default: a folder in out/."),
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace the result that the folder holds. Without it, the result of another request is kept: "
        "in place of a default folder, the next free one is taken (two-flows-2), and a folder given with "
        "--out is an error.",
    ),
]
ResultFolder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", parser=as_path, help="The folder of a result, as in out/two-flows."),
]
Labels = Annotated[
    list[str],
    typer.Option(
        "--label",
        metavar="NAME=LABEL",
        help="Show LABEL instead of the name of an algorithm, a flow or a setting. May be repeated.",
    ),
]
EpisodeScenario = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", parser=as_path, help="The scenario of every episode. Default: random links."
    ),
]
SteeredFlow = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The flow of the scenario that is steered. Default: the first."),
]
Across = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUE,VALUE",
        help="A key and its values that nobody chooses, as in link.cell.trace='traces/*.down': every "
        "choice is judged in each of these conditions, on average and in the worst one. Repeatable.",
    ),
]
Best = Annotated[
    str | None,
    typer.Option(
        metavar="MEASURE",
        help="The total that is to be best, such as goodput or delay p95; the output begins with the answer. "
        "Default: goodput.",
        show_default=False,
    ),
]
Limits = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar="LIMIT",
        help='What the best must keep, as in "delay p95 < 100 ms". May be repeated.',
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Repeat runs that are in the cache.")]
Backend = Annotated[
    BackendName,
    typer.Option(
        help="Where the scenario runs: in the simulator, in Linux (`make linux` builds the kernel once), or "
        "in both, which shows the differences."
    ),
]
EpisodeBackend = Annotated[
    EpisodeBackendName,
    typer.Option(help="Where episodes play: sim, or linux (`make linux` builds the kernel once)."),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", callback=keep_output, help="Print one JSON document instead of text."),
]
EveryFlow = Annotated[
    bool,
    typer.Option(
        "--every-flow", help="Include each flow in the JSON document, even if there are over 10000."
    ),
]
Formats = Annotated[
    str,
    typer.Option(
        "--format", metavar="FORMAT,FORMAT", help="The formats of the figures: png, svg, pdf, or several."
    ),
]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="Draw no figures.")]
NoStyle = Annotated[
    bool, typer.Option("--no-style", help="Draw figures with your own matplotlib settings (matplotlibrc).")
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link", metavar="NAME", help="Report the queue of this link. Default: the link with the most delay."
    ),
]
