"""Progress in a log: what a reader of standard error sees. The bar of a terminal is in test_cli_run."""

from __future__ import annotations

import pytest

from cwndlab.system.progress import LONGEST_WAIT_S, progress


class Clock:
    """A clock that stands where it is set."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def lines_of(capsys: pytest.CaptureFixture[str], *, lasts_s: int) -> list[str]:
    clock = Clock()
    with progress("8 runs", clock=clock) as watch:
        for second in range(lasts_s + 1):
            clock.now_s = 1000.0 + second
            watch(second / lasts_s)
    return capsys.readouterr().err.splitlines()


def test_short_work_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of(capsys, lasts_s=29) == []


def test_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of(capsys, lasts_s=200) == [
        "8 runs: 15% after 0:00:30, about 0:02:50 left",
        "8 runs: 45% after 0:01:30, about 0:01:50 left",
    ]


def test_very_long_work_writes_at_least_every_ten_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    hours = 5 * 3600
    lines = lines_of(capsys, lasts_s=hours)
    assert hours / LONGEST_WAIT_S < len(lines) < hours / LONGEST_WAIT_S + 10
    assert lines[-1].startswith("8 runs: 9")


def test_nothing_is_reckoned_from_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with progress("8 runs", clock=clock) as watch:
        clock.now_s += 31
        watch(0.0)
    assert capsys.readouterr().err == "8 runs: 0% after 0:00:31\n"
