"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario (TOML).")]
ScenarioOrPaper = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scenario (TOML), or the folder of a paper.")
]
Overrides = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override one key, as in flow.0.cc=cubic; may be repeated."
    ),
]
Controllers = Annotated[
    list[str],
    typer.Option(
        "--with",
        metavar="FILE.py",
        help="A file with controllers of your own, or a package with some in Rust; may be repeated.",
    ),
]
Seeds = Annotated[
    str,
    typer.Option(metavar="SEEDS", help="How many (5: seeds 1 to 5), a range (1-20) or a list (3,5,8-10)."),
]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Runs at a time; default: all cores.")]
Out = Annotated[str | None, typer.Option(metavar="DIR", help="Folder for the results; default: in out/.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run anew what was run before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
EveryFlow = Annotated[
    bool,
    typer.Option("--every-flow", help="Have each flow in the JSON document, also beyond 10 000 of them."),
]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="Draw no figures.")]
NoStyle = Annotated[
    bool, typer.Option("--no-style", help="Draw with your own matplotlib settings (matplotlibrc).")
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link", metavar="NAME", help="Whose queue is weighed; default: the link that delays most."
    ),
]
