"""A total over the grid of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output.charts import HeatCell, HeatMap
from cwndlab.output.charts.spans import readable
from cwndlab.output.figures.content import NoContentError
from cwndlab.output.tables.columns import titled
from cwndlab.results.totals import MORE_IS_BETTER, TOTALS
from cwndlab.statistics.measure import Measure
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from cwndlab.output.charts.names import Names
    from cwndlab.results.sweep import Sweep

MISSING = Measure(None, None, 0)


def heat_map(sweep: Sweep, measure: str, names: Names) -> HeatMap:
    """Return a total over the last axis (columns) and the others (rows). Each cell links to its point."""
    if not sweep.design.is_grid:
        raise NoContentError("a heat map needs a grid")
    if len(sweep.axes) < 2:
        raise NoContentError("a heat map needs a sweep over two keys or more")
    if measure not in TOTALS:
        raise InputError(f"expected a total ({', '.join(TOTALS)}), found {measure!r}")
    column = titled(measure)
    known = {
        tuple(settings.values()): (index, total.measures.get(measure, MISSING).scaled(column.scale))
        for index, ((settings, _), total) in enumerate(zip(sweep.points, sweep.totals, strict=True))
    }
    factor, unit = readable(column.unit, [value.mean for _, value in known.values()])
    rows = list(dict.fromkeys(key[:-1] for key in known))
    columns = list(dict.fromkeys(key[-1] for key in known))

    def cell(key: tuple[str, ...]) -> HeatCell:
        index, total = known.get(key, (None, MISSING))
        value = total.scaled(factor)
        text = with_interval(value)
        href = None if index is None else f"#point-{index + 1}"
        return HeatCell(text, value.mean, href, f"{names.joined(key)}: {text} {unit}".rstrip())

    *others, last = (axis.key for axis in sweep.axes)
    return HeatMap(
        f"{column.title} of link {sweep.link}" if "queue" in measure else column.title,
        ", ".join(others),
        last,
        [names.joined(row) for row in rows],
        [names(each) for each in columns],
        [[cell((*row, each)) for each in columns] for row in rows],
        unit,
        measure in MORE_IS_BETTER,
    )
