"""Lines over time and distributions: what the charts hold, and what is drawn of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cwndlab.errors import InputError
from cwndlab.output.charts import ChartGroup, Series, TimeChart
from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.charts.names import Names
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.drawing.style import COLOURS
from cwndlab.output.figures.distribution import distribution
from cwndlab.output.figures.over_time import convergence, fairness, series
from cwndlab.output.figures.recorded import MOST_EVENTS, recorded, with_common_scales
from cwndlab.results.detail import Distribution
from cwndlab.results.recording import FlowEvent, Recording
from tests.samples import flow, outcome, recording, result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.api.results import Result

NAMES = ("flow-0", "flow-1")


def made(recorded: Recording | None = None, flows: int = 2, seeds: int = 2) -> Result:
    return result([outcome([flow(f"flow-{index}", 10) for index in range(flows)])] * seeds, recorded)


def panels(recorded_by: Recording, flows: int = 2) -> ChartGroup:
    some = made(recorded_by, flows)
    group = recorded(some, some.runs[0])
    assert group is not None
    return group


def drawn(chart: TimeChart | ChartGroup) -> Figure:
    return draw(chart, Page())


def legend(figure: Figure) -> list[str]:
    [below] = figure.legends
    return [text.get_text() for text in below.get_texts()]


def with_distribution(middle: list[float], count: list[float]) -> Result:
    some = made(seeds=1)
    found = [Distribution("flow", "flow-0", "rtt_ms", np.array(middle), np.array(count))]
    detail = replace(some.runs[0].detail, distributions=found)
    return replace(some, runs=[replace(some.runs[0], detail=detail)])


def test_there_are_as_many_colours_as_lines() -> None:
    assert len(COLOURS) == MAX_LINES


def test_flows_are_named_with_their_algorithms_and_links_as_they_are() -> None:
    charts = panels(recording()).charts
    assert [line.label for line in charts[0].series] == ["flow-0 (cubic)", "flow-1 (cubic)"]
    assert [line.label for line in charts[3].series] == ["bottleneck"]


def test_units_and_windows_of_means_are_on_the_axes() -> None:
    axes = drawn(panels(recording(samples=2000))).axes
    assert [ax.get_ylabel() for ax in axes] == [
        "window (segments)",
        "RTT (ms)",
        "goodput (Mbit/s)\nmean of 0.1 s",
        "queue (packets)",
    ]


def test_the_time_axis_reaches_the_end_of_the_recording() -> None:
    group = panels(recording(samples=501))
    assert {chart.x_span for chart in group.charts} == {(0.0, 5.0)}
    assert drawn(group).axes[0].get_xlim() == (0, 5)


def test_many_flows_become_a_band() -> None:
    chart = panels(recording(flows=MAX_LINES + 1), MAX_LINES + 1).charts[0]
    assert [line.label for line in chart.series] == [f"median of {MAX_LINES + 1} flows"]
    assert chart.series[0].band is not None


@pytest.mark.parametrize("samples", [1, 2])
def test_short_recordings(samples: int) -> None:
    drawn(panels(recording(samples=samples)))


def test_charts_of_one_name_get_one_scale() -> None:
    low = TimeChart("window", "t", "y", [0.0, 1.0], [Series("a", [1.0, None])])
    high = replace(low, series=[Series("a", [1.0, 2.0], ([0.0, 1.0], [2.0, 4.0]))])
    other = replace(low, title="RTT")
    groups = with_common_scales([ChartGroup([low, other]), ChartGroup([high, other])])
    assert [chart.y_span for group in groups for chart in group.charts] == [
        (0, 4.2),
        (0, 1.05),
        (0, 4.2),
        (0, 1.05),
    ]


def test_a_series_is_a_mean_over_all_seeds_with_their_range() -> None:
    """An interval of two seeds would go far beyond both of them, and beyond the link's rate."""
    # Windows are 50 + time + seed, so seeds 1 and 2 differ by 1.
    chart = series(made(), "cwnd_segments", Names()).charts[0]
    [line, _] = chart.series
    assert chart.x[0] == pytest.approx(0.05)
    assert line.values[0] == pytest.approx(51.6)
    assert line.band is not None
    assert line.band[0][0] == pytest.approx(51.1)
    assert line.band[1][0] == pytest.approx(52.1)
    assert legend(drawn(chart)) == ["flow-0 (cubic)", "flow-1 (cubic)", "from the lowest to the highest seed"]


def test_many_flows_are_joined_by_their_algorithm() -> None:
    [line] = series(made(flows=MAX_LINES + 1), "goodput_mbps", Names()).charts[0].series
    assert line.label == f"{MAX_LINES + 1} cubic flows together"
    assert line.values[0] == pytest.approx((MAX_LINES + 1) * 10.1)


def test_an_unknown_measure_over_time_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"goodput_mbps, cwnd_segments, loss_events\), found 'speed'"):
        series(made(), "speed", Names())


def test_convergence_is_marked_with_its_range_and_what_lacks_it_is_said() -> None:
    outcomes = [
        outcome([flow("flow-0", 10, convergence_s=at, start_s=0.5), flow("flow-1", 10)]) for at in (1.0, 2.0)
    ]
    chart = convergence(result(outcomes), Names()).charts[0]
    [spot] = chart.series[0].spots
    assert spot.x == 2.0
    assert (spot.x_low, spot.x_high) == (1.5, 2.5)
    assert not chart.series[1].spots
    assert "flow-1 (cubic): steady in 0 of 2" in chart.title


def test_fairness_is_a_mean_over_seeds_with_their_range() -> None:
    chart = fairness(made().labelled, Names())
    assert chart.series[0].values[0] == np.mean([0.89, 0.88])
    assert chart.series[0].band is not None
    assert [ends[0] for ends in chart.series[0].band] == [0.88, 0.89]
    assert chart.y_span == (0, 1.02)


def test_a_line_without_values_says_so() -> None:
    chart = TimeChart("t", "x", "y", [0.0, 1.0], [Series("a", [None, None])])
    assert legend(drawn(chart)) == ["a (no values)"]


def test_many_bands_are_paler() -> None:
    def opacity(count: int) -> float:
        lines = [Series(str(index), [1.0, 2.0], ([0.0, 1.0], [2.0, 3.0])) for index in range(count)]
        alpha = drawn(TimeChart("t", "x", "y", [0.0, 1.0], lines)).axes[0].collections[0].get_alpha()
        assert isinstance(alpha, float)
        return alpha

    assert opacity(12) == opacity(1) / 3


def test_shares_of_samples() -> None:
    chart = distribution([("", with_distribution([1.0, 2.0, 4.0], [1, 2, 1]))], "rtt_ms", Names())
    [line] = chart.series
    assert list(zip(chart.x, line.values, strict=True)) == [(1, 0), (1, 0.25), (2, 0.75), (4, 1)]
    assert [(spot.x, spot.y) for spot in line.spots] == [(2, 0.5), (4, 0.95)]
    [ax] = drawn(chart).axes
    assert ax.get_lines()[0].get_drawstyle() == "steps-post"


@pytest.mark.parametrize(
    ("middles", "is_log"), [([1.0, 99.0], False), ([1.0, 100.0], True), ([0.0, 1.0, 100.0], True)]
)
def test_two_decades_are_logarithmic(middles: list[float], is_log: bool) -> None:
    chart = distribution([("", with_distribution(middles, [1.0] * len(middles)))], "rtt_ms", Names())
    assert chart.log_x is is_log
    assert drawn(chart).axes[0].get_xscale() == ("log" if is_log else "linear")


def test_zeros_enter_at_the_left_edge() -> None:
    made_of = with_distribution([0.0, 1.0, 1000.0], [2, 1, 1])
    chart = distribution([("", made_of)], "rtt_ms", Names())
    assert chart.x_span is not None
    assert chart.x[0] == chart.x_span[0]
    assert chart.series[0].values[0] == 0.5


def test_long_times_are_in_seconds() -> None:
    chart = distribution([("", with_distribution([12_200.0, 15_000.0], [1, 1]))], "rtt_ms", Names())
    assert chart.x_unit == "s"
    assert list(chart.x) == pytest.approx([12.2, 12.2, 15.0])


def test_legend_says_why_nothing_is_seen() -> None:
    assert legend(drawn(distribution([("", with_distribution([1.0], [0.0]))], "rtt_ms", Names())))[0] == (
        "flow-0 (cubic) (no samples) (no values)"
    )


def test_legend_is_below_the_axes_and_the_figure_grows_by_it() -> None:
    heights = []
    for count in (1, 30):
        lines = [Series(f"a name of some length {index}", [1.0, 2.0]) for index in range(count)]
        figure = draw(TimeChart("t", "x", "y", [0.0, 1.0], lines), Page(width="column"))
        figure.draw_without_rendering()
        [below] = figure.legends
        box = figure.axes[0].xaxis.get_tightbbox()
        assert box is not None
        assert below.get_window_extent().y1 <= box.y0
        assert below.get_window_extent().width < figure.bbox.width
        heights.append(figure.axes[0].get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.1)


def test_marks_of_timeouts_are_thinned_evenly() -> None:
    """Most timeouts are early, and as many of their marks: none of the later ones may be missing."""
    times = [*(index / 1000 for index in range(750)), *(2 + index / 100 for index in range(250))]
    timeouts = [FlowEvent(time, f"flow-{index % 2}", "timeout") for index, time in enumerate(times)]
    tail = [FlowEvent(4.9, "flow-0", "tail_loss_probe")]
    some = made(replace(recording(), events=[*reversed(timeouts), *tail]))
    group = recorded(some, some.runs[0])
    assert group is not None
    shown = [event.x for event in group.charts[0].events]
    assert (len(shown), shown[0], shown[-1]) == (MOST_EVENTS, times[0], times[-1])
    assert shown == sorted(set(shown))
    assert sum(x >= 2 for x in shown) == pytest.approx(MOST_EVENTS / 4, abs=1)
    assert group.charts[0].event_label == "timeout (200 of 1000 shown)"


@pytest.mark.parametrize(("missed", "label"), [(0, "timeout"), (1, "timeout (later ones were not recorded)")])
def test_a_few_timeouts_are_all_marked(missed: int, label: str) -> None:
    events = [FlowEvent(1.0, "flow-0", "timeout")]
    some = made(replace(recording(), events=events, events_missed=missed))
    group = recorded(some, some.runs[0])
    assert group is not None
    assert [(event.x, event.label) for event in group.charts[0].events] == [(1.0, "timeout of flow-0")]
    assert group.charts[0].event_label == label
