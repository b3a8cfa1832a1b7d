"""Whether two recordings, or two details, hold the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cwndlab.results.detail import Detail
from cwndlab.results.recording import Recording, SeriesTable


def assert_tables_are(found: Sequence[SeriesTable], expected: Sequence[SeriesTable]) -> None:
    """The same components with the same columns."""
    for one, other in zip(found, expected, strict=True):
        assert (one.kind, one.name, list(one.columns)) == (other.kind, other.name, list(other.columns))
        for column in one.columns:
            np.testing.assert_array_equal(one.columns[column], other.columns[column])


def assert_recording_is(found: Recording, expected: Recording) -> None:
    """The same series and events."""
    np.testing.assert_array_equal(found.time_s, expected.time_s)
    assert_tables_are(found.tables, expected.tables)
    assert found.events == expected.events


def assert_detail_is(found: Detail, expected: Detail) -> None:
    """The same intervals, fairness and distributions."""
    np.testing.assert_array_equal(found.end_s, expected.end_s)
    assert_tables_are(found.tables, expected.tables)
    np.testing.assert_array_equal(found.jain_end_s, expected.jain_end_s)
    np.testing.assert_array_equal(found.jain, expected.jain)
    for one, other in zip(found.distributions, expected.distributions, strict=True):
        assert (one.kind, one.name, one.measure) == (other.kind, other.name, other.measure)
        np.testing.assert_array_equal(one.middle, other.middle)
        np.testing.assert_array_equal(one.count, other.count)
