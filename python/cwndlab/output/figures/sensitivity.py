"""How much each key of a sweep matters: two rows for each key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts import ChartRow, RowChart
from cwndlab.output.charts.spans import span
from cwndlab.output.tables.columns import titled

if TYPE_CHECKING:
    from cwndlab.output.charts.names import Names
    from cwndlab.results.sweep import Sweep

NOTE = "alone, and with other keys: share and 95 % interval"


def sensitivity_rows(sweep: Sweep, total: str | None, names: Names) -> RowChart:
    """Return the Sobol' indices of a total. Raises `InputError` if it has none."""
    rows = []
    for each in sweep.indices(total):
        for share, meaning in ((each.alone, "alone"), (each.total, "with others")):
            rows.append(ChartRow(f"{names(each.key)}, {meaning}", meaning, [], mean=share.scaled(100)))
    ends = [end for row in rows if row.mean for end in (row.mean.mean, *(row.mean.interval or ()))]
    title = titled(total or sweep.wanted.sensitivity or "goodput_mbps").title
    limits = span([0.0, *ends], 100.0, floor=float("-inf"))
    return RowChart("Which key matters", f"share of the variance of {title}", rows, "%", limits, note=NOTE)
