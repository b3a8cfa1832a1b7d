"""Verdicts: each fault that would let a claim pass, or hide that it failed, must be caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, false_discovery_control, ttest_1samp, ttest_rel

from cwndlab.papers.contents.paper import Expect, Part
from cwndlab.papers.judging.verdict import (
    EARLY,
    OUTCOMES,
    SIGNIFICANT,
    Examined,
    Lean,
    Outcome,
    bounds,
    claim_outcome,
    judge,
    p_value,
    p_value_against,
)
from cwndlab.statistics.estimate import (
    BOOTSTRAP_SEED,
    RESAMPLES,
    Estimate,
    Statistic,
    estimate,
    holm,
)

RNG = np.random.default_rng(7)
NOISE = RNG.normal(size=20) - 0.0
NOISE = NOISE - NOISE.mean()


def part(expect: Expect = Expect.POSITIVE, **fields: Any) -> Part:
    return Part("text", "E", None, expect, **fields)


def outcome(
    values: Any, expect: Expect = Expect.POSITIVE, *, statistic: Statistic = "mean", **fields: Any
) -> Outcome:
    """The outcome of a claim that stands alone."""
    known = estimate(list(values), statistic)
    return judge([Examined(part(expect, **fields), known)])[0].outcome


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_direction(statistic: Statistic) -> None:
    assert outcome(5 + NOISE, statistic=statistic) is Outcome.HOLDS
    assert outcome(-5 + NOISE, statistic=statistic) is Outcome.FAILS
    assert outcome(0.1 + NOISE, statistic=statistic) is Outcome.OPEN


def test_a_flipped_sign_is_caught() -> None:
    assert outcome(5 + NOISE, Expect.POSITIVE) is Outcome.HOLDS
    assert outcome(-(5 + NOISE), Expect.POSITIVE) is Outcome.FAILS
    assert outcome(5 + NOISE, Expect.NEGATIVE) is Outcome.FAILS
    assert outcome(-(5 + NOISE), Expect.NEGATIVE) is Outcome.HOLDS


def test_an_interval_that_is_merely_wide_decides_nothing() -> None:
    wide = 5 + 40 * NOISE
    known = estimate(list(wide))
    assert known.low is not None
    assert known.high is not None
    assert known.low < 0 < known.high
    assert outcome(wide) is Outcome.OPEN
    assert outcome(wide, Expect.SAME, margin=1) is Outcome.OPEN
    # Width alone must not reproduce a paper's number either, though the interval holds it.
    assert outcome(wide, paper=5) is Outcome.OPEN
    assert outcome(25 + 20 * NOISE, paper=3) is not Outcome.AGREES


@pytest.mark.parametrize(
    ("values", "lean"),
    [
        # The estimate lies on one side, the interval on both.
        ((1.0, 2.0, 6.0), Lean.NEITHER),
        ((-1.0, -2.0, -6.0), Lean.NEITHER),
        # So few seeds may have one value by chance.
        ((2.0, 2.0, 2.0), Lean.NEITHER),
        ((2.0, 2.0, 2.0, 2.0, 2.0), Lean.FOR),
        ((5.0, 5.1, 5.2), Lean.FOR),
        ((-5.0, -5.1, -5.2), Lean.AGAINST),
    ],
)
def test_a_lean_needs_an_interval_on_one_side(values: tuple[float, ...], lean: Lean) -> None:
    [judged] = judge([Examined(part(), estimate(values))])
    assert judged.lean is lean
    [cut] = judge([Examined(part(), estimate(values), is_cut=True)])
    assert (cut.outcome, cut.lean) == (Outcome.OPEN, Lean.NEITHER)


def test_a_lean_survives_the_correction_for_many_parts() -> None:
    """What leans on its own does not if it is one of many."""
    known = estimate([5.0, 6.5, 5.6])
    assert judge([Examined(part(), known)])[0].lean is Lean.FOR
    assert {each.lean for each in judge([Examined(part(), known)] * 30)} == {Lean.NEITHER}


def test_pairing_is_by_seed() -> None:
    """An effect far smaller than the scatter of seeds is found within them; unpaired, it is missed."""
    luck = 100 * NOISE
    these, those = luck + 1 + 0.1 * NOISE[::-1], luck
    known = estimate(list(these - those))
    assert known.p_above(0) == pytest.approx(ttest_rel(these, those, alternative="greater").pvalue)
    assert outcome(these - those) is Outcome.HOLDS
    shuffled = RNG.permutation(those)
    assert outcome(these - shuffled) is Outcome.OPEN


def test_sameness_needs_both_one_sided_tests() -> None:
    assert outcome(0.1 + 0.2 * NOISE, Expect.SAME, margin=1) is Outcome.HOLDS
    assert outcome(0.1 + 20 * NOISE, Expect.SAME, margin=1) is Outcome.OPEN
    assert outcome(3 + 0.2 * NOISE, Expect.SAME, margin=1) is Outcome.FAILS
    assert outcome(-3 + 0.2 * NOISE, Expect.SAME, margin=1) is Outcome.FAILS
    # The absence of a significant difference is no sameness.
    assert outcome(0 + 5 * NOISE, Expect.SAME, margin=0.5) is Outcome.OPEN


def test_sameness_is_tested_as_by_hand() -> None:
    values = list(0.3 + NOISE)
    expected = max(
        ttest_1samp(values, -1, alternative="greater").pvalue,
        ttest_1samp(values, 1, alternative="less").pvalue,
    )
    assert p_value(part(Expect.SAME, margin=1), estimate(values)) == pytest.approx(expected)


def test_directions_are_tested_on_both_sides() -> None:
    values = list(0.3 + NOISE)
    expected = ttest_1samp(values, 0).pvalue
    assert p_value(part(Expect.POSITIVE), estimate(values)) == pytest.approx(expected)
    assert p_value(part(Expect.NEGATIVE), estimate([-value for value in values])) == pytest.approx(expected)


def test_bounds() -> None:
    assert outcome(0.95 + 0.01 * NOISE, Expect.AT_LEAST, value=0.9) is Outcome.HOLDS
    assert outcome(0.80 + 0.01 * NOISE, Expect.AT_LEAST, value=0.9) is Outcome.FAILS
    assert outcome(0.80 + 0.01 * NOISE, Expect.AT_MOST, value=0.9) is Outcome.HOLDS
    assert outcome(25 + NOISE, Expect.BETWEEN, low=15, high=35) is Outcome.HOLDS
    assert outcome(40 + NOISE, Expect.BETWEEN, low=15, high=35) is Outcome.FAILS
    assert outcome(35 + NOISE, Expect.BETWEEN, low=15, high=35) is Outcome.OPEN


@pytest.mark.parametrize(
    ("center", "spread", "paper", "expected"),
    [
        (5, 0.1, 5, Outcome.AGREES),
        (5, 0.1, 9.9, Outcome.AGREES),  # all of it above half of 9.9
        (5, 0.1, 10.5, Outcome.HOLDS),  # half of 10.5 is above it
        (5, 0.1, 2.4, Outcome.HOLDS),  # twice 2.4 is below it
        (5, 3.0, 5, Outcome.AGREES),
        (5, 0.1, -5, Outcome.HOLDS),  # the paper's number contradicts its own claim
        (5, 0.1, None, Outcome.HOLDS),
    ],
)
def test_reproduced_is_agreement_in_size(
    center: float, spread: float, paper: float | None, expected: Outcome
) -> None:
    assert outcome(center + spread * NOISE, paper=paper) is expected


def test_a_wide_interval_that_holds_the_papers_effect_does_not_reproduce_it() -> None:
    values = 5 + 9.5 * NOISE / NOISE.std(ddof=1)
    known = estimate(list(values))
    assert known.low is not None
    assert known.high is not None
    assert 0 < known.low < 3 < known.high
    assert known.high - known.low > 3
    assert outcome(values, paper=3) is Outcome.HOLDS


def test_negative_effects_agree_too() -> None:
    assert outcome(-5 + 0.1 * NOISE, Expect.NEGATIVE, paper=-4) is Outcome.AGREES
    assert outcome(-5 + 0.1 * NOISE, Expect.NEGATIVE, paper=4) is Outcome.HOLDS


def test_what_never_varies_is_known() -> None:
    assert outcome([2.0] * 5) is Outcome.HOLDS
    assert outcome([0.0] * 5) is Outcome.FAILS
    assert outcome([0.0] * 5, Expect.SAME, margin=0.1) is Outcome.HOLDS
    assert outcome([0.9] * 5, Expect.AT_LEAST, value=0.9) is Outcome.OPEN


def test_one_seed_decides_nothing() -> None:
    [judged] = judge([Examined(part(), estimate([5.0]))])
    assert judged.outcome is Outcome.OPEN
    assert judged.p == 1
    assert judged.reason == "one seed gives no interval"


def test_what_was_not_run_is_unavailable_with_its_reason() -> None:
    [judged] = judge([Examined(part(), None, "seed 7 of E/cubic is missing")])
    assert judged.outcome is Outcome.MISSING
    assert judged.reason == "seed 7 of E/cubic is missing"


def test_holm_by_hand() -> None:
    # Holm 1979: the smallest is multiplied by 4, the next by 3, and none falls below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1, 1]
    # It is at least as strict as what controls only the rate of false discoveries.
    p = [0.001, 0.02, 0.03, 0.2]
    assert all(one >= other for one, other in zip(holm(p), false_discovery_control(p), strict=True))


def test_many_claims_are_corrected_together() -> None:
    weak = estimate(list(0.5 + NOISE))
    alone = judge([Examined(part(), weak)])
    assert alone[0].outcome is Outcome.HOLDS
    others = [Examined(part(), estimate(list(0.1 + RNG.normal(size=20)))) for _ in range(20)]
    [among, *_] = judge([Examined(part(), weak), *others])
    assert among.outcome is Outcome.OPEN
    assert among.reason == "significant on its own, but not after Holm's correction"


def test_refuting_is_corrected_as_supporting_is() -> None:
    against = estimate(list(-0.5 + NOISE))
    assert judge([Examined(part(), against)])[0].outcome is Outcome.FAILS
    others = [Examined(part(), estimate(list(0.1 + NOISE[::-1]))) for _ in range(20)]
    among = judge([Examined(part(), against), *others])[0]
    assert among.outcome is Outcome.OPEN
    assert among.reason == "significant on its own, but not after Holm's correction"
    clear = estimate(list(-5 + NOISE))
    assert judge([Examined(part(), clear), *others])[0].outcome is Outcome.FAILS


def test_an_early_look_needs_far_more() -> None:
    some = estimate([0.2, 1.4, 0.9, -0.3, 1.1, 0.6, 0.1, 1.2, 0.5, -0.1])
    assert EARLY < p_value(part(), some) < SIGNIFICANT
    assert judge([Examined(part(), some, is_last=False)])[0].outcome is Outcome.OPEN
    assert judge([Examined(part(), some)])[0].outcome is Outcome.HOLDS
    for sign, outcome_ in ((1, Outcome.HOLDS), (-1, Outcome.FAILS)):
        clear = estimate([sign * (9 + value) for value in some.values])
        assert judge([Examined(part(), clear, is_last=False)])[0].outcome is outcome_


def test_looks_keep_the_error_rate() -> None:
    """Of 4000 claims whose effect is zero, 5 % are decided over three looks, as one look would."""
    draws = np.random.default_rng(3).normal(size=(4000, 20))
    wrong = 0
    for values in draws:
        looks = ((5, False), (10, False), (20, True))
        tested = (Examined(part(), estimate(list(values[:n])), is_last=last) for n, last in looks)
        wrong += any(judge([each])[0].is_decided for each in tested)
    # 0.05 and at most 0.001 for each early look; four standard errors of 4000 draws are 0.014.
    assert abs(wrong / 4000 - 0.051) < 0.014


def test_unavailable_parts_are_not_counted_by_the_correction() -> None:
    weak = Examined(part(), estimate(list(0.5 + NOISE)))
    missing = [Examined(part(), None, "not there")] * 50
    assert judge([weak, *missing])[0].outcome is Outcome.HOLDS


def whole(*parts: tuple[Any, dict[str, Any]]) -> Outcome:
    tested = [
        Examined(part(**fields), None if values is None else estimate(list(values)))
        for values, fields in parts
    ]
    return claim_outcome(judge(tested))


def test_all_parts_must_hold() -> None:
    good: tuple[Any, dict[str, Any]] = (5 + NOISE, {})
    bad: tuple[Any, dict[str, Any]] = (-5 + NOISE, {})
    open_: tuple[Any, dict[str, Any]] = (0.1 + NOISE, {})
    assert whole(good, good) is Outcome.HOLDS
    assert whole(good, bad) is Outcome.FAILS
    assert whole(good, open_) is Outcome.OPEN
    assert whole(good, (None, {})) is Outcome.MISSING
    assert whole(bad, (None, {})) is Outcome.FAILS
    assert whole((5 + 0.1 * NOISE, {"paper": 5}), good) is Outcome.AGREES
    assert whole((5 + 0.1 * NOISE, {"paper": 5}), (5 + 0.1 * NOISE, {"paper": 50})) is Outcome.HOLDS


def test_intervals_are_scipys() -> None:
    values = 3 + NOISE
    known = estimate(list(values))
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (known.low, known.high) == pytest.approx((expected.low, expected.high))


def test_an_interval_stays_within_the_limits_of_its_quantity() -> None:
    free, bounded = estimate([0, 0, 90]), estimate([0, 0, 90], limits=(0, 100))
    assert (free.low, free.high) != (0, 100)
    assert (bounded.low, bounded.high) == (0, 100)
    assert bounded.p_above(1) == free.p_above(1)


def test_values_that_differ_by_rounding_only_are_known() -> None:
    known = estimate([0.1 + 0.2, 0.3, 0.3])
    assert known.is_constant
    assert known.low == known.high == 0.1 + 0.2
    assert (known.p_above(0.2), known.p_below(0.2)) == (0, 1)


@pytest.mark.parametrize(("bound", "above", "below"), [(0, 5, 0), (1.25, 2, 3), (1.2, 2, 2), (9, 0, 5)])
def test_a_median_is_tested_by_the_signs_of_the_seeds(bound: float, above: int, below: int) -> None:
    known = estimate([1.0, 1.1, 1.2, 1.3, 1.4], "median")
    by_scipy = [binomtest(k, above + below, alternative="greater").pvalue for k in (above, below)]
    assert [known.p_above(bound), known.p_below(bound)] == pytest.approx(by_scipy)


def test_a_median_gets_the_same_interval_each_time() -> None:
    skewed = list(RNG.lognormal(size=40))
    one, other = estimate(skewed, "median"), estimate(skewed, "median")
    assert (one.low, one.high) == (other.low, other.high)
    by_scipy = bootstrap(
        (np.array(skewed),),
        np.median,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    )
    assert (one.low, one.high) == pytest.approx(tuple(by_scipy.confidence_interval))
    assert one.value == np.median(skewed)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("seeds", [10, 20])
def test_tests_keep_the_level_that_the_correction_asks_for(statistic: Statistic, seeds: int) -> None:
    """With 40 parts, Holm's first step is at 0.05/40; shares of resamples fall that low far too often."""
    level = 0.05 / 40
    draws = np.random.default_rng(5).laplace(size=(10_000, seeds))
    # Without the interval, which p values do not use: resampling 10,000 medians takes a minute.
    known = (Estimate(tuple(values), 0.0, None, None, statistic) for values in draws)
    wrong = sum(p_value(part(), each) <= level for each in known)
    # Four standard errors above 12.5 of 10,000.
    assert wrong <= 26


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 400 intervals of 95 %, 95 % hold the truth, within what chance allows (4 standard errors)."""
    rng = np.random.default_rng(1)
    known = [estimate(list(rng.normal(1, 1, 20))) for _ in range(400)]
    covered = sum(
        each.low <= 1 <= each.high for each in known if each.low is not None and each.high is not None
    )
    assert abs(covered / 400 - 0.95) < 4 * (0.95 * 0.05 / 400) ** 0.5


def test_bounds_of_every_expectation() -> None:
    for expect in Expect:
        low, high = bounds(part(expect, value=1, margin=1, low=1, high=2))
        assert (low, high) != (None, None)


def test_every_outcome_has_a_meaning() -> None:
    assert set(OUTCOMES) == set(Outcome)


def test_against_is_tested_on_the_other_side() -> None:
    values = list(-0.3 + NOISE)
    assert p_value_against(part(), estimate(values)) == pytest.approx(ttest_1samp(values, 0).pvalue)
    beyond = list(1.5 + NOISE)
    expected = 2 * ttest_1samp(beyond, 1, alternative="greater").pvalue
    assert p_value_against(part(Expect.SAME, margin=1), estimate(beyond)) == pytest.approx(expected)


def test_estimates_keep_the_seeds() -> None:
    assert estimate([3.0, 1.0, 2.0]).values == (3.0, 1.0, 2.0)
    assert isinstance(estimate([1.0]), Estimate)
