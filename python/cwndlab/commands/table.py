"""`cwndlab table`: prints the tables of a stored result for a paper or a page."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cwndlab.commands.options import Labels, ResultFolder


class TableFormat(StrEnum):
    """The language of a table."""

    LATEX = "latex"
    MARKDOWN = "markdown"


def table(
    folder: ResultFolder,
    format_: Annotated[
        TableFormat, typer.Option("--format", help="LaTeX (needs the package booktabs) or Markdown.")
    ] = TableFormat.MARKDOWN,
    labels: Labels = [],  # noqa: B006 (typer copies it)
) -> None:
    """Print the tables of a result that run, compare or sweep wrote into a folder, with 95 % intervals."""
    from cwndlab.commands.deliver import parsed_labels
    from cwndlab.output import loading
    from cwndlab.output.kinds import kind_of
    from cwndlab.output.tables.published import latex, markdown

    study = loading.load(folder)
    write = latex if format_ is TableFormat.LATEX else markdown
    typer.echo(write(kind_of(study).tables(study), parsed_labels(labels)))
