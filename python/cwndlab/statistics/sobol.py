"""Sobol' indices: the shares of a variance that come from each input of a function, from its values.

The design and the estimators are those of Saltelli et al. 2010, "Variance based sensitivity analysis of model
output", as scipy has them. Half-widths are 1.96 standard errors of a bootstrap over the rows of the design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.statistics.estimate import BOOTSTRAP_SEED
from cwndlab.statistics.measure import CONFIDENCE, Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES = 999


def saltelli(first: NDArray[float64], second: NDArray[float64]) -> NDArray[float64]:
    """Return the rows of the design: both samples (a row for each point), then the mixed ones.

    For each input, there are the rows of the first sample with this input of the second one.
    """
    inputs = first.shape[1]
    mixed = [np.where(np.arange(inputs) == column, second, first) for column in range(inputs)]
    return np.concatenate([first, second, *mixed])


def indices(values: Sequence[float], inputs: int) -> list[tuple[Measure, Measure]] | None:
    """Return the index of each input alone, and with its interactions, from the values at `saltelli`'s rows.

    The number of points of a sample is a power of 2. There are no indices if the values do not vary.
    """
    from scipy.special import ndtri
    from scipy.stats import bootstrap

    blocks = np.reshape(np.asarray(values, dtype=np.float64), (inputs + 2, -1))
    count = blocks.shape[1]
    if np.ptp(blocks) <= 1e-12 * np.max(np.abs(blocks)):
        return None
    found = _estimated(blocks)
    resampled = bootstrap(
        (np.arange(count),),
        lambda chosen: _estimated(blocks[:, chosen]),
        vectorized=False,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    )
    half_widths = float(ndtri((1 + CONFIDENCE) / 2)) * resampled.standard_error
    first, total = (
        [Measure(float(value), float(half) or None, count) for value, half in zip(*each, strict=True)]
        for each in zip(found, half_widths, strict=True)
    )
    return list(zip(first, total, strict=True))


def _estimated(blocks: NDArray[float64]) -> NDArray[float64]:
    """Return the indices of all inputs alone, and with their interactions."""
    from scipy.stats import sobol_indices

    # scipy's function fails with one input. Another one, which changes nothing, leaves the first as it is.
    first, second, *mixed = np.concatenate([blocks, blocks[:1]])[:, np.newaxis, :]
    found = sobol_indices(func={"f_A": first, "f_B": second, "f_AB": np.array(mixed)}, n=blocks.shape[1])
    return np.array([each.ravel()[:-1] for each in (found.first_order, found.total_order)])
