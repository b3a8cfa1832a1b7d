"""The files that `cwndlab reproduce` writes into its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output import about
from cwndlab.output.about import About
from cwndlab.output.drawing.formats import DEFAULT, FORMATS
from cwndlab.output.files import dump
from cwndlab.output.names import REPORT
from cwndlab.papers.reproducing.document import document
from cwndlab.papers.table import tally
from cwndlab.results.frames import joined, runs_frame
from cwndlab.system import writing
from cwndlab.system.table_files import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

    from cwndlab.papers.reproducing.reproduction import Reproduction
    from cwndlab.results.request import Request

DOCUMENT = "reproduction.json"

__all__ = ["DOCUMENT", "REPORT", "write_figures", "write_report", "write_tables"]


def write_tables(reproduction: Reproduction, folder: Path, request: Request) -> None:
    """Write the document, the numbers of the papers and ours, the verdicts, and every run of every cell."""
    writing.remove(folder / REPORT)
    about.write(_about(reproduction, request), folder)
    writing.write_text(folder / DOCUMENT, dump(document(reproduction)) + "\n")
    tables = {"numbers": _numbers(reproduction), "readings": _readings(reproduction)}
    if not reproduction.quick:
        tables["verdicts"] = _verdicts(reproduction)
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv")
        write_parquet(table, folder / f"{name}.parquet")
    runs = joined(
        (
            {
                "paper": paper.paper.id,
                "option": each.reading.option,
                "value": each.reading.value,
                "cell": key,
            },
            runs_frame(result.runs),
        )
        for paper in reproduction.papers
        for each in paper.readings
        for key, result in each.results.items()
        if result.runs
    )
    write_parquet(runs, folder / "runs.parquet")


def write_figures(
    reproduction: Reproduction,
    folder: Path,
    kinds: Sequence[str] = DEFAULT,
    threads: int | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> int:
    """Draw the papers' figures, delete earlier ones, and return their number. `--quick` draws none.

    `watch` is told the share that is done.
    """
    from cwndlab.papers import figures

    place = folder / figures.FOLDER
    writing.make_folder(place)
    for kind in FORMATS:
        for old in place.glob(f"*.{kind}"):
            writing.remove(old)
    if reproduction.quick:
        return 0
    drawn = {
        figures.stem(paper.paper.id, each): each
        for paper in reproduction.papers
        for each in paper.figures
        if each.has_lines
    }
    figures.save_all(drawn, place, kinds, threads, watch)
    return len(drawn)


def write_report(reproduction: Reproduction, folder: Path, kinds: Sequence[str] = DEFAULT) -> None:
    """Write the report. It names the figures in these formats."""
    from cwndlab.output.html import write
    from cwndlab.papers.report.reproduction import reproduction_page

    write(reproduction_page(reproduction, kinds), folder / REPORT)


def _about(reproduction: Reproduction, request: Request) -> About:
    counts = (
        f"{paper.paper.id}: {tally(paper.claims, quick=reproduction.quick)}." for paper in reproduction.papers
    )
    return About(
        kind=request.kind,
        name="Reproduction of papers",
        scenario=", ".join(paper.paper.id for paper in reproduction.papers),
        backend=reproduction.backend,
        seeds=tuple(reproduction.seeds),
        interrupted=reproduction.interrupted,
        command=reproduction.command,
        answer=tuple(counts),
        request_sha256=request.sha256,
    )


def _numbers(reproduction: Reproduction) -> pl.DataFrame:
    """Return one row for each number that a paper measured."""
    import polars as pl

    rows = [
        {
            "paper": paper.paper.id,
            "id": row.target.id,
            "place": row.target.place,
            "experiment": row.target.experiment,
            "variant": row.target.variant,
            "flow": row.target.flow,
            "metric": row.target.metric,
            "unit": row.target.unit,
            "paper_value": row.target.number,
            "ours": row.ours.value if row.ours else None,
            "ci95_low": row.ours.low if row.ours else None,
            "ci95_high": row.ours.high if row.ours else None,
            "lowest_run": min(row.ours.values) if row.ours else None,
            "highest_run": max(row.ours.values) if row.ours else None,
            "n": row.ours.n if row.ours else 0,
            "missing": row.missing,
        }
        for paper in reproduction.papers
        for row in paper.rows
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _verdicts(reproduction: Reproduction) -> pl.DataFrame:
    """Return one row for each claim."""
    import polars as pl

    rows = [
        {
            "paper": paper.paper.id,
            "claim": claim.claim.id,
            "verdict": claim.verdict.value,
            "parts": len(claim.claim.parts),
            "parts_holding": claim.defaults.judged.holding,
            "seeds": claim.defaults.judged.seeds,
            "readings": len(claim.readings),
            "readings_passing": len(claim.passing),
        }
        for paper in reproduction.papers
        for claim in paper.claims
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _readings(reproduction: Reproduction) -> pl.DataFrame:
    """Return one row for each claim under the defaults and under each alternative."""
    import polars as pl

    rows = [
        {
            "paper": paper.paper.id,
            "claim": claim.claim.id,
            "option": each.evaluated.reading.option,
            "value": each.evaluated.reading.value,
            "passes_gate": each.passes,
            "seeds": each.judged.seeds,
            "result": each.judged.lean.value if reproduction.quick else each.outcome.value,
        }
        for paper in reproduction.papers
        for claim in paper.claims
        for each in claim.readings
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
