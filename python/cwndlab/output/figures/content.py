"""What a result can be drawn as: the error if it cannot, and what a study has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.scenario import seconds

if TYPE_CHECKING:
    from cwndlab.output.charts import Shade
    from cwndlab.results.result import Result, Study

RATES = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}


class NoContentError(InputError):
    """The result has nothing to draw in a figure."""


def with_content(study: Study) -> list[str]:
    """Return those of `box`, `cdf` and `fairness` that are not empty."""
    runs = [run for _, result in study.variants for run in result.runs]
    shown = {
        "box": len(study.seeds) > 1,
        "cdf": any(each.measure == "rtt_ms" for run in runs for each in run.detail.distributions),
        "fairness": any(run.detail.has_fairness for run in runs),
    }
    return [name for name, has_content in shown.items() if has_content]


def has_intervals(study: Study) -> bool:
    """Whether some flow or group has goodput over time."""
    return any(
        "goodput_mbps" in table.columns
        for _, result in study.variants
        for run in result.runs[:1]
        for table in run.detail.tables
    )


def capacity(study: Study, link: str | None) -> float | None:
    """Return the greatest rate of a link in any variant (Mbit/s); None if it is not known."""
    rates = [
        rate
        for _, result in study.variants
        for each in result.scenario.resolved["link"]
        if each["name"] == link and (rate := _mbps(each.get("rate"))) is not None
    ]
    return max(rates, default=None)


def _mbps(rate: object) -> float | None:
    if isinstance(rate, list):
        return max((known for step in rate if (known := _mbps(step["value"])) is not None), default=None)
    number, _, unit = str(rate).partition(" ")
    return float(number) * RATES[unit] if unit in RATES else None


def warmup(result: Result) -> Shade | None:
    """Return the part of the time axis that no measure counts."""
    from cwndlab.output.charts import Shade

    length = str(result.scenario.resolved.get("warmup") or "0 s")
    end = seconds(length)
    return Shade(0.0, end, "warm-up") if end > 0 else None
