"""The figure: that it is drawn, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

from cwndlab.output.drawing.style import MAX_LINES
from cwndlab.output.drawing.timeseries import draw_timeseries
from cwndlab.results.recording import Recording, SeriesTable
from tests.samples import recording


def labels(recorded: Recording) -> list[list[str]]:
    axes = draw_timeseries(recorded, "title").axes
    return [ax.get_legend_handles_labels()[1] for ax in axes]


def test_flows_and_links_are_named() -> None:
    panels = labels(recording(flows=2))
    assert panels[0] == ["flow-0", "flow-1"]
    assert panels[3] == ["bottleneck"]


def test_labels_tell_algorithms_and_stay_short() -> None:
    names = ["a", "_hidden", "pays $5", "cubic-1", "a name of many words " * 5]
    tables = [SeriesTable("flow", name, {"cwnd_segments": np.ones(5)}) for name in names]
    figure = draw_timeseries(Recording(np.arange(5.0), tables), "title $", dict.fromkeys(names, "cubic"))
    legend = figure.axes[0].get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:4] == ["a (cubic)", " _hidden (cubic)", r"pays \$5 (cubic)", "cubic-1"]
    assert len(texts[4]) < 50


def test_units_are_on_the_axes() -> None:
    axes = draw_timeseries(recording(samples=2000), "title").axes
    assert [ax.get_ylabel() for ax in axes] == [
        "window (segments)",
        "RTT (ms)",
        "goodput (Mbit/s)\nmean of 0.1 s",
        "queue (packets)",
    ]


def test_many_flows_become_a_band() -> None:
    assert labels(recording(flows=MAX_LINES + 1))[0] == ["10 to 90 %", f"median of {MAX_LINES + 1} flows"]


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_short_recordings(samples: int) -> None:
    draw_timeseries(recording(samples=samples), "title")


def test_columns_without_any_value() -> None:
    nothing = np.full(5, np.nan)
    tables = [SeriesTable("flow", str(index), {"cwnd_segments": nothing}) for index in range(20)]
    draw_timeseries(Recording(np.arange(5.0), tables), "title")
