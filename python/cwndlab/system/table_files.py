"""Tables as files. Parquet keeps every value unchanged; CSV is safe to open in a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.system.writing import whole

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

# A spreadsheet takes this for a formula (OWASP, "CSV Injection") ...
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
# ... unless it is a number, with or without a unit: `-1`, `+5 ms`, `-3.5e-2 Mbit/s`.
_QUANTITY = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? ?([A-Za-z%]+(/[A-Za-z]+)?)?$"


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table as Parquet."""
    with whole(path) as file:
        table.write_parquet(file)


def write_csv(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV. A text that a spreadsheet would take for a formula gets an apostrophe."""
    with whole(path) as file:
        _without_formulas(table).write_csv(file)


def _without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    def harmless(name: str) -> pl.Expr:
        text = pl.col(name)
        is_formula = text.str.contains(_FORMULA) & ~text.str.contains(_QUANTITY)
        return pl.when(is_formula).then(pl.lit("'") + text).otherwise(text).alias(name)

    return table.with_columns(*(harmless(name) for name, kind in table.schema.items() if kind == pl.String))
