"""What the pages make of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.figures.recorded import recorded, thinned
from cwndlab.output.html import render
from cwndlab.output.kinds import kind_of
from tests.samples import flow, link, outcome, recording, result

if TYPE_CHECKING:
    from cwndlab.results.recording import Column


def test_thinning_keeps_the_extremes_in_their_order() -> None:
    time: Column = np.arange(10_000, dtype=np.float64) * 0.01
    values = np.sin(time)
    values[4321], values[4322] = 50, -50
    grid, [kept] = thinned(time, [values], most=200)
    assert len(grid) == len(kept) <= 200
    assert grid == sorted(grid)
    assert kept.max() == 50
    assert kept.min() == -50
    assert np.argmax(kept) < np.argmin(kept)


def test_thinning_keeps_gaps() -> None:
    time: Column = np.arange(10_000, dtype=np.float64) * 0.01
    values: Column = np.where(time < 50, np.nan, 1.0)
    grid, [kept] = thinned(time, [values], most=200)
    assert np.isnan(kept[np.array(grid) < 49]).all()
    assert (kept[np.array(grid) > 51] == 1).all()


def test_few_points_stay_as_they_are() -> None:
    time: Column = np.arange(100, dtype=np.float64) * 0.01
    grid, [kept] = thinned(time, [time])
    assert grid == time.tolist()
    assert kept is time


def test_a_run_leads_back_to_each_seed() -> None:
    made = result([outcome([flow("a", 1), flow("b", 2)], [link("l")])] * 3, recording())
    report = kind_of(made).report(made)
    page = render(report)
    for seed in (1, 2, 3):
        assert f"cwndlab run made.toml --seeds {seed}-{seed}" in page
    assert report.command == "cwndlab run made.toml --seeds 1-3"


def test_headings_are_explained() -> None:
    made = result([outcome([flow("a", 1, convergence_s=2.0)], [link("l")])] * 2)
    page = render(kind_of(made).report(made))
    assert 'title="payload delivered in order, each byte counted once"><span class="heading">goodput' in page
    assert "stable after: time from the start until the goodput becomes steady: until the first five" in page


def test_no_recording_no_chart() -> None:
    made = result([outcome([flow("a", 1)])])
    assert recorded(made, made.runs[0]) is None
