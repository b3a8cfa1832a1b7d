"""The tables of `cwndlab run`."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from cwndlab.output.tables.run import print_result
from tests.samples import flow, link, outcome, result


def shown(outcomes: list[dict[str, Any]], width: int = 80) -> str:
    buffer = io.StringIO()
    print_result(Console(file=buffer, width=width), result(outcomes))
    return buffer.getvalue()


def seeds(count: int, flows: int = 2, **changes: Any) -> list[dict[str, Any]]:
    def one(seed: int) -> dict[str, Any]:
        made = [
            flow(
                f"flow-{index}",
                48 + 0.3 * seed + index,
                rtt_ms=88 + 0.7 * seed,
                rtt_p95_ms=101 + 0.9 * seed,
                **changes,
            )
            for index in range(flows)
        ]
        return outcome(made, [link("bottleneck", dropped_packets=300 + seed), link("flow-0.access")])

    return [one(seed) for seed in range(1, count + 1)]


def test_means_with_intervals() -> None:
    text = shown(seeds(5))
    assert "5 seeds, mean ± half-width of the 95 % interval" in text
    assert "48.90±0.59" in text or "48.90 ± 0.59" in text
    assert "Mbit/s" in text
    assert "start jitter, send jitter, random loss" in text


@pytest.mark.parametrize("width", [50, 80, 120])
def test_tables_fit(width: int) -> None:
    text = shown(seeds(5), width)
    rows = [line for line in text.splitlines() if line.startswith(("flow", "bottleneck", "link"))]
    assert rows
    assert max(len(line.rstrip()) for line in rows) <= width


def test_all_measures_survive_a_narrow_terminal() -> None:
    text = shown(seeds(5), 50)
    for title in ("goodput", "RTT p95", "retrans.", "timeouts", "fast rec.", "queue delay"):
        assert title in text


def test_deterministic() -> None:
    text = shown([outcome([flow("a", 48.0)])] * 3)
    assert "3 seeds; deterministic" in text
    assert "±" not in text


def test_one_seed_has_no_intervals() -> None:
    text = shown(seeds(1))
    assert "seed 1 only" in text
    assert "±" not in text


def test_idle_access_links_are_left_to_the_files() -> None:
    text = shown(seeds(2))
    assert "flow-0.access" not in text
    assert "1 access or return link" in text


def test_access_link_that_drops_is_shown() -> None:
    text = shown([outcome([flow("a", 1)], [link("a.access", dropped_packets=4)])])
    assert "a.access" in text


def test_degraded_is_marked() -> None:
    text = shown(seeds(2, degraded=True))
    assert "flow-0 !" in text
    assert "! degraded" in text


def test_many_flows_are_averaged() -> None:
    text = shown(seeds(2, flows=100))
    assert "average of 100" in text
    assert "flow-7" not in text


def test_a_value_that_some_seeds_lack_says_so() -> None:
    ended, endless = outcome([flow("a", 1, completion_s=1.5)]), outcome([flow("a", 1)])
    text = shown([ended, endless, ended])
    assert "1.500 (2)" in text
    assert "(n): only n seeds have a value" in text


def test_markup_in_names_is_harmless() -> None:
    assert "[bold]x[/bold]" in shown([outcome([flow("[bold]x[/bold]", 1)])])


def test_nothing_measured() -> None:
    assert "made by hand" in shown([outcome([])])
