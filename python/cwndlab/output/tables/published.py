"""Tables for papers and pages: LaTeX and Markdown, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cwndlab.output.tables.block import Block

MINUS = " − "
# The characters with a meaning of their own, and those that a LaTeX font may lack.
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": r"$-$",
        "±": r"$\pm$",
        "…": r"\ldots{}",
    }
)
MARKDOWN = str.maketrans({each: f"\\{each}" for each in r"\`*_{}[]<>#|~"})


def markdown(blocks: Iterable[Block], labels: Mapping[str, str] | None = None) -> str:
    """Return the tables in Markdown (GitHub's tables), with an empty line between them."""
    names = Names(labels)
    text = "\n\n".join("\n".join(_markdown_lines(block, names)) for block in blocks)
    names.check()
    return text


def latex(blocks: Iterable[Block], labels: Mapping[str, str] | None = None) -> str:
    """Return the tables in LaTeX, with rules of the package `booktabs`."""
    names = Names(labels)
    text = "\n\n".join("\n".join(_latex_lines(block, names)) for block in blocks)
    names.check()
    return text


def _markdown_lines(block: Block, names: Names) -> Iterator[str]:
    headings = [*block.headings, *(column.heading for column in block.columns)]
    aligned = [":--"] * len(block.headings) + ["--:"] * len(block.columns)
    yield _row(text.translate(MARKDOWN) for text in headings)
    yield _row(aligned)
    for row in block.rows:
        labels = [_shown(label, names).translate(MARKDOWN) for label in row.labels]
        yield _row([*labels, *(block.cell(row, column).translate(MARKDOWN) for column in block.columns)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_lines(block: Block, names: Names) -> Iterator[str]:
    columns = "l" * len(block.headings) + "r" * len(block.columns)
    titles = [*block.headings, *(column.title for column in block.columns)]
    units = [
        *([""] * len(block.headings)),
        *(f"({each.unit})" if each.unit else "" for each in block.columns),
    ]
    yield rf"\begin{{tabular}}{{{columns}}}"
    yield r"\toprule"
    yield _latex_row(text.translate(LATEX) for text in titles)
    yield _latex_row(text.translate(LATEX) for text in units)
    yield r"\midrule"
    for row in block.rows:
        labels = [_shown(label, names).translate(LATEX) for label in row.labels]
        yield _latex_row([*labels, *(_number(block.cell(row, column)) for column in block.columns)])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _latex_row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _number(cell: str) -> str:
    """Return a number with its interval as a formula, with what follows it as text."""
    mean, sign, rest = cell.partition(" ± ")
    if not sign:
        return f"${mean}$" if _is_number(mean) else mean.translate(LATEX)
    half_width, space, more = rest.partition(" ")
    return rf"${mean} \pm {half_width}${space}{more.translate(LATEX)}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(label: str, names: Names) -> str:
    """Return the label of a row; a difference consists of two names."""
    return MINUS.join(map(names, label.split(MINUS)))
