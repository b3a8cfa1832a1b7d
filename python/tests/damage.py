"""Documents with something else in some place."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
json_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


def changed(data: st.DataObject, document: Any) -> Any:
    """The document with the value at some depth replaced or, in a list or an object, left out."""
    inner = isinstance(document, dict | list) and bool(document)
    if not inner or data.draw(st.integers(0, 9)) == 0:
        return data.draw(json_values)
    copy = document.copy()
    place = data.draw(st.sampled_from(sorted(copy) if isinstance(copy, dict) else range(len(copy))))
    if data.draw(st.integers(0, 9)) == 0:
        del copy[place]
    else:
        copy[place] = changed(data, copy[place])
    return copy
